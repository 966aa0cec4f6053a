"""Values with numpy arrays in one file, whose pages all processes that map it share.

A file has a first block of fixed size, the pickled value, and its arrays as they are in memory.  It is replaced in one
step, and one that is torn, damaged or of another build is as none.
"""

from __future__ import annotations

import io
import json
import mmap
import os
import pickle
import struct
import sys
import zlib
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from .. import arrays as np

_PACKAGE = __name__.partition(".")[0]
UNFINISHED = ".new"
#: Magic bytes, the checksum of all that follows the first block, the size of the file, and that of the pickled value.
_FIRST = struct.Struct("<16sQQQ")
_MAGIC = b"openclaw-memory1"
#: Arrays begin at multiples of this, the size of a line of the cache.
_LINE = 64
#: Bytes that are checked at once.
_BLOCK = 1 << 18


def write(path: Path, build: str, value: object) -> bool:
    """Write ``value`` to ``path`` for the readers of the same ``build``, for its owner alone; return true if that went.

    It may hold what :func:`read` is to allow.  One process writes at a time; one that is killed leaves a file with the
    suffix :data:`UNFINISHED`.
    """
    buffers: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps((_platform(build), value), 5, buffer_callback=buffers.append)
    temporary = Path(f"{path}{UNFINISHED}")
    try:
        temporary.unlink(missing_ok=True)
        with open(os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as file:
            file.write(bytes(_LINE))
            parts = [memoryview(pickled), *(buffer.raw() for buffer in buffers)]
            head = struct.pack(f"={len(parts)}Q", *(part.nbytes for part in parts))
            for part in (memoryview(head), *parts):
                file.write(part)
                file.write(bytes(-file.tell() % _LINE))
            size = file.tell()
            file.seek(_LINE)
            checksum = _checksum(file, bool(buffers))
            file.seek(0)
            file.write(_FIRST.pack(_MAGIC, checksum, size, len(head)))
        os.replace(temporary, path)
    except OSError:  # a full disk, a folder that cannot be written
        return False
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    return True


def read(path: Path, build: str, rooms: Collection[str]) -> Any:
    """Return the value in ``path``, ``None`` for none that is whole and of the same ``build``; its arrays are mapped.

    It may hold numpy's arrays, and objects of the classes in ``rooms``, folders of this package.  What is written to
    the arrays stays in this process.
    """
    try:
        with path.open("rb", buffering=0) as file:
            first = file.read(_LINE)
            magic, checksum, size, head_size = _FIRST.unpack_from(first)
            if magic != _MAGIC or os.fstat(file.fileno()).st_size != size:
                return None
            if _checksum(file, head_size > 8) != checksum:
                return None
            if os.name == "nt":  # where nobody could replace or delete it meanwhile
                file.seek(0)
                view = memoryview(bytearray(file.read(size)))
            else:
                view = memoryview(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_COPY))
    except (OSError, ValueError, struct.error):
        return None
    try:
        parts, at = [], _LINE + head_size + -head_size % _LINE
        for length in view[_LINE : _LINE + head_size].cast("Q"):
            parts.append(view[at : at + length])
            at += length + -length % _LINE
        platform, value = _Unpickler(parts[0], parts[1:], rooms).load()
    except Exception:  # whatever an older build has written
        return None
    return value if platform == _platform(build) else None


class Kept:
    """An object whose attributes another process may take over, but for those that are ``transient``."""

    transient: ClassVar[tuple[str, ...]] = ()

    def export(self) -> dict[str, Any]:
        """Return the state to restore."""
        return {name: value for name, value in vars(self).items() if name not in self.transient}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what :meth:`export` returned."""
        vars(self).update(state)


class Table:
    """Values of JSON by whole numbers, each read when it is asked for."""

    def __init__(self, items: Iterable[tuple[int, Any]]) -> None:
        """Keep ``items``, whose numbers ascend."""
        numbers, data, ends = [], bytearray(), [0]
        for number, value in items:
            data += json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
            numbers.append(number)
            ends.append(len(data))
        self._numbers, self._ends = np.array(numbers, np.int64), np.array(ends, np.int64)
        self._data = np.frombuffer(data, np.uint8)

    def get(self, numbers: Collection[int]) -> dict[int, Any]:
        """Return the values of those of ``numbers`` that are in it."""
        sought = np.fromiter(numbers, np.int64, len(numbers))
        places = np.searchsorted(self._numbers, sought)
        values = {}
        for number, place in zip(sought.tolist(), places.tolist(), strict=True):
            if place < len(self._numbers) and self._numbers[place] == number:
                data = bytes(self._data[self._ends[place] : self._ends[place + 1]])
                values[number] = json.loads(data.decode("utf-8", "surrogatepass"))
        return values


class _Unpickler(pickle.Unpickler):
    """Rebuilds arrays, and objects of classes in some rooms of this package, and calls nothing else."""

    _OTHERS = frozenset({
        "numpy.dtype", "numpy.ndarray", "numpy._core.numeric._frombuffer", "numpy.core.numeric._frombuffer",
        "numpy._core.multiarray._reconstruct", "numpy.core.multiarray._reconstruct",
        "datetime.date", "collections.defaultdict", "builtins.set", "builtins.frozenset", f"{__name__}.Table",
    })  # fmt: skip

    def __init__(self, pickled: memoryview, buffers: Collection[memoryview], rooms: Collection[str]) -> None:
        super().__init__(io.BytesIO(pickled), buffers=buffers)
        self._rooms = rooms

    def find_class(self, module: str, name: str) -> Any:
        """Return a class or function by its name.  Raises ``UnpicklingError`` for one that is not allowed."""
        package, room, *_ = f"{module}..".split(".")
        if f"{module}.{name}" not in self._OTHERS and (package != _PACKAGE or room not in self._rooms):
            raise pickle.UnpicklingError(f"{module}.{name} is not allowed")
        found = super().find_class(module, name)
        if package == _PACKAGE and not isinstance(found, type):
            raise pickle.UnpicklingError(f"{module}.{name} is no class")
        return found


@cache
def build_of_package() -> str:
    """Return a value that differs whenever a module of this package does, as far as sizes and times tell."""
    root = str(Path(__file__).parent.parent)
    files = (
        f"{folder}/{name}" for folder, _, names in os.walk(root) for name in names if name.endswith((".py", ".txt"))
    )
    stamps = sorted((file, status.st_size, status.st_mtime_ns) for file in files for status in [os.stat(file)])
    return f"{zlib.crc32(repr(stamps).encode()):08x}"


def _platform(build: str) -> tuple[str, ...]:
    return build, sys.byteorder, str(sys.implementation.cache_tag)


def _checksum(file: io.RawIOBase | io.BufferedRandom, has_arrays: bool) -> int:
    """Return a checksum of the rest of a file, which is read and not mapped: it need not stay in memory."""
    if not has_arrays:
        return zlib.crc32(file.read() or b"")
    checksum, block = 0, memoryview(bytearray(_BLOCK))
    # Sums of words by odd numbers: half the work of a CRC-32.
    words = np.frombuffer(block, np.uint64)
    factors = np.arange(1, 2 * len(words), 2, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    while length := file.readinto(block):
        checksum = (31 * checksum + int(words[: length // 8].dot(factors[: length // 8]))) % 2**64
    return checksum
