"""Becomes the command that is launched.

Run as a script of its own by :mod:`process_tree`, not imported: what has to happen
between fork and exec (joining a control group, mounting, changing the root) isn't
safe in a copy of a process that has threads. It imports nothing of this package.
The interpreter's start is over before the clock starts.

Protocol: the specification (one line of JSON) comes in through the descriptor of
the first argument, ``ready`` goes out through that of the second; the next line in
starts the command. Out goes the monotonic clock in nanoseconds, right before exec.
The descriptor closes with exec; a line that follows says why exec failed.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import signal
import socket
import struct
import sys
import time
from typing import Any

# linux/sched.h, linux/mount.h, linux/prctl.h, asm-generic/unistd.h
_CLONE_NEWNS, _CLONE_NEWUSER, _CLONE_NEWNET = 0x00020000, 0x10000000, 0x40000000
_MS_NOSUID, _MS_NODEV = 2, 4
_MS_BIND, _MS_REC, _MS_PRIVATE = 4096, 16384, 1 << 18
_PR_SET_PDEATHSIG, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 24, 38
_SECCOMP_SET_MODE_FILTER, _SECCOMP_FILTER_FLAG_NEW_LISTENER = 1, 8  # linux/seccomp.h
_SYS_MOUNT_SETATTR, _AT_RECURSIVE, _MOUNT_ATTR_RDONLY = 442, 0x8000, 1
_MOUNT_ATTR_WORDS = 4
_CAPABILITIES = 64
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1  # linux/sockios.h, linux/if.h

SHARED = ("proc", "dev", "sys", "tmp")
"""Directories of the host that a launch in a root of its own sees."""

EMPTY = ("run", "var/tmp", "root", "home")
"""Directories that are fresh and writable in a root of its own."""


def main() -> None:
    """Read the specification, prepare, wait, and become the command."""
    source = os.fdopen(int(sys.argv[1]), "rb")
    report = int(sys.argv[2])
    os.set_inheritable(report, False)  # noqa: FBT003 # positional in the library
    try:
        specification = json.loads(source.readline())
        _prepare(specification)
        program = _find(specification["words"][0], specification["environment"])
        os.write(report, b"ready\n")
        if not source.readline():
            return  # the advisor is gone
        source.close()
        if specification["call_filter"]:
            _have_calls_noticed(
                **specification["call_filter"], channel=int(sys.argv[3])
            )
        os.write(report, b"%d\n" % time.monotonic_ns())
        os.execve(  # noqa: S606 # there is to be no shell
            program, specification["words"], specification["environment"]
        )
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        os.write(report, f"error {error.strerror}{where}\n".encode(errors="replace"))


def _prepare(specification: dict[str, Any]) -> None:
    if specification["control_group"]:
        with open(specification["control_group"], "w") as processes:  # noqa: PTH123 # pathlib is slow to import
            processes.write("0")
    if specification["new_root"]:
        _change_root(specification["new_root"], specification["shared_as"])
    if specification["steps"]:
        _isolate(specification["steps"])
    # A new user namespace takes it back.
    _call("prctl", _PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    os.chdir(specification["directory"])
    # Python ignores these two, and what is ignored stays so over exec.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)


def _have_calls_noticed(seccomp: int, program: list[list[int]], channel: int) -> None:
    """Have the calls that a filter names wait for the advisor, if the kernel lets us.

    What follows, up to exec, mustn't read: nobody may listen yet.

    :param channel: takes the filter's descriptor to the advisor; closed without one.
    """
    with socket.socket(fileno=channel) as advisor:
        listener = _filter_calls(seccomp, program)
        if listener < 0 and ctypes.get_errno() == errno.EACCES:
            ctypes.CDLL(None).prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
            listener = _filter_calls(seccomp, program)
        if listener >= 0:
            passed = struct.pack("i", listener)
            advisor.sendmsg([b"+"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, passed)])


def _filter_calls(seccomp: int, program: list[list[int]]) -> int:
    """Set a filter, and return the descriptor of its calls; -1 where that fails."""
    packed = b"".join(struct.pack("=HBBI", *each) for each in program)
    instructions = ctypes.create_string_buffer(packed, len(packed))
    filter_ = struct.pack("@HP", len(program), ctypes.addressof(instructions))
    libc = ctypes.CDLL(None, use_errno=True)
    set_filter, new = _SECCOMP_SET_MODE_FILTER, _SECCOMP_FILTER_FLAG_NEW_LISTENER
    found: int = libc.syscall(ctypes.c_long(seccomp), set_filter, new, filter_)
    return found


def _change_root(root: str, shared_as: list[str]) -> None:
    """Take a system tree as the root, in a mount namespace that ends with us.

    :param shared_as: a directory of the host, and where to show it.
    """
    _call("unshare", _CLONE_NEWNS)
    _mount("none", "/", "", _MS_REC | _MS_PRIVATE)
    for name in SHARED:
        if os.path.isdir(f"{root}/{name}"):  # noqa: PTH112 # pathlib is slow to import
            _mount(f"/{name}", f"{root}/{name}", "", _MS_BIND | _MS_REC)
    for name in EMPTY:
        if os.path.isdir(f"{root}/{name}"):  # noqa: PTH112 # as above
            _mount("tmpfs", f"{root}/{name}", "tmpfs", _MS_NOSUID | _MS_NODEV)
    source, place = shared_as
    os.makedirs(root + place, exist_ok=True)  # noqa: PTH103 # as above
    _mount(source, root + place, "", _MS_BIND)
    os.chroot(root)


def _isolate(steps: list[list[str]]) -> None:
    """Take a root made of steps, without network or privileges.

    :param steps: as :mod:`isolation` has them.
    """
    try:
        _call("unshare", _CLONE_NEWNS | _CLONE_NEWNET)
    except PermissionError:
        _unshare_as_user()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as network:
        loopback = struct.pack("16sh22x", b"lo", _IFF_UP)
        fcntl.ioctl(network, _SIOCSIFFLAGS, loopback)
    _mount("none", "/", "", _MS_REC | _MS_PRIVATE)
    # There on every machine, and nothing that is shown comes from it.
    root = "/sys"
    _mount("tmpfs", root, "tmpfs", _MS_NOSUID | _MS_NODEV)
    for name, *arguments in steps:
        _take_step(name, arguments, root)
    os.chroot(root)
    for number in range(_CAPABILITIES):
        ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, number, 0, 0, 0)
    _call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def _unshare_as_user() -> None:
    user, group = os.geteuid(), os.getegid()
    _call("unshare", _CLONE_NEWUSER | _CLONE_NEWNS | _CLONE_NEWNET)
    maps = {"setgroups": "deny", "uid_map": f"{user} {user} 1"}
    for name, text in {**maps, "gid_map": f"{group} {group} 1"}.items():
        with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123 # as above
            file.write(text)


def _take_step(name: str, arguments: list[str], root: str) -> None:
    place = root + arguments[-1]
    if name == "symlink":
        os.makedirs(os.path.dirname(place), exist_ok=True)  # noqa: PTH103, PTH120 # as above
        os.symlink(arguments[0], place)  # noqa: PTH211 # as above
    elif name == "dev":
        os.mkdir(place)  # noqa: PTH102 # as above
        os.mkdir(f"{place}/shm")  # noqa: PTH102 # as above
        for device in ("null", "zero", "full", "random", "urandom", "tty"):
            _bind(f"/dev/{device}", f"{place}/{device}")
        os.symlink("/proc/self/fd", f"{place}/fd")  # noqa: PTH211 # as above
    elif name in ("dir", "tmpfs"):
        os.makedirs(place, exist_ok=True)  # noqa: PTH103 # as above
        if name == "tmpfs":
            _mount("tmpfs", place, "tmpfs", _MS_NOSUID | _MS_NODEV)
    else:
        _bind(arguments[0], place)
        if name != "bind":
            attributes = (ctypes.c_uint64 * _MOUNT_ATTR_WORDS)(_MOUNT_ATTR_RDONLY)
            size = ctypes.sizeof(attributes)
            path = os.fsencode(place)
            call = (_SYS_MOUNT_SETATTR, -1, path, _AT_RECURSIVE, attributes, size)
            _call("syscall", *call, where=place)


def _bind(source: str, place: str) -> None:
    """Show a file or directory at a place, which is made."""
    if os.path.isdir(source):  # noqa: PTH112 # as above
        os.makedirs(place, exist_ok=True)  # noqa: PTH103 # as above
    else:
        os.makedirs(os.path.dirname(place), exist_ok=True)  # noqa: PTH103, PTH120 # as above
        with open(place, "a"):  # noqa: PTH123 # as above
            pass
    _mount(source, place, "", _MS_BIND | _MS_REC)


def _mount(source: str, target: str, kind: str, flags: int) -> None:
    _call(
        "mount",
        os.fsencode(source),
        os.fsencode(target),
        kind.encode(),
        ctypes.c_ulong(flags),
        None,
        where=target,
    )


def _call(name: str, *arguments: object, where: str | None = None) -> None:
    function = getattr(ctypes.CDLL(None, use_errno=True), name)
    if function(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}", where)


def _find(program: str, environment: dict[str, str]) -> str:
    """Return where a program is; a name without a slash is looked up in PATH."""
    if "/" in program:
        return program
    for directory in environment.get("PATH", "").split(":"):
        place = f"{directory}/{program}"
        if directory and os.access(place, os.X_OK):
            return place
    return program


if __name__ == "__main__":
    main()
