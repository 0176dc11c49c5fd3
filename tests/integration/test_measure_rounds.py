"""The rounds of a measurement on real mounts: what is cold, what is left of it."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from machine import write_script
from mounts import (
    fill_tree,
    is_in_memory,
    loop_devices_of,
    mount_points_below,
)
from snapcraft_compression_advisor.capture.measure import (
    MeasureRequest,
    PrecisionResult,
    make_cold,
    measure,
)
from snapcraft_compression_advisor.capture.packed_images import packed_images
from snapcraft_compression_advisor.capture.page_cache import resident_share, storage_of
from snapcraft_compression_advisor.capture.precision import Precision
from snapcraft_compression_advisor.capture.samples import RunTime
from snapcraft_compression_advisor.core.errors import ToolError
from snapcraft_compression_advisor.payload.source import open_payload

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from snapcraft_compression_advisor.capture.measure import Measurement
    from snapcraft_compression_advisor.capture.mount import Mount
    from snapcraft_compression_advisor.capture.packed_images import PackedImages

pytestmark = [pytest.mark.mounts, pytest.mark.bubblewrap]

NOBODY = 65534


@pytest.fixture
def prime(tmp_path: Path) -> Path:
    directory = fill_tree(tmp_path / "prime")
    (directory / "fifo").unlink()
    (directory / "meta").mkdir()
    (directory / "meta/snap.yaml").write_text("name: sample\nversion: '1'\n")
    return directory


@pytest.fixture(autouse=True)
def nothing_left(tmp_path: Path, temporary_directory: Path) -> Iterator[None]:
    yield
    assert mount_points_below(tmp_path) == []
    assert loop_devices_of(tmp_path) == []
    assert list(temporary_directory.iterdir()) == []


def image_of(mount: Mount) -> Path:
    """Return the image that is mounted."""
    device = mount.root.stat().st_dev
    block = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}")
    return Path((block / "loop/backing_file").read_text().rstrip("\n"))


@dataclass
class Launches:
    """Launches that read a mounted file, and note what was mounted and where it was.

    :param fails_at: the launch, counted from 1, that fails.
    :param wall_s: what the launches of each image take, one after the other; by
        default their number.
    """

    seen: list[tuple[str, str]] = field(default_factory=list)
    image_bytes: dict[str, int] = field(default_factory=dict)
    fails_at: int | None = None
    wall_s: Mapping[str, Sequence[float]] | None = None

    def __call__(self, mount: Mount) -> RunTime:
        image = image_of(mount)
        self.seen.append((image.stem, storage_of(image)))
        self.image_bytes[image.stem] = image.stat().st_size
        if len(self.seen) == self.fails_at:
            message = "showed no window"
            raise ToolError(message)
        (mount.root / "lib/large").read_bytes()
        wall_s: float = len(self.seen)
        if self.wall_s is not None:
            before = sum(name == image.stem for name, _ in self.seen) - 1
            wall_s = self.wall_s[image.stem][before]
        return RunTime(wall_s=wall_s, user_s=0.25, system_s=0.5)


def run(
    prime: Path,
    launch: Launches,
    *codecs: str,
    runs: int,
    warm_up: bool = False,
    precision: Precision | None = None,
) -> Measurement:
    request = MeasureRequest(
        launch=launch,
        method="replay",
        codecs=codecs,
        runs=runs,
        warm_up=warm_up,
        precision=precision,
    )
    with open_payload(prime) as payload:
        return measure(payload, request, lambda _: None)


def test_each_cold_launch_follows_a_drop_and_each_warm_one_a_cold_one(
    prime: Path, tmp_path: Path
) -> None:
    if is_in_memory(tmp_path):
        pytest.skip("temporary files are in memory here, so none is ever cold")
    launch = Launches()
    found = run(prime, launch, "xz", "lzo", "none", runs=2)
    assert launch.seen == [
        (codec, storage)
        for codec in ("xz", "lzo", "none", "lzo", "none", "xz")
        for storage in ("disk", "memory")
    ]
    assert found.storage == "disk"
    assert found.codecs["xz"].cold_s.runs_s == (1, 11)
    assert found.codecs["xz"].warm_s.runs_s == (2, 12)
    assert found.codecs["lzo"].cold_s.runs_s == (3, 7)
    assert found.codecs["lzo"].image_bytes == launch.image_bytes["lzo"]
    assert found.codecs["lzo"].walk_s is None
    assert found.codecs["lzo"].warm_s.system_s == (0.5, 0.5)


def drops_so_far() -> int:
    """Return how often the caches of this machine were dropped."""
    counters = Path("/proc/vmstat").read_text(encoding="ascii").split()
    return int(counters[counters.index("drop_pagecache") + 1])


def test_walks_are_three_at_most_and_cold(prime: Path) -> None:
    walks: list[str] = []
    drops: list[int] = []

    def note(step: str) -> None:
        if step.startswith("Reading every file"):
            walks.append(step)
            drops.append(drops_so_far())

    request = MeasureRequest(
        launch=Launches(), method="replay", codecs=("none",), runs=4, walk=True
    )
    with open_payload(prime) as payload:
        found = measure(payload, request, note)
    drops.append(drops_so_far())
    assert [step.partition(" (")[2] for step in walks] == [
        "round 1 of 3)", "round 2 of 3)", "round 3 of 3)",
    ]  # fmt: skip
    assert all(before < after for before, after in pairwise(drops))
    assert found.codecs["none"].walk_s is not None
    assert found.codecs["none"].walk_s.n == 3
    assert found.codecs["none"].cold_s.n == 4


def test_warming_up_launches_once_unmeasured(prime: Path) -> None:
    found = run(prime, Launches(), "none", runs=1, warm_up=True)
    assert found.codecs["none"].cold_s.runs_s == (2,)


def test_files_without_squashfs_are_read_only_at_the_place_of_the_images(
    prime: Path,
) -> None:
    places = set()

    def launch(mount: Mount) -> RunTime:
        places.add(mount.root)
        assert (mount.root / "lib/large").read_bytes() == content
        assert (mount.root / "lib/one").stat().st_nlink == 2
        assert (mount.root / "link").readlink() == Path("lib/one")
        with pytest.raises(OSError, match="Read-only file system"):
            (mount.root / "lib/new").touch()
        return RunTime(wall_s=1.0)

    content = (prime / "lib/large").read_bytes()
    request = MeasureRequest(
        launch=launch,
        method="launch",
        codecs=("none",),
        compare=("directory", "ext4"),
        runs=1,
    )
    with open_payload(prime) as payload:
        found = measure(payload, request, lambda _: None)
    assert list(found.compared) == ["directory", "ext4"]
    assert len(places) == 1
    assert found.mount == "kernel"
    assert (prime / "lib/large").read_bytes() == content


def cold(*seconds: float) -> list[float]:
    """Return launches of which every second one is warm."""
    return [each for cold_s in seconds for each in (cold_s, 0.1)]


def test_rounds_go_on_until_the_difference_is_known(prime: Path) -> None:
    noise = (0.0, 0.9, 0.1, 0.8, 0.4)
    launch = Launches(
        wall_s={
            "xz": cold(*(3 + each for each in noise), *([3.4] * 25)),
            "lzo": cold(*([2.0] * 30)),
        }
    )
    precision = Precision(reach=0.3, is_share=False, least_rounds=5, most_rounds=30)
    assert precision.check_rounds == (5, 7, 10, 15, 22, 30)
    found = run(prime, launch, "xz", "lzo", runs=5, precision=precision)
    assert (found.runs, found.codecs["xz"].cold_s.n) == (10, 10)
    assert found.precision == PrecisionResult(wanted_s=0.3, reached=True, checks=6)


def test_precision_needs_both_codecs(prime: Path) -> None:
    precision = Precision(reach=0.3, is_share=False, least_rounds=5)
    launch = Launches()
    with pytest.raises(ToolError, match="can't be reached without lzo"):
        run(prime, launch, "xz", runs=5, precision=precision)
    assert launch.seen == []


def test_failing_launch_ends_all_and_leaves_nothing(prime: Path) -> None:
    launch = Launches(fails_at=2)
    with pytest.raises(ToolError, match="no window"):
        run(prime, launch, "lzo", "none", runs=2)
    assert len(launch.seen) == 2


def test_user_who_may_not_drop_caches_drops_the_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_in_memory(tmp_path):
        pytest.skip("temporary files are in memory here, so none is ever dropped")
    monkeypatch.chdir(tmp_path)  # other users may not come here by its whole path
    tmp_path.chmod(0o755)
    image = Path("image")
    image.write_bytes(bytes(500_000))
    os.chown(image, NOBODY, NOBODY)
    assert resident_share(image) == 1
    os.seteuid(NOBODY)
    try:
        make_cold(image)
    finally:
        os.seteuid(0)
    assert resident_share(image) == 0


@contextmanager
def packed(prime: Path) -> Iterator[PackedImages]:
    codecs = ("xz", "lzo", "none")
    with (
        open_payload(prime) as payload,
        packed_images(
            payload, codecs, scratch=None, progress=lambda _: None
        ) as images,
    ):  # fmt: skip
        yield images


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a directory whose programs come before others."""
    directory = tmp_path / "programs"
    directory.mkdir()
    monkeypatch.setenv("PATH", f"{directory}:{os.environ['PATH']}")
    return directory


def test_codec_that_cannot_be_packed_is_left_out(prime: Path, programs: Path) -> None:
    write_script(
        programs / "mksquashfs",
        'case "$*" in *"-comp lzo"*)\n'
        "    echo 'FATAL ERROR: Compressor \"lzo\" is not supported!' >&2; exit 1\n"
        f'esac\nexec {shutil.which("mksquashfs")} "$@"',
    )
    with packed(prime) as images:
        assert tuple(images.paths) == ("xz", "none")
        assert "support" in images.unavailable["lzo"]


def test_codec_that_cannot_be_mounted_is_left_out_with_the_reason(
    prime: Path, programs: Path
) -> None:
    """An image of lzma, number 2 in the superblock, is what Linux can't read."""
    write_script(
        programs / "mksquashfs",
        f'{shutil.which("mksquashfs")} "$@" || exit\n'
        'case "$*" in *"-comp xz"*)\n'
        "    printf '\\002' | dd of=\"$2\" bs=1 seek=20 conv=notrunc status=none\n"
        "esac",
    )
    with packed(prime) as images:
        assert tuple(images.paths) == ("lzo", "none")
        assert re.match("Kernel .* cannot mount .* lzma", images.unavailable["xz"])
        assert sorted(path.name for path in images.paths["lzo"].parent.iterdir()) == [
            "empty", "excludes", "lzo.squashfs", "none.squashfs",
        ]  # fmt: skip
