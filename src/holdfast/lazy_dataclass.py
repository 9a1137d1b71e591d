"""`dataclass` for frozen classes with slots, whose methods are made on first use, not on import.

The standard library compiles six methods for every class when its module is imported. There are hundreds of
such classes, so that took almost half of the daemon's start. Here `__init__` is compiled when the first
instance is made, and the other methods are shared by all classes. `fields`, `replace`, `asdict`, inheritance,
`match` and pickling work as usual; any other kind of dataclass is left to the standard library. `replace`
does the same as the standard library's in less than half the time.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import cache
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, Final, TypeAlias

__all__ = ["dataclass", "replace"]

# The decorated classes have fields that no static type can name.
_Class: TypeAlias = Any
_Instance: TypeAlias = Any

if TYPE_CHECKING:
    from dataclasses import dataclass, replace
else:

    def dataclass(
        cls: _Class = None,
        /,
        *,
        frozen: bool = False,
        slots: bool = False,
        kw_only: bool = False,
        **others: bool,
    ) -> _Class:
        """Make the class a dataclass, or return a decorator that does, like `dataclasses.dataclass`."""
        if not (frozen and slots) or others:
            return dataclasses.dataclass(cls, frozen=frozen, slots=slots, kw_only=kw_only, **others)
        if cls is None:
            return lambda cls: _with_lazy_methods(cls, kw_only=kw_only)
        return _with_lazy_methods(cls, kw_only=kw_only)

    def replace(value: _Instance, /, **changes: object) -> _Instance:
        """A copy of a value with these fields changed, like `dataclasses.replace`."""
        layout = _layout(value.__class__)
        if layout is None or not changes.keys() <= layout[1].keys():
            return dataclasses.replace(value, **changes)
        read, places = layout
        values = list(read(value))
        for name, change in changes.items():
            values[places[name]] = change
        return value.__class__(*values)


@cache
def _layout(cls: _Class) -> tuple[Callable[[object], tuple[object, ...]], Mapping[str, int]] | None:
    """What reads all fields of a class at once, and the place of each; None if `__init__` takes others."""
    fields = dataclasses.fields(cls)
    if len(fields) == 1 or not all(field.init and not field.kw_only for field in fields):
        return None
    names = [field.name for field in fields]
    return attrgetter(*names), {name: place for place, name in enumerate(names)}


def _with_lazy_methods(cls: _Class, *, kw_only: bool) -> _Class:
    doc = cls.__doc__
    cls.__doc__ = doc or " "  # Without one, the standard library derives one from the signature, slowly.
    lazy: _Class = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True, kw_only=kw_only)(cls)
    lazy.__doc__ = doc
    methods = {"__init__": _init_on_first_use(lazy), **_SHARED, **_comparison(lazy)}
    for name, method in methods.items():
        if name not in cls.__dict__:
            setattr(lazy, name, method)
    if "__hash__" not in cls.__dict__ and "__eq__" in cls.__dict__:
        lazy.__hash__ = None
    return lazy


def _init_on_first_use(cls: _Class) -> Callable[..., None]:
    def first(self: object, *arguments: object, **named_arguments: object) -> None:
        cls.__init__ = _compiled_init(cls)
        cls.__init__(self, *arguments, **named_arguments)

    return first


def _compiled_init(cls: _Class) -> Callable[..., None]:
    """The `__init__` of a frozen class, which sets every field through its slot."""
    positional, keyword_only, body = list[str](), list[str](), list[str]()
    names: dict[str, Any] = {"_unset": dataclasses.MISSING}
    for field in dataclasses.fields(cls):
        name = field.name
        names[f"_set_{name}"] = getattr(cls, name).__set__
        parameter, value = name, name
        if field.default is not dataclasses.MISSING:
            names[f"_default_{name}"] = field.default
            parameter = f"{name}=_default_{name}"
        elif field.default_factory is not dataclasses.MISSING:
            names[f"_make_{name}"] = field.default_factory
            parameter, value = f"{name}=_unset", f"_make_{name}() if {name} is _unset else {name}"
        (keyword_only if field.kw_only else positional).append(parameter)
        body.append(f"  _set_{name}(self, {value})")
    if hasattr(cls, "__post_init__"):
        body.append("  self.__post_init__()")
    parameters = ["self", *positional, *(["*", *keyword_only] if keyword_only else ())]
    source = f"def __init__({', '.join(parameters)}):\n" + ("\n".join(body) or "  pass")
    exec(source, names)  # noqa: S102 - made of the class's own field names alone
    init: Callable[..., None] = names["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


def _comparison(cls: _Class) -> dict[str, Callable[..., Any]]:
    """`__eq__` and `__hash__` by the fields that take part in them."""
    compared = [field.name for field in dataclasses.fields(cls) if field.compare]
    values: Callable[[object], object] = attrgetter(*compared) if compared else lambda _: ()

    def equal(self: object, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: object) -> int:
        return hash(values(self))

    return {"__eq__": equal, "__hash__": hashed}


def _represent(self: _Instance) -> str:
    field_texts = (
        f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr
    )
    return f"{self.__class__.__qualname__}({', '.join(field_texts)})"


def _refuse_change(_: object, name: str, *value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot {'assign to' if value else 'delete'} field {name!r}")


def _state(self: _Instance) -> list[object]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _restore(self: _Instance, state: list[object]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


_SHARED: Final[Mapping[str, Callable[..., Any]]] = {
    "__repr__": recursive_repr()(_represent),
    "__setattr__": _refuse_change,
    "__delattr__": _refuse_change,
    "__getstate__": _state,
    "__setstate__": _restore,
}
