"""What the functions of a source import and call, by name."""

from __future__ import annotations

import ast
import itertools
import posixpath
import re
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MODULE = ""
"""Of what a module does outside of its functions."""

MAX_PARSED_BYTES = 256 * 1024
"""Of one source: the parser takes a KiB of memory for two characters, at worst."""

NOT_PYTHON = (SyntaxError, ValueError)
"""What the parser raises on text that it can't parse."""

TOO_MUCH = (MemoryError, RecursionError)
"""What it raises on text that is nested too deeply."""

_LONG_NAME = re.compile(rb"(?:\.[ \t\\\r\n]*\w+[ \t\\\r\n]*){100}")
"""The parser copies a dotted name for each of its dots."""

_STARTING = re.compile(r"\w*(?:main|run|start|launch|cli|gui|exec)\w*", re.IGNORECASE)
_IMPORTING = frozenset(("import_module", "__import__", "run_module"))
_LOADING = frozenset(
    ("entry_points", "exec_module", "iter_entry_points", "load_module")
)
_PATH_METHODS = frozenset(("insert", "append", "extend", "addsitedir"))
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

MAX_CHARACTERS = 4095
"""Of a path: the kernel's PATH_MAX."""

_SAME = frozenset({
    "abspath", "realpath", "normpath", "resolve", "absolute", "str", "Path", "PurePath",
    "PosixPath", "expanduser", "expandvars", "as_posix", "fspath", "fsdecode",
})  # fmt: skip
"""Functions and methods of paths that give the path that they are given."""


@dataclass(slots=True, kw_only=True)
class Scope:
    """What a function does, or a module outside of its functions.

    :param imports: modules, or what may be modules.
    :param uses: attributes of imported modules: packages may load them on use.
    :param calls: names of functions, methods and classes, and of modules whose main
        function is called.
    :param computed: whether it imports modules of which nothing is known.
    :param runs: those of ``calls`` that it calls under no condition.
    """

    imports: dict[str, None] = field(default_factory=dict)
    uses: dict[str, None] = field(default_factory=dict)
    calls: set[str] = field(default_factory=set)
    computed: bool = False
    runs: set[str] = field(default_factory=set)


class _Texts:
    """What expressions are worth, where the text of a source alone tells it.

    :param names: values of variables, ``__file__`` among them as ``$SNAP/…``.
    """

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def of(self, node: ast.expr) -> str | None:
        """Return a text or path that an expression gives, ``None`` if it depends."""
        text: str | None = None
        match node:
            case ast.Constant(value=str(value)):
                text = value
            case ast.Name():
                text = self.names.get(node.id)
            case ast.Attribute(value=path, attr=name):
                constant = {"pardir": "..", "curdir": ".", "sep": "/"}.get(name)
                text = self._above(path) if name == "parent" else constant
            case ast.Subscript():
                text = self._subscript(node)
            case ast.BoolOp(op=ast.Or()):  # ``given or default``
                text = next(filter(None, map(self.of, node.values)), None)
            case ast.BinOp(op=ast.Add() | ast.Div()):
                separator = "" if isinstance(node.op, ast.Add) else "/"
                text = self._joined([node.left, node.right], separator)
            case ast.JoinedStr():
                text = self._joined(node.values, "")
            case ast.FormattedValue():
                text = self.of(node.value)
            case ast.Call():
                text = self._call(node)
        return text if text is not None and len(text) <= MAX_CHARACTERS else None

    def _joined(self, parts: Sequence[ast.expr], separator: str = "/") -> str | None:
        texts = [self.of(part) for part in parts]
        known = [text for text in texts if text is not None]
        if not known or len(known) < len(texts):
            return None
        return posixpath.join(*known) if separator else "".join(known)

    def _above(self, node: ast.expr, levels: int = 1) -> str | None:
        text = self.of(node)
        for _ in range(levels):
            text = None if text is None else posixpath.dirname(text)
        return text

    def _subscript(self, node: ast.Subscript) -> str | None:
        index = node.slice.value if isinstance(node.slice, ast.Constant) else None
        match node.value:
            case ast.Attribute(attr="environ") if index == "SNAP":
                return "$SNAP"
            case ast.Attribute(attr="argv") if index == 0:
                return self.names.get("__file__")
            case ast.Attribute(attr="parents", value=path) if isinstance(index, int):
                return self._above(path, min(index, MAX_CHARACTERS) + 1)
            case ast.Call(args=[path, *_]) as call if index == 0:
                return self._above(path) if called_name(call) == "split" else None
        return None

    def _call(self, node: ast.Call) -> str | None:
        name, given = called_name(node), node.args
        owner = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        if name in ("getenv", "get") and given:  # of a variable, else its default
            if self.of(given[0]) == "SNAP":
                return "$SNAP"
            return self.of(given[1]) if len(given) > 1 else None
        if name in ("join", "Path", "PurePath", "PosixPath") and given:
            return self._joined(given)
        if name == "joinpath" and given:
            return self._joined([*owner, *given])
        of = (given or owner)[:1]
        text = self.of(of[0]) if of else None
        if text is not None and name == "dirname":
            return posixpath.dirname(text)
        return text if name in _SAME else None


def absolute_name(name: str, package: str) -> str:
    """Return the name of a module that a package's source imports by a relative one."""
    level = len(name) - len(name.lstrip("."))
    if not level:
        return name
    parents = package.split(".") if package else []
    kept = parents[: max(0, len(parents) - level + 1)]
    return ".".join((*kept, name[level:])).rstrip(".")


def called_name(node: ast.Call) -> str:
    """Return the last name of what is called: ``join`` of ``os.path.join(…)``."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def read_code(source: bytes, *, package: str, file: str, is_program: bool) -> Code:
    """Parse a source.

    :param package: that relative imports start from; empty at the top.
    :param file: its ``__file__``.
    :param is_program: whether ``__name__`` is ``__main__``.
    :raises NOT_PYTHON: if it can't be parsed.
    :raises TOO_MUCH: if it could be parsed with too much memory only.
    """
    if len(source) > MAX_PARSED_BYTES or _LONG_NAME.search(source):
        raise MemoryError
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of escapes, in programs of others
        tree = ast.parse(source)
    code = Code(package, file, is_program=is_program)
    code.read(tree.body)
    return code


_Place = tuple[ast.AST, Scope, str]
"""A node, the scope that it belongs to, the class that it stands in."""


class Code:
    """A source, divided by its functions: a walk over the tree in its order.

    :ivar scopes: by the name by which each is called; ``C.__init__`` of a class ``C``.
    :ivar search: what it adds to the directories that modules are searched in.
    """

    def __init__(self, package: str, file: str, *, is_program: bool) -> None:
        self._package = package
        self._is_program = is_program
        self._texts = _Texts({"__file__": file})
        self._renamed: dict[str, str] = {}
        self._modules: dict[str, str] = {}
        self._always: set[ast.AST] = set()
        self.scopes: dict[str, list[Scope]] = {MODULE: [Scope()]}
        self.search: dict[str, None] = {}

    def read(self, body: Iterable[ast.stmt]) -> None:
        """Read a module's statements and all that is in them."""
        module = self.scopes[MODULE][0]
        pending: list[_Place] = [(node, module, "") for node in reversed([*body])]
        while pending:
            node, scope, owner = pending.pop()
            if isinstance(node, _FUNCTIONS):
                pending.extend(self._function(node, scope, owner))
            elif isinstance(node, ast.ClassDef):
                pending.extend(self._class(node, scope))
            elif isinstance(node, ast.If):
                pending.extend((child, scope, owner) for child in self._branches(node))
            else:
                self._note(node, scope)
                inside = [*ast.iter_child_nodes(node)]
                pending.extend((child, scope, owner) for child in reversed(inside))

    def _note(self, node: ast.AST, scope: Scope) -> None:
        """Note what a node itself does."""
        if isinstance(node, ast.Call):
            self._call(node, scope)
        elif isinstance(node, ast.Assign):
            self._assign(node.targets, node.value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._assign([node.target], node.value)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                scope.imports[alias.name] = None
                name = alias.name if alias.asname else alias.name.partition(".")[0]
                self._modules[alias.asname or name] = name
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if module := self._modules.get(node.value.id):
                scope.uses[f"{module}.{node.attr}"] = None
        elif isinstance(node, ast.ImportFrom):
            self._import_from(node, scope)

    def _function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, owner: str
    ) -> Iterator[_Place]:
        """Yield what runs of a function as it is made, and what as it is called."""
        special = owner and node.name.startswith("__") and node.name.endswith("__")
        name = f"{owner}.{node.name}" if special else node.name
        always = (s for s in node.body if isinstance(s, (ast.Expr, ast.Return)))
        self._always.update(itertools.chain.from_iterable(map(ast.walk, always)))
        own = Scope()
        self.scopes.setdefault(name, []).append(own)
        yield from ((each, own, "") for each in reversed(node.body))
        for outside in (*node.decorator_list, *node.args.defaults):
            yield outside, scope, ""

    def _class(self, node: ast.ClassDef, scope: Scope) -> Iterator[_Place]:
        made = Scope()
        self.scopes.setdefault(node.name, []).append(made)
        for base in node.bases:
            if isinstance(base, (ast.Name, ast.Attribute)):
                made.calls.add(self._name(base))
        for each in node.body:
            if isinstance(each, _FUNCTIONS) and each.name.startswith("__"):
                made.calls.add(f"{node.name}.{each.name}")
        for child in (*reversed(node.body), *node.keywords, *node.decorator_list):
            yield child, scope, node.name

    def _branches(self, node: ast.If) -> list[ast.AST]:
        """Return what an ``if`` may run, its test too, the last first."""
        test = node.test
        is_never = (
            isinstance(test, (ast.Name, ast.Attribute))
            and self._name(test) == "TYPE_CHECKING"
        ) or (
            isinstance(test, ast.Compare)
            and isinstance(test.left, ast.Name)
            and test.left.id == "__name__"
            and not self._is_program
        )
        orelse = node.orelse[::-1]
        return [*orelse] if is_never else [*orelse, *node.body[::-1], node.test]

    def _import_from(self, node: ast.ImportFrom, scope: Scope) -> None:
        base = absolute_name("." * node.level + (node.module or ""), self._package)
        if base:
            scope.imports[base] = None
        for alias in node.names:
            if alias.asname:
                self._renamed[alias.asname] = alias.name
            if alias.name != "*":
                name = f"{base}.{alias.name}" if base else alias.name
                scope.imports[name] = None
                self._modules[alias.asname or alias.name] = name

    def _call(self, node: ast.Call, scope: Scope) -> None:
        name = called_name(node)
        name = self._renamed.get(name, name)
        scope.calls.add(name)
        if node in self._always:
            scope.runs.add(name)
        if isinstance(node.func, ast.Attribute) and _STARTING.fullmatch(name):
            scope.calls.add(self._root(node.func))
        if name in _IMPORTING and node.args:
            self._import_module(node, scope)
        elif name in _LOADING:
            scope.computed = True
        elif name in _PATH_METHODS and _is_search_path(node.func):
            self._add_search(node.args[-1:])
        for argument in (*node.args, *(each.value for each in node.keywords)):
            if isinstance(argument, (ast.Name, ast.Attribute)):
                scope.calls.add(self._name(argument))

    def _name(self, node: ast.Name | ast.Attribute) -> str:
        name = node.id if isinstance(node, ast.Name) else node.attr
        return self._renamed.get(name, name)

    def _root(self, node: ast.expr) -> str:
        while isinstance(node, ast.Attribute):
            node = node.value
        name = node.id if isinstance(node, ast.Name) else ""
        return self._renamed.get(name, name)

    def _import_module(self, node: ast.Call, scope: Scope) -> None:
        text = self._texts.of(node.args[0])
        if text is None:
            scope.computed = True
        elif name := absolute_name(text, self._package):
            scope.imports[name] = None

    def _assign(self, targets: Iterable[ast.expr], value: ast.expr) -> None:
        for target in targets:
            if isinstance(target, ast.Name):
                text = self._texts.of(value)
                if text is not None:
                    self._texts.names[target.id] = text
            elif _is_search_path(target):
                self._add_search([value])

    def _add_search(self, values: Iterable[ast.expr]) -> None:
        """Note directories that are put into ``sys.path``, alone or in a list."""
        for value in values:
            parts = [value]
            if isinstance(value, ast.BinOp):
                parts += [value.left, value.right]
            for part in parts:
                for element in part.elts if isinstance(part, ast.List) else [part]:
                    text = self._texts.of(element)
                    if text is not None:
                        self.search[text] = None


def _is_search_path(node: ast.expr) -> bool:
    """Return whether an expression is ``addsitedir``, or leads through a ``path``."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Attribute) and node.attr in ("path", "addsitedir"):
            return True
        node = node.value
    return isinstance(node, ast.Name) and node.id == "addsitedir"
