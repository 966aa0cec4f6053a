"""Dataclasses that write their methods on first use are as those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from openclaw_memory import records
from openclaw_memory.model import RecallHit, SearchHit, SearchRequest


@records.dataclass(frozen=True, slots=True)
class Place:
    """A frozen one with slots."""

    path: str
    line: int = 1
    tags: list[str] = dataclasses.field(default_factory=list, compare=False)


@records.dataclass(frozen=True, slots=True)
class Range(Place):
    """One with a field more, and another default."""

    line: int = 2
    length: int = dataclasses.field(default=0, init=False)

    def __post_init__(self) -> None:
        """Count the lines."""
        object.__setattr__(self, "length", len(self.tags))


@records.dataclass
class Counter:
    """One that changes, and shows itself in its own way."""

    count: int = 0

    def __repr__(self) -> str:
        return "a counter"


def fresh(cls: type) -> type:
    """A twin of the standard library."""
    own = {name: value for name, value in vars(cls).items() if name == "__post_init__"}
    return dataclasses.make_dataclass(
        cls.__name__, [(f.name, f.type, f) for f in dataclasses.fields(cls)], namespace=own, frozen=True
    )


@pytest.mark.parametrize("cls", [Place, Range])
@pytest.mark.parametrize("values", [("a",), ("a", 3), ("a", 3, ["x"])])
def test_values_text_and_comparison_are_those_of_the_standard_library(cls: type, values: tuple[Any, ...]) -> None:
    twin = fresh(cls)(*values)
    made = cls(*values)
    assert repr(made) == repr(twin)
    assert dataclasses.astuple(made) == dataclasses.astuple(twin)
    assert (made == cls(*values), made == cls("b"), made == twin) == (True, False, False)
    assert hash(made) == hash(twin)
    assert not hasattr(made, "__dict__")


@pytest.mark.parametrize("made", [Place("a", 3, ["x"]), Range("a", 3, ["x"]), Counter(4)])
def test_copies_are_equal(made: Any) -> None:
    assert pickle.loads(pickle.dumps(made)) == copy.copy(made) == dataclasses.replace(made) == made


def test_a_frozen_one_does_not_change() -> None:
    place = Place("a")
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'line'"):
        place.line = 3  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'line'"):
        del place.line  # type: ignore[misc]


def test_one_that_changes_keeps_its_own_methods_and_has_no_hash() -> None:
    counter = Counter()
    counter.count += 1
    assert (repr(counter), counter == Counter(1)) == ("a counter", True)
    with pytest.raises(TypeError, match="unhashable"):
        hash(counter)


def test_a_wrong_call_has_the_message_of_the_standard_library() -> None:
    with pytest.raises(TypeError, match=r"Place.__init__\(\) missing 1 required positional argument: 'path'"):
        Place()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"Place.__init__\(\) got an unexpected keyword argument 'lines'"):
        Place("a", lines=3)  # type: ignore[call-arg]


def test_a_class_without_objects_has_no_methods_written(monkeypatch: pytest.MonkeyPatch) -> None:
    written = []
    make = dataclasses.make_dataclass
    monkeypatch.setattr(dataclasses, "make_dataclass", lambda *args, **kw: written.append(args[0]) or make(*args, **kw))

    @records.dataclass(frozen=True)
    class New:
        """One of this test."""

        name: str

    assert written == []
    assert New("a") == New("a")
    assert written == ["New"]  # its comparison
    assert [New(str(number)).name for number in range(100)] == [str(number) for number in range(100)]
    assert written == ["New", "New"]


def test_results_that_extend_others_are_made_of_all_fields() -> None:
    names = [field.name for field in dataclasses.fields(RecallHit)]
    assert names[: len(dataclasses.fields(SearchHit))] == [field.name for field in dataclasses.fields(SearchHit)]
    assert SearchRequest("x" * 10_000).query != "x" * 10_000  # what is checked when it is made


class Pair(records.NamedTuple):
    """A named tuple."""

    first: int
    second: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """The number of strings."""
        return len(self.second)


def test_a_named_tuple_is_as_one_of_the_standard_library() -> None:
    pair = Pair(1, second=("a",))
    assert (repr(pair), pair.size, pair._replace(first=2)) == ("Pair(first=1, second=('a',))", 1, (2, ("a",)))
    assert pickle.loads(pickle.dumps(pair)) == pair and type(copy.copy(pair)) is Pair
    assert (Pair._fields, Pair._field_defaults, Pair.__doc__) == (("first", "second"), {"second": ()}, "A named tuple.")
    with pytest.raises(TypeError):
        Pair()
