"""What changed in a period: what is at its end another than at its begin.

That is the value behind a key; of a fact that a sentence states, where one value holds at a time; and of a sentence
that says the same words again, its figures or that it denies.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ..facts.validity import alike, folded
from ..knowledge.concept_keys import concept_key
from ..knowledge.fact_sentences import Speech, facts_in
from ..knowledge.fact_words import every
from ..knowledge.predicates import is_single, normalise
from ..knowledge.routine import NAMELESS
from ..text import labels
from ..text.negation import negations
from ..text.scripts import UNSPACED
from .sentences import Sentence

#: A key and a value: ``**Backup disk**: 2 TB``.  The colon of a time is none, and a longer value tells a story.
_KEYED = re.compile(
    r"[*_`]*([^\W\d_][^:：.;,。，；*_`|]{1,40}?)[*_`]*\s?(?::(?=[\s*_`])|：)[*_`]*\s*([^\s:：;。；][^:：;。；]{0,39})"
)
#: More than one word: a space or a hyphen, or four characters where nothing stands between words.
_SEVERAL = re.compile(rf"\w[\s-]\w|[{UNSPACED}]{{4}}")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_SIGNS = re.compile(r"[^\w%€$£¥₽]+")
_WORD = re.compile(rf"[^\W\d_{UNSPACED}]{{2,}}|[{UNSPACED}]{{2}}")
_MARKS = re.compile(r"[\s*_`]+|[.。!！;；]+$")
#: Times and days, which are another each time.
_WHEN = re.compile(r"\d{1,4}(?:[:.-]\d{1,2}){1,2}(?!\d)|\d{1,2}\s?(?:[ap]m\b|[点點時时시])", re.IGNORECASE)
#: A value of more words tells a story; two characters are a word where nothing stands between words.
_MOST_WORDS = 6
#: A sentence has so many words of its own beside so many figures, or it is a list.
_CORE, _FIGURES = 2, 2
#: Most changes that a summary tells of.
_MOST = 8


def of(
    sentences: Sequence[Sentence], counts: Callable[[Sentence], bool] = lambda _: True
) -> list[tuple[Sentence, Sentence]]:
    """Pairs of the sentences that say how something was at first and at last, at most :data:`_MOST`.

    ``sentences`` are in order of time; those that do not ``counts`` are left out, which is asked only of what something
    else says the same of.  What is said twice on one day is a list, and a single word or a label that
    notes on any subject have ("IP", "Model", "Status") may be about another thing each time: neither is a state.
    """
    said: defaultdict[tuple[object, ...], list[tuple[int, Sentence, Sentence, str]]] = defaultdict(list)
    number = 0
    for one in sentences:
        for key, value, told in _states(one):
            said[one.speaker, *key].append((number := number + 1, one, told, value))
    told_again = [
        (key[1], group)
        for key, every in said.items()
        if len({value for *_, value in every}) > 1 and (group := [state for state in every if counts(state[1])])
    ]
    changed = []
    for kind, group in sorted(told_again, key=lambda one: one[1][0][0]):
        states = [(told, value) for *_, told, value in group]
        # A figure that is another each time is a reading, not a state.
        if kind == "words" and len(states) > 2 and len({value for _, value in states}) == len(states):
            continue
        days = [one.day for one, _ in states]
        apart = days[0] < days[-1] if kind == "fact" else len(set(days)) == len(days) > 1
        if (
            apart
            and (kind != "key" or _of_a_kind(states[0][1], states[-1][1]))
            and not alike(states[0][1], states[-1][1])
        ):
            first, last = states[0][0], states[-1][0]
            changed.append((kind != "fact", -len(days), first.day, first.order, last.order, first, last))
    changed.sort(key=lambda one: one[:5])
    pairs = {(first.order, last.order): (first, last) for *_, first, last in changed}
    return list(pairs.values())[:_MOST]


def _states(sentence: Sentence) -> Iterator[tuple[tuple[object, ...], str, Sentence]]:
    """What a sentence says the state of, the state, and the sentence with whom it is about."""
    text = sentence.text
    stated = False
    for fact in sentence.facts or facts_in(text, Speech()):
        if is_single(fact.predicate):
            named = fact.subject.casefold() in text.casefold()
            told = sentence if named else replace(sentence, text=f"{fact.subject}: {text}")
            yield ("fact", concept_key(fact.subject), normalise(fact.predicate)), folded(fact.object), told
            stated = True
    if stated:
        return
    found = _KEYED.fullmatch(text)
    if found is not None:
        if len(_WORD.findall(found[2])) > _MOST_WORDS:
            return
        if _SEVERAL.search(found[1]) and not labels.is_label(found[1]) and _names_a_thing(found[1]):
            yield ("key", " ".join(found[1].casefold().split())), _MARKS.sub(" ", found[2].casefold()).strip(), sentence
        return
    denied = negations(text)
    said = _WHEN.sub(" ", text.casefold())
    for one in sorted(denied, key=lambda one: (-len(one), one)):
        # In Chinese the first character denies what the next one says.
        if _UNSPACED.match(one):
            said = said.replace(one, one[1:])
        else:
            said = re.sub(rf"(?<!\w){re.escape(one)}(?!\w)", " ", said)
    figures = _FIGURE.findall(said)
    same = " ".join(_SIGNS.sub(" ", _FIGURE.sub("0", said)).split())
    if len(figures) <= _FIGURES and len(_WORD.findall(same)) >= _CORE:
        yield ("words", same), " ".join([*figures, *(["not"] if denied else [])]) or "so", sentence


def _of_a_kind(one: str, other: str) -> bool:
    """Whether two values are figures of the same, or both none."""
    if not (_FIGURE.search(one) or _FIGURE.search(other)):
        return True
    return _FIGURE.sub("0", one) == _FIGURE.sub("0", other)


def _names_a_thing(key: str) -> bool:
    """Whether a key is more than labels and ordinary words, and no entry of a numbered list."""
    words = key.casefold().split()
    ordinary = NAMELESS | every("done") | every("topics")
    return words[-1].isalpha() and len(words[-1]) > 1 and words[-1] != "id" and not ordinary.issuperset(words)
