"""Killed during ingest: nothing acknowledged is lost, and the next ingest mends the rest."""

from __future__ import annotations

from benchmarks import crash


def test_kill_9_at_random_moments_loses_nothing() -> None:
    rounds = 6
    result = crash.run(rounds, seed=20, longest=0.3)
    assert result.failures == []
    assert result.acknowledged >= rounds
