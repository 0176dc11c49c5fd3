"""Find ``compression-advisor.yaml``, read it, and say what is wrong on which line."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import get_args

import pydantic
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

from ..core.documents import DocumentKind, describe_problem
from ..core.errors import BadDataError
from ..core.units import KIB
from .lint_policy import SCHEMA, LintPolicy
from .policy_parts import PolicyModel

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
_NEAR = 0.75
"""Likeness of a key that stands elsewhere, where more keys could be meant."""
_SHOWN_VALUE = 80
"""Characters of a value that errors repeat."""

POLICY = DocumentKind(
    model=LintPolicy,
    name="policy",
    max_bytes=64 * KIB,
    broken="{where}{line}",
    resolution=f"Correct it; {SCHEMA_COMMAND!r} prints its schema.",
)


def find_policy_file(project_dir: Path) -> Path | None:
    """Return a project's policy file: in its folder, or beside its snapcraft.yaml.

    A broken link isn't ignored: reading it is an error.

    :raises BadDataError: if there are two.
    """
    found = [*_policy_files(project_dir)]
    if len(found) > 1:
        message = f"There are several policy files: {', '.join(map(str, found))}"
        raise BadDataError(message, resolution="Keep one of them.")
    return found[0] if found else None


def ignored_policy_files(project_dir: Path) -> list[Path]:
    """Return files that look like a project's policy file, but aren't read as it.

    No link is followed: a prime directory may be taken for a project.

    :param project_dir: is searched, and the folders in it, if it has a snapcraft.yaml.
    """
    places = (project_dir / folder / "snapcraft.yaml" for folder in POLICY_FOLDERS)
    if not any(each.is_file() for each in places):
        return []
    folders = [*_listed(project_dir)]
    folders += [project_dir / "build-aux/snap", project_dir / "snap/local"]
    folders = [
        project_dir,
        *(each for each in folders if _has_no_link(each, project_dir)),
    ]
    read = {*_policy_files(project_dir)}
    return sorted(
        each
        for folder in folders
        for each in _listed(folder)
        if _LOOKS_LIKE_ONE.fullmatch(each.name)
        if each not in read and not each.is_dir()
    )


def _policy_files(project_dir: Path) -> Iterator[Path]:
    places = (project_dir / folder for folder in POLICY_FOLDERS)
    files = (place / name for place in places for name in POLICY_FILE_NAMES)
    return (file for file in files if os.path.lexists(file))


def _has_no_link(path: Path, project_dir: Path) -> bool:
    place = Path(os.path.realpath(project_dir), path.relative_to(project_dir))
    return os.path.realpath(path) == os.fspath(place)


def _listed(folder: Path) -> list[Path]:
    try:
        return [*folder.iterdir()]
    except OSError:
        return []


def parse_policy(content: bytes, *, where: str) -> LintPolicy:
    """Return the policy that a file's content is; an empty one has all defaults.

    :param where: the file, for errors.
    :raises BadDataError: if it is no policy, one of another version, or one that
        contradicts itself.
    """
    document = POLICY.load_yaml(content, where=where)
    document = {} if document is None else document
    version = document.get("schema", SCHEMA) if isinstance(document, dict) else SCHEMA
    if version != SCHEMA:
        message = f"{where!r} is a policy of version {version!r}, not {SCHEMA}"
        raise BadDataError(
            message,
            resolution="Use a version of the advisor that supports it, or follow "
            f"{SCHEMA_COMMAND!r}.",
        )
    try:
        return LintPolicy.model_validate(document)
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
    """Return what is wrong with a setting, with its value, in one line."""
    if item["type"] == "extra_forbidden":
        return unknown_key(item["loc"], item["input"])
    text, value = describe_problem(item).removeprefix("file: "), repr(item["input"])
    is_shown = len(value) <= _SHOWN_VALUE and not isinstance(item["input"], dict)
    if item["type"] == "missing" or not is_shown or value in text:
        return text
    return f"{text}, not {value}"


def unknown_key(loc: Sequence[int | str], value: object = None) -> str:
    """Return that there is no such key, and the one that may be meant.

    :param loc: keys on the way to it, and its own.
    :param value: its value.
    """
    message = f"unknown key {'.'.join(map(str, loc))!r}"
    paths = {path.rpartition(".")[::2]: path for path in _paths(LintPolicy)}
    known = {name for _, name in paths}
    holder = ".".join(str(part) for part in loc[:-1] if part in known)
    # As it is written here, from how it may be written elsewhere.
    leaf, *below = (
        re.sub(r"^(--|(snapcraft-)?compression-advisor-)", "", text.rpartition(".")[2])
        for text in (
            str(key).lower().replace("_", "-")
            for key in (loc[-1], *(value if isinstance(value, Mapping) else ()))
        )
    )
    beside = [name for place, name in paths if place == holder]
    if near := difflib.get_close_matches(leaf, beside, n=1):
        return f"{message}; did you mean {near[0]!r}?"
    elsewhere = {name: path for (_, name), path in paths.items()}
    for each in (*below, leaf):
        if near := difflib.get_close_matches(each, elsewhere, n=1, cutoff=_NEAR):
            path = elsewhere[near[0]]
            place = "" if "." in path else ", at the top level"
            return f"{message}; did you mean {path!r}{place}?"
    return message


def _paths(model: type[PolicyModel], prefix: str = "") -> Iterator[str]:
    """Yield all keys, those of keys with their own before them: ``record.app``."""
    for field in model.model_fields.values():
        pending: list[object] = [field.annotation]
        while pending:
            each = pending.pop()
            pending += get_args(each)
            if isinstance(each, type) and issubclass(each, PolicyModel):
                yield from _paths(each, f"{prefix}{field.alias}.")
        yield f"{prefix}{field.alias}"
