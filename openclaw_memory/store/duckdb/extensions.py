"""DuckDB's FTS and VSS extensions, loaded from their PyPI wheels: offline and signed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import StoreError

if TYPE_CHECKING:
    import duckdb


def extension_file(name: str) -> Path | None:
    """The extension's file in the installed wheel, or ``None`` when it is not installed."""
    spec = importlib.util.find_spec(f"duckdb_extension_{name}")
    if spec is None or not spec.submodule_search_locations:
        return None
    for folder in spec.submodule_search_locations:
        for file in sorted(Path(folder).glob(f"extensions/*/{name}.duckdb_extension")):
            return file
    return None


def load_extension(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    """Load ``fts`` or ``vss``; raises :class:`StoreError` naming the wheel that is missing."""
    import duckdb

    file = extension_file(name)
    wheel = f"duckdb-extension-{name}=={duckdb.__version__}"
    if file is None:
        raise StoreError(f"the DuckDB extension {name} is not installed; run: pip install {wheel}")
    try:
        connection.execute(f"LOAD '{str(file).replace(chr(39), chr(39) * 2)}'")
    except duckdb.Error as error:
        reason = str(error).splitlines()[0]
        raise StoreError(
            f"the DuckDB extension {name} cannot be loaded ({reason}); run: pip install {wheel}"
        ) from error
