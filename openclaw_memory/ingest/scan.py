"""What there is to read: the memory files of a workspace, found without opening them."""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..config.settings import ExtraPath, IngestSettings
from ..errors import SettingsError, WorkspaceError
from ..model import Grain, Kind, Origin, ScanResult, SkippedFile, SourceFile
from ..system import descent
from ..text import calendar
from ..text.dates import is_daily
from ..text.lines import split_lines
from .reading import MEGABYTE, Unreadable, decoded, human_size, read_text, reason_of

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

__all__ = ["Unreadable", "max_bytes", "read_text", "scan"]

#: Patterns of gitignore in the workspace: what they match is not read.
IGNORE_FILE = ".memoryignore"
_CURATED = frozenset({"memory.md", "user.md"})
#: Paths of which kind and grain are kept for the next scan.
_REMEMBERED = 4096
#: What people write notes in, too, and what is not read: it is named, or its owner would take it for remembered.
_OTHER_TEXTS = frozenset(
    ".txt .text .markdown .mdown .mkd .mdx .rst .org .adoc .canvas "
    ".rtf .doc .docx .odt .pdf .htm .html .csv .tsv".split()
)


def max_bytes(settings: IngestSettings) -> int:
    """``ingest.max_file_mb`` in bytes; a megabyte has a million."""
    return int(settings.max_file_mb * MEGABYTE)


def scan(workspace: Path, settings: IngestSettings) -> ScanResult:
    """Find ``MEMORY.md``, ``USER.md``, ``memory/**/*.md`` and the extra paths, sorted by path.

    Hidden names, and what the ignore file matches, are left out.  A copy that a program made beside a file, a file that
    is too large, named in bytes
    that are not UTF-8, or linked from outside its root is reported in ``skipped``, and so is a text that is no
    Markdown (``.txt``, ``.docx``, …); what cannot be looked
    into is reported there too and named in ``unreadable``.  Links inside a root are resolved: ``absolute``
    contains none, and a file or folder that is reached twice is listed once.  No note is opened here, but for one as
    large as the one that it is called after; one without read permission shows only in :func:`read_text`.

    Raises :class:`WorkspaceError` for a workspace or an ignore file that cannot be used, and
    :class:`SettingsError` for an extra path whose name cannot be shown.
    """
    _check_extras(settings.extra_paths)
    root, names = _list_workspace(workspace)
    walk = _Walk(max_bytes(settings), _ignore_spec(root))
    owned, memory = _Root(root, "", Origin.OWNER), _Root(root, "", Origin.AGENT)
    for name in names:
        if name.lower() in _CURATED:
            walk.add(owned, os.path.join(root, name), name)
    for name in names:
        if name.lower() == "memory":
            walk.add(memory, os.path.join(root, name), name)
    for extra in settings.extra_paths:
        walk.add_extra(root, extra)
    walk.leave_out_copies()
    return ScanResult(
        tuple(sorted(walk.files, key=lambda file: file.path)),
        tuple(sorted(walk.skipped, key=lambda skipped: skipped.path)),
        tuple(sorted(walk.unreadable)),
    )


def leaves_out(workspace: Path, path: str) -> bool:
    """Whether the ignore file keeps the note ``path`` of the workspace, or a folder on the way to it, out.

    Raises :class:`WorkspaceError` for an ignore file that cannot be used.
    """
    ignored = _ignore_spec(os.path.realpath(workspace))
    if ignored is None:
        return False
    parts = path.split("/")
    folders = ("/".join(parts[:depth]) + "/" for depth in range(1, len(parts)))
    return any(ignored.match_file(name) for name in (*folders, path))


@dataclass(frozen=True, slots=True)
class _Root:
    """A tree that is read: a link may not lead out of the folder ``real``."""

    real: str
    shown: str
    origin: Origin

    def holds(self, path: str) -> bool:
        return path == self.real or path.startswith(self.real.rstrip(os.sep) + os.sep)

    def own_name(self, path: str) -> str:
        """How ``path`` is shown when no link led to it."""
        below = path[len(self.real) :].replace(os.sep, "/")
        return self.shown + below if self.shown else below.lstrip("/")


@dataclass(slots=True)
class _Walk:
    """One scan in progress."""

    max_bytes: int
    ignored: GitIgnoreSpec | None
    files: list[SourceFile] = field(default_factory=list)
    skipped: list[SkippedFile] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    #: Real paths that were listed: a loop of links ends here.
    seen: set[str] = field(default_factory=set)

    def add(self, root: _Root, path: str, shown: str) -> None:
        """List the file, or what is below the folder, at ``path``; either may be a link.

        Links found on the way come last, in order of their paths, so a file that lies in the tree is
        listed under its own name and not under a link's.
        """
        links = [(shown, path)]
        while links:
            found: list[tuple[str, str]] = []
            for name, link in sorted(links):
                self._resolve(root, link, name, found)
            links = found

    def add_extra(self, workspace: str, extra: ExtraPath) -> None:
        """List a configured file or folder outside the workspace."""
        given = os.path.join(workspace, os.path.expanduser(extra.path))
        spelled = (unicodedata.normalize(form, given) for form in ("NFC", "NFD"))
        path = os.path.realpath(next(filter(os.path.exists, (given, *spelled)), given))
        shown = f"@{extra.name}"
        if os.path.isdir(path):
            self.add(_Root(path, shown, Origin(extra.origin)), path, shown)
        elif os.path.exists(path):
            parent, name = os.path.split(path)
            if self._is_named(f"{shown}/", name):
                self.add(_Root(parent, shown, Origin(extra.origin)), path, f"{shown}/{name}")
        else:
            self._unreadable(f"{shown}/", f"{extra.path} is not there now; check ingest.extra_paths")

    def leave_out_copies(self) -> None:
        """Leave out what is the same, byte by byte, as the file in its folder that it is called after."""
        names = {file.path[:-3]: file for file in self.files}
        sizes: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
        for stem, file in names.items():
            sizes[stem.rpartition("/")[0], file.size].append(stem)
        for stems in map(sorted, sizes.values()):
            for at, stem in enumerate(stems):
                others = (other for other in stems[:at] if stem.startswith(other))
                first = next((names[o] for o in others if stem[len(o)] in " .(" and _same(names[o], names[stem])), None)
                if first is not None:
                    self.files.remove(names[stem])
                    self._skip(names[stem].path, f"a copy of {first.path}; delete it")

    def _resolve(self, root: _Root, path: str, shown: str, links: list[tuple[str, str]]) -> None:
        real = os.path.realpath(path)
        if not root.holds(real):
            self._skip(shown, "a link that leads out of its root; name its target in ingest.extra_paths to read it")
            return
        try:
            status = os.stat(real)
        except FileNotFoundError as error:
            if os.path.lexists(path):
                # Without the suffix of a note it was a folder, as far as the index is concerned.
                self._unreadable(shown if _is_note(shown) else f"{shown}/", f"a link to nothing ({reason_of(error)})")
            return
        except OSError as error:
            self._unreadable(shown if _is_note(shown) else f"{shown}/", reason_of(error))
            return
        if not stat.S_ISDIR(status.st_mode):
            self._file(root, real, shown, status)
        elif not self._is_ignored(root, f"{real}/", f"{shown}/"):
            self._tree(root, real, f"{shown}/", links)

    def _tree(self, root: _Root, real: str, shown: str, links: list[tuple[str, str]]) -> None:
        pending = [(real, shown)]
        while pending:
            real, shown = pending.pop()
            if real in self.seen:
                continue
            self.seen.add(real)
            try:
                with (
                    descent.opened(real, root.real) as folder,
                    os.scandir(real if folder is None else folder) as entries,
                ):
                    for entry in entries:
                        self._entry(root, entry, os.path.join(real, entry.name), shown, pending, links)
            except FileNotFoundError:
                pass  # gone since its parent was listed
            except OSError as error:
                self._unreadable(shown, reason_of(error))

    def _entry(
        self,
        root: _Root,
        entry: os.DirEntry[str],
        path: str,
        folder: str,
        pending: list[tuple[str, str]],
        links: list[tuple[str, str]],
    ) -> None:
        name = entry.name
        if name[0] == ".":
            return
        shown = folder + name
        if entry.is_symlink():
            # A link to a file that is no note is nobody's business; one to nothing may be a folder's.
            if (_is_note(name) or not _is_file(entry)) and self._is_named(folder, name):
                links.append((shown, path))
        elif entry.is_dir(follow_symlinks=False):
            if self._is_named(folder, name) and not self._is_ignored(root, f"{path}/", f"{shown}/"):
                pending.append((path, f"{shown}/"))
        elif _is_note(name) and self._is_named(folder, name):
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                return
            except OSError as error:
                self._unreadable(shown, reason_of(error))
                return
            self._file(root, path, shown, status)
        elif os.path.splitext(name)[1].lower() in _OTHER_TEXTS and entry.is_file(follow_symlinks=False):
            if self._is_named(folder, name) and not self._is_ignored(root, path, shown):
                self._skip(shown, "only Markdown is read; save it as .md, or ignore it")

    def _file(self, root: _Root, real: str, shown: str, status: os.stat_result) -> None:
        if real in self.seen or not stat.S_ISREG(status.st_mode) or self._is_ignored(root, real, shown):
            return
        self.seen.add(real)
        if status.st_size > self.max_bytes:
            limit = human_size(self.max_bytes)
            self._skip(shown, f"{human_size(status.st_size)} is more than ingest.max_file_mb allows ({limit})")
            return
        size, mtime_ns = status.st_size, status.st_mtime_ns
        self.files.append(SourceFile(shown, real, size, mtime_ns, _kind(shown), _grain(shown), root.origin, root.real))

    def _is_ignored(self, root: _Root, real: str, shown: str) -> bool:
        if self.ignored is None:
            return False
        # What is ignored must not come in by a link to it either.
        own = root.own_name(real)
        return self.ignored.match_file(shown) or (own != shown and self.ignored.match_file(own))

    def _is_named(self, folder: str, name: str) -> bool:
        if name.isascii():
            return True
        try:
            name.encode()
        except UnicodeEncodeError:
            readable = os.fsencode(name).decode("utf-8", "backslashreplace")
            self._skip(folder + readable, "the name is not valid UTF-8; rename it")
            return False
        return True

    def _skip(self, shown: str, reason: str) -> None:
        self.skipped.append(SkippedFile(shown, reason))

    def _unreadable(self, shown: str, reason: str) -> None:
        self.unreadable.append(shown)
        self._skip(shown, f"cannot be read now: {reason}")


def _same(one: SourceFile, other: SourceFile) -> bool:
    try:
        return Path(one.absolute).read_bytes() == Path(other.absolute).read_bytes()
    except OSError:
        return False


def is_conflict(path: str) -> bool:
    """Whether a file is called as sync programs call a version that another device has written."""
    # So Syncthing, Dropbox, Nextcloud and OneDrive call it.
    return re.search(r"(?<=[\W_])conflict", path.rpartition("/")[2], re.IGNORECASE) is not None


def _is_note(name: str) -> bool:
    return name[-3:].lower() == ".md"


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:
        return False


@lru_cache(maxsize=_REMEMBERED)
def _kind(shown: str) -> Kind:
    if "/" not in shown:
        return Kind.CURATED
    in_memory = shown.lower().startswith("memory/") and not is_conflict(shown)
    return Kind.DAILY if in_memory and is_daily(shown) else Kind.NOTE


@lru_cache(maxsize=_REMEMBERED)
def _grain(shown: str) -> Grain:
    summary = calendar.parse_path(shown)
    return Grain.WORKING if summary is None else summary[0]


def _list_workspace(workspace: Path) -> tuple[str, list[str]]:
    root = os.path.realpath(os.path.expanduser(workspace))
    try:
        return root, sorted(os.listdir(root))
    except FileNotFoundError as error:
        raise WorkspaceError(f"{workspace}: no such folder; create it, or name another with --workspace") from error
    except NotADirectoryError as error:
        raise WorkspaceError(
            f"{workspace}: not a folder; name the one that holds MEMORY.md with --workspace"
        ) from error
    except OSError as error:
        raise WorkspaceError(f"{workspace}: cannot be listed ({reason_of(error)}); check its permissions") from error


def is_extra_name(name: str) -> bool:
    """Whether what lies outside the workspace can be shown as ``@name/…``."""
    return re.fullmatch(r"[^\s/\\@\x00-\x1f][^/\\\x00-\x1f]*", name) is not None and name not in (".", "..")


def _check_extras(extras: Sequence[ExtraPath]) -> None:
    names: set[str] = set()
    for extra in extras:
        if not is_extra_name(extra.name):
            raise SettingsError(
                f"ingest.extra_paths: {extra.name!r} cannot be a name; use a word without '/', such as 'notes'"
            )
        if extra.name.casefold() in names:
            raise SettingsError(f"ingest.extra_paths: two entries are named {extra.name!r}; rename one of them")
        if not extra.path.strip() or "\0" in extra.path:
            raise SettingsError(f"ingest.extra_paths: {extra.name!r} has no path; name a folder or a file")
        names.add(extra.name.casefold())


def _ignore_spec(root: str) -> GitIgnoreSpec | None:
    file = os.path.join(root, IGNORE_FILE)
    try:
        lines = split_lines(decoded(Path(file).read_bytes())[0])
    except FileNotFoundError:
        return None
    except (OSError, Unreadable) as error:
        # Reading on without it could index what a person wanted left alone.
        reason = reason_of(error) if isinstance(error, OSError) else error.reason
        raise WorkspaceError(f"{file}: the ignore file cannot be read ({reason}); mend it") from error
    if not any(line.strip() for line in lines):
        return None
    from pathspec import GitIgnoreSpec

    for number, line in enumerate(lines, start=1):
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError as error:
            raise WorkspaceError(f"{file}, line {number}: not a gitignore pattern: {line!r}; mend it") from error
    return GitIgnoreSpec.from_lines(lines)
