"""Arrange the candidates of a context: rules first, what holds now in the place of what it replaced, doubts last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from itertools import chain, islice

import numpy as np

from .. import patterns as re
from ..knowledge.changes import leading_shape
from ..knowledge.identifiers import identifiers_in_text
from ..knowledge.statements import Statement, differs
from ..model import Kind
from ..search.current import Timeline, find_successors
from ..search.hits import ranked_rows
from ..search.resident import ResidentIndex
from ..store.api import Bools, Ints
from ..text.lines import ITEM
from ..text.structure import is_rule, is_rule_heading, names_rules
from . import prose
from .candidates import Candidate, RankedMessage, Tier, has_related_heading

#: Rows below a line that replaced another one that are told with it.
_BELOW = 2
#: Best rows of the search that are read for rules, rules that are told of them, and items of a list.
_READ, _RULES, _ITEMS = 20, 3, 12
#: Share of the weight of the words by which the best row is about the message that a rule must have in common with it.
_ABOUT = 0.4
#: Lines of curated files told beside nothing but chats.
_KEPT = 2
#: Characters of the longest item of a list that is told whole, and of a former value.
_ITEM_LENGTH, _FORMER_LENGTH = 120, 40
#: Days for which the day and the value of a change are told.
_RECENT = 92
#: What a doubt loses of its order.
_STEP = 0.3
_ITEM = re.compile(rf"\s*{ITEM}\s")


def arrange(index: ResidentIndex, message: RankedMessage, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return ``candidates`` with the rules and the lists of their sections, in the order in which they are chosen."""
    current = {candidate.row: candidate for candidate in _replace_superseded(index, message, candidates)}
    if current:
        _add_rules_and_list(index, message, current)
    chats = message.ranking.features.values.get("transcript")
    if chats is not None and current and all(chats[row] for row in current):
        current = _prefer_kept_lines(index, message, current)
    rows = np.array(sorted(current), np.int32)
    best = next(iter(current.values()), None)
    section = message.view.corpus.shape.section
    about = _rows_about(index, message, best.row, rows.tolist()) if best is not None else []
    rules = _find_rules(index, message, about)
    arranged = []
    for row, statement in zip(rows.tolist(), index.statements(rows), strict=True):
        candidate, tier = current[row], current[row].tier
        if statement.is_refuted:
            tier = Tier.DOUBT
        elif best is not None and row in rules and (rules[row] or section[row] == section[best.row]):
            tier = Tier.RULE
        arranged.append(candidate._replace(tier=tier, order=candidate.order - _STEP * (tier is Tier.DOUBT)))
    return sorted(arranged, key=lambda candidate: (-candidate.order, candidate.row))


def _replace_superseded(
    index: ResidentIndex, message: RankedMessage, candidates: Sequence[Candidate]
) -> list[Candidate]:
    """Return ``candidates`` with what holds now in the place of rows that no longer hold, each row once.

    A line of a curated file may take the place too: without it the older line would contradict the prompt.
    """
    rows = np.array([candidate.row for candidate in candidates], np.int32)
    question, corpus = message.ranking.query.question, message.view.corpus
    allowed = message.allowed | _curated_lines(message)
    successors = find_successors(question, index, rows, rows, allowed) if len(rows) else {}
    timeline = Timeline(index, question.day)
    ended = _ended_rows(index, message, rows, successors) - successors.keys()
    current: dict[int, Candidate] = {}
    for candidate in candidates:
        row = candidate.row
        if row in ended:
            continue
        former = row
        while row in successors:
            former, row = row, successors[row]
        last = row
        if row != candidate.row:  # what replaced a line is told with what stands below it
            section = corpus.shape.section
            while last + 1 < len(section) and last - row < _BELOW and section[last + 1] == section[row]:
                last += 1
            candidate = candidate._replace(change=_describe_change(index, timeline, row, former))
        for at in range(row, last + 1):
            other = current.get(at)
            if other is None or (at == row and candidate.change and not other.change):
                placed = candidate if other is None else other._replace(change=candidate.change)
                current[at] = placed._replace(row=at, change=placed.change if at == row else "")
    return list(current.values())


def _ended_rows(
    index: ResidentIndex, message: RankedMessage, rows: Ints, successors: Mapping[int, int]
) -> frozenset[int]:
    """Return those of ``rows`` whose subject has a successor beside a line which says that older notes do not hold."""
    section = message.view.corpus.shape.section
    sections = np.unique(section[np.array(sorted(set(successors.values())), np.int32)])
    beside = np.flatnonzero(np.isin(section, sections) & message.view.corpus.shape.anchor).astype(np.int32)
    subjects = [statement.subject for statement in index.statements(beside) if statement.ends_older]
    if not subjects:
        return frozenset()
    return frozenset(
        row
        for row, statement in zip(rows.tolist(), index.statements(rows), strict=True)
        if section[row] not in sections and any(subject and subject <= statement.subject for subject in subjects)
    )


def _curated_lines(message: RankedMessage) -> Bools:
    """Return the lines of curated files: ``bool[n]``."""
    corpus = message.view.corpus
    curated: Bools = (corpus.shape.kind == list(Kind).index(Kind.CURATED)) & corpus.shape.trusted
    return curated & corpus.shape.anchor & ~corpus.rows.heading


def _describe_change(index: ResidentIndex, timeline: Timeline, row: int, former: int) -> str:
    """Return ``since 20 May 2026; before: 10 June`` for a row that replaced a former one lately; else nothing.

    The day is left out where the row's own day, which its lead tells, is the same.
    """
    since = timeline.since(row, former)
    if since is None or timeline.today - since > _RECENT:
        return ""
    new, old = index.statements(np.array([row, former], np.int32))
    parts = [] if index.corpus.rows.day[row] == since else [f"since {prose.format_day(date.fromordinal(since))}"]
    if value := _former_value(new, old):
        parts.append(f"before: {value}")
    return "; ".join(parts)


def _former_value(new: Statement, old: Statement) -> str:
    """Return the first clause of the value behind the label of ``old``, where both have one form or heading."""
    forms = {form and form[0] for form in (leading_shape(each.written_value) for each in (new, old))}
    alike = len(forms) == 1 and (None not in forms or new.subject == old.subject)
    if not (new.label & old.label and alike and differs(new, old)):
        return ""
    value = prose.plain_text(re.split(r"[;.。；](?:\s|$)| [(–—-]", old.written_value)[0]).strip(" ,;:.")
    return value if 0 < len(value) <= _FORMER_LENGTH else ""


def _prefer_kept_lines(
    index: ResidentIndex, message: RankedMessage, chats: Mapping[int, Candidate]
) -> dict[int, Candidate]:
    """Return the best lines of curated files that have a word of the message, and ``chats``.

    Those of an earlier day are left out that have no other word of the message.
    """
    curated = islice(ranked_rows(message.view.corpus, message.ranking.score, _curated_lines(message)), _KEPT)
    kept = np.array([row for row in curated if message.worded[row]], np.int32)
    if not len(kept):
        return dict(chats)
    best = next(iter(chats.values()))
    rows = np.array([*chats], np.int32)
    question = message.ranking.query.question
    asked = frozenset(chain.from_iterable(question.content_words))
    words = frozenset().union(*(statement.words for statement in index.statements(kept)))
    older = set(Timeline(index, question.day).not_after(int(kept[0]), rows).tolist())
    result = {row: best._replace(row=row, change="", why=f"kept; {best.why}") for row in kept.tolist()}
    for row, statement in zip(rows.tolist(), index.statements(rows), strict=True):
        if row not in older or not asked & statement.words <= words:
            result[row] = chats[row]._replace(tier=Tier.DOUBT)
    return result


def _add_rules_and_list(index: ResidentIndex, message: RankedMessage, current: dict[int, Candidate]) -> None:
    """Add to ``current`` the rules about what its best candidate is about, and the rest of the list that this is of.

    These rules are of its section, of that of another candidate, or among the best of the search, and have much of
    what it shares with the message.
    """
    best, corpus = next(iter(current.values())), message.view.corpus
    section, document = corpus.shape.section, corpus.rows.document_id
    beside = np.flatnonzero(np.isin(section, section[[*current]]) & message.allowed).tolist()
    inside = [row for row in beside if section[row] == section[best.row]][: 2 * _ITEMS]
    ranked = islice(ranked_rows(corpus, message.ranking.score, message.allowed), _READ)
    about = _rows_about(index, message, best.row, list(dict.fromkeys([*inside, *beside, *ranked])))
    rows = list(dict.fromkeys([best.row, *inside, *about]))
    statements = dict(zip(rows, index.statements(np.array(rows, np.int32)), strict=True))
    rules = _find_rules(index, message, [row for row in about if row not in current])
    weaker = [row for row, strict in rules.items() if not strict and document[row] == document[best.row]][:1]
    added = [
        best._replace(row=row, change="", why=f"a rule about the same; {best.why}")
        for row in [*(row for row, strict in rules.items() if strict), *weaker][:_RULES]
    ]
    for candidate in _replace_superseded(index, message, added):
        current.setdefault(candidate.row, candidate)
    items = [row for row in inside if _ITEM.match(statements[row].text)]
    holding = {each.row for each in _replace_superseded(index, message, [best._replace(row=row) for row in items])}
    items = [row for row in items if row in holding]
    if (
        best.row in items
        and 1 < len(items) <= _ITEMS
        and max(len(statements[row].text) for row in items) <= _ITEM_LENGTH
        and has_related_heading(message, best.row)
    ):
        least = min(candidate.order for row, candidate in current.items() if row in inside)
        for row in items:
            listed = current.get(row) or best._replace(
                row=row, order=least, change="", why=f"of the same list; {best.why}"
            )
            current[row] = listed._replace(list_size=len(items))


def _find_rules(index: ResidentIndex, message: RankedMessage, rows: Sequence[int]) -> dict[int, bool]:
    """Return those of ``rows`` that state a rule, with true for a strict one.

    So is one that a heading above states, and one below a heading or behind a label that names rules.
    """
    rules, dated = dict[int, bool](), message.view.corpus.rows.dated
    for row, statement in zip(rows, index.statements(np.array(rows, np.int32)), strict=True):
        titles = statement.heading.split(" > ")
        strict = (
            is_rule(statement.text, strict=True)
            or any(map(is_rule_heading, titles))
            or any(map(names_rules, (titles[-1], statement.written_label)))
        )
        if strict or is_rule(statement.text, undated=not dated[row]):
            rules[row] = strict
    return rules


def _rows_about(index: ResidentIndex, message: RankedMessage, best: int, rows: Sequence[int]) -> list[int]:
    """Return those of ``rows`` that share with the message much of what the best row does, by the heading too.

    A row of another section must have a word of the message itself, unless a line of its section has an identifier of
    the message: "never edit it" is about the file that the line above names.
    """
    keyword, section = message.ranking.features.keyword, message.view.corpus.shape.section
    places = np.array([best, *rows], np.int32)
    shared, has_term = np.zeros(len(places), np.float32), np.zeros(len(section), bool)
    for units, weight in zip(keyword.units, keyword.idf, strict=True) if keyword is not None else ():
        has_term[:] = False
        has_term[units] = True
        shared += weight * (has_term[places] | has_term[section.searchsorted(section[places])])
    text, beside = message.ranking.query.question.text, section[places] == section[best]
    about = (message.worded[places] | beside) & (shared >= _ABOUT * shared[0]) & (shared[0] > 0)
    if names := identifiers_in_text(text):
        texts = index.texts(places)
        naming = [row for row, text in zip(places.tolist(), texts, strict=True) if any(name in text for name in names)]
        about |= np.isin(section[places], section[naming])
    return [row for row, is_about in zip(rows, about[1:].tolist(), strict=True) if is_about]
