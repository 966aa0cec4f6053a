"""Native code that ends its process, or computes nonsense, costs vectors and nothing else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from crashing import Bindings
from fakes import Notes
from serving import serving

from openclaw_memory import Memory, Settings
from openclaw_memory.cli.checks import examine
from openclaw_memory.embed.bindings import BINDINGS, install_advice, installed_bindings
from openclaw_memory.embed.llama import CrashRecord, LlamaCppEmbedder
from openclaw_memory.errors import EngineError, ModelError

SIGNALS = [("SIGSEGV", "segmentation fault"), ("SIGILL", "illegal instruction"), ("SIGABRT", "aborted")]


@pytest.fixture
def bindings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bindings:
    return Bindings(tmp_path / "bindings", monkeypatch)


@pytest.fixture
def workspace(notes: Notes) -> Path:
    notes.write("memory/2026-03-03.md", "# Backups\n\n- The backups moved to the attic.\n- Anouk has the key.\n")
    return notes.root


def memory_of(workspace: Path, model: Path, **settings: str) -> Memory:
    named = {f"embedding.{key}": value for key, value in settings.items()}
    return Memory(workspace, settings=Settings().with_values({"embedding.model": str(model), **named}))


def run(workspace: Path, model: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "openclaw_memory", "-w", str(workspace), "--set", f"embedding.model={model}"]
    return subprocess.run([*command, *arguments], capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize(("name", "words"), SIGNALS)
def test_a_build_for_another_cpu_means_keywords_and_one_clear_line(
    bindings: Bindings, workspace: Path, tiny_gguf: Path, name: str, words: str
) -> None:
    for binding in BINDINGS:
        bindings.signalled(binding.package, name)
    with memory_of(workspace, tiny_gguf) as memory:
        report = memory.ingest()
        assert report.embedded == 0
        assert name in (report.warning or "")
        result = memory.search("where did the backups move?")
        assert result.results[0].path == "memory/2026-03-03.md"
        told = result.fallback or ""
        assert "searching by keywords" in told
        assert name in told and words in told
        assert "llama-cpp-python" in told and "openclaw-memory doctor" in told
        assert memory.status().fallback == told


def test_a_build_that_died_is_not_started_again(bindings: Bindings, workspace: Path, tiny_gguf: Path) -> None:
    for binding in BINDINGS:
        bindings.signalled(binding.package, "SIGILL")
    for _ in range(2):
        with memory_of(workspace, tiny_gguf) as memory:
            memory.ingest()
            for _ in range(5):
                memory.search("backups")
            memory.status()
    done = run(workspace, tiny_gguf, "search", "backups", "--json")
    assert "SIGILL" in json.loads(done.stdout)["fallback"]
    assert bindings.starts == ["llama_cpp", "xllamacpp"]


def test_another_build_is_tried_by_doctor(bindings: Bindings, workspace: Path, tiny_gguf: Path) -> None:
    bindings.signalled("xllamacpp", "SIGILL")
    with memory_of(workspace, tiny_gguf, binding="xllamacpp") as memory:
        assert memory.ingest().embedded == 0
    bindings.frail()
    with memory_of(workspace, tiny_gguf, binding="xllamacpp") as memory:
        memory.prove_embedder()
        assert memory.ingest().embedded > 0


def test_doctor_tries_again_and_says_what_died(bindings: Bindings, workspace: Path, tiny_gguf: Path) -> None:
    for binding in BINDINGS:
        bindings.signalled(binding.package, "SIGSEGV")
    for _ in range(2):
        done = run(workspace, tiny_gguf, "doctor", "--json")
        checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
        assert not checks["model"]["ok"]
        assert "SIGSEGV" in checks["model"]["detail"]
    assert bindings.starts == ["llama_cpp", "xllamacpp"] * 2


def test_the_other_binding_takes_over(bindings: Bindings, workspace: Path, tiny_gguf: Path) -> None:
    bindings.signalled("llama_cpp", "SIGSEGV")
    bindings.frail()
    for _ in range(2):
        with memory_of(workspace, tiny_gguf) as memory:
            assert memory.ingest().warning is None
            assert memory.search("backups").fallback is None
            assert (memory.status().binding or "").startswith("xllamacpp")
    assert bindings.starts.count("llama_cpp") == 1
    done = run(workspace, tiny_gguf, "doctor", "--json")
    told = [check["detail"] for check in json.loads(done.stdout)["checks"] if check["name"] == "llama.cpp"]
    assert any("SIGSEGV" in detail and "used instead" in detail for detail in told)


def test_doctor_names_an_idle_gpu(
    workspace: Path, tiny_gguf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "bin" / "nvidia-smi"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho 'NVIDIA RTX 5070 Ti'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tool.parent), prepend=os.pathsep)
    with memory_of(workspace, tiny_gguf) as memory:
        memory.ingest()
        checks = {check.name: check for check in examine(memory)}
    assert checks["gpu"].ok and checks["gpu"].remark
    assert "RTX 5070 Ti is idle" in checks["gpu"].detail
    assert "GGML_CUDA=on" in (checks["gpu"].fix or "")
    with memory_of(workspace, tiny_gguf, gpu="false") as memory:
        assert "gpu" not in {check.name for check in examine(memory)}


def test_nonsense_is_a_failed_proof(bindings: Bindings, tiny_gguf: Path, tmp_path: Path) -> None:
    bindings.frail()
    file = bindings.folder / "xllamacpp" / "__init__.py"
    file.write_text(file.read_text().replace("rows = [[", "rows = [[len(texts) * 9.0 * (i % 2) +"))
    embedder = LlamaCppEmbedder(tiny_gguf, model="m", binding="xllamacpp", crashes=CrashRecord(tmp_path))
    with pytest.raises(EngineError, match="nonsense"):
        embedder.embed_query(["now"])
    embedder.close()


def test_a_crash_in_the_middle_costs_the_text_that_caused_it(bindings: Bindings, notes: Notes, tiny_gguf: Path) -> None:
    bindings.frail()
    lines = [f"- line {i} of the notes about {'poison' if i == 70 else 'tulips'}" for i in range(140)]
    notes.write("MEMORY.md", "\n".join(lines))
    with memory_of(notes.root, tiny_gguf, binding="xllamacpp") as memory:
        report = memory.ingest()
        assert (report.embedded, report.pending) == (139, 0)
        assert "could not be embedded" in (report.warning or "")
        assert memory.search("tulips").fallback is None
        died = memory.search("what is poison?")
        assert "SIGSEGV" in (died.fallback or "")
        assert died.results[0].start_line <= 71 <= died.results[0].end_line
        assert memory.search("are there tulips?").fallback is None


def test_ends_without_number_are_not_answered_by_starts_without_number(
    bindings: Bindings, tiny_gguf: Path, tmp_path: Path
) -> None:
    bindings.frail()
    embedder = LlamaCppEmbedder(tiny_gguf, model="m", binding="xllamacpp", crashes=CrashRecord(tmp_path))
    for _ in range(30):
        with pytest.raises(ModelError):
            embedder.embed_query(["poison"])
    assert len(bindings.starts) == 8
    assert "8 times" in (embedder.failure or "")
    embedder.close()


def test_a_read_only_cache_starts_a_dead_build_once_a_process(
    bindings: Bindings, tiny_gguf: Path, tmp_path: Path
) -> None:
    bindings.signalled("xllamacpp", "SIGILL")
    in_the_way = tmp_path / "a-file"
    in_the_way.write_text("")
    embedder = LlamaCppEmbedder(tiny_gguf, model="m", binding="xllamacpp", crashes=CrashRecord(in_the_way / "models"))
    for _ in range(3):
        with pytest.raises(EngineError, match="SIGILL"):
            embedder.embed_query(["now"])
    embedder.close()
    assert bindings.starts == ["xllamacpp"]


def test_last_words_of_native_code_are_told(bindings: Bindings, tiny_gguf: Path) -> None:
    bindings.dying("xllamacpp", "os.write(2, b'GGML_ASSERT(ne00 == ne10) failed\\n'); os.abort()")
    embedder = LlamaCppEmbedder(tiny_gguf, model="m", binding="xllamacpp")
    with pytest.raises(EngineError, match=r"SIGABRT.*GGML_ASSERT\(ne00 == ne10\) failed"):
        embedder.embed_query(["now"])
    embedder.close()


def test_a_binding_that_cannot_be_imported_is_named(bindings: Bindings, tiny_gguf: Path) -> None:
    bindings.dying("xllamacpp", "raise ImportError('libgomp.so.1: no such file')")
    embedder = LlamaCppEmbedder(tiny_gguf, model="m", binding="xllamacpp")
    with pytest.raises(EngineError, match=r"xllamacpp.*cannot be imported.*libgomp"):
        embedder.embed_query(["now"])
    embedder.close()


def test_without_a_binding_every_output_names_the_command_that_brings_one(
    workspace: Path, tiny_gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("openclaw_memory.embed.bindings.find_spec", lambda name: None)
    command = f"{sys.executable} -m pip install"
    assert command in install_advice()
    assert installed_bindings() == ()
    with memory_of(workspace, tiny_gguf) as memory:
        assert command in (memory.ingest().warning or "")
        assert command in (memory.search("backups").fallback or "")
        assert command in (memory.status().fallback or "")


def test_the_worker_ends_even_while_native_code_computes(bindings: Bindings, tiny_gguf: Path) -> None:
    bindings.frail()
    code = (
        "import threading, time; from openclaw_memory.embed.llama import LlamaCppEmbedder\n"
        f"e = LlamaCppEmbedder({str(tiny_gguf)!r}, model='m', binding='xllamacpp').load()\n"
        "threading.Thread(target=e.embed_query, args=(['silence'],), daemon=True).start()\n"
        "time.sleep(0.2); print('ready', flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "ready\n"
        workers = psutil.Process(parent.pid).children(recursive=True)
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait()
    _, alive = psutil.wait_procs(workers, timeout=30)
    assert not alive


def test_ctrl_c_is_not_for_the_worker(tiny_gguf: Path) -> None:
    code = (
        "import signal, time; from openclaw_memory.embed.llama import LlamaCppEmbedder\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"e = LlamaCppEmbedder({str(tiny_gguf)!r}, model='m').load(); print('ready', flush=True)\n"
        "try:\n    time.sleep(600)\nexcept KeyboardInterrupt:\n    print(e.embed_query(['still here']).shape)"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "ready\n"
        time.sleep(0.05)
        os.killpg(parent.pid, signal.SIGINT)
        assert parent.stdout.read() == "(1, 32)\n"


def test_an_interrupted_question_does_not_answer_the_next_one(bindings: Bindings, tiny_gguf: Path) -> None:
    bindings.frail()
    code = (
        "import os, signal, threading; from openclaw_memory.embed.llama import LlamaCppEmbedder\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"e = LlamaCppEmbedder({str(tiny_gguf)!r}, model='m', binding='xllamacpp').load()\n"
        "expected = e.embed_query(['abc'])\n"
        "threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "try:\n    e.embed_query(['silence'])\n"
        "except KeyboardInterrupt:\n    print(bool((e.embed_query(['abc']) == expected).all()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_what_lies_in_the_current_folder_is_not_imported(
    tmp_path: Path, tiny_gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json.py", "queue.py", "llama_cpp.py", "xllamacpp.py"):
        (tmp_path / name).write_text("raise SystemExit('imported from the current folder')")
    monkeypatch.chdir(tmp_path)
    embedder = LlamaCppEmbedder(tiny_gguf, model="m")
    assert embedder.embed_query(["now"]).shape == (1, 32)
    embedder.close()


def test_the_server_lives_and_answers_by_keywords(
    workspace: Path, tiny_gguf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENCLAW_MEMORY_COMMAND", "openclaw memory")  # as OpenClaw's plugin does
    bindings = Bindings(tmp_path / "plugins", monkeypatch)  # where the server looks first
    for binding in BINDINGS:
        bindings.signalled(binding.package, "SIGSEGV")
    model = ("--set", f"embedding.model={tiny_gguf}")
    with serving(tmp_path, "--for-host", "--workspace", str(workspace), before=model) as client:
        client.handshake()
        asked = {"query": "where did the backups move?"}
        until = time.monotonic() + 60  # the first ingest takes its time on a busy machine
        while not client.call("memory_search", asked)["structuredContent"]["results"]:
            assert time.monotonic() < until
        for _ in range(3):
            found = client.call("memory_search", asked)["structuredContent"]
            assert found["results"][0]["path"] == "memory/2026-03-03.md"
            assert "SIGSEGV" in found["fallback"] and "openclaw memory doctor" in found["fallback"]
        status = client.call("memory_status")["structuredContent"]
        assert "SIGSEGV" in status["fallback"]
        assert client.process.poll() is None
        assert psutil.Process(client.process.pid).children(recursive=True) == []
    assert bindings.starts == ["llama_cpp", "xllamacpp"]


def test_the_first_command_of_a_newcomer_runs_all_the_same(bindings: Bindings, tiny_gguf: Path) -> None:
    for binding in BINDINGS:
        bindings.signalled(binding.package, "SIGILL")
    command = [sys.executable, "-m", "openclaw_memory", "--set", f"embedding.model={tiny_gguf}", "demo"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0
    assert "QX-7714" in done.stdout
    assert done.stderr.count("SIGILL") == len(BINDINGS)
    assert "openclaw-memory doctor" in done.stderr
