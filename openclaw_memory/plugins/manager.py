"""Register redaction, entry points and objects as plugins, and keep the errors of a hook from its callers."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pluggy

from .. import hookspecs
from ..errors import RedactionError
from ..model import SearchHit, Section, Unit

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

log = logging.getLogger("openclaw_memory.plugins")

T = TypeVar("T")

#: The plugin that must work, unless it is disabled: without redaction no text is indexed.
REDACTION = "redact"


class Plugins:
    """Calls hooks so that a plugin that raises is named in the log and does no further harm.

    ``allow`` are texts that the built-in redaction leaves as they are.
    """

    def __init__(
        self,
        disabled: Sequence[str] = (),
        extra: Sequence[object] = (),
        entry_points: bool = True,
        allow: Sequence[str] = (),
    ) -> None:
        self.manager = pluggy.PluginManager(hookspecs.PROJECT)
        self.manager.add_hookspecs(hookspecs)
        self.failed: dict[str, str] = {}
        for name in disabled:
            self.manager.set_blocked(name)
        if REDACTION not in disabled:
            from .redact import Redaction

            self.manager.register(Redaction(allow), REDACTION)
        for point in find_entry_points() if entry_points else ():
            if point.name not in disabled and not self.manager.has_plugin(point.name):
                try:
                    self._register(point.load(), point.name)
                except Exception as error:
                    self._note(point.name, "load", error)
        for plugin in extra:
            name = getattr(plugin, "__name__", None) or type(plugin).__name__
            self._register(plugin, None if self.manager.has_plugin(name) else name)

    def _register(self, plugin: object, name: str | None) -> None:
        """Register a plugin, or note what is wrong with it and go on without it."""
        try:
            if self.manager.register(plugin, name) is not None:  # not disabled by the settings
                self._check(plugin)
        except Exception as error:
            self._note(name or type(plugin).__name__, "load", error)
            # pluggy keeps the hooks that it had seen before the wrong one.
            if self.manager.is_registered(plugin):
                self.manager.unregister(plugin)

    def _check(self, plugin: object) -> None:
        specs = {name for name in dir(hookspecs) if name.startswith(hookspecs.PROJECT)}
        for caller in self.manager.get_hookcallers(plugin) or ():
            for implementation in caller.get_hookimpls():
                if implementation.plugin is not plugin:
                    continue
                if caller.name not in specs and not implementation.optionalhook:
                    raise pluggy.PluginValidationError(plugin, f"there is no hook {caller.name}")
                if implementation.wrapper or implementation.hookwrapper:
                    raise TypeError(f"{caller.name} is a wrapper, which is not supported")

    def names(self) -> list[str]:
        """Return the names of the registered plugins, in order of registration."""
        return [name for name, plugin in self.manager.list_name_plugin() if plugin is not None]

    def blocked(self) -> list[str]:
        """Return the names of the plugins that are installed and disabled."""
        installed = {REDACTION, *(point.name for point in find_entry_points())}
        return sorted(name for name in installed if self.manager.is_blocked(name))

    def redaction_rules(self) -> str | None:
        """Return an identity of what the redaction takes out; ``None`` if a plugin of others changes lines too."""
        hooks = self.manager.hook.openclaw_memory_prepare_lines.get_hookimpls()
        redaction = self.manager.get_plugin(REDACTION)
        others = any(each.plugin is not redaction for each in hooks)
        return None if others or redaction is None else str(redaction.rules)

    def has_any(self, hook: str) -> bool:
        """Return true if a plugin implements ``hook``, so that hot loops can skip the call."""
        return bool(getattr(self.manager.hook, hook).get_hookimpls())

    def _each(self, hook: str, **arguments: Any) -> Iterator[tuple[str, Any]]:
        """Call the implementations, last registered first; yield each plugin and its result unless that is ``None``."""
        for implementation in reversed(getattr(self.manager.hook, hook).get_hookimpls()):
            try:
                result = implementation.function(*(arguments[name] for name in implementation.argnames))
            except Exception as error:
                self._note(implementation.plugin_name, hook, error)
                continue
            if result is not None:
                yield implementation.plugin_name, result

    def _pass_on(self, hook: str, argument: str, value: T, check: Callable[[Any, Any], Any], **others: Any) -> T:
        """Pass ``value`` through the plugins, first registered first, and return what the last one makes of it.

        ``check(result, value)`` returns the next value, ``None`` for the last, or raises.  When a plugin fails, hits
        stay as they are; of a note it may be what keeps something out, so :class:`RedactionError` is raised.
        """
        for implementation in getattr(self.manager.hook, hook).get_hookimpls():
            # A list is copied: a plugin may change it in place, and then say nothing.
            arguments = {argument: list(value) if isinstance(value, list) else value, **others}
            try:
                result = implementation.function(*(arguments[name] for name in implementation.argnames))
                value = value if result is None else check(result, value)
            except Exception as error:
                self._note(implementation.plugin_name, hook, error)
                if implementation.plugin_name == REDACTION:
                    raise RedactionError(f"its secrets could not be redacted ({error})") from error
                if hook.startswith("openclaw_memory_prepare_"):
                    plugin, cause = implementation.plugin_name, f"{type(error).__name__}: {error}"
                    raise RedactionError(f"the plugin {plugin} failed on it ({cause}); mend or disable that") from error
            if value is None:
                break
        return value

    def _note(self, plugin: str, hook: str, error: Exception) -> None:
        self.failed[plugin] = f"{hook}: {type(error).__name__}: {error}"
        log.warning("plugin %s failed in %s: %s: %s", plugin, hook, type(error).__name__, error)

    def notify(self, hook: str, **arguments: Any) -> list[Any]:
        """Call every implementation and collect the results."""
        return [result for _, result in self._each(hook, **arguments)]

    def first(self, hook: str, result_type: type[T], **arguments: Any) -> T | None:
        """Return the first result of ``result_type``, or ``None``; others are noted and passed over."""
        for plugin, result in self._each(hook, **arguments):
            if isinstance(result, result_type):
                return result
            self._note(plugin, hook, TypeError(f"returned {type(result).__name__}, not {result_type.__name__}"))
        return None

    def prepare_lines(self, path: str, lines: list[str]) -> list[str]:
        """Return the lines of a file after every plugin has seen them; a changed count of lines is refused.

        Raises :class:`RedactionError` when a plugin fails.
        """
        return self._pass_on("openclaw_memory_prepare_lines", "lines", lines, _checked_lines, path=path)

    def redact_text(self, path: str, text: str) -> str:
        """Return a text of the file ``path`` as the plugins let it into the index.  Raises :class:`RedactionError`."""
        return "\n".join(self.prepare_lines(path, text.split("\n")))

    def without_secrets(self, text: str) -> str:
        """Return ``text`` after the built-in redaction alone, if enabled: for names, and generated files."""
        redaction = self.manager.get_plugin(REDACTION)
        return text if redaction is None else str(redaction.redact(text))

    def prepare_unit(self, unit: Unit) -> Unit | None:
        """Return the unit after every plugin has seen it, ``None`` if one drops it; raises as :meth:`prepare_lines`."""
        return self._pass_on("openclaw_memory_prepare_unit", "unit", unit, _checked_unit)

    def chunk(self, path: str, section: Section) -> Section:
        """Return the section with the units that the plugins cut it into."""
        return self._pass_on("openclaw_memory_chunk", "section", section, _checked_section, path=path)

    def rerank(self, query: str, hits: Sequence[SearchHit]) -> list[SearchHit]:
        """Return the hits after every plugin has reordered them."""
        return list(self._pass_on("openclaw_memory_rerank", "hits", tuple(hits), _checked_hits, query=query))


def _checked_lines(changed: Any, lines: list[str]) -> list[str]:
    if isinstance(changed, str) or len(changed) != len(lines):
        raise ValueError(f"returned {len(changed)} lines for {len(lines)}")
    for line in changed:
        if not isinstance(line, str) or "\n" in line or "\r" in line:
            raise ValueError("returned a line that is no single line of text")
    return list(changed)


def _checked_unit(changed: Any, unit: Unit) -> Unit | None:
    if changed is False:
        return None
    if not isinstance(changed, Unit):
        raise TypeError(f"returned {type(changed).__name__}, not a Unit, False or None")
    if (changed.start_line, changed.end_line) != (unit.start_line, unit.end_line):
        raise ValueError("changed the lines that a unit stands on")
    return changed


def _checked_section(changed: Any, section: Section) -> Section:
    units = tuple(changed)
    for unit in units:
        if not isinstance(unit, Unit):
            raise TypeError("returned something that is not a Unit")
        first, last = unit.start_line - section.start_line, unit.end_line - section.start_line
        if not 0 <= first <= last < len(section.lines):
            raise ValueError("returned a unit outside of its section")
        lines = " ".join(" ".join(section.lines[first : last + 1]).split())
        if unit not in section.units and " ".join(unit.text.split()) not in lines:
            raise ValueError("returned a unit whose text does not stand on its lines")
    if any(after.start_line < before.start_line for before, after in pairwise(units)):
        raise ValueError("returned units that are not in order")
    return replace(section, units=units)


def _checked_hits(changed: Any, hits: tuple[SearchHit, ...]) -> tuple[SearchHit, ...]:
    ordered: tuple[SearchHit, ...] = tuple(changed)
    if not all(isinstance(hit, SearchHit) for hit in ordered):
        raise TypeError("returned something that is not a SearchHit")
    return ordered


def find_entry_points(group: str = hookspecs.PROJECT) -> Iterable[EntryPoint]:
    """Return the entry points of a ``group`` that other packages install, the plugins by default.

    The standard library parses what all packages install, which takes longer than most commands: here it does only
    where one of them names our group.
    """
    title = f"[{group}]"
    for folder in map(Path, dict.fromkeys(sys.path)):
        if folder.is_file():  # an archive, whose members are not looked at
            break
        with suppress(OSError):
            if any(title in file.read_text("utf-8", "replace") for file in folder.glob("*-info/entry_points.txt")):
                break
    else:
        return ()
    from importlib.metadata import entry_points

    return entry_points(group=group)
