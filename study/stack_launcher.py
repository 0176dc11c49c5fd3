"""Starts an application from three mounts, for ``stacks.py``."""

from __future__ import annotations

import itertools
import tempfile
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from launch import TIMEOUT_S
from snapcraft_compression_advisor.capture.home import launch_home
from snapcraft_compression_advisor.capture.launch_event import event_named
from snapcraft_compression_advisor.capture.page_cache import resident_blocks
from snapcraft_compression_advisor.capture.start import app_command, time_launch
from snapcraft_compression_advisor.payload.inventory import scan_directory
from snapcraft_compression_advisor.payload.source import open_payload
from stack_layers import ROLES, Role, recorded_application, stacked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from snapcraft_compression_advisor.capture.launch_event import LaunchEvent
    from snapcraft_compression_advisor.capture.start import Command, Launched
    from snapcraft_compression_advisor.launch.profile import ProfileFile

CODECS = ("xz", "lzo")
PLAIN = "none"

Combination = tuple[str, ...]
"""The codecs of a stack, in the order of ``ROLES``."""

Recorded = dict[Role, "tuple[ProfileFile, ...]"]
"""What a launch read of each payload."""

UNCOMPRESSED: Combination = (PLAIN,) * len(ROLES)
COMBINATIONS: tuple[Combination, ...] = (
    *itertools.product(CODECS, repeat=len(ROLES)),
    UNCOMPRESSED,
)


@dataclass(frozen=True, kw_only=True)
class Launcher:
    """Starts one application from stacks of mounts, always at the same places.

    :param images: of each payload, by codec.
    :param places: an empty directory for each mount.
    :param root: an empty directory for the whole.
    """

    images: Mapping[tuple[Role, str], Path]
    command: Command
    event: LaunchEvent
    places: Mapping[Role, Path]
    root: Path
    home: Path

    @contextmanager
    def mounted(self, combination: Combination) -> Iterator[None]:
        """Mount the images of a combination."""
        codecs = zip(ROLES, combination, strict=True)
        chosen = {role: self.images[role, codec] for role, codec in codecs}
        with stacked(chosen, self.root, self.places):
            yield

    def start(self, *, look: bool = False) -> tuple[Launched, Recorded]:
        """Launch once.

        :param look: whether to see what is in the page cache at the event.
        """
        recorded: Recorded = {}

        def frozen() -> None:
            for role, place in self.places.items() if look else ():
                recorded[role] = resident_blocks(place, scan_directory(place))

        launched = time_launch(
            self.command,
            self.root,
            self.event,
            timeout_s=TIMEOUT_S,
            home=self.home,
            frozen=frozen,
        )
        return launched, recorded


@contextmanager
def launcher(name: str, images: Path) -> Iterator[Launcher]:
    """Make ready what launches of an application need.

    :param images: a directory of them, as :func:`pack` writes them.
    """
    with ExitStack() as stack:
        # Where the images are, so that writing to its home waits for no disk either.
        scratch = tempfile.TemporaryDirectory(dir=images)
        directory = Path(stack.enter_context(scratch))
        for place in (*ROLES, "root"):
            (directory / place).mkdir()
        app = stack.enter_context(open_payload(image_of(images, "app", PLAIN)))
        yield Launcher(
            images={
                (role, codec): image_of(images, role, codec)
                for role in ROLES
                for codec in (*CODECS, PLAIN)
            },
            command=replace(app_command(app, name), chroot=True),
            event=event_named(recorded_application(name).event),
            places={role: directory / role for role in ROLES},
            root=directory / "root",
            home=stack.enter_context(launch_home(directory / "home")),
        )


def image_of(images: Path, role: str, codec: str) -> Path:
    """Return where the image of a payload is."""
    return images / f"{role}-{codec}.squashfs"
