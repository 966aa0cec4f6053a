"""The Memory tab of a host's Control UI: pages that show a memory and change nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from .. import patterns as re
from ..map.service import policy_hash, read_asset
from ..model import DatedValue, Grain, SearchHit, SearchRequest, counted
from ..model.citation import citation, parse_citation
from ..system.sanitize import sanitize
from ..system.shell import join

if TYPE_CHECKING:
    from ..memory import Memory

VIEWS = {"overview": "Overview", "search": "Search", "changes": "What changed", "map": "Map"}
_DAYS = 90


def render_tab(memory: Memory, view: str, query: str, agents: Sequence[str]) -> str:
    """Render a view as a whole page; ``agents`` are those whose memory can be chosen.

    ``forget`` beside :data:`VIEWS` shows what forgetting the citation, or all that has the words, would take out.
    No text of a note is markup in it, and its policy lets only its own script and style run.
    """

    view = view or "overview"

    def link(text: str, to: str, agent: str = memory.agent, **words: str) -> str:
        here = ' aria-current="page"' if (to, agent) == (view, memory.agent) else ""
        return f'<a href="?{escape(urlencode({"view": to, "agent": agent, **words}))}"{here}>{_text(text)}</a>'

    if view == "map":
        bar = '<header class="top">'
        return Path(memory.map().file).read_text(encoding="utf-8").replace(bar, bar + link("← Memory", "overview"), 1)
    others = [link(agent, view, agent, q=query) for agent in agents if agent != memory.agent]
    style, script = read_asset("tab.css"), read_asset("tab.js")
    parts = {
        "policy": f"default-src 'none'; script-src {policy_hash(script)}; style-src {policy_hash(style)}; "
        "base-uri 'none'; form-action 'none'",
        "style": style,
        "script": script,
        "whose": _text(memory.agent) + (f" <small>{', '.join(others)}</small>" if others else ""),
        "views": "".join(link(title, name) for name, title in VIEWS.items()),
        "agent": _text(memory.agent),
        "query": _text(query),
        "main": {"search": _search, "changes": _changes, "forget": _forget, "lines": _lines}.get(view, _overview)(
            memory, query, link
        ),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], read_asset("tab.html"))


Link = Callable[..., str]


def _overview(memory: Memory, query: str, link: Link) -> str:
    state = memory.status()
    days = [day for use in state.grains for day in (use.first, use.last) if day is not None]
    ready, units = state.vectors.get("ready", 0), sum(state.vectors.values())
    written = [use for use in state.grains if use.files and use.grain is not Grain.WORKING]
    summaries = ", ".join(counted(use.files, use.grain.value) for use in written)
    private = f"{state.private_lines:,} kept private" if state.private_lines else ""
    numbers = [
        ("Notes", counted(state.files, "file"), f"{min(days)} to {max(days)}" if days else "without days"),
        ("Lines", f"{state.chunks:,}", private),
        ("Meaning", f"{ready / units:.0%}" if state.model and units else "off", _text(state.model or "by words only")),
        ("Summaries", summaries or "none yet", _text(state.consolidation or "")),
        ("Contradictions", f"{state.conflicts:,}", link("look", "changes") if state.conflicts else ""),
        ("On disk", f"{state.bytes / 1e6:.1f} MB", ""),
    ]
    cards = "".join(
        f"<li><b>{name}</b><strong>{_text(value)}</strong><span>{below}</span></li>" for name, value, below in numbers
    )
    remarks = [text for text in (state.warning, state.fallback) if text]
    remarks += [f"{each.path} is not read: {each.reason}" for each in state.skipped]
    return f'<ul class="cards">{cards}</ul>' + _items("To look at", map(_text, remarks)) + _recent(memory, link)


def _search(memory: Memory, query: str, link: Link) -> str:
    if not query:
        return '<p class="hint">Ask in plain words, by a name, a number or a day.</p>'
    result = memory.search(SearchRequest(query, max_results=12))
    head = (
        "" if result.good_match or not result.results else '<p class="hint">The notes probably do not answer this.</p>'
    )
    items = [_hit(hit, link) for hit in result.results[: None if result.good_match else 3]]
    return head + (f'<ol class="hits">{"".join(items)}</ol>' if items else '<p class="hint">Nothing in the notes.</p>')


def _hit(hit: SearchHit, link: Link) -> str:
    newer = hit.superseded_by and citation(
        hit.superseded_by.path, hit.superseded_by.start_line, hit.superseded_by.end_line
    )
    older = f"<em>out of date, see {link(newer, 'lines', q=newer)}</em>" if newer else ""
    place = f"{link(hit.citation, 'lines', q=hit.citation)} <time>{hit.date or ''}</time> <span>{hit.score:.2f}</span>"
    forget = link("forget …", "forget", q=hit.citation)
    return f"<li><header>{place}{older}{forget}</header><p>{_text(hit.snippet)}</p></li>"


def _lines(memory: Memory, query: str, link: Link) -> str:
    text = memory.get(query).text if query else ""
    return f"<h2>{_text(query)}</h2>" + (f"<pre>{_text(text)}</pre>" if text else '<p class="hint">No such lines.</p>')


def _changes(memory: Memory, query: str, link: Link) -> str:
    conflicts = [
        f"<b>{_text(each.subject)}</b> {_text(each.predicate)}: {_value(each.first)} <i>or</i> {_value(each.second)}"
        for each in memory.facts.conflicts().conflicts
    ]
    settle = (
        "<p class='hint'>Settle them in a terminal: <code>openclaw memory conflicts</code></p>" if conflicts else ""
    )
    return _items("Both claim to hold", conflicts) + settle + _recent(memory, link)


def _recent(memory: Memory, link: Link) -> str:
    changes = memory.facts.changes(memory.today() - timedelta(days=_DAYS)).changes
    items = [
        f"<time>{each.day}</time> <b>{_text(each.subject)}</b> {_text(each.predicate)}: "
        f"{f'<s>{_text(each.before.object)}</s> → ' if each.before else ''}{_value(each.after)}"
        for each in reversed(changes)
    ]
    return _items(f"Changed in the last {_DAYS} days", items) or "<p class='hint'>No value has changed lately.</p>"


def _forget(memory: Memory, query: str, link: Link) -> str:
    if not query:
        return '<p class="hint">Search for it first, then choose "forget …" beside the hit.</p>'
    place = parse_citation(query) is not None
    plan = memory.forget(path=query, dry_run=True) if place else memory.forget(query=query, dry_run=True)
    texts = [f"<code>{_text(each.citation)}</code> {_text(each.text)}" for each in plan.texts]
    command = join(["openclaw", "memory", "forget", "--path" if place else "--query", query])
    how = f"<p class='hint'>This page changes nothing. To forget it for good: <code>{_text(command)}</code></p>"
    remains = _items("Stays in your own notes, which are yours to edit", map(_text, plan.remains))
    return (_items("Would go", texts) + remains + how) if texts else '<p class="hint">Nothing to forget.</p>'


def _items(title: str, items: Iterable[str]) -> str:
    rows = "".join(f"<li>{item}</li>" for item in items)
    return f"<section><h2>{title}</h2><ul>{rows}</ul></section>" if rows else ""


def _value(value: DatedValue) -> str:
    return f"{_text(value.object)} <small>{_text(value.source or '')}</small>"


def _text(text: str) -> str:
    return escape(sanitize(text))
