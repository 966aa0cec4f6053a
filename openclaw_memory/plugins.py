"""The plugin manager: built-ins and entry points registered the same way, each call fenced off."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any

import pluggy

from . import hookspecs
from .errors import OpenClawMemoryError
from .types import SearchHit, Unit

log = logging.getLogger("openclaw_memory.plugins")

#: Built-in plugins: name and module.
BUILTINS = {
    "redact": "openclaw_memory.builtin.redact",
    "session": "openclaw_memory.builtin.session",
}


class Plugins:
    """Calls hooks so that a plugin that raises is named in the log and does no further harm."""

    def __init__(self, disabled: Sequence[str] = (), extra: Sequence[object] = (), entry_points: bool = True) -> None:
        self.manager = pluggy.PluginManager(hookspecs.PROJECT)
        self.manager.add_hookspecs(hookspecs)
        self.failed: dict[str, str] = {}
        for name in disabled:
            self.manager.set_blocked(name)
        from importlib import import_module

        for name, module in BUILTINS.items():
            if name not in disabled:
                self.manager.register(import_module(module), name)
        if entry_points:
            self._load_entry_points(disabled)
        for plugin in extra:
            self.manager.register(plugin)
        self.manager.check_pending()

    def _load_entry_points(self, disabled: Sequence[str]) -> None:
        from importlib.metadata import entry_points

        for point in entry_points(group=hookspecs.PROJECT):
            if point.name in disabled or self.manager.has_plugin(point.name):
                continue
            try:
                self.manager.register(point.load(), point.name)
            except Exception as error:
                self._note(point.name, "load", error)

    def names(self) -> list[str]:
        """Names of the registered plugins, in order of registration."""
        return [name for name, plugin in self.manager.list_name_plugin() if plugin is not None]

    def has_any(self, hook: str) -> bool:
        """Whether a plugin implements ``hook``: lets hot loops skip the call."""
        return bool(getattr(self.manager.hook, hook).get_hookimpls())

    def _each(self, hook: str, **arguments: Any) -> Iterator[Any]:
        """Call the implementations one by one, last registered first, and yield what is not ``None``."""
        for implementation in reversed(getattr(self.manager.hook, hook).get_hookimpls()):
            try:
                result = implementation.function(*(arguments[name] for name in implementation.argnames))
            except OpenClawMemoryError:
                raise
            except Exception as error:
                self._note(implementation.plugin_name, hook, error)
                continue
            if result is not None:
                yield result

    def _note(self, plugin: str, hook: str, error: Exception) -> None:
        self.failed[plugin] = f"{hook}: {type(error).__name__}: {error}"
        log.warning("plugin %s failed in %s: %s: %s", plugin, hook, type(error).__name__, error)

    def notify(self, hook: str, **arguments: Any) -> list[Any]:
        """Call every implementation and collect the results."""
        return list(self._each(hook, **arguments))

    def first(self, hook: str, **arguments: Any) -> Any:
        """The first result that is not ``None``, or ``None``."""
        return next(self._each(hook, **arguments), None)

    def prepare_lines(self, path: str, lines: list[str]) -> list[str]:
        """Lines of a file after every plugin has seen them; a changed count of lines is refused."""
        for implementation in self.manager.hook.openclaw_memory_prepare_lines.get_hookimpls():
            arguments: dict[str, Any] = {"path": path, "lines": list(lines)}
            try:
                changed: Any = implementation.function(*(arguments[name] for name in implementation.argnames))
                if changed is not None and len(changed) != len(lines):
                    raise ValueError(f"returned {len(changed)} lines for {len(lines)}")
            except Exception as error:
                self._note(implementation.plugin_name, "openclaw_memory_prepare_lines", error)
                continue
            lines = lines if changed is None else list(changed)
        return lines

    def prepare_unit(self, unit: Unit) -> Unit | None:
        """The unit after every plugin has seen it; ``None`` when one drops it."""
        for implementation in self.manager.hook.openclaw_memory_prepare_unit.get_hookimpls():
            try:
                result = implementation.function(*((unit,) if implementation.argnames else ()))
                if not (result is None or result is False or result is True or isinstance(result, Unit)):
                    raise TypeError(f"returned {type(result).__name__}, not a Unit, False or None")
            except Exception as error:
                self._note(implementation.plugin_name, "openclaw_memory_prepare_unit", error)
                continue
            if result is False:
                return None
            if isinstance(result, Unit):
                unit = result
        return unit

    def rerank(self, query: str, hits: Sequence[SearchHit]) -> list[SearchHit]:
        """The hits after every plugin has reordered them."""
        ordered = list(hits)
        for implementation in self.manager.hook.openclaw_memory_rerank.get_hookimpls():
            arguments: dict[str, Any] = {"query": query, "hits": tuple(ordered)}
            try:
                result: Any = implementation.function(*(arguments[name] for name in implementation.argnames))
                if result is not None and not all(isinstance(hit, SearchHit) for hit in result):
                    raise TypeError("returned something that is not a SearchHit")
            except Exception as error:
                self._note(implementation.plugin_name, "openclaw_memory_rerank", error)
                continue
            ordered = ordered if result is None else list(result)
        return ordered
