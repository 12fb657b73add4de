"""Records: frozen data classes with slots and keyword-only fields, whose definition costs next to nothing.

A process that answers one question defines 350 of them, and needs 80. `dataclasses.dataclass` compiles up to six
methods for each as it is defined, which took a fifth of the processor time of ``ragstone ask``. Here the methods are
common to all, and ``__init__``, which has to be quick, is compiled with the first instance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, field, fields, make_dataclass
from operator import attrgetter
from reprlib import recursive_repr
from typing import Any, TypeVar, cast, dataclass_transform, overload

T = TypeVar("T", bound=type[Any])


@overload
def frozen(cls: T, /) -> T: ...
@overload
def frozen(*, eq: bool = True, repr: bool = True) -> Callable[[T], T]: ...
@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
def frozen(cls: T | None = None, /, *, eq: bool = True, repr: bool = True) -> T | Callable[[T], T]:
    """Make a class what ``dataclass(frozen=True, slots=True, kw_only=True)`` makes of it.

    Args:
        cls: the class, with annotated fields; `dataclasses.field` is understood.
        eq: whether equal fields make equal records; if not, each record equals only itself.
        repr: whether the fields show in its ``repr``.
    """

    def made(cls: T) -> T:
        out: Any = dataclass(init=False, repr=False, eq=False, slots=True, kw_only=True)(cls)
        methods: dict[str, Callable[..., Any]] = {
            "__init__": _init_later(out),
            "__setattr__": _refuse_setting,
            "__delattr__": _refuse_deleting,
            "__getstate__": _state,
            "__setstate__": _set_state,
            **({"__repr__": _repr} if repr else {}),
            **(_comparing(tuple(one.name for one in fields(out) if one.compare)) if eq else {}),
        }
        own = cast("dict[str, Any]", vars(out))
        for name, method in methods.items():
            if own.get(name) is None:
                setattr(out, name, method)
        return out

    return made if cls is None else made(cls)


def _init_later(cls: Any) -> Callable[..., None]:
    """Return an ``__init__`` that makes the real one, which replaces it, at its first call."""

    def __init__(self: Any, *args: Any, **values: Any) -> None:
        cls.__init__ = _init(cls)
        cls.__init__(self, *args, **values)

    return __init__


def _init(cls: Any) -> Callable[..., None]:
    """Return the ``__init__`` that `dataclasses` compiles for these fields."""
    own = [(one.name, Any, field(default=one.default, default_factory=one.default_factory)) for one in fields(cls)]
    namespace: dict[str, Any] = {"__doc__": "Lends its __init__."}  # without one, `dataclass` writes the signature
    if after := getattr(cls, "__post_init__", None):
        namespace["__post_init__"] = after
    lender: Any = make_dataclass(
        cls.__name__, own, namespace=namespace, eq=False, repr=False, frozen=True, kw_only=True
    )
    return lender.__init__


def _comparing(names: tuple[str, ...]) -> dict[str, Callable[..., Any]]:
    """Return the methods that compare and hash by these fields."""
    values: Callable[[Any], Any] = attrgetter(*names) if names else lambda _: ()

    def __eq__(self: Any, other: object) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(values(self))

    return {"__eq__": __eq__, "__hash__": __hash__}


@recursive_repr()
def _repr(self: Any) -> str:
    shown = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({shown})"


def _refuse_setting(self: Any, name: str, value: object) -> None:
    del self, value
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deleting(self: Any, name: str) -> None:
    del self
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, one.name) for one in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for one, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, one.name, value)
