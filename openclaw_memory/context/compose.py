"""Composition of a context: sentences from candidates and facts, as many as a budget allows, without repetitions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date

from ..facts.periods import STATED
from ..facts.service import FactService
from ..graph.view import GraphView
from ..model import TRUSTED, FactRow, Kind, chars_of, tokens_of
from ..records import NamedTuple, dataclass
from ..store.api import SectionText
from ..system.sanitize import sanitize_for_prompt
from ..text import analysis
from . import prose
from .candidates import THRESHOLD, Candidate, Entity, Tier

#: Facts about the named concepts.
_FACTS = 3
#: Share of the budget that one note takes at most while there are others.
_ONE_NOTE = 0.4
#: Penalty on the order of an item that would take the whole budget; shorter ones lose in proportion.
_LENGTH_COST = 0.6
#: Characters that the beginning of one more note needs at least.
_LEAST = 100


@dataclass(frozen=True, slots=True)
class Item:
    """A sentence that may be given, and its source.

    Items of a ``group`` share one ``lead``, and ``place`` orders them within their ``tier`` of it; ``day`` is ``None``
    for undated ones.  ``list_size`` is the number of items of a list that is told whole or counted.
    """

    key: int | str
    order: float
    text: str
    lead: str = ""
    group: int | str = ""
    day: date | None = None
    place: tuple[str, int] = ("", 0)
    row: int | None = None
    fact: FactRow | None = None
    tier: Tier = Tier.NOTE
    list_size: int = 0


class Composition(NamedTuple):
    """The text of a context, and the items in it, best first."""

    text: str = ""
    items: tuple[Item, ...] = ()


class _Entry(NamedTuple):
    """An item with its terms, and those of them without figures."""

    item: Item
    terms: frozenset[str]
    core: frozenset[str]


def note_items(view: GraphView, candidates: Sequence[Candidate], sections: Mapping[int, SectionText]) -> list[Item]:
    """Turn candidates into sentences; those rewritten by another process meanwhile are left out."""
    corpus, rows = view.corpus, view.corpus.rows
    items = []
    for at, candidate in enumerate(candidates):
        row = candidate.row
        section = sections.get(int(rows.section_id[row]))
        if section is None:
            continue
        path = corpus.documents[int(rows.document_id[row])].path
        day = section.date if rows.dated[row] else None
        text = prose.row_sentence(view, section, row, with_list=at < 3)
        items.append(
            Item(
                key=int(rows.hash[row]),
                order=candidate.order,
                text=prose.add_remark(text, candidate.change) if text and candidate.change else text,
                lead=prose.format_lead(day, path, section.heading),
                group=section.id,
                day=day,
                place=(path, row),
                row=row,
                tier=candidate.tier,
                list_size=candidate.list_size,
            )
        )
    return items


def fact_items(
    facts: FactService,
    view: GraphView,
    entities: Sequence[Entity],
    terms: Sequence[str],
    curated_files: bool,
    as_of: date | None = None,
) -> list[Item]:
    """Turn current facts about the entities into sentences, those that share ``terms`` with the message first."""
    rows = facts.about([entity.name for entity in entities], _FACTS * 8, as_of)
    curated = {info.path for info in view.corpus.documents.values() if info.kind is Kind.CURATED}
    topic = set(terms) - {term for entity in entities for term in analysis.query_terms(entity.name)}
    items = []
    for row in rows:
        in_prompt = row.rule != STATED and row.source is not None and row.source.partition("#")[0] in curated
        if not row.current or row.origin not in TRUSTED or (in_prompt and not curated_files):
            continue
        shared = topic.intersection(analysis.terms(f"{row.predicate} {row.object}"))
        # A stated fact passes by itself; an extracted one must be related to the message.
        order = 0.1 + 0.4 * row.confidence + 0.5 * (len(shared) / len(topic) if topic else 0.5)
        if order >= THRESHOLD:
            items.append(Item(key=row.id, order=order, text=prose.format_fact(row), day=row.valid_from, fact=row))
    items.sort(key=lambda item: (-item.order, str(item.key)))
    return items[:_FACTS]


def compose(items: Sequence[Item], message: str, budget: int, excluded: Collection[int | str]) -> Composition:
    """Compose the best of ``items`` in at most ``budget`` tokens, facts first and the newest notes next.

    Left out are items with an ``excluded`` key, and those that a better item states, or the message itself: but it may
    break a rule.
    """
    message_terms = frozenset(analysis.terms(message))
    heard = [_entry(item) for item in items if item.key in excluded]
    chosen: list[_Entry] = []
    for item in sorted(items, key=lambda item: (-_priority(item, budget), item.day is None, item.place, str(item.key))):
        if item.key in excluded or not item.text:
            continue
        item = replace(item, text=sanitize_for_prompt(item.text), lead=sanitize_for_prompt(item.lead))
        entry = _entry(item)
        if not entry.terms or (item.tier != Tier.RULE and _is_contained(entry.terms, message_terms)):
            continue
        if (other := _other_state(entry, heard)) is not None and _is_older(item, other.item):
            continue
        if (other := _other_state(entry, chosen)) is not None:
            if _is_older(item, other.item):
                continue
            chosen.remove(other)
        if any(_is_contained(entry.terms, other.terms) for other in chosen):
            continue
        longest = max(_LEAST, chars_of(_ONE_NOTE * budget, item.text))
        item = replace(item, text=prose.shorten(item.text, longest) or item.text)
        # Lines of the list that this item introduces become a part of it.
        parts = [other for other in chosen if other.item.group == item.group and other.item.text in item.text]
        rest = [other for other in chosen if other not in parts]
        fitted = _fit([other.item for other in rest], item, budget)
        if fitted is not None and all(part.item.text in fitted.text for part in parts):
            chosen = [*rest, entry._replace(item=fitted)]
    picked = tuple(entry.item for entry in chosen)
    return Composition(_render(picked), picked)


def _entry(item: Item) -> _Entry:
    terms = frozenset(analysis.terms(item.text))
    return _Entry(item, terms, frozenset(term for term in terms if not any(map(str.isdigit, term))))


def _priority(item: Item, budget: int) -> float:
    """Return the order of an item, less for the share of the budget that it takes."""
    return item.order - _LENGTH_COST * min(_ONE_NOTE, tokens_of(item.text) / budget)


def _other_state(entry: _Entry, others: Sequence[_Entry]) -> _Entry | None:
    """Find an entry of another day that states the same but for figures: only the newest of them is given.

    Most of the words must agree: "works" and "works not" are two states of one thing.
    """
    if entry.item.day is None or entry.item.fact is not None:
        return None
    for other in others:
        if other.item.day is None or other.item.fact is not None or other.item.day == entry.item.day:
            continue
        sizes = len(entry.core), len(other.core)
        if min(sizes) >= 2 and len(entry.core & other.core) >= 0.6 * max(sizes):
            return other
    return None


def _is_older(item: Item, other: Item) -> bool:
    return item.day is not None and other.day is not None and item.day < other.day


def _is_contained(terms: frozenset[str], other: frozenset[str]) -> bool:
    """Return true if a text shares so many of its terms with another one that it adds nothing to it."""
    return len(terms & other) >= 0.8 * len(terms)


def _fit(chosen: Sequence[Item], item: Item, budget: float) -> Item | None:
    """Shorten ``item`` to the room that is left; ``None`` where there is too little."""
    excess = tokens_of(_render([*chosen, item])) - budget
    if excess <= 0:
        return item
    room = len(item.text) - chars_of(excess, item.text) - 1
    if (room < _LEAST and chosen) or item.list_size:
        return None
    text = prose.shorten(item.text, room)
    cut = replace(item, text=text)
    return cut if text and tokens_of(_render([*chosen, cut])) <= budget else None


def _render(items: Sequence[Item]) -> str:
    facts = [item.text for item in items if item.fact is not None]
    groups: dict[int | str, list[Item]] = {}
    for item in items:
        if item.fact is None:
            groups.setdefault(item.group, []).append(item)
    lines = [" ".join(facts)] if facts else []
    for group in groups.values():
        group.sort(key=lambda item: (item.tier, item.place))
    for group in sorted(groups.values(), key=_group_order):
        items_told = sum(bool(item.list_size) for item in group)
        left = max(item.list_size for item in group) - items_told if items_told else 0
        more = f" (and {left} more: {group[0].place[0]})" if left > 0 else ""
        lines.append(f"{group[0].lead}: {' '.join(item.text for item in group)}{more}")
    return "\n".join(lines)


def _group_order(group: Sequence[Item]) -> tuple[bool, bool, int, tuple[str, int]]:
    """Return the order of a group: rules come first and doubts last, the others the newest first."""
    tier = group[0].tier
    age = -(group[0].day or date.min).toordinal()
    return tier != Tier.RULE, tier == Tier.DOUBT, age, min(item.place for item in group)
