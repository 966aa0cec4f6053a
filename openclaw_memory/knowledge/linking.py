"""The mentions and facts of a file's units: candidates of concepts, curated concepts, stated facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..model import ExtractedFact, Section, Unit
from ..store.api import Mention, OntologyRows, PendingText
from . import fact_extraction, mentions
from .concepts_file import spellings
from .matcher import NameMatcher


class Linker:
    """Finds mentions and facts, given the curated concepts; safe to use from several threads."""

    def __init__(self, ontology: OntologyRows) -> None:
        self._matcher = curated_matcher(ontology)

    def link(
        self, path: str, front: Mapping[str, Any], sections: Sequence[Section], units: Sequence[tuple[int, Unit]]
    ) -> Iterator[tuple[Sequence[Mention], Sequence[ExtractedFact]]]:
        """Yield the mentions and the facts of each unit of one file; a unit comes with the number of its section.

        Each section is read once for the rules of facts.  Mentions of the whole file are noted once a section, so that
        a search finds each section by them.
        """
        file = mentions.FileContext.for_texts([unit.text for _, unit in units if unit.form not in ("code", "machine")])
        in_front_matter = mentions.front_matter_mentions(front)
        person = fact_extraction.person_of_file(path, sections)
        section = -1
        context = fact_extraction.SectionContext()
        for at, unit in units:
            unit_mentions = mentions.candidates(unit, file)
            if at != section:
                unit_mentions += in_front_matter
                if section < 0:
                    unit_mentions += mentions.file_mentions(path)
                section = at
                context = fact_extraction.SectionContext.for_section(sections[section], person)
            unit_mentions += find_curated(self._matcher, unit.search_text)
            yield _distinct(unit_mentions), tuple(fact_extraction.extract(unit, context))


def curated_matcher(ontology: OntologyRows, keys: Iterable[int] | None = None) -> NameMatcher:
    """Return a matcher of the names and aliases of all curated concepts, or of those with ``keys``."""
    selected = None if keys is None else set(keys)
    return NameMatcher(
        (form, row.key)
        for row in ontology.concepts
        if selected is None or row.key in selected
        for form in dict.fromkeys(form for name in (row.name, *row.aliases) for form in spellings(name))
    )


def find_curated(matcher: NameMatcher, text: str) -> list[Mention]:
    """Return the mentions of curated concepts in ``text``."""
    return [Mention(match.key, match.name, "curated") for match in matcher.find(text)]


def curated_links(matcher: NameMatcher, texts: Sequence[PendingText]) -> Iterator[tuple[int, Mention]]:
    """Yield curated mentions in units' texts as (unit id, mention), each key once a unit."""
    for pending in texts:
        for mention in _distinct(find_curated(matcher, pending.text)):
            yield pending.unit_id, mention


def _distinct(all_mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    """Return each key once by rule: a curated mention stands beside a candidate."""
    return tuple({(mention.key, mention.rule == "curated"): mention for mention in reversed(all_mentions)}.values())
