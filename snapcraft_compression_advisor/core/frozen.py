"""Frozen dataclasses that take little time to be made.

:func:`dataclasses.dataclass` compiles up to six methods of each class. With some 200
classes, that was a quarter of what the program needs to start. These share theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from types import FunctionType
from typing import Any, NamedTuple, NoReturn, TypeVar, cast

from typing_extensions import dataclass_transform

_Class = TypeVar("_Class", bound=type)


@dataclass_transform(
    frozen_default=True, kw_only_default=True, field_specifiers=(field,)
)
def frozen(cls: _Class) -> _Class:
    """Make of a class what ``dataclass(frozen=True, slots=True, kw_only=True)`` makes.

    :func:`~dataclasses.fields`, :func:`~dataclasses.replace` and the like take it. What
    the class defines itself stays; a ``__post_init__`` isn't called.
    """
    return _made(cls, kw_only=True)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen_in_order(cls: _Class) -> _Class:
    """Make of a class what ``dataclass(frozen=True, slots=True)`` makes."""
    return _made(cls, kw_only=False)


def _made(cls: _Class, *, kw_only: bool) -> _Class:
    make = dataclass(init=False, repr=False, eq=False, slots=True, kw_only=kw_only)
    made = cast("_Class", make(cls))
    for name, method in _METHODS.items():
        if name not in vars(cls):
            setattr(made, name, method)
    return made


class _Plan(NamedTuple):
    """What the shared methods know of a class.

    :param puts: by name, what sets a field of an instance.
    """

    puts: Sequence[tuple[str, Callable[[object, object], None]]]
    defaults: Mapping[str, object]
    factories: Mapping[str, Callable[[], object]]
    shown: tuple[str, ...]
    compared: Callable[[object], object]
    hashed: Callable[[object], object]


def _plan_of(cls: type) -> _Plan:
    known = fields(cls)
    return _Plan(
        puts=[(each.name, getattr(cls, each.name).__set__) for each in known],
        defaults={e.name: e.default for e in known if e.default is not MISSING},
        factories={
            each.name: each.default_factory
            for each in known
            if each.default_factory is not MISSING
        },
        shown=tuple(each.name for each in known if each.repr),
        compared=_getter(each.name for each in known if each.compare),
        hashed=_getter(each.name for each in known if _is_hashed(each)),
    )


class _Plans(dict[type, _Plan]):
    """Made where they're needed first: of most classes, few programs have instances."""

    def __missing__(self, cls: type) -> _Plan:
        plan = self[cls] = _plan_of(cls)
        return plan


_PLANS = _Plans()


def _getter(names: Iterable[str]) -> Callable[[object], object]:
    """Return what gets these attributes of an object."""
    chosen = tuple(names)
    return attrgetter(*chosen) if chosen else lambda _: ()


def _is_hashed(each: Field[Any]) -> bool:
    return each.compare if each.hash is None else each.hash


def _named(
    cls: type, plan: _Plan, in_order: tuple[object, ...], values: dict[str, object]
) -> dict[str, object]:
    """Return all arguments by name."""
    names = [name for name, _ in plan.puts[: len(in_order)]]
    if len(names) < len(in_order) or not values.keys().isdisjoint(names):
        message = f"{cls.__name__}() has too many arguments"
        raise TypeError(message)
    return {**dict(zip(names, in_order, strict=True)), **values}


def _wrong_names(cls: type, given: Iterable[str]) -> TypeError:
    wanted = {each.name for each in fields(cls)}
    names = ", ".join(sorted(wanted.symmetric_difference(given)))
    return TypeError(f"{cls.__name__}() has missing or unknown arguments: {names}")


class _Shared:
    """The methods of all of them."""

    def __init__(self, /, *in_order: object, **values: object) -> None:
        plan = _PLANS[type(self)]
        if in_order:
            values = _named(type(self), plan, in_order, values)
        if len(values) != len(plan.puts):
            made = {n: make() for n, make in plan.factories.items() if n not in values}
            values = {**plan.defaults, **made, **values}
        try:
            for name, put in plan.puts:
                put(self, values[name])
        except KeyError:
            raise _wrong_names(type(self), values) from None
        if len(values) != len(plan.puts):
            raise _wrong_names(type(self), values)

    def __repr__(self) -> str:
        shown = _PLANS[type(self)].shown
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
        return f"{type(self).__qualname__}({values})"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        compared = _PLANS[type(self)].compared
        return bool(compared(self) == compared(other))

    def __hash__(self) -> int:
        return hash(_PLANS[type(self)].hashed(self))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        msg = f"cannot assign to field {name!r}"
        raise FrozenInstanceError(msg)

    def __delattr__(self, name: str) -> NoReturn:
        msg = f"cannot delete field {name!r}"
        raise FrozenInstanceError(msg)

    def __getstate__(self) -> list[object]:
        return [getattr(self, name) for name, _ in _PLANS[type(self)].puts]

    def __setstate__(self, state: list[object]) -> None:
        for (_, put), value in zip(_PLANS[type(self)].puts, state, strict=True):
            put(self, value)


_METHODS = {
    name: method
    for name, method in vars(_Shared).items()
    if isinstance(method, FunctionType)
}
