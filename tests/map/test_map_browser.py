"""The map in a real Chromium, which `.ci/browser` finds or installs: what one sees, clicks and types."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from fakes import CountingEmbedder, Notes, open_memory

from benchmarks.map import PHONE, VIEWS, chromium, opened, settle

pytestmark = pytest.mark.e2e

HOSTILE = "<img src=x onerror=window.hit=1></script><script>window.hit=2</script><svg/onload=window.hit=3>"
NAME = "<img src=x onerror=window.hit=5></script>"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A map of notes of which some would like to run."""
    root = tmp_path_factory.mktemp("map")
    notes = Notes(root / "workspace")
    for day in range(1, 13):
        notes.write(
            f"memory/2026-03-{day:02}.md",
            f"# Day {day}\n\n- Mirabel tuned the Harbor engine, run {day}\n- Decision: the Harbor keeps its valve {day}\n"
            f"\n## Garden\n\n- Oswin planted beans beside the Quill shed, row {day}\n- {HOSTILE} Mirabel {day}\n",
        )
    notes.write("MEMORY.md", f"# {HOSTILE}\n\n- Mirabel lives in Ghent\n- [press](javascript:window.hit=4) Oswin\n")
    notes.write(
        "concepts.yaml",
        f'concepts:\n  evil: {{name: "{NAME}", kind: "{NAME}", aliases: [Quill]}}\n  mirabel: {{name: Mirabel}}\n',
    )
    notes.write(
        "memory/2026-03-14.md", "- Juniper met Zephyrine\n- Juniper wrote to Zephyrine\n- Juniper and Zephyrine\n"
    )
    notes.write("memory/boats.md", "## Heron\n- **Version:** 2.1.3\n")
    notes.write("memory/more.md", "# Boats\n\n## Heron\n- **Version:** 2.1.9 (since 2026-03-24)\n")
    with open_memory(notes, CountingEmbedder()) as memory:
        memory.facts.add("Mirabel", "lives in", "Bruges", source="MEMORY.md#L3", since=date(2026, 3, 5))
        return Path(memory.map().file)


@pytest.fixture
def page(browser: Any, file: Path) -> Iterator[Any]:
    """The map as it opens; the test fails where the browser complains of anything, or a note has run."""
    complaints: list[str] = []
    asked: list[str] = []
    with opened(browser, file) as found:
        found.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        found.on("pageerror", lambda error: complaints.append(str(error)))
        found.on("request", lambda request: asked.append(request.url))
        found.reload()
        found.wait_for_selector("html[data-ready]")
        settle(found)
        yield found
        assert found.evaluate("window.hit") is None
    assert complaints == []
    assert asked == [file.as_uri()]


def panel(page: Any) -> str:
    return str(page.inner_text("#panel"))


def test_every_view_opens_and_says_what_it_shows(page: Any) -> None:
    for view in VIEWS:
        page.click(f"#tab-{view}")
        settle(page)
        assert page.get_attribute(f"#tab-{view}", "aria-selected") == "true"
        assert page.is_visible(f"#view-{view}")
        assert page.evaluate("document.querySelectorAll('.view:not([hidden])').length") == 1
    assert page.is_visible("text=holds private notes of workspace")
    assert not page.evaluate(
        "[...document.querySelectorAll('*')].some((each) => each.hasAttribute('src') || each.hasAttribute('href'))"
    )


def test_a_click_on_a_concept_shows_its_lines_and_facts(page: Any) -> None:
    x, y = page.evaluate(
        "() => { const at = net.name.indexOf('Mirabel'), { stage, x, y } = views.concepts;"
        " const box = stage.canvas.getBoundingClientRect(), [px, py] = stage.place.apply([x[at], y[at]]);"
        " return [box.left + px, box.top + py]; }"
    )
    page.mouse.move(x, y)
    settle(page)
    assert "Mirabel" in page.inner_text("#tip")
    page.mouse.click(x, y)
    said = panel(page)
    assert "Mirabel" in said and "MEMORY.md:3" in said and "Bruges" in said
    assert page.evaluate("location.hash") == "#concepts/mirabel"
    page.keyboard.press("Escape")
    assert "Most mentioned" in panel(page)


def test_a_click_shows_what_contradicts_itself_and_what_settles_it(page: Any) -> None:
    page.click("#tab-facts")
    page.click("text=1 contradiction")
    said = panel(page)
    assert "2.1.3" in said and "2.1.9" in said and "24 Mar 2026" in said and "memory/boats.md:2" in said
    assert re.search(r"openclaw-memory conflicts settle c-\w+ --keep 1", said)
    page.keyboard.press("Escape")
    assert "settle" not in panel(page)


def test_search_finds_lines_concepts_and_facts_and_marks_the_words(page: Any) -> None:
    page.keyboard.press("/")
    page.keyboard.type("beans ROW 7")
    page.wait_for_selector("#panel mark")
    said = panel(page)
    assert re.search(r"1 line,", said) and "memory/2026-03-07.md:8" in said
    page.click("#tab-facts")
    page.fill("#search", "ghent")
    page.wait_for_selector(".facts mark")
    assert page.inner_text(".facts .object") == "Ghent"
    page.fill("#search", "nothing like this")
    page.wait_for_selector("text=No fact matches")
    assert "Nothing here has all of these words" in panel(page)
    page.click("text=Show all")
    assert page.input_value("#search") == "" and "Bruges" in page.inner_text(".facts")


def test_it_is_dark_where_the_system_is_and_by_its_button(browser: Any, file: Path) -> None:
    def shade(page: Any) -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    with opened(browser, file) as light, opened(browser, file, dark=True) as dark:
        assert shade(light) != shade(dark)
        light.click("#theme")
        assert shade(light) == shade(dark)
        light.click("#theme")
        assert shade(light) != shade(dark)


def test_keys_alone_reach_everything(page: Any) -> None:
    page.keyboard.press("3")
    settle(page)
    assert page.evaluate("state.view") == "space"
    page.focus("#view-space canvas")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.is_visible("#tip")
    page.keyboard.press("Enter")
    assert "Near it on this map" in panel(page)
    page.focus("#tab-space")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("[state.view, document.activeElement.id]") == ["facts", "tab-facts"]


def test_a_bar_of_the_timeline_shows_its_days(page: Any) -> None:
    page.click("#tab-timeline")
    settle(page)
    page.locator("#view-timeline .hit").nth(4).click()
    assert "5 Mar 2026" in panel(page) and "memory/2026-03-05.md:4" in panel(page)
    before = page.locator("#view-timeline .hit").count()
    page.focus("#view-timeline svg")
    for _ in range(4):
        page.keyboard.press("+")
    settle(page)
    assert page.locator("#view-timeline .hit").count() < before


def concepts(page: Any) -> set[str]:
    return set(page.evaluate("net.name.filter((_, c) => views.concepts.isDrawn(c))"))


def test_days_drawn_along_the_axis_filter_every_view(page: Any) -> None:
    everything = concepts(page)
    page.click("#tab-timeline")
    settle(page)
    bars = page.locator("#view-timeline .hit")
    first, last = bars.nth(2).bounding_box(), bars.nth(4).bounding_box()
    axis = page.locator("#view-timeline .overlay").bounding_box()
    page.mouse.move(first["x"] + 2, axis["y"] + 10)
    page.mouse.down()
    page.mouse.move(last["x"] + 4, axis["y"] + 10, steps=4)
    page.mouse.up()
    settle(page)
    assert "3 Mar 2026 – 5 Mar 2026" in page.inner_text("#days")
    assert page.is_visible("#view-timeline .chosen")
    assert page.eval_on_selector_all("input[type=date]", "all => all.map((each) => each.value)") == [
        "2026-03-03", "2026-03-05",
    ]  # fmt: skip
    page.fill("#search", "beans")
    page.wait_for_selector("#panel mark")
    assert "3 lines" in panel(page)
    page.click("#tab-facts")
    page.fill("#search", "")
    page.wait_for_selector("text=Bruges")
    assert "2.1.9" not in page.inner_text(".facts")
    page.click("#tab-concepts")
    settle(page)
    assert "Zephyrine" in everything - concepts(page) and "Mirabel" in concepts(page)
    page.click("#days")
    settle(page)
    assert concepts(page) == everything and page.is_hidden("#days")


def test_days_are_chosen_by_keys(page: Any) -> None:
    page.click("#tab-timeline")
    settle(page)
    page.focus("input[type=date] >> nth=0")
    page.keyboard.type("03112026")
    settle(page)
    assert "11 Mar 2026 – " in page.inner_text("#days") and "11 Mar" in page.inner_text("#said")
    page.focus("#days")
    page.keyboard.press("Enter")
    settle(page)
    assert page.is_hidden("#days") and page.evaluate("state.days") is None


def test_notes_are_text_wherever_they_stand(page: Any) -> None:
    page.fill("#search", "onerror")
    page.wait_for_selector("#panel mark")
    assert "<img src=x onerror=window.hit=1></script>" in panel(page)
    page.click("#panel .chip")
    assert page.inner_text("#panel h2") == NAME
    for view in VIEWS:
        page.click(f"#tab-{view}")
        settle(page)
    assert page.evaluate("document.images.length + document.scripts.length") == 3


def test_the_browser_refuses_markup_made_from_text_and_any_connection(browser: Any, file: Path) -> None:
    with opened(browser, file) as page:
        with pytest.raises(Exception, match="TrustedHTML"):
            page.evaluate("document.body.innerHTML = '<b>'")
        for act in ("fetch('https://example.org/')", "import('data:text/javascript,1')"):
            assert page.evaluate(f"{act}.then(() => 'done', () => 'refused')") == "refused"


def test_it_fits_a_phone(browser: Any, file: Path) -> None:
    with opened(browser, file, size=PHONE) as page:
        page.evaluate("choose(EPOCH, EPOCH + 30000)")
        for view in VIEWS:
            page.click(f"#tab-{view}")
            settle(page)
            assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
            assert page.evaluate("view => document.getElementById(view).scrollWidth", f"view-{view}") <= PHONE[0]
            box = page.locator(f"#view-{view}").bounding_box()
            assert box is not None and box["height"] > 250


HOST = """(html) => {
  window.said = [];
  const frame = document.body.appendChild(document.createElement("iframe"));
  frame.sandbox = "allow-scripts";
  addEventListener("message", ({ data }) => {
    said.push(data.method);
    if (data.method === "ui/initialize")
      frame.contentWindow.postMessage({ jsonrpc: "2.0", id: data.id, result: { hostContext: { theme: "dark", containerDimensions: { maxHeight: 500 } } } }, "*");
    if (data.method === "ui/notifications/size-changed") frame.height = data.params.height;
  });
  frame.srcdoc = html;
}"""


def test_an_mcp_client_shows_it_in_a_frame_without_rights(browser: Any, file: Path) -> None:
    page = browser.new_page()
    page.evaluate(HOST, file.read_text())
    page.wait_for_selector("iframe[height='500']")
    [frame] = page.frames[1:]
    assert frame.get_attribute("html", "data-theme") == "dark"
    assert page.evaluate("said")[:3] == [
        "ui/initialize",
        "ui/notifications/initialized",
        "ui/notifications/size-changed",
    ]
    frame.click("#tab-timeline")
    frame.wait_for_selector("#view-timeline .hit")
    page.close()


def test_an_empty_memory_says_what_to_do(browser: Any, tmp_path: Path) -> None:
    with open_memory(Notes(tmp_path / "workspace")) as memory:
        file = Path(memory.map().file)
    with opened(browser, file) as page:
        for view, title in zip(VIEWS, ("No concepts", "No line says", "No space", "No facts"), strict=False):
            page.click(f"#tab-{view}")
            settle(page)
            assert title in page.inner_text(f"#view-{view}")
        page.click("#tab-numbers")
        assert "In numbers" in page.inner_text("#view-numbers")
