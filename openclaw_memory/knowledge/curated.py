"""Curated concepts: what ``concepts.yaml`` in the workspace says of them."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from types import MappingProxyType
from typing import NoReturn

from ..errors import OpenClawMemoryError, WorkspaceError
from ..store.api import CuratedRow, OntologyRows
from ..system import atomic
from ..system.yaml_edit import Node, YamlTextError, list_items, parse
from .concept_keys import concept_key, name_keys, slug
from .matcher import keeps_case

#: Where curated concepts lie in a workspace.
FILE_NAME = "concepts.yaml"
#: Longest name, alias or kind, in characters.
LONGEST = 80
HEAVIEST = 10.0

GROUPS = ("concepts", "ignore", "single_valued")
FIELDS = ("name", "aliases", "parents", "kind", "related", "weight")
_PLURAL_WORD = re.compile(r"[A-Za-z]{3,}$")


class OntologyError(OpenClawMemoryError):
    """``concepts.yaml`` says something that makes no sense, or is asked to."""


@dataclass(frozen=True, slots=True)
class CuratedConcept:
    """A concept that a person or an agent named; ``parents`` and ``related`` are slugs.

    ``weight`` is in [0, 10], 1 being that of every other concept.
    """

    slug: str
    name: str
    aliases: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    kind: str | None = None
    weight: float = 1.0

    @property
    def key(self) -> int:
        """The concept's key, which is that of its slug; its name and aliases may have other keys."""
        return concept_key(self.slug)

    @property
    def spellings(self) -> tuple[str, ...]:
        """The name and the aliases."""
        return (self.name, *self.aliases)


@dataclass(frozen=True, slots=True)
class Ontology:
    """Curated concepts by slug, names that are to be no concepts, and predicates with one value at a time.

    A parent that has no entry of its own is a concept too.
    """

    concepts: Mapping[str, CuratedConcept] = field(default_factory=lambda: MappingProxyType({}))
    ignored: tuple[str, ...] = ()
    single_valued: tuple[str, ...] = ()

    def rows(self, version: int) -> OntologyRows:
        """The same as a store keeps it."""
        concepts = tuple(
            CuratedRow(
                key=concept.key,
                slug=concept.slug,
                name=concept.name,
                kind=concept.kind,
                weight=concept.weight,
                aliases=concept.aliases,
                parents=tuple(map(concept_key, concept.parents)),
                related=tuple(map(concept_key, concept.related)),
                keys=name_keys(concept.slug, *concept.spellings),
            )
            for concept in self.concepts.values()
        )
        return OntologyRows(concepts, tuple(map(concept_key, self.ignored)), self.single_valued, version)

    def by_key(self) -> dict[int, str]:
        """The slug of the concept that each key of a slug, name or alias stands for."""
        return {
            concept_key(text): concept.slug
            for concept in self.concepts.values()
            for text in (concept.slug, *concept.spellings)
        }

    def find(self, name: str) -> CuratedConcept | None:
        """The concept with this slug, name or alias in whatever spelling."""
        key = concept_key(name)
        for concept in self.concepts.values():
            if any(concept_key(text) == key for text in (concept.slug, *concept.spellings)):
                return concept
        return None


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """``concepts.yaml`` with where everything stands; ``entries`` are the values below ``concepts:`` by slug."""

    text: str
    root: Node | None
    entries: Mapping[str, Node]
    ontology: Ontology


def read(file: Path, redact: atomic.Redact = str) -> Ontology:
    """The curated concepts of ``file``; none when it is not there.

    A name that ``redact`` would change is left out, and so is a concept that is called so.
    Raises :class:`OntologyError` naming the file, the line, what is wrong there and what to do.
    """
    return load(file, redact).ontology


def load(file: Path, redact: atomic.Redact = str) -> ParsedFile:
    """What ``file`` says and where; raises as :func:`read`."""
    try:
        text = atomic.read(file).decode("utf-8-sig")
    except FileNotFoundError:
        text = ""
    except WorkspaceError as error:
        raise OntologyError(str(error)) from error
    except UnicodeDecodeError as error:
        raise OntologyError(f"{file}: is not UTF-8 (byte {error.start}); save it in that encoding") from error
    except OSError as error:
        raise OntologyError(f"{file}: cannot be read ({error.strerror or error}); make it a readable file") from error
    return parsed(text, file, redact)


def parsed(text: str, file: Path, redact: atomic.Redact = str) -> ParsedFile:
    """What ``text`` says and where; ``file`` is for messages.  Raises as :func:`read`."""
    try:
        root = parse(text)
    except YamlTextError as error:
        _fail(file, error.line, f"cannot be read ({error})", "mend that line")
    if root is None:
        return ParsedFile(text, None, {}, Ontology())
    _check_keys(root, GROUPS, file, "'concepts:'")
    entries: dict[str, Node] = {}
    concepts: dict[str, CuratedConcept] = {}
    lines: dict[str, int] = {}
    group = root.get("concepts")
    if group is not None and not group.nothing:
        if group.kind != "map":
            _fail(file, group.line, "'concepts' must be a mapping", "write one such as 'kubernetes: {aliases: [k8s]}'")
        for key, value in group.pairs:
            if _secret(key, redact) or (value.kind == "map" and _secret(value.get("name"), redact)):
                continue
            concept = _concept(key, value, file, redact)
            if concept.slug in concepts:
                other = lines[concept.slug]
                _fail(file, key.line, f"'{key.text}' stands in line {other} already", "make one entry of the two")
            entries[concept.slug], concepts[concept.slug], lines[concept.slug] = value, concept, key.line
    owners = _owners(concepts, lines, file)
    concepts = _with_parents(concepts, owners, lines, file)
    ignored = _texts(root.get("ignore"), "ignore", file, redact)
    for name in ignored:
        owner = owners.get(concept_key(name))
        if owner is not None:
            node = root.get("ignore") or root
            _fail(file, node.line, f"'{name}' is ignored and is a name of '{owner}'", "take it out of one of the two")
    single = _texts(root.get("single_valued"), "single_valued", file, redact, predicate=True)
    return ParsedFile(text, root, entries, Ontology(MappingProxyType(concepts), ignored, single))


def spellings(name: str) -> tuple[str, ...]:
    """``name``, its words with hyphens or spaces between them, and each of these in the plural.

    What counts only in its own case has no plural here, and neither has a word whose plural is another concept.
    """
    forms = dict.fromkeys((name, name.replace(" ", "-"), name.replace("-", " ")))
    if keeps_case(name):
        return tuple(forms)
    plurals = (plural for form in forms if (plural := _plural(form)) is not None)
    return tuple(dict.fromkeys((*forms, *(each for each in plurals if concept_key(each) == concept_key(name)))))


def clean(text: str) -> str:
    """A name with single spaces; raises ``ValueError`` saying why it cannot be one."""
    cleaned = " ".join(text.split())
    if not slug(cleaned):
        raise ValueError(f"'{cleaned}' has no letter or digit" if cleaned else "a name is empty")
    if len(cleaned) > LONGEST:
        raise ValueError(f"'{cleaned[:20]}…' is longer than {LONGEST} characters")
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in cleaned):
        raise ValueError(f"{cleaned!r} has a character that cannot be printed")
    return cleaned


def weight_of(given: str | float) -> float:
    """A weight; raises ``ValueError`` saying why it cannot be one."""
    try:
        weight = float(given)
    except ValueError:
        weight = math.nan
    if not 0 <= weight <= HEAVIEST:
        raise ValueError(f"a weight must be a number from 0 to {HEAVIEST:g}, not {given}")
    return weight


def meant(concepts: Mapping[str, CuratedConcept], owners: Mapping[int, str]) -> dict[str, CuratedConcept]:
    """``concepts`` with parents and related ones by the slug that each name means; nothing is related to itself.

    ``owners`` are the slugs by key as of :meth:`Ontology.by_key`.
    """

    def slugs(names: Iterable[str]) -> Iterator[str]:
        return (owners.get(concept_key(name), slug(name)) for name in names)

    return {
        own: replace(
            concept,
            parents=tuple(dict.fromkeys(slugs(concept.parents))),
            related=tuple(dict.fromkeys(other for other in slugs(concept.related) if other != own)),
        )
        for own, concept in concepts.items()
    }


def circle(concepts: Mapping[str, CuratedConcept]) -> tuple[str, ...]:
    """Concepts each of which is a parent of the one before it, back to the first; empty when there are none."""
    try:
        TopologicalSorter({own: concept.parents for own, concept in concepts.items()}).prepare()
    except CycleError as error:
        return tuple(reversed(error.args[1]))
    return ()


def _secret(node: Node | None, redact: atomic.Redact) -> bool:
    return node is not None and redact(node.text) != node.text


def _concept(key: Node, value: Node, file: Path, redact: atomic.Redact) -> CuratedConcept:
    own = slug(_clean(key, file, "its key"))
    if value.nothing:
        return CuratedConcept(own, _clean(key, file, "its key"))
    if value.kind != "map":
        _fail(file, value.line, f"'{key.text}' must be a mapping", "write one such as '{aliases: [k8s], kind: tool}'")
    _check_keys(value, FIELDS, file, f"'{key.text}'")
    given = {name.text: node for name, node in value.pairs if not node.nothing and not _secret(node, redact)}
    name = _clean(given.get("name", key), file, f"the name of '{key.text}'")
    kind = _clean(given["kind"], file, f"the kind of '{key.text}'").casefold() if "kind" in given else None
    weight = 1.0
    if "weight" in given:
        try:
            weight = weight_of(given["weight"].text)
        except ValueError as error:
            _fail(file, given["weight"].line, f"'{key.text}': {error}", "change it")
    lists = {each: _texts(given.get(each), each, file, redact) for each in ("aliases", "parents", "related")}
    aliases = tuple(alias for alias in lists["aliases"] if alias != name)
    return CuratedConcept(own, name, aliases, lists["parents"], lists["related"], kind, weight)


def _texts(
    node: Node | None, where: str, file: Path, redact: atomic.Redact, predicate: bool = False
) -> tuple[str, ...]:
    if node is None:
        return ()
    if node.kind == "map":
        _fail(file, node.line, f"'{where}' must be a list", "write one such as '[first, second]'")
    texts = (_clean(item, file, f"an item of '{where}'") for item in list_items(node) if not _secret(item, redact))
    return tuple(dict.fromkeys(text.casefold() if predicate else text for text in texts))


def _clean(node: Node, file: Path, what: str) -> str:
    if node.kind != "scalar" or node.nothing:
        _fail(file, node.line, f"{what} must be a text", "write a name, in quotes if YAML reads it as something else")
    try:
        return clean(node.text)
    except ValueError as error:
        _fail(file, node.line, f"{what}: {error}", "change it")


def _check_keys(node: Node, known: Sequence[str], file: Path, what: str) -> None:
    import difflib

    if node.kind != "map":
        _fail(file, node.line, "the top level must be a mapping", f"begin with a line such as {what}")
    for key, _ in node.pairs:
        if key.text not in known:
            near = difflib.get_close_matches(key.text, known, n=1)
            step = f"did you mean '{near[0]}'?" if near else f"valid are {', '.join(known)}"
            _fail(file, key.line, f"unknown key '{key.text}'", step)


def _owners(concepts: Mapping[str, CuratedConcept], lines: Mapping[str, int], file: Path) -> dict[int, str]:
    """The concept of each key; a name that two concepts share is an error."""
    owners: dict[int, str] = {}
    for concept in concepts.values():
        for text in (concept.slug, *concept.spellings):
            other = owners.setdefault(concept_key(text), concept.slug)
            if other != concept.slug:
                what = f"'{text}' names '{concept.slug}' and, in line {lines[other]}, '{other}'"
                _fail(
                    file, lines[concept.slug], what, "leave it to one of them (capitals and plurals are no difference)"
                )
    return owners


def _with_parents(
    concepts: Mapping[str, CuratedConcept], owners: dict[int, str], lines: Mapping[str, int], file: Path
) -> dict[str, CuratedConcept]:
    """The concepts with parents and related ones by slug, and parents without an entry added."""
    out = dict(concepts)
    for concept in concepts.values():
        for parent in concept.parents:
            if owners.setdefault(concept_key(parent), slug(parent)) not in out:
                out[slug(parent)] = CuratedConcept(slug(parent), parent)
    out = meant(out, owners)
    found = circle(out)
    if found:
        shown = " → ".join(found)
        _fail(file, lines[found[0]], f"parents go in a circle ({shown})", "take one of these parents out")
    return out


def _plural(text: str) -> str | None:
    if not _PLURAL_WORD.search(text):
        return None
    if text.endswith("y") and text[-2] not in "aeiou":
        return f"{text[:-1]}ies"
    return f"{text}es" if text.endswith(("s", "x", "z", "ch", "sh")) else f"{text}s"


def _fail(file: Path, line: int, what: str, step: str) -> NoReturn:
    raise OntologyError(f"{file}, line {line}: {what}; {step}")
