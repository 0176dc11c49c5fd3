"""The rounds of a measurement, with mounts and packing made up."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from payloads import make_payload
from snapcraft_compression_advisor.capture import measure as measure_module
from snapcraft_compression_advisor.capture import packed_images as images_module
from snapcraft_compression_advisor.capture.measure import (
    MeasureRequest,
    in_turns,
    measure,
)
from snapcraft_compression_advisor.capture.mount import Mount
from snapcraft_compression_advisor.capture.packed_images import packed_images
from snapcraft_compression_advisor.core.errors import StorageError, ToolError
from snapcraft_compression_advisor.squashfs import mksquashfs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_mock import MockerFixture

    from snapcraft_compression_advisor.capture.measure import Measurement

PAYLOAD = make_payload({"bin/hello": b"x" * 1000})


@dataclass
class Machine:
    """A machine that mounts and launches in name only, and keeps a log.

    :param fails_at: the launch, counted from 1, that fails.
    """

    log: list[str] = field(default_factory=list)
    mounted: str | None = None
    launches: int = 0
    fails_at: int | None = None

    @contextmanager
    def mount(
        self, image: Path, *, read_ahead_kb: int = 128, at: Path | None = None
    ) -> Iterator[Mount]:
        assert self.mounted is None
        self.mounted = image.stem
        try:
            yield Mount(
                root=at or Path("root"), method="kernel", read_ahead_kb=read_ahead_kb
            )
        finally:
            self.mounted = None

    def drop(self) -> None:
        self.log.append(f"drop {self.mounted}")

    def launch(self, _mount: Mount) -> float:
        self.launches += 1
        self.log.append(f"launch {self.mounted}")
        if self.launches == self.fails_at:
            message = "showed no window"
            raise ToolError(message)
        return float(self.launches)

    def walk(self, _root: Path) -> float:
        self.log.append(f"walk {self.mounted}")
        return 9.0


@pytest.fixture
def machine(mocker: MockerFixture, tmp_path: Path) -> Machine:
    machine = Machine()
    for module in (measure_module, images_module):
        mocker.patch.object(module, "mounted", machine.mount)
    mocker.patch.object(images_module, "can_mount", return_value=True)
    mocker.patch.object(measure_module, "drop_caches", machine.drop)
    mocker.patch.object(measure_module, "can_drop_caches", return_value=True)
    mocker.patch.object(measure_module, "walk", machine.walk)
    mocker.patch.object(measure_module, "storage_of", return_value="disk")
    mocker.patch.object(mksquashfs, "supports", return_value=True)
    mocker.patch.object(mksquashfs, "pack", pack)
    mocker.patch("tempfile.tempdir", str(tmp_path))
    return machine


def pack(_source: Path, image: Path, *, codec: str, **_options: object) -> None:
    image.write_bytes(bytes(100 * len(codec)))


def run(
    machine: Machine,
    codecs: tuple[str, ...] = ("xz", "lzo", "none"),
    *,
    runs: int = 2,
    walk: bool = False,
    warm_up: bool = False,
) -> Measurement:
    request = MeasureRequest(
        launch=machine.launch,
        method="replay",
        codecs=codecs,
        runs=runs,
        walk=walk,
        warm_up=warm_up,
    )
    return measure(PAYLOAD, request, lambda _: None)


def test_codecs_take_turns_and_each_round_begins_with_the_next() -> None:
    assert list(in_turns(("xz", "lzo", "none"), 4)) == [
        ("xz", "lzo", "none"),
        ("lzo", "none", "xz"),
        ("none", "xz", "lzo"),
        ("xz", "lzo", "none"),
    ]


def test_each_cold_launch_follows_a_drop_and_each_warm_one_a_cold_one(
    machine: Machine,
) -> None:
    found = run(machine)
    assert machine.log[0] == "drop xz"  # to see where the images are
    assert machine.log[1:] == [
        step
        for codec in ("xz", "lzo", "none", "lzo", "none", "xz")
        for step in (f"drop {codec}", f"launch {codec}", f"launch {codec}")
    ]
    assert found.codecs["xz"].cold_s.runs_s == (1, 11)
    assert found.codecs["xz"].warm_s.runs_s == (2, 12)
    assert found.codecs["lzo"].cold_s.runs_s == (3, 7)
    assert found.codecs["lzo"].image_bytes == 300
    assert found.codecs["lzo"].walk_s is None


def test_walks_are_three_at_most_and_cold(machine: Machine) -> None:
    found = run(machine, ("xz", "lzo"), runs=5, walk=True)
    assert machine.log[-4:] == ["drop xz", "walk xz", "drop lzo", "walk lzo"]
    assert found.codecs["lzo"].walk_s is not None
    assert found.codecs["lzo"].walk_s.runs_s == (9, 9, 9)
    assert run(machine, runs=1, walk=True).codecs["xz"].walk_s is not None


def test_warming_up_launches_once_unmeasured(machine: Machine) -> None:
    found = run(machine, ("xz",), runs=1, warm_up=True)
    assert found.codecs["xz"].cold_s.runs_s == (2,)


def test_conditions_are_told(machine: Machine, mocker: MockerFixture) -> None:
    found = run(machine)
    assert (found.mount, found.storage, found.dropped) == ("kernel", "disk", "system")
    assert (found.method, found.runs, found.read_ahead_kb) == ("replay", 2, 128)
    mocker.patch.object(measure_module, "storage_of", return_value="memory")
    assert run(machine).storage == "memory"


def test_without_the_right_to_drop_caches_the_image_alone_is_dropped(
    machine: Machine, mocker: MockerFixture
) -> None:
    mocker.patch.object(measure_module, "can_drop_caches", return_value=False)
    drop = mocker.patch.object(measure_module, "drop_file_cache")
    found = run(machine, ("xz",), runs=3)
    assert found.dropped == "payload"
    assert [call.args[0].name for call in drop.call_args_list] == ["xz.squashfs"] * 4
    assert not any(step.startswith("drop") for step in machine.log)


def test_failing_launch_ends_all_and_leaves_nothing(
    machine: Machine, tmp_path: Path
) -> None:
    machine.fails_at = 4
    with pytest.raises(ToolError, match="no window"):
        run(machine)
    assert machine.mounted is None
    assert machine.launches == 4
    assert list(tmp_path.iterdir()) == []


def test_images_are_gone_at_the_end(machine: Machine, tmp_path: Path) -> None:
    run(machine)
    assert list(tmp_path.iterdir()) == []


def test_codec_that_cannot_be_packed_is_left_out(
    machine: Machine, mocker: MockerFixture
) -> None:
    mocker.patch.object(mksquashfs, "supports", lambda codec, **_: codec != "lzo")
    found = run(machine)
    assert tuple(found.codecs) == ("xz", "none")
    assert "support" in found.unavailable["lzo"]


def test_codec_that_cannot_be_mounted_is_left_out_with_the_reason(
    machine: Machine, mocker: MockerFixture
) -> None:
    @contextmanager
    def mount(image: Path) -> Iterator[None]:
        if image.stem == "xz":
            message = "Kernel 4.4 cannot mount squashfs images with xz"
            raise ToolError(message)
        yield

    mocker.patch.object(images_module, "mounted", mount)
    found = run(machine)
    assert tuple(found.codecs) == ("lzo", "none")
    assert found.unavailable["xz"].startswith("Kernel 4.4 cannot")


def test_no_codec_left_is_an_error_with_every_reason(
    machine: Machine, mocker: MockerFixture, tmp_path: Path
) -> None:
    mocker.patch.object(mksquashfs, "supports", return_value=False)
    with pytest.raises(ToolError) as caught:
        run(machine)
    assert caught.value.details is not None
    assert "lzo: This mksquashfs" in caught.value.details
    assert list(tmp_path.iterdir()) == []


def test_user_who_cannot_mount_is_told_before_packing(
    machine: Machine, mocker: MockerFixture
) -> None:
    mocker.patch.object(images_module, "can_mount", return_value=False)
    mocker.patch("shutil.which", return_value=None)
    packing = mocker.patch.object(mksquashfs, "pack")
    with pytest.raises(ToolError, match="squashfuse is not installed") as caught:
        run(machine)
    assert "Install squashfuse and fuse3" in str(caught.value.resolution)
    packing.assert_not_called()


def test_disk_that_is_plainly_too_small_is_refused_before_packing(
    machine: Machine, mocker: MockerFixture
) -> None:
    usage = mocker.patch("shutil.disk_usage")
    usage.return_value.free = 999
    packing = mocker.patch.object(mksquashfs, "pack")
    with pytest.raises(StorageError, match="Not enough free space"):
        run(machine)
    packing.assert_not_called()
    packing.side_effect = pack
    assert run(machine, ("xz", "lzo")).codecs  # what these need isn't known


def test_missing_scratch_directory_is_a_storage_error(tmp_path: Path) -> None:
    with (
        pytest.raises(StorageError, match="Cannot write"),
        packed_images(
            PAYLOAD, ("xz",), scratch=tmp_path / "no", progress=lambda _: None
        ),
    ):
        pytest.fail("packed")
