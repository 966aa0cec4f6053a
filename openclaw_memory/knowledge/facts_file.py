"""``facts.yaml``: what agents and people stated, one line an entry, only ever added to."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import OpenClawMemoryError
from ..model import Origin
from ..store.api import StatedFact, WorkspaceFile
from ..system import atomic, yaml_edit

if TYPE_CHECKING:
    from ..store.api import Store

NAME = "facts.yaml"

_HEADER = """\
# Facts that were stated, one a line; written by openclaw-memory, read by anyone.
# Lines are only ever added: a newer fact replaces an older one by naming its id, and one that has "retracts" ends it.
"""

_KEYS = ("id", "subject", "predicate", "object", "from", "to", "confidence", "origin", "source", "recorded",
         "replaces", "retracts")  # fmt: skip


class FactFileError(OpenClawMemoryError):
    """``facts.yaml`` cannot be read as a list of facts."""


# -- writing --------------------------------------------------------------------------------------


def append(path: Path, entries: Sequence[StatedFact], known: str = "") -> None:
    """Add ``entries`` behind those of the file, all of them or none; what stands there stays as it is.

    ``known`` is the SHA-256 of a content that was read without an error.  The caller holds
    :func:`~openclaw_memory.system.atomic.locked`.  Raises :class:`FactFileError` when the file
    cannot be read as facts, for then nobody could read the new ones either, and
    :class:`~openclaw_memory.errors.WorkspaceError` when it cannot be written or is no file of its folder.
    """
    if not entries:
        return
    data = _bytes(path)
    text = _decoded(path, data)
    lines = "".join(f"- {_entry(entry)}\n" for entry in entries)
    if not text.strip():
        atomic.append(path, _HEADER + lines)
    elif _torn(text):
        # A write that the machine's end cut short, which nobody was told had succeeded: kept as a comment.
        whole, _, rest = text.rpartition("\n")
        atomic.replace(path, f"{whole}\n# incomplete: {rest}\n{lines}".removeprefix("\n"))
    else:
        if hashlib.sha256(data).hexdigest() != known:
            _facts(path, text)
        atomic.append(path, ("" if text.endswith("\n") else "\n") + _aligned(path, text, lines))


def _aligned(path: Path, text: str, lines: str) -> str:
    """``lines`` as far to the right as the entries that a person has written."""
    first = _FIRST.search(text)
    indent = " " * len(first["indent"]) if first else ""
    moved = "".join(f"{indent}{line}\n" for line in lines.splitlines())
    if _OTHER.search(text) and not _parses(f"{text}\n{moved}"):
        raise _wrong(path, 1, "no line can be added below this layout; write the entries as lines that begin with '- '")
    return moved


#: The first line that is no comment, where an entry begins there; and a line that neither begins nor continues one.
_FIRST = re.compile(r"\A(?:[^\S\n]*(?:#.*)?\n)*(?P<indent> *)- ")
_OTHER = re.compile(r"^(?:[^-# \n]|-(?! ))", re.MULTILINE)


def _entry(fact: StatedFact) -> str:
    values: dict[str, Any] = {"id": fact.id, "retracts": fact.retracts}
    if fact.subject:
        values |= {"subject": fact.subject, "predicate": fact.predicate, "object": fact.object}
    values |= {"from": fact.valid_from, "to": fact.valid_to}
    values |= {"confidence": fact.confidence if fact.retracts is None else None, "origin": fact.origin.value}
    values |= {"source": fact.source, "recorded": fact.recorded or None, "replaces": fact.replaces or None}
    return yaml_edit.flow({key: value for key, value in values.items() if value is not None})


def remove(path: Path, gone: Callable[[StatedFact], bool], comment: Callable[[str], bool]) -> list[StatedFact]:
    """Take entries out of the file as if they had never been stated, and comments for which ``comment`` is true.

    Returns those entries.  The caller holds :func:`~openclaw_memory.system.atomic.locked`; raises as :func:`append`.
    """
    text = _whole(_text(path))  # what was never written completely goes too
    said = [fact for _, fact in _said(path, text)]
    flags = [gone(fact) for fact in said]
    if any(flags) and (node := yaml_edit.parse(text)) is not None:
        text = yaml_edit.without(text, node, flags)
    lines = [line for line in text.split("\n") if not (line.lstrip().startswith("#") and comment(line))]
    made = "\n".join(lines)
    left = dict.fromkeys(fact for fact, out in zip(said, flags, strict=True) if not out)
    if any(flags) and list(_facts(path, made)) != list(left):
        raise _wrong(path, 1, "no entry can be taken out of this layout; write each on a line that begins with '- '")
    if made != _text(path):
        atomic.replace(path, made)
    return list(compress(said, flags))


# -- reading --------------------------------------------------------------------------------------


def read(path: Path) -> list[StatedFact]:
    """The entries of the file in their order; none when there is no file.

    A last line without an end that does not parse is one that was never written completely, and is left out.
    Raises :class:`FactFileError` naming the line and the next step, or
    :class:`~openclaw_memory.errors.WorkspaceError` for what is no file of this folder.
    """
    return list(_facts(path, _text(path)))


def _facts(path: Path, text: str) -> tuple[StatedFact, ...]:
    facts: dict[str, StatedFact] = {}
    for line, fact in _said(path, _whole(text)):
        # The same line twice, as a merge of two copies leaves it, is one.
        if facts.setdefault(fact.id, fact) != fact:
            raise _wrong(path, line, "its id is taken by another entry; delete the id to get a new one")
    return tuple(facts.values())


def _said(path: Path, text: str) -> Iterator[tuple[int, StatedFact]]:
    """Line and content of each entry."""
    taken: set[str] = set()
    for line, entry in _parse(path, text):
        fact = _fact(path, line, entry, taken)
        taken.add(fact.id)
        yield line, fact


def _text(path: Path) -> str:
    return _decoded(path, _bytes(path))


def _bytes(path: Path) -> bytes:
    try:
        return atomic.read(path)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise FactFileError(f"{path}: cannot be read ({error.strerror}); check its permissions") from error


def _decoded(path: Path, data: bytes) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start <= data.rfind(b"\n"):
            where = data.count(b"\n", 0, error.start) + 1
            raise _wrong(path, where, f"not UTF-8 text ({error.reason}); save the file as UTF-8") from error
        text = data.decode("utf-8", "replace")  # the line that was never written to its end
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def _whole(text: str) -> str:
    """``text`` without a last line that was never written completely."""
    return text.rpartition("\n")[0] + "\n" if _torn(text) else text


def _torn(text: str) -> bool:
    """Whether the last line has no end and is what breaks the file."""
    last = text.rpartition("\n")[2]
    if not last.startswith("-"):
        return False
    return last.strip() == "-" or (not _parses(text) and _parses(text.rpartition("\n")[0] + "\n"))


def _parses(text: str) -> bool:
    try:
        yaml_edit.parse(text)
    except yaml_edit.YamlTextError:
        return False
    return True


def _parse(path: Path, text: str) -> list[tuple[int, dict[str, Any]]]:
    """Line and mapping of each entry."""
    try:
        node = yaml_edit.parse(text)
    except yaml_edit.YamlTextError as error:
        raise _wrong(path, error.line, f"not valid YAML ({error}); mend that line") from error
    if node is None:
        return []
    if node.kind != "list":
        raise _wrong(path, node.line, "the file must be a list whose entries begin with '- '")
    return list(_entries(path, node))


def _entries(path: Path, node: yaml_edit.Node) -> Iterator[tuple[int, dict[str, Any]]]:
    for item in node.items:
        if item.kind != "map":
            raise _wrong(
                path, item.line, "an entry must look like {subject: Mira, predicate: lives in, object: Utrecht}"
            )
        out: dict[str, Any] = {}
        for key, value in item.pairs:
            if value.kind == "scalar":
                # Texts stay as they are written: "on" and 2026 are values like any other.
                out[key.text] = None if value.nothing else value.text
            elif value.kind == "list" and all(inner.kind == "scalar" for inner in value.items):
                out[key.text] = tuple(inner.text for inner in value.items)
            else:
                raise _wrong(path, item.line, f"{key.text!r} must be a text")
        yield item.line, out


def _fact(path: Path, line: int, entry: dict[str, Any], taken: set[str]) -> StatedFact:
    unknown = [key for key in entry if key not in _KEYS]
    if unknown:
        import difflib

        near = difflib.get_close_matches(unknown[0], _KEYS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"valid are {', '.join(_KEYS)}"
        raise _wrong(path, line, f"there is no key {unknown[0]!r}; {hint}")
    retracts = _one(path, line, entry, "retracts")
    texts = {key: (_one(path, line, entry, key) or "").strip() for key in ("subject", "predicate", "object")}
    if retracts is None and (missing := [key for key, text in texts.items() if not text]):
        raise _wrong(path, line, f"{missing[0]!r} is missing; an entry needs subject, predicate and object")
    origin = _one(path, line, entry, "origin") or Origin.AGENT.value
    if origin not in set(Origin):
        raise _wrong(path, line, f"origin must be one of {', '.join(Origin)}, not {origin!r}")
    replaces = entry.get("replaces") or ()
    fact = StatedFact(
        id=_one(path, line, entry, "id") or "",
        **texts,
        confidence=_confidence(path, line, entry),
        origin=Origin(origin),
        source=_one(path, line, entry, "source"),
        valid_from=_day(path, line, entry, "from"),
        valid_to=_day(path, line, entry, "to"),
        recorded=_one(path, line, entry, "recorded") or "",
        replaces=(replaces,) if isinstance(replaces, str) else replaces,
        retracts=retracts,
    )
    if fact.id:
        return fact
    # Written by hand: the id follows from what the entry says, so that it is the same at the next reading.
    base, again = _line_id(fact), 0
    while (made := base if not again else f"{base}-{again + 1}") in taken:
        again += 1
    return replace(fact, id=made)


def _line_id(fact: StatedFact) -> str:
    return _made_id(json.dumps([fact.subject, fact.predicate, fact.object, str(fact.valid_from), fact.retracts]))


def _made_id(text: str) -> str:
    return "f-" + hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _one(path: Path, line: int, entry: dict[str, Any], key: str) -> str | None:
    value = entry.get(key)
    if value is None or isinstance(value, str):
        return value
    raise _wrong(path, line, f"{key!r} must be one text, not a list")


def _confidence(path: Path, line: int, entry: dict[str, Any]) -> float:
    value = _one(path, line, entry, "confidence")
    try:
        number = 1.0 if value is None else float(value)
    except ValueError:
        number = math.nan
    if not 0 <= number <= 1:
        raise _wrong(path, line, f"confidence must be a number from 0 to 1, not {value!r}")
    return number


def _day(path: Path, line: int, entry: dict[str, Any], key: str) -> date | None:
    value = _one(path, line, entry, key)
    if value is None:
        return None
    try:
        return date.fromisoformat(value) if len(value) <= 10 else datetime.fromisoformat(value).date()
    except ValueError:
        raise _wrong(path, line, f"{key!r} must be a day such as 2026-02-13, not {value!r}") from None


def _wrong(path: Path, line: int, what: str) -> FactFileError:
    return FactFileError(f"{path}, line {line}: {what}")


# -- the index ------------------------------------------------------------------------------------


def redacted(fact: StatedFact, redact: atomic.Redact) -> StatedFact:
    """``fact`` with the secrets in its words, in its id, and in the name of the file that it cites, replaced."""

    def nameable(id: str) -> str:
        return id if redact(id) == id else _made_id(id)

    source = fact.source if fact.source is None else redact(fact.source)
    subject, predicate, thing = redact(fact.subject), redact(fact.predicate), redact(fact.object)
    # What the value is called decides too: "NAS", "password", "swordfish".
    said = f"{subject} {predicate}: "
    whole = redact(said + thing)
    if whole.startswith(said):
        thing = whole[len(said) :]
    return replace(
        fact, id=nameable(fact.id), subject=subject, predicate=predicate, object=thing, source=source,
        replaces=tuple(map(nameable, fact.replaces)), retracts=fact.retracts and nameable(fact.retracts),
    )  # fmt: skip


def take_over(workspace: Path, store: Store, redact: atomic.Redact, forgotten: Callable[[StatedFact], bool]) -> bool:
    """Bring the index to what ``facts.yaml`` says now; returns whether any of it was new.

    What a person wrote there passes through ``redact`` first; what is ``forgotten`` stays out.  Raises
    :class:`FactFileError` when the file is broken, :class:`~openclaw_memory.errors.WorkspaceError` when it is no file
    of the workspace; the index then keeps what it had.
    """
    path = workspace / NAME
    known = store.workspace_file(NAME)
    atomic.check(path)
    if not path.exists():
        if known is None or not known.sha256:
            return False
        store.put_stated_facts(WorkspaceFile(NAME, 0, 0, ""), [])
        return True
    mtime_ns = path.stat().st_mtime_ns  # before it is read: what is written meanwhile is then read again
    data = _bytes(path)
    file = WorkspaceFile(NAME, len(data), mtime_ns, hashlib.sha256(data).hexdigest())
    if known == file:
        return False
    kept = [redacted(fact, redact) for fact in _facts(path, _decoded(path, data)) if not forgotten(fact)]
    store.put_stated_facts(file, kept)
    return known is None or known.sha256 != file.sha256
