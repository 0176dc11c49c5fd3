"""``meta/component.yaml``: the name of a component."""

from __future__ import annotations

import re
from typing import Annotated

import pydantic

from snapcraft_compression_advisor.core.documents import DocumentKind
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


def _whole_name(text: str) -> str:
    if not _WHOLE_NAME.fullmatch(text):
        message = f"{text!r} isn't SNAP+COMPONENT"
        raise ValueError(message)
    return text


class _ComponentFile(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="ignore")

    component: Annotated[str, pydantic.AfterValidator(_whole_name)]


_COMPONENT_YAML = DocumentKind(
    model=_ComponentFile,
    name="component.yaml",
    max_bytes=SNAP_YAML_MAX_BYTES,
    broken="{where!r} doesn't name a component",
    resolution="Build the component again.",
)


def parse_component_yaml(text: bytes, *, where: str) -> SnapMetadata:
    """Return a component's metadata: its whole name, no apps, no base.

    :param text: the file's contents; those of a ``snap.yaml`` are no longer.
    :param where: how errors name the file.
    :raises BadDataError: where it doesn't name a component.
    """
    name = _COMPONENT_YAML.parse_yaml(text, where=where).component
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
