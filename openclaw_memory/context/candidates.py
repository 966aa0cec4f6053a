"""Which units may be worth saying: those that mention what the message names, and those that answer it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import islice

import numpy as np

from ..graph.view import GraphView
from ..model import TRUSTED, Kind
from ..search import hits
from ..search.confidence import Parts
from ..search.engine import Ranked
from ..store.api import Bools, Floats, Ints
from ..text import analysis
from ..text.scripts import HANGUL, JOINED_LETTER, UNSPACED
from ..text.sentences import sentence_spans
from ..text.speech import bare, substance, thanks
from .entities import Entity
from .relevance import SURE

#: What makes up the score of a unit that mentions what the message names, and what all have; they add up to 1.
_RELEVANCE, _LINK, _RECENCY, _FREQUENCY, _ANY = 0.4, 0.3, 0.1, 0.1, 0.1
#: What a mention in the heading above is worth, and one of a concept below the named one.
_BY_HEADING, _BY_CHILD = 0.8, 0.7
#: The best units by search and, of those that mention a concept, the best and the latest are looked at.
_SEARCHED, _BEST, _LATEST = 20, 20, 8
#: What shares no word with the message must itself be about as close to it, less this, as what stands out among notes
#: that are written alike, or, of few notes, as unrelated texts are, to a model that knows so much of its language.
_OWN, _KNOWN = 0.02, 0.6
#: A note needs this share of the best one's fused score.
_COMPANY = 0.65
#: Of a file that is too long for a prompt, OpenClaw shows the beginning and the end; this share is the beginning's.
_HEAD = 0.75
#: Score from which a unit that mentions a named concept is given.
THRESHOLD = 0.5
#: What the fused score of the search counts in the order, beside the score that passed.
_FUSED = 0.85


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row of the corpus: its score in [0, 1], what it is ordered by, why it is one, and over which concepts."""

    row: int
    score: float
    order: float
    parts: Parts
    why: str
    places: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Scene:
    """What a message is weighed against; arrays are over the rows of the corpus."""

    view: GraphView
    ranked: Ranked
    parts: Callable[[hits.Range], Parts]
    allowed: Bools
    entities: Sequence[Entity]
    #: The best rows of the search that may be given, and how surely the message is about the notes.
    best: Sequence[tuple[int, Parts]]
    sure: float
    today: date
    noise: float
    #: Lowest fused score of an allowed row, and how far the highest is above it.
    low: float
    span: float
    #: Which entities a sentence names that says little else.
    briefly: frozenset[int] = frozenset()


def briefly(message: str, entities: Sequence[Entity]) -> frozenset[int]:
    """The places of ``entities`` that a sentence of few words names, and not only to be thanked for.

    In one of more words the name of a found concept says nothing alone: one may ask for a program in Python.
    """
    short = [
        part.casefold()
        for line in message.splitlines()
        for start, end in sentence_spans(line)
        if len(analysis.words_of(bare(part := line[start:end])).keys() & set(substance(part))) < 4 and not thanks(part)
    ]
    return frozenset(one.place for one in entities if any(_holds(part, one.name.casefold()) for part in short))


def _holds(text: str, name: str) -> bool:
    """Whether a text has a name as whole words, where its script puts spaces between them."""
    letter = rf"[^\W{UNSPACED}{HANGUL}]"
    before, after = ("" if JOINED_LETTER.match(edge) else letter for edge in (name[0], name[-1]))
    return re.search(f"{before and f'(?<!{before})'}{re.escape(name)}{after and f'(?!{after})'}", text) is not None


def allowed(view: GraphView, superseded: Mapping[int, tuple[str, ...]], curated_files: bool) -> Bools:
    """Rows that may be given: ``bool[n]``.

    They are trusted, written for people, not in the prompt already, and not superseded.
    Of MEMORY.md and USER.md that is what a host does not show.
    """
    corpus = view.corpus
    documents = np.zeros(max(corpus.documents, default=0) + 1, bool)
    for info in corpus.documents.values():
        documents[info.id] = info.origin in TRUSTED and (curated_files or info.kind is not Kind.CURATED)
    out: Bools = documents[corpus.rows.document_id]
    if not curated_files:
        for info in corpus.documents.values():
            if info.kind is Kind.CURATED and info.origin in TRUSTED:
                rows = np.flatnonzero(corpus.rows.document_id == info.id)
                out[rows[_unseen(corpus.rows.chars[rows])]] = True
    out = out & corpus.shape.anchor & ~corpus.rows.heading & ~corpus.rows.machine
    if superseded:
        gone = corpus.rows_of(np.fromiter(superseded, np.int32, len(superseded)))
        out[gone[gone >= 0]] = False
    return out


def _unseen(chars: Ints, most: int = 12_000) -> Bools:
    """Which units of a file a host does not show, which shows ``most`` characters of its beginning and its end."""
    ends = np.cumsum(chars + 1)
    if not len(ends) or int(ends[-1]) <= most:
        return np.zeros(len(ends), bool)
    first: Bools = ends > _HEAD * most
    return first & (ends < int(ends[-1]) - (1 - _HEAD) * most)


def found(scene: Scene) -> list[Candidate]:
    """The units that pass, best first."""
    walked = _walked(scene)
    always = _always(scene, walked)
    asked_for = {one.place for one in scene.entities if one.place in scene.briefly and _is_known(scene, one)}
    # A short sentence that names a concept gets nothing where the message is much less about the notes.
    if scene.sure < 0.3 * SURE:
        asked_for = set()
    passed: dict[int, Candidate] = {}
    for threshold, candidates in ((0.0, _answering(scene)), (THRESHOLD, walked)):
        for one in candidates:
            sure = 1.0 if asked_for.intersection(one.places) else scene.sure
            if (sure >= SURE and one.score >= threshold) or (one.row in always and one.places):
                other = passed.get(one.row)
                passed[one.row] = one if other is None or one.score > other.score else other
    return sorted(passed.values(), key=lambda one: (-one.order, one.row))


# -- by what the message asks -------------------------------------------------------------------------


def searched(
    view: GraphView, ranked: Ranked, allowed: Bools, parts: Callable[[hits.Range], Parts]
) -> list[tuple[int, Parts]]:
    """The best rows of the search that may be given, best first."""
    best = islice(hits.ranking(view.corpus, ranked.score, allowed), _SEARCHED)
    return [(row, parts(hits.Range(row, row, row))) for row in best]


def _answering(scene: Scene) -> list[Candidate]:
    """The best rows of the search that have to do with the message themselves, and are not far behind the first."""
    if not scene.best:
        return []
    score = scene.ranked.score
    least = _COMPANY * float(score[scene.best[0][0]])
    why = f"answers the message, which is about the notes to {scene.sure:.2f}"
    return [
        _candidate(scene, row, parts.score, parts, why)
        for row, parts in scene.best
        if scene.ranked.features.only_days  # what is of these days has no word of the message
        or (score[row] >= least and (_by_itself(scene, row) or _below_a_word(scene, row)))
    ]


def _by_itself(scene: Scene, row: int) -> bool:
    """Whether a row shares a word or its meaning with the message itself, and not only its neighbours do."""
    features, similarities = scene.ranked.features, scene.ranked.similarities
    if features.keyword is not None and features.keyword.unit[row] > 0:
        return True
    if similarities is None or features.knowledge < _KNOWN:
        return False
    script = scene.view.corpus.rows.script[row]
    common, telling = float(features.noise[script]), float(features.telling[script])
    return bool(similarities[row] >= min(common, telling * common + (1 - telling) * scene.noise) - _OWN)


def _below_a_word(scene: Scene, row: int) -> bool:
    """Whether the heading above a row, which says what it is about, has a word of the message."""
    corpus, keyword = scene.view.corpus, scene.ranked.features.keyword
    first = int(np.searchsorted(corpus.shape.section, corpus.shape.section[row]))
    return keyword is not None and bool(corpus.rows.heading[first]) and bool(keyword.unit[first] > 0)


# -- by what the message names ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Links:
    """How strongly rows hang together with the entities, how much of their section is about one, and which."""

    strength: Floats
    share: Floats
    named: Mapping[int, Bools]


def _links(scene: Scene) -> _Links:
    view, corpus = scene.view, scene.view.corpus
    n, section = len(corpus), corpus.shape.section
    left = np.ones(n, np.float32)
    share = np.zeros(n, np.float32)
    named: dict[int, Bools] = {}
    references = view.index.references
    for entity in scene.entities:
        own = np.zeros(n, np.float32)
        for place, kept in [(entity.place, 1.0), *((child, _BY_CHILD) for child in _children(view, entity.place))]:
            rows, weight = references.rows(place), references.weight[references.slice_of(place)]
            np.maximum.at(own, rows, weight * np.float32(kept))
            below = _below(section, rows[corpus.rows.heading[rows]])
            own[below] = np.maximum(own[below], np.float32(_BY_HEADING * kept))
        own *= np.float32(min(1.0, entity.rarity * entity.weight))
        named[entity.place] = own > 0
        left *= 1 - own.clip(0, 0.999)
        counts = np.bincount(section[own > 0], minlength=len(corpus.shape.opens))
        share = np.maximum(share, np.minimum(1, counts[section] / 3).astype(np.float32) * (own > 0))
    return _Links(1 - left, share, named)


def _is_known(scene: Scene, entity: Entity) -> bool:
    """Whether the notes speak of a concept more than in passing."""
    span = scene.view.index.references.slice_of(entity.place)
    return entity.curated or span.stop - span.start >= 2


def _children(view: GraphView, place: int) -> list[int]:
    """Curated concepts just below one."""
    key = int(view.index.references.keys[place])
    below = [concept.key for concept in view.index.ontology.concepts if key in concept.parents]
    return view.index.references.of(below).tolist() if below else []


def _below(section: Ints, headings: Ints) -> Ints:
    """All rows of the sections of some headings."""
    if not len(headings):
        return headings
    own = np.unique(section[headings])
    low, high = np.searchsorted(section, own), np.searchsorted(section, own, side="right")
    return np.concatenate([np.arange(a, b, dtype=np.int32) for a, b in zip(low, high, strict=True)])


def _walked(scene: Scene) -> list[Candidate]:
    if not scene.entities:
        return []
    corpus, links = scene.view.corpus, _links(scene)
    rows = np.flatnonzero((links.strength > 0) & scene.allowed)
    if not len(rows):
        return []
    best = rows[np.argsort(-scene.ranked.score[rows], kind="stable")[:_BEST]]
    latest = rows[np.argsort(-corpus.rows.day[rows], kind="stable")[:_LATEST]]
    rows = np.unique(np.concatenate([best, latest]))
    age = np.maximum(0, scene.today.toordinal() - corpus.rows.day[rows])
    recency = np.where(corpus.rows.dated[rows], 0.5 ** (age / 60.0), 0.3)  # after two months it counts half
    names = {entity.place: entity.name for entity in scene.entities}
    out = []
    for row, new in zip(rows.tolist(), recency.tolist(), strict=True):
        by = tuple(place for place in names if links.named[place][row])
        parts = scene.parts(hits.Range(row, row, row))
        link, share = float(links.strength[row]), float(links.share[row])
        # That the message names the concept is evidence already: the share of its words counts, not how rare they are.
        relevance = max(parts.score, parts.text or 0.0)
        score = _RELEVANCE * relevance + _LINK * link + _RECENCY * new + _FREQUENCY * share + _ANY
        named = ", ".join(names[place] for place in by)
        why = f"mentions {named}: link {link:.2f}, relevance {relevance:.2f}, recency {new:.2f}, share {share:.2f}"
        one = _candidate(scene, row, min(1.0, score), parts, why)
        out.append(replace(one, places=by))
    return out


def _always(scene: Scene, walked: Sequence[Candidate]) -> set[int]:
    """The two best rows of every curated concept that the message names: they pass whatever their score."""
    out: set[int] = set()
    for entity in scene.entities:
        if entity.curated:
            own = sorted((one for one in walked if entity.place in one.places), key=lambda one: (-one.score, one.row))
            out.update(one.row for one in own[:2])
    return out


# -- of both ------------------------------------------------------------------------------------------


def _candidate(scene: Scene, row: int, score: float, parts: Parts, why: str) -> Candidate:
    """A candidate ordered by its share of the best fused score, and a little by its own."""
    share = (float(scene.ranked.score[row]) - scene.low) / scene.span if scene.span > 0 else 0.0
    return Candidate(row, score, _FUSED * share + (1 - _FUSED) * score, parts, why)
