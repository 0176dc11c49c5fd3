"""Commands of a payload, and launches of what every machine has."""

import gc
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from payloads import make_payload
from snapcraft_compression_advisor.capture import process_tree
from snapcraft_compression_advisor.capture.launch_event import (
    EXITED,
    LaunchEvent,
    event_named,
    window_mapped,
)
from snapcraft_compression_advisor.capture.process_tree import StartRequest
from snapcraft_compression_advisor.capture.start import (
    Command,
    Launched,
    LaunchRequest,
    app_command,
    given_command,
    time_launch,
)
from snapcraft_compression_advisor.core.errors import ToolError, UsageError

pytestmark = pytest.mark.users

SLEEP = StartRequest(
    words=("sleep", "600"), environment={"PATH": os.defpath}, directory="/"
)


def run_python(
    text: str,
    event: LaunchEvent,
    *,
    timeout_s: float = 20,
    frozen: Callable[[], object] | None = None,
) -> Launched:
    command = Command(words=(sys.executable, "-c", text))
    return launch(command, event, timeout_s=timeout_s, frozen=frozen)


def launch(
    command: Command,
    event: LaunchEvent = EXITED,
    *,
    root: Path = Path("/"),
    timeout_s: float = 20,
    frozen: Callable[[], object] | None = None,
) -> Launched:
    request = LaunchRequest(command=command, event=event, timeout_s=timeout_s)
    return time_launch(request, root, frozen=frozen)


def running(marker: str) -> list[int]:
    """Return processes that have an argument."""
    everyone = psutil.process_iter(["cmdline"])  # none is left of one that has ended
    return [each.pid for each in everyone if marker in (each.info["cmdline"] or ())]


def test_app_starts_with_its_chain_and_environment() -> None:
    payload = make_payload(
        {"bin/app": b""},
        environment={"A": "1", "B": "2"},
        apps={
            "app": {
                "command": "bin/app --name 'a b' $SNAP/x",
                "command-chain": ["snap/chain"],
                "environment": {"B": "3"},
            }
        },
    )
    command = app_command(payload, "app")
    assert command.words == (
        "$SNAP/snap/chain", "$SNAP/bin/app", "--name", "a b", "$SNAP/x",
    )  # fmt: skip
    assert command.environment == {"A": "1", "B": "3"}
    assert command.app.snap == "hello"


@pytest.mark.parametrize(
    "apps", [{}, {"app": {}}, {"app": {"command": "bin/app 'unclosed"}}]
)
def test_app_without_a_usable_command_is_a_usage_error(apps: object) -> None:
    payload = make_payload({"bin/app": b""}, apps=apps)
    with pytest.raises(UsageError, match="app"):
        app_command(payload, "app")


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("tool", "$SNAP/usr/bin/tool"),
        ("usr/bin/tool", "$SNAP/usr/bin/tool"),
        ("/usr/bin/tool", "$SNAP/usr/bin/tool"),
        ("$SNAP/usr/bin/tool", "$SNAP/usr/bin/tool"),
        ("alias", "$SNAP/bin/alias"),
        ("sh", "sh"),
        ("/bin/sh", "/bin/sh"),
    ],
)
def test_program_is_looked_up_in_the_payload_first(word: str, found: str) -> None:
    payload = make_payload(
        {"usr/bin/tool": b""}, links={"bin/alias": "../usr/bin/tool"}
    )
    assert given_command(payload, [word, "-v"]).words == (found, "-v")


def test_command_has_the_variables_of_the_app_that_it_replaces() -> None:
    apps = {"hello": {"command": "bin/hello", "environment": {"A": "$SNAP/lib"}}}
    payload = make_payload({"bin/hello": b""}, apps=apps)
    command = given_command(payload, ["bin/hello", "--version"], "hello")
    assert command.environment == app_command(payload, "hello").environment
    assert command.environment == {"A": "$SNAP/lib"}


def test_words_of_a_command_reach_the_program_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    command = Command(
        words=(
            sys.executable,
            "-c",
            "import sys; print(repr(sys.argv[1:]), flush=True)",
            "$HOME",
            "$SNAP/file",
            "a 'b' \\ ü",
        )
    )
    event = event_named(
        "output:" + repr(["$HOME", f"{tmp_path}/file", "a 'b' \\ ü"])[1:-1]
    )
    launched = launch(command, event, root=tmp_path)
    assert launched.wall_s > 0


def test_figures_are_those_of_all_processes_and_not_of_the_preparation() -> None:
    busy = "import time\nwhile time.process_time() < 0.3: pass"
    launched = run_python(
        f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {busy!r}])",
        EXITED,
    )
    assert 0.3 <= launched.user_s + launched.system_s < launched.wall_s * 4
    idle = launch(Command(words=("true",)))
    assert idle.user_s + idle.system_s < 0.02


def test_a_daemon_is_ended_as_well() -> None:
    marker = f"daemon-of-{time.monotonic_ns()}"
    daemon = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"
    seen: list[int] = []
    run_python(
        "import subprocess, sys\n"
        f"subprocess.Popen([sys.executable, '-c', {daemon!r}, {marker!r}],"
        " start_new_session=True)\n",
        EXITED,
        frozen=lambda: seen.extend(running(marker)),
    )
    assert len(seen) == 1
    assert running(marker) == []


def test_everything_stands_still_at_the_event(tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    sizes: list[int] = []

    def look() -> None:
        sizes.extend(counter.stat().st_size for _ in range(2000))

    run_python(
        "import os\n"
        "os.fork()\n"
        f"file = open({str(counter)!r}, 'ab', buffering=0)\n"
        "print('begun', flush=True)\n"
        "while True: file.write(b'x')",
        event_named("output:begun"),
        frozen=look,
    )
    assert len(set(sizes)) == 1


def test_freezing_waits_until_what_was_told_to_stop_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = [{"R"}, {"T", "S"}, {"T", "t"}]
    monkeypatch.setattr(process_tree, "thread_states", lambda _: answers.pop(0))
    with process_tree.process_tree(SLEEP) as tree:
        tree.freeze()
        assert answers == []


def test_processes_may_end_by_themselves_after_the_event(tmp_path: Path) -> None:
    run_python(
        "import signal, sys, time\n"
        "from pathlib import Path\n"
        "def end(*_):\n"
        "    time.sleep(0.05)\n"
        f"    Path({str(tmp_path / 'saved')!r}).touch()\n"
        "    sys.exit()\n"
        "signal.signal(signal.SIGTERM, end)\n"
        "print('up', flush=True)\n"
        "time.sleep(600)\n",
        event_named("output:up"),
    )
    assert (tmp_path / "saved").exists()


def test_last_line_needs_no_line_end() -> None:
    run_python("print('all done', end='')", event_named("output:all done"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import sys; sys.exit('oh no')", "ended with status 1$"),
        ("import os; print('oh no', flush=True); os.abort()", "ended by SIGABRT"),
    ],
)
def test_crash_is_an_error_with_the_last_output(text: str, said: str) -> None:
    with pytest.raises(ToolError, match=said) as caught:
        run_python(text, EXITED)
    assert caught.value.details is not None
    assert "oh no" in caught.value.details


def test_end_before_the_event_is_an_error() -> None:
    with pytest.raises(ToolError, match="status 0 and printed no line with 'x'"):
        run_python("", event_named("output:x"))


def test_timeout_is_an_error_and_ends_all() -> None:
    marker = f"slow-{time.monotonic_ns()}"
    command = Command(
        words=(sys.executable, "-c", "import time; time.sleep(600)", marker)
    )
    with pytest.raises(ToolError, match=r"didn't end within 0\.3 s"):
        launch(command, timeout_s=0.3)
    assert running(marker) == []


def test_program_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ToolError, match="Cannot start 'no-such-program': No such file"):
        launch(Command(words=("no-such-program",)))


def test_file_that_is_no_program_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"\0" * 100)
    (tmp_path / "data").chmod(0o755)
    with pytest.raises(ToolError, match="Exec format error"):
        launch(Command(words=("$SNAP/data",)), root=tmp_path)


def test_program_meets_signals_as_usual() -> None:
    # Python itself ignores SIGPIPE and SIGXFSZ, so a shell has to look. From 32 on,
    # signals are the C library's: glibc 2.41 ignores one after a thread was cancelled.
    ignored = "0x$(sed -n 's/^SigIgn:.//p' /proc/self/status)"
    command = Command(words=("sh", "-c", f"echo ignored $(({ignored} & 0x7fffffff))"))
    launch(command, event_named("output:ignored 0"))


def test_children_of_ours_that_were_there_are_left_alone() -> None:
    pid = os.posix_spawnp("sleep", ["sleep", "600"], os.environ, setsid=True)
    try:
        run_python("", EXITED)
        assert os.waitpid(pid, os.WNOHANG) == (0, 0)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def test_what_survives_sigkill_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with process_tree.process_tree(SLEEP) as tree, monkeypatch.context() as patch:
        patch.setattr(process_tree, "GRACE_S", 0)
        patch.setattr(process_tree, "GONE_TIMEOUT_S", 0)
        patch.setattr(tree, "_signal", lambda *_: None)  # as if it survived
        tree.process.go()
        with pytest.raises(ToolError, match="still running: sleep"):
            tree.end()


def test_no_display_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    with pytest.raises(UsageError, match="No X display"):
        run_python("", window_mapped())


# python-xlib leaves its socket to the collector where connecting fails.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
@pytest.mark.parametrize("name", [":4711", "nonsense", "127.0.0.1:4711"])
def test_display_that_cannot_be_opened_is_an_error(name: str) -> None:
    with pytest.raises(ToolError, match=f"display '{name}'"):
        run_python("", window_mapped(display=name))
    gc.collect()  # else the socket's warning comes in another test


def test_root_of_its_own_takes_a_system_tree(tmp_path: Path) -> None:
    said = "no directory 'run'" if os.geteuid() == 0 else "requires root"
    with pytest.raises(UsageError, match=said):
        launch(Command(words=("true",), chroot=True), root=tmp_path)
