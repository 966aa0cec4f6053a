"""Find the memory files of a workspace, and read the text of one."""

from __future__ import annotations

import codecs
import os
import re
import stat
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import field
from functools import lru_cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from ..config.settings import ExtraPath, IngestSettings
from ..errors import OpenClawMemoryError, SettingsError, WorkspaceError
from ..model import Grain, Kind, Origin, ScanResult, SkippedFile, SourceFile
from ..records import NamedTuple, dataclass
from ..system import descent
from ..text import calendar
from ..text.dates import is_daily
from ..text.lines import split_lines

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

#: Folder of the captures in a workspace.
CAPTURES = "memory/captures"
#: Patterns of gitignore in the workspace: what they match is not read.
IGNORE_FILE = ".memoryignore"
#: Other formats of notes, which are not read: they are reported, or their owner would take them for remembered.
_OTHER_TEXTS = frozenset(
    ".txt .text .markdown .mdown .mkd .mdx .rst .org .adoc .canvas "
    ".rtf .doc .docx .odt .pdf .htm .html .csv .tsv".split()
)

MEGABYTE = 1_000_000

#: Share of NUL bytes that makes a file binary; a few stray ones, which crashes leave in files, are dropped.
_NULS = 0.01


class Unreadable(OpenClawMemoryError):
    """An error that a file's text cannot be read; ``reason`` explains it in words, without the path.

    ``content`` is true if the file was read and holds no text: the index of it is out of date.
    """

    def __init__(self, reason: str, content: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.content = content


def max_bytes(settings: IngestSettings) -> int:
    """Return ``ingest.max_file_mb`` in bytes; a megabyte has a million."""
    return int(settings.max_file_mb * MEGABYTE)


def scan(workspace: Path, settings: IngestSettings) -> ScanResult:
    """Find ``MEMORY.md``, ``USER.md``, ``memory/**/*.md`` and the extra paths, sorted by path.

    Hidden names, and what the ignore file matches, are left out.  A copy that a program made beside a file, a file that
    is too large, named in bytes
    that are not UTF-8, or linked from outside its root is reported in ``skipped``, and so is a text that is no
    Markdown (``.txt``, ``.docx``, …); what cannot be looked
    into is reported there too and named in ``unreadable``.  Links inside a root are resolved: ``absolute``
    contains none, and a file or folder that is reached twice is listed once.  No note is opened here, but for one as
    large as the one that it is called after; one without read permission shows only in :func:`read_note`.

    Raises :class:`WorkspaceError` for a workspace or an ignore file that cannot be used, and
    :class:`SettingsError` for an extra path whose name cannot be shown.
    """
    _check_extras(settings.extra_paths)
    root, names = _list_workspace(workspace)
    walk = _Walk(max_bytes(settings), _ignore_spec(root))
    owned, memory = _Root(root, "", Origin.OWNER), _Root(root, "", Origin.AGENT)
    for name in names:
        if name.lower() in ("memory.md", "user.md"):
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


def is_ignored(workspace: Path, path: str) -> bool:
    """Return true if the ignore file matches the note ``path`` of the workspace, or a folder above it.

    Raises :class:`WorkspaceError` for an ignore file that cannot be used.
    """
    ignored = _ignore_spec(os.path.realpath(workspace))
    if ignored is None:
        return False
    parts = path.split("/")
    folders = ("/".join(parts[:depth]) + "/" for depth in range(1, len(parts)))
    return any(ignored.match_file(name) for name in (*folders, path))


class _Root(NamedTuple):
    """A tree to read: a link may not lead out of the folder ``real``."""

    real: str
    shown: str
    origin: Origin
    kind: Kind | None = None

    def holds(self, path: str) -> bool:
        return path == self.real or path.startswith(self.real.rstrip(os.sep) + os.sep)

    def own_name(self, path: str) -> str:
        """Return the shown name of ``path`` where no link leads to it."""
        below = path[len(self.real) :].replace(os.sep, "/")
        return self.shown + below if self.shown else below.lstrip("/")


@dataclass(slots=True)
class _Walk:
    """A scan in progress."""

    max_bytes: int
    ignored: GitIgnoreSpec | None
    files: list[SourceFile] = field(default_factory=list)
    skipped: list[SkippedFile] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    #: Real paths that were listed: a loop of links ends here.
    seen: set[str] = field(default_factory=set)

    def add(self, root: _Root, path: str, shown: str) -> None:
        """List the file, or the files below the folder, at ``path``; either may be a link.

        Links come last, in order of their paths, so a file that lies in the tree is listed under its own name and not
        under a link's.
        """
        links = [(shown, path)]
        while links:
            deeper: list[tuple[str, str]] = []
            for name, link in sorted(links):
                self._resolve(root, link, name, deeper)
            links = deeper

    def add_extra(self, workspace: str, extra: ExtraPath) -> None:
        """List a configured file or folder outside the workspace."""
        literal = os.path.join(workspace, os.path.expanduser(extra.path))
        composed = (unicodedata.normalize(form, literal) for form in ("NFC", "NFD"))
        path = os.path.realpath(next(filter(os.path.exists, (literal, *composed)), literal))
        shown = f"@{extra.name}"
        if os.path.isdir(path):
            self.add(_Root(path, shown, Origin(extra.origin), Kind(extra.kind)), path, shown)
        elif os.path.exists(path):
            parent, name = os.path.split(path)
            if self._is_named(f"{shown}/", name):
                self.add(_Root(parent, shown, Origin(extra.origin), Kind(extra.kind)), path, f"{shown}/{name}")
        else:
            self._unreadable(f"{shown}/", f"{extra.path} is not there now; check ingest.extra_paths")

    def leave_out_copies(self) -> None:
        """Leave out a file that is byte by byte the same as the one in its folder that it is named after."""
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
                self._unreadable(
                    shown if _is_note(shown) else f"{shown}/", f"a link to nothing ({describe_error(error)})"
                )
            return
        except OSError as error:
            self._unreadable(shown if _is_note(shown) else f"{shown}/", describe_error(error))
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
                    descent.open_folder(real, root.real) as folder,
                    os.scandir(real if folder is None else folder) as entries,
                ):
                    within = os.path.join(real, "")
                    for entry in entries:
                        self._entry(root, entry, within + entry.name, shown, pending, links)
            except FileNotFoundError:
                pass  # gone since its parent was listed
            except OSError as error:
                self._unreadable(shown, describe_error(error))

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
                self._unreadable(shown, describe_error(error))
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
        size, mtime_ns, kind = status.st_size, status.st_mtime_ns, root.kind or _kind(shown)
        self.files.append(SourceFile(shown, real, size, mtime_ns, kind, _grain(shown), root.origin, root.real))

    def _is_ignored(self, root: _Root, real: str, shown: str) -> bool:
        if self.ignored is None:
            return False
        # An ignored file must not come in by a link to it either.
        own_name = root.own_name(real)
        return self.ignored.match_file(shown) or (own_name != shown and self.ignored.match_file(own_name))

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


def _same(file: SourceFile, other: SourceFile) -> bool:
    try:
        return Path(file.absolute).read_bytes() == Path(other.absolute).read_bytes()
    except OSError:
        return False


def is_conflict(path: str) -> bool:
    """Return true if a file has the name of a version from another device that a sync program keeps."""
    # So Syncthing, Dropbox, Nextcloud and OneDrive call it.
    return re.search(r"(?<=[\W_])conflict", path.rpartition("/")[2], re.IGNORECASE) is not None


def _is_note(name: str) -> bool:
    return name[-3:].lower() == ".md"


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:
        return False


@lru_cache(maxsize=4096)
def _kind(shown: str) -> Kind:
    if "/" not in shown:
        return Kind.CURATED
    in_memory = shown.lower().startswith("memory/") and not is_conflict(shown)
    return Kind.DAILY if in_memory and is_daily(shown) else Kind.NOTE


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
        raise WorkspaceError(
            f"{workspace}: cannot be listed ({describe_error(error)}); check its permissions"
        ) from error


def is_extra_name(name: str) -> bool:
    """Return true if a path outside the workspace can be shown as ``@name/…``."""
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
        lines = split_lines(decode(Path(file).read_bytes())[0])
    except FileNotFoundError:
        return None
    except (OSError, Unreadable) as error:
        # Reading on without it could index what a person wanted left alone.
        reason = describe_error(error) if isinstance(error, OSError) else error.reason
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


# -- the text of a file ---------------------------------------------------------------------------


def decode(data: bytes) -> tuple[str, str | None]:
    """Return the text in ``data`` without a byte order mark and stray NUL bytes, and a remark on its encoding.

    Bytes that are not UTF-8 are read as Windows-1252: no note is in another encoding.  Raises :class:`Unreadable` for
    UTF-16 and for binary content.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise Unreadable("it is UTF-16 text; save it as UTF-8", content=True)
    if data.count(0) > _NULS * len(data):
        nul = data.find(b"\0")
        raise Unreadable(f"binary content: a NUL byte in line {_line(data, nul)}", content=True)
    remark = None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        where = f"line {_line(data, error.start)}, byte 0x{data[error.start]:02x}"
        controls = bytes(set(range(32)) - set(b"\t\n\f\r\x1b"))  # which no text has
        if len(data) - len(data.translate(None, controls)) > _NULS * len(data):
            raise Unreadable(f"binary content: {where}", content=True) from error
        remark = f"not valid UTF-8 ({where}), read as Windows-1252; save it as UTF-8"
        text = data.decode("utf-8", "windows")
    return text.removeprefix("\ufeff").replace("\0", ""), remark


def _from_windows(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


codecs.register_error("windows", _from_windows)


def read_note(file: SourceFile, max_bytes: int) -> tuple[str, str | None]:
    """Return the text of ``file`` and a remark on its encoding; line ends stay.

    Raises :class:`Unreadable` for binary content, for a file that is gone, may not be read or has grown past
    ``max_bytes``, and for one that a link has replaced since the scan.
    """
    return decode(_read(file, max_bytes))


def describe_defect(error: Exception) -> str:
    """Return the message for an unexpected error in reading a file."""
    return f"a defect of openclaw-memory ({type(error).__name__}: {' '.join(str(error).split())[:200]}); report it"


def describe_error(error: OSError) -> str:
    """Return the message of the operating system in lower case."""
    return (error.strerror or str(error) or type(error).__name__).lower()


def human_size(size: int) -> str:
    """Return ``size`` in bytes for a person: ``12.3 MB``."""
    if size >= MEGABYTE:
        return f"{size / MEGABYTE:.4g} MB"
    return f"{size / 1000:.4g} kB" if size >= 1000 else f"{size} bytes"


def _read(file: SourceFile, max_bytes: int) -> bytes:
    path = PurePath(file.absolute)
    try:
        with descent.open_folder(path.parent, file.top or path.parent) as folder:
            name = descent.entry_name(folder, path)
            try:
                descriptor = os.open(name, os.O_RDONLY | descent.FILE_FLAGS, dir_fd=folder)
            except FileNotFoundError as error:
                raise Unreadable("it has vanished since the scan") from error
        with os.fdopen(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise Unreadable("not a regular file any more")
            if folder is None and os.path.normcase(os.path.realpath(path)) != os.path.normcase(path):
                raise Unreadable("a link has taken the place of a folder above it since the scan")
            data = stream.read(max_bytes + 1)
    except OSError as error:
        if os.path.normcase(os.path.realpath(path)) != os.path.normcase(path):
            raise Unreadable("a link has taken its place, or that of a folder above it, since the scan") from error
        raise Unreadable(describe_error(error)) from error
    if len(data) > max_bytes:
        raise Unreadable(f"it has grown past {human_size(max_bytes)} (ingest.max_file_mb)", content=True)
    return data


def _line(data: bytes, offset: int) -> int:
    before = data[:offset]
    return before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n") + 1
