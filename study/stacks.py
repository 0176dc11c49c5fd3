#!/usr/bin/env python3
"""Measure launches that read from three mounts, each of them with xz or lzo.

    sudo .venv/bin/python study/stacks.py prepare --trees TREES --cache CACHE --work DIR
    sudo .venv/bin/python study/stacks.py count --work DIR
    sudo .venv/bin/python study/stacks.py measure --work DIR --minutes 20

``prepare`` splits the trees of some applications (``--trees`` may be given several
times) into the payloads ``base``, ``content`` and ``app`` (see ``stack_layers.py``). It
records what a cold launch of the stack reads of each mount, and packs the payloads,
without the contents that aren't read (see ``prune_tree``), with xz, with lzo and
uncompressed. ``count`` counts the metadata blocks that a launch reads of each of these
mounts. ``measure`` calibrates the machine. Then it starts the applications in
turns from all combinations, each time from mounts of their own, of which nothing is
cached, and once a round with warm caches, until the time is up. They write

    study/data/stack-launches/NAME.json  what the launch reads of each payload
    study/data/stack-blocks.csv          the sums of these blocks in each image
    study/data/stack-device.yaml         the machine, calibrated
    study/data/stack-times.csv           every launch

``stack_accuracy.py`` compares them with the model. DIR is best in memory (/dev/shm):
then the time that a codec adds is its decompression. The script needs root, Xvfb,
dbus-daemon, and a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import os
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from corpus_tree import prune_tree
from launch import DATA, block_figures, replace_rows
from prime_error import note
from snapcraft_compression_advisor.capture.calibrate import (
    CalibrationRequest,
    calibrate,
)
from snapcraft_compression_advisor.capture.measure import in_turns
from snapcraft_compression_advisor.capture.metadata_reads import metadata_reads
from snapcraft_compression_advisor.capture.record import ATTEMPTS, cache_drops
from snapcraft_compression_advisor.capture.session_bus import session_bus
from snapcraft_compression_advisor.capture.virtual_display import virtual_display
from snapcraft_compression_advisor.core.errors import AdvisorError, ToolError
from snapcraft_compression_advisor.devices.device_file import device_text
from snapcraft_compression_advisor.launch.profile import (
    LaunchProfile,
    ProfilePayload,
    profile_text,
    read_profile,
)
from snapcraft_compression_advisor.payload.inventory import exclude_file_text
from snapcraft_compression_advisor.squashfs import mksquashfs
from stack_launcher import (
    CODECS,
    COMBINATIONS,
    PLAIN,
    UNCOMPRESSED,
    image_of,
    launcher,
)
from stack_layers import (
    ROLES,
    Role,
    recorded_application,
    split_tree,
    systems_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from snapcraft_compression_advisor.launch.profile import ProfileFile
    from stack_launcher import Combination, Launcher, Recorded

NAMES = (
    "grub-customizer", "yuview", "gnome-calculator", "amberol", "vitables", "kmouth",
    "bijiben", "firefox-esr",
)  # fmt: skip
"""Applications on GTK 3, Qt 5, GTK 4, libadwaita, Python with Qt 5, KDE, WebKit, and
one that keeps several processors busy."""

TIMES = DATA / "stack-times.csv"
BLOCKS = DATA / "stack-blocks.csv"
DEVICE = DATA / "stack-device.yaml"
LAUNCHES = DATA / "stack-launches"
LARGE_DISK = Path("/var/tmp")  # noqa: S108 # a directory of a random name in it
SAMPLE = Path("/usr")
SAMPLE_BLOCKS = 400
SAMPLE_ROUNDS = 5
MOST_ROUNDS = 100
TIME_FIELDS = (
    "application", *ROLES, "kind", "run", "wall_s", "user_s", "system_s",
)  # fmt: skip
BLOCK_FIELDS = (
    "application", "role", "codec", "runs", "image_bytes", "blocks", "raw_bytes",
    "stored_bytes", "compressed_blocks", "compressed_raw_bytes",
    "compressed_stored_bytes",
)  # fmt: skip


def prepare(name: str, tree: Path, cache: Path, work: Path) -> None:
    """Split, record and pack an application.

    :param tree: of the application, on the file system of /var/tmp.
    """
    systems = systems_of(recorded_application(name), cache)
    images = work / name
    images.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=LARGE_DISK) as scratch:
        layers = split_tree(tree, systems, Path(scratch) / "whole")
        for role, layer in layers.items():
            pack(layer, role, PLAIN, images)
        with launcher(name, images) as starts:
            note(f"{name}: recording")
            recorded = record(starts)
        for role, layer in layers.items():
            pruned = Path(scratch) / "pruned" / role
            pruned.parent.mkdir(exist_ok=True)
            prune_tree(layer, pruned, {file.path for file in recorded[role]})
            for codec in (*CODECS, PLAIN):
                note(f"{name}: packing {role} with {codec}")
                pack(pruned, role, codec, images)
    write_recorded(name, recorded)
    blocks = [
        {"application": name, "role": role, "codec": codec, **figures}
        for role, files in recorded.items()
        for codec in (*CODECS, PLAIN)
        for figures in [figures_of(image_of(images, role, codec), files)]
    ]
    replace_rows(BLOCKS, BLOCK_FIELDS, name, blocks)


def figures_of(image: Path, files: tuple[ProfileFile, ...]) -> dict[str, int]:
    """Return what the blocks that a launch reads come to in an image."""
    profile = LaunchProfile(source="residency", app=image.stem, app_files=files)
    runs = sum(len(file.blocks) for file in files)
    return {"runs": runs, **block_figures(image, profile)}


def write_recorded(name: str, recorded: Recorded) -> None:
    """Keep what a launch reads of each payload, as a launch profile."""
    profile = LaunchProfile(
        schema_version=2,
        source="residency",
        app=name,
        payloads=tuple(
            ProfilePayload(role=role, name=name if role == "app" else role, files=files)
            for role, files in recorded.items()
        ),
    )
    write_profile(name, profile)


def write_profile(name: str, profile: LaunchProfile) -> None:
    """Keep an application's launch profile."""
    LAUNCHES.mkdir(exist_ok=True)
    (LAUNCHES / f"{name}.json").write_text(profile_text(profile), encoding="utf-8")


def record(starts: Launcher) -> Recorded:
    """Return what a cold launch of an uncompressed stack reads of each mount.

    A mount begins with nothing in the cache.

    :raises ToolError: if somebody drops the caches during every launch.
    """
    with starts.mounted(UNCOMPRESSED):
        starts.start()  # sets up its home directory
    for _ in range(ATTEMPTS):
        drops = cache_drops()
        with starts.mounted(UNCOMPRESSED):
            _, recorded = starts.start(look=True)
        if cache_drops() == drops:
            return recorded
    message = "Another process dropped the caches"
    raise ToolError(message, resolution="Try again.")


def count_metadata(name: str, work: Path) -> None:
    """Add to what is recorded how many metadata blocks a cold launch reads.

    :raises ToolError: if the kernel doesn't trace.
    """
    with launcher(name, work / name) as starts:
        with starts.mounted(UNCOMPRESSED):
            starts.start()  # sets up its home directory
        with (
            starts.mounted(UNCOMPRESSED),
            metadata_reads([*starts.places.values()]) as reads,
        ):
            starts.start()
            counts: dict[str, int | None] = {
                role: reads.count(place, starts.images[role, PLAIN])
                for role, place in starts.places.items()
            }
    if None in counts.values():
        message = "The kernel doesn't trace which metadata blocks are read"
        raise ToolError(message, resolution="Run as root, outside of a container.")
    note(f"{name}: metadata blocks {counts}")
    profile = read_profile(LAUNCHES / f"{name}.json")
    payloads = tuple(
        each.model_copy(update={"metadata_blocks": counts[each.role]})
        for each in profile.payloads or ()
    )
    write_profile(name, profile.model_copy(update={"payloads": payloads}))


def pack(layer: Path, role: Role, codec: str, images: Path) -> None:
    """Pack a payload as ``snap pack`` does."""
    with tempfile.NamedTemporaryFile("w", suffix=".excludes") as excludes:
        excludes.write(exclude_file_text())
        excludes.flush()
        mksquashfs.pack(
            layer,
            image_of(images, role, codec),
            codec=codec,
            snap_type="app",
            exclude_file=Path(excludes.name),
        )


def measure(
    names: Sequence[str], work: Path, minutes: float, *, more: bool = False
) -> None:
    """Launch in rounds until the time is up, and keep every launch as it comes.

    :param more: whether these are added to the rounds that were measured before.
    """
    until_s = time.monotonic() + 60 * minutes
    rounds = 0
    if more:
        with TIMES.open(newline="", encoding="utf-8") as file:
            rounds = 1 + max(int(row["run"]) for row in csv.DictReader(file))
    else:
        note("calibrating")
        DEVICE.write_text(calibrated(work), encoding="utf-8")
    mode = "a" if more else "w"
    with ExitStack() as stack, TIMES.open(mode, newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, TIME_FIELDS, lineterminator="\n")
        if not more:
            table.writeheader()
        starters = {
            name: stack.enter_context(launcher(name, work / name)) for name in names
        }
        for name, starts in starters.items():
            note(f"{name}: launching without measuring")
            with starts.mounted(UNCOMPRESSED):
                starts.start()  # sets up its home directory
        orders = enumerate(in_turns(COMBINATIONS, MOST_ROUNDS))
        for run, order in itertools.islice(orders, rounds, None):
            for name, starts in tuple(starters.items()):
                if time.monotonic() > until_s:
                    return
                note(f"{name}: round {run + 1}")
                try:
                    table.writerows(list(one_round(name, starts, run, order)))
                except AdvisorError as error:  # of this round, nothing is kept
                    note(f"{name} is left out from here: {error}")
                    del starters[name]
                file.flush()


def calibrated(work: Path) -> str:
    """Return this machine's profile, its storage being where the images are."""
    request = CalibrationRequest(
        name="study-machine",
        storage=work,
        sample=SAMPLE,
        blocks=SAMPLE_BLOCKS,
        rounds=SAMPLE_ROUNDS,
    )
    return device_text(calibrate(request, note).device)


def one_round(
    name: str, starts: Launcher, run: int, order: Sequence[Combination]
) -> Iterator[dict[str, object]]:
    """Yield a cold launch from each combination, and one warm launch."""
    for combination in order:
        with starts.mounted(combination):
            # Mounts of its own: nothing of them is cached, and what else is in the
            # caches (the display's files, the loop devices' images) may stay.
            for kind in ("cold", "warm") if combination == UNCOMPRESSED else ("cold",):
                launched, _ = starts.start()
                yield {
                    "application": name,
                    **dict(zip(ROLES, combination, strict=True)),
                    "kind": kind,
                    "run": run,
                    "wall_s": round(launched.wall_s, 4),
                    "user_s": round(launched.user_s, 4),
                    "system_s": round(launched.system_s, 4),
                }


def main() -> int:
    """Prepare or measure.

    :returns: the exit status.
    """
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("what", choices=("prepare", "count", "measure"))
    add("names", nargs="*", metavar="NAME", help="applications (those in NAMES)")
    add("--trees", type=Path, action="append", default=[], help="their trees")
    add("--cache", type=Path, help="the systems that they were installed in")
    add("--work", type=Path, required=True, help="where the images go")
    add("--minutes", type=float, default=20, help="how long to measure")
    add("--more", action="store_true", help="add to the rounds that were measured")
    arguments = parser.parse_args()
    names = arguments.names or NAMES
    with display_and_bus():
        if arguments.what == "measure":
            measure(names, arguments.work, arguments.minutes, more=arguments.more)
            return 0
        if arguments.what == "count":
            for name in names:
                count_metadata(name, arguments.work)
            return 0
        failed = [
            name
            for name in names
            for tree in [tree_of(name, arguments.trees)]
            if not is_prepared(name, tree, arguments.cache, arguments.work)
        ]
    return 1 if failed else 0


def tree_of(name: str, trees: Sequence[Path]) -> Path:
    """Return an application's tree: in a folder of trees, or one level below.

    :raises StopIteration: if it isn't there.
    """
    folders = [folder for each in trees for folder in (each, *sorted(each.glob("*/")))]
    return next(each / name for each in folders if (each / name).is_dir())


def is_prepared(name: str, tree: Path, cache: Path, work: Path) -> bool:
    """Prepare an application; print why where that fails."""
    try:
        prepare(name, tree, cache, work)
    except AdvisorError as error:
        note(f"{name}: {error}\n{error.details or ''}")
        return False
    return True


@contextmanager
def display_and_bus() -> Iterator[None]:
    """Bring what applications with windows want, both empty."""
    with virtual_display(), session_bus() as bus:
        os.environ["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={bus}"
        yield


if __name__ == "__main__":
    sys.exit(main())
