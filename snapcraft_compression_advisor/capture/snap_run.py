"""How ``snap run`` is started, and what it means where it fails.

An app belongs to a user: where the advisor runs under sudo, that is whoever called it.
"""

from __future__ import annotations

import os
import pwd
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..core.errors import ToolError
from .snap_environment import kept_environment
from .start import Command

_ADVICE = {
    re.compile(
        r"is not a snap cgroup|session bus|user session|XDG_RUNTIME_DIR|transient scope"
        r"|autolaunch D-Bus",
        re.IGNORECASE,
    ): (
        "The snap needs a session of its user: log in there (on the desktop, or by "
        "ssh), and run the command with sudo from it."
    ),
    re.compile(r"Authorization required|cannot open display", re.IGNORECASE): (
        "snapd gives an app the key to its display only where the user has a session, "
        "whose directory /run/user/UID exists: log in there, and run the command with "
        "sudo from it."
    ),
    re.compile(r"not connected to the|content snap", re.IGNORECASE): (
        "Connect its content snaps: 'snap connections' lists those that aren't."
    ),
    re.compile(r"inhibited|pending refresh|snap is disabled", re.IGNORECASE): (
        "Wait for the refresh to end ('snap changes'), or enable the snap."
    ),
}
"""What snapd's programs say, and what to do then."""


@contextmanager
def snap_run(instance: str, app: str, *, program: str) -> Iterator[Command]:
    """Yield how snapd starts an app, as the user who called sudo if somebody did.

    :param instance: the snap, with the key of a parallel instance.
    :param program: ``snap``.
    :raises ToolError: if the launch fails, with what to do about it.
    """
    name = instance if app == instance.partition("_")[0] else f"{instance}.{app}"
    words: tuple[str, ...] = (program, "run", name)
    environment = kept_environment()
    user = os.environ.get("SUDO_UID", "")
    try:
        if os.geteuid() or not user.isdecimal() or not int(user):
            yield Command(words=words, environment=environment, installed=True)
            return
        account = pwd.getpwuid(int(user))
        ids = (f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}")
        words = ("setpriv", *ids, "--init-groups", "--", *words)
        environment |= _user_environment(account)
        with _authority(account) as added:
            environment |= added
            yield Command(words=words, environment=environment, installed=True)
    except ToolError as error:
        error.resolution = _advice(error) or error.resolution
        raise


def _user_environment(account: pwd.struct_passwd) -> dict[str, str]:
    """Return what differs in a user's session from that of sudo."""
    runtime = Path(f"/run/user/{account.pw_uid}")
    bus = {"DBUS_SESSION_BUS_ADDRESS": f"unix:path={runtime}/bus"}
    return {
        "HOME": account.pw_dir,
        "USER": account.pw_name,
        "LOGNAME": account.pw_name,
        "SHELL": account.pw_shell,
        "XDG_RUNTIME_DIR": str(runtime),
        **(bus if (runtime / "bus").exists() else {}),
    }


@contextmanager
def _authority(account: pwd.struct_passwd) -> Iterator[dict[str, str]]:
    """Let a user have the key to a display that is root's, as a virtual one is."""
    source = Path(os.environ.get("XAUTHORITY", ""))
    if not source.is_file() or source.stat().st_uid == account.pw_uid:
        yield {}
        return
    with tempfile.NamedTemporaryFile(prefix="xauthority-") as file:
        shutil.copyfile(source, file.name)
        os.chown(file.name, account.pw_uid, account.pw_gid)
        yield {"XAUTHORITY": file.name}


def _advice(error: ToolError) -> str | None:
    """Return what to do where snapd says why."""
    said = error.details or ""
    found = (advice for pattern, advice in _ADVICE.items() if pattern.search(said))
    return next(found, None)
