"""An application's whole system as three payloads, mounted one over the other.

``base`` has the paths of the minimal system, ``content`` those that the packages of the
application's kind add to it (the graphics driver, icons, and what these need), ``app``
all others. Their squashfs mounts together are the system again (overlayfs).
"""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from corpus_applications import APPLICATIONS, KIND_PACKAGES
from draw import read_drawn
from launch_drawn import application_of
from prime_error import PrimeError
from snap_metadata import snap_name
from snapcraft_compression_advisor.capture.mount import mounted
from snapcraft_compression_advisor.core.scratch import unmount

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from corpus_applications import Application

Role: TypeAlias = Literal["app", "content", "base"]
ROLES: tuple[Role, ...] = ("app", "content", "base")
"""The upper ones first."""


@dataclass(frozen=True, kw_only=True)
class Systems:
    """The systems that an application was installed in.

    :param minimal: has the paths of the base.
    :param toolkit: has those of the content, too.
    """

    minimal: Path
    toolkit: Path

    def role_of(self, path: str) -> Role:
        """Return the payload that a path of the application's tree belongs to."""
        if os.path.lexists(self.minimal / path):
            return "base"
        return "content" if os.path.lexists(self.toolkit / path) else "app"


def systems_of(application: Application, cache: Path) -> Systems:
    """Return the systems that an application was installed in.

    :param cache: of ``launch_corpus.py`` (``base-*``), or of ``launch_drawn.py``, which
        has a folder for each release; of a toolkit that has none, another's whose
        packages are the same.
    :raises PrimeError: if the cache doesn't have the minimal system.
    """
    release = application.suite
    folder = cache / release if (cache / release).is_dir() else cache
    minimal = folder / f"base-{release}"
    if not minimal.is_dir():
        message = f"{minimal} isn't there: build a tree of {release} with this cache."
        raise PrimeError(message, exit_status=os.EX_NOINPUT)
    packages = KIND_PACKAGES[application.kind]
    alike = [
        minimal.with_name(f"{minimal.name}-{kind}")
        for kind, others in KIND_PACKAGES.items()
        if packages and others == packages
    ]
    toolkits = [each for each in alike if each.is_dir()]
    return Systems(minimal=minimal, toolkit=[*toolkits, minimal][0])


def recorded_application(name: str) -> Application:
    """Return an application whose launch was recorded.

    :raises KeyError: if none has this name.
    """
    known = {each.name: each for each in APPLICATIONS}
    for row in read_drawn():
        if row.outcome == "recorded":
            known.setdefault(snap_name(row.package), application_of(row))
    return known[name]


def split_tree(tree: Path, systems: Systems, target: Path) -> dict[Role, Path]:
    """Make a directory of each payload, with hard links to the tree's files.

    Directories have the modes and times that they have in the tree: a cache of icons or
    fonts older than its directory would be out of use.

    :param target: a directory on the same file system.
    """
    layers: dict[Role, Path] = {role: target / role for role in ROLES}
    for layer in layers.values():
        layer.mkdir(parents=True)
    for folder, directories, names in os.walk(tree):
        inside = Path(folder).relative_to(tree)
        links = [name for name in directories if (Path(folder) / name).is_symlink()]
        for name in (*names, *links):
            place = layers[systems.role_of(str(inside / name))] / inside / name
            place.parent.mkdir(parents=True, exist_ok=True)
            os.link(Path(folder) / name, place, follow_symlinks=False)
        if not directories and not names:
            (layers[systems.role_of(str(inside))] / inside).mkdir(
                parents=True, exist_ok=True
            )
    for layer in layers.values():
        for folder, _, _ in os.walk(layer, topdown=False):
            shutil.copystat(tree / Path(folder).relative_to(layer), folder)
    return layers


@contextmanager
def stacked(
    images: Mapping[Role, Path], root: Path, places: Mapping[Role, Path]
) -> Iterator[None]:
    """Mount the payloads' images, and show them as one system.

    :param root: an empty directory to show it at.
    :param places: an empty directory for each mount.
    """
    with ExitStack() as stack:
        for role in ROLES:
            stack.enter_context(mounted(images[role], at=places[role]))
        stack.enter_context(_overlaid([places[role] for role in ROLES], root))
        yield


@contextmanager
def _overlaid(layers: Sequence[Path], root: Path) -> Iterator[None]:
    lower = ":".join(map(str, layers))
    options = f"ro,lowerdir={lower}"
    command = ["mount", "-t", "overlay", "-o", options, "overlay", str(root)]
    subprocess.run(command, check=True)
    try:
        yield
    finally:
        unmount(str(root))
