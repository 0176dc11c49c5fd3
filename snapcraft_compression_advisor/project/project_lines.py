"""What a snapcraft.yaml says of compression and lint, and on which lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ruamel.yaml.nodes import ScalarNode, SequenceNode

from snapcraft_compression_advisor.project.project_nodes import (
    child,
    entries,
    entry,
    line_of,
    root_node,
)
from snapcraft_compression_advisor.project.splice import root_compression
from snapcraft_compression_advisor.settings.lint_policy import ALL_RULES_PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ruamel.yaml.nodes import Node

LINTER_NAME = "compression"
"""What ``lint: ignore:`` calls the advisor's findings."""

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectLines:
    """What a project file says, and where.

    :param name: of the snap; ``None`` where it isn't there.
    :param compression: of the root; ``None`` where it isn't there or null.
    :param compression_line: of that key, from 1; ``None`` where it isn't there.
    :param components: compression by component; ``None`` where one has no key.
    :param component_lines: where each component's key, or else its name, stands.
    :param ignored: selectors of rules that ``lint: ignore:`` names.
    """

    name: str | None
    compression: str | None
    compression_line: int | None
    components: dict[str, str | None]
    component_lines: dict[str, int]
    ignored: tuple[str, ...]


def read_project_lines(content: bytes, *, where: str) -> ProjectLines:
    """Read a project file.

    Under ``lint: ignore:``, the linter's name alone stands for all rules. Below the
    name, a rule or a family (``SCA305``, ``SCA3``) stands for itself, and a path
    pattern for all rules on that path. A rule may also stand in the linter's place.

    :param content: the file's bytes.
    :param where: the file, for errors.
    :raises BadDataError: where the YAML is broken or ``compression`` isn't a scalar.
    """
    compression = root_compression(content, where=where)
    _, root = root_node(content, where=where)
    found = entry(root, "compression")
    components, lines = _components(child(root, "components"))
    return ProjectLines(
        name=_scalar(child(root, "name")),
        compression=compression,
        compression_line=None if found is None else line_of(found[0]),
        components=components,
        component_lines=lines,
        ignored=tuple(dict.fromkeys(_ignored(child(child(root, "lint"), "ignore")))),
    )


def _components(node: Node | None) -> tuple[dict[str, str | None], dict[str, int]]:
    compression: dict[str, str | None] = {}
    lines: dict[str, int] = {}
    for name, body in entries(node):
        found = entry(body, "compression")
        compression[name.value] = None if found is None else _scalar(found[1])
        lines[name.value] = line_of(name if found is None else found[0])
    return compression, lines


def _ignored(node: Node | None) -> Iterator[str]:
    for item in _items(node):
        if isinstance(item, ScalarNode):
            if item.value == LINTER_NAME:
                yield ALL_RULES_PREFIX
            elif _is_selector(item.value):
                yield item.value
        for name, paths in entries(item):
            if name.value == LINTER_NAME:
                yield from map(_selector, _scalars(paths))
            elif _is_selector(name.value):
                yield from (f"{name.value}:{path}" for path in _scalars(paths))


def _selector(text: str) -> str:
    return text if _is_selector(text) else f"{ALL_RULES_PREFIX}:{text}"


def _is_selector(text: str) -> bool:
    prefix = text.partition(":")[0]
    digits = prefix.removeprefix(ALL_RULES_PREFIX)
    return prefix.startswith(ALL_RULES_PREFIX) and (
        not digits or (digits.isascii() and digits.isdigit())
    )


def _items(node: Node | None) -> list[Node]:
    return list(node.value) if isinstance(node, SequenceNode) else []


def _scalars(node: Node | None) -> Iterator[str]:
    if isinstance(node, ScalarNode):
        yield str(node.value)
    for item in _items(node):
        if isinstance(item, ScalarNode):
            yield str(item.value)


def _scalar(node: Node | None) -> str | None:
    """Return a scalar's text; ``None`` for null, and for anything else."""
    if not isinstance(node, ScalarNode):
        return None
    if not node.style and node.value in _NULLS:
        return None
    return str(node.value)
