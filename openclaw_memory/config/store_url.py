"""URLs of PostgreSQL: tell them from file names, and show them without their passwords."""

from __future__ import annotations

from .. import patterns as re

_URL = re.compile(r"postgres(ql)?://", re.IGNORECASE)


def is_url(text: object) -> bool:
    """Return true for a URL of PostgreSQL."""
    return isinstance(text, str) and _URL.match(text) is not None


def is_like_url(text: object) -> bool:
    """Return true for a possibly mistyped URL: a file of that name would show its password."""
    # It begins like a URL, or has a user and a password.
    return re.match(r"[A-Za-z][\w.+-]+:/|[^@]*:[^/\\@]*@|[^:]{2,}//[^@]*@", str(text)) is not None


def redact_url(url: str) -> str:
    """Return ``url`` with user, hosts and database only, however malformed it is."""
    before, at, rest = _URL.sub("", url, count=1).rpartition("@")
    user = re.split("[:/?@]", before)[0]
    if re.search("[?&]", before):  # part of a password, or of an option that has one
        return f"postgresql://{user}@…"
    hosts, slash, name = re.split("[?&]", rest)[0].partition("/")
    seen = ",".join(re.sub(r":(?!\d+$)[^\]]*$", "", host) for host in hosts.split(","))
    return f"postgresql://{user}{at}{seen}{slash}{name}"


def has_password(url: str) -> bool:
    """Return true if ``url`` has a password."""
    return ":" in _URL.sub("", url, count=1).rpartition("@")[0] or "password=" in url.lower()


def hide_password(key: str, value: object) -> object:
    """Return the value of the setting ``key`` without a password."""
    return redact_url(value) if key == "store.url" and isinstance(value, str) and is_url(value) else value
