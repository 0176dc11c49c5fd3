"""Launches recorded as part of other work, as a user asks for them."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from abilities import OTHER_USER
from real_launches import SNAP_YAML, bring_xlib, fill_launchable, needs_x
from real_payloads import advisor, snap_pack
from snapcraft_compression_advisor.launch.profile import LaunchProfile, read_profile

pytestmark = [pytest.mark.bubblewrap, needs_x]
RUNS = "this runs the payload's program, isolated by bubblewrap"
MORE_APPS = """\
  client:
    command: bin/client
    desktop: meta/gui/client.desktop
  forker:
    command: bin/forker
  writer:
    command: bin/writer
  placed:
    command: bin/placed
layout:
  /usr/share/launchy/themes: {bind: $SNAP/data}
"""
CLIENT = """\
import os, time
from Xlib import X
from Xlib.display import Display
display = Display()
screen = display.screen()
open(os.environ["SNAP"] + "/data/first", "rb", buffering=0).read(1)
window = screen.root.create_window(0, 0, 300, 200, 0, screen.root_depth, X.InputOutput)
window.map()
window.fill_rectangle(window.create_gc(foreground=screen.white_pixel), 9, 9, 9, 9)
display.sync()
time.sleep(4713)
"""
PROGRAMS = {
    "forker": "setsid $SNAP/bin/client > /dev/null 2>&1 &",
    "client": "exec env PYTHONPATH=$SNAP/lib /usr/bin/python3 $SNAP/lib/client.py",
    "writer": "echo > $SNAP/data/written",
    "placed": "cat /usr/share/launchy/themes/first > /dev/null",
}


@pytest.fixture
def prime(tmp_path: Path) -> Path:
    """Return a payload with an X client, whose modules it brings."""
    payload = fill_launchable(tmp_path / "prime")
    (payload / "meta/snap.yaml").write_text(f"{SNAP_YAML}{MORE_APPS}")
    (payload / "meta/gui").mkdir()
    (payload / "meta/gui/client.desktop").touch()
    for name, text in PROGRAMS.items():
        (payload / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (payload / "bin" / name).chmod(0o755)
    (payload / "lib").mkdir()
    (payload / "lib/client.py").write_text(CLIENT)
    bring_xlib(payload / "lib")
    return payload


@pytest.fixture
def scratch(scratch: Path, tmp_path: Path) -> Iterator[Path]:
    """Return a directory for temporary files, where no process may be left either."""
    yield scratch
    assert isolated_with(tmp_path) == set()


def isolated_with(folder: Path) -> set[int]:
    """Return processes that see a payload of a folder mounted, as isolated ones do."""
    found = set()
    # Relative: /tmp may be a file system of its own.
    mounted = f"/{folder.parent.name}/{folder.name}/prime /snap/"
    for pid in psutil.pids():
        with contextlib.suppress(OSError):
            if mounted in Path(f"/proc/{pid}/mountinfo").read_text():
                found.add(pid)
    return found


@pytest.fixture
def variables(scratch: Path) -> dict[str, str]:
    return {"TMPDIR": str(scratch), "DISPLAY": ""}


def files_of(prime: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(prime)): path.read_bytes()
        for path in prime.rglob("*")
        if path.is_file()
    }


def recorded(
    payload: Path, app: str, variables: dict[str, str], folder: Path, *more: str
) -> LaunchProfile:
    """Record from the directory, as any user does."""
    output = folder / "launch.json"
    arguments = ("--app", app, "--method", "directory", *more)
    advisor(
        "record", payload, *arguments, "-o", output, cwd=None, status=0, **variables
    )
    return read_profile(output)


def test_window_of_a_real_client_ends_the_launch_on_a_display_of_its_own(
    prime: Path, variables: dict[str, str], tmp_path: Path
) -> None:
    before = files_of(prime)
    ran = advisor(
        "advise", prime, "--record", "--app", "client", cwd=None, status=0, **variables
    )
    assert f"Recording client: {RUNS}" in ran.stderr
    assert "What the app reads was " in ran.stdout
    profile = recorded(prime, "client", variables, tmp_path)
    assert profile.recorded is not None
    assert profile.recorded.event == "window"
    assert {"lib/client.py", "data/first"} <= {file.path for file in profile.files}
    assert "data/unread" not in {file.path for file in profile.files}
    assert files_of(prime) == before


def test_built_snap_is_recorded_as_its_directory_is(
    prime: Path, variables: dict[str, str], tmp_path: Path
) -> None:
    snap = snap_pack(prime, tmp_path / "packed", compression="xz")
    first, second = (
        recorded(path, "launchy", variables, tmp_path) for path in (prime, snap)
    )
    assert first.files == second.files


@pytest.mark.parametrize(
    ("arguments", "problem", "advice"),
    [
        (
            ("--app", "slow", "--timeout", "1"),
            "'bin/slow' neither ended nor showed a window within 1 s",
            "--until",
        ),
        (
            ("--app", "slow", "--until", "window", "--timeout", "500ms"),
            "'bin/slow' showed no window within 0.5 s",
            "--timeout",
        ),
        (("--app", "crash"), "'bin/crash' ended with status 7", "starts on its own"),
        (("--app", "writer"), "'bin/writer' ended with status", "read-only"),
    ],
)
def test_launch_that_fails_is_an_error_where_it_was_demanded(
    prime: Path,
    variables: dict[str, str],
    arguments: tuple[str, ...],
    problem: str,
    advice: str,
) -> None:
    before = files_of(prime)
    ran = advisor(
        "advise", prime, "--record", *arguments, cwd=None, status=69, **variables
    )
    assert problem in ran.stderr
    assert advice in ran.stderr
    assert ran.stdout == ""
    assert files_of(prime) == before


def test_processes_of_an_isolated_launch_can_be_found(
    prime: Path, variables: dict[str, str], tmp_path: Path
) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "snapcraft_compression_advisor", "advise", str(prime),
         "--record", "--app", "slow", "--until", "output:never"],
        stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        env={**os.environ, **variables},
    ) as process:  # fmt: skip
        while not isolated_with(tmp_path) and process.poll() is None:
            pass
        assert process.poll() is None
        process.terminate()


def test_app_that_forks_away_is_recorded_and_ended(
    prime: Path, variables: dict[str, str], tmp_path: Path
) -> None:
    profile = recorded(prime, "forker", variables, tmp_path, "--until", "window")
    assert "lib/client.py" in {file.path for file in profile.files}


def known_by(text: str) -> list[tuple[str, str]]:
    """Return how it is known what each app's launch reads, by an advice's text."""
    section = r"What a cold start of (\w+) (?:\([^)]*\) )?reads(?! most).*?"
    return re.findall(f"{section}(Recorded|Guessed from files)", " ".join(text.split()))


def test_settings_ask_for_several_and_get_the_guess_of_what_fails(
    prime: Path, variables: dict[str, str], tmp_path: Path
) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        "apps: [launchy, crash, placed]\nrecord: [{app: launchy}, {app: crash}]\n"
    )
    ran = advisor(
        "advise", prime, "--policy", policy, "-v", cwd=None, status=0, **variables
    )
    assert f"Recording launchy: {RUNS}" in ran.stderr
    assert "Warning: The launch of crash is guessed, not recorded: " in ran.stderr
    assert known_by(ran.stdout) == [
        ("launchy", "Recorded"),
        ("crash", "Guessed from files"),
        ("placed", "Guessed from files"),
    ]


@pytest.mark.parametrize("required", [True, False])
def test_lint_fails_only_the_payload_whose_required_launch_fails(
    prime: Path, variables: dict[str, str], tmp_path: Path, *, required: bool
) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(f"record: {{app: crash, required: {str(required).lower()}}}\n")
    other = shutil.copytree(prime, tmp_path / "other/prime")
    (other / "bin/crash").write_text("#!/bin/sh\ntrue\n")
    ran = advisor(
        "lint",
        prime,
        other,
        "--policy",
        policy,
        "--exit-zero",
        cwd=None,
        **variables,
        status=69 if required else 0,
    )
    assert ("not linted: 'bin/crash' ended with status 7" in ran.stdout) is required
    warned = "Warning: The launch of crash is guessed, not recorded" in ran.stderr
    assert warned is not required
    counted = " in 1 payload; 1 payload could not be" if required else " in 2 payloads"
    assert counted in ran.stdout


def test_no_record_starts_nothing_and_guesses_what_the_policy_has_recorded(
    prime: Path, variables: dict[str, str], tmp_path: Path
) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("record: {app: crash, required: true}\n")
    words = ("--policy", policy, "--no-record", "-v")
    ran = advisor("advise", prime, *words, cwd=None, **variables, status=0)
    assert "The launch of crash is guessed, not recorded: --no-record" in ran.stderr
    assert "Recording" not in ran.stderr
    assert known_by(ran.stdout) == [("crash", "Guessed from files")]
    ran = advisor("advise", prime, *words, "--record", cwd=None, **variables, status=69)


def test_options_that_say_how_need_one_that_says_to_record(prime: Path) -> None:
    for command in ("advise", "lint"):
        ran = advisor(command, prime, "--until", "exit", status=64)
        assert "--until is given without --record" in ran.stderr


FORBID_NAMESPACES = """
echo 0 > /proc/sys/user/max_user_namespaces
exec setpriv --bounding-set=-all --inh-caps=-all "$@"
"""
WITHOUT_NAMESPACES = (
    "unshare", "--user", "--map-root-user", "sh", "-euc", FORBID_NAMESPACES, "sh",
)  # fmt: skip


@pytest.mark.user_namespaces
@pytest.mark.parametrize("demanded", [True, False])
def test_nothing_is_started_where_nothing_isolates(
    prime: Path, variables: dict[str, str], tmp_path: Path, *, demanded: bool
) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("record: true\n")
    options = ("--record",) if demanded else ()
    ran = subprocess.run(
        [*WITHOUT_NAMESPACES, sys.executable, "-m", "snapcraft_compression_advisor",
         "advise", str(prime), "--policy", str(policy), *options],
        env={**os.environ, **variables}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    said = "The program can't be isolated here, and isn't started"
    assert said in ran.stderr
    assert "Recording" not in ran.stderr
    if demanded:
        assert ran.returncode == 69
        assert "Allow user namespaces" in ran.stderr
        assert "--unconfined" in ran.stderr
    else:
        assert ran.returncode == 0, ran.stderr
        assert f"Warning: The launch of launchy is guessed, not recorded: {said}" in (
            ran.stderr
        )
        assert "guessed from its files" in ran.stdout


def test_window_without_a_display_says_what_to_install(
    prime: Path, variables: dict[str, str]
) -> None:
    ran = advisor(
        "advise",
        prime,
        "--record",
        "--app",
        "client",
        cwd=None,
        **variables,
        PATH="/nonexistent",
        status=69,
    )
    assert "no display on which client could show a window" in ran.stderr
    assert "sudo apt-get install xvfb" in ran.stderr


@pytest.mark.root
def test_user_without_rights_records(
    prime: Path, variables: dict[str, str], scratch: Path, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "snapcraft_compression_advisor"]
    for directory in (tmp_path, *tmp_path.parents):
        if directory == Path(tempfile.gettempdir()):
            break
        directory.chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    for path in (home, scratch, prime, *prime.rglob("*")):
        os.chown(path, OTHER_USER, OTHER_USER)
    environment = {**os.environ, **variables, "HOME": str(home)}
    try:
        ran = subprocess.run(
            [*command, "advise", str(prime), "--record", "--app", "client"],
            user=OTHER_USER, group=OTHER_USER, extra_groups=(), cwd="/",
            env=environment, check=False, capture_output=True, text=True,
        )  # fmt: skip
    except PermissionError:
        pytest.skip("other users can't read this Python")
    assert ran.returncode == 0, ran.stderr
    assert f"Recording client: {RUNS}" in ran.stderr


def test_record_isolates_unless_it_is_told_not_to(
    prime: Path, variables: dict[str, str], tmp_path: Path
) -> None:
    output = tmp_path / "launch.json"
    arguments = ("record", prime, "--app", "placed", "-o", output)
    in_place = (*arguments, "--method", "directory")
    alone = advisor(*in_place, "--unconfined", cwd=None, **variables, status=69)
    assert "/usr/share/launchy/themes/first" in alone.stderr
    advisor(*in_place, cwd=None, **variables, status=0)
    assert "bin/placed" in {file.path for file in read_profile(output).files}
