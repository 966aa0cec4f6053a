"""Draw line charts as self-contained SVG text, in colours that are readable on light and dark pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import ceil, floor, log10

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 800, 400, 62, 250, 40, 48
_COLOURS = ("#d62728", "#1f77b4", "#2ca02c", "#ff7f0e", "#9467bd", "#8c564b", "#17becf", "#7f7f7f", "#bcbd22")
_GREY = "#888888"

Line = Sequence[tuple[float, float]]


def chart(title: str, across: str, up: str, lines: Mapping[str, Line], logarithmic: str = "") -> str:
    """A chart of ``lines`` by name, points being ``(x, y)``; ``logarithmic`` names axes of values above 0."""
    ticks_across = sorted({x for line in lines.values() for x, _ in line})
    values = [y for line in lines.values() for _, y in line]
    if "y" in logarithmic:
        ticks_up = [10.0**power for power in range(floor(log10(min(values))), ceil(log10(max(values))) + 1)]
    else:
        step = _round(max(values) / 5)
        ticks_up = [step * number for number in range(ceil(max(values) / step) + 1)]
    low, high = ticks_up[0], ticks_up[-1]

    def x_of(x: float) -> float:
        first, last = ticks_across[0], ticks_across[-1]
        share = log10(x / first) / log10(last / first) if "x" in logarithmic else (x - first) / (last - first)
        return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)

    def y_of(y: float) -> float:
        share = log10(y / low) / log10(high / low) if "y" in logarithmic else (y - low) / (high - low)
        return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        'font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        _text(_LEFT, 20, title, "start", 15),
        _text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 8, across, "middle"),
        f'<g transform="rotate(-90 14 {_HEIGHT / 2})">{_text(14, _HEIGHT / 2, up, "middle")}</g>',
    ]
    for y in ticks_up:
        out.append(_stroke([(_LEFT, y_of(y)), (_WIDTH - _RIGHT, y_of(y))], _GREY, 0.4))
        out.append(_text(_LEFT - 6, y_of(y) + 4, f"{y:g}", "end"))
    out += [_text(x_of(x), _HEIGHT - _BOTTOM + 16, f"{x:g}", "middle") for x in ticks_across]
    for at, (name, line) in enumerate(lines.items()):
        colour, width = _COLOURS[at % len(_COLOURS)], 3 if at == 0 else 1.6
        points = [(x_of(x), y_of(y)) for x, y in line]
        out.append(_stroke(points, colour, width))
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{width}" fill="{colour}"/>' for x, y in points]
        key = _TOP + 18 * at
        out.append(_stroke([(_WIDTH - _RIGHT + 14, key), (_WIDTH - _RIGHT + 34, key)], colour, width))
        out.append(_text(_WIDTH - _RIGHT + 40, key + 4, name, "start"))
    return "\n".join([*out, "</svg>", ""])


def _round(step: float) -> float:
    """The next 1, 2 or 5 times a power of ten."""
    power = 10.0 ** floor(log10(step))
    return next(power * part for part in (1, 2, 5, 10) if power * part >= step)


def _stroke(points: Line, colour: str, width: float) -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>'


def _text(x: float, y: float, text: str, anchor: str, size: int = 12) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{_GREY}">{escape(text)}</text>'
    )
