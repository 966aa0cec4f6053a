"""The blocks of a Markdown text, flat and in order: headings, paragraphs, rows, code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

BlockKind = Literal["paragraph", "heading", "header", "row", "code", "html"]

#: Deeper nested text is read as plain lines: it is an accident or an attack, not a note.
MAX_NESTING = 48


class Block(NamedTuple):
    """A leaf of the block tree over the lines ``start..end`` (0-based, end exclusive).

    ``level`` is a heading's level when the heading opens a section, else 0.  ``words`` is a heading's
    text, ``cells`` the header cells of a table's rows, ``item_end`` where the innermost list item
    ends (0 outside of lists).
    """

    kind: BlockKind
    start: int
    end: int
    quoted: bool = False
    item_end: int = 0
    level: int = 0
    words: str = ""
    cells: tuple[str, ...] = ()


def blocks_of(lines: Sequence[str], turns: Sequence[int] = ()) -> list[Block]:
    """Parse ``lines`` as CommonMark with tables; where that fails, each line is a paragraph.

    Each of ``turns`` is a line on which a message begins: code or a table that is not closed ends before it.
    Blocks are in order and share no line.  Lines that belong to no block hold no text, or text that
    the parser dropped: the caller covers them.
    """
    out: list[Block] = []
    for at, end in pairwise((0, *turns, len(lines))):
        for block in _blocks(lines[at:end]):
            out.append(
                block._replace(
                    start=block.start + at, end=block.end + at, item_end=block.item_end and block.item_end + at
                )
            )
    return out


def _blocks(lines: Sequence[str]) -> list[Block]:
    tokens: list[Token] = []
    parser = _parser()
    try:
        parser.block.parse("\n".join(lines), parser, {}, tokens)
    except (RecursionError, RuntimeError, IndexError, ValueError):
        # Whatever confuses the parser must not cost the file: its lines can still be found.
        return list(_plain(lines))
    # Past its limit the parser drops the rest of the text in silence.
    if any(token.level >= MAX_NESTING - 1 for token in tokens):
        return list(_plain(lines))
    return list(_leaves(tokens))


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # Link definitions are text a person may look for; as a rule of their own they would be swallowed.
    return MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable("table").disable("reference")


def _leaves(tokens: Sequence[Token]) -> Iterator[Block]:
    quotes = 0
    items: list[int] = []
    cells: tuple[str, ...] = ()
    header: list[str] | None = None
    head = 0
    for index, token in enumerate(tokens):
        kind = token.type
        if kind == "paragraph_open":
            start, end = _lines(token)
            yield Block("paragraph", start, end, quotes > 0, items[-1] if items else 0)
        elif kind == "inline":
            if header is not None:
                header.append(token.content)
        elif kind == "list_item_open":
            items.append(_lines(token)[1])
        elif kind == "list_item_close":
            items.pop()
        elif kind == "heading_open":
            yield _heading(token, tokens[index + 1].content, quotes > 0, items[-1] if items else 0)
        elif kind in ("fence", "code_block"):
            yield Block("code", *_lines(token), quotes > 0, items[-1] if items else 0)
        elif kind == "html_block":
            yield Block("html", *_lines(token), quotes > 0, items[-1] if items else 0)
        elif kind == "blockquote_open":
            quotes += 1
        elif kind == "blockquote_close":
            quotes -= 1
        elif kind == "thead_open":
            header, head = [], _lines(token)[0]
        elif kind == "thead_close":
            cells, header = tuple(header or ()), None
            # The line below a header is its delimiter, always.
            yield Block("header", head, head + 2, quotes > 0, items[-1] if items else 0, cells=cells)
        elif kind == "tr_open" and header is None:
            yield Block("row", *_lines(token), quotes > 0, items[-1] if items else 0, cells=cells)


def _lines(token: Token) -> tuple[int, int]:
    start, end = token.map or (0, 0)
    return start, end


def _heading(token: Token, words: str, quoted: bool, item_end: int) -> Block:
    start, end = _lines(token)
    if token.markup[:1] in "=-":
        # "text" over "---" is mostly a sloppy rule below a paragraph, not a title.
        titled = end - start == 2 and len(words) <= 120 and (token.markup[0] == "=" or words[-1:] not in ".!?:;,")
        if not titled:
            return Block("paragraph", start, end - 1, quoted, item_end)
        end = start + 1
    level = int(token.tag[1:]) if token.level == 0 else 0
    return Block("heading", start, end, quoted, item_end, level, words)


def _plain(lines: Sequence[str]) -> Iterator[Block]:
    return (Block("paragraph", at, at + 1) for at, line in enumerate(lines) if line.strip(" \t"))
