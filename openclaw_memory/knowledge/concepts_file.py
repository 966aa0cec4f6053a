"""Reading and changing ``concepts.yaml``: what a person wrote in it stays as it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from ..system import atomic, yaml_edit
from ..system.yaml_edit import Edit, Node, list_items
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
    "alias",
    "parent",
    "read",
    "remove",
]

_HEADER = """\
# Concepts that the memory knows by name.  Change them here, or with 'openclaw-memory concepts'.
# One concept:  kubernetes: {name: Kubernetes, aliases: [k8s], parents: [orchestration], kind: tool, weight: 1.0}
# 'ignore:' lists names that are no concepts, 'single_valued:' predicates of facts that have one value at a time.
"""
_LISTS = ("aliases", "parents", "related")


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
        names = {concept_key(each) for slug_ in (*wanted, *over) for each in _all_names(concepts[slug_])}
        ignored = tuple(each for each in before.ontology.ignored if concept_key(each) not in names)
        after = replace(before.ontology, concepts=MappingProxyType(concepts), ignored=ignored)
        return _Change("added" if old is None else "changed", own.slug, after, (*wanted, *over))

    return _edit(file, change)


def alias(file: Path, name: str, aliases: Iterable[str]) -> Edited:
    """Add aliases to a concept, which becomes a curated one if it is none; raises as :func:`add`."""
    return add(file, name, aliases=aliases)


def parent(file: Path, name: str, parents: Iterable[str]) -> Edited:
    """Put a concept below others, which become curated ones if they are none; raises as :func:`add`."""
    return add(file, name, parents=parents)


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
    text, root = before.text, before.root
    concepts, after = wanted.after.concepts, wanted.after
    new = [(each, _entry(concepts[each])) for each in dict.fromkeys(wanted.entries) if each not in before.entries]
    more = [each for each in after.ignored if each not in before.ontology.ignored]
    if root is None:
        return _first(text, new, more)
    # Of additions at the same place the innermost come first.
    edits: list[Edit] = []
    owners = after.by_key()
    for own, entry in before.entries.items():
        old, now = before.ontology.concepts[own], concepts.get(own)
        if now is not None and now != old:
            edits += _entry_edits(text, entry, old, now, owners)
    group = root.get("concepts")
    if group is not None:
        out = {id(entry) for own, entry in before.entries.items() if own not in concepts}
        edits += yaml_edit.delete(text, group, [id(value) in out for _, value in group.pairs])
    edits += yaml_edit.insert_in_group(text, root, "concepts", new)
    ignore = root.get("ignore")
    if ignore is not None:
        gone = [" ".join(item.text.split()) not in after.ignored for item in list_items(ignore)]
        edits += yaml_edit.change_items(text, ignore, gone, more)
    elif more:
        edits += yaml_edit.insert_pairs(text, root, [("ignore", yaml_edit.flow_list(more))], indent=0, block=True)
    return yaml_edit.apply(text, edits)


def _first(text: str, new: list[tuple[str, str]], ignored: list[str]) -> str:
    """The text of a file that says nothing so far, but for its comments."""
    end = yaml_edit.line_break(text)
    lines = [text.rstrip("\r\n")] if text.strip() else _HEADER.splitlines()
    lines += ["concepts:", *(f"  {yaml_edit.scalar(own)}: {entry}" for own, entry in new)] if new else []
    lines += [f"ignore: {yaml_edit.flow_list(ignored)}"] if ignored else []
    return end.join([*lines, ""])


def _entry(concept: CuratedConcept) -> str:
    return yaml_edit.flow_map((key, value) for key, value in _fields(concept).items() if value)


def _fields(concept: CuratedConcept) -> dict[str, str]:
    """Each field in YAML; empty where it says nothing that is not so anyway."""
    lists = {each: yaml_edit.flow_list(getattr(concept, each)) if getattr(concept, each) else "" for each in _LISTS}
    return {
        "name": yaml_edit.scalar(concept.name),
        "aliases": lists["aliases"],
        "parents": lists["parents"],
        "kind": yaml_edit.scalar(concept.kind) if concept.kind else "",
        "weight": repr(concept.weight) if concept.weight != 1 else "",
        "related": lists["related"],
    }


def _entry_edits(
    text: str, entry: Node, old: CuratedConcept, now: CuratedConcept, owners: Mapping[int, str]
) -> list[Edit]:
    """Edits that make the entry of ``old`` say ``now``."""
    written, was = _fields(now), _fields(old)
    changed = [each for each in written if written[each] != was[each]]
    missing = [(each, written[each]) for each in changed if entry.get(each) is None]
    edits: list[Edit] = []
    emptied: set[str] = set()
    for each in changed:
        node = entry.get(each)
        if node is None:
            continue
        if not written[each] and not missing and each != "weight":
            emptied.add(each)
        elif not written[each]:
            edits += yaml_edit.set_value(text, node, {"kind": "null", "weight": repr(now.weight)}.get(each, "[]"))
        elif each in _LISTS:
            said = [_said(item, each, owners) for item in list_items(node)]
            wanted = getattr(now, each)
            # An alias is never taken away.
            gone = [each != "aliases" and item not in wanted for item in said]
            edits += yaml_edit.change_items(text, node, gone, [item for item in wanted if item not in said])
        else:
            edits += yaml_edit.set_value(text, node, written[each])
    edits += yaml_edit.delete(text, entry, [key.text in emptied for key, _ in entry.pairs])
    return edits + yaml_edit.insert_pairs(text, entry, missing, indent=0, block=False)


def _said(item: Node, field: str, owners: Mapping[int, str]) -> str:
    """What an item of a list means: an alias itself, a parent or related concept its slug."""
    text = " ".join(item.text.split())
    return text if field == "aliases" else owners.get(concept_key(text), slug(text))


def _all_names(concept: CuratedConcept) -> tuple[str, ...]:
    return (concept.slug, *concept.spellings)


def _union(old: Iterable[str], more: Iterable[str], without: str = "") -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for each in (*old, *more) if each != without))


def _clean(text: str, file: Path) -> str:
    try:
        return clean(text)
    except ValueError as error:
        raise OntologyError(f"{file}: {error}; give another name") from error
