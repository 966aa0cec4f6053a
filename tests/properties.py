"""How many examples a property test takes."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

#: Examples of a test that does not say how many it takes.  A commit has one result: ``dev`` and ``ci`` draw the same
#: examples each time, and ``search``, for whoever works on the code, draws new ones.
PROFILES = {"dev": 10, "ci": 25, "search": 300}
#: Of so many examples a test says how many it takes.
_FULL = 100


def register_profiles() -> None:
    """``dev`` unless ``--hypothesis-profile`` says otherwise."""
    for name, number in PROFILES.items():
        settings.register_profile(
            name,
            max_examples=number,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            derandomize=name != "search",
        )
    settings.load_profile("dev")


def examples(number: int) -> settings:
    """This number where others take a hundred; in every profile its share of that, and two at least."""
    return settings(max_examples=max(min(number, 2), number * settings().max_examples // _FULL))
