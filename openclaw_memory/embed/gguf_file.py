"""Read the metadata of a GGUF file, before or without llama.cpp."""

from __future__ import annotations

import struct
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import ModelError

MAGIC = b"GGUF"
#: GGUF's types of numbers and their sizes in bytes; strings are of type 8, arrays of type 9.
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}


def check_gguf(path: Path) -> None:
    """Raise :class:`~openclaw_memory.errors.ModelError` unless ``path`` is a file that starts like GGUF."""
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise ModelError(
            f"{path}: cannot be read ({error.strerror}); run 'openclaw-memory model pull' "
            "or set embedding.model to a GGUF file"
        ) from error
    if magic != MAGIC:
        raise ModelError(f"{path}: is not a GGUF file; pull the model again, or set embedding.model to another")


def is_reranker(path: Path) -> bool:
    """Return true if the model is a cross-encoder, which scores a question and a text together."""
    return list(metadata(path, ".pooling_type").values()) == [4]  # llama.cpp's LLAMA_POOLING_TYPE_RANK


def pooling(path: Path) -> str:
    """Return how a model makes one vector of a text: ``MEAN``, ``CLS`` or ``LAST``, as llama.cpp names them.

    Of a file that does not say it a decoder takes the last token, which has seen all the others.
    """
    for kind in metadata(path, ".pooling_type").values():
        if kind in (1, 2, 3):
            return ("MEAN", "CLS", "LAST")[kind - 1]
    values = metadata(path, "general.architecture", ".attention.causal")
    architecture = values.pop("general.architecture", b"")
    return "LAST" if b"bert" not in architecture and all(values.values()) else "MEAN"


def read_licence(path: Path) -> str:
    """Return the licence that the file names, or ``unknown``."""
    for value in metadata(path, "general.license").values():
        if isinstance(value, bytes) and value:
            return value.decode("utf-8", "replace").lower()
    return "unknown"


def metadata(path: Path, *endings: str) -> dict[str, Any]:
    """Return the first value whose name ends with each of ``endings``, by name; empty for an unreadable file.

    A number is its bytes as an unsigned one, a text is bytes, an array a list, or the bytes of its numbers.
    """
    values: dict[str, Any] = {}
    missing = {ending.encode() for ending in endings}
    try:
        with path.open("rb") as file:
            magic, _, _, fields = struct.unpack("<4sIQQ", file.read(24))
            if magic != MAGIC:
                return {}
            for _ in range(fields):
                name, value = _text(file), _value(file, _number(file, 4))
                ending = next((each for each in missing if name.endswith(each)), None)
                if ending is not None:
                    values[name.decode()] = value
                    missing.remove(ending)
                if not missing:
                    break
    except (OSError, struct.error, ValueError, KeyError, OverflowError, MemoryError, RecursionError):
        return {}
    return values


@lru_cache(maxsize=4096)
def has_word(path: Path, *forms: str) -> bool:
    """Return true if one of these words is a whole token of the model; false for an unreadable file.

    The bytes are searched: parsing all tokens of a large vocabulary takes half a second.  A vocabulary of 250,000
    tokens ends before six megabytes.
    """
    try:
        with path.open("rb") as file:
            beginning = file.read(6_000_000)
    except OSError:
        return False
    # The marks of a word's beginning in vocabularies of words and pieces, and in those of bytes.
    tokens = [f"{mark}{form}".encode() for form in forms for mark in "\u2581\u0120"]
    return any(struct.pack("<Q", len(token)) + token in beginning for token in tokens)


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == 8:
        return _text(file)
    if kind != 9:
        return _number(file, _SIZES[kind])
    kind, count = _number(file, 4), _number(file, 8)
    if kind in _SIZES:
        return file.read(_SIZES[kind] * count)
    return [_value(file, kind) for _ in range(count)]


def _number(file: BinaryIO, size: int) -> int:
    data = file.read(size)
    if len(data) < size:
        raise struct.error("the file ends within its metadata")
    return int.from_bytes(data, "little")


def _text(file: BinaryIO) -> bytes:
    return file.read(_number(file, 8))
