"""Installed snaps, found in a played mount table."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from snapcraft_compression_advisor.capture import installed
from snapcraft_compression_advisor.capture.installed import (
    SnapRoots,
    find_installed,
    find_stack,
    image_facts,
    split_app_name,
)
from snapcraft_compression_advisor.core.errors import (
    NoInputError,
    ToolError,
    UsageError,
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


def test_image_of_a_mount_that_is_no_loop_device_is_not_known(
    machine: Machine,
) -> None:
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
