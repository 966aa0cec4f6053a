"""Write ``openclaw_memory/text/calendar_cldr.txt`` from the Unicode CLDR.

    npm pack cldr-dates-full@48.2.0 cldr-rbnf@48.2.0
    mkdir cldr && for f in cldr-*.tgz; do tar xzf "$f" -C cldr --strip-components=1; done
    python -m benchmarks.calendar_words cldr

Babel carries the same months, weekdays and formats, but neither "yesterday" nor "last Monday", so the JSON files that
CLDR publishes are read.
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .stop_words import LANGUAGES

#: Those of the stop words; not those whose short words are words of many others.
_NAMES = {code: name for code, name in LANGUAGES.items() if code not in ("eo", "eu", "ga", "st")} | {"th": "thai"}
_TARGET = Path(__file__).parents[1] / "openclaw_memory" / "text" / "calendar_cldr.txt"
_HEADER = """\
# Months, weekdays, relative days, numbers and formats of dates.  Made by benchmarks/calendar_words.py; do not edit.
# Source: Unicode CLDR {version}, npm packages cldr-dates-full and cldr-rbnf {package} (Unicode License V3,
# https://www.unicode.org/license.txt, Copyright 1991-present Unicode, Inc.).
# {{0}} is a number; phrases are apart by " | ".  What CLDR does not have stands in calendar_own.txt.
"""
_UNITS = ("day", "week", "month", "year")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_FORMATS = ("full", "long", "medium")
_COUNTS = {"one": 1, "two": 2}
_WORD = re.compile(r"[^\W\d_]+")


def main() -> None:
    """Write the file."""
    source = Path(sys.argv[1])
    about = json.loads((source / "package.json").read_text(encoding="utf-8"))
    out = [_HEADER.format(version=about["cldrVersion"], package=about["version"])]
    for code, language in sorted(_NAMES.items(), key=lambda item: item[1]):
        if (source / "main" / code).is_dir():
            lines = [f"{key}: {said}" for key, said in _section(source, code) if said]
            out.append("\n".join([f"[{language}]", *lines]) + "\n")
    _TARGET.write_text("\n".join(out), encoding="utf-8")


def _section(source: Path, code: str) -> Iterable[tuple[str, str]]:
    calendar = _read(source / "main" / code / "ca-gregorian.json", code, "calendars")["gregorian"]
    fields = _read(source / "main" / code / "dateFields.json", code, "fields")
    shown = calendar["dateTimeFormats"]["availableFormats"]
    formats = [calendar["dateFormats"][size] for size in _FORMATS] + [shown["yMMMM"], shown["yMMM"], shown["MMMMd"]]
    prefixes = {prefix for text in formats for prefix in re.findall(r"([^\W\d_a-zA-Z]+)MMM", text)} - set("年년")
    formats = [re.sub("|".join(prefixes) or r"\Z", "", text) for text in formats]
    yield "order", "".join(re.findall(r"([dMy])\1*", shown["yMd"])).lower()
    yield "format", _joined(formats, keep=True)
    for number in range(1, 13):
        wide = {calendar["months"][form]["wide"][str(number)] for form in ("format", "stand-alone")}
        short = {calendar["months"][form]["abbreviated"][str(number)] for form in ("format", "stand-alone")}
        wide |= {prefix + name for prefix in prefixes for name in wide}
        short |= {prefix + name for prefix in prefixes for name in short}
        yield f"month.{number}", _joined(wide)
        yield f"month-short.{number}", _joined(short - wide)
    for number, day in enumerate(_WEEKDAYS):
        days = calendar["days"]
        wide = {days[form]["wide"][day] for form in ("format", "stand-alone")}
        yield f"weekday.{number}", _joined(wide)
        brief = {days[form][size][day] for form in ("format", "stand-alone") for size in ("abbreviated", "short")}
        yield f"weekday-short.{number}", _joined(brief - wide)
        for step in (-1, 0, 1):
            yield f"weekday.{number}.{step}", _joined([fields[day].get(f"relative-type-{step}", "")])
    for unit in (*_UNITS, "quarter"):
        field = fields[unit]
        for step in range(-2, 3):
            yield f"relative.{unit}.{step}", _joined([field.get(f"relative-type-{step}", "")])
        if unit == "quarter":
            continue
        for key, direction in (("ago", "past"), ("ahead", "future")):
            by_count: dict[int, list[str]] = {}
            for name, text in field[f"relativeTime-type-{direction}"].items():
                text = text.replace("({0})", "")
                by_count.setdefault(0 if "{0}" in text else _COUNTS.get(name.rpartition("-")[2], -1), []).append(text)
            for count, texts in by_count.items():
                if count >= 0:
                    yield f"{key}.{unit}" + (f".{count}" if count else ""), _joined(texts)
        yield f"noun.{unit}", _joined(_nouns(fields, unit))
    periods = [calendar["dayPeriods"][form]["wide"].items() for form in ("format", "stand-alone")]
    times = [text for each in periods for name, text in each if name.partition("-")[0] not in ("am", "pm")]
    yield "period", _joined(times)
    numbers: dict[int, set[str]] = {}
    for name, rules in _rules(source / "rbnf" / f"{code}.json").items():
        if re.match(r"%%?spellout-(?:cardinal|numbering)", name) and not re.search(
            "plural|year|financial|verbose", name
        ):
            for base, rule in rules:
                word = re.sub(r"\[.*\]", "", rule.rstrip(";"))
                if base.isdigit() and 1 <= int(base) <= 12 and not re.search(r"[=←→%]", word):
                    numbers.setdefault(int(base), set()).add(word.replace("\u00ad", ""))
    for number in sorted(numbers):
        yield f"number.{number}", _joined(numbers[number])


def _nouns(fields: dict[str, Any], unit: str) -> set[str]:
    """Words for a unit: those of its patterns that no other unit's patterns have, and its name."""

    def words(of: str) -> set[str]:
        return {
            word
            for direction in ("past", "future")
            for text in fields[of][f"relativeTime-type-{direction}"].values()
            for word in _WORD.findall(text.replace("{0}", " "))
        }

    others = set[str]().union(*(words(other) for other in _UNITS if other != unit))
    return {fields[unit]["displayName"], *(words(unit) - others)}


def _read(file: Path, code: str, part: str) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))["main"][code]["dates"][part]


def _rules(file: Path) -> dict[str, list[list[str]]]:
    if not file.exists():
        return {}
    rules: dict[str, list[list[str]]] = json.loads(file.read_text(encoding="utf-8"))["rbnf"]["rbnf"]["SpelloutRules"]
    return {name: found for name, found in rules.items() if isinstance(found, list)}


def _joined(texts: Iterable[str], keep: bool = False) -> str:
    """Phrases apart by bars: composed, without invisible marks; in small letters and sorted unless they are formats."""
    out = [re.sub("[\u200e\u200f\u061c]", "", unicodedata.normalize("NFKC", text)) for text in texts]
    if keep:
        return " | ".join(dict.fromkeys(out))
    return " | ".join(sorted({text.lower().strip(" .") for text in out} - {""}))


if __name__ == "__main__":
    main()
