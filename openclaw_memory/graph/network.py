"""Build the graph over sections and concepts: mentions, relations between concepts, and threads in time.

A section that is longer than :data:`PASSAGE` rows is cut into passages, each of which is a section here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..index.archive import Archive
from ..index.corpus import Corpus
from ..records import NamedTuple
from ..store.api import Bools, Floats, Ints
from .concepts import ConceptIndex, References
from .sorting import falling, stable_order

#: Concepts of a section that take part in pairs: the rarest ones.
_PAIRED = 24
#: A longer section, such as the record of a chat, counts as several passages of at most this many rows.
PASSAGE = 12


class SparseRows(NamedTuple):
    """Sparse rows: the entries of row ``i`` are ``target[offset[i]:offset[i + 1]]`` with their weights."""

    offset: NDArray[np.int64]
    target: Ints
    weight: Floats

    def row(self, i: int) -> tuple[Ints, Floats]:
        """Return targets and weights of one row."""
        span = slice(int(self.offset[i]), int(self.offset[i + 1]))
        return self.target[span], self.weight[span]

    def gather(self, rows: Ints, most: int | None = None) -> tuple[Ints, Ints, Floats]:
        """Return entries of several rows as ``(place in rows, target, weight)``, at most the first ``most`` of each."""
        start = self.offset[rows]
        length = self.offset[rows + 1] - start
        if most is not None:
            length = np.minimum(length, most)
        place = np.repeat(np.arange(len(rows), dtype=np.int32), length)
        shift = np.repeat(np.cumsum(length) - length, length)
        at = np.arange(len(place)) - shift + np.repeat(start, length)
        return place, self.target[at], self.weight[at]


class Network(NamedTuple):
    """Sections by their place in the corpus, concepts by theirs in the references.

    ``sections`` and ``concepts`` hold the same references from both ends (``concepts`` lists first the
    sections that no summary covers or repeats, the strongest first),
    ``rarity`` is a concept's inverse document frequency over sections scaled to [0, 1].  ``parents`` and
    ``children`` are curated; ``related`` is symmetric, ``related_curated`` says which entries are curated.
    ``before`` and ``after`` join a section to the neighbours in time that share a concept, ``thread`` of an
    entry being that concept.  ``section_of`` is the section of each row of the corpus.  ``originals``
    leads from a section of a summary to the archived ones that it was taken from; ``original_rows`` are rows of
    summaries and, in the same places, the rows that these were taken from.
    """

    sections: SparseRows
    concepts: SparseRows
    rarity: Floats
    related: SparseRows
    related_curated: Bools
    parents: SparseRows
    children: SparseRows
    after: SparseRows
    before: SparseRows
    after_thread: Ints
    before_thread: Ints
    day: Ints
    dated: Bools
    section_of: Ints
    first_row: Ints
    last_row: Ints
    originals: SparseRows
    original_rows: tuple[Ints, Ints]
    #: The rank of each section by day, the newest first, path and line: it breaks ties, so that the order of ingest
    #: does not matter.
    rank: Ints


def build(index: ConceptIndex, corpus: Corpus, archive: Archive) -> Network:
    """Build the graph of a corpus, in time linear in its mentions but for sorting them.

    Rows that only repeat others are not counted, and threads lead over rows that are neither archived nor repeat.
    """
    references, rows, shape = index.references, corpus.rows, corpus.shape
    n = len(references.keys)
    border = np.ones(len(corpus), bool)
    border[1:] = shape.section[1:] != shape.section[:-1]
    opened = np.maximum.accumulate(np.where(border, np.arange(len(corpus)), 0))
    border |= (np.arange(len(corpus)) - opened) % PASSAGE == 0
    section_of = (np.cumsum(border) - 1).astype(np.int32)
    first_row = np.flatnonzero(border).astype(np.int32)
    last_row = (np.append(first_row[1:], len(corpus)) - 1).astype(np.int32)
    n_sections = len(first_row)
    day, dated = rows.day[first_row], rows.dated[first_row]
    path = shape.path_rank[rows.document_id[first_row]]
    rank = np.empty(n_sections, np.int32)
    rank[np.lexsort((rows.start_line[first_row], path, -day * dated))] = np.arange(n_sections, dtype=np.int32)
    section, concept, weight = counted = shown = _by_section(references, section_of, corpus)
    of_section = _sparse_rows(section, concept, weight, n_sections)
    sections_counted, of_counted, leading = n_sections, of_section, None
    masks = archive.masks
    if masks is not None and n_sections:
        counted = _by_section(references, section_of, corpus, ~masks.copies)
        shown = _by_section(references, section_of, corpus, masks.shown)
        sections_counted = n_sections - int(np.logical_and.reduceat(masks.copies, first_row).sum())
        of_counted = _sparse_rows(*counted, n_sections)
        leading = np.logical_or.reduceat(masks.shown, first_row)[section]
    of_concept = _sparse_rows(concept, section, weight, n, rank, leading)
    count = np.bincount(counted[1], minlength=n)
    top = np.log1p(max(sections_counted, 1))
    rarity = (np.log1p(sections_counted / np.maximum(count, 1)) / max(top, 1e-9)).astype(np.float32).clip(0, 1)
    parents, children, stated = _curated(index)
    related, related_curated = _related(of_counted, rarity, count, sections_counted, stated, index.slugs())
    after, before, after_thread, before_thread = _threads(*shown, rarity, corpus, day, dated, first_row)
    original_rows = archive.originals()
    # From each section of a summary to those that its sentences were taken from, once each.
    pairs = np.unique(np.stack([section_of[original_rows[0]], section_of[original_rows[1]]]), axis=1)
    originals = _sparse_rows(pairs[0], pairs[1], np.ones(pairs.shape[1], np.float32), n_sections)
    return Network(
        of_section, of_concept, rarity, related, related_curated, parents, children, after, before, after_thread,
        before_thread, day, dated, section_of, first_row, last_row, originals, original_rows, rank,
    )  # fmt: skip


def _by_section(
    references: References, section_of: Ints, corpus: Corpus, chosen: Bools | None = None
) -> tuple[Ints, Ints, Floats]:
    """Join the references of units, or of the ``chosen`` ones, to those of their sections."""
    concept, row, weight = references.concept, references.row, references.weight
    if chosen is not None:
        concept, row, weight = concept[chosen[row]], row[chosen[row]], weight[chosen[row]]
    if not len(row):
        return np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float32)
    section = section_of[row]
    # Rows ascend within a concept, and so do their sections.
    first = np.ones(len(row), bool)
    first[1:] = (concept[1:] != concept[:-1]) | (section[1:] != section[:-1])
    start = np.flatnonzero(first)
    lines = np.diff(np.append(start, len(row)))
    strongest = np.maximum.reduceat(weight, start)
    heading = np.maximum.reduceat(corpus.rows.heading[row].astype(np.int8), start) > 0
    share = np.where(heading, 1.0, np.minimum(1.0, 0.7 + 0.15 * (lines - 1)))
    return section[start], concept[start], (strongest * share).astype(np.float32)


def _sparse_rows(
    source: Ints, target: Ints, weight: Floats, n: int, rank: Ints | None = None, leading: Bools | None = None
) -> SparseRows:
    """Return entries by source, then by target, or (``leading`` ones first) by falling weight and ``rank``."""
    if rank is not None:
        order = stable_order(rank[target], falling(weight), *(() if leading is None else (~leading,)), source)
    else:
        order = stable_order(target, source)
    offset = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(source, minlength=n), out=offset[1:])
    return SparseRows(offset, target[order].astype(np.int32), weight[order].astype(np.float32))


def _curated(index: ConceptIndex) -> tuple[SparseRows, SparseRows, tuple[Ints, Ints]]:
    n = len(index.references.keys)
    place = {int(key): at for at, key in enumerate(index.references.keys.tolist())}
    pairs = [
        (place[row.key], place[parent]) for row in index.ontology.concepts for parent in row.parents if parent in place
    ]
    child, parent = (np.array([pair[end] for pair in pairs], np.int32) for end in (0, 1))
    ones = np.ones(len(pairs), np.float32)
    stated = {
        (min(a, b), max(a, b))
        for row in index.ontology.concepts
        for other in row.related
        if other in place and (a := place[row.key]) != (b := place[other])
    }
    ends = np.array(sorted(stated), np.int32).reshape(-1, 2)
    return _sparse_rows(child, parent, ones, n), _sparse_rows(parent, child, ones, n), (ends[:, 0], ends[:, 1])


def _related(
    of_section: SparseRows,
    rarity: Floats,
    count: NDArray[np.int64],
    sections: int,
    stated: tuple[Ints, Ints],
    slugs: Sequence[str],
) -> tuple[SparseRows, Bools]:
    """Relate concepts that share sections more often than chance has it, and those that are curated.

    Whether two do is decided by the likelihood ratio of their table of sections (Dunning, 1993, "Accurate methods for
    the statistics of surprise and coincidence"), which needs no large counts.  How closely, by normalised pointwise
    mutual information (Bouma, 2009), shrunk where counts are small (Pantel and Lin, 2002).  A name within another,
    as ``Claude`` within ``Claude Code``, is not related to it: both stand on the same words.
    """
    n = len(count)
    a, b = _pairs(of_section, rarity)
    # Numpy sorts numbers of four bytes twice as fast as those of eight.
    code = np.dtype(np.uint32 if n < 1 << 16 else np.uint64)
    pair = np.sort(a.astype(code) * code.type(n) + b.astype(code))
    starts = np.flatnonzero(np.concatenate([np.ones(min(len(pair), 1), bool), pair[1:] != pair[:-1]]))
    together = np.diff(np.append(starts, len(pair)))
    pair, together = pair[starts[together >= 2]].astype(np.int64), together[together >= 2]
    low, high = (pair // n).astype(np.int32), (pair % n).astype(np.int32)
    ratio, npmi = _association(together, count[low], count[high], sections)
    close = (ratio >= 3.84) & (npmi > 0)  # chance gives so large a ratio to one pair in twenty
    names = ((slugs[i], slugs[j]) for i, j in zip(low[close].tolist(), high[close].tolist(), strict=True))
    close[close] = [(a not in b and b not in a) or not _within(a, b) for a, b in names]
    close &= ~np.isin(pair, stated[0].astype(np.int64) * n + stated[1])
    low, high, npmi = low[close], high[close], npmi[close]
    source = np.concatenate([low, high, stated[0], stated[1]])
    target = np.concatenate([high, low, stated[1], stated[0]])
    weight = np.concatenate([npmi, npmi, np.full(2 * len(stated[0]), 0.9)]).astype(np.float32)
    curated = np.concatenate([np.zeros(2 * len(low), bool), np.ones(2 * len(stated[0]), bool)])
    order = np.lexsort((target, -weight, ~curated, source))
    source, target, weight, curated = source[order], target[order], weight[order], curated[order]
    start = np.searchsorted(source, source)
    keep = (np.arange(len(source)) - start < 12) | curated
    offset = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(source[keep], minlength=n), out=offset[1:])
    return SparseRows(offset, target[keep].astype(np.int32), weight[keep]), curated[keep]


def _association(
    together: NDArray[np.int64], first: NDArray[np.int64], second: NDArray[np.int64], total: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return likelihood ratio and shrunk NPMI of pairs, from the number of sections with the first, second and both."""
    total = max(total, 1)
    ratio = np.zeros(len(together))
    rest = np.maximum(total - first - second + together, 0)
    for seen, row, column in (
        (together, first, second), (first - together, first, total - second),
        (second - together, total - first, second), (rest, total - first, total - second),
    ):  # fmt: skip
        expected = row * column / total
        some = (seen > 0) & (expected > 0)
        ratio[some] += 2 * seen[some] * np.log(seen[some] / expected[some])
    p = together / total
    with np.errstate(divide="ignore", invalid="ignore"):
        npmi = np.where(p >= 1, 1.0, np.log(together * total / (first * second)) / -np.log(p))
    least = np.minimum(first, second)
    return ratio, npmi * together / (together + 1) * least / (least + 1)


def _within(a: str, b: str) -> bool:
    """Return true if one slug is a run of words, or of characters where there is no alphabet, of the other."""
    short, long = sorted((a, b), key=len)
    return bool(short) and (f"-{short}-" in f"-{long}-" or (short > "\u0e00" and short in long))


def _pairs(of_section: SparseRows, rarity: Floats) -> tuple[Ints, Ints]:
    """Return every pair of concepts of every section, the smaller first; of the rarest where there are many."""
    section = np.repeat(np.arange(len(of_section.offset) - 1), np.diff(of_section.offset))
    concept = of_section.target
    rarest = np.empty(len(rarity), np.int32)
    rarest[np.argsort(-rarity, kind="stable")] = np.arange(len(rarity), dtype=np.int32)
    order = stable_order(rarest[concept], section)
    rank = np.arange(len(section)) - of_section.offset[section]
    keep = rank < _PAIRED
    section, concept = section[order][keep], concept[order][keep]
    lefts, rights = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    for step in range(1, _PAIRED):
        same = section[step:] == section[:-step]
        if not same.any():
            break
        left, right = concept[:-step][same], concept[step:][same]
        lefts.append(np.minimum(left, right))
        rights.append(np.maximum(left, right))
    return np.concatenate(lefts), np.concatenate(rights)


def _threads(
    section: Ints,
    concept: Ints,
    weight: Floats,
    rarity: Floats,
    corpus: Corpus,
    day: Ints,
    dated: Bools,
    first_row: Ints,
) -> tuple[SparseRows, SparseRows, Ints, Ints]:
    """Chain the dated sections of each concept in order of time.

    Two sections that follow one another in several threads are joined once, by the rarest shared concept.
    """
    n_sections = len(day)
    rows = corpus.rows
    path = corpus.shape.path_rank[rows.document_id[first_row]] if n_sections else np.zeros(0, np.int32)
    # A concept in more sections makes no thread: each day would follow the last.
    usable = dated[section] & (np.bincount(concept, minlength=len(rarity))[concept] <= 400)
    section, concept, weight = section[usable], concept[usable], weight[usable]
    order = stable_order(rows.start_line[first_row[section]], path[section], day[section], concept)
    section, concept, weight = section[order], concept[order], weight[order]
    same = concept[1:] == concept[:-1]
    source, target, thread = section[:-1][same], section[1:][same], concept[1:][same]
    # As strong as the weaker end is about the concept, and as the concept is rare.
    strength = np.minimum(weight[:-1][same], weight[1:][same]) * rarity[thread]
    order = stable_order(thread, falling(strength), target, source)
    source, target, thread, strength = source[order], target[order], thread[order], strength[order]
    first = np.ones(len(source), bool)
    first[1:] = (source[1:] != source[:-1]) | (target[1:] != target[:-1])
    shared = np.add.reduceat(strength, np.flatnonzero(first)) if len(source) else strength
    source, target, thread = source[first], target[first], thread[first]
    strength = (1 - np.exp(-1.5 * shared)).astype(np.float32)
    after, before = (
        _sparse_rows(source, target, strength, n_sections),
        _sparse_rows(target, source, strength, n_sections),
    )
    return after, before, thread[stable_order(target, source)], thread[stable_order(source, target)]
