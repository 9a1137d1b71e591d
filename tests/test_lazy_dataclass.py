"""Lazy dataclasses behave like those of the standard library, which is asked the same questions here."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from holdfast import lazy_dataclass

Maker = Callable[..., Any]
MAKERS = [dataclasses.dataclass, lazy_dataclass.dataclass]


@lazy_dataclass.dataclass(frozen=True, slots=True)
class Point:
    """Where something is."""

    x: int
    y: int = 0


@lazy_dataclass.dataclass(frozen=True, slots=True)
class Named(Point):
    name: str = "here"
    tags: tuple[str, ...] = dataclasses.field(default=(), compare=False, repr=False)


def classes(make: Maker) -> tuple[Any, Any, Any]:
    """The same three classes, made by this decorator."""

    @make(frozen=True, slots=True)
    class Base:
        a: int
        b: list[int] = dataclasses.field(default_factory=list[int])

    @make(frozen=True, slots=True)
    class Below(Base):
        c: str = dataclasses.field(default="c", compare=False)

        def __post_init__(self) -> None:
            if self.c == "":
                raise ValueError("c is empty")

    @make(frozen=True, slots=True, kw_only=True)
    class Keywords:
        d: int
        e: int = 5

    return Base, Below, Keywords


@pytest.mark.parametrize("make", MAKERS)
def test_instances_are_made_from_positions_names_and_defaults(make: Maker) -> None:
    base, below, keywords = classes(make)
    assert (base(1).a, base(1).b, base(a=2, b=[3]).b) == (1, [], [3])
    assert base(1).b is not base(1).b
    assert below(1, [2], "x").c == "x"
    assert (keywords(d=1).e, keywords(d=1, e=2).e) == (5, 2)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("arguments", [{}, {"a": 1, "z": 2}])
def test_wrong_arguments_are_refused_with_the_name_of_the_class(
    make: Maker, arguments: dict[str, int]
) -> None:
    base, _, keywords = classes(make)
    with pytest.raises(TypeError, match=r"Base\.__init__\(\)"):
        base(**arguments)
    with pytest.raises(TypeError):
        keywords(1)


@pytest.mark.parametrize("make", MAKERS)
def test_what_a_class_checks_after_its_init_is_checked_every_time(make: Maker) -> None:
    _, below, _ = classes(make)
    for _ in range(2):
        with pytest.raises(ValueError, match="c is empty"):
            below(1, [], "")


@pytest.mark.parametrize("make", MAKERS)
def test_instances_are_equal_by_the_fields_that_count(make: Maker) -> None:
    base, below, keywords = classes(make)
    assert below(1, [], "x") == below(1, [], "y") != below(2, [], "x")
    assert base(1) != below(1)
    assert keywords(d=1) != (1, 5)
    assert len({keywords(d=1), keywords(d=1), keywords(d=2)}) == 2


@pytest.mark.parametrize("make", MAKERS)
def test_instances_cannot_be_changed_and_have_no_other_attributes(make: Maker) -> None:
    base, _, _ = classes(make)
    one = base(1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'a'"):
        one.a = 2
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'a'"):
        del one.a
    assert not hasattr(one, "__dict__")


@pytest.mark.parametrize("make", MAKERS)
def test_the_functions_of_the_standard_library_work(make: Maker) -> None:
    base, below, keywords = classes(make)
    assert repr(below(1)).endswith("Below(a=1, b=[], c='c')")
    assert dataclasses.asdict(below(1)) == {"a": 1, "b": [], "c": "c"}
    assert dataclasses.replace(keywords(d=1), e=2) == keywords(d=1, e=2)
    assert [field.name for field in dataclasses.fields(base)] == ["a", "b"]
    match base(1, [2]):
        case base(found, [item]):
            assert (found, item) == (1, 2)
        case _:
            pytest.fail("it did not match")


@pytest.mark.parametrize("make", MAKERS)
def test_methods_that_a_class_defines_itself_are_kept(make: Maker) -> None:
    @make(frozen=True, slots=True)
    class Word:
        text: str

        def __repr__(self) -> str:
            return self.text

        def __eq__(self, other: object) -> bool:
            return isinstance(other, type(self)) and self.text.lower() == other.text.lower()

        def __hash__(self) -> int:
            return hash(self.text.lower())

    word: Any = Word
    assert repr(word("a")) == "a"
    assert len({word("a"), word("A")}) == 1


def test_copies_and_pickles_are_equal_and_frozen() -> None:
    one = Named(1, 2, "there", ("t",))
    copies: list[Any] = [copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))]
    for again in copies:
        assert again == one
        assert again.tags == ("t",)
        with pytest.raises(dataclasses.FrozenInstanceError):
            again.x = 3
    assert Point.__doc__ == "Where something is."
    assert Named.__doc__ is None


def test_init_is_compiled_for_the_first_instance_alone() -> None:
    base, _, _ = classes(lazy_dataclass.dataclass)
    before = base.__init__
    base(1)
    compiled = base.__init__
    base(2)
    assert before is not compiled
    assert base.__init__ is compiled


@pytest.mark.parametrize("replace", [dataclasses.replace, lazy_dataclass.replace])
@pytest.mark.parametrize("make", MAKERS)
def test_a_copy_has_the_changed_fields(make: Maker, replace: Maker) -> None:
    base, below, keywords = classes(make)
    value = below(1, [2], "x")
    assert replace(value, a=3, c="y") == below(3, [2], "y")
    assert replace(value, c="z").c == "z"
    assert replace(value, a=3).b is value.b
    assert replace(keywords(d=1), e=2) == keywords(d=1, e=2)
    with pytest.raises(TypeError):
        replace(base(1), unknown=2)
    with pytest.raises(ValueError, match="c is empty"):
        replace(value, c="")
