#!/usr/bin/env python3
"""Build and record the applications that ``draw.py`` has drawn, one after another.

    sudo .venv/bin/python study/launch_drawn.py --trees TREES --cache DIR

For each slot of the table ``data/drawn.csv`` (a stratum and a set), the script tries
the applications in the table's order until one was recorded:

- It reads the command from the package's desktop file or unit. A program in
  ``/usr/bin`` is started with ``--version``, or with ``--help`` if that fails.
- It builds the tree TREES/SET/NAME as ``launch_corpus.py`` does.
- It records the launch as ``launch.py`` does, on a display and a session bus of its
  own: until there is a window, until the program ends, or for a service, for some
  seconds.

What doesn't work stays in the table with the reason. Recordings for the fit go to
``data/launches``, blind ones to ``data/blind``: nobody looks at these before
``blind.py`` scores the guess on them. The script can be stopped and started again. It
needs what ``launch_corpus.py`` and ``launch.py`` need, and dbus-run-session.

``--again`` builds the trees of what was recorded before, of all draws, for a fit on
another machine. Security updates may have come since.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from ruamel.yaml import YAML

from corpus_applications import Application
from corpus_chroot import HARMLESS, run_in_tree
from corpus_tree import finish, share_files
from draw import DISTRIBUTIONS, DRAWN, FOLDERS, SEED, Drawn, read_drawn, write_drawn
from drawn_commands import below_root, event_of, refuse, words_of
from launch import record
from launch_corpus import (
    Builder,
    build,
    check_machine,
    is_finished,
    locked,
    make_base,
)
from prime_error import PrimeError, end_by_sigterm, note, run_script
from snap_metadata import snap_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TIMEOUT_S = 40
PROBE_S = 30
ATTEMPTS = 8
REASON_LENGTH = 120
_ENDS_ALL = (os.EX_IOERR, os.EX_TEMPFAIL)
_DROPPED = "dropped the system's caches"
# An abstract socket can be reached from a tree; no service of this machine is started.
_BUS = """\
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:abstract=launch-drawn-{number}</listen>
<auth>EXTERNAL</auth><policy context="default"><allow send_destination="*"/>
<allow eavesdrop="true"/><allow own="*"/></policy></busconfig>
"""
_BUS_SAYS = "dbus-daemon["
_ENVIRONMENT = {"qtwebengine": {"QTWEBENGINE_DISABLE_SANDBOX": "1"}}


@dataclass(kw_only=True)
class Work:
    """The table and the places, shared by the threads that fill slots.

    :param trees: where the trees go, in a directory for each set.
    :param until: the time, as ``time.time`` counts, after which no build begins.
    :param again: whether trees of what was recorded are built, and nothing else.
    """

    trees: Path
    cache: Path
    until: float
    again: bool = False
    table: Path = DRAWN
    builder: Builder = field(default_factory=Builder)
    writing: Lock = field(default_factory=Lock)
    recording: Lock = field(default_factory=Lock)
    building: dict[str, Lock] = field(
        default_factory=lambda: {release: Lock() for release in DISTRIBUTIONS}
    )

    def put(self, row: Drawn) -> None:
        """Write what became of an application into the table."""
        with self.writing:
            rows = read_drawn(self.table)
            place = next(i for i, it in enumerate(rows) if _is_same(it, row))
            write_drawn(self.table, [*rows[:place], row, *rows[place + 1 :]])

    def fill(self, rows: Sequence[Drawn]) -> None:
        """Try the applications of a slot until one is recorded."""
        for row in rows:
            if time.time() > self.until:
                return
            if row.outcome == "recorded":
                if self.again:
                    self.rebuild(row)
                return
            if row.outcome == "failed" or self.again:
                continue
            try:
                done = self.launch(row)
            except (PrimeError, subprocess.SubprocessError) as error:
                if getattr(error, "exit_status", 0) in _ENDS_ALL:
                    raise
                done = replace(row, outcome="failed", reason=self._reason(error))
            self.put(done)
            note(f"{row.stratum}, {row.set}: {row.package} {done.outcome}")
            if done.outcome == "recorded":
                return

    def rebuild(self, row: Drawn) -> None:
        """Build the tree of an application that was recorded."""
        tree = self._tree(row)
        with self.building[row.release]:
            if not is_finished(tree):
                self._build(row, application_of(row), tree.parent)
                share_files(tree, self.trees / ".shared")

    def _tree(self, row: Drawn) -> Path:
        return self.trees / row.set / snap_name(row.package)

    def launch(self, row: Drawn) -> Drawn:
        """Build an application's tree, record its launch, and return its row.

        :raises PrimeError: if it can't be built, or has nothing to start.
        :raises SubprocessError: if it can't be recorded.
        """
        application, tree = application_of(row), self._tree(row)
        name = application.name
        with self.building[row.release]:
            self._build(row, application, tree.parent)
        try:
            with self.recording:
                self._record(application, tree, FOLDERS[row.set] / f"{name}.json")
        except (PrimeError, subprocess.SubprocessError):
            shutil.rmtree(tree)  # nobody needs it, and there are many
            raise
        share_files(tree, self.trees / ".shared")
        yaml = YAML(typ="safe", pure=True)
        installed = yaml.load(tree / "snap/manifest.yaml")["primed-stage-packages"]
        (version,) = (
            each.partition("=")[2]
            for each in installed
            if each.startswith(f"{row.package}=")
        )
        return replace(
            row,
            version=version,  # a security update may have come after the release
            command=yaml.load(tree / "meta/snap.yaml")["apps"][name]["command"],
            event=application.event,
            outcome="recorded",
        )

    def _build(self, row: Drawn, application: Application, output: Path) -> None:
        cache = self.cache / row.release
        for directory in (output, cache / "archives" / "partial"):
            directory.mkdir(parents=True, exist_ok=True)

        def finish_drawn(root: Path, it: Application) -> None:
            text = (root / row.file).read_text(encoding="utf-8", errors="replace")
            command = below_root(words_of(row.file, text), root)
            if it.event == "exit":
                command = probed(root, command[0])
            finish(root, replace(it, command=command))

        with locked(cache):
            base = make_base(row.release, cache, self.builder)
            if row.file.endswith((".desktop", ".service")):
                words_of(row.file, packaged(row, base, cache / "archives"))
            build(
                application, output, cache, replace(self.builder, finish=finish_drawn)
            )

    def _record(self, application: Application, tree: Path, output: Path) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as bus:
            bus.write(_BUS.format(number=os.getpid()))
            bus.flush()
            session = ("dbus-run-session", f"--config-file={bus.name}", "--")
            around = (*HARMLESS, *session)
            for _ in range(ATTEMPTS):
                if self._is_recorded(application, tree, output, around):
                    return
            refuse("other programs dropped the caches")

    def _is_recorded(
        self, application: Application, tree: Path, output: Path, around: Sequence[str]
    ) -> bool:
        """Record a launch; return whether no other program got in its way."""
        try:
            record(application, tree, output, around=around, timeout_s=TIMEOUT_S)
        except subprocess.CalledProcessError as error:
            if _DROPPED not in error.stderr:
                raise
            return False
        return True

    def _reason(self, error: Exception) -> str:
        """Return why something failed, in one line without places of this machine."""
        text = getattr(error, "stderr", None) or str(error)
        lines = [line.strip() for line in text.splitlines()]
        said = [line for line in lines if line and not line.startswith(_BUS_SAYS)]
        line = " ".join(said[:3]).partition(" Recommended resolution:")[0]
        return re.sub(r"(?<![\w.])/\S+/", "", line or type(error).__name__)[
            :REASON_LENGTH
        ]


def _is_same(row: Drawn, other: Drawn) -> bool:
    """Return whether two rows are of one application in one draw."""
    one, two = ((it.seed, it.release, it.package) for it in (row, other))
    return one == two


def application_of(row: Drawn) -> Application:
    """Return what is built and started."""
    return Application(
        name=snap_name(row.package),
        kind=row.kind,
        packages=(row.package,),
        command=(row.file,),
        event=launch_event(row),
        environment=_ENVIRONMENT.get(row.stratum, {}),
        suite=row.release,
    )


def launch_event(row: Drawn) -> str:
    """Return what ends an application's launch: a toolkit's program opens a window."""
    event = event_of(row.file)
    return "window" if event == "exit" and row.kind != "cli" else event


def packaged(row: Drawn, base: Path, archives: Path) -> str:
    """Return the text of a file of a package, downloaded with a base's apt.

    :raises PrimeError: if it can't be downloaded, or doesn't have the file.
    """
    words = f"cd /var/cache/apt/archives && apt-get --quiet download {row.package}"
    binds = {archives: "var/cache/apt/archives"}
    binds |= {Path("/etc/resolv.conf"): "etc/resolv.conf"}
    run_in_tree(base, ["sh", "-c", words], binds=binds)
    (archive, *_) = archives.glob(f"{row.package}_*.deb")
    done = subprocess.run(
        ["dpkg-deb", "--fsys-tarfile", str(archive)],  # noqa: S607
        check=True,
        capture_output=True,
    )
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as files:
        try:
            found = files.extractfile(f"./{row.file}")
        except KeyError:
            found = None
        if found is None:
            refuse(f"{row.file} isn't a file of the package")
        return found.read().decode("utf-8", errors="replace")


def probed(
    root: Path,
    program: str,
    run_inside: Callable[[Path, Sequence[str]], str] = run_in_tree,
) -> tuple[str, str]:
    """Return a program and the first of two arguments with which it ends well.

    :param run_inside: runs a program of the tree.
    :raises PrimeError: if it does with neither.
    """
    arguments = ("--version", "--help")
    for argument in arguments:
        try:
            run_inside(root, ["timeout", str(PROBE_S), f"/{program}", argument])
        except PrimeError:
            continue
        return program, argument
    return refuse("it fails with --version and with --help")


def run(arguments: argparse.Namespace) -> None:
    """Fill the slots, two at a time, and record one launch at a time."""
    work = Work(
        trees=arguments.trees.absolute(),
        cache=arguments.cache.absolute(),
        until=time.time() + 60 * arguments.minutes,
        again=arguments.again,
    )
    check_machine(work.builder)
    os.umask(0o022)
    os.environ.pop("DISPLAY", None)  # each launch has a display of its own
    slots: dict[tuple[str, int], list[Drawn]] = defaultdict(list)
    for row in read_drawn():
        if row.set in arguments.set and (work.again or row.seed == SEED):
            slots[row.seed, row.slot].append(row)
    with ThreadPoolExecutor(max_workers=3) as pool:
        try:
            list(pool.map(work.fill, [slots[number] for number in sorted(slots)]))
        finally:
            work.until = 0  # if this thread is stopped, the others end soon


def main() -> int:
    """Run the script.

    :returns: the exit status.
    """
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("--trees", metavar="DIR", type=Path, required=True, help="where trees go")
    add("--cache", metavar="DIR", type=Path, required=True, help="downloads")
    add("--set", action="append", choices=list(FOLDERS), help="which sets (all)")
    add("--minutes", type=float, default=float("inf"), help="begin no build after")
    add("--again", action="store_true", help="only build what was recorded")
    arguments = parser.parse_args()
    arguments.set = arguments.set or list(FOLDERS)
    return run_script("launch_drawn.py", lambda: run(arguments))


if __name__ == "__main__":
    end_by_sigterm()
    sys.exit(main())
