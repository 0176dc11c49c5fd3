"""Which part of a project primed which file, by the state that craft-parts keeps."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import ScalarNode

from ..core.files import read_regular
from ..core.units import MIB

STATE_MAX_BYTES = 64 * MIB
"""A part of an office suite has some 2 MiB."""

_PLAIN = re.compile(r"  (?:\? )?(?P<path>[^\s\"'?:].*?)(?:: null)?")
_QUOTED = re.compile(r"  (?:\? )?(?P<path>[\"'].*[\"'])(?:: null)?")


def parts_of_files(project_dir: Path) -> Mapping[str, frozenset[str]]:
    """Return the files that each part primed, by its name.

    craft-parts writes them to ``parts/NAME/state/prime``, as a YAML set.

    :param project_dir: where ``parts`` and ``prime`` are.
    :returns: empty if no state can be read.
    """
    found = {}
    for state in sorted(project_dir.glob("parts/*/state/prime")):
        try:
            content = read_regular(state, STATE_MAX_BYTES)
            lines = content.decode().splitlines()
        except (OSError, ValueError):
            continue
        if len(content) > STATE_MAX_BYTES:
            continue
        found[state.parts[-3]] = frozenset(_files(lines))
    return found


def _files(lines: list[str]) -> Iterator[str]:
    """Yield the files of a state.

    It is one key a line, so nothing but quoted names needs a YAML parser, which takes
    50 µs a byte.
    """
    listed = False
    for line in lines:
        if not line.startswith(" "):
            listed = line.startswith("files:")
        elif listed and (plain := _PLAIN.fullmatch(line)):
            yield plain["path"]
        elif listed and (quoted := _QUOTED.fullmatch(line)):
            try:
                node = YAML(typ="safe", pure=True).compose(quoted["path"])
            except YAMLError:
                continue  # it goes on in the next line; such a file has no part
            if isinstance(node, ScalarNode):
                yield node.value
