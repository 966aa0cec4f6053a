"""Summaries as files: what is written comes back as it was, and what people write into them is understood."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest
from fakes import Notes
from hypothesis import example, given
from hypothesis import strategies as st
from summarising import FOLDER, MONDAY, diary, summarised, tree
from tables import table

from openclaw_memory import hookimpl
from openclaw_memory.ingest import summary_files
from openclaw_memory.ingest.notes import build_units
from openclaw_memory.model import Grain, Origin, ParsedDocument
from openclaw_memory.plugins.manager import Plugins
from openclaw_memory.store.api import CitedLines
from openclaw_memory.summarise.document import LINKER, Source, parse_sentences, render
from openclaw_memory.summarise.inventory import FORMAT
from openclaw_memory.summarise.sentences import Sentence, extract_sentences
from openclaw_memory.summarise.summary import Part, Summary
from openclaw_memory.text import calendar
from openclaw_memory.text.lines import split_lines
from openclaw_memory.text.markdown import parse

PLUGINS = Plugins(entry_points=False)
DIGEST = "0123456789abcdef" * 4


def sentence(text: str, path: str = "memory/2026-02-16.md", lines: tuple[int, int] = (3, 3), **fields: Any) -> Sentence:
    work = Sentence(text, path, *lines, MONDAY, 0, 0, "Work", None, (), (), Origin.AGENT)
    return replace(work, **fields)


def written(
    grain: Grain, period: str, *parts: Part, sources: tuple[Source, ...] = (), origin: Origin = Origin.AGENT
) -> str:
    return render(grain, period, Summary(parts), sources, origin, DIGEST)


def back(grain: Grain, period: str, text: str) -> list[Sentence]:
    day = calendar.bounds(grain, period)[1]
    return parse_sentences(calendar.path_of(grain, period), grain, text, day, Origin.AGENT, PLUGINS, 0, 0)


def reading(grain: Grain, period: str, text: str, raw: str | None = None) -> summary_files.SummaryText:
    lines = split_lines(text)
    return summary_files.read(
        calendar.path_of(grain, period), lines, grain, date(2020, 1, 1), None if raw is None else split_lines(raw)
    )


def units(made: summary_files.SummaryText) -> list[tuple[str, date | None]]:
    """What is searched, with its day."""
    return [
        (unit.search_text, section.date)
        for section in made.parsed.sections
        for unit in section.units
        if unit.form != "title"
    ]


LINES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=60) | st.sampled_from(
    [
        "1986. A great year it was", "2026-02-18: went to the harbour", "1990-05-03: born", "see [memory/2026-01-01.md#L3]",
        "[memory/a.md#L1-L2] says so", "see [notes.md#L3] [x]", "a | b", "| a | b |", "Speaker: hello there", "**Dario**: hi",
        "- [x] done at last", "> quoted words", "# a heading", "* * *", "---", "```", "<div>words</div>", "<!-- words -->",
        "[ref]: https://example.org", "![image](x.png) shown", "Tags: #a #b", "Tags: #a and words", "= words", "+1 from me",
        "\\- escaped", "`code` only", "http://example.org/#L3]", "two  spaces", "tab\there", "\u00a0nbsp", "a\u2028b", "ends with [",
        "ends with ]", "ends in #L3]", "***", "2026-02-16:", "\ufeffmarked", "a\x0bb", "&amp; entity", "words [", "[[link]]",
    ]
)  # fmt: skip
PATHS = st.sampled_from(
    [
        "memory/2026-02-16.md", "memory/sub dir/2026-02-16 [draft].md", "memory/2026-02-16 #1: it's \"so\".md",
        "memory/[a]/2026-02-16.MD", "memory/2026-02-16  two.md", "memory/2026-02-16-Zoë ☃.md", "memory/2026-02-16 at 9\u202fAM.md",
        "memory/x#L3/2026-02-16.md", "memory/2026-02-16 - 'quoted'.md", "memory/2026-02-16.md#L3.md",
    ]
)  # fmt: skip
SPANS = st.tuples(st.integers(1, 10**6), st.integers(0, 9)).map(lambda pair: (pair[0], pair[0] + pair[1]))
GRAINS = st.sampled_from([(grain, calendar.period_of(MONDAY, grain)) for grain in list(Grain)[1:]])


def what_notes_say(lines: list[str]) -> list[str]:
    """Sentences as they are made of notes: what is no sentence there never gets into a summary."""
    parsed = parse("\n".join(lines), path="memory/2026-02-16.md", mtime=MONDAY, unit_tokens=400)
    sections, planned = build_units("memory/2026-02-16.md", parsed, {}, PLUGINS, LINKER)
    return [
        sentence.text for sentence in extract_sentences("memory/2026-02-16.md", MONDAY, Origin.AGENT, sections, planned)
    ]


@given(
    where=GRAINS,
    given=st.lists(st.tuples(LINES, PATHS, SPANS, st.integers(0, 6)), min_size=1, max_size=8),
    heading=LINES,
)
@example(
    (Grain.DAILY, "2026-02-16"), [("2026-02-18: went away", "memory/2026-02-16.md", (1, 1), 0)], "Plan for 2026-03-01"
)
def test_what_is_written_is_read_back(
    where: tuple[Grain, str], given: list[tuple[str, str, tuple[int, int], int]], heading: str
) -> None:
    grain, period = where
    quoted = []
    for line, path, span, later in given:
        day = MONDAY if grain is Grain.DAILY else MONDAY + timedelta(days=later)
        quoted += [sentence(text, path, span, day=day) for text in what_notes_say([line])]
    if not quoted:
        return
    quoted.sort(key=lambda quote: quote.day)
    if grain is Grain.WEEKLY:
        by_day: dict[date, list[Sentence]] = {}
        for quote in quoted:
            by_day.setdefault(quote.day, []).append(quote)
        parts = [Part(day.isoformat(), tuple(members)) for day, members in by_day.items()]
    else:
        words = " ".join(heading.split()) or "Notes"
        parts = [
            Part(words, tuple(quoted[:3]), ("#one", "#two-b")),
            *([Part("Other", tuple(quoted[3:]))] if quoted[3:] else []),
        ]
    sources = tuple(dict.fromkeys(Source(sentence.path, DIGEST) for sentence in quoted))
    text = written(grain, period, *parts, sources=sources)
    sentences = back(grain, period, text)
    wanted = [
        (sentence.text, sentence.path, sentence.start_line, sentence.end_line, sentence.day) for sentence in quoted
    ]
    assert [
        (sentence.text, sentence.path, sentence.start_line, sentence.end_line, sentence.day) for sentence in sentences
    ] == wanted
    assert [sentence.order for sentence in sentences] == list(range(len(quoted)))
    if grain is not Grain.WEEKLY:
        assert all({"one", "two-b"} <= set(sentence.tags) for sentence in sentences[:3])
        assert not any({"one", "two-b"} <= set(sentence.tags) for sentence in sentences[3:])
    front = summary_files.read_front(text)
    assert front["sources"] == [f"{source.path} {source.sha256}" for source in sources]
    assert (front["grain"], front["period"], front["edited"]) == (grain.value, period, False)
    assert not any(summary_files.is_edited(text.replace("\n", ends)) for ends in ("\n", "\r\n", "\r"))
    # Written once more, from what was read, it is the same.
    again = [
        Part(
            part.heading, tuple(sentences[at] for at, quote in enumerate(quoted) if quote in part.sentences), part.tags
        )
        for part in parts
    ]
    if len(set(quoted)) == len(quoted):
        assert written(grain, period, *again, sources=sources) == text


@given(where=GRAINS, body=st.text(max_size=300), front=st.text(max_size=100))
def test_reading_takes_anything(where: tuple[Grain, str], body: str, front: str) -> None:
    grain, period = where
    for text in (body, f"---\n{front}\n---\n{body}", f"---\ngrain: {front}\n---\n{body}"):
        made = reading(grain, period, text)
        assert isinstance(made.parsed, ParsedDocument)
        lines = [unit.start_line for section in made.parsed.sections for unit in section.units]
        assert lines == sorted(lines)
        for section in made.parsed.sections:
            assert len(section.lines) == section.end_line - section.start_line + 1
            assert all(
                section.start_line <= unit.start_line <= unit.end_line <= section.end_line for unit in section.units
            )
        assert summary_files.is_edited(text)


def test_the_front_matter_is_plain_yaml() -> None:
    import yaml

    paths = ["memory/2026-02-16 #1: it's.md", "memory/2026-02-16.md"]
    text = written(
        Grain.WEEKLY,
        "2026-W08",
        Part("2026-02-16", (sentence("Sold."),)),
        sources=(*(Source(path, DIGEST) for path in paths), Source(f"{FOLDER}/daily/2026-02-17.md")),
    )
    front = yaml.safe_load(text.split("---\n")[1])
    assert front == {
        "grain": "weekly", "period": "2026-W08", "date": MONDAY, "origin": "agent", "format": FORMAT, "digest": DIGEST,
        "content": summary_files.content_hash(text),
        "sources": [f"{paths[0]} {DIGEST}", f"{paths[1]} {DIGEST}", f"{FOLDER}/daily/2026-02-17.md"],
    }  # fmt: skip


@pytest.mark.parametrize("count", [3, 500, 3000])
def test_any_number_of_sources_can_be_told(count: int) -> None:
    sources = tuple(Source(f"memory/sessions/2026-02-16-a-long-name-{at:05}.md", DIGEST) for at in range(count))
    text = written(Grain.DAILY, "2026-02-16", Part("Work", (sentence("We sold it."),)), sources=sources)
    front = summary_files.read_front(text)
    assert not front["edited"] and len(front["sources"]) == count
    made = reading(Grain.DAILY, "2026-02-16", text)
    assert units(made)[-1] == ("We sold it.", MONDAY)
    assert list(made.cited.values()) == [(CitedLines("memory/2026-02-16.md", 3, 3),)]
    assert [sentence.text for sentence in back(Grain.DAILY, "2026-02-16", text)] == ["We sold it."]


@pytest.mark.parametrize("change", table("summary_files.tsv", "a change is noticed"))
def test_a_change_is_noticed(change: tuple[str, str]) -> None:
    text = written(
        Grain.DAILY,
        "2026-02-16",
        Part("Work", (sentence("We sold it."),)),
        sources=(Source("memory/2026-02-16.md", DIGEST),),
    )
    assert not summary_files.is_edited(text)
    mine = text.replace(*change, 1)
    assert mine != text and summary_files.is_edited(mine)
    assert summary_files.read_front(mine)["edited"] is True
    assert reading(Grain.DAILY, "2026-02-16", mine).front["edited"] is True


def test_white_space_around_the_text_is_no_change() -> None:
    text = written(Grain.DAILY, "2026-02-16", Part("Work", (sentence("We sold it."),)))
    for same in (text.rstrip(), text + "\n\n", text.replace("---\n#", "---\n\n#"), text.replace("\n", "\r")):
        assert not summary_files.is_edited(same)


def test_a_sentence_of_a_day_is_of_that_day_whatever_it_and_its_heading_speak_of() -> None:
    text = written(Grain.DAILY, "2026-02-16", Part("Trip of 2026-05-01", (sentence("2026-05-02: the harbour opens."),)))
    assert units(reading(Grain.DAILY, "2026-02-16", text))[-1] == ("2026-05-02: the harbour opens.", MONDAY)


def test_a_sentence_of_a_week_is_of_the_day_in_its_heading() -> None:
    tuesday = MONDAY + timedelta(days=1)
    parts = (
        Part("2026-02-16", (sentence("2026-05-02: the harbour opens."),)),
        Part("2026-02-17", (sentence("Sold.", day=tuesday),)),
    )
    made = reading(Grain.WEEKLY, "2026-W08", written(Grain.WEEKLY, "2026-W08", *parts))
    assert ("2026-05-02: the harbour opens.", MONDAY) in units(made) and ("Sold.", tuesday) in units(made)


def test_sentences_of_coarser_grains_are_of_the_days_they_begin_with() -> None:
    quoted = [
        sentence("One.", day=date(2026, 2, 3)),
        sentence("1999-01-01: Two.", day=date(2026, 2, 3)),
        sentence("Three.", day=MONDAY),
    ]
    text = written(Grain.MONTHLY, "2026-02", Part("Since 2025-01-01", tuple(quoted), ("#harbour",)))
    made = reading(Grain.MONTHLY, "2026-02", text)
    assert units(made)[-3:] == [("One.", date(2026, 2, 3)), ("1999-01-01: Two.", date(2026, 2, 3)), ("Three.", MONDAY)]
    assert [section.heading for section in made.parsed.sections[-2:]] == ["Since 2025-01-01"] * 2
    # The heading and the tags stand with what they head, and every line is in exactly one section.
    assert [unit.form for unit in made.parsed.sections[-2].units][:1] == ["heading"]
    covered = [at for section in made.parsed.sections for at in range(section.start_line, section.end_line + 1)]
    assert len(set(covered)) == len(covered)


def test_what_a_person_writes_gets_the_best_day_there_is() -> None:
    text = (
        "---\ndate: 2026-02-20\n---\n# Mine\n\n- Loose.\n\n## Tuesday, 2026-02-17\n\n- Headed.\n- 2026-02-18: Stated.\n"
    )
    week = dict(units(reading(Grain.WEEKLY, "2026-W08", text)))
    assert week["Loose."] == date(2026, 2, 20) and week["Headed."] == date(2026, 2, 17)
    assert week["2026-02-18: Stated."] == date(2026, 2, 17)
    month = dict(units(reading(Grain.MONTHLY, "2026-02", text)))
    assert month["Loose."] == date(2026, 2, 20) and month["Headed."] == date(2026, 2, 17)
    assert month["Stated."] == date(2026, 2, 18)
    bare = dict(units(reading(Grain.WEEKLY, "2026-W08", "- Loose.\n- 2026-02-18: Stated.\n- 2026-02-31: Never.\n")))
    assert bare == {"Loose.": date(2026, 2, 22), "Stated.": date(2026, 2, 18), "2026-02-31: Never.": date(2026, 2, 22)}


@pytest.mark.parametrize(("line", "words", "cited"), table("summary_files.tsv", "the last citation is the source"))
def test_the_last_citation_is_the_source_of_a_sentence(line: str, words: str, cited: str) -> None:
    parsed = summary_files.parse_line(line)
    assert parsed is not None and parsed.text == words
    assert [f"{sentence.path} {sentence.start_line} {sentence.end_line}" for sentence in parsed.cited] == (
        [cited] if cited else []
    )


@pytest.mark.parametrize("line", ["", "   ", "- [memory/a.md#L3]", "- 2026-02-16: [memory/a.md#L3]"])
def test_a_line_without_words_says_nothing(line: str) -> None:
    parsed = summary_files.parse_line(line)
    assert parsed is None or parsed.text == "2026-02-16:"


def test_a_sentence_without_a_citation_is_its_own_source() -> None:
    text = "# Mine\n\n- We flew the zeppelin.\n"
    assert [
        (sentence.path, sentence.start_line, sentence.text) for sentence in back(Grain.WEEKLY, "2026-W08", text)
    ] == [(f"{FOLDER}/weekly/2026-W08.md", 3, "We flew the zeppelin.")]


def test_who_speaks_is_known_in_a_summary_too() -> None:
    quoted = [sentence("Mira: the harbour opens."), sentence("Dario: at nine."), sentence("Mira: good.")]
    sentences = back(Grain.DAILY, "2026-02-16", written(Grain.DAILY, "2026-02-16", Part("Talk", tuple(quoted))))
    assert [sentence.speaker for sentence in sentences] == ["Mira", "Dario", "Mira"]
    assert [sentence.text for sentence in sentences] == [sentence.text for sentence in quoted]


def test_ingest_knows_what_each_sentence_cites(notes: Notes) -> None:
    for at in range(3):
        notes.write(f"memory/2026-02-{16 + at}.md", diary(MONDAY + timedelta(days=at)))
    with summarised(notes) as memory:
        memory.consolidate(now=date(2026, 6, 1))
        rows = memory.store.summary_citations()
        lines = sum(data.decode().count("\n- ") - data.decode().count("\n  - ") for data in tree(notes).values())
        assert len(rows.path) == len(rows.unit_id) > 0
        assert len(rows.path) == sum(
            len(re.findall(r"^- .*\.md#L", data.decode(), re.MULTILINE)) for data in tree(notes).values()
        )
        assert lines > 0 and set(rows.path) <= {f"memory/2026-02-{16 + at}.md" for at in range(3)}
        infos = {info.path: info for info in memory.store.summaries()}
        assert set(infos) == set(tree(notes)) and not any(info.edited for info in infos.values())
        day = infos[f"{FOLDER}/daily/2026-02-16.md"]
        assert day.sources == (
            ("memory/2026-02-16.md", memory.store.documents().by_path["memory/2026-02-16.md"].sha256),
        )
        assert (day.grain, day.period) == (Grain.DAILY, "2026-02-16")


class Redacting:
    """Takes the word zeppelin out, as a redaction that was added later would."""

    @hookimpl
    def openclaw_memory_prepare_lines(self, path: str, lines: list[str]) -> list[str]:
        return [line.replace("zeppelin", "[gone]") for line in lines]


def test_a_redaction_is_no_edit(notes: Notes) -> None:
    notes.write("memory/2026-02-16.md", diary(MONDAY).replace("We ", "The zeppelin "))
    with summarised(notes) as memory:
        memory.consolidate(now=date(2026, 6, 1))
        assert any(b"zeppelin" in text for text in tree(notes).values())
    with summarised(notes, name="other", plugins=[Redacting()]) as memory:
        report = memory.consolidate(now=date(2026, 6, 1))
        assert report.kept == () and not any(info.edited for info in memory.store.summaries())
        assert memory.search("zeppelin", mode="keyword").results == ()
        notes.write("memory/2026-02-16.md", (notes.root / "memory/2026-02-16.md").read_text() + "- And more.\n")
        memory.consolidate(now=date(2026, 6, 1))
    assert not any(b"zeppelin" in text for text in tree(notes).values())


def test_front_matter_of_a_person_counts_as_that_of_a_note(notes: Notes) -> None:
    notes.write(
        f"{FOLDER}/weekly/2026-W08.md",
        "---\norigin: untrusted\ntags: [harbour]\n---\n# Mine\n\n- We flew the zeppelin.\n",
    )
    with summarised(notes) as memory:
        memory.consolidate(now=date(2026, 6, 1))
        hit = memory.search("zeppelin", mode="keyword", grains=(Grain.WEEKLY,)).results[0]
        assert hit.origin is Origin.UNTRUSTED and hit.date == date(2026, 2, 22)
        month: Mapping[str, Any] = summary_files.read_front(tree(notes)[f"{FOLDER}/monthly/2026-02.md"].decode())
        assert month["origin"] == "untrusted"
