#!/usr/bin/env python3
"""Build a real prime directory from Debian or Ubuntu packages.

The result is the ``prime/`` of a publisher who lists the packages under
``stage-packages``: the packages and all that they need beyond the base snap, unpacked,
with the caches that packages' triggers make, ``meta/snap.yaml`` and a desktop file.
``snap pack`` accepts it, and the app starts from it. The packages are those of this
machine's release, whatever the base is. A launch outside of snapd takes the base's
libraries from this machine (``--print-base-libraries`` lists those that are missing). A
program with built-in paths of an installed system (meld: ``/usr/share/meld``) needs a
layout, which only snapd makes, so it doesn't start.

    python3 study/prime_from_debs.py gnome-calculator -o prime

The script needs Python and apt, no root, and the network for packages that aren't in
the cache. The same packages give the same tree. Exit status: 0; 64 wrong arguments, 65
a damaged download, 66 an unknown package, 69 apt is missing or fails (no network), 73
DIR is in the way, 74 reading or writing failed or the disk is full.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from apt_closure import AptClosure, Package, read_base_list
from apt_tools import Apt, run_tool
from deb_cache import Archive, fetch_archives
from desktop_file import write_desktop_file
from prime_alternatives import make_alternatives
from prime_error import PrimeError, UsageParser, end_by_sigterm, note, run_script
from prime_tree import (
    file_figures,
    make_fit_for_snap,
    settle_times,
    strip_documentation,
    unpack,
)
from prime_triggers import run_triggers
from snap_metadata import (
    SnapMetadata,
    check_app,
    check_snap_name,
    default_command,
    default_environment,
    desktop_environment,
    snap_name,
    snap_version,
    snap_yaml,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_LISTS = Path(__file__).resolve().parent


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the arguments, checked against one another."""
    parser = UsageParser(
        prog="prime_from_debs.py",
        description="Build a real prime directory from Debian or Ubuntu packages.",
    )
    add = parser.add_argument
    add("packages", metavar="PACKAGE", nargs="+", help="the first one is the main one")
    add("-o", "--output", metavar="DIR", type=Path, help="the prime directory to build")
    add("--name", help="the snap's name (the main package's)")
    add("--command", metavar="PATH", help="the main app's program: usr/bin/foo")
    add(
        "--app",
        metavar="NAME=COMMAND",
        action="append",
        default=[],
        help="one more app; may be repeated",
    )
    add("--base", default="core24", help="the base snap (core24)")
    add("--keep-base", action="store_true", help="keep what the base supplies")
    add("--exclude", metavar="PACKAGE", action="append", default=[], help="leave out")
    add("--recommends", action="store_true", help="follow Recommends as well")
    add("--no-triggers", action="store_true", help="files of the packages alone")
    add(
        "--alternatives", action="store_true", help="make links as packages' scripts do"
    )
    add("--strip-docs", action="store_true", help="leave out manual pages and docs")
    add("--cache", metavar="DIR", type=Path, default=default_cache(), help=".deb files")
    add("--force", action="store_true", help="replace a prime directory at DIR")
    add("--print-packages", action="store_true", help="list the closure, build nothing")
    add("--print-base", action="store_true", help="list the base's packages")
    add(
        "--print-base-libraries",
        action="store_true",
        help="list the base's libraries that a launch needs and this machine lacks",
    )
    parsed = parser.parse_args(arguments)
    prints = parsed.print_packages or parsed.print_base_libraries or parsed.print_base
    if parsed.output is None and not prints:
        parser.error("say where the prime directory goes: -o DIR")
    if any("=" not in app for app in parsed.app):
        parser.error("an app is NAME=COMMAND")
    return parsed


def default_cache() -> Path:
    """Return the folder for .deb files in the user's cache directory."""
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches) / "prime-from-debs"


def closure(arguments: argparse.Namespace, apt: Apt) -> list[Package]:
    """Return the packages that the arguments ask for, with what they need."""
    base_list = _LISTS / f"{arguments.base}-packages.txt"
    return AptClosure(apt).resolve(
        arguments.packages,
        base=None if arguments.keep_base else read_base_list(base_list),
        excluded=arguments.exclude,
        recommends=arguments.recommends,
    )


def base_libraries(arguments: argparse.Namespace, apt: Apt) -> list[str]:
    """Return the names of the base's libraries that the packages need."""
    if arguments.keep_base:
        return []
    base = read_base_list(_LISTS / f"{arguments.base}-packages.txt")
    return AptClosure(apt).supplied_libraries(arguments.packages, base)


def check_output(output: Path, *, force: bool) -> None:
    """Refuse to build over anything but nothing, or over a prime directory if forced.

    :raises PrimeError: if something is in the way: status 73.
    """
    if not os.path.lexists(output):
        return
    if output.is_dir() and not output.is_symlink():
        if not any(output.iterdir()):
            return
        if force and (output / "meta" / "snap.yaml").is_file():
            return
        hint = "it has no meta/snap.yaml, so --force won't remove it"
        hint = hint if force else "add --force to replace a prime directory"
    else:
        hint = "it isn't a directory"
    message = f"{output} is in the way: {hint}."
    raise PrimeError(message, exit_status=os.EX_CANTCREAT)


def build(arguments: argparse.Namespace, apt: Apt) -> None:
    """Build the prime directory beside its place and move it there when it's whole."""
    if arguments.name is not None:
        check_snap_name(arguments.name)
    output = Path(os.path.abspath(arguments.output))  # noqa: PTH100  (keeps links)
    check_output(output, force=arguments.force)
    note(f"resolving {' '.join(arguments.packages)}")
    packages = closure(arguments, apt)
    cache = arguments.cache.absolute()
    archives = fetch_archives(packages, cache, apt=apt, note=note)
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        prefix=f".{output.name}.", dir=output.parent
    ) as scratch:
        root = Path(scratch) / "prime"
        note(f"unpacking {len(archives)} packages")
        unpack([archive.path for archive in archives], root)
        if arguments.alternatives:
            make_alternatives(root, [archive.path for archive in archives])
        make_fit_for_snap(root)
        if arguments.strip_docs:
            strip_documentation(root)
        generated = []
        if not arguments.no_triggers:
            tools = Path(scratch) / "tools"
            generated = run_triggers(
                root,
                tools,
                libraries=lambda: base_libraries(arguments, apt),
                apt=apt,
                cache=cache,
                note=note,
            )
        generated += write_metadata(arguments, archives, root)
        settle_times(root, generated)
        put_in_place(root, output, Path(scratch) / "replaced")
    files, size_bytes = file_figures(output)
    note(f"{output}: {files:,} files, {size_bytes / 1e6:.1f} MB")


def put_in_place(root: Path, output: Path, replaced: Path) -> None:
    """Move the finished tree to its place; what was there goes to ``replaced``."""
    if os.path.lexists(output):
        output.rename(replaced)
    root.rename(output)


def write_metadata(
    arguments: argparse.Namespace, archives: Sequence[Archive], root: Path
) -> list[Path]:
    """Write ``meta/snap.yaml`` and the desktop file; return what was written."""
    main_name = arguments.packages[0].split(":")[0]
    by_name = {it.package.name.split(":")[0]: it for it in archives}
    main = by_name[main_name]
    paths = package_paths(main.path)
    name = arguments.name or snap_name(main_name)
    metadata = SnapMetadata(
        name=name,
        version=snap_version(main.package.version),
        summary=_field(main.path, "Description").split("\n")[0],
        architecture=run_tool(["dpkg", "--print-architecture"]).strip(),
        base=arguments.base,
        apps=chosen_apps(arguments, name, paths, root),
    )
    describe = default_environment if arguments.no_triggers else desktop_environment
    environment = describe(root, metadata.architecture)
    snap_yaml_path = root / "meta" / "snap.yaml"
    snap_yaml_path.parent.mkdir(exist_ok=True)
    snap_yaml_path.write_text(snap_yaml(metadata, environment), encoding="utf-8")
    generated = [snap_yaml_path]
    for app, command in list(metadata.apps.items())[:1]:
        generated += write_desktop_file(
            root, paths, snap=name, app=app, command=command
        )
    return generated


def package_paths(archive: Path) -> list[str]:
    """Return the paths that a .deb carries, without the leading ``./``."""
    listing = run_tool(["dpkg-deb", "--contents", str(archive)])
    # Mode, owner, size, date, time, name; then what a link points to.
    names = (line.split(maxsplit=5)[-1] for line in listing.splitlines())
    names = (re.split(" -> | link to ", name)[0] for name in names)
    return [name.removeprefix("./").rstrip("/") for name in names]


def chosen_apps(
    arguments: argparse.Namespace, name: str, paths: list[str], root: Path
) -> dict[str, str]:
    """Return the commands by app name: those asked for, else the package's own."""
    main_package = arguments.packages[0].split(":")[0]
    command = arguments.command or default_command(main_package, paths, root)
    apps = dict(app.split("=", 1) for app in arguments.app)
    if command and (arguments.command or not apps):
        apps = {name: command, **apps}
    for app, program in apps.items():
        check_app(app, program, root)
    if not apps:
        note(f"{main_package} has no plain main program; name one with --command")
    return apps


def _field(archive: Path, field: str) -> str:
    return run_tool(["dpkg-deb", "--field", str(archive), field]).strip()


def run(arguments: argparse.Namespace) -> None:
    """Do what the arguments ask for."""
    os.umask(0o022)  # for files written here; those of the packages have their modes
    with tempfile.TemporaryDirectory(prefix="prime-from-debs.") as directory:
        apt = Apt(Path(directory))
        if arguments.print_packages:
            for package in closure(arguments, apt):
                print(package.name, package.version)
        elif arguments.print_base:
            base = read_base_list(_LISTS / f"{arguments.base}-packages.txt")
            print(*AptClosure(apt).supplied(base), sep="\n")
        elif arguments.print_base_libraries:
            names = base_libraries(arguments, apt)
            for package in AptClosure(apt).missing_here(names):
                print(package.name)
        else:
            build(arguments, apt)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the script.

    :returns: the exit status, as the module's docstring lists it.
    """
    parsed = parse_arguments(sys.argv[1:] if arguments is None else arguments)
    return run_script("prime_from_debs.py", lambda: run(parsed))


if __name__ == "__main__":
    end_by_sigterm()
    sys.exit(main())
