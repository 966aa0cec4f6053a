"""A URL of PostgreSQL: told from a file's name, and shown without its password."""

from __future__ import annotations

import re

_URL = re.compile(r"postgres(ql)?://", re.IGNORECASE)
#: What begins as a URL does, or holds a user and a password, is no name of a file.
_LIKE_A_URL = re.compile(r"[A-Za-z][\w.+-]+:/|[^@]*:[^/\\@]*@|[^:]{2,}//[^@]*@")


def is_url(text: object) -> bool:
    """Whether a store is named by a URL of PostgreSQL, and not by a file."""
    return isinstance(text, str) and _URL.match(text) is not None


def is_like_url(text: object) -> bool:
    """Whether a store is named by what may be a mistyped URL: a file called so would show its password."""
    return _LIKE_A_URL.match(str(text)) is not None


def shown(url: str) -> str:
    """``url`` as it may be seen: user, hosts and database; no password and no options, however wrong it is."""
    before, at, rest = _URL.sub("", url, count=1).rpartition("@")
    user = re.split("[:/?@]", before)[0]
    if re.search("[?&]", before):  # in a password, or before one that is an option: which cannot be told
        return f"postgresql://{user}@…"
    hosts, slash, name = re.split("[?&]", rest)[0].partition("/")
    seen = ",".join(re.sub(r":(?!\d+$)[^\]]*$", "", host) for host in hosts.split(","))
    return f"postgresql://{user}{at}{seen}{slash}{name}"


def has_password(url: str) -> bool:
    """Whether a password stands in ``url``."""
    return ":" in _URL.sub("", url, count=1).rpartition("@")[0] or "password=" in url.lower()


def visible(key: str, value: object) -> object:
    """The value of the setting ``key`` as it may be seen."""
    return shown(value) if key == "store.url" and isinstance(value, str) and is_url(value) else value
