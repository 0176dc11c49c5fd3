"""The nodes below the root of a snapcraft.yaml, with their places in the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, ScalarNode

from snapcraft_compression_advisor.core.errors import BadDataError
from snapcraft_compression_advisor.project.read_root import BOM, decode, read_root

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ruamel.yaml.nodes import Node


def root_node(content: bytes, *, where: str) -> tuple[str, MappingNode]:
    """Return a project file's text without byte order mark, and its root.

    An alias and what it refers to are one node, so aliases of aliases cost nothing.

    :param content: the file's bytes.
    :param where: the file, for errors.
    :raises BadDataError: as :func:`read_root` does.
    """
    text = decode(content, where=where).removeprefix(BOM)
    read_root(text, where=where)  # refuses what is broken, too deep or ambiguous
    yaml = YAML(typ="safe", pure=True)
    yaml.version = (1, 1)
    try:
        root = yaml.compose(text)
    except (YAMLError, ValueError, OverflowError) as error:
        message = f"{where}: the YAML is broken"
        raise BadDataError(
            message, details=str(error), resolution="Correct the YAML."
        ) from error
    if not isinstance(root, MappingNode):
        message = f"{where}: the document is not a mapping of keys to values"
        raise BadDataError(message, resolution="Check that this is a snapcraft.yaml.")
    return text, root


def entries(node: Node | None) -> Iterator[tuple[ScalarNode, Node]]:
    """Yield the entries of a mapping whose keys are scalars; none of another node."""
    if isinstance(node, MappingNode):
        for key, value in node.value:
            if isinstance(key, ScalarNode):
                yield key, value


def entry(node: Node | None, name: str) -> tuple[ScalarNode, Node] | None:
    """Return the first entry of that name."""
    return next((each for each in entries(node) if each[0].value == name), None)


def child(node: Node | None, name: str) -> Node | None:
    """Return the value of the first entry of that name."""
    found = entry(node, name)
    return None if found is None else found[1]


def line_of(node: Node) -> int:
    """Return the line of a node's first character, from 1."""
    return int(node.start_mark.line) + 1
