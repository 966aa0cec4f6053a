"""Which tests get which marker: by what their code reaches, and by how long they took when they were measured.

    python -m pytest -n 0 -m "not e2e" --junitxml=times.xml && python tests/markers.py times.xml

rewrites ``slow.txt``: what the quick run leaves out, a test function a line.  With ``[1:]`` behind it the first of
its cases stays in.
"""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from xml.etree import ElementTree

import pytest

HERE = Path(__file__).parent
SLOW = HERE / "slow.txt"

#: Seconds that all cases of a test function may take together in the quick run.
LIMIT = 0.15

#: What takes longer and is in the quick run all the same, with its first case: one of each kind.
KEPT = set(
    """
    test_cli::test_search
    test_cli::test_the_demo_runs_offline_and_finds_what_it_promises
    test_cli::test_the_module_can_be_run
    test_cli_errors::test_a_closed_pipe_is_no_traceback
    test_cli_errors::test_a_damaged_index_is_moved_aside_and_built_anew
    test_consolidate::test_a_year_becomes_one_summary_of_each_period
    test_crash_safety::test_kill_9_at_random_moments_loses_nothing
    test_embed_worker::test_a_build_for_another_cpu_means_keywords_and_one_clear_line
    test_embed_worker::test_a_crash_in_the_middle_costs_the_text_that_caused_it
    test_forget_crash::test_killed_at_any_step_the_next_ingest_finishes_it
    test_hits::test_an_incremental_index_answers_as_a_fresh_one
    test_keyword_index_contract::test_postings_equal_the_texts_after_any_history
    test_lease::test_a_holder_makes_others_wait_until_it_is_done
    test_map::test_it_is_one_file_that_only_its_owner_can_read
    test_model_pull::test_default_model_comes_from_a_wheel
    test_plugin_settings::test_setup_and_the_command_line_embed_with_the_plugins_model
    test_purge::test_killed_on_the_way_it_loses_nothing
    test_serve_lines::test_a_line_that_is_no_message_is_answered_with_an_error
    test_serve_process::test_a_call_that_cannot_be_answered_says_why
    test_serve_process::test_agents_and_workspaces_never_see_each_others_notes
    test_serve_process::test_it_ends_on_a_signal
    test_serve_process::test_the_sdks_client_lists_and_calls_every_tool
    test_serve_process::test_what_the_host_tells_is_done
    test_serve_process::test_with_a_model_it_answers_by_meaning
    test_setup_openclaw::test_setup_installs_switches_over_reads_and_searches
    test_setup_openclaw::test_uninstall_puts_back_what_was_there
    test_store::test_a_full_disk_loses_nothing_and_is_said_so
    test_watch::test_changes_additions_renames_and_deletions_are_ingested
    """.split()
)


def mark(items: list[pytest.Item]) -> None:
    """Set ``process``, ``property`` and ``slow``."""
    slow = set(SLOW.read_text(encoding="utf-8").split())
    cases: Counter[str] = Counter()
    reached: dict[object, bool] = {}
    for item in items:
        if not isinstance(item, pytest.Function):
            continue
        if getattr(item.function, "is_hypothesis_test", False):
            item.add_marker("property")
        name = f"{item.path.stem}::{item.originalname}"
        if name in slow or (cases[name] and f"{name}[1:]" in slow):
            item.add_marker("slow")
        cases[name] += 1
        fixtures = [each.func for known in item._fixtureinfo.name2fixturedefs.values() for each in known]
        if any(_starts_process(function, reached) for function in [item.function, *fixtures]):
            item.add_marker("process")


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


def main(*reports: str) -> None:
    """Write ``slow.txt`` from the times of JUnit reports, of several the shortest."""
    taken: dict[str, dict[str, float]] = defaultdict(dict)
    for report in reports:
        for case in ElementTree.parse(report).iter("testcase"):
            name, _, values = case.attrib["name"].partition("[")
            cases = taken[f"{case.attrib['classname'].rpartition('.')[2]}::{name}"]
            cases[values] = min(float(case.attrib["time"]), cases.get(values, math.inf))
    lines = [
        f"{name}[1:]" if name in KEPT or max(cases.values()) <= LIMIT else name
        for name, cases in sorted(taken.items())
        if sum(cases.values()) > LIMIT and not (name in KEPT and len(cases) == 1)
    ]
    SLOW.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
