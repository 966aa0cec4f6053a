"""Candidates for the context of a message: rows that answer it, and rows that mention a concept it names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import IntEnum
from itertools import islice

import numpy as np

from ..embed.smalltalk import SmalltalkMatch
from ..graph.view import GraphView
from ..model import TRUSTED, Kind
from ..records import NamedTuple
from ..search.bm25 import KeywordScores
from ..search.confidence import assess
from ..search.hits import Range, Scores, ranked_rows
from ..search.ranking import Query, Ranking, rank
from ..search.resident import ResidentIndex
from ..store.api import Bools, Floats, Ints
from ..text import analysis
from ..text.scripts import HANGUL, JOINED_LETTER, UNSPACED
from ..text.sentences import sentence_spans
from ..text.speech import is_thanks, subject_terms, without_request
from ..text.structure import instruction, is_rule
from .people import find_people
from .relevance import RELEVANT, Evidence, extract_features, probability

#: Concepts of a message that are looked at.
_ENTITIES = 8
#: Numbers of rows looked at: the best of the search, and the best and the latest that mention a concept.
_SEARCHED, _BEST, _LATEST = 20, 20, 8
#: Number of rows told about one person.
_OF_PERSON = 4
#: A row without a word of the message is related if its cosine reaches the noise of the question (of the model, if
#: there are few notes) less this margin; and the least language coverage at which cosines decide this.
_MARGIN, _MIN_COVERAGE = 0.02, 0.6
#: Score of a good match, and the share of its fused score by which it stands clear of other sections.
_GOOD, _CLEAR = 0.7, 0.1
#: Score from which a row that mentions a named concept is given.
THRESHOLD = 0.5
#: Least share of the score of the best row, of all or of those that mention a curated concept, at which another one is
#: given.
_NEAR_BEST = 0.8


class Entity(NamedTuple):
    """A concept that a message names: its place in the graph, name and weight; ``rarity`` is its idf in [0, 1]."""

    place: int
    name: str
    curated: bool
    weight: float
    rarity: float


class Tier(IntEnum):
    """The part of a context that a row belongs to, in the order in which they are told."""

    RULE = -1
    NOTE = 0
    DOUBT = 1


class Candidate(NamedTuple):
    """A row of the corpus: its score in [0, 1], the value it is ordered by, the reason, and its concepts.

    ``change`` says since when it holds and what was before it; ``list_size`` is the number of items of its list, 0
    where that need not be told whole.
    """

    row: int
    score: float
    order: float
    scores: Scores
    why: str
    places: tuple[int, ...] = ()
    tier: Tier = Tier.NOTE
    change: str = ""
    list_size: int = 0


class RankedMessage(NamedTuple):
    """A message with the ranking of all rows for it; arrays are over the rows of the corpus.

    ``best`` are the best rows that may be given, ``probability`` is that of the message being about the notes.  ``low``
    is the lowest fused score of an allowed row and ``span`` the distance of the highest from it.  ``brief`` are the
    places of the entities that stand in a sentence of few words, ``worded`` marks the rows with a word of the message,
    and a row without one is related from ``least_cosine``; ``people`` are the rows about each person who is named.
    """

    view: GraphView
    ranking: Ranking
    allowed: Bools
    entities: Sequence[Entity]
    best: Sequence[tuple[int, Scores]]
    probability: float
    low: float
    span: float
    brief: frozenset[int]
    worded: Bools
    least_cosine: float
    people: Mapping[str, Ints]

    def candidate(self, row: int, score: float, scores: Scores, why: str, places: tuple[int, ...] = ()) -> Candidate:
        """Make a candidate, ordered by its share of the best fused score and a little by its own."""
        share = (float(self.ranking.score[row]) - self.low) / self.span if self.span > 0 else 0.0
        fused = 0.85
        return Candidate(row, score, fused * share + (1 - fused) * score, scores, why, places)


def find_entities(view: GraphView, message: str) -> list[Entity]:
    """Find the five concepts in ``message`` that count most, curated and rare ones first; the graph must be held."""
    references = view.index.references
    keys = dict.fromkeys(match.key for match in view.matcher.find(message))
    places = list(dict.fromkeys(references.concepts([view.index.canonical(key) for key in keys]).tolist()))
    entities = [
        Entity(place, label.name, label.curated is not None, label.weight, float(view.index.rarity[place]))
        for place, label in view.labels(places).items()
    ]
    entities.sort(key=lambda entity: (not entity.curated, -entity.weight * entity.rarity, places.index(entity.place)))
    return entities[:_ENTITIES]


def rank_message(
    index: ResidentIndex,
    query: Query,
    message: str,
    entities: Sequence[Entity],
    smalltalk: SmalltalkMatch | None,
    superseded: Mapping[int, tuple[str, ...]],
    curated_files: bool,
) -> RankedMessage:
    """Rank all rows for a message, and estimate the probability that it is about the notes.

    ``query`` is for the part of ``message`` that is searched for.  The caller holds the index; there must be a row.
    """
    view, question = index.graph, query.question
    corpus = view.corpus
    allowed = allowed_rows(view, superseded, curated_files)
    if query.request.as_of is not None:
        allowed &= index.written_by(query.request.as_of)
    curated = corpus.shape.kind == list(Kind).index(Kind.CURATED)
    kinds = () if bool((allowed & curated).any()) else tuple(kind for kind in Kind if kind is not Kind.CURATED)
    ranking = rank(replace(query, request=replace(query.request, kinds=kinds)), index)
    # Where summaries do not answer, the notes that they cover do, as in a search.
    visible = view.archive.visible_rows((), ranking.request.include_archived)
    if visible is not None:
        allowed &= visible
    if ranking.features.only_days:
        allowed &= ranking.features.values["date"] >= 1
        allowed &= True if ranking.allowed is None else ranking.allowed
    scores = ranking.score[allowed]
    low, high = (float(scores.min()), float(scores.max())) if len(scores) else (0.0, 0.0)
    resident = index.vectors

    def vectors(rows: Ints) -> Floats:
        return np.zeros((len(rows), 0), np.float32) if resident is None else resident.vectors(corpus.rows.unit_id[rows])

    best: list[tuple[int, Scores]] = []
    sure = 0.0
    if subject_terms(question.text) or question.asks_what_was_done:
        rows = islice(ranked_rows(corpus, ranking.score, allowed), _SEARCHED)
        best = [(row, assess(ranking, Range.of_row(row))) for row in rows]
    keyword = ranking.features.keyword
    if best:
        evidence = None if keyword is None else Evidence(question.text, keyword, len(corpus))
        features = extract_features(ranking, evidence, best, smalltalk, allowed, vectors)
        sure = 1.0 if question.asks_what_was_done else probability(features)
        section = corpus.shape.section
        if sure < RELEVANT and evidence and _stands_clear(ranking, section, allowed, evidence, *best[0]):
            sure, best = RELEVANT, [each for each in best if section[each[0]] == section[best[0][0]]]
        if sure < RELEVANT and evidence and (broken := _broken_rules(index, evidence, best)):
            sure, best = RELEVANT, broken
    asked, head = question.text, instruction(message)
    if head and keyword is not None:
        request = Evidence(head, keyword, len(corpus))
        # Nothing is needed about the passage itself, nor about its language alone.
        best = [each for each in best if each[1].score >= _GOOD and request.matched_untimed(each[0]) > 1]
        entities = [entity for entity in entities if _has_name(head.casefold(), entity.name.casefold())]
        asked = head
    brief = brief_entities(message, entities) if entities else frozenset()
    worded = _worded_rows(view, question.text, entities, keyword, len(corpus))
    least_cosine = -1.0
    if ranking.similarities is not None and any(entity.curated for entity in entities):
        # The message is about what it names: nothing else is closer in meaning.
        least_cosine = max((float(ranking.similarities[row]) for row, _ in best if worded[row]), default=-1.0)
    people = find_people(index, asked)
    return RankedMessage(
        view, ranking, allowed, entities, best, sure, low, high - low, brief, worded, least_cosine, people
    )


def _worded_rows(
    view: GraphView, text: str, entities: Sequence[Entity], keyword: KeywordScores | None, n: int
) -> Bools:
    """Mark the rows with a word of a message: ``bool[n]``.

    A part of the name of a curated concept is no word of its own: a row with "pipeline" has none of "CI pipeline".
    """
    worded = np.zeros(n, bool)
    if keyword is None:
        return worded
    references = view.index.references
    curated = {int(references.keys[entity.place]): entity.place for entity in entities if entity.curated}
    rest = text = " ".join(text.split())
    parts = set[str]()
    for match in reversed(view.matcher.find(text) if curated else []):
        place = curated.get(view.index.canonical(match.key))
        if place is not None:
            rest = f"{rest[: match.start]} {rest[match.end :]}"
            parts.update(analysis.query_terms(match.name))
            worded[references.rows(place)] = True
    parts -= set(analysis.query_terms(rest))
    for term, rows in zip(keyword.terms, keyword.units, strict=True):
        if term not in parts:
            worded[rows] = True
    return worded


def _stands_clear(
    ranking: Ranking, section: Ints, allowed: Bools, evidence: Evidence, row: int, scores: Scores
) -> bool:
    """Return true if the best row is a good match by a word that names no time, and no other section comes near it.

    A message of one word, as a greeting is, never passes so.
    """
    keyword, elsewhere = ranking.features.keyword, ranking.score[allowed & (section != section[row])]
    return bool(
        scores.score >= _GOOD
        and keyword is not None
        and len(keyword.terms) > 1
        and keyword.unit[row] > 0
        and evidence.matched_untimed(row)
        and len(elsewhere)
        and float(elsewhere.max()) <= (1 - _CLEAR) * float(ranking.score[row])
    )


def _broken_rules(
    index: ResidentIndex, evidence: Evidence, best: Sequence[tuple[int, Scores]]
) -> list[tuple[int, Scores]]:
    """Return those of the best rows that are rules and good matches, with all words of the message but one."""
    least = max(2, evidence.words - 1)
    close = [each for each in best if each[1].score >= _GOOD and evidence.matched_untimed(each[0]) >= least]
    texts = index.texts(np.array([row for row, _ in close], np.int32)) if close else []
    return [each for each, text in zip(close, texts, strict=True) if is_rule(text, strict=True)]


def brief_entities(message: str, entities: Sequence[Entity]) -> frozenset[int]:
    """Return the places of ``entities`` in a sentence of few words that does more than thank somebody.

    In a longer sentence the name of a concept proves nothing alone: one may ask for a program in Python.
    """
    short = [
        part.casefold()
        for line in message.splitlines()
        for start, end in sentence_spans(line)
        if len(analysis.words_by_term(without_request(part := line[start:end])).keys() & set(subject_terms(part))) < 4
        and not is_thanks(part)
    ]
    return frozenset(
        entity.place for entity in entities if any(_has_name(part, entity.name.casefold()) for part in short)
    )


def _has_name(text: str, name: str) -> bool:
    """Return true if a text has a name, as whole words where its script puts spaces between them."""
    letter = rf"[^\W{UNSPACED}{HANGUL}]"
    before, after = ("" if JOINED_LETTER.match(edge) else letter for edge in (name[0], name[-1]))
    return re.search(f"{before and f'(?<!{before})'}{re.escape(name)}{after and f'(?!{after})'}", text) is not None


def allowed_rows(view: GraphView, superseded: Mapping[int, tuple[str, ...]], curated_files: bool) -> Bools:
    """Select the rows that may be given: ``bool[n]``.

    They are trusted, written for people, not superseded, and not in the prompt already: unless ``curated_files``, only
    the parts of MEMORY.md and USER.md that a host does not show.
    """
    corpus = view.corpus
    trusted = [info for info in corpus.documents.values() if info.origin in TRUSTED]
    documents = np.zeros(max(corpus.documents, default=0) + 1, bool)
    for info in trusted:
        documents[info.id] = curated_files or info.kind is not Kind.CURATED
    allowed: Bools = documents[corpus.rows.document_id]
    for info in trusted:
        if info.kind is Kind.CURATED and not curated_files:
            rows = np.flatnonzero(corpus.rows.document_id == info.id)
            allowed[rows[_omitted_units(corpus.rows.chars[rows])]] = True
    allowed = allowed & corpus.shape.anchor & ~(corpus.rows.heading | corpus.rows.machine | corpus.rows.meta)
    if superseded:
        gone = corpus.rows_of(np.fromiter(superseded, np.int32, len(superseded)))
        allowed[gone[gone >= 0]] = False
    return allowed


def _omitted_units(chars: Ints, most: int = 12_000, head: float = 0.75) -> Bools:
    """Select the units of a file that OpenClaw omits from a prompt.

    It shows ``most`` characters of the beginning and the end; the share ``head`` is the beginning's.
    """
    ends = np.cumsum(chars + 1)
    if not len(ends) or int(ends[-1]) <= most:
        return np.zeros(len(ends), bool)
    return np.asarray((ends > head * most) & (ends < int(ends[-1]) - (1 - head) * most))


def find_candidates(message: RankedMessage) -> list[Candidate]:
    """Return the rows to give for a message, best first."""
    mentions = _mentioning_rows(message)
    always = _best_of_curated(message, mentions)
    references = message.view.index.references
    named = {
        entity.place
        for entity in message.entities
        # A concept that is mentioned once is named in passing.
        if entity.place in message.brief and (entity.curated or len(references.rows(entity.place)) >= 2)
    }
    # A short sentence that names a concept gets nothing where the message is much less about the notes.
    if message.probability < 0.3 * RELEVANT:
        named = set()
    passed: dict[int, Candidate] = {}
    for threshold, candidates in ((0.0, _answering_rows(message)), (THRESHOLD, mentions)):
        for candidate in candidates:
            relevant = bool(named.intersection(candidate.places)) or message.probability >= RELEVANT
            if (relevant and candidate.score >= threshold) or (candidate.row in always and candidate.places):
                other = passed.get(candidate.row)
                passed[candidate.row] = candidate if other is None or candidate.score > other.score else other
    for candidate in _person_rows(message):
        passed.setdefault(candidate.row, candidate)
    firsts = _best_of_each_name(
        [passed[each.row]._replace(places=each.places) for each in mentions if each.row in passed]
    )
    candidates = [each._replace(order=each.order + 1) if each.row in firsts else each for each in passed.values()]
    return sorted(candidates, key=lambda candidate: (-candidate.order, candidate.row))


def _best_of_each_name(mentions: Sequence[Candidate]) -> set[int]:
    """Return the best row of each named concept where there are several: each is told of before one is again."""
    best: dict[int, Candidate] = {}
    for candidate in mentions:
        for place in candidate.places:
            if place not in best or candidate.order > best[place].order:
                best[place] = candidate
    return {candidate.row for candidate in best.values()} if len(best) > 1 else set()


# -- rows that answer the message -------------------------------------------------------------------


def _answering_rows(message: RankedMessage) -> list[Candidate]:
    """Return the best rows of the search that are related to the message themselves, and not far behind the first."""
    if not message.best:
        return []
    score = message.ranking.score
    least = _NEAR_BEST * float(score[message.best[0][0]])  # less is far behind the best row
    why = f"answers the message, which is about the notes to {message.probability:.2f}"
    return [
        message.candidate(row, scores.score, scores, why)
        for row, scores in message.best
        if message.ranking.features.only_days  # notes of a day have no word of the message
        or (score[row] >= least and (is_related(message, row) or has_related_heading(message, row)))
    ]


def is_related(message: RankedMessage, row: int) -> bool:
    """Return true if a row itself shares a word or its meaning with the message, and not only its neighbours do."""
    features, similarities = message.ranking.features, message.ranking.similarities
    if message.worded[row]:
        return True
    if similarities is None or features.language_coverage < _MIN_COVERAGE or similarities[row] < message.least_cosine:
        return False
    script = message.view.corpus.rows.script[row]
    common, certainty = float(features.noise[script]), float(features.noise_weight[script])
    return bool(
        similarities[row] >= min(common, certainty * common + (1 - certainty) * message.ranking.query.noise) - _MARGIN
    )


def has_related_heading(message: RankedMessage, row: int) -> bool:
    """Return true if the heading above a row has a word of the message."""
    corpus = message.view.corpus
    first = int(np.searchsorted(corpus.shape.section, corpus.shape.section[row]))
    return bool(corpus.rows.heading[first] and message.worded[first])


def _person_rows(message: RankedMessage) -> list[Candidate]:
    """Return the rows about the persons whom the message names, the best of each."""
    candidates = []
    for name, rows in message.people.items():
        rows = rows[message.allowed[rows]]
        for row in rows[np.argsort(-message.ranking.score[rows], kind="stable")[:_OF_PERSON]].tolist():
            scores = assess(message.ranking, Range.of_row(row))
            candidates.append(message.candidate(row, max(THRESHOLD, scores.score), scores, f"about {name}"))
    return candidates


# -- rows that mention a named concept --------------------------------------------------------------


def _mentioning_rows(message: RankedMessage) -> list[Candidate]:
    """Score the best and the latest rows that mention a concept which the message names."""
    if not message.entities:
        return []
    corpus, section = message.view.corpus, message.view.corpus.shape.section
    links = {entity.place: _link_strength(message.view, entity) for entity in message.entities}
    strength = 1 - np.prod([1 - link.clip(0, 0.999) for link in links.values()], axis=0, dtype=np.float32)
    rows = np.flatnonzero((strength > 0) & message.allowed)
    if not len(rows):
        return []
    best = rows[np.argsort(-message.ranking.score[rows], kind="stable")[:_BEST]]
    latest = rows[np.argsort(-corpus.rows.day[rows], kind="stable")[:_LATEST]]
    rows = np.unique(np.concatenate([best, latest]))
    # The share of its section that mentions a concept, up to three rows.
    share = np.zeros(len(rows), np.float32)
    for link in links.values():
        counts = np.bincount(section[link > 0], minlength=len(corpus.shape.section_start))
        share = np.maximum(share, np.minimum(1, counts[section[rows]] / 3).astype(np.float32) * (link[rows] > 0))
    age = np.maximum(0, message.ranking.query.question.day.toordinal() - corpus.rows.day[rows])
    recency = np.where(corpus.rows.dated[rows], 0.5 ** (age / 60.0), 0.3)  # after two months it counts half
    names = {entity.place: entity.name for entity in message.entities}
    candidates = []
    for row, new, frequency in zip(rows.tolist(), recency.tolist(), share.tolist(), strict=True):
        places = tuple(place for place in names if links[place][row] > 0)
        scores = assess(message.ranking, Range.of_row(row))
        linked = float(strength[row])
        # The named concept is evidence already: the share of the message's words counts, not how rare they are.
        relevance = max(scores.score, scores.text or 0.0)
        score = 0.4 * relevance + 0.3 * linked + 0.1 * new + 0.1 * frequency + 0.1  # the weights add up to 1
        mentioned = ", ".join(names[place] for place in places)
        why = (
            f"mentions {mentioned}: link {linked:.2f}, relevance {relevance:.2f}, recency {new:.2f}, "
            f"share {frequency:.2f}"
        )
        candidates.append(message.candidate(row, min(1.0, score), scores, why, places))
    # A curated concept has notes of its own: a line that merely has its name is not one.
    top = {
        entity.place: max((each.score for each in candidates if entity.place in each.places), default=0.0)
        for entity in message.entities
        if entity.curated
    }
    return [each for each in candidates if each.score >= _NEAR_BEST * min(top.get(place, 0.0) for place in each.places)]


def _link_strength(view: GraphView, entity: Entity) -> Floats:
    """Return how strongly each row is linked to an entity: ``float32[n]``.

    A mention in the heading above counts less than one in the row, and one of a curated concept just below less yet.
    """
    corpus, section, references = view.corpus, view.corpus.shape.section, view.index.references
    key = int(references.keys[entity.place])
    below = [concept.key for concept in view.index.ontology.concepts if key in concept.parents]
    children = references.concepts(below).tolist() if below else []
    strength = np.zeros(len(corpus), np.float32)
    for place, kept in [(entity.place, 1.0), *((child, 0.7) for child in children)]:
        rows = references.rows(place)
        np.maximum.at(strength, rows, references.weight[references.slice_of(place)] * np.float32(kept))
        for number in np.unique(section[rows[corpus.rows.heading[rows]]]).tolist():
            headed = slice(*np.searchsorted(section, [number, number + 1]).tolist())
            strength[headed] = np.maximum(strength[headed], np.float32(0.8 * kept))
    return strength * np.float32(min(1.0, entity.rarity * entity.weight))


def _best_of_curated(message: RankedMessage, mentions: Sequence[Candidate]) -> set[int]:
    """Return the two best rows of every curated concept that the message names: they pass whatever their score."""
    rows: set[int] = set()
    for entity in message.entities:
        if entity.curated:
            about = [candidate for candidate in mentions if entity.place in candidate.places]
            about.sort(key=lambda candidate: (-candidate.score, candidate.row))
            rows.update(candidate.row for candidate in about[:2])
    return rows
