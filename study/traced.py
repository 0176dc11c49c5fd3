#!/usr/bin/env python3
"""Record launches both ways, by trace and by residency, and compare.

    sudo xvfb-run -a .venv/bin/python study/traced.py --trees corpus [NAME…]
    .venv/bin/python study/traced.py --fit

The script traces and records by residency the launch of each application of the corpus
and of ``TRACED`` (``launch_corpus.py`` builds the trees). It tries the blocks of both
with xz and lzo, and writes

    study/data/traced-launches.csv   bytes and runs, seen, mapped and resident
    study/data/traced-savings.csv    what lzo saves, by trace and by residency

``--fit`` prints the constants of ``launch/traced_share.py`` from the first file. They
are fitted on applications of the corpus, each left out of the counts that its shares
come from, and checked on those of ``TRACED``, of which no count was ever taken.
"""

from __future__ import annotations

import argparse
import csv
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from corpus_applications import APPLICATIONS, Application
from launch import event_of
from snapcraft_compression_advisor.capture.home import launch_home
from snapcraft_compression_advisor.capture.record import (
    RecordRequest,
    launch,
    record_residency,
)
from snapcraft_compression_advisor.capture.record_trace import (
    strace_words,
    traced_files,
)
from snapcraft_compression_advisor.capture.snap_environment import INSIDE
from snapcraft_compression_advisor.capture.start import app_command
from snapcraft_compression_advisor.capture.trace import Trace, follow
from snapcraft_compression_advisor.core.errors import AdvisorError, ToolError
from snapcraft_compression_advisor.devices.builtin_devices import builtin_devices
from snapcraft_compression_advisor.launch.fit import fit_profile
from snapcraft_compression_advisor.launch.guess.compare import block_bytes
from snapcraft_compression_advisor.launch.guess.priors import (
    Counts,
    Priors,
    built_in_priors,
)
from snapcraft_compression_advisor.launch.launch_set import LaunchFile
from snapcraft_compression_advisor.launch.model import (
    estimate_launch,
    expected_runs,
    seconds_saved,
)
from snapcraft_compression_advisor.launch.profile import LaunchProfile
from snapcraft_compression_advisor.launch.traced_share import is_counted
from snapcraft_compression_advisor.payload.source import open_payload
from snapcraft_compression_advisor.trial.sampled import run_sampled_trial
from static_data import count, file_runs, read_application
from traced_applications import TRACED
from traced_fit import LAUNCHES, SAVINGS, Row, print_fit, read_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from snapcraft_compression_advisor.launch.launch_set import LaunchSet
    from snapcraft_compression_advisor.launch.profile import ProfileFile
    from snapcraft_compression_advisor.payload.source import Payload

TIMEOUT_S = 180
COMPARED = ("nvme-laptop", "hdd-laptop")


def main() -> int:
    """Record, compare, write; or print what follows from it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--trees", type=Path)
    parser.add_argument("--fit", action="store_true")
    arguments = parser.parse_args()
    failed = []
    for application in (*APPLICATIONS, *TRACED) if arguments.trees else ():
        tree = arguments.trees / application.name
        wanted = arguments.names or [application.name]
        if application.name in wanted and tree.is_dir():
            try:
                _measure(application, tree)
            except AdvisorError as error:
                print(f"{application.name}: {error}", file=sys.stderr)
                failed.append(application.name)
    if arguments.fit:
        print_fit(read_rows())
    return 1 if failed else 0


def _measure(application: Application, tree: Path) -> None:
    print(f"{application.name}: recording", file=sys.stderr)
    with open_payload(tree) as payload:
        trace, residency = _record(application, payload)
        use = "fit" if application in APPLICATIONS else "check"
        priors = _left_out(application, tree) if use == "fit" else built_in_priors()
        profile = LaunchProfile(
            source="trace",
            app=application.name,
            app_files=traced_files(trace, payload, prefixes=("/",), priors=priors),
        )
        row = _compare(application.name, use, profile.files, residency.files, priors)
        savings = [*_savings(payload, {"trace": profile, "residency": residency})]
    replace_rows(LAUNCHES, application.name, [vars(row)])
    replace_rows(SAVINGS, application.name, savings)


def _record(application: Application, payload: Payload) -> tuple[Trace, LaunchProfile]:
    """Launch under strace, and from a mount with cold caches."""
    command = replace(app_command(payload, application.name), chroot=True)
    request = RecordRequest(
        app=application.name,
        command=command,
        event=event_of(application),
        timeout_s=TIMEOUT_S,
        scratch=Path("/dev/shm"),  # noqa: S108 # memory, a private directory
    )
    with launch_home(None) as home:
        log, size = home / "strace.log", 0

        def look() -> None:
            nonlocal size
            size = log.stat().st_size

        launch(request, payload.path, home)
        traced = replace(command, traced_by=_tracer(home))
        launch(replace(request, command=traced), payload.path, home, frozen=look)
        text = log.read_bytes()[:size].decode(errors="surrogateescape")
    resident = record_residency(payload, request, lambda _: None)
    return follow(text.splitlines()), resident


def _tracer(home: Path) -> tuple[str, ...]:
    """Put strace and its libraries where a launch with a root of its own sees them."""
    strace = shutil.which("strace")
    if strace is None:
        message = "strace is not installed"
        raise ToolError(message, resolution="Install it.")
    place = home / "strace"
    place.mkdir()
    listed = subprocess.run(
        ["/usr/bin/ldd", strace], capture_output=True, text=True, check=True
    )
    words = [word for word in listed.stdout.split() if word.startswith("/")]
    for path in (strace, *words):
        shutil.copy(path, place)
    loader = next(Path(word).name for word in words if "/ld-" in word)
    inside = f"{INSIDE}/strace"
    return (
        f"{inside}/{loader}", "--library-path", inside,
        *strace_words(f"{inside}/strace", Path(f"{INSIDE}/strace.log")),
    )  # fmt: skip


def _left_out(application: Application, tree: Path) -> Priors:
    """Return the package's priors without what the application's launch counted."""
    priors = built_in_priors()
    _, own = count(read_application(application.name, tree))

    def less(all_of: Counter[str], some: Counter[str]) -> Counter[str]:
        return Counter({key: max(0, all_of[key] - some[key]) for key in all_of})

    counts = Counts(
        less(priors.blocks.read, own.read), less(priors.blocks.counted, own.counted)
    )
    return replace(priors, blocks=counts)


def _compare(
    name: str,
    use: str,
    traced: Sequence[ProfileFile],
    resident: Sequence[ProfileFile],
    priors: Priors,
) -> Row:
    sizes = {file.path: file.size for file in (*traced, *resident)}
    read = {
        (file.path, number): block_bytes(sizes[file.path], number)
        for file in resident
        for first, last in file.blocks
        for number in range(first, last + 1)
    }
    shares = {
        (file.path, number): share
        for file in traced
        for (first, last), share in zip(file.blocks, file.shares or (), strict=True)
        for number in range(first, last + 1)
    }
    lengths = {block: block_bytes(sizes[block[0]], block[1]) for block in shares}
    largest: Counter[str] = Counter()
    for block, share in shares.items():
        if share < 1 and not is_counted(block[0], priors):
            largest[block[0]] += lengths[block] * share  # type: ignore[assignment]
    (path, expected_of_it), *_ = largest.most_common(1) or [("", 0)]
    table = np.array([*file_runs(_as_launch_file(file) for file in traced)])
    return Row(
        application=name,
        use=use,
        seen_bytes=sum(lengths[block] for block in shares if shares[block] == 1),
        mapped_bytes=sum(lengths[block] for block in shares if shares[block] < 1),
        resident_bytes=sum(lengths[block] for block in shares if block in read),
        other_bytes=sum(read[block] for block in read if block not in shares),
        expected_bytes=round(sum(lengths[block] * shares[block] for block in shares)),
        runs=_runs(read),
        expected_runs=round(expected_runs(*table.T), 1),
        whole_runs=_runs(shares),
        largest_expected_bytes=round(expected_of_it),
        largest_read_bytes=sum(
            lengths[block]
            for block in read.keys() & shares.keys()
            if block[0] == path and shares[block] < 1
        ),
    )


def _as_launch_file(file: ProfileFile) -> LaunchFile:
    return LaunchFile(
        path=file.path,
        size_bytes=file.size,
        blocks=file.blocks,
        shares=file.shares or (),
    )


def _runs(blocks: Iterable[tuple[str, int]]) -> int:
    known = set(blocks)
    return sum((path, number - 1) not in known for path, number in known)


def _savings(
    payload: Payload, profiles: dict[str, LaunchProfile]
) -> Iterator[dict[str, object]]:
    """Yield what lzo saves over xz in a cold launch, by either recording."""
    sets: dict[str, LaunchSet] = {
        method: fit_profile(profile, payload.inventory).launch_set
        for method, profile in profiles.items()
    }
    # What waiting hides is known of one recording only, and isn't what is compared.
    sets["trace"] = replace(sets["trace"], waited_share=sets["residency"].waited_share)
    trial = run_sampled_trial(payload, progress=lambda _: None)
    for device in builtin_devices():
        if device.name not in COMPARED:
            continue
        for method, launch_set in sets.items():
            xz, lzo = (
                estimate_launch(launch_set, trial.codecs[name], device)
                for name in ("xz", "lzo")
            )
            saved = seconds_saved(xz, lzo)
            yield {
                "application": launch_set.app,
                "device": device.name,
                "method": method,
                "xz_added_s": round(xz.added_s.mid, 4),
                "saved_s": round(saved.mid, 4),
            }


def replace_rows(path: Path, name: str, rows: Sequence[dict[str, object]]) -> None:
    """Put an application's rows in place of those that the file has of it."""
    comments: list[str] = []
    kept: list[dict[str, object]] = []
    if path.exists():
        with path.open(newline="") as file:
            lines = [*file]
        comments = [line for line in lines if line.startswith("#")]
        found = csv.DictReader(line for line in lines if not line.startswith("#"))
        kept = [row for row in found if row["application"] != name]
    with path.open("w", newline="") as file:
        file.writelines(comments)
        writer = csv.DictWriter(file, [*rows[0]], lineterminator="\n")
        writer.writeheader()
        writer.writerows([*kept, *rows])


if __name__ == "__main__":
    sys.exit(main())
