"""Files to leave out as filters of the part that brought them: ``-usr/share``.

craft-parts expands each filter below the part's files, and a directory means all that
is below it. ``*`` doesn't match a ``/``, and ``**`` matches any directories. Leading
dots are matched by :meth:`pathlib.Path.glob`, which newer versions use, but not by
:mod:`glob`: so a pattern is taken only where it matches the same files with both.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from glob import escape
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import ScalarNode

from ..core.files import read_regular
from ..core.units import MIB
from ..payload.inventory import Inventory
from ..squashfs.entry import EntryKind

_LEAST_ALIKE = 2
"""Files that one pattern is written for."""

_ROOT_NAMES = 3
"""Of the directory that a pattern with ``**`` begins with: ``usr/share/doc``."""

_SUFFIX = re.compile(r".*(?P<suffix>\.[A-Za-z][A-Za-z0-9]*)", re.DOTALL)


STATE_MAX_BYTES = 64 * MIB
"""A part of an office suite has some 2 MiB."""

_PLAIN = re.compile(r"  (?:\? )?(?P<path>[^\s\"'?:].*?)(?:: null)?")
_QUOTED = re.compile(r"  (?:\? )?(?P<path>[\"'].*[\"'])(?:: null)?")


def filters_of(
    paths: Collection[str],
    inventory: Inventory,
    *,
    present: Collection[str] = (),
    needed: Collection[str] = (),
) -> tuple[str, ...]:
    """Return few plain filters that match some files and links, and no others.

    :param present: further files of the part that the filters are for.
    :param needed: directories that have to stay, empty or not.
    :returns: without the leading hyphen, in the order of their paths.
    """
    kept = _kept_directories(paths, inventory, needed)
    whole = {path: _highest_whole(path, kept) for path in paths}
    found = {escape(directory) for directory in whole.values() if directory}
    left = {path for path, directory in whole.items() if not directory}
    others = {*inventory.entries, *present} - left
    for pattern_of in (_suffix_below, _name_below, _versions_beside, _suffix_beside):
        kept_patterns = set(map(pattern_of, others))
        by_pattern: dict[str | None, set[str]] = defaultdict(set)
        for path in left:
            by_pattern[pattern_of(path)].add(path)
        for pattern, alike in by_pattern.items():
            if pattern is None or pattern in kept_patterns:
                continue
            dotted = any("/." in f"/{path}" for path in alike)
            if len(alike) >= _LEAST_ALIKE and not dotted:
                found.add(pattern)
                left -= alike
    return tuple(sorted((*found, *map(escape, left))))


def _suffix_below(path: str) -> str | None:
    """Return the pattern of all files with its suffix below a third directory."""
    return _below(path, _any_of_suffix(posixpath.basename(path)))


def _name_below(path: str) -> str | None:
    """Return the pattern of all files of its name below its directory."""
    return _below(path, escape(posixpath.basename(path)))


def _suffix_beside(path: str) -> str | None:
    """Return the pattern of all files with its suffix in its directory."""
    folder, name = posixpath.split(path)
    pattern = _any_of_suffix(name)
    return pattern and posixpath.join(escape(folder), pattern)


def _versions_beside(path: str) -> str | None:
    """Return the pattern of a library in its directory, with all of its versions."""
    folder, name = posixpath.split(path)
    stem, ending, _ = name.partition(".so")
    return posixpath.join(escape(folder), f"{escape(stem)}.so*") if ending else None


def _below(path: str, pattern: str | None) -> str | None:
    directories = path.split("/")[:-1]
    if pattern is None or len(directories) < _ROOT_NAMES:
        return None
    return "/".join((*map(escape, directories[:_ROOT_NAMES]), "**", pattern))


def _any_of_suffix(name: str) -> str | None:
    suffix = _SUFFIX.fullmatch(name)
    return suffix and f"*{suffix['suffix']}"


def _kept_directories(
    paths: Collection[str], inventory: Inventory, needed: Collection[str]
) -> frozenset[str]:
    """Return the directories with something below that isn't to go; the root is one.

    A directory that is empty already is there for a purpose, and stays.
    """
    kept = {""}
    entries = inventory.entries
    filled = {posixpath.dirname(path) for path in entries}
    for path, entry in entries.items():
        if path in paths or (
            entry.kind is EntryKind.DIRECTORY and path in filled and path not in needed
        ):
            continue
        parent = path if entry.kind is EntryKind.DIRECTORY else posixpath.dirname(path)
        while parent not in kept:
            kept.add(parent)
            parent = posixpath.dirname(parent)
    return frozenset(kept)


def emptied_directories(
    paths: Collection[str], inventory: Inventory, needed: Collection[str]
) -> frozenset[str]:
    """Return the directories of which nothing stays without some files and links.

    :param needed: directories that stay, empty or not.
    """
    kept = _kept_directories(paths, inventory, needed)
    emptied: set[str] = set()
    for path in paths:
        parent = posixpath.dirname(path)
        while parent not in kept and parent not in emptied:
            emptied.add(parent)
            parent = posixpath.dirname(parent)
    return frozenset(emptied)


def _highest_whole(path: str, kept: Collection[str]) -> str:
    """Return the highest directory above a path of which nothing stays."""
    whole = ""
    parent = posixpath.dirname(path)
    while parent not in kept:
        whole, parent = parent, posixpath.dirname(parent)
    return whole


def parts_of_files(project_dir: Path) -> Mapping[str, frozenset[str]]:
    """Return the files that each part primed, by its name; none without its state.

    craft-parts writes them to ``parts/NAME/state/prime``, as a YAML set.

    :param project_dir: where ``parts`` and ``prime`` are.
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

    It is one key a line, so only quoted names need a YAML parser, a slow one.
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
