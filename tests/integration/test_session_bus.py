"""The session bus of an isolated launch."""

import errno
import os
import shutil
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from real_launches import SNAP_YAML, fill_launchable
from real_payloads import advisor
from snapcraft_compression_advisor.capture.servers import private_server, session_bus
from snapcraft_compression_advisor.core.errors import StorageError, ToolError

pytestmark = pytest.mark.slow

needs_bus = pytest.mark.skipif(
    shutil.which("dbus-daemon") is None or shutil.which("gdbus") is None,
    reason="needs dbus-daemon and gdbus",
)
ASKS = (
    "gdbus call --session --dest org.freedesktop.DBus "
    "--object-path /org/freedesktop/DBus --method org.freedesktop.DBus.ListNames"
)


def record(tmp_path: Path, path: str) -> CompletedProcess[str]:
    """Record an app that asks the session bus who is there."""
    prime = fill_launchable(tmp_path / "prime")
    (prime / "meta/snap.yaml").write_text(
        f"{SNAP_YAML}  asks:\n    command: bin/asks\n"
    )
    (prime / "bin/asks").write_text(f"#!/bin/sh\nexec {ASKS}\n")
    (prime / "bin/asks").chmod(0o755)
    words = ("--record", "--app", "asks", "--until", "exit")
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "PATH": path}
    return advisor("advise", prime, *words, cwd=None, status=None, **cache)


def tools_without(tmp_path: Path, *absent: str) -> str:
    """Return a PATH with this machine's programs but some."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for directory in reversed(os.get_exec_path()):
        for program in Path(directory).glob("*"):
            (tools / program.name).unlink(missing_ok=True)
            if program.name not in absent:
                (tools / program.name).symlink_to(program)
    return str(tools)


@needs_bus
@pytest.mark.bubblewrap
def test_isolated_app_has_a_session_bus(tmp_path: Path) -> None:
    ran = record(tmp_path, tools_without(tmp_path, ""))
    assert ran.returncode == 0, ran.stderr


@pytest.mark.skipif(shutil.which("gdbus") is None, reason="needs gdbus")
@pytest.mark.bubblewrap
def test_without_a_bus_the_error_names_the_package(tmp_path: Path) -> None:
    ran = record(tmp_path, tools_without(tmp_path, "dbus-daemon"))
    assert ran.returncode == 69
    assert "sudo apt-get install dbus-daemon" in ran.stderr


@needs_bus
@pytest.mark.parametrize("name", ["a folder & more", "long" * 30])
def test_bus_ends_with_its_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    scratch = tmp_path / name
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    with session_bus() as bus:
        assert bus is not None
        assert bus.is_socket()
    assert not bus.parent.exists()
    assert list(scratch.iterdir()) == []


@needs_bus
def test_bus_that_does_not_start_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dbus-daemon").write_text("#!/bin/sh\necho no memory >&2\nexit 1\n")
    (tmp_path / "dbus-daemon").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with (
        pytest.raises(ToolError, match="dbus-daemon did not start") as raised,
        session_bus(),
    ):
        pass
    assert raised.value.details == "no memory"


def test_server_whose_files_cannot_be_written_is_reported() -> None:
    def words(_directory: Path, _line_end: int) -> tuple[str, ...]:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = len([*Path("/proc/self/fd").iterdir()])
    with (
        pytest.raises(StorageError, match="No space left"),
        private_server("server", words, resolution=""),
    ):
        pass
    assert len([*Path("/proc/self/fd").iterdir()]) == before
