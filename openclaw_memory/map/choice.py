"""What a map is about, and which of its lines can be read in it: a page that is not too large for a phone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

import numpy as np

from ..graph.view import GraphView
from ..store.api import Bools, Ints

#: Lines, sentences of summaries that only repeat some, and concepts that a page holds at most; the others are counted.
LINES, REPEATED, CONCEPTS = 12_000, 3_000, 5_000


@dataclass(frozen=True, slots=True)
class Scope:
    """The rows of the corpus and the concepts that a map is about; ``units`` are the rows of each concept.

    Among ``rows`` each sentence stands once; ``repeats`` are those of summaries that say it again.  ``about`` is the
    place of the concept that was asked for.
    """

    rows: Bools
    repeats: Bools
    concepts: Ints
    units: Ints
    about: int | None


def scope(view: GraphView, concept: str | None, since: date | None) -> Scope:
    """What is within the options.  Raises :class:`~openclaw_memory.errors.RequestError` for an unknown concept.

    With ``concept`` that is it, what it is related to, its parents and children, and the lines that mention any of
    them; with ``since`` only lines of that day and later ones.  Headings are left out.
    """
    corpus, references = view.corpus, view.index.references
    rows = ~corpus.rows.heading
    if since is not None:
        rows &= corpus.rows.day >= since.toordinal()
    wanted = np.ones(len(references.keys), bool)
    about = None
    if concept is not None:
        about, network = view.concept(concept), view.network
        wanted[:] = False
        wanted[about] = True
        for lists in (network.related, network.parents, network.children):
            wanted[lists.of(about)[0]] = True
        mentioned = np.zeros(len(corpus), bool)
        mentioned[view.index.rows_of(np.flatnonzero(wanted).tolist())] = True
        rows &= mentioned
    copies = np.zeros(len(corpus), bool) if view.archive.masks is None else view.archive.masks.copies
    rows, repeats = rows & ~copies, rows & copies
    units = np.bincount(references.concept[rows[references.row]], minlength=len(wanted)).astype(np.int32)
    wanted &= units > 0
    if about is not None:
        wanted[about] = True
    matters = np.array(view.salience())
    places = np.flatnonzero(wanted)
    order = np.lexsort((places, -matters[places], places != (-1 if about is None else about)))
    return Scope(rows, repeats, places[order].astype(np.int32), units, about)


def readable(view: GraphView, within: Scope, sources: Ints, decided: Bools) -> Ints:
    """The rows whose lines the page holds, ascending: all of them, or :data:`LINES`.

    First those that facts rest on (``sources``) and decisions, then the newest.  Of what summaries repeat it holds the
    coarsest grains first.
    """
    again = np.flatnonzero(within.repeats).astype(np.int32)
    coarse = np.argsort(-view.corpus.shape.grain[again], kind="stable")[:REPEATED]
    every = np.flatnonzero(within.rows).astype(np.int32)
    telling = decided.copy()
    telling[sources] = True
    first = np.lexsort((-view.corpus.rows.day[every], ~telling[every]))[:LINES]
    return np.sort(np.concatenate([every[first], again[coarse]]))
