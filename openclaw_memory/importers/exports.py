"""Read exports of ChatGPT, Claude, mem0, OpenClaw's memory-lancedb, and of any program that writes JSON.

Exports of any size are read one entry after the other; an unreadable part is named and passed over.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import zipfile
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any

from ..errors import OpenClawMemoryError
from ..model import Progress, SkippedFile
from ..records import NamedTuple, dataclass
from ..system.archives import DAMAGED, has_zip_signature
from ..text import calendar

#: A longer id, fact or tag is not worth reading in a note.
LONGEST_FACT = 200
#: Names of the two sides of a chat in a note, by their names in exports: readers of notes know roles by these names.
_SPEAKERS = {"user": "User", "human": "User", "assistant": "Assistant"}
_CLAUDE_MEMORIES = ("conversations_memory", "project_memories")
_TEXT = ("memory", "text", "content")
#: Members of a JSON file that are the list of its entries.
_LISTS = ("results", "memories", "conversations")
#: Bytes of the largest entry: a small archive may hold what no memory does.
_LARGEST = 64_000_000
_TOO_LARGE = "an entry of more than 64 MB"


class ExportError(OpenClawMemoryError):
    """An export that cannot be read at all."""


# -- entries -------------------------------------------------------------------------------------------


class UnusableEntry(ValueError):
    """An entry from which no note can be made; the message gives the reason."""


class ImportedTurn(NamedTuple):
    """A text, its speaker (empty where nobody speaks), and its day, if the export has one."""

    text: str
    speaker: str = ""
    day: date | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A conversation or a remembered text, of which one note is made.

    ``identity`` is the same for the same entry of a later export; ``facts`` are short texts beside the entry.
    """

    identity: str
    turns: tuple[ImportedTurn, ...]
    title: str = ""
    day: date | None = None
    tags: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The title, or the beginning of the text, for messages."""
        return " ".join((self.title.strip() or self.turns[0].text)[:60].split())

    @property
    def key(self) -> str:
        """Twelve letters that stand for ``identity``."""
        digest = hashlib.sha256(self.identity.encode("utf-8", "replace")).hexdigest()[:12]
        # No digits: the name of a file must not state a date by accident.
        return digest.translate(str.maketrans("0123456789abcdef", "abcdefghijklmnop"))


def chatgpt(item: Mapping[str, Any], zone: str) -> Entry:
    """Read a conversation of ChatGPT: the messages from the first one to ``current_node``, as ChatGPT shows them.

    Raises :class:`UnusableEntry`.
    """
    nodes = item.get("mapping")
    if not isinstance(nodes, Mapping):
        raise UnusableEntry("it has no 'mapping' of messages; it is no conversation of ChatGPT")
    turns = (_chatgpt_turn(nodes[name], zone) for name in _path(nodes, item.get("current_node")))
    return _conversation(
        item, ("conversation_id", "id"), item.get("create_time"), [turn for turn in turns if turn is not None], zone
    )


def claude(item: Mapping[str, Any], zone: str) -> Entry:
    """Read a conversation of Claude, with the texts of the files that were given to it, or an entry of its memory.

    Raises :class:`UnusableEntry`.
    """
    if any(name in item for name in _CLAUDE_MEMORIES):
        return _claude_memory(item)
    messages = item.get("chat_messages")
    if not isinstance(messages, list):
        raise UnusableEntry("it has no list 'chat_messages'; it is no conversation of Claude")
    turns = []
    for message in messages:
        if not isinstance(message, Mapping):
            continue
        sender = str(message.get("sender") or "")
        speaker, day = _SPEAKERS.get(sender, sender.capitalize()), parse_day(message.get("created_at"), zone)
        blocks = [block for block in _items(message.get("content")) if isinstance(block, Mapping)]
        texts = [block for block in blocks if block.get("type", "text") == "text" and _text(block).strip()]
        turns.append(ImportedTurn(_text(texts) or _text(message.get("text")), speaker, day))
        for file in _items(message.get("attachments")):
            text = file.get("extracted_content") if isinstance(file, Mapping) else None
            if isinstance(text, str) and text.strip():
                turns.append(ImportedTurn(f"{file.get('file_name') or ''}\n\n{text}".strip(), speaker, day))
    return _conversation(item, ("uuid", "id"), item.get("created_at"), turns, zone)


def memory(item: Mapping[str, Any], zone: str) -> Entry:
    """Read a remembered text with its facts and tags; raises :class:`UnusableEntry` for an item without a text."""
    member = next((name for name in _TEXT if _text(item.get(name)).strip()), None)
    if member is None:
        raise UnusableEntry(f"it has no text; a member of {', '.join(map(repr, _TEXT))} must say something")
    facts = {}
    for name in "id uuid user_id agent_id app_id run_id agentId importance metadata source url".split():
        if (value := item.get(name)) not in (None, "", [], {}):
            written = (
                json.dumps(value, ensure_ascii=False, default=float) if isinstance(value, (dict, list)) else str(value)
            )
            if len(written) <= LONGEST_FACT:
                facts[name] = written
    days = (parse_day(item.get(name), zone) for name in ("date", "created_at", "createdAt", "timestamp", "updated_at"))
    role, title, tags = item.get("role"), item.get("title"), _first(item, "tags", "categories", "category")
    speaker = _SPEAKERS.get(role.lower(), role.strip()) if isinstance(role, str) else ""
    day = next(filter(None, days), None)
    turns = (ImportedTurn(_text(item[member]), speaker, day),)
    tags = tags.split(",") if isinstance(tags, str) else _items(tags)
    words = [tag.strip().lstrip("#") for tag in tags if isinstance(tag, str)]
    return Entry(
        _identity(item, ("id", "uuid"), turns),
        turns,
        title if isinstance(title, str) else "",
        day,
        tuple(word for word in words if word and len(word) <= LONGEST_FACT),
        facts,
    )


def _claude_memory(item: Mapping[str, Any]) -> Entry:
    """Read the memory that Claude has of its user, and of each project."""
    general, projects = (item.get(name) for name in _CLAUDE_MEMORIES)
    texts = [general, *(projects.values() if isinstance(projects, Mapping) else ())]
    turns = tuple(ImportedTurn(text) for text in texts if isinstance(text, str) and text.strip())
    if not turns:
        raise UnusableEntry("nothing is remembered in it")
    return Entry(f"memory of {item.get('account_uuid') or ''}", turns)


def _conversation(
    item: Mapping[str, Any], names: tuple[str, ...], begun: Any, turns: list[ImportedTurn], zone: str
) -> Entry:
    turns = [turn for turn in turns if turn.text.strip()]
    if not turns:
        raise UnusableEntry("nothing was said in it")
    day = parse_day(begun, zone) or next((turn.day for turn in turns if turn.day), None)
    title = _first(item, "title", "name")
    identity = _identity(item, names, turns)
    facts = {"id": identity} if identity == str(_first(item, *names)) and len(identity) <= LONGEST_FACT else {}
    return Entry(identity, tuple(turns), title if isinstance(title, str) else "", day, facts=facts)


def _path(nodes: Mapping[str, Any], last: Any) -> dict[str, None]:
    """Return the names of the nodes from the first one to ``last``, in this order; without it to the last leaf."""
    if not isinstance(last, str) or last not in nodes:
        leaves = [name for name, node in nodes.items() if isinstance(node, Mapping) and not node.get("children")]
        last = leaves[-1] if leaves else None
    path: dict[str, None] = {}
    while isinstance(last, str) and last in nodes and last not in path and isinstance(nodes[last], Mapping):
        path[last] = None
        last = nodes[last].get("parent")
    return dict.fromkeys(reversed(path))


def _chatgpt_turn(node: Any, zone: str) -> ImportedTurn | None:
    """Read the message of a node of ChatGPT's tree; ``None`` for one to a tool, without a speaker, or hidden."""
    message = node.get("message") if isinstance(node, Mapping) else None
    if not isinstance(message, Mapping):
        return None  # the root has none
    author, content = message.get("author"), message.get("content")
    role = author.get("role") if isinstance(author, Mapping) else None
    kind = content.get("content_type", "text") if isinstance(content, Mapping) else "text"
    metadata = message.get("metadata")
    hidden = isinstance(metadata, Mapping) and metadata.get("is_visually_hidden_from_conversation") is True
    spoken = kind in ("text", "multimodal_text", "code")  # the others are steps of the program
    if role not in _SPEAKERS or hidden or not spoken or message.get("recipient") not in (None, "all"):
        return None
    # A link, picture or name stands between two marks: its kind, then its fields.
    reference = "\ue200([^\ue200-\ue202]*)\ue202?([^\ue200\ue201]*)\ue201"
    text = re.sub("[\ue200-\ue206]", "", re.sub(reference, _visible_reference, _text(content)))
    return ImportedTurn(text, _SPEAKERS[role], parse_day(message.get("create_time"), zone)) if text.strip() else None


def _visible_reference(match: re.Match[str]) -> str:
    """Return the visible text of a link or a name that ChatGPT marks; nothing of a source or a picture."""
    kind, fields = match.groups()
    if kind == "url":
        words, _, address = fields.partition("\ue202")
        return f"[{words}]({address})"
    if kind != "entity":
        return ""
    try:
        named = json.loads(fields)  # its category, its name, and more
    except ValueError:
        return fields
    return named[1] if isinstance(named, list) and len(named) > 1 and isinstance(named[1], str) else ""


def _identity(item: Mapping[str, Any], names: Iterable[str], turns: Iterable[ImportedTurn]) -> str:
    """Return the first present member of ``names``, else the turns, so that equal texts are the same entry."""
    for name in names:
        value = item.get(name)
        if isinstance(value, (str, int)) and not isinstance(value, bool) and str(value).strip():
            return str(value)
    return json.dumps([[turn.speaker, str(turn.day), turn.text] for turn in turns])


def parse_day(value: Any, zone: str) -> date | None:
    """Return the day in ``zone`` of ISO text or of seconds or milliseconds since 1970; ``None`` for anything else.

    A text without a time zone names its own day; ``zone`` is as of :func:`~..text.calendar.now_in`.
    """
    try:
        if isinstance(value, str) and not value.strip().replace(".", "", 1).isdecimal():
            moment = datetime.fromisoformat(value.strip())
            return moment.date() if moment.tzinfo is None else calendar.now_in(zone, moment).date()
        if value is None or isinstance(value, bool):
            return None
        seconds = float(value)
        if not math.isfinite(seconds) or seconds <= 0:
            return None
        seconds = seconds / 1000 if seconds > 1e11 else seconds  # no export has seconds as large
        return calendar.now_in(zone, datetime.fromtimestamp(seconds, UTC)).date()
    except (OSError, OverflowError, TypeError, ValueError):
        return None


def _first(item: Mapping[str, Any], *names: str) -> Any:
    """Return the first of the members ``names`` that is not empty."""
    return next((item[name] for name in names if item.get(name) not in (None, "", [], {})), None)


def _text(content: Any) -> str:
    """Return the text of a message: a text, or the texts among its parts, a blank line between them."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return _text(_first(content, "text", "parts", "content"))
    if isinstance(content, list):
        return "\n\n".join(text for part in content if (text := _text(part)).strip())
    return ""


def _items(value: Any) -> list[Any]:
    """Return ``value`` if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


# -- files ---------------------------------------------------------------------------------------------


class Format(NamedTuple):
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
                    progress("export", min(stream.tell(), size), size)
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
    try:
        with zipfile.ZipFile(path) as archive:
            for info in sorted(archive.infolist(), key=lambda info: info.filename):
                inside = PurePosixPath(info.filename)
                if any(map(inside.match, names)) and not inside.name.startswith("."):
                    yield info.filename, info.file_size, partial(archive.open, info)
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
            if stream.read(len(BOM_UTF8)) != BOM_UTF8:
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
    while chunk := stream.read(1 << 20):
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
                yield place, json.loads(line.removeprefix(BOM_UTF8) if number == 1 else line)
        except (ValueError, RecursionError) as error:
            yield place, SkippedFile(place, f"not valid JSON ({' '.join(str(error).split())[:120]})")
