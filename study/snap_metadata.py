"""``meta/snap.yaml`` of a prime directory.

The fields and the default environment are those that snapcraft writes for a strictly
confined snap on core22 and later (snapcraft, ``meta/snap_yaml.py``, ``utils.py``).
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prime_error import PrimeError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# snapd, snap/naming/validate.go: names; snap/validate.go: versions and summaries.
_NAME_MINIMUM = 2
_NAME_LIMIT = 40
_VERSION_LIMIT = 32
_SUMMARY_LIMIT = 128
_SNAP_NAME = re.compile(r"(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*")
_APP_NAME = re.compile(r"[a-zA-Z0-9](?:-?[a-zA-Z0-9])*")
_PROGRAM_DIRECTORIES = ("usr/bin", "usr/games", "bin", "usr/sbin", "sbin")
_PATH = "$SNAP/usr/sbin:$SNAP/usr/bin:$SNAP/sbin:$SNAP/bin:$PATH"
# Debian's and snapd's architecture → the multiarch folder of its libraries.
_LIBRARY_FOLDERS = {
    "amd64": "x86_64-linux-gnu",
    "arm64": "aarch64-linux-gnu",
    "armhf": "arm-linux-gnueabihf",
    "i386": "i386-linux-gnu",
    "ppc64el": "powerpc64le-linux-gnu",
    "riscv64": "riscv64-linux-gnu",
    "s390x": "s390x-linux-gnu",
}
# Variable → what it names, if that is in the tree.
_VARIABLES = {
    "ALSA_CONFIG_PATH": ("usr/share/alsa/alsa.conf",),
    "FONTCONFIG_PATH": ("etc/fonts",),
    "GDK_PIXBUF_MODULE_FILE": ("usr/lib/*/gdk-pixbuf-2.0/*/loaders.cache",),
    "GIO_MODULE_DIR": ("usr/lib/*/gio/modules",),
    "GI_TYPELIB_PATH": ("usr/lib/*/girepository-1.0", "usr/lib/girepository-1.0"),
    "GTK_IM_MODULE_FILE": ("usr/lib/*/gtk-3.0/*/immodules.cache",),
    "GTK_PATH": ("usr/lib/*/gtk-4.0", "usr/lib/*/gtk-3.0"),
    "LIBGL_DRIVERS_PATH": ("usr/lib/*/dri",),
    "PYTHONPATH": ("usr/lib/python3/dist-packages",),
    "QT_PLUGIN_PATH": ("usr/lib/*/qt5/plugins", "usr/lib/*/qt6/plugins"),
    "SUPERTUXKART_DATADIR": ("usr/share/games/supertuxkart",),
    "XDG_CONFIG_DIRS": ("etc/xdg",),
    "XDG_DATA_DIRS": ("usr/share",),
    "XKB_CONFIG_ROOT": ("usr/share/X11/xkb",),
    "XLOCALEDIR": ("usr/share/X11/locale",),
    "__EGL_VENDOR_LIBRARY_DIRS": ("usr/share/glvnd/egl_vendor.d",),
}
# Lists of modules name theirs without a folder (see prime_triggers.py), and packages
# have some libraries aside, for alternatives or the loader's settings to point to.
_MODULE_FOLDERS = (
    "usr/lib/*/gdk-pixbuf-2.0/*/loaders",
    "usr/lib/*/gtk-[23].0/*/immodules",
    "usr/lib/*/blas",
    "usr/lib/*/lapack",
    "usr/lib/*/pulseaudio",
)
# LibreOffice finds its files beside the library that it starts with; Debian has some of
# its libraries in the usual folder as well.
_FIRST_FOLDERS = ("usr/lib/libreoffice/program",)
_INHERITED_LIBRARIES = "${SNAP_LIBRARY_PATH}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapMetadata:
    """What ``meta/snap.yaml`` says, apart from the environment.

    :param apps: commands by app name; a command is a path below the prime directory.
    """

    name: str
    version: str
    summary: str
    architecture: str
    base: str
    apps: Mapping[str, str]


def snap_name(package: str) -> str:
    """Return a package's name by the rules for snap names.

    >>> snap_name("libstdc++6")
    'libstdc-6'
    """
    name = "-".join(re.findall(r"[a-z0-9]+", package.lower()))
    if re.search("[a-z]", name[:_NAME_LIMIT]) is None or len(name) == 1:
        name = f"snap-{name}"
    return name[:_NAME_LIMIT].strip("-")


def snap_version(package_version: str) -> str:
    """Return a package's version by snapd's rules: no epoch, at most 32 characters.

    >>> snap_version("1:43.0.1-2")
    '43.0.1-2'
    """
    without_epoch = package_version.split(":", 1)[-1]
    allowed = re.sub(r"[^a-zA-Z0-9.+~-]", "-", without_epoch)
    return allowed[:_VERSION_LIMIT].strip(".+~-") or "0"


def check_snap_name(name: str) -> None:
    """Make sure that snapd takes a snap's name.

    :raises PrimeError: if it doesn't: status 64.
    """
    if not _SNAP_NAME.fullmatch(name) or not _NAME_MINIMUM <= len(name) <= _NAME_LIMIT:
        message = (
            f"'{name}' is no snap name: 2 to {_NAME_LIMIT} lower-case letters, digits "
            "and single dashes, with a letter among them."
        )
        raise PrimeError(message, exit_status=os.EX_USAGE)


def check_app(name: str, command: str, root: Path) -> None:
    """Make sure that snapd takes an app.

    :raises PrimeError: if the name isn't one, or the command no program in the tree.
    """
    if not _APP_NAME.fullmatch(name):
        message = f"'{name}' is no app name: letters, digits and single dashes only."
        raise PrimeError(message, exit_status=os.EX_USAGE)
    if not is_program(command, root):
        message = (
            f"There's no program '{command}' among the packages' files. "
            "Name it by its path in the prime directory, like usr/bin/NAME."
        )
        raise PrimeError(message, exit_status=os.EX_USAGE)


def is_program(command: str, root: Path) -> bool:
    """Return whether a path below the root leads to an executable file within it."""
    try:
        end = (root / command).resolve()
    except (OSError, RuntimeError):  # a loop of links, up to Python 3.12
        return False
    inside = end.is_relative_to(root.resolve())
    return inside and end.is_file() and os.access(end, os.X_OK)


def default_command(package: str, package_paths: list[str], root: Path) -> str | None:
    """Return the program that a package is about, if that is plain.

    :param package_paths: the paths that the package carries, below the root.
    :returns: its program of the same name, else the only one that it has, else a
        program of the same name from another package, else ``None``.
    """
    own = [
        path
        for path in sorted(package_paths)
        if path.rpartition("/")[0] in _PROGRAM_DIRECTORIES and is_program(path, root)
    ]
    named = [path for path in own if path.rpartition("/")[2] == package]
    if named or len(own) == 1:
        return (named or own)[0]
    candidates = [f"{directory}/{package}" for directory in _PROGRAM_DIRECTORIES]
    return next((path for path in candidates if is_program(path, root)), None)


def default_environment(root: Path, architecture: str) -> dict[str, str]:
    """Return the environment that snapcraft gives to an app by default.

    :param architecture: as dpkg names it: ``amd64``.
    """
    folders = ["lib", "usr/lib"]
    if multiarch := _LIBRARY_FOLDERS.get(architecture):
        folders += [f"lib/{multiarch}", f"usr/lib/{multiarch}"]
    libraries = [f"$SNAP/{folder}" for folder in folders if (root / folder).exists()]
    return {
        "LD_LIBRARY_PATH": ":".join([_INHERITED_LIBRARIES, *libraries]),
        "PATH": _PATH,
    }


def desktop_environment(root: Path, architecture: str) -> dict[str, str]:
    """Return an environment in which libraries find the tree's files, not the system's.

    snapcraft's gnome extension sets such variables in its launcher. Here they are in
    ``snap.yaml``, as far as there is something in the tree for them.

    :param architecture: as dpkg names it: ``amd64``.
    """
    environment = default_environment(root, architecture)
    usual = environment["LD_LIBRARY_PATH"].removeprefix(_INHERITED_LIBRARIES)
    first, modules = _in_snap(root, _FIRST_FOLDERS), _in_snap(root, _MODULE_FOLDERS)
    environment["LD_LIBRARY_PATH"] = ":".join(
        [_INHERITED_LIBRARIES, *first, *filter(None, usual.split(":")), *modules]
    )
    found = {name: _in_snap(root, patterns) for name, patterns in _VARIABLES.items()}
    return environment | {
        name: ":".join(paths) for name, paths in found.items() if paths
    }


def _in_snap(root: Path, patterns: tuple[str, ...]) -> list[str]:
    return [
        f"$SNAP/{path.relative_to(root)}"
        for pattern in patterns
        for path in sorted(root.glob(pattern))
    ]


def snap_yaml(metadata: SnapMetadata, environment: Mapping[str, str]) -> str:
    """Return the text of ``meta/snap.yaml``; strings are quoted as JSON does."""
    summary = " ".join(metadata.summary.split())[:_SUMMARY_LIMIT] or metadata.name
    fields: dict[str, object] = {
        "name": metadata.name,
        "version": metadata.version,
        "summary": summary,
        "description": summary,
        "architectures": [metadata.architecture],
        "base": metadata.base,
        "confinement": "strict",
        "grade": "stable",
        "environment": dict(environment),
    }
    if metadata.apps:
        fields["apps"] = {
            name: {"command": command} for name, command in metadata.apps.items()
        }
    return "\n".join(_yaml_lines(fields)) + "\n"


def _yaml_lines(fields: Mapping[str, object], indent: str = "") -> list[str]:
    lines = []
    for key, value in fields.items():
        if isinstance(value, dict):
            lines += [f"{indent}{key}:", *_yaml_lines(value, f"{indent}  ")]
        else:
            lines.append(f"{indent}{key}: {json.dumps(value, ensure_ascii=False)}")
    return lines
