"""What changed in a period: keyed lines whose value at its end is not that at its begin."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from ..text import labels
from ..text.scripts import UNSPACED
from .sentences import Sentence

#: A key and a value: ``**Backup disk**: 2 TB``.  The colon of a time is none, and a longer value tells a story.
_KEYED = re.compile(
    r"[*_`]*([^\W\d_][^:：.;,。，；*_`|]{1,40}?)[*_`]*\s?(?::(?=[\s*_`])|：)[*_`]*\s*([^\s:：;。；][^:：;。；]{0,39})"
)
#: More than one word: a space or a hyphen, or four characters where nothing stands between words.
_SEVERAL = re.compile(rf"\w[\s-]\w|[{UNSPACED}]{{4}}")
_MARKS = re.compile(r"[\s*_`]+|[.。!！;；]+$")
#: Most changes that a summary tells of.
_MOST = 8


def of(sentences: Sequence[Sentence]) -> dict[int, int]:
    """The orders of the sentences that say how something was at first and at last, with a number for that thing.

    ``sentences`` are in order of time.  What is said twice on one day is a list, and a single word or a label that
    notes on any subject have ("IP", "Model", "Status") may be about another thing each time: neither is a state.
    """
    said: defaultdict[tuple[str | None, str], list[tuple[Sentence, str]]] = defaultdict(list)
    for one in sentences:
        found = _KEYED.fullmatch(one.text)
        if found is not None and _SEVERAL.search(found[1]) and not labels.is_label(found[1]):
            key = one.speaker, " ".join(found[1].casefold().split())
            said[key].append((one, _MARKS.sub(" ", found[2].casefold()).strip()))
    changed = []
    for states in said.values():
        days = [one.day for one, _ in states]
        if len(days) > 1 and len(set(days)) == len(days) and states[0][1] != states[-1][1]:
            changed.append((-len(days), states[0][0].order, states[-1][0].order))
    pairs = [(first, last) for _, first, last in sorted(changed)[:_MOST]]
    return {order: number for number, pair in enumerate(pairs) for order in pair}
