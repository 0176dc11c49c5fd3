"""``meta/component.yaml``: the name of a component."""

from __future__ import annotations

import re

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from snapcraft_compression_advisor.core.errors import BadDataError
from snapcraft_compression_advisor.payload.snap_yaml import (
    SNAP_YAML_MAX_BYTES,
    SnapMetadata,
)

COMPONENT_YAML_PATH = "meta/component.yaml"
COMPONENT_TYPE = "component"
"""Type of a payload that is no snap of its own; snapd knows no such type."""

_NAME = "[a-z0-9](?:-?[a-z0-9])*"
_WHOLE_NAME = re.compile(rf"(?P<snap>{_NAME})\+(?P<component>{_NAME})")
"""``SNAP+COMPONENT``, as snapd checks it (``snap/naming``)."""


def parse_component_yaml(text: bytes, *, where: str) -> SnapMetadata:
    """Return a component's metadata: its whole name, no apps, no base.

    :param text: the file's contents; those of a ``snap.yaml`` are no longer.
    :param where: how errors name the file.
    :raises BadDataError: where it doesn't name a component.
    """
    document = None
    if len(text) <= SNAP_YAML_MAX_BYTES:
        try:
            document = YAML(typ="safe", pure=True).load(text)
        except (YAMLError, ValueError, RecursionError):
            document = None
    name = document.get("component") if isinstance(document, dict) else None
    if not isinstance(name, str) or not _WHOLE_NAME.fullmatch(name):
        message = f"{where!r} doesn't name a component"
        raise BadDataError(message, resolution="Build the component again.")
    return SnapMetadata(name=name, type=COMPONENT_TYPE, base="none")


def split_component_name(name: str) -> tuple[str, str | None]:
    """Return the snap's name, and that of its component if it is one's.

    >>> split_component_name("editor+fonts")
    ('editor', 'fonts')
    >>> split_component_name("editor")
    ('editor', None)
    """
    found = _WHOLE_NAME.fullmatch(name)
    return (found["snap"], found["component"]) if found else (name, None)
