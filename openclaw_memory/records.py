"""The standard ``dataclass`` with methods that are written on first use: a command makes objects of few of its classes.

A class takes a tenth of the time to make.  Fields, slots, pickles and messages are those of the standard library.  So
are those of ``NamedTuple``, whose types are not compiled: a class takes a fifth of the time.
"""

from __future__ import annotations

import dataclasses
from collections import namedtuple
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, fields
from typing import TYPE_CHECKING, Any

_WRITTEN = ("__init__", "__repr__", "__eq__", "__hash__")


def _frozen(self: object, name: str, *value: object) -> None:
    raise FrozenInstanceError(f"cannot {'assign to' if value else 'delete'} field {name!r}")


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in fields(self)]


def _setstate(self: Any, state: list[Any]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)


def _fill(self: Any, args: tuple[Any, ...], values: dict[str, Any]) -> bool:
    """Set the fields of an object; return false where the method of the standard library says what is wrong."""
    names = [each.name for each in fields(self) if each.init]
    given = dict(zip(names, args, strict=False)) | values
    if len(given) != len(args) + len(values) or not given.keys() <= {*names}:
        return False
    for each in fields(self):
        if each.name in given:
            value = given[each.name]
        elif each.default_factory is not MISSING:
            value = each.default_factory()
        elif each.default is not MISSING:
            value = each.default
        elif each.init:
            return False
        else:
            continue
        object.__setattr__(self, each.name, value)
    if hasattr(self, "__post_init__"):
        self.__post_init__()
    return True


def _on_first_use(cls: type, name: str, frozen: bool) -> Callable[..., Any]:
    """Return a method that puts the one of the standard library in its place, and calls that.

    The first objects of a class, which are often all, are filled without it.
    """
    filled = 0

    def method(self: Any, *args: Any, **values: Any) -> Any:
        nonlocal filled
        filled += 1
        # So many objects take less time to fill than a method takes to write.
        if name == "__init__" and filled <= 16 and _fill(self, args, values):
            return None
        twin = dataclasses.make_dataclass(
            cls.__name__,
            [(each.name, each.type, each) for each in fields(cls)],
            namespace={"__doc__": "-"} | ({"__post_init__": None} if hasattr(cls, "__post_init__") else {}),
            init=name == "__init__",
            repr=name == "__repr__",
            eq=name in ("__eq__", "__hash__"),
            frozen=frozen,
        )
        setattr(cls, name, getattr(twin, name))
        return getattr(self, name)(*args, **values)

    return method


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from typing import NamedTuple as NamedTuple
else:

    class _NamedTuple(type):
        def __new__(cls, name, bases, namespace):
            types, module = namespace.pop("__annotations__", {}), namespace.pop("__module__")
            defaults = [namespace.pop(field) for field in types if field in namespace]
            made = namedtuple(name, types, defaults=defaults, module=module)
            made.__annotations__ = types
            for key, value in namespace.items():
                setattr(made, key, value)
            return made

    NamedTuple = type.__new__(_NamedTuple, "NamedTuple", (), {})

    def dataclass(cls=None, /, *, frozen=False, slots=False):
        """Return ``cls`` as a dataclass, whose objects are compared by their values; without ``cls``, a decorator."""
        if cls is None:
            return lambda each: dataclass(each, frozen=frozen, slots=slots)
        cls = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
        own = vars(cls)
        for name in _WRITTEN if frozen else _WRITTEN[:-1]:
            if name not in own:
                setattr(cls, name, _on_first_use(cls, name, frozen))
        if frozen:
            cls.__setattr__ = cls.__delattr__ = _frozen
            if slots:
                cls.__getstate__, cls.__setstate__ = _getstate, _setstate
        else:
            cls.__hash__ = None
        return cls
