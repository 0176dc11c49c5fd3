"""The rounds of a measurement on real mounts: what is cold, what is left of it."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from machine import write_script
from mounts import fill_tree, is_in_memory
from snapcraft_compression_advisor.capture.images import PackedImages, packed_images
from snapcraft_compression_advisor.capture.measure import Measurement, Method, measure
from snapcraft_compression_advisor.capture.mount import Mount
from snapcraft_compression_advisor.capture.page_cache import storage_of
from snapcraft_compression_advisor.capture.samples import RunTime
from snapcraft_compression_advisor.core.errors import ToolError
from snapcraft_compression_advisor.payload.source import open_payload
from trees import fill

pytestmark = [
    pytest.mark.mounts,
    pytest.mark.bubblewrap,
    pytest.mark.usefixtures("nothing_left"),
]


@pytest.fixture
def prime(tmp_path: Path) -> Path:
    directory = fill_tree(tmp_path / "prime")
    (directory / "fifo").unlink()
    return fill(directory, {"meta/snap.yaml": "name: sample\nversion: '1'\n"})


def image_of(mount: Mount) -> Path:
    """Return the image that is mounted."""
    device = mount.root.stat().st_dev
    block = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}")
    return Path((block / "loop/backing_file").read_text().rstrip("\n"))


@dataclass
class Launches:
    """Launches that read a mounted file, and note what was mounted and where it was.

    :param fails_at: the launch, counted from 1, that fails.
    """

    seen: list[tuple[str, str]] = field(default_factory=list)
    image_bytes: dict[str, int] = field(default_factory=dict)
    fails_at: int | None = None

    def __call__(self, mount: Mount) -> RunTime:
        image = image_of(mount)
        self.seen.append((image.stem, storage_of(image)))
        self.image_bytes[image.stem] = image.stat().st_size
        if len(self.seen) == self.fails_at:
            message = "showed no window"
            raise ToolError(message)
        (mount.root / "lib/large").read_bytes()
        return RunTime(wall_s=len(self.seen), user_s=0.25, system_s=0.5)


def run(
    prime: Path, launch: Launches, *codecs: str, runs: int, method: Method = "replay"
) -> Measurement:
    with open_payload(prime) as payload:
        return measure(
            payload, launch, lambda _: None, method=method, codecs=codecs, runs=runs
        )


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
    assert found.codecs["lzo"].warm_s.system_s == (0.5, 0.5)


def test_warming_up_launches_once_unmeasured(prime: Path) -> None:
    found = run(prime, Launches(), "none", runs=1, method="launch")
    assert found.codecs["none"].cold_s.runs_s == (2,)


def test_failing_launch_ends_all_and_leaves_nothing(prime: Path) -> None:
    launch = Launches(fails_at=2)
    with pytest.raises(ToolError, match="no window"):
        run(prime, launch, "lzo", "none", runs=2)
    assert len(launch.seen) == 2


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
            "excludes", "lzo.squashfs", "none.squashfs",
        ]  # fmt: skip
