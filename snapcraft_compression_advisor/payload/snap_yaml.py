"""``meta/snap.yaml``: the snap's name, base, type and apps."""

from __future__ import annotations

import itertools
import re
from typing import Annotated, Any

import pydantic

from ..core.documents import DocumentKind
from ..core.terminal import printable
from ..core.units import KIB

SNAP_YAML_PATH = "meta/snap.yaml"
SNAP_YAML_MAX_BYTES = 128 * KIB
"""As of a project file. The parser is pure Python: some seconds for as much as that."""
NAME_MAX = 255
"""Characters of a name; that of an app becomes a file's in ``/snap/bin``."""
NAMES_MAX = 500
"""Apps, plugs, slots or layouts of a snap. snapd has no limit, and no snap has near as
many; each app takes 2 ms even if all start one program."""
COMPONENT_YAML_PATH = "meta/component.yaml"
COMPONENT_TYPE = "component"
"""Type of a payload that is no snap of its own; snapd knows no such type."""
_NAME = "[a-z0-9](?:-?[a-z0-9])*"
_WHOLE_NAME = re.compile(rf"(?P<snap>{_NAME})\+(?P<component>{_NAME})")
"""``SNAP+COMPONENT``, as snapd checks it (``snap/naming``)."""


def _names(value: object) -> object:
    """Take a mapping by its keys, and what is neither list nor mapping as empty."""
    return tuple(value) if isinstance(value, (list, dict)) else ()


def _texts(value: object) -> tuple[str, ...]:
    """Return the texts of a list, or a text by itself; nothing of anything else."""
    items = value if isinstance(value, list) else [value]
    return tuple(item for item in items if isinstance(item, str))


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, int | float) else value


def _as_version(value: object) -> object:
    """Take what YAML makes of an unquoted version: a number, even a date."""
    return "" if value is None or isinstance(value, (dict, list)) else str(value)


def _without_nulls(value: object) -> object:
    if not isinstance(value, dict):
        return {} if value is None else value
    return {key: item for key, item in value.items() if item is not None}


def _mapping(value: object) -> object:
    return value if isinstance(value, dict) else {}


Environment = Annotated[
    dict[str, Annotated[str, pydantic.BeforeValidator(_as_text)]],
    pydantic.BeforeValidator(_without_nulls),
]
Texts = Annotated[tuple[str, ...], pydantic.BeforeValidator(_texts)]
Name = Annotated[
    str, pydantic.Field(max_length=NAME_MAX), pydantic.AfterValidator(printable)
]
"""What people read: snapd takes no name that isn't printable."""
Names = Annotated[
    tuple[Name, ...],
    pydantic.Field(max_length=NAMES_MAX),
    pydantic.BeforeValidator(_names),
]
_Few = pydantic.Field(max_length=NAMES_MAX)


class _Model(pydantic.BaseModel):
    # The parts of a document are read with the whole, never alone.
    model_config = pydantic.ConfigDict(
        defer_build=True,
        frozen=True,
        extra="ignore",
        alias_generator=lambda name: name.replace("_", "-"),
        populate_by_name=True,
    )


class Plug(_Model):
    """A plug or a slot, as far as content snaps go."""

    interface: Name | None = None
    content: Name | None = None
    target: str | None = None
    default_provider: Name | None = None
    read: Texts = ()
    write: Texts = ()
    source: Annotated[dict[str, Any], pydantic.BeforeValidator(_mapping)] = {}

    def shared(self) -> tuple[str, ...]:
        """Return the paths that a slot shares with other snaps."""
        below = (_texts(self.source.get(key)) for key in ("read", "write"))
        return (*self.read, *self.write, *itertools.chain(*below))


class App(_Model):
    """One app of a snap."""

    command: str | None = None
    command_chain: Texts = ()
    desktop: str | None = None
    common_id: Annotated[Name, pydantic.BeforeValidator(_as_version)] = ""
    daemon: Name | None = None
    environment: Environment = {}
    plugs: Names = ()


class SnapMetadata(_Model):
    """What the advisor reads of ``meta/snap.yaml``; other keys are ignored.

    A snap without a ``base`` runs on ``core``; without a ``type`` it is an
    ``app`` (snapd ``snap/info_snap_yaml.go``).
    """

    # Now, since threads are going to use it.
    model_config = pydantic.ConfigDict(defer_build=False)

    name: Name
    version: Annotated[Name, pydantic.BeforeValidator(_as_version)] = ""
    base: Name | None = None
    type: Name = "app"
    confinement: Name = "strict"
    apps: Annotated[dict[Name, App], _Few] = {}
    environment: Environment = {}
    plugs: Annotated[dict[Name, Plug], _Few] = {}
    slots: Annotated[dict[Name, Plug], _Few] = {}
    architectures: Names = ()
    layout: Annotated[dict[str, dict[str, Any]], _Few] = {}

    @pydantic.field_validator("apps", "plugs", "slots", "layout", mode="before")
    @classmethod
    def _fill_in_empty(cls, value: object) -> object:
        """Take null, which YAML has for an app or plug without keys, as none."""
        if value is None:
            return {}
        if not isinstance(value, dict):
            return value
        return {key: _plug_shorthand(item) for key, item in value.items()}

    @property
    def base_name(self) -> str:
        """The snap that supplies the root file system."""
        return self.base or ("core" if self.type == "app" else "none")


def _plug_shorthand(item: object) -> object:
    """``name: null`` and ``name: interface`` are short for a mapping."""
    if item is None:
        return {}
    return {"interface": item} if isinstance(item, str) else item


SNAP_YAML = DocumentKind(
    model=SnapMetadata,
    name="snap.yaml",
    max_bytes=SNAP_YAML_MAX_BYTES,
    broken="{where!r} is not a valid snap.yaml",
    resolution="Build the prime directory again ('snapcraft prime'), or repair the "
    "file.",
)


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
    resolution="Rebuild the component.",
)


def parse_component_yaml(text: bytes, *, where: str) -> SnapMetadata:
    """Return a component's metadata: its whole name, no apps, no base.

    :param text: the file's contents; those of a ``snap.yaml`` are no longer.
    :raises BadDataError: if it doesn't name a component.
    """
    return component_metadata(_COMPONENT_YAML.parse_yaml(text, where=where).component)


def component_metadata(name: str) -> SnapMetadata:
    """Return the metadata of a component: its name, no apps, no base."""
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
