"""Data of a map, as JSON values in columns: lines, concepts and their links, days, summaries, facts.

A page must not be too large for a phone: it holds the most important lines and concepts and counts the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import patterns as re
from ..graph.view import GraphView
from ..index.archive import rows_in
from ..ingest.summary_files import parse_line
from ..knowledge.predicates import is_decision
from ..model import FactConflict, FactRow, Grain, Kind, UseRow, parse_citation
from ..records import NamedTuple
from ..store.api import Bools, Ints, Store, UnitText
from ..text import analysis, calendar, language
from ..text.plain import is_delimiter, plain
from .layout import find_communities, place_nodes

#: Most lines, summary sentences that only repeat some, and concepts of a page.
LINES, REPEATED, CONCEPTS = 12_000, 3_000, 5_000

#: Steps of the coordinates, which are whole numbers.
_GRID = 4_000


class Scope(NamedTuple):
    """The rows of the corpus and the concepts of a map; ``units`` counts the rows of each concept.

    ``rows`` hold each sentence once, ``repeats`` the rows of summaries that repeat one.
    """

    rows: Bools
    repeats: Bools
    concepts: Ints
    units: Ints


def select_scope(view: GraphView) -> Scope:
    """Select the rows and concepts of a map, the most salient concepts first; headings are left out."""
    corpus, references = view.corpus, view.index.references
    rows = ~corpus.rows.heading & (corpus.shape.kind != list(Kind).index(Kind.SESSION))
    copies = np.zeros(len(corpus), bool) if view.archive.masks is None else view.archive.masks.copies
    rows, repeats = rows & ~copies, rows & copies
    units = np.bincount(references.concept[rows[references.row]], minlength=len(references.keys)).astype(np.int32)
    salience = np.array(view.salience())
    # A link to the note of a day joins lines, but a day is no subject.
    labels = view.labels()
    day = r"\d{4}-(?:\d\d(?:-\d\d)?|[WQ]\d\d?)"
    subjects = [place for place in np.flatnonzero(units).tolist() if not re.fullmatch(day, labels[place].name)]
    places = np.array(subjects, np.int64)
    order = np.lexsort((places, -salience[places]))
    return Scope(rows, repeats, places[order].astype(np.int32), units)


def select_lines(view: GraphView, scope: Scope, sources: Ints, decisions: Bools) -> Ints:
    """Return the rows whose lines the page holds, ascending: at most :data:`LINES` and :data:`REPEATED`.

    First come ``sources`` of facts and decisions, then the newest; of the repeating sentences the coarsest grains.
    """
    repeats = np.flatnonzero(scope.repeats).astype(np.int32)
    coarsest = np.argsort(-view.corpus.shape.grain[repeats], kind="stable")[:REPEATED]
    rows = np.flatnonzero(scope.rows).astype(np.int32)
    important = decisions.copy()
    important[sources] = True
    first = np.lexsort((-view.corpus.rows.day[rows], ~important[rows]))[:LINES]
    return np.sort(np.concatenate([rows[first], repeats[coarsest]]))


def count_redacted(store: Store, unit_ids: Ints, rows: Bools, batch: int = 16_384) -> dict[str, int]:
    """Count the redacted secrets in the ``rows`` by kind."""
    redacted, chosen = Counter[str](), unit_ids[rows]
    for at in range(0, len(chosen), batch):
        for unit in store.unit_texts(chosen[at : at + batch].tolist(), "[redacted:"):
            redacted.update(re.findall(r"\[redacted:([\w-]{1,40})\]", unit.text))
    return dict(redacted.most_common())


def decided_rows(view: GraphView, facts: Sequence[FactRow]) -> Bools:
    """Return true for the rows that state a decision, as ``changes`` tells them; ``bool[n]``."""
    decided = np.zeros(len(view.corpus), bool)
    decided[fact_sources(view, [fact for fact in facts if is_decision(fact.predicate)])] = True
    return decided


def fact_sources(view: GraphView, facts: Sequence[FactRow]) -> Ints:
    """Return the rows that facts were extracted from."""
    ids = {info.path: info.id for info in view.corpus.documents.values()}
    places = [place for fact in facts if fact.source and (place := parse_citation(fact.source)) and place[0] in ids]
    if not places:
        return np.zeros(0, np.int32)
    spans = np.array([(ids[path], first, last) for path, first, last in places], np.int32)
    return np.unique(rows_in(view.corpus, *spans.T)[1])


def line_columns(
    view: GraphView, store: Store, chosen: Ints, scope: Scope, decisions: Bools, plane: NDArray[np.float64]
) -> dict[str, Any]:
    """Return the lines of the rows ``chosen``, a list per column; concepts are places in :func:`network_columns`.

    A ``day`` is an ordinal, 0 for an undated line; ``x`` and ``y`` are those of ``plane``, ``float64[len(chosen), 2]``,
    or -1 without a vector.
    """
    rows, shape, archive = view.corpus.rows, view.corpus.shape, view.archive
    texts = {unit.id: unit for unit in store.unit_texts(rows.unit_id[chosen].tolist())}
    there = np.array([int(rows.unit_id[row]) in texts for row in chosen.tolist()], bool)
    chosen, plane = chosen[there], plane[there]
    units = [texts[unit_id] for unit_id in rows.unit_id[chosen].tolist()]
    document_ids = rows.document_id[chosen].tolist()
    paths = [view.corpus.documents[document_id].path for document_id in document_ids]
    files = sorted(set(paths))
    file_numbers = {path: number for number, path in enumerate(files)}
    line_languages = _languages(units, document_ids)
    languages = [name for name, _ in Counter(line_languages).most_common()]
    concepts = {int(concept): at for at, concept in enumerate(scope.concepts[:CONCEPTS].tolist())}
    archived = np.zeros(len(rows.unit_id), bool) if archive.masks is None else archive.masks.archived
    spots = np.where(np.isnan(plane), -1, np.rint(np.nan_to_num(plane) * _GRID)).astype(int)
    return {
        "files": files,
        "languages": languages,
        "text": [_shown_text(unit, grain > 0) for unit, grain in zip(units, shape.grain[chosen].tolist(), strict=True)],
        "file": [file_numbers[path] for path in paths],
        "line": rows.start_line[chosen].tolist(),
        "day": rows.day[chosen].tolist(),
        "kind": shape.kind[chosen].tolist(),
        "grain": shape.grain[chosen].tolist(),
        "language": [languages.index(name) for name in line_languages],
        "decided": decisions[chosen].astype(int).tolist(),
        "archived": archived[chosen].astype(int).tolist(),
        "repeats": scope.repeats[chosen].astype(int).tolist(),
        "concepts": [[concepts[c] for c in view.index.of_rows(row, row) if c in concepts] for row in chosen.tolist()],
        "x": spots[:, 0].tolist(),
        "y": spots[:, 1].tolist(),
        "id": [analysis.hit_id(path, unit.hash, unit.occurrence) for path, unit in zip(paths, units, strict=True)],
    }


def _shown_text(unit: UnitText, is_summary: bool, most: int = 280) -> str:
    """Return at most ``most`` characters of a unit without its marks, and of a summary without its citation."""
    text = unit.text
    if is_summary and (line := parse_line(text)) is not None:
        text = line.text
    if unit.form == "row":
        rows = (line.strip().strip("|") for line in text.split("\n") if not is_delimiter(line))
        text = "\n".join(" · ".join(cell for part in row.split("|") if (cell := part.strip())) for row in rows)
    if unit.form not in ("code", "meta", "machine"):
        text = plain(text) or text
    return text if len(text) <= most else f"{text[: most - 2].rstrip()} …"


def _languages(units: Sequence[UnitText], documents: Sequence[int]) -> list[str]:
    """Return the language of each line: that of its script, and of one in Latin letters that of its file's words."""
    texts: dict[int, list[str]] = {}
    for unit, document in zip(units, documents, strict=True):
        texts.setdefault(document, []).append(unit.text.lower())
    latin = {
        document: language.detect_language(language.latin_words("\n".join(lines))) for document, lines in texts.items()
    }
    names = []
    for unit, document in zip(units, documents, strict=True):
        if unit.text.isascii() and "\n" not in unit.text:
            names.append(latin[document])
            continue
        weights = language.tokens_by_language(unit.text)
        name = max(weights, key=lambda name: (weights[name], name), default="")
        is_latin = name in ("", language.detect_language(language.latin_words(unit.text.lower())))
        names.append(latin[document] if is_latin else name)
    return names


def network_columns(view: GraphView, scope: Scope, most_links: int = 5, few: int = 300) -> dict[str, Any]:
    """Return the most salient concepts, their places (``x`` and ``y`` are -1 for nowhere), and their closest links.

    Of each concept ``most_links`` are kept; up to a ``few`` concepts are all drawn, linked or not.
    """
    places = scope.concepts[:CONCEPTS]
    labels, days, network = view.labels(), view.days(), view.network
    at = {int(place): index for index, place in enumerate(places.tolist())}
    links: dict[tuple[int, int], float] = {}
    for lists in (network.related, network.parents):
        for place, index in at.items():
            others, weights = lists.row(place)
            near = [
                (other, weight) for other, weight in zip(others.tolist(), weights.tolist(), strict=True) if other in at
            ]
            for other, weight in near[:most_links]:
                pair = min(index, at[other]), max(index, at[other])
                links[pair] = max(weight, links.get(pair, 0.0))
    units = scope.units[places]
    ends = np.array(sorted(links), np.int64).reshape(-1, 2)
    weight = np.array([links[a, b] for a, b in ends.tolist()], np.float64)
    # Among many concepts, unlinked ones can only be searched for: a place in the picture would mean nothing.
    drawn = np.isin(np.arange(len(places)), ends) | (len(places) <= few)
    node = np.cumsum(drawn) - 1
    spots = np.full((len(places), 2), -1)
    network_of = int(drawn.sum()), node[ends[:, 0]], node[ends[:, 1]], weight
    spots[drawn] = np.rint(place_nodes(*network_of, 1.0 + units[drawn]) * _GRID)
    community = np.full(len(places), -1)
    community[drawn] = find_communities(*network_of)
    shown = [labels[place] for place in places.tolist()]
    spans = [days[place] for place in places.tolist()]
    return {
        "name": [label.name for label in shown],
        "slug": [label.slug for label in shown],
        "kind": [label.kind or "" for label in shown],
        "curated": [int(label.curated is not None) for label in shown],
        "aliases": [list(label.others[:6]) for label in shown],
        "units": units.tolist(),
        "first": [ordinal(first) for first, _ in spans],
        "last": [ordinal(last) for _, last in spans],
        "x": spots[:, 0].tolist(),
        "y": spots[:, 1].tolist(),
        "community": community.tolist(),
        "links": [[a, b, round(links[a, b], 3)] for a, b in ends.tolist()],
    }


def day_columns(view: GraphView, scope: Scope, decisions: Bools) -> dict[str, Any]:
    """Count the lines of each day by kind, without summaries, and those that are decisions or archived."""
    rows, shape, archive = view.corpus.rows, view.corpus.shape, view.archive
    notes = scope.rows & (shape.grain == list(Grain).index(Grain.WORKING))
    dated = np.flatnonzero(notes & (rows.day > 0))
    day, at = np.unique(rows.day[dated], return_inverse=True)
    n = len(day)
    archived = np.zeros(len(dated), bool) if archive.masks is None else archive.masks.archived[dated]
    return {
        "day": day.tolist(),
        "kinds": [np.bincount(at[shape.kind[dated] == kind], minlength=n).tolist() for kind in range(len(Kind))],
        "decided": np.bincount(at[decisions[dated]], minlength=n).tolist(),
        "archived": np.bincount(at[archived], minlength=n).tolist(),
        "undated": [int((notes & (rows.day == 0) & (shape.kind == kind)).sum()) for kind in range(len(Kind))],
    }


def summary_rows(view: GraphView, store: Store) -> list[list[Any]]:
    """List each summary by grain and day: its grain's place, first and last day, path, and number of sentences."""
    sentences = Counter(view.corpus.rows.document_id[~view.corpus.rows.heading].tolist())
    rows = []
    for info in store.summaries():
        if (key := calendar.parse_path(info.path)) is not None:
            first, last = calendar.bounds(*key)
            grain = list(Grain).index(key[0])
            rows.append([grain, first.toordinal(), last.toordinal(), info.path, sentences[info.id]])
    return sorted(rows)


def fact_rows(view: GraphView, facts: Sequence[FactRow], concepts: Ints) -> list[dict[str, Any]]:
    """List facts with their days as ordinals, and the place of the subject where it is one of ``concepts``."""
    at = {int(place): index for index, place in enumerate(concepts[:CONCEPTS].tolist())}
    rows = []
    for fact in facts:
        place = view.index.find(fact.subject)
        values = {
            "s": fact.subject, "p": fact.predicate, "o": fact.object, "from": ordinal(fact.valid_from) or None,
            "to": ordinal(fact.valid_to) or None, "now": int(fact.current) or None, "source": fact.source,
            "why": fact.why, "newer": fact.newer, "sure": round(fact.confidence, 2),
            "concept": None if place is None else at.get(place),
        }  # fmt: skip
        rows.append({key: value for key, value in values.items() if value is not None})
    return rows


def conflict_rows(conflicts: Iterable[FactConflict]) -> list[dict[str, Any]]:
    """List conflicts with their values as :func:`fact_rows` lists facts."""
    return [
        {
            "id": conflict.id,
            "values": [
                {
                    "s": conflict.subject, "p": conflict.predicate, "o": value.object, "now": 1, "source": value.source,
                    "from": ordinal(value.valid_from), "to": ordinal(value.valid_to),
                }
                for value in (conflict.first, conflict.second)
            ],
        }
        for conflict in conflicts
    ]  # fmt: skip


def most_used(rows: Sequence[UseRow], most: int = 12) -> list[list[Any]]:
    """List the units that were opened, quoted or judged useful most: id, path, number of uses, times shown."""
    best = sorted(rows, key=lambda row: (-(row.used + row.useful), -row.shown, row.path, row.id))
    return [[row.id, row.path, row.used + row.useful, row.shown] for row in best[:most] if row.used + row.useful]


def ordinal(day: date | None) -> int:
    """Return a day's ordinal, 0 for ``None``."""
    return 0 if day is None else day.toordinal()
