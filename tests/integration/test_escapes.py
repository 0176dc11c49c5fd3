"""A stranger's program tries to get out of its launch, as root's and as a user's.

Each attempt is a shell script that ends with status 0 if it got what it mustn't. Most
succeed without isolation, which shows that they would be noticed.
"""

import ctypes
import os
import re
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from mounts import small_disk
from real_launches import fill_launchable
from snapcraft_compression_advisor.capture.recordings import isolation_refusal

pytestmark = [pytest.mark.slow, pytest.mark.bubblewrap]

OTHER_USER = 64999
SECRET = "only-for-whoever-records"  # noqa: S105 # stands for one
SLEEP = "47991"
PLACES = (
    "/", "/boot", "/dev", "/etc", "/home", "/lib", "/media", "/mnt", "/opt", "/proc",
    "/root", "/run", "/snap", "/srv", "/sys", "/usr", "/usr/bin", "/usr/share", "/var",
    "/var/lib", "/var/log", "$SNAP", "$folder",
)  # fmt: skip
SAME_SYSCTL = "value=$(cat {0}) && echo $value > {0}"
PTRACE = """python3 -c '
import ctypes, sys
sys.exit(ctypes.CDLL(None).ptrace(0x4206, int(sys.argv[1]), 0, 0) != 0)' $victim"""
CONNECT = """python3 -c '
import socket, sys
socket.create_connection((sys.argv[1], int(sys.argv[2])), 2)' """
CONNECT_UNIX = """python3 -c '
import socket, sys
socket.socket(socket.AF_UNIX).connect(sys.argv[1].replace("@", "\\0"))' """
SHARED_MEMORY = """python3 -c '
import ctypes, sys
shmat = ctypes.CDLL(None).shmat
shmat.restype = ctypes.c_ssize_t
sys.exit(shmat(int(sys.argv[1]), None, 0) == -1)' $segment"""
THREADS = """python3 -c '
import threading
threading.stack_size(65536)
end = threading.Event()
for _ in range(6000):
    threading.Thread(target=end.wait, daemon=True).start()
end.set()'"""
KEY = """python3 -c '
import ctypes, os, sys
session, buffer = -3, ctypes.create_string_buffer(99)
keyctl = lambda *words: ctypes.CDLL(None).syscall(int(sys.argv[1]), *words)
if sys.argv[2:]:
    keyctl(8, int(sys.argv[2]), session)
key = keyctl(10, session, b"user", os.environ["mark"].encode(), 0)
sys.exit(keyctl(11, key, buffer, 99) <= 0)' $keyctl """
ADD_KEYS = """
import ctypes, os, sys
facts, mark, *command = sys.argv[1:]
numbers = {"x86_64": 250, "aarch64": 219, "riscv64": 219}
call, keyctl = ctypes.CDLL(None).syscall, numbers.get(os.uname().machine, 0)
call(keyctl, 1, None)
for keyring in (-3, -4):
    key = call(keyctl - 2, b"user", mark.encode(), b"key", 3, keyring)
    call(keyctl, 15, key, 600)
with open(facts, "a") as file:
    print(f"keyctl={keyctl} keyring={call(keyctl, 0, -4, 0)}", file=file)
os.execvp(command[0], command)
"""
"""Whoever records has a key in the session, and one in the user's keyring."""
PROCESSES = """python3 -c '
import os
made = []
try:
    while len(made) < 6000:
        made.append(os.posix_spawnp("sleep", ["sleep", "99"], {}))
finally:
    for each in made:
        os.kill(each, 9)
        os.waitpid(each, 0)'"""
NESTED = "unshare --user --map-root-user --mount sh -c "
ATTEMPTS = {
    **{f"write to {place}": f"echo > {place}/$mark" for place in PLACES},
    "core pattern": SAME_SYSCTL.format("/proc/sys/kernel/core_pattern"),
    "host name": SAME_SYSCTL.format("/proc/sys/kernel/hostname"),
    "swappiness": SAME_SYSCTL.format("/proc/sys/vm/swappiness"),
    "magic system request": "echo h > /proc/sysrq-trigger",
    "out-of-memory score": "echo -1000 > /proc/self/oom_score_adj",
    "signal": "kill -CONT $victim",
    "trace": PTRACE,
    "root of another process": "ls /proc/$victim/root/$folder",
    "memory of another process": "exec 9< /proc/$victim/mem",
    "environment of another process": f"cat /proc/*/environ | grep -a {SECRET}",
    "environment": f"env | grep {SECRET}",
    "environment by snap.yaml": 'test -n "$STOLEN"',
    "command line of another process": "cat /proc/*/cmdline | grep -a $victim_word",
    "make a device": "mknod $HOME/device c 1 5 && cat $HOME/device | head -c 1",
    "device of a disk": "find /dev -type b | grep .",
    "loop device": "exec 9<> /dev/loop-control",
    "kernel log": "exec 9< /dev/kmsg",
    "memory of the kernel": "exec 9< /proc/kcore",
    "mount": "mount -t tmpfs tmpfs $HOME && umount $HOME",
    "remount": "mount -o remount,rw,bind $SNAP && echo > $SNAP/$mark",
    "unmount": "umount --lazy $SNAP",
    "other root": "chroot / true",
    "remount in namespaces": NESTED + "'mount -o remount,rw,bind $SNAP "
    "&& echo > $SNAP/$mark'",
    "unmount in namespaces": NESTED + "'umount /usr && ! test -e /usr/bin/sh'",
    "write in namespaces": NESTED + "'echo > /usr/$mark'",
    "system files in namespaces": NESTED + "'mount -t sysfs sysfs $HOME'",
    "kernel setting in namespaces": NESTED
    + f"'{SAME_SYSCTL.format('/proc/sys/kernel/core_pattern')}'",
    "become root": "python3 -c 'import os; os.setuid(0)'",
    "shadow passwords": "cat /etc/shadow",
    "files of root": "ls /root/.[a-z]*",
    "other file of the user": "cat $folder/private",
    "local network": CONNECT + "127.0.0.1 $port",
    "abstract socket": CONNECT_UNIX + "@$mark",
    "socket of another directory": CONNECT_UNIX + "$folder/socket",
    "shared memory": SHARED_MEMORY,
    "shared memory by its file": "cat /dev/shm/$mark",
    "temporary file": "cat /tmp/$mark",
    "inherited descriptor": "ls -l /proc/self/fd | grep 'socket:\\|user:'",
    "control group": "mkdir /sys/fs/cgroup/$mark && rmdir /sys/fs/cgroup/$mark",
    "clock": "date --set=@$(date +%s)",
    "priority": "nice -n -5 true 2>&1 | grep . && exit 1; nice -n -5 true",
    "key of the session": KEY,
    "key of the user": f"{KEY} $keyring",
    "more than a limit of threads": THREADS,
    "more than a limit of processes": PROCESSES,
    "core program": "test $(ulimit -c) != 0",
}
ALLOWED = {
    "write to the home": "echo > $HOME/$mark",
    "write to temporary places": "for place in /tmp /var/tmp /dev/shm; do "
    "echo > $place/my-$mark && rm $place/my-$mark || exit 1; done",
    "read the payload": "cat $SNAP/data/first",
    "read the machine": "cat /etc/passwd",
    "signal its own": "sleep 9 & kill $!",
}
"""What an app needs shows that the attempts are made at all."""
DAEMONS = """\
setsid sh -c "setsid sleep $sleep &" > /dev/null 2>&1 &
setsid sh -c 'fork() { sleep 0.1; fork & }; fork' sh $sleep > /dev/null 2>&1 &"""
"""One forks again and again: its process is another each time."""
RUNS_ALONE = f"""\
#!/bin/sh
. $SNAP/facts
cd "$SNAP/attempts"
for each in *; do
    timeout 30 sh "./$each" > $HOME/said 2>&1 < /dev/null && found="$found $each"
done
{DAEMONS}
echo "succeeded:$found;"
exit 3
"""
APPS = """\
name: stranger
version: '1.0'
apps:
  stranger: {command: bin/stranger}
environment: {STOLEN: $SECRET_TOKEN}
"""


def python_of(user: int) -> str:
    """Return a Python of this version that a user can run."""
    for program in (sys.executable, "/usr/bin/python3"):
        version = "import sys; print(sys.version_info[:2])"
        with suppress(OSError, subprocess.CalledProcessError):
            said = subprocess.check_output([program, "-c", version], user=user, cwd="/")
            if said.decode().strip() == str(sys.version_info[:2]):
                return program
    pytest.skip("other users can't run a Python of this version")


@pytest.fixture(params=["root", "user"])
def user(request: pytest.FixtureRequest) -> int:
    """Return who records."""
    if os.geteuid() != 0 and request.param == "root":
        pytest.skip("runs as root")
    if (refusal := isolation_refusal()) is not None:
        pytest.skip(refusal)
    return 0 if request.param == "root" else os.geteuid() or OTHER_USER


@pytest.fixture
def stage(tmp_path: Path, user: int) -> Path:
    """Return a directory that whoever records owns and reaches."""
    for directory in (tmp_path, *tmp_path.parents):
        if directory == Path(tempfile.gettempdir()):
            break
        directory.chmod(0o755)
    for name in ("scratch", "cache", "folder"):
        (tmp_path / name).mkdir()
    prime = fill_launchable(tmp_path / "prime")
    (prime / "meta/snap.yaml").write_text(APPS)
    (prime / "bin/stranger").write_text(RUNS_ALONE)
    (prime / "bin/stranger").chmod(0o755)
    (prime / "attempts").mkdir()
    for name, script in {**ATTEMPTS, **ALLOWED}.items():
        file = prime / "attempts" / file_name(name)
        file.write_text(f". $SNAP/facts\n{script}\n")
    (tmp_path / "folder/private").write_text("private")
    own(tmp_path, user)
    return tmp_path


def file_name(attempt: str) -> str:
    return attempt.replace("/", "_").replace(" ", "-")


def own(place: Path, user: int) -> None:
    if os.geteuid() == 0:
        for path in (place, *place.rglob("*")):
            os.lchown(path, user, user)


@contextmanager
def recording(
    stage: Path, user: int, *options: str, before: Sequence[str] = (), **variables: str
) -> Iterator[subprocess.Popen[str]]:
    """Record the stranger's launch as a user does; the command follows some words."""
    command = [
        *before,
        python_of(user), "-m", "snapcraft_compression_advisor", "record",
        str(stage / "prime"), "--until", "exit", "--method", "directory",
        "--output", str(stage / "launch.json"), "--timeout", "300", *options,
    ]  # fmt: skip
    environment = {
        **os.environ,
        "TMPDIR": str(stage / "scratch"),
        "XDG_CACHE_HOME": str(stage / "cache"),
        "HOME": str(stage / "cache"),
        "PYTHONPATH": ":".join([str(Path.cwd()), sysconfig.get_path("purelib")]),
        **variables,
    }
    other = None if user == os.geteuid() else user
    with subprocess.Popen(
        command, cwd="/", env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        user=other, group=other, extra_groups=None if other is None else (),
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()


def record(
    stage: Path, user: int, *options: str, before: Sequence[str] = (), **variables: str
) -> subprocess.CompletedProcess[str]:
    """Record the launch to its end."""
    with recording(stage, user, *options, before=before, **variables) as process:
        output, errors = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


def successes(stage: Path, user: int, *options: str) -> set[str]:
    """Return which attempts succeed.

    This machine is made ready for them: each would get something.
    """
    mark = f"escaped-{os.getpid()}-{user}"
    libc = ctypes.CDLL(None)
    with ExitStack() as stack:
        segment = libc.shmget(0, 4096, 0o1666)
        stack.callback(libc.shmctl, segment, 0, None)
        folder = stage / "folder"
        for path in (f"/dev/shm/{mark}", f"/tmp/{mark}"):  # noqa: S108 # they are tried
            Path(path).write_text("shared")
            stack.callback(Path(path).unlink, missing_ok=True)
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        for address in (f"\0{mark}", str(folder / "socket")):
            other = stack.enter_context(socket.socket(socket.AF_UNIX))
            other.bind(address)
            other.listen()
        victim = stack.enter_context(
            subprocess.Popen(
                ["sleep", "4799.5"],
                env={"X": SECRET},
                user=None if user == os.geteuid() else user,
            )
        )
        stack.callback(victim.kill)
        facts = {
            "mark": mark, "folder": folder, "segment": segment, "victim": victim.pid,
            "port": listener.getsockname()[1], "sleep": SLEEP,
            "victim_word": "4799[.]5",
        }  # fmt: skip
        lines = [f"export {name}='{value}'" for name, value in facts.items()]
        (stage / "prime/facts").write_text("\n".join(lines) + "\n")
        own(stage, user)
        before = (python_of(user), "-c", ADD_KEYS, str(stage / "prime/facts"), mark)
        ran = record(stage, user, *options, before=before, SECRET_TOKEN=SECRET)
        for place in PLACES:
            path = place.replace("$SNAP", str(stage / "prime"))
            path = path.replace("$folder", str(folder))
            # An ordinary user can't look everywhere.
            if os.path.exists(f"{path}/{mark}"):  # noqa: PTH110
                Path(path, mark).unlink()
                assert options, f"{place} was written to"
        found = re.search(r"succeeded:(.*);", ran.stderr)
        assert found is not None, ran.stderr
        return set(found[1].split())


def test_nothing_succeeds_and_nothing_is_left(stage: Path, user: int) -> None:
    assert successes(stage, user) == {file_name(each) for each in ALLOWED}
    assert list((stage / "scratch").iterdir()) == []
    assert daemons() == {}


def daemons() -> dict[int, list[str]]:
    """Return the stranger's daemons, with their command lines."""
    words = ((p.pid, p.info["cmdline"] or []) for p in psutil.process_iter(["cmdline"]))
    return {pid: each for pid, each in words if SLEEP in each}


@pytest.mark.parametrize(
    ("forks_away", "stopped"), [(True, False), (False, False), (False, True)]
)
def test_nothing_outlives_an_advisor_that_is_killed(
    stage: Path, user: int, *, forks_away: bool, stopped: bool
) -> None:
    last = "exit 0" if forks_away else "exec sleep $sleep"
    app = f"#!/bin/sh\nsleep={SLEEP}\n{DAEMONS}\n{last}\n"
    (stage / "prime/bin/stranger").write_text(app)
    options = ("--until", "output:never", "--timeout", "60")
    with recording(stage, user, *options) as process:
        while len(daemons()) < 2 and process.poll() is None:
            pass
        assert process.poll() is None, process.communicate()
        started = psutil.Process(process.pid).children(recursive=True)
        named = psutil.process_iter(["name"])  # without those that end meanwhile
        isolating = [p for p in named if p.info["name"] == "bwrap" and p in started]
        assert isolating
        if stopped:  # as a launch is whose pages are looked up
            for each in isolating:
                each.suspend()
        process.kill()
    deadline = time.monotonic() + 30
    while left := daemons():
        assert time.monotonic() < deadline, left
    _, alive = psutil.wait_procs(isolating, timeout=30)
    assert not alive
    (stage / "prime/bin/stranger").write_text("#!/bin/sh\n")
    assert record(stage, user).returncode == 0
    assert list((stage / "scratch").iterdir()) == []  # by the next run


def test_attempts_succeed_without_isolation(stage: Path, user: int) -> None:
    found = successes(stage, user, "--unconfined")
    assert len(found) >= len(ALLOWED) + (50 if user == 0 else 15), sorted(found)


LINKS = """\
#!/bin/sh
. $SNAP/facts
python3 -c 'import os
os.chdir(os.environ["HOME"])
for _ in range(3000):
    os.mkdir("deep"); os.chdir("deep")'
cd $SNAP_DATA && rm -rf door && ln -s $folder door && ln -sfn $folder/made file
ln -sfn $folder/authority $XDG_RUNTIME_DIR/Xauthority
mv $SNAP_COMMON $SNAP_COMMON-gone; ln -sfn $folder $SNAP_COMMON
echo > /usr/share/stranger/door/written; echo > /etc/stranger.conf
mkdir -p $HOME/a/b; chmod 000 $HOME/a
exit 0
"""
LAYOUT = """\
layout:
  /usr/share/stranger/door: {{bind: $SNAP_DATA/door}}
  /etc/stranger.conf: {{bind-file: $SNAP_DATA/file}}
  /var/lib/stranger: {{bind: $SNAP_COMMON/x}}
  /opt/stranger: {{type: tmpfs}}
  $SNAP/out/new: {{bind: $SNAP/data}}
  $SNAP/leaving: {{bind-file: $SNAP/data/first}}
  /usr/share/links: {{symlink: /oldroot{folder}}}
  /usr/share/links/new: {{bind-file: $SNAP/data/first}}
"""


def states(folder: Path) -> set[tuple[str, int, int]]:
    found = ((path.name, path.stat()) for path in folder.iterdir())
    return {(name, status.st_mode, status.st_mtime_ns) for name, status in found}


def test_links_that_a_payload_leaves_lead_nowhere(stage: Path, user: int) -> None:
    prime, folder = stage / "prime", stage / "folder"
    (prime / "bin/stranger").write_text(LINKS)
    with (prime / "meta/snap.yaml").open("a") as file:
        file.write(LAYOUT.format(folder=folder))
    (prime / "out").symlink_to(f"/oldroot{folder}")
    (prime / "leaving").symlink_to(f"/oldroot{folder}/made")
    (prime / "facts").write_text(f"folder='{folder}'")
    (folder / "authority").write_text("key")
    own(stage, user)
    before = states(folder)
    ran = record(stage, user, XAUTHORITY=str(folder / "private"))
    assert ran.returncode == 0, ran.stderr
    assert states(folder) == before
    assert list((stage / "scratch").iterdir()) == []


FILLS = """\
#!/bin/sh
for each in 1 2 3 4 5 6; do
    head -c 400M /dev/zero > $HOME/$each || exit 4
    sleep 0.2
done
"""
MANY_FILES = """\
#!/usr/bin/python3
import os
for number in range(300_000):
    os.mknod(f"{os.environ['HOME']}/{number}")
"""


@pytest.mark.parametrize(
    ("app", "options"),
    [(FILLS, ()), (MANY_FILES, ()), (MANY_FILES, ("--home", "{stage}/folder/home"))],
)
def test_what_is_written_stays_within_the_quota(
    stage: Path, user: int, app: str, options: tuple[str, ...]
) -> None:
    (stage / "prime/bin/stranger").write_text(app)
    with ExitStack() as stack:
        if app == MANY_FILES and os.geteuid() == 0:  # else others may hide it
            for name in ("folder", "scratch"):
                owned = f"nr_inodes=400000,uid={user},gid={user}"
                stack.enter_context(small_disk(stage / name, owned))
        ran = record(stage, user, *(each.format(stage=stage) for each in options))
        assert list((stage / "scratch").iterdir()) == []
    assert ran.returncode == 69
    if user == 0 and not options:
        assert "No space left on device" in ran.stderr
        assert app != FILLS or "ended with status 4" in ran.stderr
    else:
        assert "More than 1.07 GB or 200,000 files were written" in ran.stderr
