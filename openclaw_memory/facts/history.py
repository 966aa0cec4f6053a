"""The history of facts: computed from all observations and statements, whatever order they came in.

A *period* is one value of one subject's relation over some days; a later one ends it and never removes it.

- A stated fact of a relation with one value at a time ends the periods of other values, stated or observed, from the
  day from which it holds.  ``replaces`` does so for any relation, ``retracts`` ends without a successor.
- An observed value is ended by a later observation only within the same rule, subject and relation, and only where
  the relation has one value at a time and both notes are dated, on different days.  Rows of tables end nothing, nor
  does a value that is alike.
- Of other values of a key both hold; the older one names the :attr:`~openclaw_memory.model.FactRow.newer` one.
- Untrusted texts end nothing that the owner or the agent wrote.
- A value that a statement with an end displaced is back from that day on.
- The same value again continues its period.
"""

from __future__ import annotations

import posixpath
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import date
from pathlib import Path
from urllib.parse import unquote

from .. import patterns as re
from ..ingest.summary_files import parse_line
from ..knowledge.predicates import is_single, normalise
from ..knowledge.values import fold_value, is_same_value
from ..model import FactRow, Grain, Origin
from ..records import dataclass
from ..store.api import FactObservation, StatedFact, Store
from .periods import (
    ALWAYS,
    STATED,
    TRUSTED,
    Aliases,
    Period,
    Statements,
    observed_id,
    observed_periods,
    relation_of,
    start_of,
)

#: The key of a subject, a relation and a folded value.
Statement = tuple[int | str, str, str]

#: A source of a statement: a path with lines.
_CITED = re.compile(r"(?P<path>.+?)(?:#L?|:)(?P<first>\d+)(?:-L?(?P<last>\d+))?")
#: What a rule reads, for :func:`explain`.
_READS = {
    "key": "a name and a value below what they are about",
    "entry": "an item about somebody or something, below a heading such as People",
    "table": "a cell of a table, by the name of its column",
    "sentence": "a sentence of a name, a verb and an object",
    "value": "an amount, a version or an identifier behind a key",
    "change": "an old and a new value",
}


@dataclass(frozen=True, slots=True)
class History:
    """All periods as rows in a fixed order.

    ``ids`` maps every id that ever named a fact, also one that another continued, to its rows; ``units`` maps units to
    the rows that they state; ``holding`` has the statements that hold today; subjects are compared by ``aliases``.
    """

    rows: tuple[FactRow, ...] = ()
    ids: Mapping[str, tuple[FactRow, ...]] = field(default_factory=dict)
    units: Mapping[int, tuple[FactRow, ...]] = field(default_factory=dict)
    holding: frozenset[Statement] = frozenset()
    aliases: Aliases = field(default_factory=dict)


def build_history(
    observations: Sequence[FactObservation],
    stated: Sequence[StatedFact],
    single_valued: Iterable[str] = (),
    today: date | None = None,
    aliases: Aliases | None = None,
    as_of: date | None = None,
) -> History:
    """Return every fact that is or was known, as periods, by subject, relation and time.

    ``stated`` is in the order of its file, ``observations`` in any.  ``single_valued`` names more relations with
    one value at a time; ``current`` is as of ``today``; ``aliases`` maps keys of names to those of curated concepts.
    What is dated after ``as_of`` is left out.
    """
    extra = frozenset(map(normalise, single_valued))
    now = (today or date.today()).toordinal()
    names = aliases or {}

    def single(predicate: str) -> bool:
        return is_single(predicate) or predicate in extra

    if as_of is not None:
        stated = [entry for entry in stated if start_of(entry) <= as_of.toordinal()]
    statements = Statements(stated, single, names)
    periods = [*statements.periods, *observed_periods(observations, statements, single, names, as_of)]
    newer = _newer_ids(periods, now)
    rows: list[FactRow] = []
    ids: defaultdict[str, list[FactRow]] = defaultdict(list)
    units: defaultdict[int, list[FactRow]] = defaultdict(list)
    for period in sorted(periods, key=_order):
        by = period.by
        if by is not None and by in statements.by_id:
            continued = statements.by_id[by][0].fact.id
            by = continued if continued != period.fact.id else None  # its own continuation took its place
        later = newer.get(id(period))
        fact, dated = period.fact, period.start > ALWAYS
        row = period.row(
            now,
            superseded_by=by,
            newer=later if dated else None,
            unconfirmed=later is not None and not dated and (single(period.relation[1]) or fact.rule == "value"),
        )
        rows.append(row)
        for alias in period.ids:
            ids[alias].append(row)
        for unit in period.units:
            units[unit].append(row)
    holding = frozenset((*relation_of(row, names), fold_value(row.object)) for row in rows if row.current)
    return History(
        tuple(rows),
        {alias: tuple(named) for alias, named in ids.items()},
        {unit: tuple(stating) for unit, stating in units.items()},
        holding,
        names,
    )


def _newer_ids(periods: Sequence[Period], today: int) -> dict[int, str]:
    """Return for a period that holds, by identity, the id of another value that holds too and began later.

    A period without a day counts as earlier than any other.
    """
    holding: defaultdict[tuple[int | str, str], list[Period]] = defaultdict(list)
    for period in periods:
        # Only these rules give one value to a relation, so that another value is an update.
        keyed = period.fact.rule in ("key", "table", "value", "change", STATED)
        if period.start <= today < period.end and (keyed or is_single(period.relation[1])):
            holding[period.relation].append(period)
    out: dict[int, str] = {}
    for values in holding.values():
        newest = max(values, key=lambda period: (period.start, period.fact.id))
        out |= {
            id(period): newest.fact.id
            for period in values
            if period.start < newest.start and not is_same_value(period.value, newest.value)
        }
    return out


def _order(period: Period) -> tuple[str, str, int, int, str, str, str, str]:
    fact = period.fact
    place = fold_value(fact.subject), period.relation[1], period.start, period.end
    return *place, fact.rule, period.value, fact.subject, fact.id


# -- questions ------------------------------------------------------------------------------------


def as_of(rows: Iterable[FactRow], day: date) -> list[FactRow]:
    """Return the rows that hold on ``day``."""
    return [
        row
        for row in rows
        if (row.valid_from is None or row.valid_from <= day) and (row.valid_to is None or day < row.valid_to)
    ]


def lasting_id(row: FactRow) -> str:
    """Return the id by which ``facts.yaml`` names a fact: for an observed one that of all periods of its value."""
    if row.rule == STATED:
        return row.id
    return observed_id(relation_of(row, {}), row.rule, row.origin in TRUSTED, fold_value(row.object), 0)


def explain(row: FactRow, shown: bool = True) -> str:
    """Return why a fact is there, in one line: its rule, its source, its successor, and whether it is listed."""
    if row.rule == STATED:
        parts = [f"stated in facts.yaml{f' on {row.recorded_at[:10]}' if row.recorded_at else ''}"]
        parts += [f"from {row.source}"] if row.source else []
    else:
        parts = [f"rule '{row.rule}' ({_READS.get(row.rule, 'a form of line')}) in {row.source or 'a note'}"]
        parts += ["the note has no date"] if row.valid_from is None else []
    if row.superseded_by is not None:
        parts.append(f"ended by {row.superseded_by}: one value at a time")
    if row.unconfirmed:
        parts.append("another value has a day: this one is unconfirmed")
    if row.newer is not None:
        parts.append(f"differs from the newer {row.newer}, which may stand beside it")
    if not shown:
        parts.append("not listed, as what else the notes say makes it unsure")
    return "; ".join(parts)


# -- outdated units -------------------------------------------------------------------------------


def superseded_units(history: History) -> dict[int, tuple[str, ...]]:
    """Return by unit, in words, its facts that no longer hold: ``editor of JR: now Helix (since 2026-03-01)``."""
    out: dict[int, tuple[str, ...]] = {}
    for unit, rows in history.units.items():
        words = [
            _describe_end(history, row)
            for row in rows
            if not row.current and row.valid_to is not None and not _holds_elsewhere(history, row)
        ]
        if words:
            out[unit] = tuple(dict.fromkeys(words))
    return out


def superseded_citations(store: Store, history: History) -> dict[int, tuple[str, ...]]:
    """Return by unit, in words, the superseded statements that cite it and whose old value it still has."""
    by_path: defaultdict[str, list[tuple[int, int, FactRow]]] = defaultdict(list)
    for row in history.rows:
        if row.rule == STATED and row.source and not row.current and not _holds_elsewhere(history, row):
            if row.valid_to is not None and (match := _CITED.fullmatch(row.source.strip())) is not None:
                first = int(match["first"])
                by_path[match["path"]].append((first, int(match["last"] or first), row))
    if not by_path:
        return {}
    documents = {info.path: info.id for info in store.document_infos() if info.path in by_path}
    out: defaultdict[int, list[str]] = defaultdict(list)
    for path, document in documents.items():
        for unit, start, end, text in _unit_texts(store, document):
            for first, last, row in by_path[path]:
                if start <= last and end >= first and fold_value(row.object) in fold_value(text):
                    out[unit].append(_describe_end(history, row))
    derived = store.summary_citations()  # a summary repeats the lines that it cites
    cited: defaultdict[int, defaultdict[int, list[FactRow]]] = defaultdict(lambda: defaultdict(list))
    for at, path in enumerate(derived.path):
        for first, last, row in by_path.get(path, ()):
            if derived.start_line[at] <= last and derived.end_line[at] >= first:
                cited[int(derived.document_id[at])][int(derived.unit_id[at])].append(row)
    for document, rows in cited.items():
        for unit, _, _, text in _unit_texts(store, document):
            line = parse_line(text, dated=False) if unit in rows else None
            if line is not None:
                ended = [row for row in rows[unit] if fold_value(row.object) in fold_value(line.text)]
                out[unit] += [_describe_end(history, row) for row in ended]
    return {unit: tuple(dict.fromkeys(words)) for unit, words in out.items() if words}


def _unit_texts(store: Store, document: int) -> Iterator[tuple[int, int, int, str]]:
    """Yield the units of a document with their lines and the present text of these: the note may have been edited."""
    units = store.unit_rows([document])
    texts = store.section_texts(sorted({int(section) for section in units.section_id}))
    for at, unit in enumerate(units.unit_id.tolist()):
        start, end = int(units.start_line[at]), int(units.end_line[at])
        section = texts[int(units.section_id[at])]
        yield unit, start, end, " ".join(section.lines[start - section.start_line : end - section.start_line + 1])


def _holds_elsewhere(history: History, row: FactRow) -> bool:
    """Return true if the same statement holds today from another source, or again."""
    return (*relation_of(row, history.aliases), fold_value(row.object)) in history.holding


def _describe_end(history: History, row: FactRow) -> str:
    """Return in words what replaced a fact that no longer holds."""
    last, seen = row, {row.id}
    while last.superseded_by is not None and last.superseded_by not in seen and last.superseded_by in history.ids:
        seen.add(last.superseded_by)
        successors = history.ids[last.superseded_by]
        last = next((successor for successor in successors if successor.current), successors[-1])
    fact = f"{row.predicate} of {row.subject}"
    if last.current and last is not row:
        since = ", ".join(filter(None, (f"since {last.valid_from}" if last.valid_from else None, last.source)))
        return f"{fact}: now {last.object}" + (f" ({since})" if since else "")
    return f"{fact}: no longer {row.object}" + (f" (since {row.valid_to})" if row.valid_to else "")


# -- sources --------------------------------------------------------------------------------------


def origin_of_source(store: Store, workspace: Path, source: str | None, origin: Origin) -> Origin:
    """Return the least trusted of ``origin`` and the origins of the indexed files that ``source`` cites."""
    if source is None:
        return origin
    cited = set()
    for part in (source, *re.split(r"[,;\s]+", source)):
        match = _CITED.fullmatch(part.strip())
        for path in (part.strip(), match["path"] if match else ""):
            cited |= {_relative_path(path, workspace), _relative_path(_visible(path).partition("#")[0], workspace)}
    order = list(Origin)
    for info in store.document_infos():
        path = _relative_path(info.path, workspace)
        if path in cited or path.rpartition("/")[2] in cited:
            origin = max(origin, info.origin, key=order.index)
    return origin


def _visible(path: str) -> str:
    """Return ``path`` without compatibility forms, invisible characters and percent signs for letters."""
    for _ in range(3):
        path = unquote(unicodedata.normalize("NFKC", path))
    return "".join(filter(str.isprintable, path))


def _relative_path(path: str, workspace: Path) -> str:
    """Return a path in the workspace, given as a URL, absolute, from Windows, in a link or without its suffix."""
    path = _visible(path).strip(" <>[]()\"'`").replace("\\", "/")
    if path.lower().startswith("file:"):
        path = "/" + path[5:].lstrip("/").removeprefix("localhost/")
    path = posixpath.normpath(path).casefold()
    return path.removeprefix(f"{_visible(workspace.as_posix()).casefold()}/").removesuffix(".md")


# -- summaries ------------------------------------------------------------------------------------


def attribute_summaries(observations: Sequence[FactObservation], store: Store) -> list[FactObservation]:
    """Return the observations, those of summaries at the lines that the summary's sentences cite.

    The unit of a summary then states the same as that of the note, at the same place and on the same day, whether
    the note is in the index or not.  A fact that the indexed note does not state is left out, unless a person wrote
    it into the summary.
    """
    derived = store.summary_citations()
    units = {seen.unit_id for seen in observations}
    cited: dict[int, tuple[int, tuple[str, int, int]]] = {}
    lines = zip(derived.path, derived.start_line.tolist(), derived.end_line.tolist(), strict=True)
    for unit, document, place in zip(derived.unit_id.tolist(), derived.document_id.tolist(), lines, strict=True):
        if unit in units:
            cited.setdefault(unit, (document, place))
    if not cited:
        return list(observations)
    summaries = {info.id: info for info in store.summaries()}
    notes = {info.path for info in store.document_infos() if info.grain is Grain.WORKING}
    out = [seen for seen in observations if seen.unit_id not in cited]
    by_content = {_content(seen, (seen.path, seen.start_line, seen.end_line)): seen for seen in out}
    later = [seen for seen in observations if seen.unit_id in cited and cited[seen.unit_id][0] in summaries]
    grains = list(Grain)
    later.sort(key=lambda seen: grains.index(summaries[cited[seen.unit_id][0]].grain))
    for seen in later:
        document, place = cited[seen.unit_id]
        content = _content(seen, place)
        if (same := by_content.get(content)) is not None:
            out.append(replace(same, unit_id=seen.unit_id))
            continue
        if place[0] not in notes:
            seen = replace(seen, path=place[0], start_line=place[1], end_line=place[2])
        elif not summaries[document].edited:
            continue
        by_content[content] = seen
        out.append(seen)
    return out


def _content(seen: FactObservation, place: tuple[str, int, int]) -> tuple[str, int, int, str, str, str, str]:
    return *place, fold_value(seen.subject), seen.predicate, fold_value(seen.object), seen.rule
