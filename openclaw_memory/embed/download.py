"""Download a GGUF file over HTTP: a download that broke off is resumed, also by the next process."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..errors import ModelError
from ..model import Progress
from .gguf_file import MAGIC

if TYPE_CHECKING:
    import httpx

#: The hub of the registry's models; the variable ``HF_ENDPOINT`` names a mirror, ``HF_TOKEN`` a key for either.
HUB = "https://huggingface.co/"
#: Name of what is there of a file.
PART = "part"

#: Seconds before each further attempt, after attempts that brought nothing new; longest wait that a server may ask for.
_PAUSES, _LONGEST = (1.0, 3.0, 10.0), 120.0


class _Transient(Exception):
    """An attempt failed that may succeed in ``seconds``, by default after the next pause."""

    def __init__(self, reason: str, seconds: float | None = None) -> None:
        super().__init__(reason)
        self.seconds = seconds


def download(url: str, folder: Path, size: int, progress: Progress) -> Path:
    """Return the file at ``url``, as ``folder / PART``; ``size`` (bytes) is expected, 0 if unknown.

    What ``folder`` has of it is not fetched again.  Raises :class:`~openclaw_memory.errors.ModelError`; where the
    network failed, what came stays.
    """
    import httpx

    address = _mirrored(url)
    part, origin = folder / PART, folder / "origin"
    begun = furthest = _size(part)
    failures = 0
    progress("downloading", begun, size)
    with httpx.Client(follow_redirects=True, timeout=30.0, headers=_headers(address)) as client:
        while True:
            try:
                return _receive(client, address, part, origin, size, progress)
            except _Transient as error:
                done = _size(part)
                failures = 1 if done > furthest else failures + 1
                furthest = max(furthest, done)
                offline = furthest == begun and isinstance(error.__cause__, httpx.ConnectError)
                pause = error.seconds if error.seconds is not None else _PAUSES[min(failures, len(_PAUSES)) - 1]
                if offline or failures > len(_PAUSES) or pause > _LONGEST:
                    later = f" in {pause / 60:.0f} minutes" if pause > _LONGEST else ""
                    rest = ", which goes on from there" if done else ""
                    raise ModelError(
                        f"{without_secrets(address)}: the download failed after {done:,} bytes ({error}); check the "
                        f"network and run the same again{later}{rest}"
                    ) from error
                progress(f"{error}; trying again", done, size)
                time.sleep(pause)
            except (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.TooManyRedirects) as error:
                raise ModelError(
                    f"{without_secrets(address)}: cannot be fetched ({error}); check the address"
                ) from error


def has_part(folder: Path) -> bool:
    """Return true if ``folder`` holds the beginning of a file."""
    return _size(folder / PART) > 0


def without_secrets(url: str) -> str:
    """Return ``url`` without user, password and query, for messages."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()


def _mirrored(url: str) -> str:
    mirror = os.environ.get("HF_ENDPOINT", "").strip().rstrip("/")
    return f"{mirror}/{url.removeprefix(HUB)}" if mirror and url.startswith(HUB) else url


def _headers(address: str) -> dict[str, str]:
    token = os.environ.get("HF_TOKEN", "").strip()
    headers = {"Accept-Encoding": "identity"}
    # The client takes it back where a redirect leads to another host.
    return {**headers, "Authorization": f"Bearer {token}"} if token and address.startswith(_mirrored(HUB)) else headers


def _receive(client: httpx.Client, address: str, part: Path, origin: Path, size: int, progress: Progress) -> Path:
    """Fetch what is missing of the file in one request."""
    done, validator = _size(part), _validator(origin, address)
    if done and not validator:
        done = _discard(part)
    headers = {"Range": f"bytes={done}-", "If-Range": validator} if done else {}
    with _transient_errors(), client.stream("GET", address, headers=headers) as response:
        if response.status_code == 416:
            if response.headers.get("content-range") == f"bytes */{done}":
                return part
            _discard(part)
            raise _Transient("the server has no more of the file than is here", 0.0)
        if not response.is_success:
            _refuse(response, address)
        missing = int(response.headers.get("content-length") or 0)
        if response.status_code == 206:
            begin = re.match(r"bytes (\d+)-", response.headers.get("content-range", ""))
            if begin is None or int(begin[1]) != done:
                _discard(part)
                raise _Transient("the server sent another part of the file", 0.0)
        else:
            done = 0
            tag = response.headers.get("etag", "")
            # A weak tag does not promise the same bytes.
            tag = response.headers.get("last-modified", "") if not tag or tag.startswith("W/") else tag
            origin.write_text(f"{_fingerprint(address)}\n{tag}", encoding="utf-8")
        if missing > (free := shutil.disk_usage(part.parent).free):
            raise ModelError(
                f"{part.parent}: the disk is full: {missing / 1e6:,.0f} MB are needed, {free / 1e6:,.0f} MB free; "
                "free some space and run the same again"
            )
        total = done + missing if missing else size
        with part.open("ab" if done else "wb") as file:
            for block in response.iter_raw():  # as it comes, so that nothing is lost
                if not done and block[:4] != MAGIC[: len(block)]:
                    kind = response.headers.get("content-type", "nothing known")
                    raise ModelError(f"{without_secrets(address)}: is not a GGUF file but {kind}; check the address")
                file.write(block)
                done += len(block)
                progress("downloading", done, total)
    return part


def _refuse(response: httpx.Response, address: str) -> None:
    status = response.status_code
    if status in (408, 425, 429) or status >= 500:
        raise _Transient(f"the server answered {status}", _retry_after(response.headers.get("retry-after", "")))
    shown = without_secrets(address)
    if status in (401, 403):
        raise ModelError(
            f"{shown}: the server answered {status}: who wants this file must have agreed to its licence; do so at "
            f"{shown.partition('/resolve/')[0]}, set HF_TOKEN to an access token and run the same again, or download "
            "the file there and run 'openclaw-memory model pull FILE'"
        )
    raise ModelError(f"{shown}: the server answered {status}; check the address")


def _retry_after(value: str) -> float | None:
    if value.isdecimal():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None


@contextmanager
def _transient_errors() -> Iterator[None]:
    import httpx

    try:
        yield
    except (httpx.UnsupportedProtocol, httpx.TooManyRedirects):
        raise
    except httpx.HTTPError as error:
        hint = "; SSL_CERT_FILE names certificates of your own" if "CERTIFICATE" in str(error).upper() else ""
        raise _Transient(f"{type(error).__name__}: {error}{hint}") from error


def _validator(origin: Path, address: str) -> str:
    """Return the tag of the file that the part is of; empty if it is of another address or has none."""
    try:
        source, _, tag = origin.read_text(encoding="utf-8").partition("\n")
    except OSError:
        return ""
    return tag if source == _fingerprint(address) else ""


def _fingerprint(address: str) -> str:
    return hashlib.sha256(address.encode()).hexdigest()


def _discard(part: Path) -> int:
    part.unlink(missing_ok=True)
    return 0


def _size(part: Path) -> int:
    try:
        return part.stat().st_size
    except OSError:
        return 0
