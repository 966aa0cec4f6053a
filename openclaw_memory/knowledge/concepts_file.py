"""Curated concepts: reading ``concepts.yaml`` of the workspace, and editing it so that all other text stays."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NoReturn

from ..errors import OpenClawMemoryError, WorkspaceError
from ..records import NamedTuple, dataclass
from ..store.api import CuratedRow, OntologyRows
from ..system import atomic, yaml_edit
from ..system.yaml_edit import Node, YamlTextError, list_items
from .concept_keys import concept_key, name_keys, slug
from .matcher import keeps_case

#: Longest name, alias or kind, in characters, and the largest weight.
_LONGEST, _HEAVIEST = 80, 10.0
_HEADER = """\
# Concepts that the memory knows by name.  Change them here, or with 'openclaw-memory concepts'.
# One concept:  kubernetes: {name: Kubernetes, aliases: [k8s], parents: [orchestration], kind: tool, weight: 1.0}
# 'ignore:' lists names that are no concepts, 'single_valued:' predicates of facts that have one value at a time.
"""


class OntologyError(OpenClawMemoryError):
    """``concepts.yaml`` is invalid, or an edit would make it so."""


@dataclass(frozen=True, slots=True)
class CuratedConcept:
    """A concept that a person or an agent named; ``parents`` and ``related`` are slugs, ``weight`` is in [0, 10]."""

    slug: str
    name: str
    aliases: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    kind: str | None = None
    weight: float = 1.0

    @property
    def spellings(self) -> tuple[str, ...]:
        """The name and the aliases."""
        return (self.name, *self.aliases)


@dataclass(frozen=True, slots=True)
class Ontology:
    """Curated concepts by slug, ignored names, and predicates with one value at a time.

    A parent without an entry of its own is a concept too.
    """

    concepts: Mapping[str, CuratedConcept] = field(default_factory=lambda: MappingProxyType({}))
    ignored: tuple[str, ...] = ()
    single_valued: tuple[str, ...] = ()

    def rows(self, version: int) -> OntologyRows:
        """Return the rows that a store keeps."""
        concepts = tuple(
            CuratedRow(
                key=concept_key(concept.slug),
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

    def slugs_by_key(self) -> dict[int, str]:
        """Return the slug of the concept for each key of a slug, name or alias."""
        return {
            concept_key(text): concept.slug
            for concept in self.concepts.values()
            for text in (concept.slug, *concept.spellings)
        }

    def find(self, name: str) -> CuratedConcept | None:
        """Return the concept with this slug, name or alias in any spelling."""
        return self.concepts.get(self.slugs_by_key().get(concept_key(name), ""))


class _ParsedFile(NamedTuple):
    """``concepts.yaml`` with the place of everything; ``entries`` are the nodes below ``concepts:`` by slug."""

    text: str
    root: Node | None
    entries: Mapping[str, Node]
    ontology: Ontology


# -- reading --------------------------------------------------------------------------------------


def read(file: Path, redact: atomic.Redact = str) -> Ontology:
    """Return the curated concepts of ``file``; none when it does not exist.

    Names that ``redact`` would change are left out, with the concepts that bear them.  Raises :class:`OntologyError`
    naming the file, the line, the mistake and the next step.
    """
    return _load(file, redact).ontology


def _load(file: Path, redact: atomic.Redact = str) -> _ParsedFile:
    try:
        text = atomic.read_bytes(file).decode("utf-8-sig")
    except FileNotFoundError:
        text = ""
    except WorkspaceError as error:
        raise OntologyError(str(error)) from error
    except UnicodeDecodeError as error:
        raise OntologyError(f"{file}: is not UTF-8 (byte {error.start}); save it in that encoding") from error
    except OSError as error:
        raise OntologyError(f"{file}: cannot be read ({error.strerror or error}); make it a readable file") from error
    return _parse(text, file, redact)


def _parse(text: str, file: Path, redact: atomic.Redact = str) -> _ParsedFile:
    """Parse ``text``; ``file`` is for messages."""
    try:
        root = yaml_edit.parse(text)
    except YamlTextError as error:
        _fail(file, error.line, f"cannot be read ({error})", "mend that line")
    if root is None:
        return _ParsedFile(text, None, {}, Ontology())
    _check_keys(root, ("concepts", "ignore", "single_valued"), file, "'concepts:'")
    entries: dict[str, Node] = {}
    concepts: dict[str, CuratedConcept] = {}
    lines: dict[str, int] = {}
    group = root.get("concepts")
    if group is not None and not group.is_null:
        if group.kind != "map":
            _fail(file, group.line, "'concepts' must be a mapping", "write one such as 'kubernetes: {aliases: [k8s]}'")
        for key, value in group.pairs:
            if _is_secret(key, redact) or (value.kind == "map" and _is_secret(value.get("name"), redact)):
                continue
            concept = _parse_concept(key, value, file, redact)
            if concept.slug in concepts:
                other = lines[concept.slug]
                _fail(file, key.line, f"'{key.text}' stands in line {other} already", "make one entry of the two")
            entries[concept.slug], concepts[concept.slug], lines[concept.slug] = value, concept, key.line
    slugs = _unique_slugs(concepts, lines, file)
    concepts = _with_parents(concepts, slugs, lines, file)
    ignored = _parse_list(root.get("ignore"), "ignore", file, redact)
    for name in ignored:
        if concept_key(name) in slugs:
            node, what = (
                root.get("ignore") or root,
                f"'{name}' is ignored and is a name of '{slugs[concept_key(name)]}'",
            )
            _fail(file, node.line, what, "take it out of one of the two")
    predicates = _parse_list(root.get("single_valued"), "single_valued", file, redact)
    single_valued = tuple(dict.fromkeys(map(str.casefold, predicates)))
    return _ParsedFile(text, root, entries, Ontology(MappingProxyType(concepts), ignored, single_valued))


def _is_secret(node: Node | None, redact: atomic.Redact) -> bool:
    return node is not None and redact(node.text) != node.text


def _parse_concept(key: Node, value: Node, file: Path, redact: atomic.Redact) -> CuratedConcept:
    key_name = _parse_name(key, file, "its key")
    if value.is_null:
        return CuratedConcept(slug(key_name), key_name)
    if value.kind != "map":
        _fail(file, value.line, f"'{key.text}' must be a mapping", "write one such as '{aliases: [k8s], kind: tool}'")
    _check_keys(value, ("name", "aliases", "parents", "kind", "related", "weight"), file, f"'{key.text}'")
    nodes = {name.text: node for name, node in value.pairs if not node.is_null and not _is_secret(node, redact)}
    name = _parse_name(nodes.get("name", key), file, f"the name of '{key.text}'")
    kind = _parse_name(nodes["kind"], file, f"the kind of '{key.text}'").casefold() if "kind" in nodes else None
    weight = 1.0
    if "weight" in nodes:
        try:
            weight = _parse_weight(nodes["weight"].text)
        except ValueError as error:
            _fail(file, nodes["weight"].line, f"'{key.text}': {error}", "change it")
    aliases, parents, related = (
        _parse_list(nodes.get(each), each, file, redact) for each in ("aliases", "parents", "related")
    )
    return CuratedConcept(slug(key_name), name, _union(aliases, without=name), parents, related, kind, weight)


def _parse_list(node: Node | None, where: str, file: Path, redact: atomic.Redact) -> tuple[str, ...]:
    if node is None:
        return ()
    if node.kind == "map":
        _fail(file, node.line, f"'{where}' must be a list", "write one such as '[first, second]'")
    items = (item for item in list_items(node) if not _is_secret(item, redact))
    return tuple(dict.fromkeys(_parse_name(item, file, f"an item of '{where}'") for item in items))


def _parse_name(node: Node, file: Path, what: str) -> str:
    if node.kind != "scalar" or node.is_null:
        _fail(file, node.line, f"{what} must be a text", "write a name, in quotes if YAML reads it as something else")
    try:
        return _clean_name(node.text)
    except ValueError as error:
        _fail(file, node.line, f"{what}: {error}", "change it")


def _clean_name(text: str) -> str:
    """Return a name with single spaces; raises ``ValueError`` with the reason why it cannot be one."""
    name = " ".join(text.split())
    if not slug(name):
        raise ValueError(f"'{name}' has no letter or digit" if name else "a name is empty")
    if len(name) > _LONGEST:
        raise ValueError(f"'{name[:20]}…' is longer than {_LONGEST} characters")
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in name):
        raise ValueError(f"{name!r} has a character that cannot be printed")
    return name


def _parse_weight(text: str | float) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not 0 <= weight <= _HEAVIEST:
        raise ValueError(f"a weight must be a number from 0 to {_HEAVIEST:g}, not {text}")
    return weight


def _check_keys(node: Node, valid: Sequence[str], file: Path, example: str) -> None:
    import difflib

    if node.kind != "map":
        _fail(file, node.line, "the top level must be a mapping", f"begin with a line such as {example}")
    for key, _ in node.pairs:
        if key.text not in valid:
            near = difflib.get_close_matches(key.text, valid, n=1)
            step = f"did you mean '{near[0]}'?" if near else f"valid are {', '.join(valid)}"
            _fail(file, key.line, f"unknown key '{key.text}'", step)


def _unique_slugs(concepts: Mapping[str, CuratedConcept], lines: Mapping[str, int], file: Path) -> dict[int, str]:
    """Return the slug of the concept for each key; raises where two concepts share a name."""
    slugs: dict[int, str] = {}
    for concept in concepts.values():
        for text in (concept.slug, *concept.spellings):
            other = slugs.setdefault(concept_key(text), concept.slug)
            if other != concept.slug:
                what = f"'{text}' names '{concept.slug}' and, in line {lines[other]}, '{other}'"
                step = "leave it to one of them (capitals and plurals are no difference)"
                _fail(file, lines[concept.slug], what, step)
    return slugs


def _with_parents(
    concepts: Mapping[str, CuratedConcept], slugs: dict[int, str], lines: Mapping[str, int], file: Path
) -> dict[str, CuratedConcept]:
    """Return the concepts with names of others as slugs, and with parents that have no entry."""
    out = dict(concepts)
    for concept in concepts.values():
        for parent in concept.parents:
            if slugs.setdefault(concept_key(parent), slug(parent)) not in out:
                out[slug(parent)] = CuratedConcept(slug(parent), parent)
    out = _resolve_names(out, slugs)
    cycle = _find_cycle(out)
    if cycle:
        shown = " → ".join(cycle)
        _fail(file, lines[cycle[0]], f"parents go in a circle ({shown})", "take one of these parents out")
    return out


def _resolve_names(concepts: Mapping[str, CuratedConcept], slugs: Mapping[int, str]) -> dict[str, CuratedConcept]:
    """Return ``concepts`` with parents and related ones as slugs; a concept is not related to itself."""

    def resolve(names: Iterable[str]) -> Iterator[str]:
        return (slugs.get(concept_key(name), slug(name)) for name in names)

    return {
        concept.slug: replace(
            concept,
            parents=_union(resolve(concept.parents)),
            related=_union(resolve(concept.related), without=concept.slug),
        )
        for concept in concepts.values()
    }


def _find_cycle(concepts: Mapping[str, CuratedConcept]) -> tuple[str, ...]:
    """Return slugs each of which is a parent of the one before it, back to the first; empty without a cycle."""
    try:
        TopologicalSorter({slug: concept.parents for slug, concept in concepts.items()}).prepare()
    except CycleError as error:
        return tuple(reversed(error.args[1]))
    return ()


def _union(*lists: Iterable[str], without: str = "") -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for texts in lists for text in texts if text != without))


def _fail(file: Path, line: int, what: str, step: str) -> NoReturn:
    raise OntologyError(f"{file}, line {line}: {what}; {step}")


def spellings(name: str) -> tuple[str, ...]:
    """Return ``name``, its words with hyphens or spaces between them, and the plurals of these.

    A name that counts only in its own case has no plural here, and neither has one whose plural is another concept.
    """
    forms = dict.fromkeys((name, name.replace(" ", "-"), name.replace("-", " ")))
    if keeps_case(name):
        return tuple(forms)
    plurals = [plural for form in forms if (plural := _plural(form)) and concept_key(plural) == concept_key(name)]
    return tuple(dict.fromkeys((*forms, *plurals)))


def _plural(text: str) -> str | None:
    if not re.search(r"[A-Za-z]{3,}$", text):
        return None
    if text.endswith("y") and text[-2] not in "aeiou":
        return f"{text[:-1]}ies"
    return f"{text}es" if text.endswith(("s", "x", "z", "ch", "sh")) else f"{text}s"


# -- editing --------------------------------------------------------------------------------------


class Edited(NamedTuple):
    """The result of an edit of the concept ``slug``; ``ontology`` is the file's content now.

    ``removed`` means that a curated concept is gone, ``ignored`` that the name stands under ``ignore:``.
    """

    action: Literal["added", "changed", "unchanged", "removed", "ignored"]
    slug: str
    ontology: Ontology


class _Change(NamedTuple):
    """An edit to be written; concepts of ``entries`` without an entry get one."""

    action: Literal["added", "changed", "removed", "ignored"]
    slug: str
    after: Ontology
    entries: tuple[str, ...] = ()


def add(
    file: Path,
    name: str,
    aliases: Iterable[str] = (),
    parents: Iterable[str] = (),
    kind: str | None = None,
    related: Iterable[str] = (),
    weight: float | None = None,
) -> Edited:
    """Add a concept, or extend the one with this name or alias; a given ``kind`` or ``weight`` replaces the old one.

    A parent that is no concept becomes one; an ignored name is no longer ignored; an empty ``kind`` removes the kind.
    Raises :class:`OntologyError` when the file is invalid or would be, and
    :class:`~openclaw_memory.errors.WorkspaceError` when it cannot be written; it then stays unchanged.
    """

    def change(before: _ParsedFile) -> _Change:
        concepts = dict(before.ontology.concepts)
        slugs = before.ontology.slugs_by_key()
        old = concepts.get(slugs.get(concept_key(name), ""))
        concept = CuratedConcept(slug(_clean(name, file)), _clean(name, file)) if old is None else old
        concepts[concept.slug] = concept
        slugs.setdefault(concept_key(concept.slug), concept.slug)
        new_aliases = [_clean(alias, file) for alias in aliases]
        for alias in new_aliases:
            other = slugs.setdefault(concept_key(alias), concept.slug)
            if other != concept.slug:
                raise OntologyError(
                    f"{file}: '{alias}' already names the concept '{other}'; "
                    f"use another alias, or take it out of '{other}' first"
                )
        new_parents = []
        for parent in (_clean(parent, file) for parent in parents):
            above = slugs.setdefault(concept_key(parent), slug(parent))
            concepts.setdefault(above, CuratedConcept(above, parent))
            new_parents.append(above)
        new_related = [slugs.get(concept_key(other), slug(other)) for other in (_clean(each, file) for each in related)]
        if concept.slug in new_related:
            raise OntologyError(f"{file}: '{concept.slug}' cannot be related to itself; name another concept")
        try:
            concepts[concept.slug] = replace(
                concept,
                aliases=_union(concept.aliases, new_aliases, without=concept.name),
                parents=_union(concept.parents, new_parents),
                related=_union(concept.related, new_related),
                kind=concept.kind if kind is None else _clean(kind, file).casefold() if kind.strip() else None,
                weight=concept.weight if weight is None else _parse_weight(weight),
            )
        except ValueError as error:
            raise OntologyError(f"{file}: {error}; change it") from error
        if cycle := _find_cycle(concepts):
            shown = " → ".join(cycle)
            raise OntologyError(f"{file}: the parents would go in a circle ({shown}); choose another parent")
        concepts = _resolve_names(concepts, slugs)
        entries = (concept.slug, *new_parents)
        keys = {concept_key(text) for each in entries for text in (each, *concepts[each].spellings)}
        ignored = tuple(each for each in before.ontology.ignored if concept_key(each) not in keys)
        after = replace(before.ontology, concepts=MappingProxyType(concepts), ignored=ignored)
        return _Change("added" if old is None else "changed", concept.slug, after, entries)

    return _edit(file, change)


def remove(file: Path, name: str) -> Edited:
    """Remove a curated concept, also as a parent or relative of others; ignore any other name.

    Raises as :func:`add`.
    """

    def change(before: _ParsedFile) -> _Change:
        ontology = before.ontology
        removed = ontology.find(_clean(name, file))
        if removed is None:
            ignored = ontology.ignored
            if concept_key(name) not in map(concept_key, ignored):
                ignored = (*ignored, _clean(name, file))
            return _Change("ignored", slug(name), replace(ontology, ignored=ignored))
        concepts = [
            replace(
                concept,
                parents=_union(concept.parents, without=removed.slug),
                related=_union(concept.related, without=removed.slug),
            )
            for concept in ontology.concepts.values()
            if concept is not removed
        ]
        parents = {parent for concept in concepts for parent in concept.parents}
        kept = {each.slug: each for each in concepts if each.slug in before.entries or each.slug in parents}
        return _Change("removed", removed.slug, replace(ontology, concepts=MappingProxyType(kept)))

    return _edit(file, change)


def _clean(text: str, file: Path) -> str:
    try:
        return _clean_name(text)
    except ValueError as error:
        raise OntologyError(f"{file}: {error}; give another name") from error


def _edit(file: Path, make_change: Callable[[_ParsedFile], _Change]) -> Edited:
    with atomic.locked(file, root=file.parent):
        before = _load(file)
        change = make_change(before)
        if change.after == before.ontology and all(entry in before.entries for entry in change.entries):
            return Edited("unchanged", change.slug, before.ontology)
        text = _write(before, change)
        try:
            faithful = _parse(text, file).ontology == change.after
        except OntologyError:
            faithful = False
        if not faithful:
            raise OntologyError(
                f"{file}: '{change.slug}' cannot be changed by a command in the way this file is laid out; "
                "change it in an editor, or write each concept on a line of its own first"
            )
        atomic.write_text(file, text)
        return Edited(change.action, change.slug, change.after)


def _write(before: _ParsedFile, change: _Change) -> str:
    """Return the file's text after ``change``, which touches nothing else."""
    concepts, after = change.after.concepts, change.after
    new = [concepts[each] for each in dict.fromkeys(change.entries) if each not in before.entries]
    ignored = [name for name in after.ignored if name not in before.ontology.ignored]
    if before.root is None:
        return _write_first(before.text, new, ignored)
    root, slugs = before.root, after.slugs_by_key()

    def edit(document: Any) -> None:
        group = document.get("concepts")
        if group is None and new:
            group = document["concepts"] = yaml_edit.new_mapping()
        for entry, key in zip(before.entries, _entry_keys(before, group), strict=True):
            old, now = before.ontology.concepts[entry], concepts.get(entry)
            if now is not None and now != old:
                group[key] = _edit_entry(group[key], before.entries[entry], old, now, slugs)
        yaml_edit.append_items(group, [(concept.slug, _fields(concept)) for concept in new])
        node = root.get("ignore")
        if node is not None:
            gone = [" ".join(item.text.split()) not in after.ignored for item in list_items(node)]
            document["ignore"] = _edit_list(document["ignore"], gone, ignored)
        elif ignored:
            yaml_edit.append_items(document, [("ignore", ignored)])

    text = before.text
    changed = any(concepts.get(each, concept) != concept for each, concept in before.ontology.concepts.items())
    if new or changed or after.ignored != before.ontology.ignored:
        text = yaml_edit.edit(text, edit)
    if any(entry not in concepts for entry in before.entries):
        group = (yaml_edit.parse(text) or root).get("concepts")
        assert group is not None
        text = yaml_edit.remove_items(text, group, [slug(key.text) not in concepts for key, _ in group.pairs])
    return text


def _entry_keys(before: _ParsedFile, group: Any) -> list[Any]:
    """Return the keys of the entries in ``group``, the mapping of concepts: ``2026`` is a number there."""
    node = before.root and before.root.get("concepts")
    slugs = [slug(key.text) for key, _ in node.pairs] if node else []
    return [key for each, key in zip(slugs, group or (), strict=True) if each in before.entries]


def _write_first(text: str, new: Iterable[CuratedConcept], ignored: list[str]) -> str:
    """Return the text of a file that has no entries yet, perhaps comments."""
    entries = [f"  {yaml_edit.dump_scalar(concept.slug)}: {yaml_edit.dump_flow(_fields(concept))}" for concept in new]
    lines = [text.rstrip("\r\n")] if text.strip() else _HEADER.splitlines()
    lines += ["concepts:", *entries] if entries else []
    lines += [f"ignore: {yaml_edit.dump_flow(ignored)}"] if ignored else []
    return yaml_edit.line_break(text).join([*lines, ""])


def _fields(concept: CuratedConcept) -> dict[str, Any]:
    """Return the fields of an entry, without defaults."""
    fields: dict[str, Any] = {
        "name": concept.name,
        "aliases": list(concept.aliases),
        "parents": list(concept.parents),
        "kind": concept.kind,
        "weight": None if concept.weight == 1 else concept.weight,
        "related": list(concept.related),
    }
    return {key: value for key, value in fields.items() if value not in (None, [])}


def _edit_entry(entry: Any, node: Node, old: CuratedConcept, now: CuratedConcept, slugs: Mapping[int, str]) -> Any:
    """Return the entry of ``old``, which stands at ``node``, with the fields of ``now``."""
    entry = {} if entry is None else entry
    fields, old_fields = _fields(now), _fields(old)
    for name in dict.fromkeys((*old_fields, *fields)):
        if old_fields.get(name) == fields.get(name):
            continue
        place = node.get(name)
        if name not in fields and node.flow:
            del entry[name]
        elif name not in fields:
            entry[name] = None  # the remarks below it stay
        elif name in ("aliases", "parents", "related") and place is not None and not place.is_null:
            texts = [" ".join(item.text.split()) for item in list_items(place)]
            items = texts if name == "aliases" else [slugs.get(concept_key(text), slug(text)) for text in texts]
            # An alias is never removed.
            gone = [name != "aliases" and item not in fields[name] for item in items]
            entry[name] = _edit_list(entry[name], gone, [item for item in fields[name] if item not in items])
        else:
            entry[name] = yaml_edit.to_yaml(fields[name])
    return yaml_edit.to_yaml(entry) if node.is_null else entry


def _edit_list(items: Any, gone: Sequence[bool], more: Iterable[str]) -> Any:
    """Return ``items``, or the list of a single text, without those ``gone`` and with ``more``."""
    items = items if isinstance(items, list) else yaml_edit.to_yaml([] if items is None else [items])
    for at in reversed(range(len(gone))):
        if gone[at]:
            del items[at]
    yaml_edit.append_items(items, [(None, each) for each in more])
    return items
