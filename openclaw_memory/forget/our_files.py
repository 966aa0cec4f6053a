"""The files that this package writes: forgotten words leave them too, also where a person has edited them since."""

from __future__ import annotations

import logging
import os
import re
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

from ..facts.history import build_history
from ..facts.periods import STATED, name_key
from ..ingest.summary_files import content_hash, is_edited, is_tag_line
from ..knowledge import concepts_file
from ..knowledge import facts_file as facts
from ..model import Grain, Origin, citation
from ..store.api import StatedFact, Store
from ..system import atomic
from ..text import calendar
from ..text.dates import date_in_name
from ..text.lines import split_lines
from .masking import CAPTURES, READ_MARK, SUMMARIES, masked
from .tombstones import Matcher, Tombstones
from .words import lead

log = logging.getLogger("openclaw_memory")


def edit_notes(workspace: Path, matcher: Matcher, notes: Iterable[str]) -> list[str]:
    """Take what ``matcher`` finds out of summaries and captures; the paths of those that changed.

    No line moves, as others cite it: one that says nothing any more is empty.  Of a summary that nobody has edited the
    tags go along, and it is due to be made again, as are those of the days of ``notes``.  The caller keeps others from
    consolidating.  Raises :class:`~openclaw_memory.errors.WorkspaceError` when a file cannot be written.
    """
    due = {path for note in notes if not note.startswith(f"{SUMMARIES}/") for path in _summaries_of(note)}
    changed = []
    with atomic.locked(workspace / CAPTURES, root=workspace):
        atomic.sweep(workspace)
        for path, file in _ours(workspace):
            try:
                text = atomic.read(file, workspace).decode("utf-8")
            except FileNotFoundError:
                continue
            except (OSError, UnicodeDecodeError) as problem:
                log.warning("%s: cannot be read, so nothing is taken out of it: %s", file, problem)
                continue
            made = _without(text, path, matcher, path in due)
            if made != text:
                atomic.replace(file, made, workspace)
                changed.append(path)
    return changed


def edit_facts(workspace: Path, store: Store, tombstones: Tombstones) -> bool:
    """Take forgotten entries out of ``facts.yaml``; whether there were any.

    What one of them had replaced does not hold again: it is noted as ended.  Raises as
    :func:`~openclaw_memory.knowledge.facts_file.remove`.
    """
    path = workspace / facts.NAME
    if not path.exists():
        return False
    before = path.read_bytes()
    with atomic.locked(path, root=workspace):
        gone = [fact for fact in facts.read(path) if tombstones.covers_fact(fact)]
        ended = _ended(store, facts.read(path), {fact.id for fact in gone}) if gone else []
        facts.remove(path, tombstones.covers_fact, tombstones.covers)
        facts.append(path, ended)
    return path.read_bytes() != before


def edit_concepts(workspace: Path, meant: Callable[[str], bool]) -> bool:
    """Take the concepts with these slugs out of ``concepts.yaml``; whether there were any.

    Raises as :func:`~openclaw_memory.knowledge.concepts_file.remove`.
    """
    path = workspace / concepts_file.FILE_NAME
    found = [slug for slug in concepts_file.read(path).concepts if meant(slug)]
    for slug in found:
        concepts_file.remove(path, slug)
    return bool(found)


def naming(
    workspace: Path, says: Callable[[str], bool], going: Collection[str], covers: Callable[[str], bool]
) -> list[str]:
    """What in the two YAML files ``says`` what is forgotten and stays: concepts, ignored names, facts, comments.

    ``going`` are slugs and ids of what goes; a comment that ``covers`` is true of goes from ``facts.yaml`` too.
    Raises as :func:`check`.
    """
    curated = concepts_file.read(workspace / concepts_file.FILE_NAME)
    texts = [
        (concept.slug, " ".join((*concept.spellings, concept.slug, concept.kind or "")), f"the concept {concept.name}")
        for concept in curated.concepts.values()
    ]
    texts += [("", name, f"the ignored name {name}") for name in curated.ignored]
    found = [f"{concepts_file.FILE_NAME} ({what})" for slug, text, what in texts if slug not in going and says(text)]
    for fact in facts.read(workspace / facts.NAME):
        text = " ".join(filter(None, (fact.subject, fact.predicate, fact.object, fact.source)))
        if fact.id not in going and says(text):
            found.append(f"{facts.NAME} (the fact {fact.id})")
    for path in (concepts_file.FILE_NAME, facts.NAME):
        for number, comment in _comments(workspace / path):
            if says(comment) and not (path == facts.NAME and covers(comment)):
                found.append(citation(path, number, number))
    return found


def _comments(file: Path) -> Iterator[tuple[int, str]]:
    """Number and text of the comments of a YAML file."""
    try:
        lines = split_lines(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return
    for number, line in enumerate(lines, 1):
        if comment := re.search(r"(?:^|\s)#(.*)$", line):
            yield number, comment[1].strip()


def _ours(workspace: Path) -> Iterator[tuple[str, Path]]:
    """Path in the workspace and file of each summary and capture; links are nobody's to follow."""
    root = Path(os.path.realpath(workspace))
    for folder in (SUMMARIES, CAPTURES):
        if not Path(os.path.realpath(workspace / folder)).is_relative_to(root):
            continue
        for at, folders, names in os.walk(workspace / folder):
            folders.sort()
            for name in sorted(names):
                file = Path(at) / name
                if name.lower().endswith(".md") and not name.startswith(".") and not file.is_symlink():
                    yield file.relative_to(workspace).as_posix(), file


def _without(text: str, path: str, matcher: Matcher, due: bool) -> str:
    """``text`` without what is forgotten; ``due`` to be made again when it is an unedited summary."""
    lines = split_lines(text)
    unedited = path.startswith(f"{SUMMARIES}/") and not is_edited(text)
    made = split_lines(masked(text, path, matcher, READ_MARK))
    touched = [at for at, line in enumerate(made) if line != lines[at]]
    if not touched and not (due and unedited):
        return text
    for at in touched:
        if made[at] == lead(made[at]) + READ_MARK:
            made[at] = ""
    if unedited:
        for at in touched:
            _drop_tags(made, at)
    ending = "\r\n" if "\r\n" in text else "\n"
    out = ending.join(made) + (ending if text.endswith(("\n", "\r")) else "")
    if not unedited:
        return out
    for key, hashed in (("content", content_hash(out)), ("digest", 64 * "0")):  # that of nothing: it is made again
        out = re.sub(rf"^{key}: [0-9a-f]{{64}}", f"{key}: {hashed}", out, count=1, flags=re.MULTILINE)
    return out


def _drop_tags(lines: list[str], at: int) -> None:
    """Empty the line of tags above line ``at``, in the same part of a summary."""
    while at >= 0 and not lines[at].startswith("#"):
        if is_tag_line(lines[at]):
            lines[at] = ""
        at -= 1


def _summaries_of(note: str) -> list[str]:
    """The summaries that the day of a note belongs to."""
    day = date_in_name(note)
    if day is None:
        return []
    return [calendar.path_of(grain, calendar.period_of(day, grain)) for grain in tuple(Grain)[1:]]


def _ended(store: Store, stated: Sequence[StatedFact], gone: set[str]) -> list[StatedFact]:
    """Entries that end what forgotten entries had replaced, on the days on which that was."""
    found = store.ontology()
    aliases = {name_key(alias): row.key for row in found.concepts for alias in (row.name, *row.aliases)}
    known = build_history([], stated, found.single_valued, date.today(), aliases)
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return [
        StatedFact(
            f"f-{secrets.token_hex(6)}", "", "", "", 1.0, Origin.AGENT, None, None, row.valid_to, now, retracts=row.id
        )
        for row in known.rows
        if row.rule == STATED and row.superseded_by in gone and row.id not in gone and row.valid_to is not None
    ]


def check(workspace: Path) -> None:
    """Raise the error of ``facts.yaml`` or ``concepts.yaml`` when it cannot be read, and so not edited."""
    facts.read(workspace / facts.NAME)
    concepts_file.read(workspace / concepts_file.FILE_NAME)
