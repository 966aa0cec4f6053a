"""Texts on their way to a model: no control tokens in them, and those of similar length together."""

from __future__ import annotations

import re
from collections.abc import Sequence

# A token of prose is far shorter than this, so what is cut off here would not reach the model anyway,
# and the regular expressions of BPE tokenizers, which can overflow their stack, never see a megabyte.
CHARS_PER_TOKEN = 64


def plain(text: str) -> str:
    """``text`` as a model may read it where control tokens are read: apart, they are text; it can be encoded."""
    written = text.encode("utf-8", "replace").decode("utf-8")
    return re.sub(r"(?<=[\[<])(?=(?:CLS|SEP|PAD|UNK|MASK)\]|[|/]?\w+[|]?>)", " ", written)


def packed(lengths: Sequence[int], budget: int, most: int = 64) -> list[list[int]]:
    """Positions in groups of similar length, shortest first, so that a batch computes little padding.

    A group has at most ``most`` of them, and at most ``budget`` of length.

    What is longer than ``budget`` is a group of its own.
    """
    groups: list[list[int]] = []
    size = budget
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        if not groups or size + lengths[i] > budget or len(groups[-1]) == most:
            groups.append([])
            size = 0
        groups[-1].append(i)
        size += lengths[i]
    return groups
