"""What is said of an isolated app that can't do what it wants to."""

from pathlib import Path

import pytest

from real_launches import SNAP_YAML, add_escape, fill_launchable
from real_payloads import advisor

CONNECTS = (
    "exec /usr/bin/python3 -c "
    "'import socket, sys; sys.tracebacklimit = 0; "
    'socket.create_connection(("192.0.2.1", 80))\''
)
FAILURES = {
    CONNECTS: ("ended with status 1", "has no network"),
    "echo > $SNAP/data/new": ("ended with status", "read-only"),
    "sh -c 'kill -SEGV $$'; exit $?": ("status 139 (128 + SIGSEGV)", "on its own"),
    "exit 130": ("ended with status 130 (128 + SIGINT)", "on its own"),
    "exit 255": ("ended with status 255", "on its own"),
}


@pytest.mark.bubblewrap
@pytest.mark.parametrize("script", FAILURES)
@pytest.mark.parametrize("command", ["advise", "lint"])
def test_failure_says_what_to_do(tmp_path: Path, command: str, script: str) -> None:
    prime = fill_launchable(tmp_path / "prime")
    (prime / "meta/snap.yaml").write_text(f"{SNAP_YAML}  bad:\n    command: bin/bad\n")
    (prime / "bin/bad").write_text(f"#!/bin/sh\n{script}\n")
    (prime / "bin/bad").chmod(0o755)
    arguments = ("--record", "--app", "bad", "--until", "exit")
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    ran = advisor(command, prime, *arguments, cwd=None, status=None, **cache)
    problem, advice = FAILURES[script]
    assert ran.returncode == 69
    # An unreadable payload's error stands once, in what lint prints.
    text = ran.stdout if command == "lint" else ran.stderr
    assert problem in text
    assert advice in text
    assert not (prime / "data/new").exists()


STARTS = (
    "record --method directory --until exit",
    "advise --record --until exit",
    "lint --record --until exit",
    pytest.param("measure --codec lzo --runs 1 --until exit", marks=pytest.mark.mounts),
)


@pytest.mark.bubblewrap
@pytest.mark.parametrize("command", STARTS)
def test_commands_that_start_an_app_isolate_it(tmp_path: Path, command: str) -> None:
    prime = fill_launchable(tmp_path / "prime")
    (prime / "bin/launchy").write_text(
        f"#!/bin/sh\ncat $SNAP/data/first > /dev/null\necho > {tmp_path}/escaped\n"
        "echo started >&2; exit 3\n"
    )
    name, *options = command.split()
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    ran = advisor(
        name, prime, *options, "--app", "launchy", cwd=None, status=None, **cache
    )
    assert "ended with status 3" in ran.stdout + ran.stderr, ran.stderr
    assert not (tmp_path / "escaped").exists()


def test_without_isolation_the_same_app_writes_there(tmp_path: Path) -> None:
    prime = fill_launchable(tmp_path / "prime")
    add_escape(prime / "bin/launchy", tmp_path / "escaped")
    options = ("--method", "directory", "--until", "exit", "--unconfined")
    advisor("record", prime, *options, "--app", "launchy", cwd=None, status=0)
    assert (tmp_path / "escaped").exists()
