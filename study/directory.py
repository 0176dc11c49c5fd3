#!/usr/bin/env python3
"""Record launches from mounts and from directories, and compare.

    sudo xvfb-run -a .venv/bin/python study/directory.py --trees corpus [NAME…]
    .venv/bin/python study/directory.py --fit

The script copies the tree of each application (``launch_corpus.py`` builds the trees):
files of trees may be hard links that launches of others map. It records the launch
twice from a mount of the copy, by residency, and once from the copy itself, mounted
read-only. It writes

    study/data/directory-launches.csv   blocks, bytes and runs of both

``--fit`` prints the table of these, and the constants of ``launch/traced_share.py``.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from corpus_applications import APPLICATIONS, Application
from directory_fit import LAUNCHES, print_fit, read_rows
from launch import event_of
from snapcraft_compression_advisor.capture.call_notices import call_filter
from snapcraft_compression_advisor.capture.home import launch_home
from snapcraft_compression_advisor.capture.mount import mount_point, mounted
from snapcraft_compression_advisor.capture.packed_images import packed_images
from snapcraft_compression_advisor.capture.page_cache import resident_blocks
from snapcraft_compression_advisor.capture.record import (
    RecordRequest,
    cache_drops,
    launch,
)
from snapcraft_compression_advisor.capture.record_directory import record_directory
from snapcraft_compression_advisor.capture.start import app_command
from snapcraft_compression_advisor.core.errors import AdvisorError
from snapcraft_compression_advisor.launch.profile import ProfileFile
from snapcraft_compression_advisor.payload.inventory import block_bytes
from snapcraft_compression_advisor.payload.source import Payload, open_payload
from traced_applications import TRACED

TIMEOUT_S = 180
MEMORY = Path("/dev/shm")  # noqa: S108 # for images; a private directory

Blocks = dict[tuple[str, int], int]
"""Path and number of each block, with its bytes."""


def main() -> int:
    """Record, compare, write; or print what follows from it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--trees", type=Path)
    parser.add_argument("--fit", action="store_true")
    arguments = parser.parse_args()
    failed = []
    for application in (*APPLICATIONS, *TRACED) if arguments.trees else ():
        tree = arguments.trees / application.name
        if application.name in (arguments.names or [application.name]) and (
            tree.is_dir()
        ):
            try:
                with _read_only_copy(tree) as copy, open_payload(copy) as payload:
                    row = _compare(application, payload)
                _replace_rows(LAUNCHES, application.name, [row])
            except AdvisorError as error:
                print(f"{application.name}: {error}", file=sys.stderr)
                failed.append(application.name)
    if arguments.fit:
        print_fit(read_rows())
    return 1 if failed else 0


@contextmanager
def _read_only_copy(tree: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=tree.parent, prefix=".directory.") as place:
        copy, view = Path(place) / "copy", Path(place) / "view"
        subprocess.run(["/usr/bin/cp", "--archive", tree, copy], check=True)
        view.mkdir()
        subprocess.run(["/usr/bin/mount", "--bind", copy, view], check=True)
        try:
            subprocess.run(
                ["/usr/bin/mount", "-o", "remount,bind,ro", view], check=True
            )
            yield view
        finally:
            subprocess.run(["/usr/bin/umount", "--lazy", view], check=True)


def _compare(application: Application, payload: Payload) -> dict[str, object]:
    print(f"{application.name}: recording", file=sys.stderr)
    command = replace(app_command(payload, application.name), chroot=True)
    request = RecordRequest(
        app=application.name,
        command=command,
        event=event_of(application),
        timeout_s=TIMEOUT_S,
    )
    mount, again = _from_mounts(payload, request)
    profile = record_directory(payload, request, lambda _: None)
    directory = _blocks(profile.files)
    return {
        "application": application.name,
        "kind": application.kind,
        "mount_blocks": len(mount),
        "again_blocks": len(again),
        "again_common": len(mount.keys() & again.keys()),
        "directory_blocks": len(directory),
        "common": len(mount.keys() & directory.keys()),
        "mount_bytes": sum(mount.values()),
        "directory_bytes": sum(directory.values()),
        "mount_runs": _runs(mount),
        "directory_runs": _runs(directory),
        "not_seen_mapped": sum(bool(file.shares) for file in profile.files),
        "calls_told": int(call_filter() is not None),
    }


def _from_mounts(payload: Payload, request: RecordRequest) -> tuple[Blocks, Blocks]:
    """Launch twice, each from a mount of its own, with nothing of it in the cache."""
    found: list[Blocks] = []
    with (
        launch_home(None) as home,
        mount_point() as root,
        packed_images(
            payload, ("none",), scratch=MEMORY, progress=lambda _: None
        ) as images,
    ):

        def look() -> None:
            found.append(_blocks(resident_blocks(root, payload.inventory)))

        while len(found) < 2:  # noqa: PLR2004 # one to compare with, one with it
            with mounted(images.paths["none"], at=root):
                launch(request, root, home)
            drops = cache_drops()
            with mounted(images.paths["none"], at=root):
                launch(request, root, home, frozen=look)
            if cache_drops() != drops:
                found.pop()
    first, second = found
    return first, second


def _blocks(files: Iterable[ProfileFile]) -> Blocks:
    """Return the blocks of a recording; those with a share if it is at least 1/2."""
    return {
        (file.path, number): block_bytes(file.size, number)
        for file in files
        for (first, last), share in zip(
            file.blocks, file.shares or [1.0] * len(file.blocks), strict=True
        )
        for number in range(first, last + 1)
        if share >= 1 / 2
    }


def _runs(blocks: Blocks) -> int:
    return sum((path, number - 1) not in blocks for path, number in blocks)


def _replace_rows(path: Path, name: str, rows: Sequence[dict[str, object]]) -> None:
    """Put an application's rows in place of those that the file has of it."""
    comments: list[str] = []
    kept: list[dict[str, object]] = []
    if path.exists():
        with path.open(newline="") as file:
            lines = [*file]
        comments = [line for line in lines if line.startswith("#")]
        found = csv.DictReader(line for line in lines if not line.startswith("#"))
        kept = [row for row in found if row["application"] != name]
    with path.open("w", newline="") as file:
        file.writelines(comments)
        writer = csv.DictWriter(file, [*rows[0]], lineterminator="\n")
        writer.writeheader()
        writer.writerows([*kept, *rows])


if __name__ == "__main__":
    sys.exit(main())
