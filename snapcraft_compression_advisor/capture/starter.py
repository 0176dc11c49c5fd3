"""Becomes the command that is launched; or ends it if the advisor is gone.

Run as a script of its own by :mod:`process_tree`, not imported: what has to happen
between fork and exec (mounting, changing the root) isn't safe in a copy of a process
that has threads. It imports nothing of this package.

With ``keep`` as the first argument it is no part of the launch; see :func:`keep`. Else
it becomes the command. The interpreter's start is over before the clock starts, and the
command inherits no descriptor but the standard ones.

Protocol, over the socket whose descriptor is the first argument: the specification
(one line of JSON) comes in, ``ready`` goes out; the next line in starts the command. If
calls are to be noticed, out goes a byte, with the filter's descriptor if the kernel
takes it. Then the monotonic clock in nanoseconds, right before exec. The socket closes
with exec; a line that follows says why exec failed.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import re
import resource
import select
import shutil
import signal
import socket
import stat
import struct
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

# linux/sched.h, linux/mount.h, linux/prctl.h, asm-generic/unistd.h
_CLONE_NEWNS, _CLONE_NEWUSER = 0x00020000, 0x10000000
_MS_NOSUID, _MS_NODEV = 2, 4
_MS_BIND, _MS_REC, _MS_PRIVATE = 4096, 16384, 1 << 18
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2
_SECCOMP_SET_MODE_FILTER, _SECCOMP_FILTER_FLAG_NEW_LISTENER = 1, 8  # linux/seccomp.h
# linux/bpf_common.h, linux/seccomp.h
_EQUAL, _AT_LEAST, _AND, _SUBTRACT, _RETURN = 0x15, 0x35, 0x54, 0x14, 0x06
_LOAD_NUMBER, _LOAD_ARCHITECTURE = (0x20, 0, 0, 0), (0x20, 0, 0, 4)
_ALLOW, _FAIL = (_RETURN, 0, 0, 0x7FFF0000), 0x00050000
_X32 = 0x40000000
"""Marks calls of another binary interface on x86-64 (asm/unistd.h)."""
_ADD_KEY = {
    0x40000003: 286, 0x40000028: 309, 0x80000016: 278, 0xC0000015: 269,
    0xC000003E: 248, 0xC00000B7: 217, 0xC00000F3: 217,
}  # fmt: skip
"""Number of add_key(2), which request_key(2) and keyctl(2) follow, by architecture
(linux/audit.h, asm/unistd.h)."""
_FIRST_PROCESS = re.compile(rb'"child-pid": (\d+)\D')
_READ_BYTES = 4096
_STANDARD_ERROR = 2
_SHOWN = "/sys"
_USER_NAMESPACE = "\0user-namespace"
_INFORMATION = "\0information"
"""As :mod:`isolation` has them."""

SHARED = ("proc", "dev", "sys", "tmp")
"""Directories of the host that a launch in a root of its own sees."""

EMPTY = ("run", "var/tmp", "root", "home")
"""Directories that are fresh and writable in a root of its own."""


def main() -> None:
    """Read the specification, prepare, wait, and become the command."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    channel.set_inheritable(False)  # positional in the library
    source = channel.makefile("rb")
    try:
        specification = json.loads(source.readline())
        namespace = _prepare(specification)
        kept = {_USER_NAMESPACE: namespace, _INFORMATION: _information()}
        words = [str(kept.get(word, word)) for word in specification["words"]]
        path = specification["environment"].get("PATH", "")
        program = shutil.which(words[0], path=path) or words[0]
        channel.sendall(b"ready\n")
        if not source.readline():
            return  # the advisor is gone
        _keep_descriptors(set(kept.values()))
        if specification["call_filter"]:
            _have_calls_noticed(**specification["call_filter"], channel=channel)
        channel.sendall(b"%d\n" % time.monotonic_ns())
        os.execve(  # noqa: S606 # there is to be no shell
            program, words, specification["environment"]
        )
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        channel.sendall(f"error {error.strerror}{where}\n".encode(errors="replace"))


def _prepare(specification: dict[str, Any]) -> int | None:
    """Do what a specification says; return the descriptor of a new user namespace."""
    namespace = None
    if specification["new_root"]:
        _change_root(specification["new_root"], specification["shared_as"])
    if specification["user"] is not None:
        namespace = _become_other(specification["user"], specification["shown"])
    _limit(specification["limits"])
    if _information() is None:
        _call("prctl", _PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    else:
        _deny_keyrings()
    os.chdir(specification["directory"])
    # Python ignores these two, and what is ignored stays so over exec.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    return namespace


def _information() -> int | None:
    """Return the descriptor for :func:`keep`, which ends an isolated launch."""
    return int(sys.argv[2]) if sys.argv[2:] else None


def _deny_keyrings() -> None:
    """Have the system calls for keys fail: no namespace hides those of the same user.

    So container engines do by default.
    """
    program = [_LOAD_ARCHITECTURE]
    for architecture, first in _ADD_KEY.items():
        program += [
            (_EQUAL, 0, 6, architecture),
            _LOAD_NUMBER,
            (_AND, 0, 0, ~_X32 & 0xFFFFFFFF),
            (_SUBTRACT, 0, 0, first),
            (_AT_LEAST, 1, 0, 3),
            (_RETURN, 0, 0, _FAIL | errno.EPERM),
            _ALLOW,
        ]
    filter_, _kept = _packed([*program, _ALLOW])
    _call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _call("prctl", _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, filter_, 0, 0)


def _have_calls_noticed(
    seccomp: int, program: list[list[int]], channel: socket.socket
) -> None:
    """Have the calls that a filter names wait for the advisor, if the kernel lets us.

    What follows, up to exec, mustn't read: nobody may listen yet.
    """
    listener = _filter_calls(seccomp, program)
    if listener < 0 and ctypes.get_errno() == errno.EACCES:
        ctypes.CDLL(None).prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        listener = _filter_calls(seccomp, program)
    passed = struct.pack("i", listener)
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, passed)] if listener >= 0 else []
    channel.sendmsg([b"+"], rights)


def _filter_calls(seccomp: int, program: list[list[int]]) -> int:
    """Set a filter; return the descriptor of its notices, -1 if that fails."""
    filter_, _kept = _packed(program)
    libc = ctypes.CDLL(None, use_errno=True)
    set_filter, new = _SECCOMP_SET_MODE_FILTER, _SECCOMP_FILTER_FLAG_NEW_LISTENER
    found: int = libc.syscall(ctypes.c_long(seccomp), set_filter, new, filter_)
    return found


def _packed(program: Sequence[Sequence[int]]) -> tuple[bytes, object]:
    """Return a filter as the kernel takes it, and the memory that it points to."""
    packed = b"".join(struct.pack("=HBBI", *each) for each in program)
    instructions = ctypes.create_string_buffer(packed, len(packed))
    filter_ = struct.pack("@HP", len(program), ctypes.addressof(instructions))
    return filter_, instructions


def _change_root(root: str, shared_as: list[str]) -> None:
    """Take a system tree as the root, in a mount namespace that ends with us."""
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


def _become_other(user: int, shown: list[str]) -> int:
    """Prepare to run bubblewrap as root, and its command as another user.

    In a mount namespace that ends with us, files are shown where that user reaches
    them. Return the descriptor of a user namespace that has that user alone.
    """
    os.setgroups([])
    _call("unshare", _CLONE_NEWNS)
    _mount("none", "/", "", _MS_REC | _MS_PRIVATE)
    _mount("tmpfs", _SHOWN, "tmpfs", _MS_NOSUID | _MS_NODEV)
    os.chmod(_SHOWN, 0o711)  # noqa: PTH101, S103 # as above; to pass through
    for number, source in enumerate(shown):
        _show(source, f"{_SHOWN}/{number}")
    return _user_namespace(user)


def _show(source: str, place: str) -> None:
    """Show a directory or socket at a place; the content of a regular file."""
    descriptor = os.open(source, os.O_PATH | os.O_NOFOLLOW)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISDIR(mode):
        os.mkdir(place)  # noqa: PTH102 # as above
    else:
        with open(place, "wb") as file:  # noqa: PTH123 # as above
            if stat.S_ISREG(mode):
                with open(f"/proc/self/fd/{descriptor}", "rb") as original:  # noqa: PTH123 # as above
                    file.write(original.read())
        os.chmod(place, 0o444)  # noqa: PTH101 # as above
    if not stat.S_ISREG(mode):
        _mount(f"/proc/self/fd/{descriptor}", place, "", _MS_BIND | _MS_REC)
    os.close(descriptor)


def _user_namespace(user: int) -> int:
    """Make a user namespace that has one user, who is the same outside."""
    made, made_end = os.pipe()
    mapped, mapped_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(mapped_end)
        try:
            _call("unshare", _CLONE_NEWUSER)
            os.write(made_end, b"+")
            os.read(mapped, 1)
        finally:
            os._exit(0)
    os.close(made_end)
    if not os.read(made, 1):
        raise OSError(errno.EPERM, "no user namespace can be made")
    for name in ("uid_map", "gid_map"):
        with open(f"/proc/{child}/{name}", "w") as file:  # noqa: PTH123 # as above
            file.write(f"{user} {user} 1")
    namespace = os.open(f"/proc/{child}/ns/user", os.O_RDONLY)
    for end in (made, mapped, mapped_end):
        os.close(end)
    os.waitpid(child, 0)
    return namespace


def _limit(limits: dict[str, int]) -> None:
    """Set limits of resources, by their names in :mod:`resource`."""
    for name, value in limits.items():
        kind = getattr(resource, name)
        _, hard = resource.getrlimit(kind)
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (most, most))


def _keep_descriptors(kept: set[int | None]) -> None:
    """Have exec close all descriptors but the standard ones and those that are kept."""
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 # as above
        with contextlib.suppress(OSError):  # that of the listing
            if int(name) > _STANDARD_ERROR:
                os.set_inheritable(int(name), int(name) in kept)


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


def keep(information: int, advisor: int) -> None:
    """Wait for the end of the advisor or of the launch; kill the launch in any case.

    The launch sees neither this process nor its descriptors. bubblewrap's
    ``--die-with-parent`` would end a launch with its first process, although what that
    started goes on.

    :param information: descriptor on which bubblewrap names the first process of the
        launch's namespace, before that starts anything. The kernel kills all of a
        namespace with its first process.
    :param advisor: one that ends with the advisor.
    """
    text = b""
    while (found := _FIRST_PROCESS.search(text)) is None:
        read = os.read(information, _READ_BYTES)
        if not read:
            return  # bubblewrap started nothing
        text += read
    with contextlib.suppress(ProcessLookupError, FileNotFoundError):
        process = os.pidfd_open(int(found[1]))
        bubblewrap = os.pidfd_open(_parent(int(found[1])))
        poll = select.poll()
        poll.register(process, select.POLLIN)
        poll.register(advisor, select.POLLIN)
        poll.poll()
        signal.pidfd_send_signal(process, signal.SIGKILL)
        # The advisor may have stopped it, and be gone; its mounts end with it.
        signal.pidfd_send_signal(bubblewrap, signal.SIGCONT)


def _parent(process: int) -> int:
    """Return the id of a process's parent."""
    with open(f"/proc/{process}/stat", "rb") as file:  # noqa: PTH123 # as above
        return int(file.read().rpartition(b")")[2].split()[1])


if __name__ == "__main__":
    if sys.argv[1] == "keep":
        keep(*map(int, sys.argv[2:]))
    else:
        main()
