"""Running a program with a tree as its root: namespaces, environment, failures."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import corpus_chroot
from prime_error import PrimeError

pytestmark = pytest.mark.namespaces


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a tree in which this machine's programs run, once ``/usr`` is bound."""
    root = tmp_path / "tree"
    for name in ("usr", "proc", "dev", "tmp", "seen"):
        (root / name).mkdir(parents=True)
    for name in ("bin", "lib", "lib64"):
        (root / name).symlink_to(f"usr/{name}")
    return root


def run(tree: Path, script: str, **binds: Path) -> str:
    """Run a shell's words in the tree; names are of directories in it."""
    places = {Path("/usr"): "usr", **{path: name for name, path in binds.items()}}
    return corpus_chroot.run_in_tree(tree, ["sh", "-c", script], binds=places)


def test_a_program_has_the_tree_as_its_root_and_what_is_bound(
    tree: Path, tmp_path: Path
) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "archive").touch()
    names = run(tree, "ls / /seen", seen=tmp_path / "cache").split()
    assert {"proc", "seen", "archive"} <= set(names)
    assert not {"home", "root"} & set(names)


def test_a_programs_mounts_and_processes_are_its_own(tree: Path) -> None:
    said = run(tree, "echo $$; grep -c ' /seen ' /proc/mounts; ls /dev/null", seen=tree)
    assert said.split() == ["1", "1", "/dev/null"]
    assert str(tree) not in Path("/proc/self/mounts").read_text(encoding="utf-8")
    assert not any((tree / "usr").iterdir())


def test_a_program_gets_the_proxy_and_nothing_else_of_the_environment(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("SECRET", "trick")
    environment = run(tree, "env").splitlines()
    assert "http_proxy=http://proxy.example:3128" in environment
    assert "DEBIAN_FRONTEND=noninteractive" in environment
    assert not any(line.startswith("SECRET=") for line in environment)


def test_a_mount_that_fails_is_one_line_and_keeps_the_program_from_starting(
    tree: Path, tmp_path: Path
) -> None:
    with pytest.raises(PrimeError, match="E: Command") as raised:
        run(tree, "echo started", seen=tmp_path / "absent")
    assert "started" not in str(raised.value)
    assert raised.value.exit_status == os.EX_UNAVAILABLE


def test_a_program_of_a_tree_can_not_change_the_network_of_this_machine(
    tree: Path,
) -> None:
    capabilities = int(run(tree, "grep CapEff /proc/self/status").split()[1], base=16)
    cap_net_admin, cap_sys_admin = 12, 21
    assert not capabilities >> cap_net_admin & 1
    assert capabilities >> cap_sys_admin & 1


def test_a_program_that_isnt_there_is_one_line(tree: Path) -> None:
    with pytest.raises(
        PrimeError, match=r"no-such-program failed:\n  E: .*No such file"
    ):
        corpus_chroot.run_in_tree(tree, ["no-such-program"])


@pytest.mark.parametrize(
    ("output", "message", "status"),
    [
        (
            "reading\nE: Unable to locate package jqq\n",
            f"{sys.executable} failed:\n  E: Unable to locate package jqq",
            os.EX_UNAVAILABLE,
        ),
        (
            "Err:1 http://mirror.example\n  Temporary failure resolving 'x'\n",
            "without the network: connect and try again",
            os.EX_TEMPFAIL,
        ),
        (
            "E: write error: No space left on device\n",
            "The disk is full: free some space",
            os.EX_IOERR,
        ),
    ],
    ids=["unknown package", "no network", "disk full"],
)
def test_a_failure_says_what_to_do(output: str, message: str, status: int) -> None:
    script = f"import sys; print({output!r}); sys.exit(100)"
    with pytest.raises(PrimeError) as raised:
        corpus_chroot.run_confined([sys.executable, "-c", script])
    assert message in str(raised.value)
    assert raised.value.exit_status == status
