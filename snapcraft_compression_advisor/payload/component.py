"""A component's prime directory as a payload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from snapcraft_compression_advisor.errors import BadDataError, NoInputError
from snapcraft_compression_advisor.payload.inventory import scan_directory
from snapcraft_compression_advisor.payload.snap_yaml import (
    SNAP_YAML_MAX_BYTES,
    SnapMetadata,
)
from snapcraft_compression_advisor.payload.source import DirectoryPayload

if TYPE_CHECKING:
    from pathlib import Path

COMPONENT_YAML_PATH = "meta/component.yaml"
COMPONENT_TYPE = "component"
"""Type of a payload that is no snap of its own; snapd knows no such type."""


class ComponentDirectory(DirectoryPayload):
    """A component's prime directory: files, but no apps and no ``meta/snap.yaml``.

    :param path: of the directory.
    :param name: what reports call it.
    :raises StorageError: where it can't be read.
    """

    def __init__(self, path: Path, *, name: str) -> None:
        self.path = path
        self.inventory = scan_directory(path)
        self.snap = SnapMetadata(name=name, type=COMPONENT_TYPE, base="none")


def component_name(prime_dir: Path) -> str:
    """Return a component's own name, after the snap's and ``+``.

    :raises NoInputError: where the directory has no ``meta/component.yaml``.
    :raises BadDataError: where that doesn't name it.
    """
    path = prime_dir / COMPONENT_YAML_PATH
    try:
        with path.open("rb") as file:
            text = file.read(SNAP_YAML_MAX_BYTES)
    except OSError as error:
        message = f"Cannot read {str(path)!r}: {error.strerror}"
        raise NoInputError(message, resolution="Build the component again.") from error
    try:
        document = YAML(typ="safe", pure=True).load(text)
    except (YAMLError, ValueError, RecursionError):
        document = None
    whole = document.get("component") if isinstance(document, dict) else None
    _, plus, name = whole.partition("+") if isinstance(whole, str) else ("", "", "")
    if not plus or not name:
        message = f"{str(path)!r} doesn't name a component"
        raise BadDataError(message, resolution="Build the component again.")
    return name
