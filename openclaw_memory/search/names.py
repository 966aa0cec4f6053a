"""What the names of files and folders say: in many notes the name is the title."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set

import numpy as np

from ..ingest.scan import CAPTURES
from ..model import Grain, Kind
from ..store.api import DocumentInfo, Floats, Ints
from ..text import analysis, calendar_words
from ..text.dates import date_in_name

#: What the feature has for a file that is named exactly, beside the shares of other names.
EXACT = 4.0


class Names:
    """The words in the paths of documents, and the names by which somebody may ask for one."""

    def __init__(self) -> None:
        self._terms: dict[int, frozenset[str]] = {}
        self._paths: dict[int, str] = {}
        self._holding: defaultdict[str, set[int]] = defaultdict(set)

    def refresh(self, documents: Mapping[int, DocumentInfo]) -> None:
        """Take over the documents that there are."""
        for gone in self._terms.keys() - documents.keys():
            del self._paths[gone]
            for term in self._terms.pop(gone):
                self._holding[term].discard(gone)
        for new in documents.keys() - self._terms.keys():
            self._paths[new] = f"/{_plain(documents[new].path)}"
            self._terms[new] = _terms(documents[new])
            for term in self._terms[new]:
                self._holding[term].add(new)

    def holding(self, words: Sequence[tuple[str, ...]]) -> list[set[int]]:
        """For each word of a question, in any of its forms, the ids of documents whose path has it."""
        return [set().union(*(self._holding.get(form, ()) for form in word)) for word in words]

    def asked_for(self, question: str) -> set[int]:
        """The ids of documents that a question is nothing but the name or path of, with or without its suffix."""
        asked = _plain(question).strip(" \t\n\"'`“”«»?.")
        return {one for one, path in self._paths.items() if path.endswith((f"/{asked}", f"/{asked}.md"))}


def shares(weights: Floats, named: Sequence[Set[int]], exact: Set[int], documents: Ints) -> Floats | None:
    """Of each row the share of the question's ``weights`` that its path holds: ``float32[n]``, ``None`` for nothing.

    It is squared: a name that has one word of several is hardly what was asked for.
    """
    total = float(weights.sum())
    if not (exact or (total and any(named))):
        return None
    by_document = np.zeros(int(documents.max(initial=0)) + 1, np.float32)
    for weight, holding in zip(weights.tolist(), named, strict=True):
        by_document[list(holding)] += weight / total if total else 0.0
    np.square(by_document, out=by_document)
    by_document[list(exact)] = EXACT
    return by_document[documents]


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _terms(info: DocumentInfo) -> frozenset[str]:
    """The terms of a path; what only says when, or what kind of file it is, is none."""
    if info.kind is Kind.CURATED or info.grain is not Grain.WORKING or info.path.startswith(f"{CAPTURES}/"):
        return frozenset()
    path = unicodedata.normalize("NFC", info.path)
    text = (path[:-3] if path.lower().endswith(".md") else path).partition("/")[2].replace("/", " ")
    if date_in_name(path) is not None:
        text = "".join(" " if letter.isdecimal() else letter for letter in calendar_words.without_times(text))
    text = text.strip(" -_.")
    return (
        frozenset(analysis.terms(f"{text} {text.replace('_', ' ')}" if "_" in text else text)) if text else frozenset()
    )
