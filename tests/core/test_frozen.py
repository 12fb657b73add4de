"""`frozen` makes what ``dataclass(frozen=True, slots=True, kw_only=True)`` makes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, is_dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from ragstone.core.frozen import frozen

theirs = dataclass(frozen=True, slots=True, kw_only=True)


def record(decorate: Callable[[type], type]) -> Any:
    class Record:
        """A record with a field of each sort."""

        name: str
        count: int = 3
        parts: list[int] = field(default_factory=list[int])
        note: str = field(default="", compare=False, repr=False)

        def __post_init__(self) -> None:
            if self.count < 0:
                raise ValueError("less than nothing")

    return decorate(Record)


Ours, Theirs = record(frozen), record(theirs)
VALUES = st.fixed_dictionaries(
    {"name": st.text(max_size=3)},
    optional={
        "count": st.integers(0, 3),
        "parts": st.lists(st.integers(0, 1), max_size=2),
        "note": st.text(max_size=1),
    },
)


@given(VALUES, VALUES)
def test_does_what_a_data_class_does(one: dict[str, Any], other: dict[str, Any]) -> None:
    for does in (
        lambda kind: repr(kind(**one)),
        lambda kind: asdict(kind(**one)),
        lambda kind: kind(**one) == kind(**other),
        lambda kind: asdict(replace(kind(**one), **other)),
        lambda kind: asdict(copy.copy(kind(**one))),
        lambda kind: asdict(copy.deepcopy(kind(**one))),
        lambda kind: asdict(TypeAdapter(kind).validate_python(one)),
    ):
        assert does(Ours) == does(Theirs)


def test_defaults_are_made_for_each() -> None:
    assert Ours(name="a").parts is not Ours(name="a").parts


@pytest.mark.parametrize(
    "wrong",
    [
        lambda kind: kind(),
        lambda kind: kind("a"),
        lambda kind: kind(name="a", other=1),
        lambda kind: kind(name="a", count=-1),
        lambda kind: setattr(kind(name="a"), "name", "b"),
        lambda kind: delattr(kind(name="a"), "name"),
        lambda kind: hash(kind(name="a")),  # it has a list
        lambda kind: replace(kind(name="a"), other=1),
    ],
)
def test_refuses_what_a_data_class_refuses(wrong: Callable[[Any], object]) -> None:
    with pytest.raises(Exception) as expected:
        wrong(Theirs)
    with pytest.raises(type(expected.value)):
        wrong(Ours)


def test_is_slotted_and_hashable() -> None:
    @frozen
    class Point:
        x: int
        y: int = 0

    assert not hasattr(Point(x=1), "__dict__")
    assert len({Point(x=1), Point(x=1, y=0), Point(x=2)}) == 2
    assert is_dataclass(Point)
    assert [one.name for one in fields(Point)] == ["x", "y"]
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        Point(x=1).x = 2  # pyright: ignore[reportAttributeAccessIssue]


def test_keeps_the_methods_of_a_class() -> None:
    @frozen
    class Named:
        name: str

        def __repr__(self) -> str:
            return self.name

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Named) and self.name.lower() == other.name.lower()

        def __hash__(self) -> int:
            return 7

    assert repr(Named(name="A")) == "A"
    assert Named(name="A") == Named(name="a")
    assert hash(Named(name="A")) == 7


def test_can_be_equal_to_itself_alone() -> None:
    @frozen(eq=False, repr=False)
    class Held:
        secret: str

    one = Held(secret="s3cret")
    assert one == one
    assert one != Held(secret="s3cret")
    assert "s3cret" not in repr(one)
