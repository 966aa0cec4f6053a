"""Read hand-written YAML strictly, and edit it with its comments kept.

The reader takes the part of YAML that such files need: one document of mappings, lists and plain or quoted texts, in
block or flow style.  Every scalar is a text: ``no`` and ``2026-02-16`` are names like any other.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from .. import patterns as re
from ..records import NamedTuple

#: Text that needs no quotes, except for the words that YAML gives another meaning.
_PLAIN = re.compile(r"(?!.* #)[^\W\d_](?:[\w ./@+#-]*\w)?|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_AMBIGUOUS = frozenset("y n yes no true false on off null nan inf".split())


class YamlTextError(Exception):
    """An error in a YAML text, with its line."""

    def __init__(self, reason: str, line: int) -> None:
        """``line`` counts from 1."""
        super().__init__(reason)
        self.line = line


class Node(NamedTuple):
    """A value and its position: the characters ``start:end``, in ``line`` (from 1).

    ``text`` is that of a scalar; ``items`` those of a list; ``pairs`` those of a mapping, in their order.
    """

    kind: Literal["scalar", "list", "map"]
    start: int
    end: int
    line: int
    flow: bool = False
    plain: bool = False
    text: str = ""
    items: tuple[Node, ...] = ()
    pairs: tuple[tuple[Node, Node], ...] = ()

    @property
    def is_null(self) -> bool:
        """True if there is no value, or ``null``."""
        return self.kind == "scalar" and self.plain and self.text in ("", "~", "null", "Null", "NULL")

    def get(self, key: str) -> Node | None:
        """Return the value of ``key`` in a mapping, or ``None``."""
        return next((value for name, value in self.pairs if name.text == key), None)


def list_items(node: Node) -> list[Node]:
    """Return the items of a list, or the single text in its place."""
    if node.kind == "list":
        return list(node.items)
    return [] if node.is_null else [node]


def dump_scalar(text: str) -> str:
    """Return ``text`` as YAML in one line, quoted if necessary, for block and flow style."""
    if _PLAIN.fullmatch(text) and text.casefold() not in _AMBIGUOUS:
        return text
    # A YAML reader takes these characters for a line break, refuses or drops them.
    special = "[\x7f-\xa0\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]"
    escaped = re.sub(special, lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False))
    return escaped if "\\" in escaped else "'" + text.replace("'", "''") + "'"


def dump_flow(value: Any) -> str:
    """Return ``value``, which may be a list or mapping, as YAML in one line."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{dump_scalar(key)}: {dump_flow(inner)}' for key, inner in value.items())}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(dump_flow, value))}]"
    return dump_scalar(value) if isinstance(value, str) else str(value)


def parse(text: str) -> Node | None:
    """Parse a YAML text into its tree; ``None`` for an empty one.

    Raises :class:`YamlTextError` for invalid YAML, and for what hand-written lists do not need: anchors, tags, several
    documents, keys that are no texts, duplicate keys.
    """
    import yaml

    # The loader of trees in C recurses without a limit; its events do not.
    loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        return _build_document(text, yaml.parse(text, Loader=loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = " ".join(part for part in (error.context, error.problem) if part) or "no YAML"
        raise YamlTextError(reason, mark.line + 1 if mark else 1) from error
    except yaml.reader.ReaderError as error:
        at = error.position if isinstance(error.position, int) else 0
        raise YamlTextError(f"{error.reason} ({error.character!r})", text.count("\n", 0, at) + 1) from error


def _build_document(text: str, events: Iterator[Any]) -> Node | None:
    """Build the tree of ``text`` from the events of a parser."""
    import yaml

    root: Node | None = None
    for event in events:
        mark: Any = event.start_mark
        if isinstance(event, yaml.DocumentStartEvent) and root is not None:
            raise YamlTextError("a second document begins here", mark.line + 1)
        if isinstance(event, yaml.NodeEvent):
            root = _build_node(text, events, event, 0)
    return None if root is None or root.is_null else root


def _build_node(text: str, events: Iterator[Any], event: Any, depth: int) -> Node:
    """Build the node that begins with ``event``."""
    import yaml

    mark = event.start_mark
    if getattr(event, "anchor", None) is not None:
        raise YamlTextError("an anchor (& or *) cannot stand here; write the value out", mark.line + 1)
    if event.tag is not None and event.tag != "!":
        raise YamlTextError(f"a tag ({event.tag}) cannot stand here; leave it out", mark.line + 1)
    if depth > 8:  # no person writes that
        raise YamlTextError("this is nested too deep", mark.line + 1)
    at = {"start": mark.index, "line": mark.line + 1}
    if isinstance(event, yaml.ScalarEvent):
        # The end of a block scalar is that of its last line, not the beginning of what follows.
        after: Any = event.end_mark
        end = mark.index + len(text[mark.index : after.index].rstrip())
        return Node("scalar", end=end, plain=event.style in (None, ""), text=event.value, **at)
    flow, children = bool(event.flow_style), []
    while not isinstance(inner := next(events), yaml.CollectionEndEvent):
        children.append(_build_node(text, events, inner, depth + 1))
    closing: Any = inner
    end = closing.end_mark.index if flow else max((child.end for child in children), default=mark.index)
    if isinstance(event, yaml.SequenceStartEvent):
        return Node("list", end=end, flow=flow, items=tuple(children), **at)
    pairs = tuple(zip(children[::2], children[1::2], strict=True))
    seen = set()
    for key, _ in pairs:
        if key.kind != "scalar":
            raise YamlTextError("a list or mapping cannot be a key", key.line)
        if key.text in seen:
            raise YamlTextError(f"'{key.text}' stands here a second time", key.line)
        seen.add(key.text)
    return Node("map", end=end, flow=flow, pairs=pairs, **at)


def edit(text: str, change: Callable[[Any], None]) -> str:
    """Apply ``change`` to the mapping that ruamel.yaml reads from ``text``; comments and quotes stay."""
    from ruamel.yaml import YAML

    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 1 << 20
    yaml.explicit_start = text.startswith("---")
    step, dash = re.search(r"^( +)[^\s#-]", text, re.M), re.search(r"^( *)[^\s#-][^\n]*:\s*\n( *)- ", text, re.M)
    offset = len(dash[2]) - len(dash[1]) if dash else 2
    yaml.indent(mapping=len(step[1]) if step else 2, sequence=offset + 2, offset=offset)
    document = yaml.load(text.replace("\r\n", "\n"))
    document = new_mapping() if document is None else document
    change(document)
    out = io.StringIO()
    yaml.dump(document, out)
    return out.getvalue().replace("\n", line_break(text))


def new_mapping() -> Any:
    """Return an empty mapping in block style, for a document of :func:`edit`."""
    from ruamel.yaml.comments import CommentedMap

    return CommentedMap()


def append_items(items: Any, more: Iterable[tuple[Any, Any]]) -> None:
    """Append keys (ignored in a list) and values to a node of :func:`edit`, before the comments below it.

    The library takes those comments for a part of the last item.
    """
    for key, value in more:
        below = _cut_comment(items)
        if isinstance(items, list):
            key = len(items)
            items.append(to_yaml(value))
        else:
            items[key] = to_yaml(value)
        if below is not None:
            items.ca.items[key] = [below, None] if isinstance(items, list) else [None, None, below, None]


def _cut_comment(items: Any) -> Any:
    """Cut the comment below the last of ``items``; returns its token, or ``None``."""
    from ruamel.yaml.tokens import CommentToken

    while items and hasattr(items, "ca") and not items.fa.flow_style():
        key = len(items) - 1 if isinstance(items, list) else next(reversed(items))
        token = (items.ca.items.get(key) or [None] * 4)[0 if isinstance(items, list) else 2]
        if token is not None:
            line, end, rest = token.value.partition("\n")
            token.value = line + end
            return CommentToken(f"\n{rest}", token.start_mark) if rest else None
        items = items[key]
    return None


def to_yaml(value: Any) -> Any:
    """Return ``value`` as a node for :func:`edit`: in one line, with quotes where another reader may need them."""
    from ruamel.yaml.comments import CommentedMap, CommentedSeq
    from ruamel.yaml.scalarstring import SingleQuotedScalarString

    if isinstance(value, str):
        return value if dump_scalar(value) == value else SingleQuotedScalarString(value)
    if not isinstance(value, (Mapping, list, tuple)):
        return value
    node: Any = CommentedMap() if isinstance(value, Mapping) else CommentedSeq()
    node.fa.set_flow_style()
    if isinstance(value, Mapping):
        node.update({key: to_yaml(inner) for key, inner in value.items()})
    else:
        node.extend(map(to_yaml, value))
    return node


def remove_items(text: str, node: Node, gone: Sequence[bool]) -> str:
    """Remove the items, or pairs, of a list or mapping for which ``gone`` is true.

    In block style whole lines go, with the comment at their end; comments on lines of their own stay.
    """
    spans = [(each.start, each.end) for each in node.items] or [(key.start, value.end) for key, value in node.pairs]
    cuts = [span for span, out in zip(spans, gone, strict=True) if out]
    if not node.flow:
        cuts = [(text.rfind("\n", 0, start) + 1, text.find("\n", end) + 1 or len(text)) for start, end in cuts]
    elif all(gone):
        cuts = [(node.start + 1, node.end - 1)] if cuts else []
    else:
        # With one of its commas: the one behind it, or, behind the last that stays, the one before it.
        last = max(at for at, out in enumerate(gone) if not out)
        starts, ends = [start for start, _ in spans], [end for _, end in spans]
        cuts = [
            (starts[at], starts[at + 1]) if at < last else (ends[at - 1], ends[at])
            for at, out in enumerate(gone)
            if out
        ]
    for start, end in reversed(cuts):
        text = text[:start] + text[end:]
    return text


def line_break(text: str) -> str:
    """Return the line break of ``text``."""
    return "\r\n" if "\r\n" in text else "\n"
