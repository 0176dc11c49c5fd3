"""Real mounts: what is in memory after reads, and that nothing is left of them."""

import os
import platform
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from machine import no_right_to_mount
from mounts import (
    BLOCK,
    fill_tree,
    is_in_memory,
    loop_devices_of,
    make_image,
    mount_points_below,
)
from snapcraft_compression_advisor.capture import mount as mount_module
from snapcraft_compression_advisor.capture import page_cache
from snapcraft_compression_advisor.capture.mount import (
    Mount,
    can_mount,
    mounted,
    run_mount,
)
from snapcraft_compression_advisor.capture.page_cache import (
    drop_caches,
    replay,
    resident_blocks,
    storage_of,
)
from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.core.errors import (
    BadDataError,
    NoInputError,
    StorageError,
    ToolError,
)
from snapcraft_compression_advisor.launch.launch_set import LaunchFile
from snapcraft_compression_advisor.launch.profile import ProfileFile
from snapcraft_compression_advisor.payload.inventory import Inventory
from snapcraft_compression_advisor.payload.scan import scan_directory

pytestmark = [pytest.mark.mounts, pytest.mark.usefixtures("nothing_left")]

LARGE_BYTES = 20 * BLOCK + 70_000


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return fill_tree(tmp_path / "source")


@pytest.fixture
def inventory(source: Path) -> Inventory:
    return scan_directory(source)


@pytest.fixture(params=CODECS)
def cold_mount(
    request: pytest.FixtureRequest, source: Path, tmp_path: Path
) -> Iterator[Mount]:
    image = make_image(source, tmp_path / "image", codec=request.param)
    with mounted(image) as mount:
        drop_caches()
        yield mount


def read_byte(path: Path, offset: int, *, advice: int = os.POSIX_FADV_NORMAL) -> None:
    with path.open("rb", buffering=0) as file:
        os.posix_fadvise(file.fileno(), 0, 0, advice)
        os.pread(file.fileno(), 1, offset)


def large(*blocks: tuple[int, int]) -> ProfileFile:
    return ProfileFile(path="lib/large", size=LARGE_BYTES, blocks=blocks)


ONE = ProfileFile(path="another-name", size=5000, blocks=((0, 0),))


def test_nothing_is_resident_at_first_and_looking_changes_nothing(
    cold_mount: Mount, inventory: Inventory
) -> None:
    for _ in range(2):
        assert resident_blocks(cold_mount.root, inventory) == ()


@pytest.mark.parametrize("advice", [os.POSIX_FADV_NORMAL, os.POSIX_FADV_RANDOM])
def test_one_byte_brings_in_its_whole_block_and_no_other(
    cold_mount: Mount, inventory: Inventory, advice: int
) -> None:
    for offset in (0, 7 * BLOCK + 3, 20 * BLOCK + 69_999):
        read_byte(cold_mount.root / "lib/large", offset, advice=advice)
    found = resident_blocks(cold_mount.root, inventory)
    assert found == (large((0, 0), (7, 7), (20, 20)),)
    with (cold_mount.root / "lib/large").open("rb") as file:
        pages = page_cache.resident_pages(file.fileno())
    assert pages.sum() == 32 + 32 + 18


def test_reading_in_sequence_reads_on(cold_mount: Mount, inventory: Inventory) -> None:
    with (cold_mount.root / "lib/large").open("rb", buffering=0) as file:
        for _ in range(64):
            file.read(4096)
    (found,) = resident_blocks(cold_mount.root, inventory)
    ((first, last),) = found.blocks
    assert first == 0
    assert last > 1


def test_file_of_two_names_counts_once_under_the_first(
    cold_mount: Mount, inventory: Inventory
) -> None:
    read_byte(cold_mount.root / "lib/one", 0)
    assert resident_blocks(cold_mount.root, inventory) == (ONE,)


def launch_files(*files: ProfileFile) -> tuple[LaunchFile, ...]:
    return tuple(
        LaunchFile(path=file.path, size_bytes=file.size, blocks=file.blocks)
        for file in files
    )


@pytest.mark.parametrize(
    "blocks",
    [
        ((0, 0),),
        ((1, 1), (3, 3)),
        ((0, 4), (19, 20)),
        ((20, 20),),
        ((0, 20),),
    ],
)  # fmt: skip
def test_replay_reads_the_blocks_of_the_profile_and_no_other(
    cold_mount: Mount, inventory: Inventory, blocks: tuple[tuple[int, int], ...]
) -> None:
    files = (ONE, large(*blocks))
    assert replay(cold_mount.root, launch_files(*files)) > 0
    assert resident_blocks(cold_mount.root, inventory) == files


def test_replay_ends_with_a_file(cold_mount: Mount, inventory: Inventory) -> None:
    replay(cold_mount.root, launch_files(large((20, 9000))))
    assert resident_blocks(cold_mount.root, inventory) == (large((20, 20)),)


@pytest.mark.parametrize("path", ["fifo", "lib", "lib/gone", "lib/one/below", "link"])
def test_replay_reads_nothing_but_files(cold_mount: Mount, path: str) -> None:
    file = ProfileFile(path=path, size=10**9, blocks=((0, 0),))
    with pytest.raises(StorageError, match="Cannot read from the mount"):
        replay(cold_mount.root, launch_files(file))


SETTINGS = Path("/sys/class/bdi")


@pytest.fixture
def image(source: Path, tmp_path: Path) -> Path:
    return make_image(source, tmp_path / "image.squashfs")


@pytest.mark.parametrize("codec", CODECS)
def test_image_of_every_codec_is_mounted_by_the_kernel(
    source: Path, tmp_path: Path, codec: str
) -> None:
    image = make_image(source, tmp_path / "image.squashfs", codec=codec)
    with mounted(image) as mount:
        content = (mount.root / "lib/large").read_bytes()
        options = os.statvfs(mount.root).f_flag
    assert content == (source / "lib/large").read_bytes()
    assert options & (os.ST_RDONLY | os.ST_NOSUID | os.ST_NODEV) == (
        os.ST_RDONLY | os.ST_NOSUID | os.ST_NODEV
    )


def test_image_is_mounted_where_it_is_told(image: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    with mounted(image, at=place) as mount:
        assert mount.root == place
        assert any(place.iterdir())
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_error_within_unmounts(image: Path, error: type[BaseException]) -> None:
    with pytest.raises(error), mounted(image):
        raise error


def test_termination_within_unmounts(image: Path) -> None:
    def end(_signal: int, _frame: object) -> None:
        raise SystemExit

    before = signal.signal(signal.SIGTERM, end)
    try:
        with pytest.raises(SystemExit), mounted(image):
            signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is end
    finally:
        signal.signal(signal.SIGTERM, before)


def test_interruption_while_mounting_waits_and_then_unmounts(
    image: Path, mocker: MockerFixture
) -> None:
    def mount_interrupted(
        file_system: str, options: str, source: str, root: Path
    ) -> subprocess.CompletedProcess[str]:
        done = run_mount(file_system, options, source, root)
        signal.raise_signal(signal.SIGINT)
        assert any(root.iterdir())
        return done

    mocker.patch.object(mount_module, "run_mount", mount_interrupted)
    with pytest.raises(KeyboardInterrupt), mounted(image):
        pytest.fail("the interruption came before")


def test_file_held_open_outlives_the_mount_and_the_device_is_freed_with_it(
    image: Path, tmp_path: Path
) -> None:
    with mounted(image) as mount:
        held = (mount.root / "lib/large").open("rb")
    with held:
        assert mount_points_below(tmp_path) == []
        assert len(loop_devices_of(tmp_path)) == 1
        assert len(held.read()) == 20 * 131072 + 70_000
    assert loop_devices_of(tmp_path) == []


def test_read_ahead_is_set_for_the_mount_and_put_back(
    image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mount_module, "UBUNTU_READ_AHEAD_KB", 512)
    before = {path: path.read_text() for path in SETTINGS.glob("7:*/read_ahead_kb")}
    with ExitStack() as stack:
        with mounted(image) as mount:
            assert mount.read_ahead_kb == 512
            device = mount.root.stat().st_dev
            setting = SETTINGS / f"{os.major(device)}:{os.minor(device)}/read_ahead_kb"
            assert setting.read_text() == "512\n"
            # A file that is held open keeps the device from others until it's closed.
            stack.enter_context((mount.root / "lib/one").open("rb"))
        assert setting.read_text() == before[setting]


def test_codec_that_the_kernel_lacks_is_named_with_the_kernel(image: Path) -> None:
    raw = bytearray(image.read_bytes())
    raw[20:22] = (2).to_bytes(2, "little")  # lzma, which Linux never could read
    image.write_bytes(raw)
    with pytest.raises(ToolError) as caught, mounted(image):
        pytest.fail("mounted")
    assert platform.release() in str(caught.value)
    assert "lzma" in str(caught.value)


def test_what_is_no_image_is_refused_before_mounting(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.write_bytes(bytes(5000))
    with pytest.raises(BadDataError), mounted(foreign):
        pytest.fail("mounted")
    with pytest.raises(NoInputError), mounted(tmp_path / "nowhere"):
        pytest.fail("mounted")


def test_images_can_be_mounted_only_with_the_right_and_a_loop_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert can_mount()
    with no_right_to_mount():
        assert not can_mount()
    monkeypatch.setattr(mount_module, "LOOP_CONTROL", tmp_path / "no/loop-control")
    assert not can_mount()


def test_without_the_right_to_mount_nothing_is(image: Path) -> None:
    with (
        no_right_to_mount(),
        pytest.raises(ToolError, match="may not mount") as caught,
        ExitStack() as stack,
    ):
        stack.enter_context(mounted(image))
    assert "root" in str(caught.value.resolution)


def test_caches_are_dropped(image: Path, tmp_path: Path) -> None:
    written = tmp_path / "not yet on the disk"
    with mounted(image) as mount:
        assert mount == Mount(root=mount.root, read_ahead_kb=128)
        path = mount.root / "lib/large"
        path.read_bytes()
        written.write_bytes(bytes(1024 * 1024))
        assert storage_of(path) == "memory"
        drop_caches()
        assert storage_of(path) == "disk"
    assert storage_of(written) == ("memory" if is_in_memory(tmp_path) else "disk")
