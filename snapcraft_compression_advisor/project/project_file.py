"""Find snapcraft.yaml, and read what it says of compression and lint."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from ruamel.yaml.nodes import Node

from ..core.errors import BadDataError, NoInputError, StorageError, UsageError
from ..core.files import NotRegularError, read_regular
from ..settings.settings import ALL_RULES_PREFIX
from .document import (
    COMPRESSION,
    MAX_PROJECT_FILE_BYTES,
    child,
    entry,
    is_null,
    items,
    line_of,
    names,
    not_a_scalar,
    read_document,
    scalar,
)

PROJECT_FILES = (
    "snapcraft.yaml",
    "snap/snapcraft.yaml",
    "build-aux/snap/snapcraft.yaml",
    ".snapcraft.yaml",
)
"""Where snapcraft looks, the first one found wins (``parts/yaml_utils.py`` there)."""

_YAML_SUFFIXES = frozenset({".yaml", ".yml"})
_NOTHING_THERE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
"""Errors for which snapcraft, too, takes a path for missing (``Path.exists``)."""
_SELECTOR = re.compile(f"{ALL_RULES_PREFIX}[0-9]*(:.*)?", re.DOTALL)

_OTHER_PACKERS = {
    **dict.fromkeys(
        ("electron-builder.yml", "electron-builder.yaml"), "'snap: {compression: lzo}'"
    ),
    "package.json": '"build": {"snap": {"compression": "lzo"}}',
}
"""Files of projects without a snapcraft.yaml, and the key in them (electron-builder's
``SnapOptions``)."""


def find_project_file(project_dir: Path) -> Path:
    """Return the project file that snapcraft would read.

    :param project_dir: a project's directory, or a YAML file itself.
    :raises AdvisorError: if it is neither, or has no such file.
    """
    if not _exists(project_dir):
        message = f"{project_dir} doesn't exist"
        raise NoInputError(message, resolution="Specify the project's directory.")
    if not project_dir.is_dir():
        if project_dir.suffix not in _YAML_SUFFIXES:
            message = f"{project_dir} is neither a directory nor a YAML file"
            raise UsageError(message, resolution="Specify the project's directory.")
        return project_dir
    places = [project_dir / name for name in PROJECT_FILES]
    if found := next(filter(_exists, places), None):
        return found
    if link := next(filter(Path.is_symlink, places), None):
        message = f"{link} is a link that leads nowhere"
        raise BadDataError(message, resolution="Correct the link.")
    message = f"No project file in {project_dir}"
    for name, key in _OTHER_PACKERS.items():
        if _exists(project_dir / name):
            raise NoInputError(
                message,
                details=f"If electron-builder packs the snap, {name} has its settings.",
                resolution=f"Write {key} to {name}, or name the project's directory.",
            )
    raise NoInputError(
        message,
        details=f"Looked for {', '.join(PROJECT_FILES)}.",
        resolution="Specify the directory that has one of them, or the file itself.",
    )


def _exists(path: Path) -> bool:
    """Whether a path leads to anything."""
    try:
        path.stat()
    except (OSError, ValueError) as error:
        if getattr(error, "errno", 0) in _NOTHING_THERE:
            return False
        message = f"{path} can't be looked up: {getattr(error, 'strerror', error)}"
        raise NoInputError(
            message, resolution="Check the path and its permissions."
        ) from error
    return True


def read_project_file(path: Path) -> bytes:
    """Return a regular file's bytes, at most one more than the limit.

    :raises AdvisorError: if it isn't a regular file, or can't be read.
    """
    try:
        return read_regular(path, MAX_PROJECT_FILE_BYTES)
    except (NotRegularError, IsADirectoryError) as error:
        message = f"{path} is not a regular file"
        raise BadDataError(message, resolution="Specify a snapcraft.yaml.") from error
    except (OSError, ValueError) as error:
        message = f"{path} can't be read: {getattr(error, 'strerror', error)}"
        kind = StorageError if getattr(error, "errno", 0) == errno.EIO else NoInputError
        raise kind(
            message, resolution="Check the path, its permissions and the disk."
        ) from error


NULL = "null"
LINTER_NAME = "compression"
"""What ``lint: ignore:`` calls the advisor's findings."""
EXTENSIONS_WITH_LZO = ("kde-neon", "kde-neon-6", "kde-neon-qt6")
"""snapcraft's extensions that set ``compression: lzo`` at the root, if the project has
no key (``get_root_snippet`` in ``snapcraft/extensions/kde_neon*.py``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFile:
    """What snapcraft.yaml says of compression and lint, and where; with its text.

    :param compression: of the root; ``None`` if it isn't there or null.
    :param compression_line: of that key, from 1.
    :param components: compression by component; ``None`` if one has no key, and
        :data:`NULL` if it is null, which snapcraft refuses.
    :param component_lines: where each component's key, or else its name, stands.
    :param ignored: selectors of rules that ``lint: ignore:`` names.
    :param extension: of an app, that sets lzo.
    :param component: the component, without the snap's name, that this is about;
        ``None`` for the snap.
    """

    path: Path
    content: bytes
    name: str | None
    compression: str | None
    compression_line: int | None
    components: dict[str, str | None]
    component_lines: dict[str, int]
    ignored: tuple[str, ...]
    extension: str | None = None
    component: str | None = None

    @property
    def effective(self) -> str | None:
        """What snapcraft packs with: the key, else an extension's; else the default."""
        return self.compression or ("lzo" if self.extension else None)

    @property
    def inheriting(self) -> tuple[str, ...]:
        """Components without a key of their own, which have the snap's compression."""
        return tuple(
            name for name, compression in self.components.items() if compression is None
        )


def read_project(path: Path, content: bytes) -> ProjectFile:
    """Return the values of a project file's content.

    Under ``lint: ignore:``, the linter's name alone stands for all rules. Below the
    name, a rule or a family (``SCA305``, ``SCA3``) stands for itself, and a path
    pattern for all rules on that path. A rule may also stand in the linter's place.

    :raises BadDataError: if the YAML is broken or ``compression`` isn't a scalar.
    """
    root = read_document(content, where=str(path)).root
    key, value = entry(root, COMPRESSION) or (None, None)
    if value is not None and scalar(value) is None:
        raise not_a_scalar(value, where=str(path))
    components, lines = _components(child(root, "components"))
    return ProjectFile(
        path=path,
        content=content,
        name=_scalar(child(root, "name")),
        compression=_scalar(value),
        compression_line=None if key is None else line_of(key),
        components=components,
        component_lines=lines,
        ignored=tuple(dict.fromkeys(_ignored(child(root, "lint", "ignore")))),
        extension=next(_lzo_extensions(child(root, "apps")), None),
    )


def project_of_component(project: ProjectFile, component: str) -> ProjectFile:
    """Return a project as one of its components sees it, inherited keys included."""
    own = project.components.get(component)
    return replace(
        project,
        compression=project.effective if own in (None, NULL) else own,
        compression_line=project.component_lines.get(component),
        components={},
        component_lines={},
        component=component,
    )


def _lzo_extensions(apps: Node | None) -> Iterator[str]:
    for _, _, app in names(apps):
        for item in items(child(app, "extensions")):
            name = scalar(item)
            if name in EXTENSIONS_WITH_LZO:
                yield name


def _components(node: Node | None) -> tuple[dict[str, str | None], dict[str, int]]:
    compression: dict[str, str | None] = {}
    lines: dict[str, int] = {}
    for name, key, body in names(node):
        found, value = entry(body, COMPRESSION) or (key, None)
        refused = value is not None and is_null(value)
        compression[name] = NULL if refused else _scalar(value)
        lines[name] = line_of(found)
    return compression, lines


def _ignored(node: Node | None) -> Iterator[str]:
    for item in items(node):
        text = scalar(item)
        if text == LINTER_NAME:
            yield ALL_RULES_PREFIX
        elif text is not None and _is_selector(text):
            yield text
        for name, _, paths in names(item):
            if name == LINTER_NAME:
                yield from map(_selector, _scalars(paths))
            elif _is_selector(name):
                yield from (f"{name}:{path}" for path in _scalars(paths))


def _selector(text: str) -> str:
    return text if _is_selector(text) else f"{ALL_RULES_PREFIX}:{text}"


def _is_selector(text: str) -> bool:
    return _SELECTOR.fullmatch(text) is not None


def _scalars(node: Node) -> Iterator[str]:
    for each in (node, *items(node)):
        text = scalar(each)
        if text is not None:
            yield text


def _scalar(node: Node | None) -> str | None:
    """Return a scalar's text; ``None`` for null, and for anything else."""
    return None if node is None or is_null(node) else scalar(node)
