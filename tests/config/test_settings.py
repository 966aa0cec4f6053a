"""Settings: where each value comes from, and errors that name the file, the key and the closest name."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import table

from openclaw_memory.config.settings import (
    HOST_VARIABLES,
    ExtraPath,
    Settings,
    config_path,
    load,
    value_of,
    walk,
)
from openclaw_memory.errors import SettingsError

KEYS = [key for key, _, _ in walk(Settings())]


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_later_sources_win_and_each_value_knows_where_it_came_from(tmp_path: Path) -> None:
    file = write(tmp_path / "c.yaml", "search:\n  max_results: 7\n  min_score: 0.5\n  snippet_chars: 100\n")
    environ = {"OPENCLAW_MEMORY_SEARCH_MIN_SCORE": "0.25", "OPENCLAW_MEMORY_SEARCH_SNIPPET_CHARS": "200"}
    settings, source = load(file, {"search.snippet_chars": "300"}, environ)
    search = settings.search
    assert (search.mode, search.max_results, search.min_score, search.snippet_chars) == ("hybrid", 7, 0.25, 300)
    assert [source[f"search.{name}"] for name in ("mode", "max_results", "min_score", "snippet_chars")] == [
        "default",
        str(file),
        "environment OPENCLAW_MEMORY_SEARCH_MIN_SCORE",
        "argument",
    ]


def test_the_file_is_found_in_the_configuration_folder_or_by_the_environment(tmp_path: Path) -> None:
    assert Settings.load(environ={}).search.max_results == 6
    write(config_path(), "search: {max_results: 8}\n")
    assert Settings.load(environ={}).search.max_results == 8
    other = write(tmp_path / "other.yaml", "search: {max_results: 9}\n")
    assert Settings.load(environ={"OPENCLAW_MEMORY_CONFIG": str(other)}).search.max_results == 9
    assert Settings.load(write(tmp_path / "third.yaml", ""), environ={}).search.max_results == 6


@pytest.mark.parametrize("by_environment", [True, False])
def test_a_named_file_that_is_not_there_is_an_error(tmp_path: Path, by_environment: bool) -> None:
    missing = tmp_path / "no.yaml"
    given = {"environ": {"OPENCLAW_MEMORY_CONFIG": str(missing)}} if by_environment else {"config": missing}
    with pytest.raises(SettingsError, match=r"no\.yaml: no such configuration file"):
        load(**{"environ": {}, **given})


@pytest.mark.parametrize(("text", "words"), table("settings.tsv", "errors"))
def test_each_error_names_the_file_the_key_and_what_is_right(tmp_path: Path, text: str, words: str) -> None:
    file = write(tmp_path / "c.yaml", text)
    with pytest.raises(SettingsError) as caught:
        load(file, environ={})
    message = str(caught.value)
    for word in (str(file), *words.split(" | ")):
        assert word in message
    assert "\n" not in message and len(message) < 500 + len(str(file))


def test_a_file_that_is_not_text_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_bytes(b"\xff\xfe\0")
    with pytest.raises(SettingsError, match=r"c\.yaml: cannot be read as YAML"):
        load(file, environ={})


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("SEARCH_MODE", "x", ["environment OPENCLAW_MEMORY_SEARCH_MODE", "one of hybrid, vector, keyword"]),
        ("INGEST_EXTRA_PATHS", "[", ["OPENCLAW_MEMORY_INGEST_EXTRA_PATHS", "YAML"]),
    ],
)
def test_errors_in_the_environment_name_the_variable(name: str, value: str, words: list[str]) -> None:
    with pytest.raises(SettingsError) as caught:
        load(environ={f"OPENCLAW_MEMORY_{name}": value})
    assert all(word in str(caught.value) for word in words)


def test_an_empty_variable_is_one_that_is_not_set() -> None:
    settings, source = load(environ={f"OPENCLAW_MEMORY_{key.upper().replace('.', '_')}": " " for key in KEYS})
    assert (settings, set(source.values())) == (Settings(), {"default"})


def test_variables_of_the_command_line_and_of_others_are_left_alone() -> None:
    environ = dict.fromkeys(HOST_VARIABLES - {"OPENCLAW_MEMORY_CONFIG"}, "x") | {"OPENCLAW_STATE_DIR": "x", "PATH": "y"}
    assert load(environ=environ)[0] == Settings()


def test_a_variable_that_is_no_setting_changes_nothing_and_is_told_of() -> None:
    environ = {"OPENCLAW_MEMORY_SERCH_MODE": "x", "OPENCLAW_MEMORY_SERVICE_URL": "y", "OPENCLAW_MEMORY_SEARCH_MODE": ""}
    settings = load(environ=environ)[0]
    misspelt, foreign = map(str, settings.ignored)
    assert settings == Settings()
    assert "OPENCLAW_MEMORY_SERCH_MODE" in misspelt and "did you mean 'OPENCLAW_MEMORY_SEARCH_MODE'?" in misspelt
    assert "OPENCLAW_MEMORY_SERVICE_URL" in foreign and "did you mean" not in foreign


@pytest.mark.parametrize(("text", "words"), table("settings.tsv", "no settings"))
def test_what_is_no_setting_is_named_and_the_rest_counts(tmp_path: Path, text: str, words: str) -> None:
    file = write(tmp_path / "c.yaml", f"{text}redaction: {{allow: [x]}}\n")
    settings = load(file, {"store.gone": 1}, {})[0]
    assert settings == Settings().with_values({"redaction.allow": ["x"]})
    in_file, argument = map(str, settings.ignored)
    assert in_file.startswith(f"{file}: {words}") and argument.startswith("argument: 'store.gone' is no setting")


def test_an_entry_of_a_mapping_is_set_by_its_own_key_and_the_others_stay(tmp_path: Path) -> None:
    file = write(tmp_path / "c.yaml", "retention: {plan: custom, daily_days: 9}\nsearch:\n  weights: {date: 2}\n")
    environ = {"OPENCLAW_MEMORY_RETENTION_DAILY_DAYS": "7", "OPENCLAW_MEMORY_CONSOLIDATE_BUDGETS_WEEKLY": "300"}
    settings, source = load(file, {"search.weights.bm25_unit": "1"}, environ)
    assert settings.retention == {"plan": "custom", "daily_days": 7}
    assert settings.search.weights == {"date": 2.0, "bm25_unit": 1.0}
    assert settings.consolidate.budgets == {"weekly": 300.0}
    assert source["retention"] == "environment OPENCLAW_MEMORY_RETENTION_DAILY_DAYS"
    assert source["search.weights"] == "argument"


def test_values_are_read_from_text_by_type() -> None:
    settings = Settings().with_values(
        {
            "embedding.gpu": "off",
            "embedding.threads": " 3 ",
            "ingest.fresh_seconds": "1e1",
            "search.weights": "{bm25_unit: 2}",
            "plugins.disabled": "[redact, mine]",
            "ingest.extra_paths": "[{path: ~/wiki, name: wiki, origin: agent}]",
        }
    )
    assert (settings.embedding.gpu, settings.embedding.threads, settings.ingest.fresh_seconds) == (False, 3, 10.0)
    assert settings.search.weights == {"bm25_unit": 2.0}
    assert settings.plugins.disabled == ["redact", "mine"]
    assert settings.ingest.extra_paths == [ExtraPath("~/wiki", "wiki", "agent")]
    assert Settings().with_values({"plugins.disabled": "redact"}).plugins.disabled == ["redact"]


@pytest.mark.parametrize("key", ["", ".", "search", "search.", ".mode", "search.mode.x", "Search.mode", "__class__.x"])
def test_a_key_that_is_none_is_refused(key: str) -> None:
    with pytest.raises(SettingsError, match="unknown key"):
        Settings().with_values({key: "1"})


@given(
    key=st.sampled_from(KEYS),
    value=st.one_of(
        st.text(),
        st.integers(),
        st.floats(),
        st.booleans(),
        st.none(),
        st.lists(st.integers()),
        st.dictionaries(st.text(), st.integers()),
    ),
)
def test_any_value_is_taken_in_its_type_or_refused_in_words(key: str, value: Any) -> None:
    try:
        settings = Settings().with_values({key: value})
    except SettingsError as error:
        said = str(error)
    else:
        said = None
    if said is not None:
        assert key in said
        return
    taken = value_of(settings, key)
    assert type(taken) is type(value_of(Settings(), key))
    if isinstance(taken, float):
        assert math.isfinite(taken)


def test_each_setting_has_a_type_that_is_read_a_help_text_and_a_valid_default() -> None:
    for key, value, meta in walk(Settings()):
        assert meta["help"] and not meta["help"].endswith("."), key
        assert Settings().with_values({key: value}) == Settings(), key
