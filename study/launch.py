#!/usr/bin/env python3
"""Measure launches of real applications from real mounts, with every codec.

    sudo xvfb-run -a .venv/bin/python study/launch.py --trees corpus [NAME…]

The script records the launch of each application of the corpus (``launch_corpus.py``
builds the trees) as ``compression-advisor record`` does. It packs the tree, without the
contents that aren't read (see ``prune_tree``), with every codec into memory. Then it
starts the application from each image in turns, with dropped caches, and from the
uncompressed image also with warm caches. It writes

    study/data/launches/NAME.json   the recorded launch
    study/data/launch-times.csv     every launch: wall and processor seconds
    study/data/launch-blocks.csv    the sums of the recorded blocks in each image
    study/data/launch-images.csv    sizes of the whole images, by the sampled trial

``accuracy.py`` compares them with the model. The script needs root, and a machine that
does nothing else.
"""

from __future__ import annotations

import argparse
import csv
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from corpus_applications import APPLICATIONS, Application
from corpus_tree import prune_tree
from snapcraft_compression_advisor.capture.images import packed_images
from snapcraft_compression_advisor.capture.launch_event import (
    EXITED,
    LaunchEvent,
    event_named,
    window_mapped,
)
from snapcraft_compression_advisor.capture.measure import in_turns
from snapcraft_compression_advisor.capture.mount import mount_point, mounted
from snapcraft_compression_advisor.capture.page_cache import drop_caches
from snapcraft_compression_advisor.capture.snap_environment import launch_home
from snapcraft_compression_advisor.capture.start import (
    LaunchRequest,
    app_command,
    time_launch,
)
from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.core.errors import AdvisorError
from snapcraft_compression_advisor.launch.profile import read_profile
from snapcraft_compression_advisor.payload.source import open_payload
from snapcraft_compression_advisor.squashfs.image import Image
from snapcraft_compression_advisor.trial.sampled import run_sampled_trial

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from snapcraft_compression_advisor.capture.start import Launched
    from snapcraft_compression_advisor.launch.profile import LaunchProfile

DATA = Path(__file__).parent / "data"
TIMES = DATA / "launch-times.csv"
BLOCKS = DATA / "launch-blocks.csv"
IMAGES = DATA / "launch-images.csv"
TIMEOUT_S = 120
IMAGE_FIELDS = ("application", "codec", "image_bytes")
TIME_FIELDS = ("application", "codec", "kind", "run", "wall_s", "user_s", "system_s")
BLOCK_FIELDS = (
    "application",
    "codec",
    "image_bytes",
    "blocks",
    "raw_bytes",
    "stored_bytes",
    "compressed_blocks",
    "compressed_raw_bytes",
    "compressed_stored_bytes",
)


@dataclass(frozen=True, kw_only=True)
class Launcher:
    """Starts one application from mounts, always at the same place."""

    request: LaunchRequest
    root: Path
    home: Path

    def start(self) -> Launched:
        """Launch once."""
        return time_launch(self.request, self.root, self.home)


def main() -> int:
    """Measure the applications named, all that have a tree by default."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--trees", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--record-only", action="store_true")
    arguments = parser.parse_args()
    wanted = arguments.names or [application.name for application in APPLICATIONS]
    failed = []
    for application in APPLICATIONS:
        tree = arguments.trees / application.name
        if application.name not in wanted or not tree.is_dir():
            continue
        try:
            record(application, tree, profile_path(application.name))
            if not arguments.record_only:
                measure(application, tree, arguments.runs)
        except (AdvisorError, subprocess.CalledProcessError) as error:
            print(f"{application.name}: {error}", file=sys.stderr)
            print(getattr(error, "stderr", ""), file=sys.stderr)
            failed.append(application.name)
    return 1 if failed else 0


def profile_path(name: str) -> Path:
    """Return where an application's recorded launch is kept."""
    return DATA / "launches" / f"{name}.json"


def record(
    application: Application,
    tree: Path,
    output: Path,
    *,
    around: Sequence[str] = (),
    timeout_s: int = TIMEOUT_S,
) -> None:
    """Record a launch, unless there is one.

    :param output: the profile.
    :param around: a program that starts the recording, and its arguments.
    :raises CalledProcessError: if it fails; ``stderr`` says why.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    if not output.exists():
        print(f"{application.name}: recording", file=sys.stderr)
        subprocess.run(
            [
                *around,
                sys.executable, "-m", "snapcraft_compression_advisor", "record",
                "--quiet", str(tree), "--chroot",
                "--until", application.event, "--timeout", str(timeout_s),
                "--output", str(output),
            ],
            env={**os.environ, "TMPDIR": "/dev/shm"},  # noqa: S108 # in memory
            check=True,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        )  # fmt: skip


def measure(application: Application, tree: Path, runs: int) -> None:
    """Launch from images with each codec, in turns, and add the times to the data."""
    profile = read_profile(profile_path(application.name))
    with tempfile.TemporaryDirectory(dir=tree.parent) as directory:
        pruned = Path(directory) / application.name
        prune_tree(tree, pruned, {file.path for file in profile.files})
        with (
            open_payload(pruned) as payload,
            packed_images(
                payload,
                tuple(CODECS),
                scratch=Path("/dev/shm"),  # noqa: S108 # memory, a private directory
                progress=lambda text: print(text, file=sys.stderr),
            ) as images,
            mount_point() as root,
            launch_home(None) as home,
        ):
            request = LaunchRequest(
                command=replace(app_command(payload, application.name), chroot=True),
                event=event_of(application),
                timeout_s=TIMEOUT_S,
            )
            launcher = Launcher(request=request, root=root, home=home)
            blocks = [
                {"application": application.name, "codec": codec, **figures}
                for codec, path in images.paths.items()
                for figures in [block_figures(path, profile)]
            ]
            times = list(launches(application.name, launcher, images.paths, runs))
    replace_rows(IMAGES, IMAGE_FIELDS, application.name, image_sizes(tree))
    replace_rows(BLOCKS, BLOCK_FIELDS, application.name, blocks)
    replace_rows(TIMES, TIME_FIELDS, application.name, times)


def image_sizes(tree: Path) -> list[dict[str, object]]:
    """Return what the whole tree would come to with each codec, estimated."""
    with open_payload(tree) as payload:
        trial = run_sampled_trial(payload, progress=lambda _: None)
    return [
        {
            "application": tree.name,
            "codec": each.codec,
            "image_bytes": round(each.image_bytes.mid),
        }
        for each in trial.codecs.values()
        if each.image_bytes is not None
    ]


def event_of(application: Application) -> LaunchEvent:
    """Return what ends the application's launch."""
    kind, _, text = application.event.partition(":")
    if kind == "window":
        return window_mapped(display=os.environ.get("DISPLAY"))
    return event_named(f"output:{text}") if kind == "output" else EXITED


def launches(
    name: str, launcher: Launcher, images: Mapping[str, Path], runs: int
) -> Iterator[dict[str, object]]:
    """Yield the times of all launches, codecs in turns."""
    with mounted(images["none"], at=launcher.root):
        launcher.start()  # sets up its home directory
    for run, order in enumerate(in_turns(tuple(images), runs)):
        for codec in order:
            print(f"{name}: {codec}, run {run + 1} of {runs}", file=sys.stderr)
            with mounted(images[codec], at=launcher.root):
                drop_caches()
                for kind in ("cold", "warm") if codec == "none" else ("cold",):
                    launched = launcher.start()
                    yield {
                        "application": name,
                        "codec": codec,
                        "kind": kind,
                        "run": run,
                        "wall_s": round(launched.wall_s, 4),
                        "user_s": round(launched.user_s, 4),
                        "system_s": round(launched.system_s, 4),
                    }


def block_figures(image_path: Path, profile: LaunchProfile) -> dict[str, int]:
    """Return what the blocks of a recorded launch come to in an image."""
    read = {file.path: file.blocks for file in profile.files}
    sums = dict.fromkeys(BLOCK_FIELDS[2:], 0)
    with Image.open(image_path) as image:
        for entry in image.walk():
            if entry.path not in read or entry.blocks is None:
                continue
            blocks = list(entry.blocks)
            for first, last in read[entry.path]:
                for block in blocks[first : last + 1]:
                    sums["blocks"] += 1
                    sums["raw_bytes"] += block.raw_bytes
                    sums["stored_bytes"] += block.stored_bytes
                    if 0 < block.stored_bytes < block.raw_bytes:
                        sums["compressed_blocks"] += 1
                        sums["compressed_raw_bytes"] += block.raw_bytes
                        sums["compressed_stored_bytes"] += block.stored_bytes
    return {**sums, "image_bytes": image_path.stat().st_size}


def replace_rows(
    path: Path, fields: tuple[str, ...], name: str, rows: list[dict[str, object]]
) -> None:
    """Put an application's rows in place of those that the file has of it."""
    kept: list[dict[str, object]] = []
    if path.exists():
        with path.open(newline="") as file:
            kept = [row for row in csv.DictReader(file) if row["application"] != name]
    unfinished = path.with_suffix(".new")
    with unfinished.open("w", newline="") as file:
        writer = csv.DictWriter(file, fields, lineterminator="\n")
        writer.writeheader()
        writer.writerows([*kept, *rows])
    shutil.move(unfinished, path)


if __name__ == "__main__":
    sys.exit(main())
