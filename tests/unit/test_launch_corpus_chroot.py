"""Running a program with a tree as its root: words, mounts, failures."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import corpus_chroot
from prime_error import PrimeError

if TYPE_CHECKING:
    from unittest.mock import MagicMock

    from pytest_mock import MockerFixture


@pytest.fixture
def run(mocker: MockerFixture) -> MagicMock:
    """Replace the start of a program; it ends well and says nothing."""
    done = subprocess.CompletedProcess(args=[], returncode=0, stdout="", stderr="")
    return mocker.patch("subprocess.run", return_value=done)


def failed(output: str) -> subprocess.CompletedProcess[str]:
    return subprocess.CompletedProcess(args=[], returncode=100, stdout=output)


def test_a_program_gets_namespaces_that_end_with_it(run: MagicMock) -> None:
    corpus_chroot.run_confined(["debootstrap", "bookworm"])
    words = run.call_args.args[0]
    assert words[:3] == ["setpriv", "--pdeathsig=KILL", "unshare"]
    assert {"--mount", "--propagation=private", "--pid", "--kill-child"} <= set(words)
    assert words[-2:] == ["debootstrap", "bookworm"]


def test_a_program_gets_the_proxy_and_nothing_else_of_the_environment(
    run: MagicMock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("LD_PRELOAD", "trick.so")
    corpus_chroot.run_confined(["true"])
    environment = run.call_args.kwargs["env"]
    assert environment["http_proxy"] == "http://proxy.example:3128"
    assert "LD_PRELOAD" not in environment


def test_the_part_inside_gets_what_the_caller_says(
    run: MagicMock, mocker: MockerFixture
) -> None:
    corpus_chroot.run_in_tree(
        Path("/tree"), ["apt-get", "update"], binds={Path("/cache"): "var/cache"}
    )
    words = run.call_args.args[0]
    enter = mocker.patch("corpus_chroot._enter")
    script = words.index(str(Path(corpus_chroot.__file__).resolve()))
    corpus_chroot.main(words[script + 1 :])
    enter.assert_called_once_with(
        Path("/tree"), {"/cache": "var/cache"}, ["apt-get", "update"]
    )


def test_mounts_come_before_the_change_of_root(
    run: MagicMock, mocker: MockerFixture
) -> None:
    mocker.patch("os.chroot", side_effect=lambda _: run("chroot"))
    mocker.patch("os.chdir")
    mocker.patch("os.execvp", side_effect=lambda *_: run("exec"))
    corpus_chroot.main(["/tree", "/cache", "var/cache", "--", "true"])
    calls = [call.args[0] for call in run.call_args_list]
    assert calls[-3:] == [
        ["mount", "--bind", "/cache", "/tree/var/cache"],
        "chroot",
        "exec",
    ]
    assert ["mount", "-t", "proc", "proc", "/tree/proc"] in calls


def test_a_mount_that_fails_is_one_line_and_status_127(
    mocker: MockerFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    error = subprocess.CalledProcessError(32, ["mount"])
    mocker.patch("subprocess.run", side_effect=error)
    chroot = mocker.patch("os.chroot")
    assert corpus_chroot.main(["/tree", "--", "true"]) == 127
    assert capsys.readouterr().err.startswith("E: ")
    chroot.assert_not_called()


@pytest.mark.parametrize(
    ("output", "message", "status"),
    [
        (
            "reading\nE: Unable to locate package jqq\n",
            "apt-get failed:\n  E: Unable to locate package jqq",
            os.EX_UNAVAILABLE,
        ),
        (
            "Err:1 http://mirror.example\n  Temporary failure resolving 'x'\n",
            "without the network: connect and try again",
            os.EX_UNAVAILABLE,
        ),
        (
            "E: write error: No space left on device\n",
            "The disk is full: free some space",
            os.EX_IOERR,
        ),
    ],
    ids=["unknown package", "no network", "disk full"],
)
def test_a_failure_says_what_to_do(
    run: MagicMock, output: str, message: str, status: int
) -> None:
    run.return_value = failed(output)
    with pytest.raises(PrimeError) as raised:
        corpus_chroot.run_in_tree(Path("/tree"), ["apt-get", "install", "jqq"])
    assert message in str(raised.value)
    assert raised.value.exit_status == status
