"""Which tests get which marker: by what their code reaches, and by the processor time that they took when measured.

    python -m pytest -n 2 -m "not e2e and not postgres" --junitxml=times.xml && python tests/markers.py times.xml

rewrites ``slow.txt``, a test function a line: those whose cases took more than :data:`SHARE` seconds together.  With
``--check`` it changes nothing, and fails where a test took more than :data:`LIMIT` of what the whole report took.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from xml.etree import ElementTree

import pytest

HERE = Path(__file__).parent
SLOW = HERE / "slow.txt"

#: Seconds of the processor that all cases of a function may take in the quick run before it is listed as slow.
SHARE = 0.3

#: The share of the quick run that one of its thousands of tests may take: a ratio, which no slower machine changes.
LIMIT = 0.01

#: For a test of what every store promises: it runs over a file and over a server.
both = pytest.mark.usefixtures("over_both")
#: For one that is about the file, in a module of those.
file_only = pytest.mark.file_only


def mark(items: list[pytest.Item]) -> None:
    """Set ``process``, ``property`` and ``slow``."""
    slow = set(SLOW.read_text(encoding="utf-8").split())
    reached: dict[object, bool] = {}
    for item in items:
        if not isinstance(item, pytest.Function):
            continue
        if getattr(item.function, "is_hypothesis_test", False):
            item.add_marker("property")
        if f"{item.path.stem}::{item.originalname}" in slow:
            item.add_marker("slow")
        fixtures = [each.func for definitions in item._fixtureinfo.name2fixturedefs.values() for each in definitions]
        if any(_starts_process(function, reached) for function in [item.function, *fixtures]):
            item.add_marker("process")


def processor_seconds() -> float:
    """Return what this process and the ended ones that it started have computed; others at work do not change it."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _starts_process(function: object, reached: dict[object, bool]) -> bool:
    """Whether the code of the tests names ``subprocess``, itself or in what it calls."""
    if function not in reached:
        reached[function] = False  # what calls itself adds nothing
        reached[function] = function is subprocess or any(_starts_process(each, reached) for each in _used(function))
    return reached[function]


def _used(function: object) -> Iterator[object]:
    if isinstance(function, type):
        members = [each for each in vars(function).values() if isinstance(each, FunctionType)]
    else:
        function = getattr(function, "__wrapped__", function)
        members = [function] if isinstance(function, FunctionType) else []
    for member in members:
        if Path(member.__code__.co_filename).is_relative_to(HERE):
            for name in _names(member.__code__):
                named = subprocess if name == "subprocess" else member.__globals__.get(name)
                if named is subprocess or isinstance(named, (type, FunctionType)):
                    yield named


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names(each)


def _measured(report: str) -> Iterator[tuple[str, str, float]]:
    """Yield module and function, the case, and its seconds of the processor."""
    for case in ElementTree.parse(report).iter("testcase"):
        for entry in case.iter("property"):
            if entry.attrib["name"] == "processor_seconds":
                name, _, values = case.attrib["name"].partition("[")
                module = case.attrib["classname"].rpartition(".")[2]
                yield f"{module}::{name}", f"[{values}" * bool(values), float(entry.attrib["value"])


def _measured_again(name: str, case: str) -> float:
    """Return what a test takes the second time in a process: the first one in it loads what all others need."""
    module, function = name.split("::")
    file = str(next(HERE.rglob(f"{module}.py")))
    with tempfile.NamedTemporaryFile(suffix=".xml") as report:
        options = ["-q", "-n", "0", "--keep-duplicates", "-k", function, f"--junitxml={report.name}"]
        subprocess.run([sys.executable, "-m", "pytest", *options, file, file], check=True, stdout=subprocess.DEVNULL)
        return [seconds for other, each, seconds in _measured(report.name) if (other, each) == (name, case)][-1]


def main(report: str, *options: str) -> int:
    """Rewrite ``slow.txt`` from a JUnit report of all tests, or check a report of the quick run."""
    if "--check" in options:
        measured = list(_measured(report))
        limit = LIMIT * sum(seconds for _, _, seconds in measured)
        over = [
            f"{name}{case}: {seconds:.2f} s"
            for name, case, first in measured
            if first > limit and (seconds := _measured_again(name, case)) > limit
        ]
        for line in over:
            print(
                f"slow for the quick run, more than {limit:.2f} s of the processor; list it in tests/slow.txt: {line}"
            )
        return 1 if over else 0
    together: dict[str, float] = defaultdict(float)
    for name, _, seconds in _measured(report):
        together[name] += seconds
    names = [name for name, seconds in sorted(together.items()) if seconds > SHARE]
    SLOW.write_text("\n".join(names) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
