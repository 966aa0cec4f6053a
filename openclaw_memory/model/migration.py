"""Taking a memory from one store to another."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MigrationReport:
    """What was taken along, and whether it is the same there.

    ``rows`` are those of the state, ``vectors`` those that were copied by this run, ``same_vectors`` all that both
    stores have; ``pending`` units of the target have none yet.  ``verified`` says that the digests of state and
    vectors are the same in both.
    """

    source: str
    target: str
    files: int
    units: int
    rows: int
    keys: int
    vectors: int
    same_vectors: int
    pending: int
    state_digest: str
    vectors_digest: str
    verified: bool
    seconds: float
    warning: str | None = None
