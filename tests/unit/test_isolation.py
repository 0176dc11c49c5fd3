"""What an isolated launch sees, and what it can't do."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from machine import no_right_to_mount, write_script
from snapcraft_compression_advisor.capture.isolation import (
    LAUNCH_USER,
    Isolation,
    Sources,
    Step,
    bubblewrap_words,
    display_socket,
    isolation_steps,
    snap_directory,
)
from snapcraft_compression_advisor.capture.launch_event import EXITED
from snapcraft_compression_advisor.capture.recordings import (
    found_isolation,
    isolation_refusal,
)
from snapcraft_compression_advisor.capture.snap_environment import (
    INSIDE,
    SnapApp,
    launch_home,
)
from snapcraft_compression_advisor.capture.start import (
    Command,
    LaunchRequest,
    time_launch,
)
from snapcraft_compression_advisor.core.errors import ToolError
from snapcraft_compression_advisor.payload.source import DirectoryPayload
from trees import fill

pytestmark = pytest.mark.users

Shell = Callable[[str], str]
LAYOUT = {
    "/usr/share/sample/themes": {"bind": "$SNAP/data"},
    "/etc/sample.conf": {"bind-file": "$SNAP/data/file"},
    "/usr/share/sample-link": {"symlink": "$SNAP/data"},
    "/var/lib/sample": {"bind": "$SNAP_DATA/lib"},
    "/opt/sample": {"type": "tmpfs"},
    "$SNAP/data/more": {"bind": "$SNAP_COMMON/more"},
}


@pytest.fixture
def prime(tmp_path: Path) -> Path:
    files = {"meta/snap.yaml": "name: sample\n", "data/file": "of the payload\n"}
    return fill(tmp_path / "prime", files)


@pytest.fixture
def say(prime: Path, tmp_path: Path) -> Iterator[Shell]:
    """Return what runs a shell script in isolation, and gives back what it printed."""
    home = tmp_path / "home"

    def run(script: str) -> str:
        command = Command(
            words=("sh", "-c", f"{{ {script}; }} > $HOME/said 2>&1; exit 0"),
            app=SnapApp(snap="sample"),
            environment={"GREETING": "hello from $SNAP"},
            isolation=Isolation(base="core24", layout=LAYOUT),
        )
        request = LaunchRequest(command=command, event=EXITED, timeout_s=20)
        time_launch(request, prime, home)
        return (home / "user/said").read_text()

    if (refusal := isolation_refusal()) is not None:
        pytest.skip(f"can't be isolated here: {refusal}")
    with launch_home(home):
        yield run


def test_payload_is_where_snapd_mounts_it_and_read_only(say: Shell) -> None:
    assert say("cat $SNAP/data/file /snap/sample/current/data/file; echo $SNAP") == (
        "of the payload\n" * 2 + "/snap/sample/x1\n"
    )
    assert "Read-only file system" in say("touch $SNAP/meta/new")
    assert "Read-only file system" in say("rm $SNAP/meta/snap.yaml")


def test_homes_buses_and_other_files_of_people_are_hidden(
    say: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/0/bus")
    monkeypatch.setenv("SECRET_TOKEN", "secret")
    assert say("echo $DBUS_SESSION_BUS_ADDRESS$SECRET_TOKEN $GREETING") == (
        " hello from /snap/sample/x1\n".lstrip()
    )
    assert say("ls -A /home /root /sys /run/user 2>/dev/null").split() == [
        "/home:", "/root:", "/sys:",
    ]  # fmt: skip
    assert "No such file" in say(f"ls {tmp_path}")
    assert say("ls -A /mnt /media 2>/dev/null; find /dev -type b") == ""


def test_there_is_no_network_but_the_machines_own(say: Shell) -> None:
    lines = say("tail -n +3 /proc/net/dev").splitlines()
    assert [line.split(":")[0].strip() for line in lines] == ["lo"]


def test_there_are_no_privileges_to_undo_it(say: Shell) -> None:
    assert "denied" in say("mount -t tmpfs tmpfs /tmp 2>&1 || echo denied")
    assert say("grep -c 'NoNewPrivs:.1' /proc/self/status") == "1\n"


def test_namespaces_are_its_own_and_there_is_no_capability(say: Shell) -> None:
    kinds = ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")
    own = {str(Path(f"/proc/self/ns/{kind}").readlink()) for kind in kinds}
    inside = say("for each in /proc/self/ns/*; do readlink $each; done")
    assert len(own - {*inside.split()}) == len(kinds)
    sets = say("grep -E 'Cap(Inh|Prm|Eff|Amb)' /proc/self/status").split()[1::2]
    assert [int(each, 16) for each in sets] == [0] * 4


def test_no_process_but_its_own_is_seen(say: Shell) -> None:
    assert {*say("cat /proc/[0-9]*/comm").split()} <= {"bwrap", "cat", "sh"}


def test_home_is_empty(say: Shell) -> None:
    files = say("find $HOME $SNAP_DATA $SNAP_COMMON -type f")
    assert {*files.split()} == {f"{INSIDE}/user/said"}


def test_home_can_be_written_to_and_tmp_is_private(say: Shell, tmp_path: Path) -> None:
    name = tmp_path.name
    assert say(f"echo > $HOME/kept; echo > /tmp/{name}; ls /tmp") == f"{name}\n"
    assert (tmp_path / "home/user/kept").exists()
    assert not os.path.lexists(f"/tmp/{name}")  # noqa: S108 # that of this machine


def test_language_time_zone_and_terminal_are_all_that_is_seen_of_the_environment(
    say: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = {"LC_TIME": "de_DE", "TZ": "Asia/Tokyo", "TERM": "dumb"}
    for name, value in {**seen, "TZDIR": "/x", "TERMINFO": "/x"}.items():
        monkeypatch.setenv(name, value)
    shown = dict(line.split("=", 1) for line in say("env").splitlines())
    assert {name: shown[name] for name in seen} == seen
    assert not {"TZDIR", "TERMINFO"} & shown.keys()
    assert say("date +%Z") == "JST\n"


def test_launch_is_an_ordinary_users(say: Shell) -> None:
    user = os.geteuid() or LAUNCH_USER
    assert say("id -u; echo $SNAP_UID") == f"{user}\n{user}\n"


def test_temporary_directories_take_256_mib_each(say: Shell) -> None:
    each = "head -c 257M /dev/zero > $place/x; stat -c %s $place/x"
    said = say(f"for place in /tmp /var/tmp /dev/shm; do {each}; done")
    assert said.count("No space left") == 3
    assert said.count(f"{256 * 1024**2}\n") == 3


def test_layouts_are_in_their_places_beside_what_was_there(say: Shell) -> None:
    assert say("cat /usr/share/sample/themes/file /etc/sample.conf") == (
        "of the payload\n" * 2
    )
    assert say("readlink /usr/share/sample-link") == "/snap/sample/x1/data\n"
    assert say("cd /var/lib/sample && pwd -P") == "/run/compression-advisor/data/lib\n"
    assert say("ls /usr/share/doc | wc -l; cat /etc/passwd | wc -l") == say(
        "ls /.beneath/usr/share/doc | wc -l; cat /.beneath/etc/passwd | wc -l"
    )
    script = "touch /opt/sample/x /var/lib/sample/y $SNAP/data/more/z && ls $SNAP/data"
    assert say(script).split() == ["file", "more"]


def test_files_that_layouts_put_into_the_home_stay_there(
    say: Shell, tmp_path: Path
) -> None:
    say("touch /var/lib/sample/y $SNAP/data/more/z")
    assert (tmp_path / "home/data/lib/y").exists()
    assert (tmp_path / "home/common/more/z").exists()
    assert not (tmp_path / "prime/data/more").exists()


def test_base_of_a_classic_snap_leads_to_the_machine(say: Shell) -> None:
    assert say("readlink -f /snap/core24/current/usr").strip() in (
        "/usr",  # else it is installed
        *[f"/snap/core24/{each}/usr" for each in say("ls /snap/core24").split()],
    )


def steps_of(
    prime: Path, layout: Mapping[str, Mapping[str, str]], machine: Path = Path("/")
) -> list[Step]:
    isolation = Isolation(layout=layout, machine=machine)
    return isolation_steps(
        isolation, Sources(), name="sample", root=prime, home=prime.parent / "home"
    )


@pytest.mark.parametrize(
    ("target", "how"),
    [
        ("relative", {"bind": "$SNAP/data"}),
        ("/", {"bind": "$SNAP/data"}),
        ("/usr/share/\0", {"bind": "$SNAP/data"}),
        ("/usr/share/x", {"bind": "$SNAP/\0"}),
        ("/usr/share/x", {"bind": "$SNAP/loop"}),
        ("/usr/share/x", {"bind": "/etc"}),
        ("/usr/share/x", {"bind": "$SNAP/../.."}),
        ("/usr/share/x", {"bind": "$SNAP/no-such-file"}),
        ("/usr/share/x", {"bind": "$SNAP/leaving"}),
        ("/usr/share/x", {"unknown": "$SNAP/data"}),
        ("/dev/x", {"bind": "$SNAP/data"}),
        ("/run/x", {"bind": "$SNAP/data"}),
        ("/snap/other/x", {"bind": "$SNAP/data"}),
        ("$SNAP_DATA/x", {"bind": "$SNAP/data"}),
        ("$SNAP/loop/x", {"bind": "$SNAP/data"}),
    ],
)
def test_layout_that_snapd_refuses_is_left_out(
    prime: Path, target: str, how: dict[str, str]
) -> None:
    (prime / "leaving").symlink_to("/root")
    (prime / "loop").symlink_to("loop")
    assert steps_of(prime, {target: how}) == steps_of(prime, {})


def test_display_elsewhere_cannot_be_reached() -> None:
    assert display_socket(":7.0") == display_socket("unix:7") == "/tmp/.X11-unix/X7"  # noqa: S108 # X11's own
    assert display_socket("localhost:10.0") is None
    assert display_socket("") is None


def test_name_that_is_no_snaps_makes_no_path() -> None:
    assert snap_directory("../../etc") == "/snap/snap/x1"


def test_links_before_a_targets_last_name_are_followed_within_the_new_root(
    prime: Path, tmp_path: Path
) -> None:
    """Bubblewrap would follow them while it sees this machine in /oldroot."""
    base = tmp_path / "base"
    (base / "usr").mkdir(parents=True)
    (base / "opt").symlink_to("/oldroot/home")
    (base / "srv").symlink_to("usr")
    (prime / "out").symlink_to("/oldroot/tmp")
    targets = ("/opt/x/y", "/srv/x", "$SNAP/out/new")
    layout = {target: {"bind": "$SNAP/data"} for target in targets}
    shown = {step[-1] for step in steps_of(prime, layout, base)}
    assert {"/oldroot/home/x/y", "/usr/x", "/oldroot/tmp/new"} <= shown
    assert not {"/opt/x/y", "/srv/x", "/snap/sample/x1/out/new"} & shown


def test_layout_within_another_is_left_out(prime: Path) -> None:
    outer = {"/usr/share/a": {"symlink": "/oldroot/tmp"}}
    inner = {"/usr/share/a/b": {"bind-file": "$SNAP/data/file"}}
    assert steps_of(prime, {**outer, **inner}) == steps_of(prime, outer)


def test_temporary_directory_of_a_base_that_is_a_link_is_not_taken(
    prime: Path, tmp_path: Path
) -> None:
    (tmp_path / "base/var").mkdir(parents=True)
    (tmp_path / "base/var/tmp").symlink_to("/oldroot/tmp")
    shown = {step[-1] for step in steps_of(prime, {}, tmp_path / "base")}
    assert "/var/tmp" not in shown  # noqa: S108 # in another root


def test_variables_of_the_snap_are_not_for_bubblewrap() -> None:
    words = bubblewrap_words([], added={"LD_LIBRARY_PATH": "/x"}, directory="/")
    place = words.index("--setenv")
    assert words[place : place + 3] == ["--setenv", "LD_LIBRARY_PATH", "/x"]
    assert words[-1] == "--"


@pytest.mark.bubblewrap
def test_bubblewrap_that_fails_says_why_and_how_to_do_without(
    prime: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write_script(tmp_path / "bwrap", "echo bwrap: no namespaces >&2; exit 1")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with (
        pytest.raises(ToolError, match="isn't started") as raised,
        found_isolation(DirectoryPayload(prime)),
    ):
        pytest.fail("isolated")
    assert raised.value.details == "bwrap: no namespaces"
    assert "--unconfined" in str(raised.value.resolution)


def test_missing_bubblewrap_is_named(
    prime: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with (
        pytest.raises(ToolError, match="isn't started") as raised,
        found_isolation(DirectoryPayload(prime)),
    ):
        pytest.fail("isolated")
    assert raised.value.details == "bubblewrap isn't installed"
    assert "apt-get install bubblewrap" in str(raised.value.resolution)


@pytest.mark.root
def test_root_without_privileges_starts_nothing(prime: Path) -> None:
    with (
        no_right_to_mount(),
        pytest.raises(ToolError) as raised,
        found_isolation(DirectoryPayload(prime)),
    ):
        pytest.fail("isolated")
    assert "CAP_SYS_ADMIN" in str(raised.value.details)


def test_mounted_base_takes_the_place_of_this_machine(
    prime: Path, tmp_path: Path
) -> None:
    base, content = tmp_path / "base", tmp_path / "content"
    (base / "usr/share").mkdir(parents=True)
    (base / "bin").symlink_to("usr/bin")
    isolation = Isolation(layout=LAYOUT, machine=base, contents={"platform": content})
    sources = Sources()
    steps = isolation_steps(
        isolation, sources, name="sample", root=prime, home=tmp_path
    )
    root = sources.place(base)
    assert ("ro-bind", f"{root}/usr", "/usr") in steps
    assert ("symlink", "usr/bin", "/bin") in steps
    assert ("ro-bind", sources.place(content), "/snap/sample/x1/platform") in steps
    assert ("ro-bind", f"{root}/usr/share", "/.beneath/usr/share") in steps
    shown = {step[-1] for step in steps}
    assert "/usr/share/sample/themes" in shown
    assert "/usr/lib" not in shown


@pytest.mark.skipif(
    not Path("/etc/machine-id").is_file(), reason="this machine has no id"
)
@pytest.mark.parametrize("has_file", [True, False])
def test_base_has_the_id_of_this_machine_as_under_snapd(
    prime: Path, tmp_path: Path, *, has_file: bool
) -> None:
    base = tmp_path / "base"
    (base / "etc").mkdir(parents=True)
    if has_file:
        (base / "etc/machine-id").touch()
    steps = steps_of(prime, {}, base)
    (shown,) = (step for step in steps if step[-1] == "/etc/machine-id")
    assert shown[0] == "ro-bind"
    assert (("tmpfs", "/etc") in steps) is not has_file
    ids = (step for step in steps_of(prime, {}) if step[-1] == "/etc/machine-id")
    assert not [*ids]
