"""What a file's units mention and state: candidates of concepts, curated concepts, facts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..model import Section
from ..plugins import redact
from ..store.api import Mention, OntologyRows, PendingText, PlannedUnit
from . import concepts
from . import facts as rules
from .curated import spellings
from .matcher import NameMatcher

#: What of a file counts, and for how much it is trusted.
_READING = 3

#: Of what make texts, mentions and facts are: another one has files read again.
EXTRACTION_VERSION = (concepts.VERSION, rules.VERSION, _READING, redact.VERSION)


def extraction(allow: Sequence[str] = ()) -> str:
    """How texts are read, with ``allow`` for ``redaction.allow``: files are read again where it is another."""
    allowed = "\0".join(sorted(allow)).encode("utf-8", "surrogatepass")
    return ".".join([*map(str, EXTRACTION_VERSION), hashlib.sha256(allowed).hexdigest()[:16]])


class Linker:
    """Finds mentions and facts, given the curated concepts; safe to use from several threads."""

    def __init__(self, ontology: OntologyRows) -> None:
        self._curated = matcher_of(ontology)

    def linked(
        self, path: str, front: Mapping[str, Any], sections: Sequence[Section], units: Sequence[PlannedUnit]
    ) -> list[PlannedUnit]:
        """``units`` of one file with what they mention and state."""
        of_front = concepts.of_front_matter(front)
        of_file = concepts.of_file(path)
        person = rules.subject_of(path, sections)
        out: list[PlannedUnit] = []
        section = -1
        above: dict[int, str] = {}
        texts = [planned.unit.text for planned in units if planned.unit.form not in ("code", "machine")]
        file = concepts.File.of(texts)
        for planned in units:
            unit = planned.unit
            found = concepts.candidates(unit, file)
            if planned.section != section:
                # What holds for the whole file is noted once in each section, so that each is found by it.
                found += of_front
                if section < 0:
                    found += of_file
                section = planned.section
                above = rules.parents(sections[section])
            found += curated(self._curated, unit.search_text)
            facts = rules.found(unit, sections[section].heading, person, above.get(unit.start_line, ""))
            out.append(replace(planned, mentions=_distinct(found), facts=tuple(facts)))
        return out


def matcher_of(ontology: OntologyRows, keys: Iterable[int] | None = None) -> NameMatcher:
    """A matcher of the names and aliases of curated concepts: of all, or of those with ``keys``."""
    wanted = None if keys is None else set(keys)
    return NameMatcher(
        (name, row.key)
        for row in ontology.concepts
        if wanted is None or row.key in wanted
        for name in dict.fromkeys(form for name in (row.name, *row.aliases) for form in spellings(name))
    )


def curated(matcher: NameMatcher, text: str) -> list[Mention]:
    """The curated concepts that ``text`` mentions."""
    return [Mention(found.key, found.name, "curated") for found in matcher.find(text)] if matcher else []


def links(matcher: NameMatcher, texts: Sequence[PendingText]) -> Iterator[tuple[int, Mention]]:
    """Curated mentions in units' texts, each key once a unit."""
    for pending in texts:
        for mention in _distinct(curated(matcher, pending.text)):
            yield pending.unit_id, mention


def _distinct(mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    """Each key once by rule: a curated mention stands beside the one that was found."""
    return tuple({(mention.key, mention.rule == "curated"): mention for mention in reversed(mentions)}.values())
