"""YAML that people write by hand: read strictly, and changed by commands with its comments kept.

Read is the part of YAML that such files need: one document of mappings, lists and plain or quoted texts, in block or
flow style.  Every scalar is a text: ``no`` and ``2026-02-16`` are names like any other.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

#: What stands without quotes, but for the words that YAML takes for something else.
_PLAIN = re.compile(r"(?!.* #)[^\W\d_](?:[\w ./@+#-]*\w)?|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_AMBIGUOUS = frozenset("y n yes no true false on off null nan inf".split())
#: What a YAML reader would take for a line break, refuse or drop; all of it is written as an escape.
_ESCAPED = re.compile("[\x7f-\xa0\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")


class YamlTextError(Exception):
    """What is wrong with a YAML text, and in which line of it."""

    def __init__(self, reason: str, line: int) -> None:
        """``line`` counts from 1."""
        super().__init__(reason)
        self.line = line


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it stands: the characters ``start:end``, in ``line`` (from 1).

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
    def nothing(self) -> bool:
        """Whether there is no value here, or ``null``."""
        return self.kind == "scalar" and self.plain and self.text in ("", "~", "null", "Null", "NULL")

    def get(self, key: str) -> Node | None:
        """The value of ``key`` in a mapping."""
        return next((value for name, value in self.pairs if name.text == key), None)


def list_items(node: Node) -> list[Node]:
    """The texts of a list, or the single text in its place."""
    if node.kind == "list":
        return list(node.items)
    return [] if node.nothing else [node]


def scalar(text: str) -> str:
    """``text`` as YAML in one line, in quotes where it needs them; right in block and in flow style."""
    if _PLAIN.fullmatch(text) and text.casefold() not in _AMBIGUOUS:
        return text
    escaped = _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False))
    return escaped if "\\" in escaped else "'" + text.replace("'", "''") + "'"


def flow(given: Any) -> str:
    """``given``, which may be a list or mapping, as YAML in one line."""
    if isinstance(given, Mapping):
        return f"{{{', '.join(f'{scalar(key)}: {flow(inner)}' for key, inner in given.items())}}}"
    if isinstance(given, (list, tuple)):
        return f"[{', '.join(map(flow, given))}]"
    return scalar(given) if isinstance(given, str) else str(given)


def parse(text: str) -> Node | None:
    """The tree of a YAML text, ``None`` when there is nothing in it.

    Raises :class:`YamlTextError` for what is no YAML, and for what hand-written lists do not need: anchors,
    tags, several documents, keys that are no texts, the same key twice.
    """
    import yaml

    # The loader that builds trees in C recurses without a limit; its events do not.
    loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        return _Builder(text, yaml.parse(text, Loader=loader)).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = " ".join(part for part in (error.context, error.problem) if part) or "no YAML"
        raise YamlTextError(reason, mark.line + 1 if mark else 1) from error
    except yaml.reader.ReaderError as error:
        at = error.position if isinstance(error.position, int) else 0
        raise YamlTextError(f"{error.reason} ({error.character!r})", text.count("\n", 0, at) + 1) from error


class _Builder:
    """Builds the tree from the events of a parser."""

    def __init__(self, text: str, events: Iterator[Any]) -> None:
        self.text = text
        self.events = events
        #: The end of the collection that was read last.
        self.last: Any = None

    def document(self) -> Node | None:
        import yaml

        root: Node | None = None
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                mark: Any = event.start_mark
                if root is not None:
                    raise YamlTextError("a second document begins here", mark.line + 1)
            elif isinstance(event, yaml.NodeEvent):
                root = self.node(event, 0)
        return None if root is None or root.nothing else root

    def node(self, event: Any, depth: int) -> Node:
        import yaml

        mark: Any = event.start_mark
        if getattr(event, "anchor", None) is not None:
            raise YamlTextError("an anchor (& or *) cannot stand here; write the value out", mark.line + 1)
        if event.tag is not None and event.tag != "!":
            raise YamlTextError(f"a tag ({event.tag}) cannot stand here; leave it out", mark.line + 1)
        if depth > 8:  # nothing that a person wrote here
            raise YamlTextError("this is nested too deep", mark.line + 1)
        at = {"start": mark.index, "line": mark.line + 1}
        if isinstance(event, yaml.ScalarEvent):
            # The end of a block scalar is that of its last line, not the beginning of what follows.
            after: Any = event.end_mark
            end = mark.index + len(self.text[mark.index : after.index].rstrip())
            return Node("scalar", end=end, plain=event.style in (None, ""), text=event.value, **at)
        flow = bool(event.flow_style)
        children = list(self.children(depth))
        end = self.last.end_mark.index if flow else max((child.end for child in children), default=mark.index)
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

    def children(self, depth: int) -> Iterator[Node]:
        import yaml

        for event in self.events:
            if isinstance(event, yaml.CollectionEndEvent):
                self.last = event
                return
            yield self.node(event, depth + 1)


def changed(text: str, change: Callable[[Any], None]) -> str:
    """``text``, a mapping, after ``change`` was made to what ruamel.yaml reads of it; comments and quotes stay."""
    from ruamel.yaml import YAML

    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 1 << 20
    yaml.explicit_start = text.startswith("---")
    step, dash = re.search(r"^( +)[^\s#-]", text, re.M), re.search(r"^( *)[^\s#-][^\n]*:\s*\n( *)- ", text, re.M)
    offset = len(dash[2]) - len(dash[1]) if dash else 2
    yaml.indent(mapping=len(step[1]) if step else 2, sequence=offset + 2, offset=offset)
    document = yaml.load(text.replace("\r\n", "\n"))
    document = mapping() if document is None else document
    change(document)
    out = io.StringIO()
    yaml.dump(document, out)
    return out.getvalue().replace("\n", line_break(text))


def mapping() -> Any:
    """An empty mapping with a line for each pair, to stand in what :func:`changed` gives."""
    from ruamel.yaml.comments import CommentedMap

    return CommentedMap()


def add(items: Any, more: Iterable[tuple[Any, Any]]) -> None:
    """Put ``more`` keys (none in a list) and values at the end of what :func:`changed` gives, before what stands there.

    The library takes remarks below the last one for a part of it.
    """
    for key, given in more:
        below = _cut_comment(items)
        if isinstance(items, list):
            key = len(items)
            items.append(value(given))
        else:
            items[key] = value(given)
        if below is not None:
            items.ca.items[key] = [below, None] if isinstance(items, list) else [None, None, below, None]


def _cut_comment(items: Any) -> Any:
    """Take off the lines that stand below the last of ``items``: a token, or nothing."""
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


def value(given: Any) -> Any:
    """``given`` as :func:`changed` takes it: in one line, with quotes where another reader may need them."""
    from ruamel.yaml.comments import CommentedMap, CommentedSeq
    from ruamel.yaml.scalarstring import SingleQuotedScalarString

    if isinstance(given, str):
        return given if scalar(given) == given else SingleQuotedScalarString(given)
    if not isinstance(given, (Mapping, list, tuple)):
        return given
    made: Any = CommentedMap() if isinstance(given, Mapping) else CommentedSeq()
    made.fa.set_flow_style()
    if isinstance(given, Mapping):
        made.update({key: value(inner) for key, inner in given.items()})
    else:
        made.extend(map(value, given))
    return made


def without(text: str, node: Node, gone: Sequence[bool]) -> str:
    """``text`` without those items, or pairs, of a list or mapping for which ``gone`` is true.

    In block style whole lines go, with the remark at their end; comments on lines of their own stay.
    """
    spans = [(each.start, each.end) for each in node.items] or [(key.start, value.end) for key, value in node.pairs]
    cuts = [span for span, out in zip(spans, gone, strict=True) if out]
    if not node.flow:
        cuts = [(text.rfind("\n", 0, start) + 1, text.find("\n", end) + 1 or len(text)) for start, end in cuts]
    elif all(gone):
        cuts = [(node.start + 1, node.end - 1)] if cuts else []
    else:
        # With one of its commas: that behind it, or, behind the last that stays, that before it.
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
    """How lines of ``text`` end."""
    return "\r\n" if "\r\n" in text else "\n"
