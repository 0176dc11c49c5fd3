"""Find ``compression-advisor.yaml``, read it, and say what is wrong on which line."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

import pydantic
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

from ..core.documents import DocumentKind, describe_problem
from ..core.errors import BadDataError
from ..core.units import KIB
from .parts import SettingsModel
from .settings import Settings

POLICY_FILE_NAME = "compression-advisor.yaml"
POLICY_FILE_NAMES = (POLICY_FILE_NAME, "compression-advisor.yml")
POLICY_FOLDERS = ("", "snap", "build-aux/snap")
"""Folders below the project's that have a policy file: its own, and those that may
have snapcraft.yaml."""
POLICY_PLACES = (
    f"settings are read from {POLICY_FILE_NAME} in the project's directory or beside "
    "its snapcraft.yaml"
)
SCHEMA_COMMAND = "compression-advisor schema compression-advisor"

_LOOKS_LIKE_ONE = re.compile(
    r"\.?compression[-_. ]?advis[eo]r(\.ya?ml(\.txt)?|\.json|\.toml)?", re.IGNORECASE
)
_NEAR = 0.7
"""Least likeness of a key that may be meant."""
_SHOWN_VALUE = 80
"""Characters of a value that errors repeat."""

POLICY = DocumentKind(
    model=Settings,
    name="policy",
    max_bytes=64 * KIB,
    broken="{where}{line}",
    resolution=f"Correct it; {SCHEMA_COMMAND!r} prints its schema.",
)


def find_policy_file(project_dir: Path) -> Path | None:
    """Return a project's policy file: in its folder, or beside its snapcraft.yaml.

    :raises BadDataError: if there are two.
    """
    found = [*_policy_files(project_dir)]
    if len(found) > 1:
        message = f"There are several policy files: {', '.join(map(str, found))}"
        raise BadDataError(message, resolution="Keep one of them.")
    return found[0] if found else None


def ignored_policy_files(project_dir: Path) -> list[Path]:
    """Return files that look like a project's policy file, but aren't read as it.

    The project and the folders in it are searched, if it has a snapcraft.yaml. No link
    is followed: a prime directory may be taken for a project.
    """
    places = (project_dir / folder / "snapcraft.yaml" for folder in POLICY_FOLDERS)
    if not any(each.is_file() for each in places):
        return []
    read, root = {*_policy_files(project_dir)}, Path(os.path.realpath(project_dir))
    return sorted(
        each
        for pattern in ("*", "*/*", "build-aux/snap/*", "snap/local/*")
        for each in project_dir.glob(pattern)
        if _LOOKS_LIKE_ONE.fullmatch(each.name) and each not in read
        if not each.is_dir()
        if Path(os.path.realpath(each.parent))
        == root / each.parent.relative_to(project_dir)
    )


def _policy_files(project_dir: Path) -> Iterator[Path]:
    places = (project_dir / folder for folder in POLICY_FOLDERS)
    files = (place / name for place in places for name in POLICY_FILE_NAMES)
    return (file for file in files if os.path.lexists(file))  # a broken link is read


def parse_settings(
    content: bytes, *, where: str, folder: Path | None = None
) -> Settings:
    """Return the settings that a policy file has; an empty one has all defaults.

    :param folder: that files are relative to; that of the process by default.
    :raises BadDataError: if it is no policy, one of another version, or one that
        contradicts itself.
    """
    document = POLICY.load_yaml(content, where=where)
    document = {} if document is None else document
    try:
        return Settings.model_validate(document, context=folder)
    except pydantic.ValidationError as error:
        root = YAML(typ="safe", pure=True).compose(content)
        items = error.errors(include_url=False)
        lines = [_line(root, each["loc"]) for each in items]
        shown = POLICY.error(where, describe_setting(items[0]), line=lines[0])
        problems = [
            f"{where}:{line}: {describe_setting(each)}"
            for line, each in zip(lines, items, strict=True)
        ]
        shown.details = "\n".join(problems) if len(problems) > 1 else None
        raise shown from error


def _line(root: Node, loc: Sequence[int | str]) -> int:
    """Return the line of a key, from 1: the last one of its path that is written."""
    node, line = root, int(root.start_mark.line) + 1
    for part in loc:
        if isinstance(node, MappingNode):
            entries = [each for each in node.value if each[0].value == str(part)]
            if not entries:
                continue  # of a union, pydantic's path names the form
            key, node = entries[0]
            line = int(key.start_mark.line) + 1
        elif isinstance(node, SequenceNode) and part in range(len(node.value)):
            node = node.value[int(part)]
            line = int(node.start_mark.line) + 1
    return line


def describe_setting(item: ErrorDetails) -> str:
    """Return the fault of a setting, with its value, in one line."""
    if item["type"] == "extra_forbidden":
        return _unknown_key(item["loc"])
    text, value = describe_problem(item).removeprefix("file: "), repr(item["input"])
    is_shown = len(value) <= _SHOWN_VALUE and not isinstance(item["input"], dict)
    if item["type"] == "missing" or not is_shown or value in text:
        return text
    return f"{text}, not {value}"


def _unknown_key(loc: Sequence[int | str]) -> str:
    """Return that there is no such key, and the one that may be meant."""
    known = {path.rpartition(".")[2]: path for path in _paths(Settings)}
    # As it is written here, from how it may be written elsewhere.
    leaf = str(loc[-1]).lower().replace("_", "-").rpartition(".")[2]
    leaf = re.sub("^(--|(snapcraft-)?compression-advisor-)", "", leaf)
    message = f"unknown key {'.'.join(map(str, loc))!r}"
    for near in difflib.get_close_matches(leaf, known, n=1, cutoff=_NEAR):
        return f"{message}; did you mean {known[near]!r}?"
    return message


def _paths(model: type[SettingsModel], prefix: str = "") -> Iterator[str]:
    """Yield all keys, such as ``record.app``, those with others below them last."""
    for field in model.model_fields.values():
        pending: list[object] = [field.annotation]
        while pending:
            each = pending.pop()
            pending += get_args(each)
            if isinstance(each, type) and issubclass(each, SettingsModel):
                yield from _paths(each, f"{prefix}{field.alias}.")
        yield f"{prefix}{field.alias}"
