"""Recording an installed snap, with launches and a page cache that are only played."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from payloads import make_payload
from snapcraft_compression_advisor.capture import installed
from snapcraft_compression_advisor.capture import record_installed as module
from snapcraft_compression_advisor.capture.installed import (
    InstalledSnap,
    MountedSnap,
    SnapRoots,
    installed_snap,
)
from snapcraft_compression_advisor.capture.launch_event import EXITED
from snapcraft_compression_advisor.capture.record_installed import (
    record_installed,
)
from snapcraft_compression_advisor.capture.start import Command, Launched, LaunchRequest
from snapcraft_compression_advisor.cli.command_texts import command_parser
from snapcraft_compression_advisor.cli.record import (
    RecordCommand,
    installed_profile,
    installed_summary,
)
from snapcraft_compression_advisor.core.errors import UsageError
from snapcraft_compression_advisor.launch.profile import (
    LaunchProfile,
    ProfileFile,
    profile_text,
)

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from pytest_mock import MockerFixture

ROOTS = SnapRoots(mounts=Path("/snap"), state=Path("/state"), program="snap")
COLD, WARM = 2.0, 0.5


def mounted(role: str, name: str, device: str) -> MountedSnap:
    return MountedSnap(
        role=role,  # type: ignore[arg-type] # one of its four words
        name=name,
        revision="x1",
        place=Path(f"/snap/{name}/x1"),
        device=device,
    )


OWN, BASE = mounted("app", "hello_two", "no:0"), mounted("base", "core24", "no:1")
MESA = mounted("content", "mesa", "no:2")


def file(*blocks: tuple[int, int]) -> ProfileFile:
    return ProfileFile(path="lib/a", size=20 * 128 * 1024, blocks=blocks)


class Played:
    """Plays the machine, and notes what is done to it.

    :ivar before: what is in the cache of each mount after it was dropped.
    :ivar after: what is there at the event.
    """

    def __init__(self, mocker: MockerFixture) -> None:
        self.done: list[str] = []
        self.before: dict[str, ProfileFile] = {}
        self.after = {OWN.name: file((0, 0)), BASE.name: file((0, 11))}
        self.drops = [0] * 20
        self.is_at_event = False
        for name in (
            "drop_caches", "cache_drops", "resident_blocks", "scan_directory",
            "time_launch",
        ):  # fmt: skip
            mocker.patch.object(module, name, getattr(self, name))

    def drop_caches(self) -> None:
        self.done.append("drop")

    def cache_drops(self) -> int:
        return self.drops.pop(0)

    def scan_directory(self, _place: Path) -> None:
        return None

    def resident_blocks(self, root: Path, _: object) -> tuple[ProfileFile, ...]:
        known = self.after if self.is_at_event else self.before
        found = known.get(root.parent.name)
        return () if found is None else (found,)

    def time_launch(
        self, *_: object, frozen: Callable[[], object] | None = None
    ) -> Launched:
        self.done.append("launch")
        if frozen is not None:
            self.is_at_event = True
            frozen()
            self.is_at_event = False
        return Launched(
            event="exit",
            wall_s=COLD if frozen else WARM,
            user_s=0.5,
            system_s=0.25,
        )


@pytest.fixture
def played(mocker: MockerFixture) -> Played:
    return Played(mocker)


def recorded(*, warm_up: bool = True) -> tuple[LaunchProfile, list[str]]:
    """Return what is recorded, and what is said of it."""
    payload = make_payload(
        {"lib/a": bytes(file().size)}, apps={"hello": {"command": "bin/hello"}}
    )
    snap = InstalledSnap(payload=payload, stack=(OWN, MESA, BASE))
    launch = LaunchRequest(
        app="hello",
        command=Command(words=("snap", "run", "hello"), installed=True),
        event=EXITED,
        timeout_s=1,
        warm_up=warm_up,
    )
    notes: list[str] = []
    return record_installed(snap, launch, lambda _: None, note=notes.append), notes


def blocks(profile: LaunchProfile) -> dict[str, tuple[tuple[int, int], ...]]:
    return {
        each.name: tuple(pair for file in each.files for pair in file.blocks)
        for each in profile.payloads or ()
    }


def test_launch_is_cold_after_caches_were_dropped_twice(played: Played) -> None:
    profile, notes = recorded()
    # Looking at what stays brings something in again.
    assert played.done == ["launch", "drop", "drop", "launch", "launch"]
    assert profile.warm_s == WARM
    assert profile.recorded is not None
    assert profile.recorded.cold_s == COLD
    assert notes == []
    assert LaunchProfile.model_validate_json(profile_text(profile)) == profile


def test_app_is_not_launched_before_where_that_is_not_wanted(played: Played) -> None:
    recorded(warm_up=False)
    assert played.done == ["drop", "drop", "launch", "launch"]


def test_blocks_that_other_programs_use_are_not_counted_and_said_to_be_there(
    played: Played,
) -> None:
    played.before[BASE.name] = file((0, 8))
    profile, notes = recorded()
    assert blocks(profile)["core24"] == ((9, 11),)
    (note,) = notes
    assert note == (
        "Warning: running programs use up to 1.2 MB of snap 'core24', which the launch "
        "then didn't read"
    )


def test_user_who_is_not_root_is_told_to_use_sudo(mocker: MockerFixture) -> None:
    mocker.patch.object(installed, "can_drop_caches", return_value=False)
    with (
        pytest.raises(UsageError, match="needs root") as caught,
        installed_snap("hello", ROOTS),
    ):
        pass
    assert "sudo" in str(caught.value.resolution)


def parsed(*arguments: str) -> argparse.Namespace:
    return command_parser(RecordCommand).parse_args(
        ["--installed", "hello", *arguments]
    )


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        (("prime",), "PATH"),
        (("--app", "other"), "--app"),
        (("--home", "home"), "--home"),
        (("--chroot",), "--chroot"),
        (("--unconfined",), "--unconfined"),
        (("--method", "directory"), "--method"),
    ],
)
def test_options_of_a_payload_that_is_not_installed_are_refused(
    arguments: tuple[str, ...], given: str
) -> None:
    with pytest.raises(UsageError, match=f"Both --installed and {given} are given"):
        installed_profile(parsed(*arguments))


@pytest.mark.usefixtures("played")
def test_summary_names_each_snap() -> None:
    profile, _ = recorded()
    assert list(installed_summary(profile)) == [
        "app hello: 1 file, 1 block of 128 KiB",
        "content mesa: 0 files, 0 blocks of 128 KiB",
        "base core24: 1 file, 12 blocks of 128 KiB",
    ]
