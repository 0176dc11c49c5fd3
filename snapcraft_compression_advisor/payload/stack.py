"""What a running app sees: its own snap over content snaps over the base."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..core.errors import UsageError
from .inventory import MAX_LINKS, Entry, Inventory, Location, PathResolver
from .snap_yaml import Plug, SnapMetadata
from .source import Payload, PayloadKind

Role = Literal["app", "base", "content", "snapd"]
"""What a mount is to a launch."""

ROOT = "/"
"""The place of the base."""
_OWN_ROOT = re.compile(r"\A\$\{?SNAP\}?(?=/|\Z)")
_MOUNT = re.compile(r"/snap/(?P<name>[^/]+)/[^/]+/(?P<rest>.*)", re.DOTALL)
_PRIVATE = ("meta", "snap")
"""Folders with a snap's own description, which no other one searches."""
BASE_TYPES = ("base", "os")
"""Types of snaps that are a root file system; ``core`` is of the second."""

MOST_ENTRIES = 2**33
"""More than any snap has: inodes' numbers have 32 bits. So no two snaps' identities
meet."""
_NO_BASE = ("bare", "none")
_EVERYWHERE = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One snap of a launch.

    :param place: where the app sees it: empty for its own (``$SNAP``), ``/`` for the
        base, for a content snap the plug's target relative to ``$SNAP``.
    """

    role: Role
    payload: Payload
    place: str

    @property
    def name(self) -> str:
        """The snap's."""
        return self.payload.snap.name

    def placed(self, path: str) -> str:
        """Return the path by which the app opens one of its files."""
        return posixpath.join(self.place, path)


class StackedPayload:
    """Several snaps as one payload: the app's over content snaps over the base.

    Search paths such as ``usr/lib/x86_64-linux-gnu`` are the same in all of them, so
    a file has the path that it has in its own snap. One that an upper snap covers is
    named by the place where the app sees its snap: ``/usr/bin/python3`` of the base,
    ``gnome-platform/usr/bin/gjs`` of a content snap.

    What isn't of a single file is the app's: its path, kind, snap.yaml and codec.

    :param layers: the app's own first, then content snaps, the base last.
    """

    def __init__(self, layers: Sequence[Layer]) -> None:
        self.layers = tuple(layers)
        self.app = self.layers[0].payload
        self.path: Path = self.app.path
        self.kind: PayloadKind = self.app.kind
        self.snap: SnapMetadata = self.app.snap
        self.is_remote = self.app.is_remote
        self.packed_with: str | None = self.app.packed_with
        self._origins: dict[str, int] = {}
        self.inventory = Inventory.of(self._merged())
        self._resolvers = tuple(
            PathResolver(
                each.payload.inventory, snap_name=each.name, is_root=each.place == ROOT
            )
            for each in self.layers
        )

    def read(self, path: str, *, offset: int, length: int) -> bytes:
        """Return bytes of a regular file, fewer at its end."""
        layer, own = self.own_path(path)
        return layer.payload.read(own, offset=offset, length=length)

    def data_ranges(self, path: str) -> Sequence[tuple[int, int]]:
        """Return the parts of a regular file that aren't holes, start and end."""
        layer, own = self.own_path(path)
        return layer.payload.data_ranges(own)

    def origin(self, path: str) -> Layer:
        """Return the snap that a file is of."""
        return self.own_path(path)[0]

    def own_path(self, path: str) -> tuple[Layer, str]:
        """Return the snap that a file is of, and its path in there.

        :raises KeyError: if no snap has it.
        """
        number = self._origins.get(path)
        if number is not None:
            return self.layers[number], path
        for layer, own in self._below_place(path):
            if own in layer.payload.inventory.entries:
                return layer, own
        raise KeyError(path)

    def locate(self, path: str) -> Location:
        """Follow a path of the base or of a content snap, whatever covers it there.

        :param path: absolute, or below the place of a content snap.
        :returns: neither entry nor outside if no snap here has it.
        """
        for _ in range(MAX_LINKS):
            outside = None
            for layer, own in (*self._below_place(path), *self._mounted(path)):
                found = self._resolvers[self.layers.index(layer)].locate(own)
                if found.entry is not None:
                    return Location(entry=self._entry(layer, found.entry))
                outside = outside or found.outside
            if outside is None or outside == path:
                return Location()
            path = outside
        return Location()

    def _merged(self) -> Iterator[Entry]:
        for number, layer in enumerate(self.layers):
            for path, entry in layer.payload.inventory.entries.items():
                hidden = number and path.partition("/")[0] in _PRIVATE
                if path not in self._origins and not hidden:
                    self._origins[path] = number
                    yield self._distinct(number, entry)

    def _distinct(self, number: int, entry: Entry) -> Entry:
        return entry._replace(identity=number * MOST_ENTRIES + entry.identity)

    def _entry(self, layer: Layer, entry: Entry) -> Entry:
        number = self.layers.index(layer)
        if self._origins.get(entry.path) == number:
            return self.inventory.entries[entry.path]
        distinct = self._distinct(number, entry)
        return distinct._replace(path=layer.placed(entry.path))

    def _below_place(self, path: str) -> Iterator[tuple[Layer, str]]:
        for layer in self.layers[1:]:
            start = layer.place.rstrip("/") + "/"
            if path.startswith(start):
                yield layer, path[len(start) :]

    def _mounted(self, path: str) -> Iterator[tuple[Layer, str]]:
        """Yield a snap whose own mount, ``/snap/NAME/REVISION``, a path is below."""
        found = _MOUNT.fullmatch(path)
        for layer in self.layers:
            if found is not None and layer.name == found["name"]:
                yield layer, found["rest"]


def layers_of(payload: Payload) -> tuple[Layer, ...]:
    """Return the snaps of a stack; of an ordinary payload itself alone."""
    if isinstance(payload, StackedPayload):
        return payload.layers
    return (Layer(role="app", payload=payload, place=""),)


def stack_of(
    payload: Payload, *, bases: Sequence[Payload], contents: Sequence[Payload]
) -> Payload:
    """Return a snap over its base and content snaps, as far as they are given.

    :param bases: of which its own is taken.
    :param contents: of which those are taken that its plugs ask for.
    :returns: the payload itself if none of them is its.
    """
    snap = payload.snap
    layers = [Layer(role="app", payload=payload, place="")]
    for name, plug in snap.plugs.items():
        for content in contents:
            known = any(layer.payload is content for layer in layers)
            if provides(content.snap, name, plug) and not known:
                place = place_of(plug) or content.snap.name
                layers.append(Layer(role="content", payload=content, place=place))
    own = (base for base in bases if base.snap.name == snap.base_name)
    layers += [Layer(role="base", payload=each, place=ROOT) for each in [*own][:1]]
    return StackedPayload(layers) if len(layers) > 1 else payload


def provides(snap: SnapMetadata, name: str, plug: Plug) -> bool:
    """Return whether a snap has the content that a plug asks for.

    snapd connects the default provider by itself, and any other snap of the same
    publisher that has a slot of this content.
    """
    if plug.interface != "content":
        return False
    wanted = plug.content or name
    provider = (plug.default_provider or "").partition(":")[0]
    return provider == snap.name or any(
        slot.interface == "content" and (slot.content or slot_name) == wanted
        for slot_name, slot in snap.slots.items()
    )


def place_of(plug: Plug) -> str:
    """Return where a content plug shows its snap, relative to ``$SNAP``."""
    target = _OWN_ROOT.sub("", plug.target or "", count=1)
    return posixpath.normpath(target).strip("/") if target else ""


def check_stack(
    snaps: Sequence[Payload],
    *,
    bases: Sequence[Payload] = (),
    contents: Sequence[Payload] = (),
) -> None:
    """Refuse base and content snaps that none of some snaps would run with.

    :param snaps: the one to advise on, or its consumers; at least one.
    :raises UsageError: if one is of another type, another track or another
        architecture, or the same is given twice.
    """
    paths: dict[str, Payload] = {}
    for each in (*bases, *contents):
        first = paths.setdefault(each.snap.name, each)
        if first is not each:
            message = (
                f"Snap {each.snap.name!r} is given twice: {str(first.path)!r} and "
                f"{str(each.path)!r}"
            )
            raise UsageError(message, resolution="Specify one of them.")
    for base in bases:
        if base.snap.type not in BASE_TYPES:
            message = (
                f"{str(base.path)!r} isn't a base: {base.snap.name} has the type "
                f"{base.snap.type!r}"
            )
            resolution = "Specify a content snap with --content ('contents' in the "
            raise UsageError(message, resolution=f"{resolution}policy).")
        wanted = {snap.snap.base_name for snap in snaps}
        if base.snap.name not in wanted:
            raise _other_base(base, snaps[0].snap, wanted)
    for content in contents:
        plugs = (item for snap in snaps for item in snap.snap.plugs.items())
        if not any(provides(content.snap, *item) for item in plugs):
            raise _not_asked_for(content, snaps[0].snap)
    for other in (*bases, *contents):
        for snap in snaps:
            _check_architecture(other, snap)


def check_consumer(consumer: Payload, platform: Payload) -> None:
    """Refuse a consumer that doesn't run with a base or content snap.

    :raises UsageError: as :func:`check_stack` does.
    """
    if platform.snap.type in BASE_TYPES:
        check_stack([consumer], bases=[platform])
    else:
        check_stack([consumer], contents=[platform])


def _check_architecture(other: Payload, snap: Payload) -> None:
    """Refuse a snap that can't run on the same machine as another one."""
    known = [set(each.snap.architectures) for each in (other, snap)]
    if not all(known) or any(_EVERYWHERE in each for each in known):
        return
    if known[0].isdisjoint(known[1]):
        theirs, own = (", ".join(sorted(each)) for each in known)
        message = (
            f"{str(other.path)!r} is for {theirs}, but {snap.snap.name} is for {own}"
        )
        raise UsageError(
            message, resolution=f"Specify {other.snap.name} for the same architecture."
        )


def _other_base(base: Payload, snap: SnapMetadata, wanted: set[str]) -> UsageError:
    names = " or ".join(sorted(wanted))
    message = f"{str(base.path)!r} is {base.snap.name}, but the base of "
    if wanted <= set(_NO_BASE):
        return UsageError(
            f"{message}{snap.name} is {names}, so no other snap is its root",
            resolution="Leave the base out.",
        )
    return UsageError(
        f"{message}{snap.name} is {names}", resolution=f"Specify a snap of {names}."
    )


def _not_asked_for(content: Payload, snap: SnapMetadata) -> UsageError:
    wanted = [
        plug.default_provider or plug.content or name
        for name, plug in snap.plugs.items()
        if plug.interface == "content"
    ]
    message = (
        f"{snap.name} has no content plug for {content.snap.name} "
        f"({str(content.path)!r})"
    )
    listed = ", ".join(dict.fromkeys(wanted)) or "no content snap"
    return UsageError(message, resolution=f"Its plugs ask for {listed}.")
