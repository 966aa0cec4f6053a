"""Chooses from what passed and says it within the budget: nothing twice, nothing that the message says itself."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date

from ..model import FactRow, chars_of, tokens_of
from ..system.inert import quoted
from ..text import analysis
from . import prose

#: One note takes at most this share of the budget while there are others.
_ONE_NOTE = 0.4
#: What a note loses of its order that would take the whole budget: a long one takes the place of several.
_ROOM = 0.6
#: Characters that must be left for the beginning of one more note to be worth it.
_WORTH = 100


@dataclass(frozen=True, slots=True)
class Item:
    """Something to say: a sentence, where it comes from, and what it is known by.

    ``group`` are the things that share one lead, ``place`` the order within it; ``day`` is ``None`` for what has none.
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


@dataclass(frozen=True, slots=True)
class Composed:
    """The text, and the items in it, best first."""

    text: str = ""
    items: tuple[Item, ...] = ()


def composed(items: Sequence[Item], message: str, budget: int, given: Collection[int | str]) -> Composed:
    """The best of ``items`` in at most ``budget`` tokens, in order of time; facts come first."""
    said = frozenset(analysis.terms(message))
    chosen: list[Item] = []
    known: list[frozenset[str]] = []
    heard = [item for item in items if item.key in given]
    heard_cores = [_core(frozenset(analysis.terms(item.text))) for item in heard]
    cores: list[frozenset[str]] = []
    for item in sorted(items, key=lambda item: (-_worth(item, budget), item.day is None, item.place, str(item.key))):
        if item.key in given or not item.text:
            continue
        item = replace(item, text=quoted(item.text), lead=quoted(item.lead))
        terms = frozenset(analysis.terms(item.text))
        if not terms or _within(terms, said):
            continue
        core = _core(terms)
        if (told := _other_state(item, core, heard, heard_cores)) is not None and not told[1]:
            continue  # what it was like before is no news
        if (older := _other_state(item, core, chosen, cores)) is not None:
            at, newer = older
            if not newer:
                continue
            del chosen[at], known[at], cores[at]
        if any(_within(terms, other) for other in known):
            continue
        item = replace(
            item, text=prose.shortened(item.text, max(_WORTH, chars_of(_ONE_NOTE * budget, item.text))) or item.text
        )
        parts = [other for other in chosen if other.group == item.group and other.text in item.text]
        fitted = _fitted([other for other in chosen if other not in parts], item, budget)
        if fitted is None or not all(part.text in fitted.text for part in parts):
            continue
        for part in parts:  # a line of the list that this one leads to
            at = chosen.index(part)
            del chosen[at], known[at], cores[at]
        chosen.append(fitted)
        known.append(terms)
        cores.append(core)
    return Composed(_rendered(chosen), tuple(chosen))


def _worth(item: Item, budget: int) -> float:
    """What an item is ordered by: how good it is, for the share of the budget that it takes."""
    return item.order - _ROOM * min(_ONE_NOTE, tokens_of(item.text) / budget)


def _other_state(
    item: Item, core: frozenset[str], chosen: Sequence[Item], cores: Sequence[frozenset[str]]
) -> tuple[int, bool] | None:
    """Which chosen item says the same of another day, figures aside, and whether ``item`` is the newer one.

    What changes from day to day is told as it is now: "works" and "works not" have the same words.
    """
    if item.day is None or item.fact is not None:
        return None
    for at, (other, rest) in enumerate(zip(chosen, cores, strict=True)):
        if other.day is None or other.fact is not None or other.day == item.day:
            continue
        # States of one thing share most of their words.
        if min(len(core), len(rest)) >= 2 and len(core & rest) >= 0.6 * max(len(core), len(rest)):
            return at, item.day > other.day
    return None


def _core(terms: frozenset[str]) -> frozenset[str]:
    """Terms without figures."""
    return frozenset(term for term in terms if not any(map(str.isdigit, term)))


def _within(terms: frozenset[str], other: frozenset[str]) -> bool:
    """Whether a text has so many of its terms in another one that it says nothing new beside it."""
    return len(terms & other) >= 0.8 * len(terms)


def _fitted(chosen: Sequence[Item], item: Item, budget: float) -> Item | None:
    """``item`` as far as there is room for it."""
    over = tokens_of(_rendered([*chosen, item])) - budget
    if over <= 0:
        return item
    left = len(item.text) - chars_of(over, item.text) - 1
    if left < _WORTH and chosen:
        return None
    text = prose.shortened(item.text, left)
    cut = replace(item, text=text)
    return cut if text and tokens_of(_rendered([*chosen, cut])) <= budget else None


def _rendered(items: Sequence[Item]) -> str:
    facts = [item.text for item in items if item.fact is not None]
    groups: dict[int | str, list[Item]] = {}
    for item in items:
        if item.fact is None:
            groups.setdefault(item.group, []).append(item)
    lines = [" ".join(facts)] if facts else []
    for group in sorted(groups.values(), key=lambda group: (group[0].day or date.max, min(i.place for i in group))):
        group.sort(key=lambda item: item.place)
        lines.append(f"{group[0].lead}: {' '.join(item.text for item in group)}")
    return "\n".join(lines)
