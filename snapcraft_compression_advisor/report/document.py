"""JSON reports: the values themselves, below a contract for each kind of document.

The contracts are the JSON Schemas in ``schemas``: names that stay. What a value type
is called inside may change; :func:`part` names what a document has of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from importlib.resources import files
from pathlib import PurePath
from typing import Any

from pydantic import TypeAdapter

from .. import __version__
from ..core.terminal import printable
from .model import Page

_DIGITS = 6
"""Of seconds: microseconds; further ones are noise of the arithmetic."""

Part = dict[str, Any]
"""An object of JSON."""


class Lines(str):
    """Text that keeps its lines, such as a patch."""

    __slots__ = ()


def part(value: object, names: str, /, **others: object) -> Part:
    """Return some of a value's attributes as an object of JSON.

    :param names: of the attributes, with a space between any two.
    :param others: what is called otherwise there, or isn't there.
    """
    return {
        **{name: as_json(getattr(value, name)) for name in names.split()},
        **{name: as_json(each) for name, each in others.items()},
    }


def as_json(value: object) -> Any:  # noqa: ANN401 # JSON; a line a type
    """Return a value as JSON has it: dataclasses by their fields."""
    match value:
        case None | bool() | int():
            return value
        case float():
            return round(value, _DIGITS) + 0.0
        case str() | PurePath():
            kept = isinstance(value, Lines)
            return value if kept else printable(str(value))
        case Mapping():
            return {as_json(key): as_json(each) for key, each in value.items()}
        case Iterable():
            return [as_json(each) for each in value]
        case _ if is_dataclass(value):
            return part(value, " ".join(each.name for each in fields(value)))
    message = f"{type(value)} isn't part of a document"
    raise TypeError(message)


def document_text(document: Part) -> str:
    """Return a document as JSON text.

    :raises ValueError: if it has infinities or NaN, which RFC 8259 doesn't know.
    """
    whole = {"schema": 1, "advisor_version": __version__, **document}
    return json.dumps(whole, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def schema_text(name: str) -> str:
    """Return the contract of a kind of document: a JSON Schema."""
    file = files(__package__) / "schemas" / f"{name}.json"
    return file.read_text(encoding="utf-8")


def saved_page(page: Page) -> str:
    """Return a page as JSON, to be printed later."""
    return json.dumps(as_json(page))


def read_page(text: str) -> Page:
    """Return a page that was saved."""
    return TypeAdapter(Page).validate_json(text)
