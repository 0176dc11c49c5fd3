"""Read a snapcraft.yaml into nodes that know their places in the text.

Nothing is constructed or dumped: an edit needs only the places. An alias is the node
that it refers to, so aliases of aliases cost nothing. The text is read as YAML 1.1,
because snapcraft reads it with PyYAML.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ..core.errors import BadDataError

MAX_PROJECT_FILE_BYTES = 128 * 1024
"""The largest in snapcraft's own tests has 22 KiB. The parser is pure Python and takes
up to 50 µs per byte, twice for an edit, so this bounds the time as well."""
COMPRESSION = "compression"

_ODD_LINE_BREAK = re.compile("[\x85\u2028\u2029]")
"""Line breaks in YAML 1.1 (section 4.1.4), but neither in 1.2 nor in most editors."""

_TAG = "tag:yaml.org,2002:"
_CHECK_FILE = "Check that this is a snapcraft.yaml."


@dataclass(frozen=True, kw_only=True)
class ProjectDocument:
    """A snapcraft.yaml; its text is without byte order mark.

    :param where: the file, for errors.
    """

    content: bytes
    text: str
    root: Node
    where: str

    def encoded(self, text: str) -> bytes:
        """Return the bytes of the file with another text."""
        bom = codecs.BOM_UTF8 if self.content.startswith(codecs.BOM_UTF8) else b""
        return bom + text.encode()


def line_of(node: Node) -> int:
    """Return the line that a node begins on, from 1."""
    return int(node.start_mark.line) + 1


def scalar(node: Node | None) -> str | None:
    """Return a scalar's text as YAML reads it; None of a mapping or a list."""
    return str(node.value) if isinstance(node, ScalarNode) else None


def is_null(node: Node) -> bool:
    """Return whether a value is empty or null."""
    return bool(node.tag == f"{_TAG}null")


def items(node: Node | None) -> Sequence[Node]:
    """Return the items of a list; none of anything else."""
    return node.value if isinstance(node, SequenceNode) else ()


def entries(node: Node | None) -> Sequence[tuple[Node, Node]]:
    """Return the keys and values of a mapping; none of anything else."""
    return node.value if isinstance(node, MappingNode) else ()


def names(node: Node | None) -> Iterator[tuple[str, Node, Node]]:
    """Yield the entries whose keys are scalars: the name, its node, the value."""
    for key, value in entries(node):
        name = scalar(key)
        if name is not None:
            yield name, key, value


def entry(node: Node | None, name: str) -> tuple[Node, Node] | None:
    """Return the key and the value of a name; None if there is none."""
    return next((each[1:] for each in names(node) if each[0] == name), None)


def child(node: Node | None, *path: str) -> Node | None:
    """Return the value below some keys; None if there is none."""
    for name in path:
        found = entry(node, name)
        node = None if found is None else found[1]
    return node


def statements(root: Node, *, besides: Sequence[str]) -> list[object]:
    """Return what a document says in order, but for the value at a path."""
    numbers: dict[int, int] = {}

    def below(node: Node, besides: Sequence[str] = ()) -> Iterator[object]:
        if id(node) in numbers:
            yield numbers[id(node)]  # an alias
            return
        numbers[id(node)] = len(numbers)
        yield node.tag, node.anchor, scalar(node)
        for item in items(node):
            yield from below(item)
        for key, value in entries(node):
            rest = besides[1:] if besides and scalar(key) == besides[0] else None
            if rest is None or rest:
                yield from below(key)
                yield from below(value, rest or ())
        yield None  # its end

    return list(below(root, besides))


def read_document(content: bytes, *, where: str) -> ProjectDocument:
    """Read a project file.

    :param where: the file, for errors.
    :raises BadDataError: if it isn't UTF-8, too large, too deep or not one document of
        YAML; if a mapping has a key twice; or if the root isn't a mapping, has a tag or
        a merge key, or a key that isn't a plain or quoted name.
    """
    text = _decode(content, where=where)
    root = _compose(text, where=where)
    if not isinstance(root, MappingNode) or root.tag != f"{_TAG}map":
        message = f"{where}: the document is not a mapping of keys to values"
        raise BadDataError(message, resolution=_CHECK_FILE)
    _check_once(root, where=where)
    for key, _ in root.value:
        place = f"{where}, line {line_of(key)}"
        if scalar(key) is None or key.anchor is not None:
            message = f"{place}: a key of the root must be a plain or quoted name"
            raise BadDataError(message, resolution="Write the name of the key.")
        if key.tag == f"{_TAG}merge":
            message = f"{place}: the root has a merge key, which may hold any key"
            raise BadDataError(message, resolution="Write the merged keys out.")
    return ProjectDocument(content=content, text=text, root=root, where=where)


def _decode(content: bytes, *, where: str) -> str:
    r"""Return a file's text without byte order mark; \n, \r\n or \r end its lines."""
    if len(content) > MAX_PROJECT_FILE_BYTES:
        message = f"{where}: larger than 128 KiB, so it is not read"
        raise BadDataError(message, resolution=_CHECK_FILE)
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        message = f"{where}: byte {error.start} is not UTF-8"
        raise BadDataError(message, resolution="Save the file as UTF-8.") from error
    if odd := _ODD_LINE_BREAK.search(text):
        message = f"{where}: character {odd.start()} is U+{ord(odd[0]):04X}"
        raise BadDataError(
            message,
            details="YAML libraries disagree on whether it ends a line.",
            resolution="Replace it with an ordinary line break.",
        )
    return text.removeprefix(codecs.BOM_UTF8.decode())


def _compose(text: str, *, where: str) -> Node | None:
    yaml = YAML(typ="safe", pure=True)
    yaml.version = (1, 1)
    yaml.composer.warn_double_anchors = False
    try:
        root: Node | None = yaml.compose(text)
    except RecursionError as error:
        message = f"{where}: nested too deeply"
        raise BadDataError(message, resolution=_CHECK_FILE) from error
    # ValueError, OverflowError: an escape beyond Unicode (`"\UFFFFFFFF"`) in chr().
    except (YAMLError, ValueError, OverflowError) as error:
        place = where
        if isinstance(error, MarkedYAMLError) and error.problem_mark is not None:
            place = f"{where}, line {error.problem_mark.line + 1}"
        message = f"{place}: invalid YAML"
        raise BadDataError(
            message, details=str(error), resolution="Correct the YAML."
        ) from error
    return root


def _check_once(root: Node, *, where: str) -> None:
    """Refuse a mapping with a key twice, as snapcraft does at any depth."""
    pending, checked = [root], set[int]()
    while pending:
        node = pending.pop()
        if id(node) in checked:  # an alias
            continue
        checked.add(id(node))
        lines: dict[str, int] = {}
        for name, key, _ in names(node):
            if name in lines:
                place = f"{where}, line {line_of(key)}"
                message = f"{place}: {name!r} is already on line {lines[name]}"
                raise BadDataError(message, resolution="Remove one of the two.")
            lines[name] = line_of(key)
        pending += (*items(node), *chain.from_iterable(entries(node)))


def not_a_scalar(value: Node, *, where: str) -> BadDataError:
    """Return the error of a compression that is a mapping or a list."""
    return BadDataError(
        f"{where}, line {line_of(value)}: {COMPRESSION} is a mapping or a list",
        details="snapcraft accepts xz or lzo here, but no advanced grammar.",
        resolution=f"Give it one value, as in '{COMPRESSION}: xz'.",
    )
