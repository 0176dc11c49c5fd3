"""Installed snaps, and recording one with launches that are only played."""

import argparse
import os
import pwd
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from payloads import make_payload
from snapcraft_compression_advisor.capture import installed
from snapcraft_compression_advisor.capture import record_installed as module
from snapcraft_compression_advisor.capture.installed import (
    InstalledSnap,
    MountedSnap,
    SnapRoots,
    find_installed,
    find_stack,
    image_facts,
    installed_snap,
    split_app_name,
)
from snapcraft_compression_advisor.capture.launch_event import EXITED
from snapcraft_compression_advisor.capture.record_installed import record_installed
from snapcraft_compression_advisor.capture.start import Command, Launched, LaunchRequest
from snapcraft_compression_advisor.cli.command_texts import command_parser
from snapcraft_compression_advisor.cli.record import (
    RecordCommand,
    installed_profile,
    installed_summary,
)
from snapcraft_compression_advisor.core.errors import (
    NoInputError,
    ToolError,
    UsageError,
)
from snapcraft_compression_advisor.launch.profile import (
    LaunchProfile,
    ProfileFile,
    profile_text,
)
from snapcraft_compression_advisor.payload.snap_yaml import SnapMetadata


class Machine:
    """A machine with snaps that are mounted, as far as its files say so."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.roots = SnapRoots(
            mounts=directory / "snap", state=directory / "state", program="snap"
        )
        self._table = directory / "mountinfo"
        self._table.write_text("")
        monkeypatch.setattr(installed, "_MOUNT_TABLE", self._table)
        monkeypatch.setattr(installed, "_BLOCK_DEVICES", directory / "block")
        (self.roots.state / "mount").mkdir(parents=True)

    def install(
        self, name: str, revision: str, device: str, kind: str = "squashfs"
    ) -> None:
        place = self.roots.mounts / name / revision
        place.mkdir(parents=True)
        (self.roots.mounts / name / "current").symlink_to(revision)
        with self._table.open("a") as table:
            table.write(f"30 1 {device} / {place} ro shared:9 - {kind} /dev/loop0 ro\n")

    def fstab(self, name: str, *sources: str) -> None:
        lines = "".join(f"{each} /snap/x none bind,ro 0 0\n" for each in sources)
        (self.roots.state / f"mount/snap.{name}.fstab").write_text(lines)

    def stack(self, name: str = "hello", base: str = "core24") -> list[tuple[str, str]]:
        own = find_installed(name, self.roots)
        metadata = SnapMetadata(name="hello", base=base)
        return [
            (each.role, each.name) for each in find_stack(own, metadata, self.roots)
        ]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine(tmp_path, monkeypatch)
    machine.install("hello", "x1", "7:0")
    machine.install("core24", "3", "7:1")
    return machine


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("firefox", ("firefox", None)),
        ("firefox.geckodriver", ("firefox", "geckodriver")),
        ("hello_second.Hello-2", ("hello_second", "Hello-2")),
    ],
)
def test_app_is_named_as_snap_run_takes_it(
    text: str, expected: tuple[str, str | None]
) -> None:
    assert split_app_name(text) == expected


@pytest.mark.parametrize("text", ["", "a/b", "../x", "x.snap.y", "a b", "x_", "-x\n"])
def test_what_names_no_snap_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="isn't the name of a snap"):
        split_app_name(text)


def test_app_runs_on_its_base_and_its_content_snaps(machine: Machine) -> None:
    machine.install("gnome", "5", "7:2")
    machine.install("snapd", "9", "7:3")
    machine.install("other", "1", "7:4")
    machine.fstab("hello", "/snap/gnome/5", "/snap/hello/x1/etc", "/snap/gone/1", "/x")
    assert machine.stack() == [
        ("app", "hello"),
        ("content", "gnome"),
        ("base", "core24"),
        ("snapd", "snapd"),
    ]


def test_core_brings_snapds_programs_where_it_is_no_base(machine: Machine) -> None:
    machine.install("core", "9", "7:3")
    assert machine.stack()[-1] == ("snapd", "core")
    assert machine.stack(base="core")[-1] == ("base", "core")


def test_parallel_instance_has_a_mount_of_its_own(machine: Machine) -> None:
    machine.install("hello_two", "4", "7:5")
    machine.fstab("hello_two", "/snap/hello/4/lib")
    own = find_installed("hello_two", machine.roots)
    assert (own.name, own.snap_name, own.revision) == ("hello_two", "hello", "4")
    assert machine.stack("hello_two") == [("app", "hello_two"), ("base", "core24")]


def test_base_that_is_missing_is_named(machine: Machine) -> None:
    with pytest.raises(NoInputError, match="'core22' of snap 'hello' isn't installed"):
        machine.stack(base="core22")


def test_directory_of_snap_try_is_no_mount(machine: Machine) -> None:
    place = machine.roots.mounts / "tried/x2"
    place.mkdir(parents=True)
    (machine.roots.mounts / "tried/current").symlink_to("x2")
    with pytest.raises(NoInputError, match="isn't mounted from an image") as caught:
        find_installed("tried", machine.roots)
    assert "snap try" in str(caught.value.resolution)


def test_disabled_snap_is_told_from_one_that_is_not_installed(machine: Machine) -> None:
    (machine.roots.state / "snaps").mkdir()
    (machine.roots.state / "snaps/idle_12.snap").touch()
    with pytest.raises(NoInputError, match="'idle' is disabled"):
        find_installed("idle", machine.roots)
    with pytest.raises(NoInputError, match="'idl' isn't installed"):
        find_installed("idl", machine.roots)


def test_image_of_a_mount_that_is_no_loop_device_is_not_known(machine: Machine) -> None:
    own = find_installed("hello", machine.roots)
    assert image_facts(own) == (None, None)
    assert own.read_ahead_kb is None


def test_image_that_is_gone_or_broken_has_no_facts(
    machine: Machine, tmp_path: Path
) -> None:
    own = find_installed("hello", machine.roots)
    backing = tmp_path / "block/7:0/loop/backing_file"
    backing.parent.mkdir(parents=True)
    backing.write_text(f"{tmp_path}/gone.snap\n")
    assert image_facts(own) == (None, None)
    (tmp_path / "gone.snap").write_bytes(b"no image")
    assert image_facts(own) == (None, None)


def command(instance: str = "hello", app: str = "hello") -> tuple[str, ...]:
    with installed.snap_run(instance, app, program="/usr/bin/snap") as found:
        assert found.installed
        return found.words


def test_app_is_run_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUDO_UID", raising=False)
    assert command() == ("/usr/bin/snap", "run", "hello")
    assert command(app="tool")[-1] == "hello.tool"
    assert command("hello_two")[-1] == "hello_two"
    assert command("hello_two", "tool")[-1] == "hello_two.tool"


def test_under_sudo_the_app_is_that_of_the_user(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    account = pwd.struct_passwd(("jo", "x", 1234, 100, "", "/home/jo", "/bin/sh"))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(pwd, "getpwuid", lambda _: account)
    monkeypatch.setenv("SUDO_UID", "1234")
    monkeypatch.setenv("HOME", "/root")
    monkeypatch.delenv("XAUTHORITY", raising=False)
    with installed.snap_run("hello", "hello", program="snap") as found:
        assert found.words[:3] == ("setpriv", "--reuid=1234", "--regid=100")
        assert found.environment["HOME"] == "/home/jo"
        assert found.environment["XDG_RUNTIME_DIR"] == "/run/user/1234"


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("/user.slice/session-3.scope is not a snap cgroup", "session of its user"),
        ("ERROR: not connected to the gnome-42-2204 content interface.", "connections"),
        ("snap is inhibited from running", "refresh"),
        ("Authorization required, but no authorization protocol", "/run/user/UID"),
        ("Segmentation fault", "try it"),
    ],
)
def test_what_snapd_says_becomes_advice(said: str, advice: str) -> None:
    failed = ToolError("'snap run hello' ended", details=said, resolution="try it")
    with (
        pytest.raises(ToolError) as caught,
        installed.snap_run("hello", "hello", program="snap"),
    ):
        raise failed
    assert advice in str(caught.value.resolution)


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
            event="exit", wall_s=COLD if frozen else WARM, user_s=0.5, system_s=0.25
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
