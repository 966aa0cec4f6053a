"""Start programs, none from the working folder, and exchange frames with a child process of our own.

A child runs code that may crash, hang or take too much memory.  Frames go both ways over the standard streams: four
bytes of length, that many bytes of JSON, and a body.  The child ends when its input ends, so it never outlives the
process that started it.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import json
import os
import queue
import signal
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any, BinaryIO, cast

Frame = tuple[dict[str, Any], bytes]

_LENGTH = struct.Struct("<I")

#: Ctrl-C is for the parent, which ends the child when it wants to.
_GROUP: dict[str, Any] = {"start_new_session": True}
if sys.platform == "win32":
    _GROUP = {"creationflags": subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP}

#: Exit codes of Windows for what are signals elsewhere.
_WINDOWS_CODES = {0xC0000005: "an access violation", 0xC000001D: "an illegal instruction", 0xC0000409: "an abort"}


def write_frame(stream: BinaryIO, header: dict[str, Any], body: bytes = b"") -> None:
    """Send one frame; the header gets the size of ``body`` as ``bytes``."""
    data = json.dumps({**header, "bytes": len(body)}).encode("ascii")
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.write(body)
    stream.flush()


def read_frame(stream: BinaryIO) -> Frame | None:
    """Read the next frame and its body; ``None`` at the end of the stream."""
    length = stream.read(_LENGTH.size)
    if len(length) < _LENGTH.size:
        return None
    size = _LENGTH.unpack(length)[0]
    data = stream.read(size)
    if len(data) < size:
        return None
    header: dict[str, Any] = json.loads(data)
    body = stream.read(header["bytes"])
    return (header, body) if len(body) == header["bytes"] else None


# -- programs -----------------------------------------------------------------------------------------


def find_programs(name: str) -> Iterator[str]:
    """Yield the absolute paths of the programs ``name``: itself if it is absolute, else those on PATH.

    The working folder may be that of the notes, so relative paths are ignored, in ``name`` and on PATH.
    """
    endings = [""]
    if sys.platform == "win32" and not os.path.splitext(name)[1]:
        endings = os.environ.get("PATHEXT", ".EXE").split(os.pathsep)
    folders = os.get_exec_path() if name == os.path.basename(name) else [""]
    for folder in folders:
        for ending in endings:
            file = os.path.join(folder, name + ending)
            if os.path.isabs(file) and os.path.isfile(file) and os.access(file, os.X_OK):
                yield file


def start(
    command: Sequence[str], environment: Mapping[str, str] | None = None, **options: Any
) -> subprocess.Popen[bytes]:
    """Start a program by its absolute path; nothing in this package starts one otherwise.

    ``options`` are those of ``Popen``.  The program's own children do not come from the working folder either.
    Raises ``OSError``, also for a path that is not absolute.
    """
    if not os.path.isabs(command[0]):
        raise FileNotFoundError(errno.ENOENT, "there is no such program on PATH", command[0])
    inherited = dict(os.environ if environment is None else environment)
    inherited["PATH"] = os.pathsep.join(filter(os.path.isabs, os.get_exec_path(inherited)))
    inherited["NoDefaultCurrentDirectoryInExePath"] = "1"  # as Windows looks there before PATH
    return subprocess.Popen(list(command), env=inherited, **options)


def start_python(arguments: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
    """Start this Python in its own folder, so that it loads no module or library from the working folder."""
    return start([sys.executable, "-P", *arguments], cwd=sys.prefix, **options)


# -- the parent's side --------------------------------------------------------------------------------


class Child:
    """A child process that runs ``main()`` of a module of this package.  Raises ``OSError`` when it cannot start."""

    def __init__(self, module: str, environment: Mapping[str, str] | None = None) -> None:
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
        try:
            self._process = start_python(
                [os.path.abspath(__file__), module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                environment={**os.environ, **(environment or {})},
                **_GROUP,
            )
        except OSError:
            self._errors.close()
            raise
        self.pid = self._process.pid
        self._in, self._out = cast(BinaryIO, self._process.stdin), cast(BinaryIO, self._process.stdout)

    def send(self, header: dict[str, Any], body: bytes = b"") -> None:
        """Send a frame; if the child has ended, :meth:`receive` returns ``None``."""
        with contextlib.suppress(OSError):
            write_frame(self._in, header, body)

    def receive(self) -> Frame | None:
        """Read the next frame; ``None`` when the child has ended."""
        try:
            return read_frame(self._out)
        except (OSError, ValueError):
            return None

    def kill(self) -> None:
        """Kill the process; no work is lost."""
        self._process.kill()

    def wait_for_end(self) -> tuple[str, bool, str]:
        """Wait for the end; returns its cause, true if that may be passing, and the last words of the process."""
        return *_cause_of(self._process.wait()), self._last_words()

    def end(self) -> None:
        """End the process now and wait for that.  Calling twice is harmless."""
        self._process.kill()
        self._process.wait()
        for stream in (self._in, self._out, self._errors):
            with contextlib.suppress(OSError):  # nobody reads what was still to be written
                stream.close()

    def _last_words(self) -> str:
        with contextlib.suppress(OSError, ValueError):
            self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - 4000))
            lines = self._errors.read().decode("utf-8", "replace").split("\n")
            lines = [" ".join(line.split()) for line in lines if line.strip()]
            marks = ("GGML_ASSERT", "terminate called", "what():", "error", "Error")
            errors = [line for line in lines if any(mark in line for mark in marks)]
            if lines:
                return f" ({(errors or lines)[-1][:200]})"
        return ""


def _cause_of(code: int) -> tuple[str, bool]:
    """Describe the end of a process with this exit code; true if the cause may be passing."""
    if code < 0:
        number = -code
        try:
            name = signal.Signals(number).name
        except ValueError:
            return f"by signal {number}", True
        meaning = f" ({words.lower()})" if (words := signal.strsignal(number)) else ""
        # Out of memory is SIGKILL, and a person's own SIGTERM is no fault of the program.
        return f"by {name}{meaning}", name in ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP")
    if code & 0xFFFFFFFF in _WINDOWS_CODES:
        return f"by {_WINDOWS_CODES[code & 0xFFFFFFFF]}", False
    return f"with exit code {code}", True


# -- the child's side ---------------------------------------------------------------------------------


def serve() -> tuple[queue.SimpleQueue[Frame], BinaryIO]:
    """Return the child's queue of requests and its stream of answers; other output goes to the error output."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)  # output of native code must not get into the protocol
    if sys.platform != "win32":
        import resource

        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    frames: queue.SimpleQueue[Frame] = queue.SimpleQueue()

    def read() -> None:
        # In a thread, so that the end of the input is noticed while native code computes.
        with contextlib.suppress(OSError, ValueError):
            while (frame := read_frame(requests)) is not None:
                frames.put(frame)
        os._exit(0)

    threading.Thread(target=read, name="requests", daemon=True).start()
    return frames, answers


if __name__ == "__main__":
    # Started by its path and without that folder on the path (python -P): the package is the one around this file.
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    sys.path.insert(0, root)
    module = importlib.import_module(sys.argv[1])
    sys.path.remove(root)
    module.main()
