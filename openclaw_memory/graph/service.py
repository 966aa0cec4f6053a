"""List and curate the concepts of a workspace."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from ..errors import RequestError
from ..knowledge import concepts_file
from ..knowledge.concept_keys import concept_key
from ..model import ConceptRow, ConceptsResult, joined
from ..records import NamedTuple
from ..system import atomic
from . import evidence
from .network import SparseRows
from .view import GraphView

#: ``view(remarks=…)`` opens a context in which the graph is up to date with the files; warnings go to ``remarks``.
View = Callable[..., AbstractContextManager[GraphView]]


class ConceptService(NamedTuple):
    """Lists and curates concepts.

    ``changed()`` takes over the workspace's ``concepts.yaml`` and returns the number of references that changed;
    ``redact`` takes secrets out of a text; ``forgotten`` returns true for a name that must not be written again.
    """

    file: Path
    view: View
    changed: Callable[[], int]
    redact: atomic.Redact = str
    forgotten: Callable[[str], bool] = lambda text: False

    def list(self, kind: str | None = None, curated: bool = False, limit: int | None = None) -> ConceptsResult:
        """List concepts, those that matter most first; of one ``kind``, or only ``curated`` ones."""
        started = time.monotonic()
        remarks: list[str] = []
        with self.view(remarks=remarks) as view:
            labels = view.labels()
            chosen = [
                place
                for place, label in labels.items()
                if (kind is None or (label.kind or "").casefold() == kind.casefold())
                and (not curated or label.curated is not None)
            ]
            matters = view.salience()
            chosen.sort(key=lambda place: (labels[place].curated is None, -matters[place], labels[place].slug))
            rows = self._rows(view, chosen if limit is None else chosen[:limit])
        return ConceptsResult(rows, len(chosen), 0, (time.monotonic() - started) * 1000, joined(remarks))

    def add(
        self,
        name: str,
        *,
        aliases: Sequence[str] = (),
        parents: Sequence[str] = (),
        kind: str | None = None,
        related: Sequence[str] = (),
        weight: float | None = None,
    ) -> ConceptsResult:
        """Curate a concept, or add to one; existing units are linked to it at once.

        Raises :class:`~openclaw_memory.errors.RequestError` for a name that is a secret or was forgotten.
        """
        names = (name, *aliases, *parents, *related, kind or "")
        self._refuse_secrets(*names)
        if any(map(self.forgotten, names)):
            raise RequestError("a name given for the concept was forgotten and stays out of the memory; give another")
        return self._edited(
            lambda: concepts_file.add(
                self.file, name, aliases=tuple(aliases), parents=tuple(parents), kind=kind, related=tuple(related),
                weight=weight,
            )
        )  # fmt: skip

    def remove(self, name: str) -> ConceptsResult:
        """Remove a concept: a curated one leaves the file, a found one is ignored from now on.

        Raises :class:`~openclaw_memory.errors.RequestError` naming the closest ones when it is neither.
        """
        self._refuse_secrets(name)
        with self.view() as view:
            curated = concepts_file.read(self.file)
            ignored = {concept_key(each) for each in curated.ignored}
            if curated.find(name) is None and concept_key(name) not in ignored and concept_key(name):
                view.concept(name)
        return self._edited(lambda: concepts_file.remove(self.file, name))

    def _refuse_secrets(self, *names: str) -> None:
        if any(self.redact(name) != name for name in names):
            raise RequestError(
                "a name given for the concept is or holds a secret; give a name that may be read by anyone"
            )

    def _edited(self, edit: Callable[[], concepts_file.Edited]) -> ConceptsResult:
        started = time.monotonic()
        with self.view():
            pass  # so that the notes are in the index before they are linked again
        edited = edit()
        linked = self.changed()
        remarks: list[str] = []
        with self.view(remarks=remarks) as view:
            key = view.index.canonical(concept_key(edited.slug))
            rows = self._rows(view, view.index.references.concepts([key]).tolist())
        return ConceptsResult(rows, len(rows), linked, (time.monotonic() - started) * 1000, joined(remarks))

    def _rows(self, view: GraphView, places: Sequence[int]) -> tuple[ConceptRow, ...]:
        network, labels, days, references = view.network, view.labels(), view.days(), view.index.references

        def names(edges: SparseRows, place: int, most: int | None = None) -> tuple[str, ...]:
            return tuple(labels[other].name for other in edges.row(place)[0].tolist()[:most])

        def row(place: int) -> ConceptRow:
            label = labels[place]
            first, last = days[place]
            return ConceptRow(
                slug=label.slug,
                name=label.name,
                kind=label.kind,
                curated=label.curated is not None,
                units=int(view.index.references.units[place]),
                aliases=label.others,
                parents=names(network.parents, place),
                children=names(network.children, place),
                related=names(network.related, place, 5),
                first=first,
                last=last,
                reason=evidence.reason(references.counts[place], int(references.documents[place])),
            )

        return tuple(map(row, places))
