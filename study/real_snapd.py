#!/usr/bin/env python3
"""Compare launches under the real snapd with those from plain mounts.

    sudo .venv/bin/python study/real_snapd.py outside FOLDER
    .venv/bin/python study/real_snapd.py page [-o docs/study/real-snapd.md]

``script/try-snapd FOLDER`` calls both. ``outside`` mounts the images of FOLDER/snaps as
snapd lays them over each other, without snapd: the base as the root, the app in /snap,
the content snap in its directory, the layout in its place. It starts the app there with
cold caches, and records what is then in memory of each mount. The results are

    study/data/real-snapd/inside.json    recorded by 'record --installed' under snapd
    study/data/real-snapd/outside.json   recorded from the mounts
    study/data/real-snapd/system.txt     versions, and the mounts that snapd made

``page`` prints docs/study/real-snapd.md from these.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from launch import DATA
from snapcraft_compression_advisor.capture.launch_event import event_named
from snapcraft_compression_advisor.capture.mount import (
    mount_point,
    mounted,
)
from snapcraft_compression_advisor.capture.page_cache import (
    drop_caches,
    resident_blocks,
)
from snapcraft_compression_advisor.capture.record import (
    cache_drops,
    undisturbed,
)
from snapcraft_compression_advisor.capture.servers import virtual_display
from snapcraft_compression_advisor.capture.snap_environment import SnapApp, launch_home
from snapcraft_compression_advisor.capture.start import (
    Command,
    LaunchRequest,
    time_launch,
)
from snapcraft_compression_advisor.core.scratch import unmount
from snapcraft_compression_advisor.launch.profile import (
    LaunchProfile,
    ProfilePayload,
    profile_text,
    read_profile,
)
from snapcraft_compression_advisor.payload.source import open_payload

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from snapcraft_compression_advisor.payload.inventory import Inventory
    from snapcraft_compression_advisor.payload.stack import Role

RESULTS = DATA / "real-snapd"
TIMEOUT_S = 120
APP, CONTENT, BASE = "advisor-calculator", "advisor-gtk3", "advisor-debian12"
ROLES: Mapping[str, Role] = {APP: "app", CONTENT: "content", BASE: "base"}
INSIDE = f"snap/{APP}/x1"
WORDS = (f"/{INSIDE}/bin/with-gtk3", f"/{INSIDE}/usr/bin/galculator")
TARGET, LAYOUT = "gtk3", "usr/share/galculator"

Blocks = frozenset[tuple[object, ...]]
"""Paths, and numbers of 128 KiB blocks."""

_PAGE = """\
# Under the real snapd

`record --installed` was run where snapd installs, confines and starts the app. The
blocks that it named were compared with those from plain mounts of the same images on
another kernel, without snapd.

    sudo script/try-snapd FOLDER --docs

makes everything on this page from Debian packages. It builds four snaps: a base (a
minimal Debian), GTK 3 as a content snap, an app (galculator, with a command-chain and a
layout), and a stub in place of the `snapd` snap. It builds a disk image with systemd,
AppArmor and Debian's snapd, boots it in qemu's emulator, installs the snaps with
`--dangerous`, connects them, and records a cold launch up to the app's window. Then it
starts the app from mounts of the same images outside, and compares. No store
and no hardware virtualisation are needed. The script is run by hand, not in continuous
integration.

This page shows the last run, with {versions} and
Linux {kernel} in the emulator. Times under emulation mean nothing, so there
are none here.

## Blocks

| snap | role | codec | blocks, snapd | blocks, mounts | common ÷ union |
|---|---|---|---|---|---|
{rows}

*Common ÷ union* are blocks in both recordings ÷ those in either. The stub has no files
that a launch reads. Under snapd, `snap run` also reads the app's `meta/snap.yaml`.

## Mounts

| where | options |
|---|---|
{mounts}

Inside the app's mount namespace, the content snap is in the app's own directory
(`$SNAP/gtk3`), and the layout's directory is over one of the base.

## What this doesn't show

- The snaps are small, and made for this. Snaps of the store have hooks, more content
  snaps, and services.
- snapd is Debian's and rather old.
- The snapd snap is a stub, so `snap-confine` and `snap-exec` are read from the system's
  disk. On Ubuntu, they are read from the image of the `snapd` snap.
"""


@dataclass(frozen=True, kw_only=True)
class Stack:
    """The mounts of one app, laid over each other.

    :param places: of each snap's mount.
    :param inventories: of their images; in the app's place is the content snap's too.
    """

    root: Path
    places: Mapping[str, Path]
    inventories: Mapping[str, Inventory]


@contextmanager
def stacked(images: Mapping[str, Path]) -> Iterator[Stack]:
    """Mount images of snaps as snapd shows them to the app."""
    with ExitStack() as stack:
        base, extra, root = (stack.enter_context(mount_point()) for _ in range(3))
        stack.enter_context(mounted(images[BASE], at=base))
        for place in (INSIDE, LAYOUT):
            (extra / place).mkdir(parents=True)
        (extra / INSIDE).with_name("current").symlink_to("x1")
        options = f"ro,lowerdir={extra}:{base}"
        command = ["mount", "-t", "overlay", "-o", options, "overlay", str(root)]
        subprocess.run(command, check=True)
        stack.callback(unmount, str(root))
        places = {BASE: base, APP: root / INSIDE, CONTENT: root / INSIDE / TARGET}
        for name in (APP, CONTENT):
            stack.enter_context(mounted(images[name], at=places[name]))
        shown = (str(places[APP] / LAYOUT), str(root / LAYOUT))
        command = ["mount", "-o", "bind,ro", *shown]
        subprocess.run(command, check=True)
        stack.callback(unmount, str(root / LAYOUT))
        inventories = {
            name: stack.enter_context(open_payload(image)).inventory
            for name, image in images.items()
        }
        yield Stack(root=root, places=places, inventories=inventories)


def record_outside(folder: Path) -> LaunchProfile:
    """Record a cold launch from plain mounts.

    :param folder: of ``script/try-snapd``.
    :raises ToolError: if the launch fails, or somebody drops the caches each time.
    """
    images = {name: next((folder / "snaps").glob(f"{name}_*.snap")) for name in ROLES}
    environment = {"SNAP": f"/{INSIDE}", "LANG": "C.UTF-8"}
    command = Command(
        words=WORDS, environment=environment, chroot=True, app=SnapApp(snap=APP)
    )
    with launch_home() as home, virtual_display():

        def record() -> LaunchProfile | None:
            with stacked(images) as stack:
                drop_caches()
                drops = cache_drops()
                found = _launch(command, stack, home)
                return found if cache_drops() == drops else None

        record()  # sets up the home
        return undisturbed(record, "with cold caches", print)


def _launch(command: Command, stack: Stack, home: Path) -> LaunchProfile:
    payloads: list[ProfilePayload] = []

    def look() -> None:
        for name, place in stack.places.items():
            files = resident_blocks(place, stack.inventories[name])
            payloads.append(ProfilePayload(role=ROLES[name], name=name, files=files))

    request = LaunchRequest(
        command=command, event=event_named("window"), timeout_s=TIMEOUT_S
    )
    time_launch(request, stack.root, home, frozen=look)
    payloads.sort(key=lambda each: list(ROLES).index(each.name))
    return LaunchProfile(
        schema_version=2, source="residency", app=APP, payloads=tuple(payloads)
    )


def blocks_by_snap(profile: LaunchProfile) -> dict[str, Blocks]:
    """Return what a launch read of each snap."""
    return {
        payload.name: frozenset(
            (file.path, block)
            for file in payload.files
            for first, last in file.blocks
            for block in range(first, last + 1)
        )
        for payload in profile.payloads or ()
    }


def agreement(one: Blocks, other: Blocks) -> float:
    """Return the blocks in common, divided by those of either."""
    return len(one & other) / len(one | other) if one | other else 1.0


def page(results: Path) -> str:
    """Return docs/study/real-snapd.md.

    :param results: a directory with the four files.
    """
    inside = read_profile(results / "inside.json")
    outside = read_profile(results / "outside.json")
    versions, mounts = _system((results / "system.txt").read_text(encoding="utf-8"))
    return _PAGE.format(
        rows="\n".join(_rows(inside, outside)),
        mounts="\n".join(
            f"| `{place}` | `{mounts[place]}` |"
            for each in inside.payloads or ()
            if (place := f"/snap/{each.name}/{each.revision}") in mounts
        ),
        versions=versions,
        kernel=inside.recorded.kernel if inside.recorded else "",
    )


def _rows(inside: LaunchProfile, outside: LaunchProfile) -> Iterator[str]:
    """Yield a row of the table for each snap, then for all of them."""
    found = blocks_by_snap(inside), blocks_by_snap(outside)
    codecs = {each.name: each.codec for each in inside.payloads or ()}
    for name, role in ROLES.items():
        own = [each[name] for each in found]
        yield _row((f"`{name}`", role, codecs[name] or ""), *own)
    total = [
        frozenset((name, *block) for name in ROLES for block in each[name])
        for each in found
    ]
    yield _row(("all", "", ""), *total)


def _row(head: tuple[str, ...], inside: Blocks, outside: Blocks) -> str:
    figures = f"{len(inside):,}", f"{len(outside):,}"
    cells = (*head, *figures, f"{agreement(inside, outside):.3f}")
    return f"| {' | '.join(cells)} |"


def _system(text: str) -> tuple[str, dict[str, str]]:
    """Return versions, and the options of each mount."""
    lines = [line.split() for line in text.splitlines() if line.strip()]
    mounts = {line[0]: line[2] for line in lines if line[0].startswith("/")}
    versions = {line[0]: line[1] for line in lines if not line[0].startswith("/")}
    return f"snapd {versions['snapd']} on Debian {versions['debian']}", mounts


def main() -> int:
    """Record from mounts, or print the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("outside", "page"))
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    if arguments.what == "outside":
        text = profile_text(record_outside(arguments.folder))
    else:
        text = page(arguments.folder or RESULTS)
    if arguments.output is None:
        sys.stdout.write(text)
    else:
        arguments.output.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
