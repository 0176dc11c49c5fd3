"""What an expression of a program is worth, where its text alone tells it."""

from __future__ import annotations

import ast
import posixpath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_DEPTH = 24
"""Expressions within expressions; a path has three or four."""

MAX_CHARACTERS = 4095
"""Of a path: the kernel's PATH_MAX."""

SNAP_VARIABLES = ("SNAP",)
_SAME = frozenset({
    "abspath", "realpath", "normpath", "resolve", "absolute", "str", "Path", "PurePath",
    "PosixPath", "expanduser", "expandvars", "as_posix", "fspath", "fsdecode",
})  # fmt: skip
"""Functions and methods of paths that give the path that they are given."""


def static_text(node: ast.expr, names: Mapping[str, str], depth: int = 0) -> str | None:
    """Return a text or path that an expression gives, ``None`` if it depends.

    :param names: values of variables, ``__file__`` among them as ``$SNAP/…``.
    """
    if depth > MAX_DEPTH:
        return None
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.Name):
        return names.get(node.id)
    text = _compound_text(node, names, depth + 1)
    return text if text is not None and len(text) <= MAX_CHARACTERS else None


def _compound_text(node: ast.expr, names: Mapping[str, str], depth: int) -> str | None:
    match node:
        case ast.Attribute():
            return _attribute(node, names, depth)
        case ast.Subscript():
            return _subscript(node, names, depth)
        case ast.BinOp() | ast.BoolOp():
            return _operation(node, names, depth)
        case ast.JoinedStr():
            return _formatted(node, names, depth)
        case ast.Call():
            return _call(node, names, depth)
    return None


def called_name(node: ast.Call) -> str:
    """Return the last name of what is called: ``join`` of ``os.path.join(…)``."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _joined(
    parts: Sequence[ast.expr],
    names: Mapping[str, str],
    depth: int,
    separator: str = "/",
) -> str | None:
    texts = [static_text(part, names, depth) for part in parts]
    known = [text for text in texts if text is not None]
    if not known or len(known) < len(texts):
        return None
    return posixpath.join(*known) if separator else "".join(known)


def _attribute(node: ast.Attribute, names: Mapping[str, str], depth: int) -> str | None:
    if node.attr == "parent":
        text = static_text(node.value, names, depth)
        return None if text is None else posixpath.dirname(text)
    return {"pardir": "..", "curdir": ".", "sep": "/"}.get(node.attr)


def _subscript(node: ast.Subscript, names: Mapping[str, str], depth: int) -> str | None:
    index = node.slice.value if isinstance(node.slice, ast.Constant) else None
    if isinstance(node.value, ast.Attribute):
        owner = node.value.attr
        if owner == "environ" and index in SNAP_VARIABLES:
            return "$SNAP"
        if owner == "argv" and index == 0:
            return names.get("__file__")
        if owner == "parents" and isinstance(index, int) and 0 <= index < MAX_DEPTH:
            text = static_text(node.value.value, names, depth)
            for _ in range(index + 1):
                text = None if text is None else posixpath.dirname(text)
            return text
    split = node.value
    if index != 0 or not isinstance(split, ast.Call) or called_name(split) != "split":
        return None
    text = static_text(split.args[0], names, depth) if split.args else None
    return None if text is None else posixpath.dirname(text)


def _operation(
    node: ast.BinOp | ast.BoolOp, names: Mapping[str, str], depth: int
) -> str | None:
    if isinstance(node, ast.BoolOp):  # ``given or default``
        texts = (static_text(value, names, depth) for value in node.values)
        return next(filter(None, texts), None) if isinstance(node.op, ast.Or) else None
    if not isinstance(node.op, (ast.Add, ast.Div)):
        return None
    separator = "/" if isinstance(node.op, ast.Div) else ""
    return _joined([node.left, node.right], names, depth, separator)


def _formatted(node: ast.JoinedStr, names: Mapping[str, str], depth: int) -> str | None:
    parts = [
        part.value if isinstance(part, ast.FormattedValue) else part
        for part in node.values
    ]
    return _joined(parts, names, depth, "")


def _call(node: ast.Call, names: Mapping[str, str], depth: int) -> str | None:
    name = called_name(node)
    if name == "join" and node.args:
        return _joined(node.args, names, depth)
    if name in ("getenv", "get") and node.args:
        return _variable(node.args, names, depth)
    owner = [node.func.value] if isinstance(node.func, ast.Attribute) else []
    if name in ("Path", "PurePath", "PosixPath", "joinpath") and node.args:
        return _joined((owner if name == "joinpath" else []) + node.args, names, depth)
    given = (node.args[:1] or owner)[:1]
    text = static_text(given[0], names, depth) if given else None
    if text is not None and name == "dirname":
        return posixpath.dirname(text)
    return text if name in _SAME else None


def _variable(
    arguments: list[ast.expr], names: Mapping[str, str], depth: int
) -> str | None:
    """Return an environment variable: the snap's directory, else its default."""
    if static_text(arguments[0], names, depth) in SNAP_VARIABLES:
        return "$SNAP"
    return static_text(arguments[1], names, depth) if len(arguments) > 1 else None
