"""The map in a real browser: its size, how soon it can be used, how smoothly it moves, and pictures of its views.

    python -m benchmarks.map --workspace NOTES --pictures DIR     a picture of every view
    python -m benchmarks.map --units 60000                        figures of made-up notes of this size
    python -m benchmarks.map                                      figures of the example
    python -m benchmarks.map --nodes 5000                         of a network of 5,000 concepts

Needs Playwright (``pip install playwright``) and a Chromium: that of ``playwright install chromium``, or the system's.
Made-up notes and the example are in a temporary folder; vectors of the former are those of hashed words.
"""

from __future__ import annotations

import argparse
import base64
import json
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from openclaw_memory import Memory, Settings, example
from openclaw_memory.map.layout import place_nodes
from openclaw_memory.map.service import render_page

from . import corpus
from .hashing import HashingEmbedder

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SHADES = {"light": ("concepts", "timeline", "facts"), "dark": ("space", "numbers")}
VIEWS = ("concepts", "timeline", "space", "facts", "numbers")
#: Where systems have a Chromium.
EXECUTABLES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SIZE, PHONE = (1280, 800), (390, 780)
#: Frames that are timed while a view moves.
_FRAMES = 60
_MOVE = """async (frames) => {
  const canvas = document.querySelector('.view:not([hidden]) canvas');
  const stage = views[state.view].stage, times = [], work = [];
  const inner = stage.paintOn;
  stage.paintOn = (...on) => { const at = performance.now(); inner(...on); work.push(performance.now() - at); };
  let last = performance.now();
  for (let at = 0; at < frames; at++) {
    stage.zoom.translateBy(d3.select(canvas), at % 20 < 10 ? 9 : -9, 4 * Math.sin(at));
    stage.zoom.scaleBy(d3.select(canvas), at % 30 < 15 ? 1.02 : 1 / 1.02);
    await new Promise(requestAnimationFrame);
    const now = performance.now(); times.push(now - last); last = now;
  }
  stage.paintOn = inner;
  const middle = (some) => some.sort((a, b) => a - b)[Math.floor(some.length / 2)];
  return { frame: middle(times), late: times[Math.floor(times.length * 0.95)], drawing: middle(work) };
}"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless Chromium.  Raises ``RuntimeError`` saying how to get one."""
    from playwright.sync_api import Error, sync_playwright

    with sync_playwright() as playwright:
        found = next(filter(None, map(shutil.which, EXECUTABLES)), None)
        own = Path(playwright.chromium.executable_path).exists()
        try:
            browser = playwright.chromium.launch(executable_path=None if own else found, args=["--no-sandbox"])
        except Error as error:
            raise RuntimeError("no Chromium; run: playwright install chromium, or install the system's") from error
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(
    browser: Browser, file: Path, dark: bool = False, size: tuple[int, int] = SIZE, ratio: float = 1
) -> Iterator[Page]:
    """The map in a window of its own, drawn."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme="dark" if dark else "light",
        reduced_motion="reduce", device_scale_factor=ratio, offline=True,
    )  # fmt: skip
    page = context.new_page()
    try:
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready]")
        settle(page)
        yield page
    finally:
        context.close()


def settle(page: Page) -> None:
    """Wait until what was asked for is drawn."""
    page.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 120))))"
    )


def pictures(browser: Browser, file: Path, folder: Path, name: str = "map") -> None:
    """Every view, three in light and the rest in dark; a chosen concept, and the first view on a phone."""
    folder.mkdir(parents=True, exist_ok=True)
    for shade, views in SHADES.items():
        with opened(browser, file, shade == "dark") as page:
            for view in views:
                page.click(f"#tab-{view}")
                _taken(page, folder / f"{name}-{view}-{shade}.webp")
            if shade == "dark":
                page.click("#tab-concepts")
                page.click("#panel .rank >> nth=1")
                _taken(page, folder / f"{name}-chosen-dark.webp")
    with opened(browser, file, size=PHONE, ratio=2) as page:
        _taken(page, folder / f"{name}-phone-light.webp")


def _taken(page: Page, file: Path) -> None:
    """A picture of the window, as WebP: Playwright itself makes PNGs of twice the size."""
    settle(page)
    session = page.context.new_cdp_session(page)
    taken = session.send("Page.captureScreenshot", {"format": "webp", "quality": 86})
    file.write_bytes(base64.b64decode(taken["data"]))


def figures(browser: Browser, file: Path) -> dict[str, Any]:
    """Megabytes, seconds until it can be used, and milliseconds a frame of the two views that are moved.

    ``frame`` is the median time between frames, ``late`` the 95th percentile, ``drawing`` the median in our own code.
    """
    started = time.perf_counter()
    out: dict[str, Any] = {"mb": round(file.stat().st_size / 1e6, 2)}
    with opened(browser, file) as page:
        out["usable_s"] = round(time.perf_counter() - started, 2)
        timing = page.evaluate("() => performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
        out["script_done_ms"] = round(timing)
        for view in ("concepts", "space"):
            page.click(f"#tab-{view}")
            settle(page)
            if page.query_selector(".view:not([hidden]) canvas"):
                out[view] = {key: round(value, 1) for key, value in page.evaluate(_MOVE, _FRAMES).items()}
    return out


def drawn(folder: Path, units: int | None) -> Path:
    """A map of the example, or of made-up notes, in ``folder``."""
    workspace = folder / ("example" if units is None else "generated")
    if units is None:
        example.copy_to(workspace)
    else:
        corpus.write_workspace(workspace, units)
    embedder = None if units is None else HashingEmbedder(384)
    with Memory(
        workspace,
        settings=Settings.load(),
        embedder=embedder,
        db=folder / "index.duckdb",
        state=folder / "state.sqlite",
    ) as memory:
        memory.ingest()
        if units is None:
            # As it is once the example is in use: with a correction, and summaries.
            memory.facts.add("JR", "lives in", "Utrecht", source="USER.md", since=date(2026, 3, 1))
            memory.consolidate(now=date(2026, 6, 1))
        report = memory.map(folder / "map.html")
        print(
            json.dumps(
                {"lines": report.total_lines, "concepts": report.total_concepts, "seconds": round(report.seconds, 2)}
            )
        )
        return Path(report.file)


def crowded(file: Path, nodes: int) -> None:
    """Put a network of so many concepts, in groups, into a map that is there."""
    rng = np.random.default_rng(0)
    text = file.read_text(encoding="utf-8")
    held = re.findall(r'id="data">(.*?)</script>', text, re.DOTALL)[0]
    data = json.loads(held)
    groups = max(1, nodes // 40)
    group = rng.integers(0, groups, nodes)
    ordered = np.argsort(group, kind="stable")
    start = rng.integers(0, nodes - 1, 3 * nodes)
    ends = np.stack([ordered[start], ordered[np.minimum(start + rng.integers(1, 20, 3 * nodes), nodes - 1)]], axis=1)
    ends = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
    units = (2 + 400 / (1 + rng.permutation(nodes))).astype(int)
    spots = np.rint(place_nodes(nodes, ends[:, 0], ends[:, 1], np.ones(len(ends)), 1.0 + units) * 4000).astype(int)
    data["network"] = {
        "name": [f"concept {at}" for at in range(nodes)], "slug": [f"concept-{at}" for at in range(nodes)],
        "kind": [("", "tag", "code")[at % 3] for at in range(nodes)], "curated": [0] * nodes, "aliases": [[]] * nodes,
        "units": units.tolist(), "first": [0] * nodes, "last": [0] * nodes, "x": spots[:, 0].tolist(),
        "y": spots[:, 1].tolist(), "links": [[a, b, 0.5] for a, b in ends.tolist()], "about": None,
    }  # fmt: skip
    data["lines"]["concepts"] = [[]] * len(data["lines"]["text"])
    data["facts"] = []
    file.write_text(render_page(data), encoding="utf-8")


def main() -> None:
    """Print figures as JSON; make pictures where asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workspace", type=Path, help="notes of which a map is drawn (their usual index)")
    parser.add_argument("--file", type=Path, help="a map that is there already")
    parser.add_argument("--units", type=int, help="made-up notes of so many lines")
    parser.add_argument("--nodes", type=int, help="with a made-up network of so many concepts instead of its own")
    parser.add_argument("--pictures", type=Path, metavar="DIR", help="write pictures of every view")
    parser.add_argument("--name", default="map", help="how their names begin")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, chromium() as browser:
        if options.file is not None:
            file = options.file.absolute()
        elif options.workspace is not None:
            with Memory(options.workspace) as memory:
                file = Path(memory.map(Path(temporary) / "map.html").file)
        else:
            file = drawn(Path(temporary), options.units)
        if options.nodes is not None:
            crowded(file, options.nodes)
        if options.pictures is not None:
            pictures(browser, file, options.pictures, options.name)
        print(json.dumps(figures(browser, file)))


if __name__ == "__main__":
    main()
