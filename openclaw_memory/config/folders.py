"""The folders of this package on the machine, for processes that must start fast."""

from __future__ import annotations

from pathlib import Path

APP = "openclaw-memory"


def data_dir() -> Path:
    """Return the folder of indexes and states."""
    import platformdirs

    return Path(platformdirs.user_data_dir(APP))


def cache_dir() -> Path:
    """Return the folder of downloaded and converted models."""
    import platformdirs

    return Path(platformdirs.user_cache_dir(APP))
