"""Read exports of any size, one entry after the other; an unreadable part is named and passed over."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any

from ..errors import OpenClawMemoryError
from ..model import Progress, SkippedFile
from ..system.archives import DAMAGED, has_zip_signature
from .formats import Entry, UnusableEntry, chatgpt, claude, memory

#: Members of a JSON file that are the list of its entries.
_LISTS = ("results", "memories", "conversations")
#: Name of the stage for progress; names of files are private.
STAGE = "export"
_BOM = b"\xef\xbb\xbf"
#: Bytes that are read at once, and bytes of the largest entry: a small archive may hold what no memory does.
_CHUNK, _LARGEST = 1 << 20, 64_000_000
_TOO_LARGE = "an entry of more than 64 MB"


class ExportError(OpenClawMemoryError):
    """An export that cannot be read at all."""


@dataclass(frozen=True, slots=True)
class Format:
    """The exports of a program: patterns of its files' names, and the function that reads an entry."""

    names: tuple[str, ...]
    read: Callable[[Mapping[str, Any], str], Entry]
    lines: bool = False


FORMATS = {
    "chatgpt": Format(("conversations*.json",), chatgpt),
    "claude": Format(("conversations*.json", "memories*.json", "memories/*.json"), claude),
    "mem0": Format(("*.json",), memory),
    "memory-lancedb": Format(("*.json",), memory),
    "jsonl": Format(("*.jsonl",), memory, lines=True),
}


def entries(source: str, path: Path, zone: str, progress: Progress) -> Iterator[Entry | SkippedFile]:
    """Yield the entries of the export ``path`` (a file, a ZIP archive or a folder) of the program ``source``.

    An item that is no entry comes as a :class:`SkippedFile` with its place in the file, and so does the rest of a
    damaged file.  ``progress`` gets the number of bytes that were read of a file, and its size.  Raises
    :class:`ExportError` when there is no file to read.
    """
    form = FORMATS[source]
    empty = True
    for name, size, opened in _files(path, form.names):
        empty = False
        place = name
        try:
            with opened() as stream:
                for place, item in (_lines if form.lines else _elements)(name, stream):
                    progress(STAGE, min(stream.tell(), size), size)
                    yield item if isinstance(item, SkippedFile) else _entry(form, item, place, zone)
        except DAMAGED as error:
            where = name if place == name else f"{name}, behind {place.removeprefix(f'{name}, ')}"
            yield SkippedFile(where, f"the archive is damaged ({error})")
    if empty:
        raise ExportError(f"{path}: holds no {form.names[0]}; name the file, the archive or the folder of the export")


def _entry(form: Format, item: Any, place: str, zone: str) -> Entry | SkippedFile:
    try:
        if not isinstance(item, Mapping):
            raise UnusableEntry("it is no object {…}")
        return form.read(item, zone)
    except UnusableEntry as reason:
        return SkippedFile(place, str(reason))
    except RecursionError:
        return SkippedFile(place, "it is nested too deep")


def _files(path: Path, names: tuple[str, ...]) -> Iterator[tuple[str, int, Callable[[], Any]]]:
    """Yield the name and the size in bytes of each file of an export, and a function that opens it.

    A folder without such a file is searched for archives: large exports come as several.
    """
    if path.is_dir():
        files = sorted({file for name in names for file in path.rglob(name) if _is_visible_file(file)})
        for file in files:
            yield file.relative_to(path).as_posix(), file.stat().st_size, partial(file.open, "rb")
        for file in () if files else sorted(filter(_is_visible_file, path.rglob("*.zip"))):
            shown = file.relative_to(path).as_posix()
            if zipfile.is_zipfile(file):
                for name, size, opened in _archived_files(file, names):
                    yield f"{shown}/{name}", size, opened
            else:
                yield shown, 0, partial(zipfile.ZipFile, file)  # its error names the fault
    elif path.is_file() and (zipfile.is_zipfile(path) or has_zip_signature(path)):
        yield from _archived_files(path, names)
    elif path.is_file():
        yield path.name, path.stat().st_size, partial(path.open, "rb")
    else:
        raise ExportError(f"{path}: no such file or folder; name the export")


def _is_visible_file(file: Path) -> bool:
    return file.is_file() and not file.name.startswith(".")


def _archived_files(path: Path, names: tuple[str, ...]) -> Iterator[tuple[str, int, Callable[[], Any]]]:
    """Yield the same as :func:`_files` for the files in an archive."""
    with _archive(path) as archive:
        for info in sorted(archive.infolist(), key=lambda info: info.filename):
            inside = PurePosixPath(info.filename)
            if any(map(inside.match, names)) and not inside.name.startswith("."):
                yield info.filename, info.file_size, partial(archive.open, info)


@contextmanager
def _archive(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except DAMAGED as error:
        raise ExportError(f"{path}: the archive cannot be read ({error}); download it again, or unpack it") from error


def _elements(name: str, stream: IO[bytes]) -> Iterator[tuple[str, Any]]:
    """Yield the entries of a JSON file with their places; the file is never in memory as a whole."""
    import ijson

    number = 0
    try:
        # The file is their list, has it as a member, or is an entry.
        for where in ("item", *(f"{name}.item" for name in _LISTS), ""):
            stream.seek(0)
            if stream.read(len(_BOM)) != _BOM:
                stream.seek(0)
            for item in ijson.items(_bounded(ijson.parse(_shallow(_events(stream))), where), where):
                if not where and (item == [] or (isinstance(item, dict) and set(_LISTS) & {*item})):
                    return  # a list without an entry
                number += 1
                yield f"{name}, entry {number}", item
            if number:
                return
    except (ijson.JSONError, ValueError) as error:
        # Below the first line of the message stand the bytes that were not understood.
        cause = str(error.args[0] if not isinstance(error.args[0], bytes) else error.args[0].decode("utf-8", "replace"))
        cause = cause.partition("\n")[0].strip()[:120]
        yield name, SkippedFile(f"{name}, behind entry {number}", f"not valid JSON from there on ({cause})")


def _events(stream: IO[bytes]) -> Iterator[tuple[str, Any]]:
    """Yield the events of a parser; raise ``ValueError`` where no value ends within the bytes of the largest entry.

    Its lexer reads a text that goes on in the next chunk again from its beginning, so chunks are large.  Numbers are
    the machine's: one that Python refuses to convert ends the process where it lies across two chunks.
    """
    import ijson

    events = ijson.sendable_list()
    parser = ijson.basic_parse_coro(events, use_float=True)
    silent = 0
    while chunk := stream.read(_CHUNK):
        silent += len(chunk)
        try:
            parser.send(chunk)
        except ijson.JSONError:
            yield from events  # what stands before the damage
            raise
        if events:
            silent = 0
            yield from events
            del events[:]
        if silent > _LARGEST:
            raise ValueError(_TOO_LARGE)
    parser.close()
    yield from events


def _shallow(events: Iterable[tuple[str, Any]], deepest: int = 200) -> Iterator[tuple[str, Any]]:
    """Yield the ``events`` of a parser; raise ``ValueError`` where they nest deeper than any export does.

    The place that ijson keeps of each event grows with the square of the depth: 200 kB of brackets take all memory.
    """
    depth = 0
    for kind, value in events:
        if kind.startswith("start_"):
            depth += 1
            if depth > deepest:
                raise ValueError(f"nested deeper than {deepest} levels")
        elif kind.startswith("end_"):
            depth -= 1
        yield kind, value


def _bounded(events: Iterable[tuple[str, str, Any]], where: str) -> Iterator[tuple[str, str, Any]]:
    """Yield the ``events``; raise ``ValueError`` where an entry, which begins at ``where``, is too large."""
    size = 0
    for prefix, kind, value in events:
        if prefix.startswith(where):
            size = 0 if prefix == where and kind.startswith("start_") else size + 8
            size += len(value) if isinstance(value, str) else 0
            if size > _LARGEST:
                raise ValueError(_TOO_LARGE)
        yield prefix, kind, value


def _lines(name: str, stream: IO[bytes]) -> Iterator[tuple[str, Any]]:
    """Yield the value of each line of a file with its place; blank lines are skipped."""
    for number, line in enumerate(iter(lambda: stream.readline(_LARGEST + 1), b""), start=1):
        place = f"{name}, line {number}"
        try:
            if len(line) > _LARGEST:
                yield place, SkippedFile(place, f"{_TOO_LARGE}; nothing behind it is read")
                return
            if line.strip():
                yield place, json.loads(line.removeprefix(_BOM) if number == 1 else line)
        except (ValueError, RecursionError) as error:
            yield place, SkippedFile(place, f"not valid JSON ({' '.join(str(error).split())[:120]})")
