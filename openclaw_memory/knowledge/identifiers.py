"""Identifiers in code and in prose: ``QX-7714``, ``snake_case``, ``camelCase``, ``10.0.0.17``, files, calls."""

from __future__ import annotations

from functools import lru_cache

from .. import patterns as re
from ..text.scripts import UNSPACED, UNSPACED_LETTER
from .lexicon import LITERALS, NAMELESS, routine_words

_RUN = re.compile(r"(?<![\w.\-@$])[^\W\d]?[\w](?:[\w.\-]{0,78}\w)?(?!\w)(?:\(\))?")
_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_FILE = re.compile(
    r"[\w.-]*\w\.(?:md|txt|csv|tsv|jsonl?|ya?ml|toml|ini|cfg|conf|env|py|ipynb|m?js|tsx?|jsx|rs|go|c|h|cpp|java|rb|sh|sql|"
    r"html|css|png|jpe?g|gif|svg|pdf|docx?|xlsx?|zip|gz|tar|db|duckdb|sqlite|parquet|gguf|safetensors|log|lock|service|"
    r"lan|local|com|org|net|io|ai|dev)"
)
#: Written as an identifier: ``camelCase``, ``snake_case``, ``v2.3.1``.
_WRITTEN = re.compile(r"[a-z]{1,20}[A-Z]\w*|_{0,2}[^\W\d_]\w*[^\W_]_+[^\W_]\w*|v\d{1,4}(?:\.\d{1,5}){1,3}")
#: Two letters or more and a digit, in parts or in one: ``bge-m3``, ``Qwen3-Embedding-4B``, ``ttyUSB0``.
_MIXED = re.compile(r"[^\W\d_]\w*(?:[-.]\w+)*")
_PROGRAM = re.compile(r"([^\W\d][\w.-]{1,79})(?=\s)")
_CALLED = re.compile(r"([^\W\d][\w.:$-]{1,79})\(")
#: Words without spaces before an identifier: the sentence in which it stands.
_BEFORE = re.compile(f"\\A[{UNSPACED}]+(?=[A-Za-z])")
#: A hexadecimal number, a UUID, or the pattern of a date or time: ``YYYY-MM-DD``.
_OPAQUE = re.compile(
    r"(?=[a-f-]*\d)(?=[\d-]*[a-f])[0-9a-f]{7,64}|(?:[0-9a-fA-F]{4,12}-){2,6}[0-9a-fA-F]{4,12}"
    r"|(?i:Y{2,4}[-/.]?M{1,2}[-/.]?D{1,2}|H{1,2}:?M{1,2}(?::?S{1,2})?)"
)
_PARTS = re.compile(r"[^0-9A-Za-z]+")
_CHANGES = re.compile(r"[A-Za-z]+|\d+")


def name_of_path(path: str) -> str | None:
    """Return the file of a path without its folders, a note without ``.md``; ``None`` for a folder."""
    name = path.rpartition("/")[2].rstrip(".")
    return _of_file(name) if _FILE.fullmatch(name) else None


def _of_file(name: str) -> str:
    stem = name.removesuffix(".md")
    return "" if stem.lower() in routine_words("files") and stem != name else stem


def identifiers_in_code(code: str) -> list[str]:
    """Return the names in a code span: the whole span if it is one, else the program and the identifiers."""
    code = code.strip()
    if not code or code[0] == "#" or "://" in code:
        return []
    called = _CALLED.match(code)
    if called is not None and code[-1] == ")":
        name = called[1] + "()"
    elif " " in code or "\t" in code:
        program = _PROGRAM.match(code)
        return (
            [program[1], *identifiers_in_text(code)] if program and _is_name(program[1]) else identifiers_in_text(code)
        )
    elif "/" in code:
        name = name_of_path(code) or ""
    else:
        name = _of_file(code.partition("=")[0].rstrip(";,:."))
    return [name] if len(name) <= 80 and _is_name(name) else []


def _is_name(name: str) -> bool:
    low = name.lower()
    if len(name) < 2 or name[0] == "-" or low in LITERALS or low in NAMELESS or is_opaque(name):
        return False
    if name[0].isdigit():
        return _is_address(name) or _FILE.fullmatch(name) is not None
    return any(map(str.isalpha, name))


def identifiers_in_text(text: str) -> list[str]:
    """Return the identifiers in prose or code, in order; compounds such as ``8-year`` and ``top-10`` are none."""
    runs = _RUN.findall(text)
    if not text.isascii():
        runs = [_BEFORE.sub("", run) for run in runs]
    return [
        _of_file(run)
        for run in runs
        # Nearly all words are plain ones.
        if not (run.isalpha() and (run[1:].islower() or run.isupper())) and _is_identifier(run)
    ]


def is_opaque(token: str) -> bool:
    """Return true if a token is a hash, an id or a key without meaning: ``a3f9c21e``, ``msg_01Hx9Kq2``."""
    if _OPAQUE.fullmatch(token):
        return True
    if len(token) < 7 or token.isalpha():
        return token.isdigit()
    # Digits between letters, in parts that are no word with a number behind it.
    mixed = [part for part in _PARTS.split(token) if len(part) >= 5 and len(_CHANGES.findall(part)) > 3]
    digits = sum(map(str.isdigit, token))
    return bool(mixed) or (digits >= 8 and digits * 2 > len(token))


def _is_address(run: str) -> bool:
    # 127.0.0.1 and 0.0.0.0 are any machine's.
    return _ADDRESS.fullmatch(run) is not None and not run.startswith(("127.", "0."))


@lru_cache(maxsize=1 << 14)
def _is_identifier(run: str) -> bool:
    if is_opaque(run):
        return False
    if run.endswith("()"):
        return len(run) > 4
    if run[0].isdigit():
        return _is_address(run)
    if _WRITTEN.fullmatch(run) or _FILE.fullmatch(run):
        return True
    if len(run) < 4 or not _MIXED.fullmatch(run) or not any(map(str.isdigit, run)):
        return False
    if UNSPACED_LETTER.search(run):
        return False  # a number beside words that have no spaces around them
    head, hyphen, _ = run.partition("-")
    return sum(map(str.isalpha, run)) > 1 and not (hyphen and head.lower() in routine_words("prefixes"))
