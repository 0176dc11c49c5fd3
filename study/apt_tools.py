"""Running apt's and dpkg's programs, with a package state of one's own."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from prime_error import PrimeError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_DETAIL_LINES = 5
# apt takes an installed package without dependencies for another version than the
# archive's, and would upgrade it when a sibling of its source package is asked for.
# This makes it prefer what is installed.
_PREFERENCES = "Package: *\nPin: release a=now\nPin-Priority: 1001\n"


def run_tool(
    arguments: Sequence[str],
    *,
    directory: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Run one of apt's and dpkg's programs, or of a package.

    :param arguments: the program's name and its arguments.
    :param directory: where to run it; the current directory if not given.
    :param environment: what is added to that of this process.
    :returns: what it wrote to standard output.
    :raises PrimeError: if it's missing (status 69) or failed (69; 74 on a full disk).
    """
    program = shutil.which(arguments[0])
    if program is None:
        message = (
            f"'{arguments[0]}' isn't on this machine. This script needs apt and dpkg, "
            "so run it on Debian, Ubuntu or a system made of them."
        )
        raise PrimeError(message, exit_status=os.EX_UNAVAILABLE)
    done = subprocess.run(
        [program, *arguments[1:]],
        cwd=directory,
        env={**os.environ, "LC_ALL": "C.UTF-8", **(environment or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        encoding="utf-8",
        errors="replace",
    )
    if done.returncode != 0:
        raise _failure(arguments[0], done.stdout, done.stderr)
    return done.stdout


def debian_mirror(label: str = "Debian") -> str:
    """Return the address of the Debian mirror that this machine's apt uses.

    :param label: of the archive's Release file; ``Debian-Security`` for the other one.
    :raises PrimeError: if apt's sources name none: status 69.
    """
    words = ["indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]
    found = run_tool(["apt-get", *words, f"Label: {label}"]).split()
    if not found:
        message = (
            f"apt's sources name no mirror of the archive '{label}': add one (see "
            "sources.list(5)), run 'apt-get update', and try again."
        )
        raise PrimeError(message, exit_status=os.EX_UNAVAILABLE)
    return found[0]


def _failure(program: str, output: str, complaint: str) -> PrimeError:
    lines = [line for line in (complaint or output).splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("E: ")] or lines[-3:]
    if len(errors) > _DETAIL_LINES:
        left_off = len(errors) - _DETAIL_LINES
        errors = [*errors[:_DETAIL_LINES], f"and {left_off} more"]
    # apt says what it can't satisfy at the end of its standard output.
    _, unmet, reasons = output.partition("have unmet dependencies:\n")
    details = reasons.splitlines()[:_DETAIL_LINES] if unmet else []
    said = "\n  ".join([*errors, *(line.strip() for line in details)])
    if "No space left on device" in output + complaint:
        message = f"The disk is full: free some space.\n  {said}"
        return PrimeError(message, exit_status=os.EX_IOERR)
    return PrimeError(f"{program} failed:\n  {said}", exit_status=os.EX_UNAVAILABLE)


class Apt:
    """The machine's apt, with its own idea of what is installed: at first, nothing.

    Needs no root and leaves the machine's package state and caches alone. Sources and
    pins below ``/etc/apt`` hold, but ``/etc/apt/preferences`` itself isn't read.

    :param directory: an empty directory, there for as long as this object is used.
    """

    def __init__(self, directory: Path) -> None:
        self._status = directory / "status"
        settings = {
            "APT::Get::Show-User-Simulation-Note": "false",
            "APT::Install-Suggests": "false",
            # apt drops root's rights for downloads, and then can't write into root's
            # directories.
            "APT::Sandbox::User": "",
            "Debug::NoLocking": "true",
            "Dir::Cache::pkgcache": str(directory / "pkgcache.bin"),
            # Read once and used by every call; it doesn't hold what is installed.
            "Dir::Cache::srcpkgcache": str(directory / "srcpkgcache.bin"),
            "Dir::Etc::preferences": str(directory / "preferences"),
            "Dir::State::extended_states": str(directory / "extended_states"),
            "Dir::State::status": str(self._status),
        }
        self._options = [f"--option={key}={value}" for key, value in settings.items()]
        (directory / "preferences").write_text(_PREFERENCES, encoding="utf-8")
        self.set_status("")

    def set_status(self, text: str) -> None:
        """Say what is installed, in the form of dpkg's status file."""
        self._status.write_text(text, encoding="utf-8")

    def installed_status(self) -> str:
        """Return what is really installed on this machine, in the form of that file."""
        name = run_tool(["apt-config", "shell", "NAME", "Dir::State::status/f"])
        return Path(name.partition("'")[2].rstrip("'\n")).read_text(encoding="utf-8")

    def run(self, program: str, *arguments: str, directory: Path | None = None) -> str:
        """Run ``apt-get`` or ``apt-cache``; see :func:`run_tool`."""
        command = [program, *self._options, *arguments]
        return run_tool(command, directory=directory)
