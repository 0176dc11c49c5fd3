"""A component's prime directory as a payload."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.core.errors import NoInputError
from snapcraft_compression_advisor.payload.beneath import file_beneath
from snapcraft_compression_advisor.payload.component_yaml import (
    COMPONENT_TYPE,
    COMPONENT_YAML_PATH,
    parse_component_yaml,
    split_component_name,
)
from snapcraft_compression_advisor.payload.inventory import scan_directory
from snapcraft_compression_advisor.payload.snap_yaml import (
    SNAP_YAML_MAX_BYTES,
    SnapMetadata,
)
from snapcraft_compression_advisor.payload.source import DirectoryPayload

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["COMPONENT_TYPE", "ComponentDirectory", "component_name"]


class ComponentDirectory(DirectoryPayload):
    """A component's prime directory: files, but no apps and no ``meta/snap.yaml``.

    Its ``meta/component.yaml`` isn't looked at, and may be missing yet.

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
        with file_beneath(prime_dir, COMPONENT_YAML_PATH) as descriptor:
            text = os.pread(descriptor, SNAP_YAML_MAX_BYTES + 1, 0)
    except OSError as error:
        message = f"Cannot read {str(path)!r}: {error.strerror}"
        raise NoInputError(message, resolution="Build the component again.") from error
    metadata = parse_component_yaml(text, where=str(path))
    _, name = split_component_name(metadata.name)
    return name or metadata.name
