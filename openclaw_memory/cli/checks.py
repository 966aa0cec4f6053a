"""Checks of ``doctor`` and ``status``: hosts, model, notes, plugins and index, each with the step that mends it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, field
from functools import partial
from pathlib import Path

from ..config.settings import Settings
from ..embed.manager import EmbedderChoice
from ..errors import ModelError, OpenClawMemoryError, Problem, RedactionError, SettingsError
from ..index.opening import url_of
from ..ingest.scan import IGNORE_FILE, Unreadable, is_conflict, max_bytes, scan
from ..ingest.survey import remarks_on
from ..knowledge import CONCEPTS, FACTS
from ..memory import Memory
from ..model import Check, ScanResult, SkippedFile, SourceFile, counted
from ..records import dataclass
from ..store.api import DocumentInfo, Documents, OntologyRows
from ..system import atomic
from ..text.calendar import now_in
from ..upkeep.languages import Languages, unknown_languages
from ..version import DISTRIBUTION, NAME


def examine(memory: Memory) -> list[Check]:
    """Return every check of ``doctor``, in the order of ``setup``; reads each note once and changes nothing."""
    from ..hosts.openclaw_checks import check_openclaw

    checks = [
        Check(problem.path or "settings", True, problem.what, problem.next_step, remark=True)
        for problem in memory.settings.ignored
    ]
    checks += [Check.from_problem("settings", error.problem) for error in invalid_values(memory.settings)]
    checks += [*_namesake(), *check_openclaw()]
    checks += model_checks(memory.prove_embedder(), memory.settings)
    scanned, reading = None, NoteReading()
    documents, index = _index(memory)
    try:
        scanned = scan(memory.workspace, memory.settings.ingest)
    except OpenClawMemoryError as error:
        checks.append(Check("workspace", False, str(error), "give the agent's folder with --workspace"))
    else:
        reading = read_notes(memory, scanned, documents)
        checks += _workspace(memory, scanned, reading)
    checks += [*_sidecars(memory.workspace), *_extensions(memory.settings), *index]
    if documents is not None:
        if scanned is not None:
            checks += freshness(documents, scanned, reading)
        _, model, _ = memory.vectors_in_use()
        checks += [] if model is None else [vectors(asdict(memory.store.vector_states(model)))]
    registered = {*memory.plugins.names(), *memory.plugins.blocked()}
    checks += [
        Check("plugins", False, f"plugins.disabled names {name}, and there is no such plugin", "mend the name")
        for name in memory.settings.plugins.disabled
        if name not in registered
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


def invalid_values(settings: Settings) -> Iterator[SettingsError]:
    """Yield the errors of values that are only checked when they are used."""
    from ..search.service import check_settings

    zone = settings.consolidate.time_zone
    for check in (partial(check_settings, settings.search), partial(now_in, zone), partial(url_of, settings)):
        try:
            check()
        except SettingsError as error:
            yield error


def _namesake() -> Iterator[Check]:
    """Name the other project's package that is called like our command."""
    from importlib import metadata

    with suppress(metadata.PackageNotFoundError):
        other = f"{NAME} {metadata.version(NAME)}"
        what = f"{other} is installed beside {DISTRIBUTION}, and is another project's"
        yield Check("package", True, what, f"unless you use it, run: pip uninstall {NAME}", remark=True)


# -- notes ------------------------------------------------------------------------------------------


@dataclass(slots=True)
class NoteReading:
    """Findings in the notes: unreadable front matter, guesses, languages, and changes since the index was written.

    ``changed`` are paths that the index must read again, ``unreadable`` changed notes that cannot be read.
    """

    untrusted: list[SkippedFile] = field(default_factory=list)
    guessed: list[SkippedFile] = field(default_factory=list)
    languages: Languages = field(default_factory=Languages)
    changed: list[str] = field(default_factory=list)
    unreadable: list[SkippedFile] = field(default_factory=list)


def read_notes(memory: Memory, scanned: ScanResult, documents: Documents | None) -> NoteReading:
    """Read each note once."""
    from ..ingest.notes import RawNote
    from ..knowledge.linking import Linker

    reading = NoteReading()
    for file in scanned.files:
        row = None if documents is None else documents.by_path.get(file.path)
        try:
            note = RawNote.read(file, max_bytes(memory.settings.ingest))
            remarks = remarks_on(file, note)
            reading.languages.add(note.lines)
            if remarks.untrusted is not None:
                reading.untrusted.append(SkippedFile(file.path, remarks.untrusted))
            reading.guessed += [SkippedFile(file.path, reason) for reason in remarks.guessed]
            if is_changed(file, row):
                memory.reader.read(file, Linker(OntologyRows()), memory.reader.text(file, note))
                reading.changed.append(file.path)
        except (Unreadable, RedactionError) as error:
            if is_changed(file, row):
                reading.unreadable.append(SkippedFile(file.path, str(error)))
                if row is not None and getattr(error, "content", False):
                    reading.changed.append(file.path)  # ingest removes the old text
    return reading


def find_changed_notes(memory: Memory, scanned: ScanResult, documents: Documents) -> NoteReading:
    """Return the changed notes without opening one; ingest has recorded those that cannot be read."""
    changed = [file for file in scanned.files if is_changed(file, documents.by_path.get(file.path))]
    reading, remarks = NoteReading(), memory.survey.remarks(changed)
    for file in changed:
        reason = remarks[file.path].skipped if file.path in remarks else None
        if reason is None:
            reading.changed.append(file.path)
        else:
            reading.unreadable.append(SkippedFile(file.path, reason))
    return reading


def is_changed(file: SourceFile, row: DocumentInfo | None) -> bool:
    """Return true if the index does not have this version of a file."""
    return row is None or (row.size, row.mtime_ns) != (file.size, file.mtime_ns)


def _workspace(memory: Memory, scanned: ScanResult, reading: NoteReading) -> Iterator[Check]:
    yield Check(
        "workspace",
        bool(scanned.files),
        f"{memory.workspace}: {counted(len(scanned.files), 'memory file')}",
        None if scanned.files else "write a MEMORY.md or a note under memory/, or give another --workspace",
    )
    yield from unread_files(reading.untrusted, scanned.skipped, reading.guessed)
    step = "take over what it has and the note has not, and delete it"
    for file in scanned.files:
        if is_conflict(file.path):
            what = f"{file.path} is a version that a sync program put beside a note"
            yield Check("file", True, what, step, remark=True)
    embedder, model, _ = memory.vectors_in_use()
    shares, knowledge = reading.languages.shares(), reading.languages.coverage(embedder)
    if problem := unknown_languages(
        shares, knowledge, None if model is None else model.name, memory.settings.embedding.model
    ):
        yield Check.from_problem("languages", problem, remark=True)


def unread_files(
    untrusted: Sequence[SkippedFile],
    skipped: Sequence[SkippedFile],
    guessed: Sequence[SkippedFile] = (),
    most: int = 5,
) -> Iterator[Check]:
    """Yield remarks on up to ``most`` files of each sort, and on the number of the others."""
    for name, files, what in (
        ("trust", untrusted, "taken as untrusted, as its front matter cannot be read"),
        ("file", skipped, "skipped"),
        ("file", guessed, "read by guessing"),
    ):
        for file in files[:most]:
            problem = Problem.parse(file.reason.removesuffix(", or ignore it"))
            step = f"{problem.next_step or 'mend it or make it readable'}, or ignore it in {IGNORE_FILE}"
            yield Check(name, True, f"{file.path} is {what}: {problem.what}", step, remark=True)
        if (more := len(files) - most) > 0:
            step = "to see all of them: openclaw-memory status --json"
            yield Check(name, True, f"and {counted(more, 'more file')} {what}", step, remark=True)


def freshness(documents: Documents, scanned: ScanResult, reading: NoteReading) -> list[Check]:
    """Compare the index with the files of a scan."""
    # What cannot be looked at now is kept in the index: files, and folders that end in a slash.
    folders = tuple(name for name in scanned.unreadable if name.endswith("/"))
    gone = documents.by_path.keys() - {file.path for file in scanned.files}
    paths = [path for path in sorted(gone) if path not in scanned.unreadable and not path.startswith(folders)]
    paths += reading.changed
    checks = [*unread_files((), reading.unreadable, most=len(reading.unreadable))]
    if not paths:
        return [*checks, Check("freshness", True, "the index is up to date")]
    more = ", ..." if len(paths) > 3 else ""
    what = f"{counted(len(paths), 'file')} to be read again: {', '.join(paths[:3])}{more}"
    return [*checks, Check("freshness", False, what, "run: openclaw-memory ingest")]


def _sidecars(workspace: Path) -> Iterator[Check]:
    """Check that the workspace's files of ours can be read; a missing one is fine."""
    from ..knowledge import concepts_file, facts_file

    for name, read in ((CONCEPTS, concepts_file.read), (FACTS, facts_file.read)):
        if os.path.lexists(workspace / name):
            try:
                atomic.check_regular(workspace / name)
                read(workspace / name)
                yield Check(name, True, "it can be read")
            except OpenClawMemoryError as error:
                yield Check.from_problem(name, error.problem)


# -- the model --------------------------------------------------------------------------------------


def model_checks(resolved: EmbedderChoice, settings: Settings) -> list[Check]:
    """Embed a text, and describe the model and the llama.cpp that runs it."""
    embedder = resolved.embedder
    if embedder is None:
        unwanted = settings.embedding.model.strip().lower() in ("none", "")
        return [Check("model", unwanted, resolved.reason or "none")]  # a reason contains the next step
    try:
        vector = embedder.embed_query(["a test"])
    except ModelError as error:
        problem = error.problem
        return [Check("model", False, f"searching by keywords: {problem.summary}", problem.next_step)]
    detail = f"{embedder.model} by {embedder.provider}, {vector.shape[1]} dimensions"
    model = Check("model", resolved.reason is None, detail + (f"; {resolved.reason}" if resolved.reason else ""))
    return [model, *_llama_cpp(settings, embedder)]


def _llama_cpp(settings: Settings, embedder: object) -> list[Check]:
    """Name the binding in use, the ones that fail here, and a GPU that is idle."""
    from ..embed.llama import LlamaCppEmbedder

    if not isinstance(embedder, LlamaCppEmbedder):
        return []
    checks = [Check("llama.cpp", True, f"{embedder.binding}, proved on this machine")]
    for failure in embedder.setbacks:
        what = f"{failure}; {embedder.binding} is used instead"
        checks.append(Check("llama.cpp", True, what, "uninstall it, or install another build", remark=True))
    idle = _graphics() if settings.embedding.gpu and not embedder.gpu else None
    if idle:
        what = f"{idle} is idle: {embedder.binding} computes on the CPU only"
        build = "pip install --force-reinstall --no-binary llama-cpp-python llama-cpp-python"
        checks.append(Check("gpu", True, what, f"run: CMAKE_ARGS=-DGGML_CUDA=on {build}", remark=True))
    return checks


def _graphics() -> str | None:
    """Return the name of an NVIDIA GPU of this machine."""
    from ..hosts import HostError
    from ..hosts.process import find_program, run_command

    tool = find_program("nvidia-smi")
    if tool is None:
        return None
    try:
        answer = run_command([tool, "--query-gpu=name", "--format=csv,noheader"], timeout=20)
    except HostError:
        return None  # a driver that does not answer runs nothing
    return None if answer.code else next(filter(None, map(str.strip, answer.out.splitlines())), None)


# -- the index --------------------------------------------------------------------------------------


def _extensions(settings: Settings) -> list[Check]:
    """Name the missing ones of the extensions that the settings need."""
    from ..store.duckdb.extensions import extension_file

    needed = {"fts": settings.store.keyword_index == "fts", "vss": settings.store.vector_index == "vss"}
    return [
        Check(f"extension {name}", False, "missing", f"run: pip install duckdb-extension-{name}")
        for name, used in needed.items()
        if used and extension_file(name) is None
    ]


def _index(memory: Memory) -> tuple[Documents | None, list[Check]]:
    """Return the documents of the index, ``None`` if it cannot be read, and checks of index and state."""
    store = memory.store
    try:
        with store.session():
            numbers, documents = store.statistics(), store.documents()
    except OpenClawMemoryError as error:
        return None, [Check.from_problem("index", error.problem)]
    checks = [Check("index", True, f"{numbers.path}: {counted(numbers.units, 'unit')}, {numbers.bytes / 1e6:.1f} MB")]
    warnings = store.warnings()
    checks += [Check("index", False, warning, "run: openclaw-memory ingest") for warning in warnings]
    problems = map(Problem.parse, memory.remarks()[len(warnings) :])
    return documents, [*checks, *(Check.from_problem("state", problem) for problem in problems)]


def vectors(count: Mapping[str, int]) -> Check:
    """Check that every unit has a vector of the model in use, from the number of units in each state."""
    waiting = count["pending"] + count["outdated"] + count["failed"]
    what = f"{count['ready']} ready, {count['pending']} pending, {count['outdated']} of another model, "
    return Check(
        "vectors", not waiting, f"{what}{count['failed']} failed", "run: openclaw-memory ingest" if waiting else None
    )
