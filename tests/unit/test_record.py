"""Recordings with launches that are only played, and those that are kept."""

import mmap
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from pytest_mock import MockerFixture

from elf_files import make_elf
from payloads import make_payload
from snapcraft_compression_advisor.capture import page_cache, record
from snapcraft_compression_advisor.capture.launch_event import EXITED
from snapcraft_compression_advisor.capture.page_cache import check_visible, evict
from snapcraft_compression_advisor.capture.page_tables import Touch
from snapcraft_compression_advisor.capture.record import (
    directory_files,
    record_residency,
    with_doubt,
)
from snapcraft_compression_advisor.capture.recordings import (
    Reporter,
    in_place,
    recorded_profiles,
)
from snapcraft_compression_advisor.capture.start import Command, Launched, LaunchRequest
from snapcraft_compression_advisor.codecs.codec import DATA_BLOCK_BYTES
from snapcraft_compression_advisor.core.errors import ToolError, UsageError
from snapcraft_compression_advisor.launch import fit
from snapcraft_compression_advisor.launch.fit import fit_profile
from snapcraft_compression_advisor.launch.profile import (
    LaunchProfile,
    ProfileFile,
    RecordedLaunch,
)
from snapcraft_compression_advisor.launch.stack import find_parts
from snapcraft_compression_advisor.payload.scan import scan_directory
from snapcraft_compression_advisor.payload.source import DirectoryPayload, open_payload
from snapcraft_compression_advisor.settings.parts import Recording
from trees import fill

FILES = (ProfileFile(path="a", size=9, blocks=((0, 0),)),)


class Played:
    """Plays the machine, and notes what is done to it."""

    def __init__(self, mocker: MockerFixture) -> None:
        self.done: list[str] = []
        self.drops = [0] * 20
        for name in (
            "mounted", "packed_images", "mount_point", "drop_caches", "time_launch",
            "resident_blocks", "storage_of", "cache_drops",
        ):  # fmt: skip
            mocker.patch.object(record, name, getattr(self, name))

    @contextmanager
    def mounted(self, image: Path, **_: object) -> Iterator[SimpleNamespace]:
        self.done.append(f"mount {image}")
        yield SimpleNamespace(root=Path("/mnt"), read_ahead_kb=128)
        self.done.append("unmount")

    @contextmanager
    def packed_images(self, *_: object, **__: object) -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(paths={"none": Path("image")})

    @contextmanager
    def mount_point(self) -> Iterator[Path]:
        yield Path("/mnt")

    def drop_caches(self) -> None:
        self.done.append("drop")

    def storage_of(self, _image: Path) -> str:
        return "disk"

    def resident_blocks(self, *_: object) -> tuple[ProfileFile, ...]:
        self.done.append("look")
        return FILES

    def cache_drops(self) -> int:
        return self.drops.pop(0)

    def time_launch(self, *_: object, **options: object) -> Launched:
        self.done.append("launch")
        frozen = options.get("frozen")
        if callable(frozen):
            frozen()
        cold = frozen is not None
        return Launched(
            event="exit", wall_s=2.00004 if cold else 1, user_s=0.5, system_s=0.25
        )


def run(*, warm_up: bool = True) -> LaunchProfile:
    request = LaunchRequest(
        app="hello",
        command=Command(words=("x",)),
        event=EXITED,
        timeout_s=1,
        warm_up=warm_up,
    )
    return record_residency(make_payload({"a": bytes(9)}), request, lambda _: None)


def test_cold_launch_follows_a_warm_up_from_another_mount(
    mocker: MockerFixture,
) -> None:
    played = Played(mocker)
    profile = run()
    assert played.done == [
        "mount image", "launch", "unmount",
        "mount image", "drop", "launch", "look", "launch", "unmount",
    ]  # fmt: skip
    assert (profile.source, profile.app, profile.warm_s) == ("residency", "hello", 1)
    assert profile.files == FILES


def test_figures_are_kept_in_short(mocker: MockerFixture) -> None:
    Played(mocker)
    recorded = run().recorded
    assert recorded is not None
    assert (recorded.cold_s, recorded.warm_s, recorded.event) == (2.0, 1.0, "exit")
    assert recorded.cold_cpu_s is not None
    assert recorded.cold_cpu_s.user == 0.5
    assert recorded.storage == "disk"


def test_disturbed_launch_is_repeated_and_given_up_at_last(
    mocker: MockerFixture,
) -> None:
    played = Played(mocker)
    played.drops = [1, 2, 2, 2]
    run()
    assert played.done.count("look") == 2
    played.drops = list(range(20))
    with pytest.raises(ToolError, match="dropped the system's caches"):
        run()


SIZE_BYTES = 8 * DATA_BLOCK_BYTES
BLOCK_PAGES = DATA_BLOCK_BYTES // mmap.PAGESIZE
LIBRARY = make_elf().ljust(SIZE_BYTES, b"x")
PAYLOAD = make_payload({"lib/libx.so": LIBRARY, "data": b"x" * SIZE_BYTES})
ALL = ((0, 7),)


def cached(path: str, *blocks: tuple[int, int]) -> ProfileFile:
    return ProfileFile(path=path, size=SIZE_BYTES, blocks=blocks)


def files(
    *resident: ProfileFile, **touches: list[Touch]
) -> dict[str, tuple[tuple[int, int], ...]]:
    found = directory_files(PAYLOAD, resident, {"lib/libx.so": [], **touches})
    return {file.path: file.blocks for file in found}


def test_read_file_has_the_blocks_in_the_cache() -> None:
    assert files(cached("data", (0, 1))) == {"data": ((0, 1),)}


def test_mapped_file_has_what_a_mount_reads_not_what_the_directory_read_ahead() -> None:
    page = 3 * BLOCK_PAGES + BLOCK_PAGES - 1
    found = files(cached("data", *ALL), data=[Touch(first=page, last=page)])
    assert found == {"data": ((0, 0), (3, 4))}


def test_mapped_file_of_which_nothing_was_read_is_left_out() -> None:
    assert files(data=[]) == {}
    assert files(cached("data", (0, 0)), data=[]) == {"data": ((0, 0),)}


def test_file_that_was_seen_read_has_what_a_mount_reads() -> None:
    touch = Touch(first=3 * BLOCK_PAGES, last=3 * BLOCK_PAGES, is_read=True)
    assert files(cached("data", *ALL), data=[touch]) == {"data": ((3, 3),)}


@pytest.fixture
def drops(tmp_path: Path, mocker: MockerFixture) -> Iterator[list[int]]:
    """Play launches during which the caches are dropped so often."""
    counts: list[int] = []
    launched = Launched(event="exit", wall_s=1.0, user_s=0.0, system_s=0.0)
    mocker.patch.object(record, "time_launch", return_value=launched)
    mocker.patch.object(record, "evict", return_value=())
    mocker.patch.object(record, "cache_drops", side_effect=lambda: counts.pop(0))
    fill(tmp_path, {"meta/snap.yaml": "name: a\nversion: '1'\n"})
    yield counts
    assert counts == []


def recorded(path: Path) -> LaunchProfile:
    request = LaunchRequest(
        app="a", command=Command(words=("a",)), event=EXITED, timeout_s=9
    )
    with open_payload(path) as payload:
        return record.record_directory(payload, request, lambda _: None)


def test_drop_that_ends_behind_the_last_look_is_noticed(
    tmp_path: Path, drops: list[int]
) -> None:
    # Counted before the cold launch, and after the warm one.
    drops += [4, 5, 5, 5]
    assert recorded(tmp_path).source == "directory"


def profile(*resident: ProfileFile) -> LaunchProfile:
    found = directory_files(PAYLOAD, resident, {})
    return LaunchProfile(source="directory", app="hello", app_files=tuple(found))


@pytest.mark.parametrize(("blocks", "window"), [(2, "early"), (40, "drawn")])
def test_window_before_most_of_what_is_guessed_may_not_be_the_apps_own(
    blocks: int, window: str
) -> None:
    size = 40 * DATA_BLOCK_BYTES
    program = make_elf().ljust(size, b"x")
    apps = {"hello": {"command": "bin/hello"}}
    payload = make_payload({"bin/hello": program}, base="bare", apps=apps)
    (guess,), _ = find_parts(payload, "hello", None)
    assert guess.launch_set.expected_blocks > 10
    read = ProfileFile(path="bin/hello", size=size, blocks=((0, blocks - 1),))
    ended = RecordedLaunch(event="window", window="drawn", processors=2, kernel="6.8")
    profile = LaunchProfile(source="residency", app="hello", app_files=(read,))
    profile = profile.model_copy(update={"recorded": ended})
    notes: list[str] = []
    doubted = with_doubt(profile, payload, notes.append)
    assert doubted.recorded is not None
    assert doubted.recorded.window == window
    assert len(notes) == (window == "early")
    (known,), _ = find_parts(payload, "hello", doubted)
    reached = known.launch_set.read_share.high * known.launch_set.expected_blocks
    assert (reached >= guess.launch_set.expected_blocks) or window == "drawn"
    assert with_doubt(profile, None, notes.append) is profile


def test_interval_is_that_of_recordings_from_directories() -> None:
    seen = fit_profile(profile(cached("data", *ALL)), PAYLOAD.inventory).launch_set
    assert seen.read_share == fit.DIRECTORY_READ_SHARE
    assert seen.method == "directory"


def test_file_in_memory_can_not_be_evicted(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"x" * SIZE_BYTES)
    (tmp_path / "empty").touch()
    with (
        (tmp_path / "data").open("rb") as file,
        mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapping,
    ):
        assert mapping[0]
        with pytest.raises(ToolError, match="be evicted from the page cache: 'data'"):
            evict(tmp_path, scan_directory(tmp_path))


def test_file_of_another_user_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").write_bytes(b"x")
    inventory = scan_directory(tmp_path)
    check_visible(tmp_path, inventory)
    (tmp_path / "data").chmod(0o444)
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    monkeypatch.setattr(page_cache, "CAP_FOWNER", 63)
    with pytest.raises(ToolError, match="'data' belongs to another user"):
        check_visible(tmp_path, inventory)


SNAP_YAML = "name: sample\napps: {sample: {command: bin/sample}, other: {}}\n"


@pytest.fixture
def prime(tmp_path: Path) -> Path:
    payload = tmp_path / "prime"
    (payload / "meta").mkdir(parents=True)
    (payload / "meta/snap.yaml").write_text(SNAP_YAML)
    (payload / "bin").mkdir()
    (payload / "bin/sample").write_text("#!/bin/sh\n")
    (payload / "bin/sample").chmod(0o755)
    (payload / "bin/link").symlink_to("sample")
    return payload


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def reporter(said: list[str]) -> Reporter:
    def say(kind: str) -> Callable[[str], None]:
        return lambda text: said.append(f"{kind}: {text}")

    return Reporter(progress=lambda _: None, note=say("note"), warn=say("warn"))


@pytest.fixture
def _nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.delenv("DISPLAY", raising=False)


def test_recorded_launch_takes_the_place_of_a_file() -> None:
    def profile(app: str, warm_s: float) -> LaunchProfile:
        return LaunchProfile(source="residency", app=app, warm_s=warm_s, app_files=())

    known = [profile("a", 1), profile("b", 1)]
    assert in_place(known, [profile("b", 2)]) == (profile("a", 1), profile("b", 2))


def test_component_has_no_launch_to_record(prime: Path, reporter: Reporter) -> None:
    component = DirectoryPayload(prime, component="more")
    assert recorded_profiles(component, [Recording()], reporter) == ()


def test_app_that_is_not_there_is_an_error_even_if_not_required(
    prime: Path, reporter: Reporter
) -> None:
    with pytest.raises(UsageError, match="has no app 'gone'"):
        recorded_profiles(DirectoryPayload(prime), [Recording(app="gone")], reporter)


@pytest.mark.parametrize(
    ("recording", "problem"),
    [
        ({"app": "other"}, "has no app 'other' with a command"),
        ({"until": "seconds:90"}, "seconds:90 exceeds the timeout of 60 s"),
        ({"until": "window"}, "no display on which sample could show a window"),
    ],
)
@pytest.mark.usefixtures("_nothing_installed")
def test_launch_that_cannot_be_recorded_is_guessed_with_a_warning(
    prime: Path,
    reporter: Reporter,
    said: list[str],
    recording: dict[str, object],
    problem: str,
) -> None:
    wanted = Recording.model_validate(recording)
    assert recorded_profiles(DirectoryPayload(prime), [wanted], reporter) == ()
    (line,) = said
    assert line.startswith("warn: The launch of ")
    assert problem in line
    required = wanted.model_copy(update={"required": True})
    with pytest.raises((ToolError, UsageError), match=problem):
        recorded_profiles(DirectoryPayload(prime), [required], reporter)
