"""Reading and changing ``concepts.yaml``: what a person wrote in it stays as it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from ..system import atomic, yaml_edit
from ..system.yaml_edit import Node, list_items
from .concept_keys import concept_key, slug
from .curated import (
    FILE_NAME,
    CuratedConcept,
    Ontology,
    OntologyError,
    ParsedFile,
    circle,
    clean,
    load,
    meant,
    parsed,
    read,
    weight_of,
)

__all__ = [
    "FILE_NAME",
    "CuratedConcept",
    "Edited",
    "Ontology",
    "OntologyError",
    "add",
    "read",
    "remove",
]

_HEADER = """\
# Concepts that the memory knows by name.  Change them here, or with 'openclaw-memory concepts'.
# One concept:  kubernetes: {name: Kubernetes, aliases: [k8s], parents: [orchestration], kind: tool, weight: 1.0}
# 'ignore:' lists names that are no concepts, 'single_valued:' predicates of facts that have one value at a time.
"""


@dataclass(frozen=True, slots=True)
class Edited:
    """What an edit did: ``slug`` is the concept it was about, ``ontology`` what the file says now.

    ``removed``: a curated concept went; ``ignored``: the name was put under ``ignore:``.
    """

    action: Literal["added", "changed", "unchanged", "removed", "ignored"]
    slug: str
    ontology: Ontology


def add(
    file: Path,
    name: str,
    aliases: Iterable[str] = (),
    parents: Iterable[str] = (),
    kind: str | None = None,
    related: Iterable[str] = (),
    weight: float | None = None,
) -> Edited:
    """Add a concept, or add to the one that has this name or alias; made again, ``kind`` and ``weight`` replace.

    A parent that is no concept yet becomes one; a name that was ignored no longer is.  An empty ``kind`` takes
    the kind away.  Raises :class:`OntologyError` when the file is broken or would be, and
    :class:`~openclaw_memory.errors.WorkspaceError` when it cannot be written; it is then as it was.
    """
    aliases, parents, related = tuple(aliases), tuple(parents), tuple(related)

    def change(before: ParsedFile) -> _Change:
        concepts = dict(before.ontology.concepts)
        owners = before.ontology.by_key()
        old = concepts.get(owners.get(concept_key(name), ""))
        own = CuratedConcept(slug(_clean(name, file)), _clean(name, file)) if old is None else old
        concepts[own.slug] = own
        owners.setdefault(concept_key(own.slug), own.slug)
        wanted = [own.slug]
        for spelling in aliases:
            other = owners.setdefault(concept_key(_clean(spelling, file)), own.slug)
            if other != own.slug:
                raise OntologyError(
                    f"{file}: '{spelling}' already names the concept '{other}'; "
                    f"use another alias, or take it out of '{other}' first"
                )
        over = []
        for spelling in parents:
            above = owners.setdefault(concept_key(_clean(spelling, file)), slug(spelling))
            if above not in concepts:
                concepts[above] = CuratedConcept(above, _clean(spelling, file))
            over.append(above)
        beside = [owners.get(concept_key(_clean(each, file)), slug(each)) for each in related]
        if own.slug in beside:
            raise OntologyError(f"{file}: '{own.slug}' cannot be related to itself; name another concept")
        try:
            concepts[own.slug] = replace(
                own,
                aliases=_union(own.aliases, (_clean(each, file) for each in aliases), without=own.name),
                parents=_union(own.parents, over),
                related=_union(own.related, beside),
                kind=own.kind if kind is None else _clean(kind, file).casefold() if kind.strip() else None,
                weight=own.weight if weight is None else weight_of(weight),
            )
        except ValueError as error:
            raise OntologyError(f"{file}: {error}; change it") from error
        found = circle(concepts)
        if found:
            shown = " → ".join(found)
            raise OntologyError(f"{file}: the parents would go in a circle ({shown}); choose another parent")
        concepts = meant(concepts, owners)
        named = [concepts[each] for each in (*wanted, *over)]
        names = {concept_key(each) for concept in named for each in (concept.slug, *concept.spellings)}
        ignored = tuple(each for each in before.ontology.ignored if concept_key(each) not in names)
        after = replace(before.ontology, concepts=MappingProxyType(concepts), ignored=ignored)
        return _Change("added" if old is None else "changed", own.slug, after, (*wanted, *over))

    return _edit(file, change)


def remove(file: Path, name: str) -> Edited:
    """Take a curated concept out, from the parents and related ones of others too; ignore any other name.

    Raises as :func:`add`.
    """

    def change(before: ParsedFile) -> _Change:
        ontology = before.ontology
        gone = ontology.find(_clean(name, file))
        if gone is None:
            known = {concept_key(each) for each in ontology.ignored}
            more = () if concept_key(name) in known else (_clean(name, file),)
            return _Change("ignored", slug(name), replace(ontology, ignored=(*ontology.ignored, *more)), ())
        concepts = {
            each.slug: replace(
                each,
                parents=tuple(other for other in each.parents if other != gone.slug),
                related=tuple(other for other in each.related if other != gone.slug),
            )
            for each in ontology.concepts.values()
            if each is not gone
        }
        named = {other for each in concepts.values() for other in each.parents}
        concepts = {own: each for own, each in concepts.items() if own in before.entries or own in named}
        return _Change("removed", gone.slug, replace(ontology, concepts=MappingProxyType(concepts)), ())

    return _edit(file, change)


@dataclass(frozen=True, slots=True)
class _Change:
    """What an edit wants; concepts of ``entries`` get one of their own if they have none."""

    action: Literal["added", "changed", "removed", "ignored"]
    slug: str
    after: Ontology
    entries: tuple[str, ...]


def _edit(file: Path, change: Callable[[ParsedFile], _Change]) -> Edited:
    with atomic.locked(file, root=file.parent):
        before = load(file)
        wanted = change(before)
        if wanted.after == before.ontology and all(each in before.entries for each in wanted.entries):
            return Edited("unchanged", wanted.slug, before.ontology)
        text = _written(before, wanted)
        try:
            same = parsed(text, file).ontology == wanted.after
        except OntologyError:
            same = False
        if not same:
            raise OntologyError(
                f"{file}: '{wanted.slug}' cannot be changed by a command in the way this file is laid out; "
                "change it in an editor, or write each concept on a line of its own first"
            )
        atomic.replace(file, text)
        return Edited(wanted.action, wanted.slug, wanted.after)


def _written(before: ParsedFile, wanted: _Change) -> str:
    """The file's text with what ``wanted`` changes, and nothing else."""
    concepts, after = wanted.after.concepts, wanted.after
    new = {own: concepts[own] for own in dict.fromkeys(wanted.entries) if own not in before.entries}
    ignored = [each for each in after.ignored if each not in before.ontology.ignored]
    if before.root is None:
        return _first(before.text, new.values(), ignored)
    root, owners = before.root, after.by_key()

    def change(document: Any) -> None:
        group = document.get("concepts")
        if group is None and new:
            group = document["concepts"] = yaml_edit.mapping()
        for own, key in zip(before.entries, _keys(before, group), strict=True):
            old, now = before.ontology.concepts[own], concepts.get(own)
            if now is not None and now != old:
                group[key] = _changed_entry(group[key], before.entries[own], old, now, owners)
        yaml_edit.add(group, [(own, _fields(concept)) for own, concept in new.items()])
        node = root.get("ignore")
        if node is not None:
            gone = [" ".join(item.text.split()) not in after.ignored for item in list_items(node)]
            document["ignore"] = _changed_list(document["ignore"], gone, ignored)
        elif ignored:
            yaml_edit.add(document, [("ignore", ignored)])

    text = before.text
    changes = [concept for own, concept in before.ontology.concepts.items() if concepts.get(own, concept) != concept]
    if new or changes or after.ignored != before.ontology.ignored:
        text = yaml_edit.changed(text, change)
    if any(own not in concepts for own in before.entries):
        group = (yaml_edit.parse(text) or root).get("concepts")
        assert group is not None
        text = yaml_edit.without(text, group, [slug(key.text) not in concepts for key, _ in group.pairs])
    return text


def _keys(before: ParsedFile, group: Any) -> list[Any]:
    """The keys by which the entries stand in ``group``, the mapping of concepts: ``2026`` is a number there."""
    node = before.root and before.root.get("concepts")
    slugs = [slug(key.text) for key, _ in node.pairs] if node else []
    return [key for own, key in zip(slugs, group or (), strict=True) if own in before.entries]


def _first(text: str, new: Iterable[CuratedConcept], ignored: list[str]) -> str:
    """The text of a file that says nothing so far, but for its comments."""
    end = yaml_edit.line_break(text)
    entries = [f"  {yaml_edit.scalar(concept.slug)}: {yaml_edit.flow(_fields(concept))}" for concept in new]
    lines = [text.rstrip("\r\n")] if text.strip() else _HEADER.splitlines()
    lines += ["concepts:", *entries] if entries else []
    lines += [f"ignore: {yaml_edit.flow(ignored)}"] if ignored else []
    return end.join([*lines, ""])


def _fields(concept: CuratedConcept) -> dict[str, Any]:
    """What an entry says; nothing that is so anyway."""
    fields: dict[str, Any] = {
        "name": concept.name,
        "aliases": list(concept.aliases),
        "parents": list(concept.parents),
        "kind": concept.kind,
        "weight": None if concept.weight == 1 else concept.weight,
        "related": list(concept.related),
    }
    return {key: value for key, value in fields.items() if value not in (None, [])}


def _changed_entry(entry: Any, node: Node, old: CuratedConcept, now: CuratedConcept, owners: Mapping[int, str]) -> Any:
    """The entry of ``old``, which stands at ``node``, when it says ``now``."""
    entry = {} if entry is None else entry
    written, was = _fields(now), _fields(old)
    for field in dict.fromkeys((*was, *written)):
        if was.get(field) == written.get(field):
            continue
        there = node.get(field)
        if field not in written and node.flow:
            del entry[field]
        elif field not in written:
            entry[field] = None  # the remarks below it stay
        elif field in ("aliases", "parents", "related") and there is not None and not there.nothing:
            said = [_said(item, field, owners) for item in list_items(there)]
            # An alias is never taken away.
            gone = [field != "aliases" and item not in written[field] for item in said]
            entry[field] = _changed_list(entry[field], gone, [item for item in written[field] if item not in said])
        else:
            entry[field] = yaml_edit.value(written[field])
    return yaml_edit.value(entry) if node.nothing else entry


def _changed_list(items: Any, gone: Sequence[bool], more: Iterable[str]) -> Any:
    """The list ``items``, or that of the one text in its place, without what is ``gone`` and with ``more``."""
    items = items if isinstance(items, list) else yaml_edit.value([] if items is None else [items])
    for at in reversed(range(len(gone))):
        if gone[at]:
            del items[at]
    yaml_edit.add(items, [(None, each) for each in more])
    return items


def _said(item: Node, field: str, owners: Mapping[int, str]) -> str:
    """What an item of a list means: an alias itself, a parent or related concept its slug."""
    text = " ".join(item.text.split())
    return text if field == "aliases" else owners.get(concept_key(text), slug(text))


def _union(old: Iterable[str], more: Iterable[str], without: str = "") -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for each in (*old, *more) if each != without))


def _clean(text: str, file: Path) -> str:
    try:
        return clean(text)
    except ValueError as error:
        raise OntologyError(f"{file}: {error}; give another name") from error
