"""``status`` and ``doctor``: what the memory holds, what is wrong with it, and how to mend that."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Protocol

from filelock import FileLock, Timeout

from ..config.openclaw_home import OpenClawHome
from ..errors import ModelError, OpenClawMemoryError, RedactionError, SettingsError
from ..hookspecs import MemoryApi
from ..ingest.reading import Unreadable, read_note
from ..ingest.scan import IGNORE_FILE, is_conflict, max_bytes, scan
from ..knowledge.linking import Linker
from ..model import Check, Grain, Origin, ScanResult, SkippedFile, Status, counted, joined
from ..store.api import OntologyRows
from .languages import Languages, unknown_ones

if TYPE_CHECKING:
    from pathlib import Path

    from ..config.settings import Settings
    from ..context.ambient import Ambient
    from ..embed.factory import Resolved
    from ..ingest.notes import NoteReader
    from ..model import GrainUse
    from ..model.embedder import Embedder
    from ..plugins.manager import Plugins
    from ..store.api import Documents, Store, VectorModel
    from .schedule import Upkeep


class Examined(MemoryApi, Protocol):
    """The memory, as far as it is looked into."""

    plugins: Plugins
    ambient: Ambient
    reader: NoteReader
    upkeep: Upkeep

    def vectors_in_use(self) -> tuple[Embedder | None, VectorModel | None, str | None]: ...
    def prove_embedder(self) -> Resolved: ...
    def grains(self) -> tuple[GrainUse, ...]: ...
    def remarks(self) -> list[str]: ...


def status(memory: Examined, store: Store) -> Status:
    """Counts, sizes, model, embedding states, extensions and plugins."""
    from ..embed.http import HttpEmbedder
    from ..embed.llama import LlamaCppEmbedder
    from ..store.duckdb.extensions import extension_file

    found = scan(memory.workspace, memory.settings.ingest)
    embedder, model, reason = memory.vectors_in_use()
    with store.session():
        numbers = store.statistics()
        states = store.vector_states(model)
        trusted = {info.path for info in store.document_infos() if info.origin is not Origin.UNTRUSTED}
    said = _said(memory, found, trusted)
    strange = said.strange(memory)
    binding = embedder.binding if isinstance(embedder, LlamaCppEmbedder) else None
    return Status(
        workspace=str(memory.workspace),
        agent=memory.agent,
        database=numbers.path,
        bytes=numbers.bytes,
        schema=numbers.schema,
        generation=numbers.generation,
        files=numbers.documents,
        sections=numbers.sections,
        chunks=numbers.units,
        by_kind=dict(numbers.by_kind),
        by_grain=dict(numbers.by_grain),
        provider="none" if embedder is None else embedder.provider,
        model=None if model is None else model.name,
        dimensions=None if model is None else model.dimensions,
        vectors=asdict(states),
        keyword_index=memory.settings.store.keyword_index,
        vector_index=memory.settings.store.vector_index,
        postings=numbers.postings,
        postings_delta=numbers.postings_delta,
        extensions={name: extension_file(name) is not None for name in ("fts", "vss")},
        plugins=tuple(memory.plugins.names()),
        plugin_failures=dict(memory.plugins.failed),
        http_usage=embedder.usage() if isinstance(embedder, HttpEmbedder) else None,
        context=memory.ambient.use(),
        grains=memory.grains(),
        consolidation=memory.upkeep.remark(),
        retention=memory.settings.retention["plan"],
        binding=None if binding is None else str(binding),
        languages=said.languages.shares(),
        model_knows=said.languages.known(embedder),
        fallback=reason,
        warning=joined(
            [*surroundings(memory.settings), *memory.remarks(), *([] if strange is None else ["; ".join(strange)])]
        ),
        private_files=sum(map(bool, said.private)),
        private_lines=sum(said.private),
        unread_front_matter=tuple(said.unread),
        skipped=found.skipped,
        embedding=_is_held(store.beside(".embedding")),
        found=len(found.files),
    )


def _is_held(file: Path | None) -> bool:
    """Whether a process has the lock ``file``, as far as can be seen."""
    if file is None or not file.exists():
        return False
    try:
        FileLock(file).acquire(timeout=0).lock.release()
    except OSError as error:
        return isinstance(error, Timeout)
    return False


@dataclass(slots=True)
class _Said:
    """What files say: private lines of each, what front matter cannot be read, and in which languages they are."""

    private: list[int] = field(default_factory=list)
    unread: list[SkippedFile] = field(default_factory=list)
    guessed: list[SkippedFile] = field(default_factory=list)
    languages: Languages = field(default_factory=Languages)

    def strange(self, memory: Examined) -> tuple[str, str] | None:
        """What is to be said of languages that the model does not know, and what to do."""
        embedder, model, _ = memory.vectors_in_use()
        name, wanted = None if model is None else model.name, memory.settings.embedding.model
        return unknown_ones(self.languages.shares(), self.languages.known(embedder), name, wanted)


def _said(memory: Examined, found: ScanResult, trusted: Collection[str] = ()) -> _Said:
    """What the files say; of those that are known to be ``trusted`` the front matter was read already."""
    from ..text.front_matter import front_matter, trouble
    from ..text.lines import split_lines
    from ..text.withheld import private_lines

    said = _Said()
    for file in found.files:
        try:
            text, remark = read_note(file, max_bytes(memory.settings.ingest))
        except Unreadable:
            continue
        if remark is not None:
            said.guessed.append(SkippedFile(file.path, remark))
        said.private.append(private_lines(text))
        said.languages.add(text.split("\n"))
        # That of a summary is ours.
        if file.grain is not Grain.WORKING or file.path in trusted:
            continue
        if (problem := trouble(lines := split_lines(text))) is not None:
            untrusted = front_matter(lines).get("origin") == Origin.UNTRUSTED
            (said.unread if untrusted else said.guessed).append(SkippedFile(file.path, problem))
    return said


def examine(memory: Examined, store: Store) -> list[Check]:
    """Every check of ``doctor``, in the order of ``setup``: host, model, notes, index; nothing is changed."""
    from ..hosts.openclaw_checks import examine_openclaw

    checks = [*map(_remark, memory.settings.ignored)]
    checks += [Check.failed("settings", error) for error in useless_values(memory.settings)]
    checks += examine_openclaw()
    checks += model_checks(memory.prove_embedder(), memory.settings)
    found = None
    try:
        found = scan(memory.workspace, memory.settings.ingest)
    except OpenClawMemoryError as error:
        checks.append(Check("workspace", False, str(error), "give the agent's folder with --workspace"))
    else:
        checks += _workspace(memory, found)
    checks += [*_sidecars(memory.workspace), *_extensions(memory.settings), *_index(memory, store, found)]
    known = {*memory.plugins.names(), *memory.plugins.blocked()}
    checks += [
        Check("plugins", False, f"plugins.disabled names {name}, and there is no such plugin", "mend the name")
        for name in memory.settings.plugins.disabled
        if name not in known
    ]
    checks += [
        Check(f"plugin {name}", False, failure, f"mend it, or list it in plugins.disabled: [{name}]")
        for name, failure in memory.plugins.failed.items()
    ]
    if (use := memory.ambient.use()).late * 10 > use.messages:
        what = f"{use.late} of {counted(use.messages, 'message')} since {use.since} got it too late, or only a part"
        step = "raise contextTimeoutMs of OpenClaw's plugin and context.deadline_ms, or see what keeps the machine busy"
        checks.append(Check("context", True, what, step, remark=True))
    return checks


def useless_values(settings: Settings) -> Iterator[SettingsError]:
    """What is wrong with values that nothing looks at before they are used."""
    from ..index.opening import url_of
    from ..search.service import check_settings
    from ..text.calendar import now_in

    zone = settings.consolidate.time_zone
    for check in (partial(check_settings, settings.search), partial(now_in, zone), partial(url_of, settings)):
        try:
            check()
        except SettingsError as error:
            yield error


def surroundings(settings: Settings) -> list[str]:
    """What is to be said of where the settings come from; nothing of it breaks the memory."""
    trouble = OpenClawHome.of().trouble()
    return [*settings.ignored, *([trouble] if trouble else [])]


def _remark(text: str) -> Check:
    name, _, rest = text.partition(": ")
    what, _, step = rest.partition("; ")
    return Check(name, True, what, step or None, remark=True)


def _workspace(memory: Examined, found: ScanResult) -> list[Check]:
    checks = [
        Check(
            "workspace",
            bool(found.files),
            f"{memory.workspace}: {counted(len(found.files), 'memory file')}",
            None if found.files else "write a MEMORY.md or a note under memory/, or give another --workspace",
        )
    ]
    said = _said(memory, found)
    checks += unread_files(said.unread, found.skipped, said.guessed)
    step = "take over what it has and the note has not, and delete it"
    what = "is a version that a sync program put beside a note"
    checks += [
        Check("file", True, f"{file.path} {what}", step, remark=True) for file in found.files if is_conflict(file.path)
    ]
    strange = said.strange(memory)
    return [*checks, *([Check("languages", True, *strange, remark=True)] if strange else [])]


def unread_files(
    untrusted: Sequence[SkippedFile],
    skipped: Sequence[SkippedFile],
    guessed: Sequence[SkippedFile] = (),
    most: int = 5,
) -> Iterator[Check]:
    """Files of which nothing is read, or not as it was meant, or not how far they are trusted; the memory works.

    So many of each sort are named one by one.
    """
    for name, files, what in (
        ("trust", untrusted, "taken as untrusted, as its front matter cannot be read"),
        ("file", skipped, "skipped"),
        ("file", guessed, "read by guessing"),
    ):
        for file in files[:most]:
            why, _, step = file.reason.removesuffix(", or ignore it").partition("; ")
            step = f"{step or 'mend it or make it readable'}, or ignore it in {IGNORE_FILE}"
            yield Check(name, True, f"{file.path} is {what}: {why}", step, remark=True)
        if (more := len(files) - most) > 0:
            step = "to see all of them: openclaw-memory status --json"
            yield Check(name, True, f"and {counted(more, 'more file')} {what}", step, remark=True)


def _sidecars(workspace: Path) -> Iterator[Check]:
    """Whether the files of the workspace that are ours can be read; nothing for one that is not there."""
    import os

    from ..knowledge import concepts_file, facts_file
    from ..system import atomic

    for name, read in ((concepts_file.FILE_NAME, concepts_file.read), (facts_file.NAME, facts_file.read)):
        if os.path.lexists(workspace / name):
            try:
                atomic.check(workspace / name)
                read(workspace / name)
                yield Check(name, True, "it can be read")
            except OpenClawMemoryError as error:
                yield Check.failed(name, error)


def model_checks(resolved: Resolved, settings: Settings) -> list[Check]:
    """Whether the embedder that was found embeds a text, and what runs it."""
    embedder = resolved.embedder
    if embedder is None:
        wanted = settings.embedding.model.strip().lower() in ("none", "")
        return [Check("model", wanted, resolved.reason or "none")]  # a reason says what to do
    try:
        vector = embedder.embed_query(["a test"])
    except ModelError as error:
        return [Check.failed("model", f"searching by keywords: {error}")]
    detail = f"{embedder.model} by {embedder.provider}, {vector.shape[1]} dimensions"
    model = Check("model", resolved.reason is None, detail + (f"; {resolved.reason}" if resolved.reason else ""))
    return [model, *_engine(settings, embedder)]


def _engine(settings: Settings, embedder: object) -> list[Check]:
    """What runs llama.cpp: which binding, which ones do not run here, and whether a GPU is idle."""
    from ..embed.llama import LlamaCppEmbedder

    if not isinstance(embedder, LlamaCppEmbedder):
        return []
    checks = [Check("llama.cpp", True, f"{embedder.binding}, proved on this machine")]
    for failure in embedder.setbacks:
        what = f"{failure}; {embedder.binding} is used instead"
        checks.append(Check("llama.cpp", True, what, "uninstall it, or install another build", remark=True))
    idle = _graphics() if settings.embedding.gpu and not embedder.opened().gpu else None
    if idle:
        what = f"{idle} is idle: {embedder.binding} computes on the CPU only"
        build = "pip install --force-reinstall --no-binary llama-cpp-python llama-cpp-python"
        checks.append(Check("gpu", True, what, f"run: CMAKE_ARGS=-DGGML_CUDA=on {build}", remark=True))
    return checks


def _graphics() -> str | None:
    """The name of an NVIDIA GPU of this machine."""
    from ..hosts import HostError
    from ..hosts.process import find, run

    tool = find("nvidia-smi")
    if tool is None:
        return None
    try:
        answer = run([tool, "--query-gpu=name", "--format=csv,noheader"], timeout=20)
    except HostError:
        return None  # a driver that does not answer runs nothing
    return None if answer.code else next(filter(None, map(str.strip, answer.out.splitlines())), None)


def _extensions(settings: Settings) -> list[Check]:
    """What is missing of the extensions that the settings ask for."""
    from ..store.duckdb.extensions import extension_file

    needed = {"fts": settings.store.keyword_index == "fts", "vss": settings.store.vector_index == "vss"}
    return [
        Check(f"extension {name}", False, "missing", f"run: pip install duckdb-extension-{name}")
        for name, used in needed.items()
        if used and extension_file(name) is None
    ]


def _index(memory: Examined, store: Store, found: ScanResult | None) -> list[Check]:
    _, model, _ = memory.vectors_in_use()
    try:
        with store.session():
            numbers = store.statistics()
            documents = store.documents()
            states = store.vector_states(model)
    except OpenClawMemoryError as error:
        return [Check.failed("index", error)]
    checks = [Check("index", True, f"{numbers.path}: {counted(numbers.units, 'unit')}, {numbers.bytes / 1e6:.1f} MB")]
    checks += [Check("index", False, warning, "run: openclaw-memory ingest") for warning in store.warnings()]
    checks += [Check.failed("state", remark) for remark in memory.remarks()[len(store.warnings()) :]]
    checks += [] if found is None else freshness(memory, documents, found)
    return [*checks, *([] if model is None else [vectors(asdict(states))])]


def vectors(count: Mapping[str, int]) -> Check:
    """Whether every unit has a vector of the model in use, by how many there are in each state."""
    waiting = count["pending"] + count["outdated"] + count["failed"]
    what = f"{count['ready']} ready, {count['pending']} pending, {count['outdated']} of another model, "
    return Check(
        "vectors", not waiting, f"{what}{count['failed']} failed", "run: openclaw-memory ingest" if waiting else None
    )


def freshness(memory: Examined, documents: Documents, found: ScanResult) -> list[Check]:
    """Whether the index is up to date with what of the files that were ``found`` can be read."""
    checks: list[Check] = []
    files = {file.path: file for file in found.files}
    # What cannot be looked at now is kept in the index: files, and folders that end in a slash.
    folders = tuple(name for name in found.unreadable if name.endswith("/"))
    gone = documents.by_path.keys() - files.keys()
    again = [path for path in sorted(gone) if path not in found.unreadable and not path.startswith(folders)]
    for path, file in files.items():
        row = documents.by_path.get(path)
        if row is not None and (row.size, row.mtime_ns) == (file.size, file.mtime_ns):
            continue
        try:
            memory.reader.read(file, Linker(OntologyRows()))
        except (Unreadable, RedactionError) as problem:
            checks += unread_files((), [SkippedFile(path, str(problem))])
            if row is not None and getattr(problem, "content", False):
                again.append(path)  # what the index has of it goes
        else:
            again.append(path)
    more = ", ..." if len(again) > 3 else ""
    detail = f"{counted(len(again), 'file')} to be read again: {', '.join(again[:3])}{more}"
    if not again:
        return [*checks, Check("freshness", True, "the index is up to date")]
    return [*checks, Check("freshness", False, detail, "run: openclaw-memory ingest")]
