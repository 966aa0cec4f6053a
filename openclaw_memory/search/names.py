"""Match a question against the names of files and folders: in many notes the name is the title."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set

import numpy as np

from ..ingest.scan import CAPTURES
from ..model import Grain, Kind
from ..store.api import DocumentInfo, Floats, Ints
from ..system.mapped import Kept
from ..text import analysis, calendar_words
from ..text.dates import date_in_name

#: Value of the feature for a file that is named exactly, beside the shares of other names.
EXACT = 4.0


class DocumentNames(Kept):
    """The terms in the paths of documents, and the names by which a document may be asked for."""

    def __init__(self) -> None:
        self._terms: dict[int, frozenset[str]] = {}
        self._paths: dict[int, str] = {}
        self._ids: defaultdict[str, set[int]] = defaultdict(set)

    def refresh(self, documents: Mapping[int, DocumentInfo]) -> None:
        """Take over the current documents."""
        for gone in self._terms.keys() - documents.keys():
            del self._paths[gone]
            for term in self._terms.pop(gone):
                self._ids[term].discard(gone)
        for new in documents.keys() - self._terms.keys():
            self._paths[new] = f"/{_plain(documents[new].path)}"
            self._terms[new] = _terms(documents[new])
            for term in self._terms[new]:
                self._ids[term].add(new)

    def with_words(self, words: Sequence[tuple[str, ...]]) -> list[set[int]]:
        """Return for each word of a question, in any of its forms, the ids of documents whose path has it."""
        return [set().union(*[self._ids.get(form, ()) for form in word]) for word in words]

    def named_exactly(self, question: str) -> set[int]:
        """Return the ids of documents whose name or path is all of a question, with or without the suffix."""
        name = _plain(question).strip(" \t\n\"'`“”«»?.")
        ends = f"/{name}", f"/{name}.md"
        return {document for document, path in self._paths.items() if path.endswith(ends)}


def name_shares(weights: Floats, named: Sequence[Set[int]], exact: Set[int], documents: Ints) -> Floats | None:
    """Return the share of the question's ``weights`` that each row's path holds: ``float32[n]``, ``None`` for nothing.

    It is squared: a name that has one word of several is hardly what was asked for.
    """
    total = float(weights.sum())
    if not (exact or (total and any(named))):
        return None
    by_document = np.zeros(int(documents.max(initial=0)) + 1, np.float32)
    for weight, ids in zip(weights.tolist(), named, strict=True):
        by_document[list(ids)] += weight / total if total else 0.0
    np.square(by_document, out=by_document)
    by_document[list(exact)] = EXACT
    return by_document[documents]


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _terms(info: DocumentInfo) -> frozenset[str]:
    """Return the terms of a path, without those that only say when it was written or what kind of file it is."""
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
