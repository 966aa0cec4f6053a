"""Settings: defaults < YAML file < OpenClaw plugin < environment < arguments, validated, with the source of each.

Keys are dotted (``search.max_results``); the YAML file nests them, the environment writes them as
``OPENCLAW_MEMORY_SEARCH_MAX_RESULTS``.  The dataclasses below are the whole list.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from ..errors import Problem, SettingsError
from ..records import dataclass
from ..version import NAME
from .coerce import all_keys, assign, find_closest
from .coerce import check_key as check_key
from .coerce import value_of as value_of
from .coerce import walk as walk

if TYPE_CHECKING:
    from .openclaw_home import OpenClawHome

ENV_PREFIX = "OPENCLAW_MEMORY_"


def setting(
    default: Any,
    help: str,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    entries: Mapping[str, Any] = MappingProxyType({}),
) -> Any:
    """Return a dataclass field with its help, its bounds, and the types of a mapping's entries by name.

    Without ``entries`` a mapping may have any names; its bounds apply to its numbers.
    """
    meta = {"help": help, "minimum": minimum, "maximum": maximum, "entries": entries}
    if isinstance(default, (dict, list)):
        return field(default_factory=lambda: type(default)(default), metadata=meta)
    return field(default=default, metadata=meta)


@dataclass(frozen=True, slots=True)
class ExtraPath:
    """A folder or file outside the workspace that is read too; shown as ``@name/…``.

    With a ``workspace`` it belongs to that one alone.  Files of the kind ``session`` are found only by a question that
    asks for them.
    """

    path: str
    name: str
    origin: Literal["owner", "agent", "untrusted"] = "untrusted"
    workspace: str = ""
    kind: Literal["note", "session"] = "note"

    def belongs_to(self, workspace: Path) -> bool:
        """Return true if it is read into ``workspace``."""
        owner = Path(os.path.expanduser(self.workspace)).resolve()
        return not self.workspace or owner == workspace.expanduser().resolve()


@dataclass(frozen=True, slots=True)
class SharedMemory:
    """Another memory that agents may read beside their own; shown as ``@name/…``."""

    name: str
    workspace: str = ""
    agent: str = ""
    origin: Literal["owner", "agent", "untrusted"] = "agent"
    context: bool = False
    readers: list[str] = field(default_factory=list)
    on_server: str = ""


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """Sources of vectors."""

    model: str = setting(
        "auto",
        "registry name, path of a GGUF file, 'none' for keywords only, or 'auto': all-minilm-l6-v2 for notes in "
        "English, multilingual-e5-small for others",
    )
    provider: Literal["local", "http"] = setting(
        "local", "'local' runs llama.cpp here; 'http' calls an OpenAI-compatible endpoint"
    )
    offline: bool = setting(False, "never download a model")
    threads: int = setting(0, "CPU threads of the model; 0 = one, and a first ingest runs one on each core", minimum=0)
    gpu: bool = setting(True, "offload every layer when the llama.cpp build has a GPU")
    binding: Literal["auto", "llama-cpp-python", "xllamacpp"] = setting(
        "auto", "package that runs llama.cpp; 'auto' takes the first that works, llama-cpp-python before xllamacpp"
    )
    repack: Literal["auto", "on", "off"] = setting(
        "auto", "let llama.cpp repack weights for this CPU: 'auto' does in builds without AMX, whose code can crash"
    )
    http_url: str = setting("", "base URL of the endpoint, up to and with /v1")
    http_model: str = setting("", "model name sent to the endpoint")
    http_api_key_env: str = setting("OPENAI_API_KEY", "environment variable that holds the key")
    http_dimensions: int = setting(0, "vector length to ask for; 0 = the endpoint's own", minimum=0)


@dataclass(frozen=True, slots=True)
class IngestSettings:
    """Files to read, and when to embed them."""

    extra_paths: list[ExtraPath] = setting([], "more folders: a list of {path, name, origin, workspace, kind}")
    session_days: int = setting(0, "days of OpenClaw's conversations that can be searched; 0 = none", minimum=0)
    max_file_mb: float = setting(8.0, "a larger file is reported and skipped", minimum=0.001)
    embed: Literal["eager", "lazy", "background"] = setting(
        "eager", "when new text is embedded: at once, on first need, or by a background thread"
    )
    fresh_seconds: float = setting(5.0, "a search whose last file scan is older looks at the files first", minimum=0)


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """Ranking and size of answers."""

    mode: Literal["hybrid", "vector", "keyword", "graph"] = setting("hybrid", "which signals rank")
    fusion: Literal["score", "rrf"] = setting("score", "how signals are joined")
    max_results: int = setting(6, "hits returned", minimum=1, maximum=1000)
    min_score: float = setting(0.0, "hits below this score are left out", minimum=0, maximum=1)
    snippet_chars: int = setting(700, "longest snippet", minimum=40)
    weights: dict[str, float] = setting({}, "changes to the weights of docs/ranking.md, feature: number")
    recency_weight: float = setting(0.0, "share of the score that is the text's recency alone", minimum=0, maximum=1)
    use_weight: float = setting(
        0.05,
        "most that use and feedback may move a hit, as a share of the scores' range; 0 = nothing",
        minimum=0,
        maximum=0.5,
    )


@dataclass(frozen=True, slots=True)
class ContextSettings:
    """Context that is added to messages."""

    enabled: bool = setting(True, "whether there is any")
    budget: int = setting(200, "most tokens of it", minimum=1, maximum=100_000)
    curated_files: bool = setting(False, "give MEMORY.md and USER.md too (serve does unless OpenClaw starts it)")
    deadline_ms: int = setting(1000, "most milliseconds that a host's call may take", minimum=1)


@dataclass(frozen=True, slots=True)
class ConsolidateSettings:
    """Summaries of old notes."""

    automatic: Literal["ask", "on", "off"] = setting(
        "ask", "what a heartbeat does: report until it is enabled by 'consolidate --enable', consolidate, or nothing"
    )
    older_than_days: int = setting(3, "periods that ended at most this many days ago are left alone", minimum=0)
    time_zone: str = setting(
        "", "IANA name of the zone whose days count; empty = the system's, in a container often UTC"
    )
    budgets: dict[str, float] = setting(
        {},
        "most tokens of a summary by grain; see docs/consolidation.md",
        minimum=1,
        entries=dict.fromkeys(("daily", "weekly", "monthly", "quarterly", "yearly"), float),
    )


@dataclass(frozen=True, slots=True)
class CaptureSettings:
    """Capture of finished turns."""

    enabled: bool = setting(False, "whether hosts capture what is worth keeping of a finished turn")


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """The index file."""

    path: str = setting("", "the DuckDB file; empty = one per agent and workspace in store.folder")
    url: str = setting("", "the PostgreSQL server, postgresql://user@host/database; empty = a DuckDB file")
    workspace: str = setting(
        "", "the workspace's name on the server, alike on all machines that have it; empty = by path and machine"
    )
    folder: str = setting(
        "", "folder of the index files; empty = the OpenClaw plugin's if it is installed, else the data folder"
    )
    vector_index: Literal["auto", "exact", "vss"] = setting(
        "auto", "auto and exact score every vector; vss builds DuckDB's HNSW graph in memory, slower below millions"
    )
    vector_dtype: Literal["float32", "int8"] = setting("int8", "the matrix in memory; float32 takes four times as much")
    keyword_index: Literal["postings", "fts"] = setting("postings", "our postings, or DuckDB's FTS extension")
    lock_timeout: float = setting(30.0, "seconds to wait for another process", minimum=0)
    memory_limit_mb: int = setting(384, "DuckDB's memory limit", minimum=64)


@dataclass(frozen=True, slots=True)
class StateSettings:
    """The state: usage, feedback, forgotten items, permissions."""

    folder: str = setting("", "folder of the states of workspaces; empty = state in the data folder")


@dataclass(frozen=True, slots=True)
class SharingSettings:
    """Other memories that agents read."""

    read_from: list[str] = setting(
        [], "memories that are read too: names of sharing.memories, agents of OpenClaw, or 'parent' for sub-agents"
    )
    memories: list[SharedMemory] = setting(
        [],
        "memories by name: a list of {name, workspace, agent, origin, context, readers, on_server}; see docs/teams.md",
    )


@dataclass(frozen=True, slots=True)
class PluginSettings:
    """Plugins that are left out."""

    disabled: list[str] = setting([], "names of plugins, built-in ones too, that are left out")


@dataclass(frozen=True, slots=True)
class RedactionSettings:
    """Exceptions from redaction."""

    allow: list[str] = setting(
        [], "texts that are no secrets though they look like some, each exactly as it is written"
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting; build one with :func:`load`."""

    embedding: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    ingest: IngestSettings = field(default_factory=IngestSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    context: ContextSettings = field(default_factory=ContextSettings)
    consolidate: ConsolidateSettings = field(default_factory=ConsolidateSettings)
    retention: dict[str, Any] = setting(
        {"plan": "keep"},
        "how long each grain is kept: a plan (keep, free, starter, pro), or custom with limits by grain, of which 0 "
        "keeps for good; see docs/consolidation.md",
        minimum=0,
        entries={
            "plan": Literal["keep", "free", "starter", "pro", "custom"],
            "working_hours": int,
            "daily_days": int,
            "weekly_weeks": int,
            "monthly_months": int,
            "quarterly_quarters": int,
            "yearly_years": int,
        },
    )
    capture: CaptureSettings = field(default_factory=CaptureSettings)
    store: StoreSettings = field(default_factory=StoreSettings)
    state: StateSettings = field(default_factory=StateSettings)
    sharing: SharingSettings = field(default_factory=SharingSettings)
    plugins: PluginSettings = field(default_factory=PluginSettings)
    redaction: RedactionSettings = field(default_factory=RedactionSettings)
    #: Names in the sources that are no settings.
    ignored: tuple[Problem, ...] = field(default=(), compare=False)

    @classmethod
    def load(
        cls,
        config: Path | None = None,
        overrides: Mapping[str, Any] | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> Settings:
        """Return the settings in force; see :func:`load`."""
        return load(config, overrides, environ)[0]

    def for_workspace(self, workspace: Path, conversations: Path | None = None) -> Settings:
        """Return a copy without extra paths of other workspaces, and with the folder of its agent's ``conversations``.

        Without that folder there are no days of them.
        """
        extras = [extra for extra in self.ingest.extra_paths if extra.belongs_to(workspace)]
        days = self.ingest.session_days if conversations is not None else 0
        if days:
            extras.append(ExtraPath(str(conversations), "sessions", kind="session"))
        return replace(self, ingest=replace(self.ingest, extra_paths=extras, session_days=days))

    def with_values(self, values: Mapping[str, Any]) -> Settings:
        """Return a copy with dotted ``values`` changed and validated."""
        out = self
        for key, value in values.items():
            out = assign(out, key, value, "argument")
        return out


def config_path() -> Path:
    """Return the default path of the YAML file."""
    import platformdirs

    return Path(platformdirs.user_config_dir(NAME)) / "config.yaml"


def data_dir() -> Path:
    """Return the folder of indexes and states."""
    import platformdirs

    return Path(platformdirs.user_data_dir(NAME))


def cache_dir() -> Path:
    """Return the folder of downloaded and converted models."""
    import platformdirs

    return Path(platformdirs.user_cache_dir(NAME))


def load(
    config: Path | None = None,
    overrides: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    index: str | Path | None = None,
    profile: str | None = None,
) -> tuple[Settings, dict[str, str]]:
    """Merge all sources; return the settings and the source of each by dotted key.

    If the index is one of the OpenClaw plugin, the plugin's settings apply, above the default YAML file and below
    variables and arguments.  ``index`` is an index named outside the settings, ``profile`` one of OpenClaw's profiles.
    Unknown keys are listed in ``ignored``.  Raises :class:`SettingsError` naming the source, the key and its problem.
    """
    from .openclaw_home import OpenClawHome

    environ = os.environ if environ is None else environ
    file = config or (Path(p) if (p := environ.get(ENV_PREFIX + "CONFIG")) else None)
    explicit: list[_Source] = []
    if file is not None:
        option = "--config" if config is not None else f"{ENV_PREFIX}CONFIG"
        explicit += _from_file(file, f"leave {option} out")
    variables, unknown = _from_environment(environ)
    explicit += variables
    explicit += [(key, value, "argument") for key, value in (overrides or {}).items()]
    defaults = _from_file(config_path()) if file is None and config_path().is_file() else []
    home = OpenClawHome.for_environment(environ, profile)
    if _is_plugin_index(home, _merge([*defaults, *explicit])[0], index):
        plugin_file, values = home.plugin_config()
        if plugin_file is not None and file is None:
            defaults = _from_file(plugin_file, f"mend {home.plugin_key('configFile')}")
        where = home.plugin_key("settings")
        defaults += [(key, value, where) for key, value in values.items()]
    settings, sources = _merge([*defaults, *explicit])
    return replace(settings, ignored=(*unknown, *settings.ignored)), sources


#: A dotted key, its unchecked value, and its source.
_Source = tuple[str, Any, str]


def _merge(sources: list[_Source]) -> tuple[Settings, dict[str, str]]:
    settings, ignored = Settings(), list[Problem]()
    origin = {key: "default" for key, _, _ in walk(settings)}
    for key, value, where in sources:
        changed = assign(settings, key, value, where, ignored)
        if changed is not settings:
            origin[check_key(settings, key)[0]] = where
        settings = changed
    return replace(settings, ignored=tuple(dict.fromkeys(ignored))), origin


def read_tree(file: Path) -> dict[str, Any]:
    """Return the mapping in a YAML ``file``.  Raises :class:`SettingsError` when it cannot be read, or is none."""
    import yaml

    try:
        tree = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise SettingsError(f"cannot be read as YAML ({reason})", "mend or move it", file) from error
    if not isinstance(tree, dict):
        raise SettingsError(f"{file}: the top level must be a mapping such as 'search:'")
    return tree


def _from_file(file: Path, otherwise: str = "") -> list[_Source]:
    if not file.exists() or file.is_dir():
        raise SettingsError("no such configuration file", f"create it or {otherwise}", file)
    groups = {key.partition(".")[0] for key, _, _ in walk(Settings())}
    rows: list[_Source] = []
    for group, inner in read_tree(file).items():
        if group not in groups:
            rows.append((str(group), None, str(file)))
        elif isinstance(inner, dict):
            rows += [(f"{group}.{key}", value, str(file)) for key, value in inner.items()]
        elif inner is not None:
            raise SettingsError(f"'{group}' must be a mapping of settings", "write them below it", file)
    return rows


def _is_plugin_index(home: OpenClawHome, settings: Settings, index: str | Path | None) -> bool:
    """Return true if the index is one of the OpenClaw plugin."""
    if named := index or settings.store.path or settings.store.folder:
        return Path(os.path.realpath(os.path.expanduser(named))).is_relative_to(
            os.path.realpath(home.plugin_state / "index")
        )
    return home.plugin_state.is_dir()


#: Variables for options of the command line.
HOST_VARIABLES = frozenset(
    ENV_PREFIX + name for name in ("CONFIG", "WORKSPACE", "AGENT", "DB", "JSON", "DEBUG", "COMMAND")
)


def _from_environment(environ: Mapping[str, str]) -> tuple[list[_Source], list[Problem]]:
    """Return the settings of variables, and problems of other variables with our prefix, which others may use too."""
    keys = {key.upper().replace(".", "_"): key for key in all_keys(Settings())}
    mappings = {key.upper().replace(".", "_"): key for key, value, _ in walk(Settings()) if isinstance(value, dict)}
    rows: list[_Source] = []
    unknown = []
    for variable in sorted(name for name in environ if name.startswith(ENV_PREFIX) and name not in HOST_VARIABLES):
        name = variable.removeprefix(ENV_PREFIX)
        mapping = next((each for each in mappings if name.startswith(f"{each}_")), None)
        key = keys.get(name) or (mapping and f"{mappings[mapping]}.{name[len(mapping) + 1 :].lower()}")
        if key is None:
            close = find_closest(name, keys, 0.8)
            step = f"did you mean '{ENV_PREFIX}{close}'?" if close else None
            unknown.append(Problem(f"'{variable}' is no setting and changes nothing", step, "environment"))
        elif environ[variable].strip():  # containers and scripts write "not set" as an empty text
            rows.append((key, environ[variable], f"environment {variable}"))
    return rows, unknown
