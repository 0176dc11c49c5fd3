"""Running a program with a directory tree as its root directory.

The program runs in mount and process namespaces of its own: its mounts are never seen
outside, and they go, with all processes, when the caller ends, however it ends.

Run as a script, this file is the part inside of the namespaces; nobody else calls it:

    corpus_chroot.py ROOT SOURCE TARGET … -- PROGRAM ARGUMENT …
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from prime_error import PrimeError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_FAILED_TO_START = 127
_DETAIL_LINES = 6
_ENVIRONMENT = {
    "DEBIAN_FRONTEND": "noninteractive",
    "HOME": "/root",
    "LC_ALL": "C.UTF-8",
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
}
# What apt and debootstrap say where a mirror can't be reached.
_NO_NETWORK = (
    "Could not resolve",
    "Could not connect",
    "Couldn't download",
    "Failed getting release file",
    "Failed to fetch",
    "Temporary failure resolving",
)
_PROXIES = ("http_proxy", "https_proxy", "no_proxy")
HARMLESS = (
    "setpriv",
    "--bounding-set=-net_admin,-sys_boot,-sys_module,-sys_time",
)
"""Before a program that runs as root: a firewall's would close this machine's network,
which it shares."""
_NAMESPACES = (
    *HARMLESS,
    "--pdeathsig=KILL",
    "unshare",
    "--mount",
    "--propagation=private",
    "--pid",
    "--fork",
    "--kill-child",
)


def run_confined(words: Sequence[str]) -> str:
    """Run a program of this machine so that neither mounts nor processes stay behind.

    :param words: the program and its arguments.
    :returns: what it wrote to standard output and standard error.
    :raises PrimeError: if it failed: status 69; 74 where the disk is full, 75 without
        the network.
    """
    proxies = {name: os.environ[name] for name in _PROXIES if name in os.environ}
    done = subprocess.run(
        [*_NAMESPACES, *words],
        env={**_ENVIRONMENT, **proxies},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        encoding="utf-8",
        errors="replace",
    )
    if done.returncode:
        raise _failure(words, done.stdout)
    return done.stdout


def run_in_tree(
    root: Path, words: Sequence[str], *, binds: Mapping[Path, str] | None = None
) -> str:
    """Run a program of a tree, with the tree as root directory.

    :param root: the tree; ``proc``, ``dev`` and ``tmp`` are directories in it.
    :param words: the program, as the tree names it, and its arguments.
    :param binds: files and directories of this machine, and where in the tree they are
        seen: paths below the root that exist.
    :returns: what it wrote to standard output and standard error.
    :raises PrimeError: if it failed: status 69; 74 where the disk is full, 75 without
        the network.
    """
    pairs = [
        word
        for source, target in (binds or {}).items()
        for word in (str(source), target)
    ]
    inner = [sys.executable, str(Path(__file__).resolve()), str(root), *pairs]
    return run_confined([*inner, "--", *words])


def _failure(words: Sequence[str], output: str) -> PrimeError:
    lines = [line for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("E: ", "Err:"))]
    said = "\n  ".join((errors or lines)[-_DETAIL_LINES:])
    if "No space left on device" in output:
        message = f"The disk is full: free some space.\n  {said}"
        return PrimeError(message, exit_status=os.EX_IOERR)
    program = words[words.index("--") + 1] if "--" in words else words[0]
    no_network = any(symptom in output for symptom in _NO_NETWORK)
    hint = " without the network: connect and try again" if no_network else ""
    message = f"{program} failed{hint}:\n  {said}"
    status = os.EX_TEMPFAIL if no_network else os.EX_UNAVAILABLE
    return PrimeError(message, exit_status=status)


def _enter(root: Path, binds: Mapping[str, str], words: list[str]) -> None:
    """Mount what a system has, change the root directory, and become the program."""
    mounts = [
        ["-t", "proc", "proc", str(root / "proc")],
        ["--rbind", "/dev", str(root / "dev")],
        ["-t", "tmpfs", "tmpfs", str(root / "tmp")],
    ]
    mounts += [
        ["--bind", source, str(root / target)] for source, target in binds.items()
    ]
    for arguments in mounts:
        subprocess.run(["mount", *arguments], check=True)  # noqa: S607  (in PATH above)
    os.chroot(root)
    os.chdir("/")
    os.execvp(words[0], words)  # noqa: S606  (no shell is wanted)


def main(arguments: Sequence[str]) -> int:
    """Be the part inside of the namespaces.

    :returns: the exit status where the program couldn't be started: 127.
    """
    end = arguments.index("--")
    pairs = arguments[1:end]
    binds = dict(zip(pairs[::2], pairs[1::2], strict=True))
    try:
        _enter(Path(arguments[0]), binds, list(arguments[end + 1 :]))
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"E: {error}", file=sys.stderr)
    return _FAILED_TO_START


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
