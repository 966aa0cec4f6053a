"""What a map shows, as JSON data in columns: lines, concepts and what joins them, days, summaries, facts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graph.view import GraphView
from ..index.archive import rows_in
from ..ingest.summary_files import read_line
from ..model import UNSAID, FactRow, Grain, Kind, UseRow, cited
from ..store.api import Bools, Ints, Store, UnitText
from ..summarise.scoring import marker_points
from ..text import analysis, calendar, language
from ..text.plain import is_delimiter, plain
from .choice import CONCEPTS, Scope
from .layout import placed

_REDACTED = re.compile(r"\[redacted:([\w-]{1,40})\]")
#: Steps of the coordinates, which are whole numbers.
_GRID = 4_000


@dataclass(frozen=True, slots=True)
class Said:
    """What the texts of all rows say: which of them tell a decision, ``bool[n]``, and secrets taken out, by kind."""

    decided: Bools
    redacted: dict[str, int]


def said(store: Store, unit_ids: Ints, rows: Bools, batch: int = 16_384) -> Said:
    """Read the chosen ``rows`` of the units once, so many texts at a time."""
    decided, redacted = np.zeros(len(rows), bool), Counter[str]()
    chosen = np.flatnonzero(rows)
    for at in range(0, len(chosen), batch):
        part = chosen[at : at + batch]
        row_of = dict(zip(unit_ids[part].tolist(), part.tolist(), strict=True))
        for unit in store.unit_texts(list(row_of)):
            redacted.update(_REDACTED.findall(unit.text))
            if unit.form not in UNSAID and not any(map(is_delimiter, unit.text.split("\n"))):
                # So many points has a word by which something was decided, settled, shipped or learned outright.
                decided[row_of[unit.id]] = marker_points(unit.text) >= 4
    return Said(decided, dict(redacted.most_common()))


def sources_of(view: GraphView, facts: Sequence[FactRow]) -> Ints:
    """The rows that facts rest on."""
    ids = {info.path: info.id for info in view.corpus.documents.values()}
    places = [place for fact in facts if fact.source and (place := cited(fact.source)) and place[0] in ids]
    if not places:
        return np.zeros(0, np.int32)
    spans = np.array([(ids[path], first, last) for path, first, last in places], np.int32)
    return np.unique(rows_in(view.corpus, *spans.T)[1])


def lines(
    view: GraphView, store: Store, chosen: Ints, within: Scope, decided: Bools, plane: NDArray[np.float64]
) -> dict[str, Any]:
    """The lines of the rows ``chosen``, a list a column; their concepts are places in the list of :func:`network`.

    A ``day`` is an ordinal, 0 where none is stated; ``x`` and ``y`` are -1 without a vector.
    """
    rows, shape, archive = view.corpus.rows, view.corpus.shape, view.archive
    texts = {unit.id: unit for unit in store.unit_texts(rows.unit_id[chosen].tolist())}
    chosen = np.array([row for row in chosen.tolist() if int(rows.unit_id[row]) in texts], np.int32)
    units = [texts[unit_id] for unit_id in rows.unit_id[chosen].tolist()]
    files = sorted({view.corpus.documents[i].path for i in set(rows.document_id[chosen].tolist())})
    place = {path: at for at, path in enumerate(files)}
    paths = [view.corpus.documents[i].path for i in rows.document_id[chosen].tolist()]
    spoken = _languages(units, rows.document_id[chosen].tolist())
    languages = [name for name, _ in Counter(spoken).most_common()]
    shown = {int(concept): at for at, concept in enumerate(within.concepts[:CONCEPTS].tolist())}
    archived = np.zeros(len(rows.unit_id), bool) if archive.masks is None else archive.masks.archived
    spots = np.where(np.isnan(plane[chosen]), -1, np.rint(np.nan_to_num(plane[chosen]) * _GRID)).astype(int)
    return {
        "files": files,
        "languages": languages,
        "text": [_readable(unit, not grain) for unit, grain in zip(units, shape.grain[chosen].tolist(), strict=True)],
        "file": [place[path] for path in paths],
        "line": rows.start_line[chosen].tolist(),
        "day": rows.day[chosen].tolist(),
        "kind": shape.kind[chosen].tolist(),
        "grain": shape.grain[chosen].tolist(),
        "language": [languages.index(name) for name in spoken],
        "decided": decided[chosen].astype(int).tolist(),
        "archived": archived[chosen].astype(int).tolist(),
        "repeats": within.repeats[chosen].astype(int).tolist(),
        "concepts": [[shown[c] for c in view.index.of_rows(row, row) if c in shown] for row in chosen.tolist()],
        "x": spots[:, 0].tolist(),
        "y": spots[:, 1].tolist(),
        "id": [analysis.hit_id(path, unit.hash, unit.occurrence) for path, unit in zip(paths, units, strict=True)],
    }


def _readable(unit: UnitText, note: bool, most: int = 280) -> str:
    """At most so many characters of what a unit says, without its marks; of a summary without its citation."""
    text = unit.text
    if not note and (found := read_line(text)) is not None:
        text = found.text
    if unit.form == "row":
        rows = (line.strip().strip("|") for line in text.split("\n") if not is_delimiter(line))
        text = "\n".join(" · ".join(cell for part in row.split("|") if (cell := part.strip())) for row in rows)
    if unit.form not in ("code", "meta", "machine"):
        text = plain(text) or text
    return text if len(text) <= most else f"{text[: most - 2].rstrip()} …"


def _languages(units: Sequence[UnitText], documents: Sequence[int]) -> list[str]:
    """The language of each line: that of its script, and among those in Latin letters that of its file's words."""
    texts: dict[int, list[str]] = {}
    for unit, document in zip(units, documents, strict=True):
        texts.setdefault(document, []).append(unit.text.lower())
    latin = {one: language.of_words(language.latin_words("\n".join(said))) for one, said in texts.items()}
    out = []
    for unit, document in zip(units, documents, strict=True):
        found = language.weights(unit.text)
        name = max(found, key=lambda one: (found[one], one), default="")
        out.append(
            latin[document] if name in ("", language.of_words(language.latin_words(unit.text.lower()))) else name
        )
    return out


def network(view: GraphView, within: Scope, most_links: int = 5, few: int = 300) -> dict[str, Any]:
    """The concepts that matter most, where they stand (``x`` and ``y`` are -1 for nowhere), and their closest links.

    Of each concept ``most_links`` are kept; a ``few`` concepts are all drawn, linked or not.
    """
    places = within.concepts[:CONCEPTS]
    labels, days, net = view.labels(), view.days(), view.network
    at = {int(place): index for index, place in enumerate(places.tolist())}
    links: dict[tuple[int, int], float] = {}
    for lists in (net.related, net.parents):
        for place, index in at.items():
            others, weights = lists.of(place)
            near = [
                (other, weight) for other, weight in zip(others.tolist(), weights.tolist(), strict=True) if other in at
            ]
            for other, weight in near[:most_links]:
                pair = min(index, at[other]), max(index, at[other])
                links[pair] = max(weight, links.get(pair, 0.0))
    units = within.units[places]
    ends = np.array(sorted(links), np.int64).reshape(-1, 2)
    weight = np.array([links[a, b] for a, b in ends.tolist()], np.float64)
    # Among many, what is linked to nothing is found by name alone: nothing hangs together there.
    drawn = np.isin(np.arange(len(places)), ends) | (len(places) <= few)
    at_last = np.cumsum(drawn) - 1
    spots = np.full((len(places), 2), -1)
    where = placed(int(drawn.sum()), at_last[ends[:, 0]], at_last[ends[:, 1]], weight, 1.0 + units[drawn])
    spots[drawn] = np.rint(where * _GRID)
    found = [labels[place] for place in places.tolist()]
    spans = [days[place] for place in places.tolist()]
    return {
        "name": [label.name for label in found],
        "slug": [label.slug for label in found],
        "kind": [label.kind or "" for label in found],
        "curated": [int(label.curated is not None) for label in found],
        "aliases": [list(label.others[:6]) for label in found],
        "units": units.tolist(),
        "first": [_ordinal(first) for first, _ in spans],
        "last": [_ordinal(last) for _, last in spans],
        "x": spots[:, 0].tolist(),
        "y": spots[:, 1].tolist(),
        "links": [[a, b, round(links[a, b], 3)] for a, b in ends.tolist()],
        "about": None if within.about is None else at[within.about],
    }


def days(view: GraphView, within: Scope, decided: Bools) -> dict[str, Any]:
    """How many lines of each kind a day has, summaries aside, and how many of them tell a decision or are archived."""
    rows, shape, archive = view.corpus.rows, view.corpus.shape, view.archive
    own = within.rows & (shape.grain == list(Grain).index(Grain.WORKING))
    dated = np.flatnonzero(own & (rows.day > 0))
    day, at = np.unique(rows.day[dated], return_inverse=True)
    n = len(day)
    kinds = [np.bincount(at[shape.kind[dated] == kind], minlength=n).tolist() for kind in range(len(Kind))]
    archived = np.zeros(len(dated), bool) if archive.masks is None else archive.masks.archived[dated]
    return {
        "day": day.tolist(),
        "kinds": kinds,
        "decided": np.bincount(at[decided[dated]], minlength=n).tolist(),
        "archived": np.bincount(at[archived], minlength=n).tolist(),
        "undated": [int((own & (rows.day == 0) & (shape.kind == kind)).sum()) for kind in range(len(Kind))],
    }


def summaries(view: GraphView, store: Store, since: date | None) -> list[list[Any]]:
    """Each summary: place of its grain, first and last day of its period, path, sentences; by grain and day."""
    sentences = Counter(view.corpus.rows.document_id[~view.corpus.rows.heading].tolist())
    out = []
    for info in store.summaries():
        found = calendar.parse_path(info.path)
        if found is not None:
            first, last = calendar.bounds(*found)
            if since is None or last >= since:
                grain = list(Grain).index(found[0])
                out.append([grain, first.toordinal(), last.toordinal(), info.path, sentences[info.id]])
    return sorted(out)


def density(plane: NDArray[np.float64], rows: Bools, cells: int = 72) -> list[list[int]]:
    """How many rows of the plane are in each cell of a grid, as ``[column, line, count]``."""
    spots = plane[rows & ~np.isnan(plane[:, 0])]
    if not len(spots):
        return []
    at = np.minimum((spots * cells).astype(np.int64), cells - 1)
    cell, count = np.unique(at[:, 0] * cells + at[:, 1], return_counts=True)
    return [[int(c) // cells, int(c) % cells, int(n)] for c, n in zip(cell, count, strict=True)]


def facts(view: GraphView, rows: Sequence[FactRow], concepts: Ints) -> list[dict[str, Any]]:
    """Facts with their days as ordinals, ``subject`` also as a place among the concepts where it is one."""
    at = {int(place): index for index, place in enumerate(concepts[:CONCEPTS].tolist())}
    place: dict[str, int | None] = {}
    out = []
    for row in rows:
        if row.subject not in place:
            named = view.index.named(row.subject)
            place[row.subject] = None if named is None else at.get(named)
        values = {
            "s": row.subject, "p": row.predicate, "o": row.object, "from": _ordinal(row.valid_from) or None,
            "to": _ordinal(row.valid_to) or None, "now": int(row.current) or None, "source": row.source, "why": row.why,
            "newer": row.newer, "sure": round(row.confidence, 2), "concept": place[row.subject],
        }  # fmt: skip
        out.append({key: value for key, value in values.items() if value is not None})
    return out


def used(rows: Sequence[UseRow], most: int = 12) -> list[list[Any]]:
    """At most so many of the units that were opened, quoted or judged useful most: id, path, uses, times shown."""
    best = sorted(rows, key=lambda row: (-(row.used + row.useful), -row.shown, row.path, row.id))
    return [[row.id, row.path, row.used + row.useful, row.shown] for row in best[:most] if row.used + row.useful]


def _ordinal(day: date | None) -> int:
    return 0 if day is None else day.toordinal()
