"""``facts.yaml``: the facts that agents and people stated, one line an entry, append-only."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime
from itertools import compress, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import patterns as re
from ..errors import OpenClawMemoryError
from ..model import Origin
from ..store.api import StatedFact, WorkspaceFile
from ..system import atomic, yaml_edit
from . import FACTS

if TYPE_CHECKING:
    from ..store.api import Store


_HEADER = """\
# Facts that were stated, one a line; written by openclaw-memory, read by anyone.
# Lines are only ever added: a newer fact replaces an older one by naming its id, and one that has "retracts" ends it.
"""

_KEYS = ("id", "subject", "predicate", "object", "from", "to", "confidence", "origin", "source", "recorded",
         "replaces", "retracts")  # fmt: skip
#: The first line that is no comment, where an entry begins there; and a line that neither begins nor continues one.
_FIRST = re.compile(r"\A(?:[^\S\n]*(?:#.*)?\n)*(?P<indent> *)- ")
_OTHER = re.compile(r"^(?:[^-# \n]|-(?! ))", re.MULTILINE)


class FactFileError(OpenClawMemoryError):
    """``facts.yaml`` is no list of facts."""


# -- writing --------------------------------------------------------------------------------------


def append(path: Path, entries: Sequence[StatedFact], valid: str = "") -> None:
    """Add ``entries`` at the end of the file, all of them or none; the text before them stays.

    ``valid`` is the SHA-256 of a content that was read without an error.  The caller holds
    :func:`~openclaw_memory.system.atomic.locked`.  Raises :class:`FactFileError` when the file is no list of facts,
    for then nobody could read the new ones, and :class:`~openclaw_memory.errors.WorkspaceError` when it cannot be
    written or is no file of its folder.
    """
    if not entries:
        return
    data = _read_bytes(path)
    text = _decode(path, data)
    lines = "".join(f"- {_format(entry)}\n" for entry in entries)
    if not text.strip():
        atomic.append_text(path, _HEADER + lines)
    elif _is_torn(text):
        # A write that the machine's end cut short, which was never reported as done: kept as a comment.
        whole, _, rest = text.rpartition("\n")
        atomic.write_text(path, f"{whole}\n# incomplete: {rest}\n{lines}".removeprefix("\n"))
    else:
        if hashlib.sha256(data).hexdigest() != valid:
            _parse_facts(path, text)
        atomic.append_text(path, ("" if text.endswith("\n") else "\n") + _indent(path, text, lines))


def _indent(path: Path, text: str, lines: str) -> str:
    """Return ``lines`` with the indentation of the entries that a person has written."""
    first = _FIRST.search(text)
    indent = " " * len(first["indent"]) if first else ""
    indented = "".join(f"{indent}{line}\n" for line in lines.splitlines())
    if _OTHER.search(text) and not _is_yaml(f"{text}\n{indented}"):
        raise _error(path, 1, "no line can be added below this layout; write the entries as lines that begin with '- '")
    return indented


def _format(fact: StatedFact) -> str:
    values: dict[str, Any] = {"id": fact.id, "retracts": fact.retracts}
    if fact.subject:
        values |= {"subject": fact.subject, "predicate": fact.predicate, "object": fact.object}
    values |= {"from": fact.valid_from, "to": fact.valid_to}
    values |= {"confidence": fact.confidence if fact.retracts is None else None, "origin": fact.origin.value}
    values |= {"source": fact.source, "recorded": fact.recorded or None, "replaces": fact.replaces or None}
    return yaml_edit.dump_flow({key: value for key, value in values.items() if value is not None})


def remove(path: Path, gone: Callable[[StatedFact], bool], comment: Callable[[str], bool]) -> list[StatedFact]:
    """Delete the entries for which ``gone`` is true, and the comments for which ``comment`` is.

    Returns these entries.  The caller holds :func:`~openclaw_memory.system.atomic.locked`; raises as :func:`append`.
    """
    before = _decode(path, _read_bytes(path))
    text = _without_torn_line(before)
    facts = [fact for _, fact in _numbered_facts(path, text)]
    flags = [gone(fact) for fact in facts]
    if any(flags) and (node := yaml_edit.parse(text)) is not None:
        text = yaml_edit.remove_items(text, node, flags)
    text = "\n".join(line for line in text.split("\n") if not (line.lstrip().startswith("#") and comment(line)))
    kept = dict.fromkeys(fact for fact, flag in zip(facts, flags, strict=True) if not flag)
    if any(flags) and _parse_facts(path, text) != list(kept):
        raise _error(path, 1, "no entry can be taken out of this layout; write each on a line that begins with '- '")
    if text != before:
        atomic.write_text(path, text)
    return list(compress(facts, flags))


# -- reading --------------------------------------------------------------------------------------


def read(path: Path) -> list[StatedFact]:
    """Return the entries of the file in their order; none when there is no file.

    A last line without an end that does not parse was never written completely, and is left out.  Raises
    :class:`FactFileError` naming the line and the next step, or :class:`~openclaw_memory.errors.WorkspaceError` for a
    path that is no file of its folder.
    """
    return _parse_facts(path, _decode(path, _read_bytes(path)))


def _parse_facts(path: Path, text: str) -> list[StatedFact]:
    facts: dict[str, StatedFact] = {}
    for line, fact in _numbered_facts(path, _without_torn_line(text)):
        # The same line twice, as a merge of two copies leaves it, counts once.
        if facts.setdefault(fact.id, fact) != fact:
            raise _error(path, line, "its id is taken by another entry; delete the id to get a new one")
    return list(facts.values())


def _numbered_facts(path: Path, text: str) -> Iterator[tuple[int, StatedFact]]:
    """Yield line and content of each entry."""
    try:
        node = yaml_edit.parse(text)
    except yaml_edit.YamlTextError as error:
        raise _error(path, error.line, f"not valid YAML ({error}); mend that line") from error
    if node is None:
        return
    if node.kind != "list":
        raise _error(path, node.line, "the file must be a list whose entries begin with '- '")
    ids: set[str] = set()
    entries = [(item.line, _entry_values(path, item)) for item in node.items]
    for line, entry in entries:
        fact = _parse_fact(path, line, entry, ids)
        ids.add(fact.id)
        yield line, fact


def _read_bytes(path: Path) -> bytes:
    try:
        return atomic.read_bytes(path)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise FactFileError(f"{path}: cannot be read ({error.strerror}); check its permissions") from error


def _decode(path: Path, data: bytes) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start <= data.rfind(b"\n"):
            line = data.count(b"\n", 0, error.start) + 1
            raise _error(path, line, f"not UTF-8 text ({error.reason}); save the file as UTF-8") from error
        text = data.decode("utf-8", "replace")  # the last line was never written to its end
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def _without_torn_line(text: str) -> str:
    return text.rpartition("\n")[0] + "\n" if _is_torn(text) else text


def _is_torn(text: str) -> bool:
    """Return true if the last line has no end and is the one that breaks the file."""
    last = text.rpartition("\n")[2]
    if not last.startswith("-"):
        return False
    return last.strip() == "-" or (not _is_yaml(text) and _is_yaml(text.rpartition("\n")[0] + "\n"))


def _is_yaml(text: str) -> bool:
    try:
        yaml_edit.parse(text)
    except yaml_edit.YamlTextError:
        return False
    return True


def _entry_values(path: Path, item: yaml_edit.Node) -> dict[str, Any]:
    if item.kind != "map":
        raise _error(path, item.line, "an entry must look like {subject: Mira, predicate: lives in, object: Utrecht}")
    values: dict[str, Any] = {}
    for key, value in item.pairs:
        if value.kind == "scalar":
            # Texts stay as they are written: "on" and 2026 are values like any other.
            values[key.text] = None if value.is_null else value.text
        elif value.kind == "list" and all(inner.kind == "scalar" for inner in value.items):
            values[key.text] = tuple(inner.text for inner in value.items)
        else:
            raise _error(path, item.line, f"{key.text!r} must be a text")
    return values


def _parse_fact(path: Path, line: int, entry: dict[str, Any], ids: set[str]) -> StatedFact:
    unknown = [key for key in entry if key not in _KEYS]
    if unknown:
        import difflib

        near = difflib.get_close_matches(unknown[0], _KEYS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"valid are {', '.join(_KEYS)}"
        raise _error(path, line, f"there is no key {unknown[0]!r}; {hint}")
    retracts = _text(path, line, entry, "retracts")
    texts = {key: (_text(path, line, entry, key) or "").strip() for key in ("subject", "predicate", "object")}
    if retracts is None and (missing := [key for key, text in texts.items() if not text]):
        raise _error(path, line, f"{missing[0]!r} is missing; an entry needs subject, predicate and object")
    origin = _text(path, line, entry, "origin") or Origin.AGENT.value
    if origin not in set(Origin):
        raise _error(path, line, f"origin must be one of {', '.join(Origin)}, not {origin!r}")
    replaces = entry.get("replaces") or ()
    fact = StatedFact(
        id=_text(path, line, entry, "id") or "",
        **texts,
        confidence=_confidence(path, line, entry),
        origin=Origin(origin),
        source=_text(path, line, entry, "source"),
        valid_from=_day(path, line, entry, "from"),
        valid_to=_day(path, line, entry, "to"),
        recorded=_text(path, line, entry, "recorded") or "",
        replaces=(replaces,) if isinstance(replaces, str) else replaces,
        retracts=retracts,
    )
    if fact.id:
        return fact
    # Written by hand: the id follows from the entry's content, so that it is the same at the next reading.
    content = [fact.subject, fact.predicate, fact.object, str(fact.valid_from), fact.retracts]
    first = _hashed_id(json.dumps(content))
    numbered = (f"{first}-{number}" if number > 1 else first for number in count(1))
    return replace(fact, id=next(name for name in numbered if name not in ids))


def _hashed_id(text: str) -> str:
    return "f-" + hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _text(path: Path, line: int, entry: dict[str, Any], key: str) -> str | None:
    value = entry.get(key)
    if value is None or isinstance(value, str):
        return value
    raise _error(path, line, f"{key!r} must be one text, not a list")


def _confidence(path: Path, line: int, entry: dict[str, Any]) -> float:
    value = _text(path, line, entry, "confidence")
    try:
        number = 1.0 if value is None else float(value)
    except ValueError:
        number = math.nan
    if not 0 <= number <= 1:
        raise _error(path, line, f"confidence must be a number from 0 to 1, not {value!r}")
    return number


def _day(path: Path, line: int, entry: dict[str, Any], key: str) -> date | None:
    value = _text(path, line, entry, key)
    if value is None:
        return None
    try:
        return date.fromisoformat(value) if len(value) <= 10 else datetime.fromisoformat(value).date()
    except ValueError:
        raise _error(path, line, f"{key!r} must be a day such as 2026-02-13, not {value!r}") from None


def _error(path: Path, line: int, what: str) -> FactFileError:
    return FactFileError(f"{path}, line {line}: {what}")


# -- the index ------------------------------------------------------------------------------------


def redacted(fact: StatedFact, redact: atomic.Redact) -> StatedFact:
    """Return ``fact`` with the secrets in its words, its ids and the name of its source replaced."""

    def redact_id(id: str) -> str:
        return id if redact(id) == id else _hashed_id(id)

    source = fact.source if fact.source is None else redact(fact.source)
    subject, predicate, thing = redact(fact.subject), redact(fact.predicate), redact(fact.object)
    # The name of a value shows that it is a secret: "NAS", "password", "swordfish".
    label = f"{subject} {predicate}: "
    sentence = redact(label + thing)
    if sentence.startswith(label):
        thing = sentence[len(label) :]
    return replace(
        fact, id=redact_id(fact.id), subject=subject, predicate=predicate, object=thing, source=source,
        replaces=tuple(map(redact_id, fact.replaces)), retracts=fact.retracts and redact_id(fact.retracts),
    )  # fmt: skip


def take_over(workspace: Path, store: Store, redact: atomic.Redact, forgotten: Callable[[StatedFact], bool]) -> bool:
    """Copy ``facts.yaml`` into the index where it has changed; return true if its content is new.

    Entries pass through ``redact``, and ``forgotten`` ones stay out.  Raises :class:`FactFileError` when the file is
    broken, :class:`~openclaw_memory.errors.WorkspaceError` when it is no file of the workspace; the index then stays.
    """
    path = workspace / FACTS
    before = store.workspace_file(FACTS)
    atomic.check_regular(path)
    if not path.exists():
        if before is None or not before.sha256:
            return False
        store.put_stated_facts(WorkspaceFile(FACTS, 0, 0, ""), [])
        return True
    mtime_ns = path.stat().st_mtime_ns  # taken before the reading, so that a change meanwhile is read again
    data = _read_bytes(path)
    file = WorkspaceFile(FACTS, len(data), mtime_ns, hashlib.sha256(data).hexdigest())
    if before == file:
        return False
    facts = [redacted(fact, redact) for fact in _parse_facts(path, _decode(path, data)) if not forgotten(fact)]
    store.put_stated_facts(file, facts)
    return before is None or before.sha256 != file.sha256
