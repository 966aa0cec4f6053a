"""Remove forgotten words from the files that this package writes, also after a person has edited them."""

from __future__ import annotations

import json
import logging
import os
import re
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

from ..facts.history import build_history
from ..facts.periods import STATED, name_key
from ..ingest.scan import CAPTURES
from ..ingest.summary_files import content_hash, is_edited, is_tag_line
from ..knowledge import CONCEPTS, FACTS, concepts_file
from ..knowledge import facts_file as facts
from ..model import Grain, Origin, citation
from ..store.api import StatedFact, Store
from ..system import atomic
from ..text import calendar
from ..text.calendar import FOLDER as SUMMARIES
from ..text.dates import date_in_name
from ..text.lines import split_lines
from .masking import READ_MARK, mask
from .tombstones import Matcher, Tombstones
from .words import leading_marks, split_words

log = logging.getLogger("openclaw_memory")


def edit_notes(workspace: Path, matcher: Matcher, notes: Iterable[str]) -> list[str]:
    """Take what ``matcher`` finds out of summaries and captures; return the paths of those that changed.

    No line moves, as others cite it: one without words left is empty.  Of a summary that nobody has edited the
    tags go along, and it is due to be made again, as are those of the days of ``notes``.  The caller keeps others from
    consolidating.  Raises :class:`~openclaw_memory.errors.WorkspaceError` when a file cannot be written.
    """
    due = {
        calendar.path_of(grain, calendar.period_of(day, grain))
        for note in notes
        if not note.startswith(f"{SUMMARIES}/") and (day := date_in_name(note)) is not None
        for grain in tuple(Grain)[1:]
    }
    changed = []
    with atomic.locked(workspace / CAPTURES, root=workspace):
        atomic.delete_leftovers(workspace)
        for path, file in _generated(workspace):
            try:
                text = atomic.read_bytes(file, workspace).decode("utf-8")
            except FileNotFoundError:
                continue
            except (OSError, UnicodeDecodeError) as problem:
                log.warning("%s: cannot be read, so nothing is taken out of it: %s", file, problem)
                continue
            edited = _without(text, path, matcher, path in due)
            if edited != text:
                atomic.write_text(file, edited, workspace)
                changed.append(path)
    return changed


def edit_waiting_turns(folder: Path, workspace: Path, readable: Callable[[str, str], str]) -> None:
    """Take what was forgotten out of the turns of ``workspace`` that hooks of hosts have yet to hand over.

    ``readable`` returns a text without it, given the path under which that will be captured.
    """
    for file in folder.glob("*.json"):
        try:
            turn = json.loads(file.read_text("utf-8"))
            if not os.path.samefile(turn["subject"]["workspaceDir"], workspace):
                continue
            messages = [message for part in turn["parts"] for message in part["messages"]]
            texts = [readable(f"{CAPTURES}/{file.stem}.md", message["text"]) for message in messages]
        except (OSError, ValueError, KeyError, TypeError):
            continue  # handed over meanwhile, or no turn
        if texts != [message["text"] for message in messages]:
            for message, text in zip(messages, texts, strict=True):
                message["text"] = text
            atomic.write_text(file, json.dumps(turn), folder)


def edit_facts(workspace: Path, store: Store, tombstones: Tombstones) -> bool:
    """Take forgotten entries out of ``facts.yaml``; return true if there were any.

    What one of them had replaced does not hold again: it is noted as ended.  Raises as
    :func:`~openclaw_memory.knowledge.facts_file.remove`.
    """
    path = workspace / FACTS
    if not path.exists():
        return False
    before = path.read_bytes()
    with atomic.locked(path, root=workspace):
        entries = facts.read(path)
        removed = {entry.id for entry in entries if tombstones.covers_fact(entry)}
        ended = _ends(store, entries, removed) if removed else []
        facts.remove(path, tombstones.covers_fact, tombstones.covers)
        facts.append(path, ended)
    return path.read_bytes() != before


def edit_concepts(workspace: Path, is_selected: Callable[[str], bool]) -> bool:
    """Remove the concepts whose slugs are selected from ``concepts.yaml``; return true if there were any.

    Raises as :func:`~openclaw_memory.knowledge.concepts_file.remove`.
    """
    path = workspace / CONCEPTS
    slugs = [slug for slug in concepts_file.read(path).concepts if is_selected(slug)]
    for slug in slugs:
        concepts_file.remove(path, slug)
    return bool(slugs)


def check_readable(workspace: Path) -> None:
    """Raise the error of ``facts.yaml`` or ``concepts.yaml`` when it cannot be read, and so not edited."""
    facts.read(workspace / FACTS)
    concepts_file.read(workspace / CONCEPTS)


def remaining_entries(
    workspace: Path, matches_text: Callable[[str], bool], removed: Collection[str], matcher: Matcher
) -> list[str]:
    """List the entries of the two YAML files that contain forgotten words and stay: concepts, names, facts, comments.

    ``removed`` are the slugs and ids of removed entries.  A comment in which ``matcher`` finds anything is removed from
    ``facts.yaml`` too.  Raises as :func:`check_readable`.
    """
    curated = concepts_file.read(workspace / CONCEPTS)
    entries = [
        (concept.slug, " ".join((*concept.spellings, concept.slug, concept.kind or "")), f"the concept {concept.name}")
        for concept in curated.concepts.values()
    ]
    entries += [("", name, f"the ignored name {name}") for name in curated.ignored]
    remaining = [f"{CONCEPTS} ({title})" for slug, text, title in entries if slug not in removed and matches_text(text)]
    for fact in facts.read(workspace / FACTS):
        text = " ".join(filter(None, (fact.subject, fact.predicate, fact.object, fact.source)))
        if fact.id not in removed and matches_text(text):
            remaining.append(f"{FACTS} (the fact {fact.id})")
    for path in (CONCEPTS, FACTS):
        lines = split_lines((workspace / path).read_text("utf-8")) if (workspace / path).exists() else []
        for number, line in enumerate(lines, 1):
            comment = re.search(r"(?:^|\s)#(.*)$", line)
            if comment is not None and matches_text(comment[1]):
                if path != FACTS or not matcher.find(split_words(comment[1]), ""):
                    remaining.append(citation(path, number, number))
    return remaining


def _generated(workspace: Path) -> Iterator[tuple[str, Path]]:
    """Yield path in the workspace and file of each summary and capture; links are not followed."""
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
    """Return ``text`` without what is forgotten; ``due`` to be made again when it is an unedited summary."""
    unedited = path.startswith(f"{SUMMARIES}/") and not is_edited(text)
    raw, lines = split_lines(text), split_lines(mask(text, path, matcher, READ_MARK))
    changed = [at for at, line in enumerate(lines) if line != raw[at]]
    if not changed and not (due and unedited):
        return text
    for at in changed:
        if lines[at] == leading_marks(lines[at]) + READ_MARK:
            lines[at] = ""
        if unedited:
            _drop_tags(lines, at)
    ending = "\r\n" if "\r\n" in text else "\n"
    edited = ending.join(lines) + (ending if text.endswith(("\n", "\r")) else "")
    if not unedited:
        return edited
    # The digest of nothing has the summary made again.
    for key, digest in (("content", content_hash(edited)), ("digest", 64 * "0")):
        edited = re.sub(rf"^{key}: [0-9a-f]{{64}}", f"{key}: {digest}", edited, count=1, flags=re.MULTILINE)
    return edited


def _drop_tags(lines: list[str], at: int) -> None:
    """Empty the line of tags above line ``at``, in the same part of a summary."""
    while at >= 0 and not lines[at].startswith("#"):
        if is_tag_line(lines[at]):
            lines[at] = ""
        at -= 1


def _ends(store: Store, entries: Sequence[StatedFact], removed: set[str]) -> list[StatedFact]:
    """Return entries that end what forgotten entries had replaced, on the days on which that was."""
    ontology = store.ontology()
    aliases = {name_key(alias): row.key for row in ontology.concepts for alias in (row.name, *row.aliases)}
    periods = build_history([], entries, ontology.single_valued, date.today(), aliases)
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return [
        StatedFact(
            f"f-{secrets.token_hex(6)}", "", "", "", 1.0, Origin.AGENT, None, None, row.valid_to, now, retracts=row.id
        )
        for row in periods.rows
        if row.rule == STATED and row.superseded_by in removed and row.id not in removed and row.valid_to is not None
    ]
