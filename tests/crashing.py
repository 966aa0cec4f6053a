"""Bindings of llama.cpp that do not run here: packages with the names of the real ones, found before them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

#: A package that notes each start, and then does what a build for another CPU does.
_DYING = """
import os, signal
with open({log!r}, "a") as log:
    log.write("{name}\\n")
{act}
"""

#: A server that works until a text says otherwise; its vectors are counts of letters.
_FRAIL = """
import base64, json, os, signal, struct
with open({log!r}, "a") as log:
    log.write("{name}\\n")

class ggml_backend_dev_type:
    GGML_BACKEND_DEVICE_TYPE_GPU, GGML_BACKEND_DEVICE_TYPE_IGPU = 1, 2

class llama_pooling_type:
    LLAMA_POOLING_TYPE_UNSPECIFIED = LLAMA_POOLING_TYPE_MEAN = LLAMA_POOLING_TYPE_CLS = LLAMA_POOLING_TYPE_LAST = 0

def get_device_info():
    return []

def get_system_info():
    return "CPU : AVX2 = 1 | "

class _Any:
    pass

class CommonParams:
    def __init__(self):
        self.model, self.cpuparams, self.cpuparams_batch = _Any(), _Any(), _Any()

class Server:
    def __init__(self, params):
        pass

    def handle_embeddings(self, request):
        texts = json.loads(request)["input"]
        if any("poison" in text for text in texts):
            os.kill(os.getpid(), signal.SIGSEGV)
        if any("silence" in text for text in texts):
            signal.pause()
        rows = [[1.0 + text.lower().count(chr(97 + i)) for i in range(26)] + [len(text) % 7] * 6 for text in texts]
        return json.dumps({{"data": [
            {{"index": i, "embedding": base64.b64encode(struct.pack("32f", *row)).decode()}} for i, row in enumerate(rows)
        ]}})
"""


class Bindings:
    """A folder at the front of Python's path, for this process and for those that it starts."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.log = folder / "starts.log"
        folder.mkdir()
        monkeypatch.syspath_prepend(folder)
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]))

    def put(self, name: str, body: str) -> None:
        """Make the package ``name``."""
        (self.folder / name).mkdir(exist_ok=True)
        (self.folder / name / "__init__.py").write_text(body)
        sys.path_importer_cache.clear()

    def dying(self, name: str, act: str) -> None:
        """A package that does ``act`` when it is imported."""
        self.put(name, _DYING.format(log=str(self.log), name=name, act=act))

    def signalled(self, name: str, signal: str) -> None:
        """A package that is ended by a signal when it is imported."""
        self.dying(name, f"os.kill(os.getpid(), signal.{signal})")

    def frail(self, name: str = "xllamacpp") -> None:
        """A package that works, until a text holds the word ``poison``."""
        self.put(name, _FRAIL.format(log=str(self.log), name=name))

    @property
    def starts(self) -> list[str]:
        """The packages that were imported, one entry a process."""
        return self.log.read_text().split() if self.log.exists() else []
