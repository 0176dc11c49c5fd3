#!/usr/bin/env python3
"""Prove trims on applications drawn by lot: built, trimmed, started, packed.

    .venv/bin/python study/trim_prove.py --scratch DIR [--started 10]

The script draws from the applications of Debian 12 in ``data/drawn.csv`` that were
recorded, none of which is blind, in an order by a seed. It builds the prime directory
of each as a publisher's ``stage-packages`` do (``prime_from_debs.py``), with all that
the packages bring, and does what publishers do to have it start: links that packages'
scripts make, variables, layouts for the paths that its files name
(``prime_layout.py``), and those that ``trim`` then asks for. The same release's
packages are the base, and a toolkit's are a content snap that the library path leads
to. ``compression-advisor trim --prove`` leaves out what nothing needs, what these two
bring included, and starts each over both, until so many applications could be started.
It writes

    study/data/trim-proved.csv   what became of each; sizes of packed images with xz

and can be stopped and started again. One that can't be built, can't be started even
with all files, or is larger than 150 MB with all that it needs, is in the table with
the reason, counts for nothing, and the next one of the lot takes its place. The limit
was 100 MB in the first draw; it was changed before any of those that it lets in was
started. DIR has to be on a disk: files in memory can't be dropped from the page cache,
so launches from there are compared by traces of their system calls. It needs apt, the
network, bubblewrap, strace, Xvfb, and root to mount images.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any

from ruamel.yaml import YAML

from corpus_applications import KIND_PACKAGES
from draw import Drawn, read_drawn
from prime_error import note
from prime_layout import add_layout, make_startable
from snap_metadata import snap_name

DATA = Path(__file__).parent / "data"
PROVED = DATA / "trim-proved.csv"
FIELDS = (
    *("application", "kind", "content", "outcome", "reason", "files", "raw_bytes"),
    "supplied_raw_bytes",
    *("sure_files", "sure_raw_bytes", "predicted_bytes", "before_bytes"),
    *("after_bytes", "common_share", "taken_back", "cold_before_s", "cold_after_s"),
    *("saved_low_s", "saved_s", "saved_high_s"),
)
_BUILD = Path(__file__).with_name("prime_from_debs.py")
_BUILDERS = 2
Figures = dict[str, object]
PROVEN, TOO_LARGE = "proven", "too large"
STARTED = frozenset({PROVEN, "taken back"})
_SIZES = ("before_bytes", "after_bytes")
_TIMEOUT_S = 300
"""For a machine that does other work, too."""
_LAYOUTS = 6
"""At most, that are added because a launch misses something."""
_ASKED = re.compile(r"The app looks for '(/[^']+)', which is in the payload only")
_BASE = "core24"
_PLATFORMS: Mapping[str, tuple[str, ...]] = {
    "gtk2": ("libgtk2.0-0",),
    "gtk3": ("libgtk-3-0",),
    "gtk4": ("libgtk-4-1",),
    "qt5": ("libqt5widgets5",),
    "qt5-kde": ("libqt5widgets5",),
    "sdl-game": ("libsdl2-2.0-0",),
    "wxwidgets": ("libgtk-3-0",),
}
"""Toolkit → what a content snap of it is about, beside ``KIND_PACKAGES``."""
_TARGET = "platform"
_RELEASE = "bookworm"
_SEED = 24
_NOBODY = 65534
_BUILDING = Lock()
_REASON_LENGTH = 120
_MOST_BYTES = 150_000_000
"""Of packages and all that they need; larger ones take minutes to pack twice."""


def main() -> None:
    """Prove as many applications as are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scratch", type=Path, default=Path("/var/tmp"))  # noqa: S108 # eviction takes a disk
    parser.add_argument("--started", type=int, default=10)
    parser.add_argument("--runs", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, default=PROVED)
    parser.add_argument(
        "--table", action="store_true", help="print docs/study/trim-lists.md's"
    )
    arguments = parser.parse_args()
    rows, wanted = read_rows(arguments.output), arguments.started
    if arguments.table:
        print("\n".join(table_lines(rows)))
        return
    base = built_base(arguments.scratch)
    known = {row["application"] for row in rows}
    left = iter([row for row in drawn() if row.package not in known])
    with ThreadPoolExecutor(_BUILDERS) as pool:

        def start(row: Drawn) -> tuple[Drawn, Future[Figures]]:
            folder = arguments.scratch / snap_name(row.package)
            return row, pool.submit(built, row, folder / "prime", base)

        ahead = deque(start(row) for row in islice(left, 2 * _BUILDERS))
        while ahead and sum(row["outcome"] in STARTED for row in rows) < wanted:
            drawn_row, building = ahead.popleft()
            folder = arguments.scratch / snap_name(drawn_row.package)
            found: Figures = {"application": drawn_row.package, "kind": drawn_row.kind}
            found |= building.result()
            if "outcome" not in found:
                found |= settled(folder, base, arguments.runs)
            note(f"{drawn_row.package}: {found['outcome']}")
            shutil.rmtree(folder, ignore_errors=True)
            rows.append(found)
            write_rows(arguments.output, rows)
            ahead.extend(start(row) for row in islice(left, 1))
        for row, building in ahead:
            building.cancel()
            wait([building])
            shutil.rmtree(
                arguments.scratch / snap_name(row.package), ignore_errors=True
            )


def drawn() -> list[Drawn]:
    """Return the applications in the order of the lot."""
    rows = read_drawn()
    blind = {row.package for row in rows if row.set == "blind"}
    found = sorted(
        (
            row
            for row in rows
            if row.release == _RELEASE and row.outcome == "recorded"
            if row.package not in blind
        ),
        key=lambda row: row.package,
    )
    random.Random(_SEED).shuffle(found)  # noqa: S311 # a sample, not a secret
    return found


def built(row: Drawn, prime: Path, base: Path) -> Figures:
    """Build a prime directory, and return its figures.

    :param base: the tree that its base is; those of content snaps are beside it.
    :returns: with an outcome where it isn't used.
    """
    raw_bytes = installed_bytes(row.package)
    if raw_bytes > _MOST_BYTES:
        return {"outcome": TOO_LARGE, "raw_bytes": raw_bytes}
    program = row.command.partition(" ")[0]
    build = [sys.executable, str(_BUILD), row.package, "--output", str(prime)]
    done = subprocess.run(
        [*build, "--alternatives", "--command", program],
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1:]
        return {"outcome": "not built", "reason": " ".join(reason)[:_REASON_LENGTH]}
    make_startable(prime, base, row.command, windows=row.event == "window")
    if row.kind in _PLATFORMS:
        connect(prime, built_platform(row.kind, base.parent).name)
    files = [path for path in prime.rglob("*") if path.is_file()]
    sizes = (path.stat().st_size for path in files if not path.is_symlink())
    return {
        "content": f"platform-{row.kind}" if row.kind in _PLATFORMS else "",
        "files": len(files),
        "raw_bytes": sum(sizes),
    }


def built_base(scratch: Path) -> Path:
    """Build the base's tree of this release's packages, if it isn't there."""
    root = scratch / _BASE
    if not root.exists():
        note(f"building {root}")
        listed = [sys.executable, str(_BUILD), "base-files", "--print-base"]
        names = _output(listed).split()
        build = [sys.executable, str(_BUILD), *names, "--keep-base", "--alternatives"]
        _output([*build, "--name", _BASE, "--output", str(root)])
        lines = (f"name: {_BASE}", "version: '1'", "type: base", "summary: a base")
        (root / "meta/snap.yaml").write_text("\n".join((*lines, "")), encoding="utf-8")
        user = f"nobody:x:{_NOBODY}:{_NOBODY}:nobody:/nonexistent:/bin/sh\n"
        (root / "etc/passwd").write_text(f"root:x:0:0:root:/root:/bin/sh\n{user}")
    return root


def built_platform(kind: str, scratch: Path) -> Path:
    """Build the content snap of a toolkit, if it isn't there."""
    root = scratch / f"platform-{kind}"
    with _BUILDING:
        if root.exists():
            return root
        note(f"building {root}")
        names = (*_PLATFORMS[kind], *KIND_PACKAGES[kind])
        build = [sys.executable, str(_BUILD), *names, "--alternatives"]
        _output([*build, "--name", root.name, "--output", str(root)])
        with edited(root) as snap:
            slot = {"interface": "content", "content": root.name, "read": ["$SNAP"]}
            snap.pop("apps", None)
            snap["slots"] = {root.name: slot}
        return root


def connect(prime: Path, content: str) -> None:
    """Have an app find the libraries of a content snap."""
    (prime / _TARGET).mkdir()
    with edited(prime) as snap:
        snap["plugs"] = {
            content: {
                "interface": "content",
                "target": f"$SNAP/{_TARGET}",
                "default-provider": content,
            }
        }
        folders: tuple[str, ...] = ("lib", "usr/lib")
        folders += tuple(f"{each}/x86_64-linux-gnu" for each in folders)
        found = (f"$SNAP/{_TARGET}/{each}" for each in folders)
        environment = snap["environment"]
        environment["LD_LIBRARY_PATH"] = ":".join(
            (environment["LD_LIBRARY_PATH"], *found)
        )
        # As the GNOME extension's launcher sets it: no base has drivers.
        environment["LIBGL_DRIVERS_PATH"] = f"$SNAP/{_TARGET}/{folders[-1]}/dri"


@contextmanager
def edited(root: Path) -> Iterator[dict[str, Any]]:
    """Give a tree's snap.yaml, and write what it is changed to."""
    yaml, path = YAML(typ="rt", pure=True), root / "meta/snap.yaml"
    snap = yaml.load(path.read_text(encoding="utf-8"))
    yield snap
    with path.open("w", encoding="utf-8") as file:
        yaml.dump(snap, file)


def _output(words: Sequence[str]) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def settled(folder: Path, base: Path, runs: int) -> Figures:
    """Return what trim says of a prime directory, with the layouts that it asks for."""
    found: Figures = {}
    prime = folder / "prime"
    for _ in range(_LAYOUTS + 1):
        found = trimmed(folder, base, runs)
        asked = _ASKED.search(str(found["reason"]))
        place = os.path.normpath(asked[1]) if asked else ""
        helps = place and Path(f"{prime}{place}").exists()
        if found["outcome"] == PROVEN or not helps:
            break
        add_layout(prime, place)
    return found | {"reason": str(found["reason"])[:_REASON_LENGTH]}


def _environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "TMPDIR": str(folder), "XDG_CACHE_HOME": str(folder)}


def installed_bytes(package: str) -> int:
    """Return what a package and all that it needs take, as apt says."""
    listed = subprocess.run(
        [sys.executable, str(_BUILD), package, "--print-packages"],
        check=False,
        capture_output=True,
        text=True,
    )
    names = [line.split()[0] for line in listed.stdout.splitlines() if line]
    shown = subprocess.run(
        ["apt-cache", "show", "--no-all-versions", *(names or [package])],  # noqa: S607
        check=False,
        capture_output=True,
        text=True,
    )
    sizes = re.findall(r"^Installed-Size: (\d+)", shown.stdout, re.MULTILINE)
    return sum(map(int, sizes)) * 1024


def trimmed(folder: Path, base: Path, runs: int) -> Figures:
    """Return what trim says of a prime directory."""
    report, policy = folder / "trim.json", folder / "policy.yaml"
    policy.write_text(f"record: {{timeout: {_TIMEOUT_S}s}}\n", encoding="utf-8")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "snapcraft_compression_advisor", "trim"),
            *(str(folder / "prime"), "--prove", "--runs", str(runs)),
            *("--base", str(base), "--policy", str(policy)),
            *_content_of(folder, base),
            *("--format", "json", "--output", str(report)),
        ],
        env=_environment(folder),
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        return {"outcome": "failed", "reason": lines[-1]}
    found = json.loads(report.read_text(encoding="utf-8"))
    proof = found["proof"]
    if not proof["apps"] or proof["apps"][0]["problem"]:
        problem = proof["apps"][0]["problem"] if proof["apps"] else "no app"
        return {"outcome": "not started", "reason": problem}
    app = proof["apps"][0]
    sure = [each for each in found["groups"] if each["risk"] is None]
    saved_s = app["saved_s"] or {}
    return {
        "outcome": "taken back" if proof["taken_back"] else PROVEN,
        "reason": "; ".join(each["problem"] for each in proof["taken_back"]),
        "sure_files": sum(len(each["files"]) for each in sure),
        "sure_raw_bytes": sum(each["raw_bytes"] for each in sure),
        "supplied_raw_bytes": sum(
            each["raw_bytes"] for each in sure if each["reason"] == "supplied-libraries"
        ),
        "predicted_bytes": round(found["sure_bytes"]["mid"]),
        "before_bytes": proof["before_bytes"],
        "after_bytes": proof["after_bytes"],
        "common_share": round(app["common_share"], 4),
        "taken_back": len(proof["taken_back"]),
        "cold_before_s": app["cold_before_s"],
        "cold_after_s": app["cold_after_s"],
        "saved_low_s": saved_s.get("low"),
        "saved_s": saved_s.get("mid"),
        "saved_high_s": saved_s.get("high"),
    }


def _content_of(folder: Path, base: Path) -> list[str]:
    """Return the option that names an app's content snap."""
    with edited(folder / "prime") as snap:
        names = [*snap.get("plugs", ())]
    return ["--content", str(base.with_name(names[0]))] if names else []


def read_rows(table: Path) -> list[dict[str, object]]:
    """Return the rows of a table; none if it isn't there."""
    if not table.exists():
        return []
    with table.open(newline="", encoding="utf-8") as file:
        return [dict(row) for row in csv.DictReader(file)]


def table_lines(rows: Sequence[Mapping[str, object]]) -> list[str]:
    """Return the tables of docs/study/trim-lists.md."""
    started = [row for row in rows if row["outcome"] in STARTED]
    proven = [row for row in started if row["outcome"] == PROVEN]
    large = [row for row in rows if row["outcome"] == TOO_LARGE]
    saved = sorted(saved_share(row) for row in started)
    errors = sorted(abs(prediction_error(row)) for row in proven)
    common = min(float(str(row["common_share"])) for row in started)
    median = f"{statistics.median(saved):.1%} ({saved[0]:.1%} to {saved[-1]:.1%})"
    error = f"{statistics.median(errors):.2%}, worst {errors[-1]:.2%}"
    figures = {
        "larger than the limit": f"{len(large)} of {len(rows)} drawn",
        "started here with all files": f"{len(started)} of {len(rows) - len(large)}",
        "start and read the same without the sure files": (
            f"{len(proven)} of {len(started)}"
        ),
        "image smaller by: median": median,
        "predicted against packed saving: median error": error,
        "blocks that both launches read, of all that either reads: least": (
            f"{common:.1%}"
        ),
    }
    heads = (
        "| application | kind | image before | after | smaller by | predicted off by |"
    )
    return [
        *("| figure | found |", "|---|---|"),
        *(f"| {name} | {found} |" for name, found in figures.items()),
        *("", heads, "|---|---|---|---|---|---|"),
        *map(_line, started),
        *("", "| not counted | kind | why |", "|---|---|---|"),
        *(_left_out(row) for row in rows if row not in started),
    ]


def _left_out(row: Mapping[str, object]) -> str:
    why = f"{row['outcome']}: {row['reason']}".replace("|", "/")
    if not row["reason"]:
        why = f"{row['outcome']}: {number(row, 'raw_bytes') / 1e6:.0f} MB"
    return f"| {row['application']} | {row['kind']} | {why} |"


def _line(row: Mapping[str, object]) -> str:
    before, after = (f"{number(row, key) / 1e6:.1f} MB" for key in _SIZES)
    saved, error = f"{saved_share(row):.1%}", "one group taken back"
    if row["outcome"] == PROVEN:
        error = f"{prediction_error(row):+.2%}"
    cells = (row["application"], row["kind"], before, after, saved, error)
    return f"| {' | '.join(map(str, cells))} |"


def number(row: Mapping[str, object], key: str) -> float:
    """Return a figure of a row."""
    return float(str(row[key]))


def saved_share(row: Mapping[str, object]) -> float:
    """Return by which share an image is smaller."""
    before, after = (number(row, key) for key in _SIZES)
    return (before - after) / before


def prediction_error(row: Mapping[str, object]) -> float:
    """Return by which share of the saving the prediction is off."""
    before, after = (number(row, key) for key in _SIZES)
    return number(row, "predicted_bytes") / (before - after) - 1


def write_rows(table: Path, rows: list[dict[str, object]]) -> None:
    """Write a table."""
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
