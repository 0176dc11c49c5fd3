#!/usr/bin/env python3
"""Compare estimated deltas with real ones, between successive versions from Debian.

    python3 study/refresh_pairs.py --trees DIR -o study/data/refresh-pairs.csv

For each pair, both prime directories are built by ``prime_from_debs.py`` from two of
Debian's suites (bookworm, its security updates, its backports), unless they are in DIR
already; packed with xz and lzo as ``snap pack`` does; and both deltas are made by
xdelta3 as snapd makes them. The CSV has a row for each pair, codec and format, with
processor seconds of the estimate (Python is set up as for the command), of the real
delta and of packing the new image, what ``search_work`` says of that, and how long it
takes.

``--summary FILE`` prints what docs/refresh.md says of such a CSV.

The script needs apt, xdelta3, squashfs-tools and the network.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import resource
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from apt_tools import debian_mirror
from prime_from_debs import main as build_prime
from snapcraft_compression_advisor.cli.main import be_quick
from snapcraft_compression_advisor.codecs import SHIPPABLE
from snapcraft_compression_advisor.payload.inventory import exclude_file_text
from snapcraft_compression_advisor.payload.search_work import search_work
from snapcraft_compression_advisor.payload.source import open_payload
from snapcraft_compression_advisor.refresh.estimate import DeltaEstimator
from snapcraft_compression_advisor.refresh.exact import (
    make_plain_delta,
    make_snap_aware_delta,
)
from snapcraft_compression_advisor.squashfs.mksquashfs import pack

if TYPE_CHECKING:
    from snapcraft_compression_advisor.refresh.delta import DeltaSize

_KEY = "[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]"
_PIN = "Package: *\nPin: release n={}\nPin-Priority: 990\n"


@dataclass(frozen=True)
class Pair:
    """Two successive versions.

    :param new: the suite of the later one; the earlier one is bookworm's.
    :param kind: what the update is.
    """

    name: str
    new: str
    packages: tuple[str, ...]
    kind: str


DRAWN = tuple(
    Pair(name, new, (name,), kind)
    for name, new, kind in (
        ("cmake-curses-gui", "backports", "new version of a C++ program"),
        ("awscli", "backports", "new version of a Python app"),
        ("qemu-system-x86", "security", "security fix of an emulator"),
        ("qgis-sip", "backports", "new version of descriptions of interfaces"),
        ("python3-samba", "backports", "new version of a server's libraries"),
        ("python3-electrum", "security", "security fix of a Python app"),
        ("clamav", "security", "new version of a virus scanner"),
    )
)
"""Drawn by lot: of the packages of 12 to 120 MB, one of each source package, of which
security or backports has a later version, the first seven whose prime directory could
be built and has no more than 260 MB. Libraries, documentation, debug symbols, kernels
and firmware weren't in the lot. In view of them, the method was changed."""

BLIND = tuple(
    Pair(name, new, (name,), kind)
    for name, new, kind in (
        ("python3-django", "backports", "new version of Python modules"),
        ("tor-geoipdb", "backports", "new tables of a network program"),
        ("ejabberd", "backports", "new version of an Erlang server"),
        ("mariadb-server-core", "security", "security fix of a database server"),
        ("vlc-plugin-base", "security", "security fix of a player's plug-ins"),
    )
)
"""The first five of another lot, without those above, drawn likewise. Their estimates
were made when the method was done."""

PAIRS = (
    Pair("p7zip", "security", ("p7zip-full",), "security fix of programs"),
    Pair("redis", "security", ("redis-tools",), "security fix of a program"),
    Pair("tomcat", "security", ("libtomcat10-java",), "Java, new minor version: jars"),
    Pair("git-lfs", "security", ("git-lfs", "--exclude", "git"), "rebuilt Go program"),
    Pair("lnav", "backports", ("lnav",), "new version of a C++ program"),
    Pair("umoci", "backports", ("umoci",), "rebuilt Go program"),
    Pair("yt-dlp", "backports", ("yt-dlp",), "new version of a Python app"),
    Pair(
        "ant",
        "backports",
        ("ant", "--exclude", "default-jre-headless", "--exclude", "default-jre"),
        "Java, new minor version: jars",
    ),
    Pair("django", "security", ("python3-django",), "security fix of Python modules"),
    Pair("unbound", "security", ("unbound",), "security fix of a server"),
    Pair("rsync", "security", ("rsync",), "new version of a small program"),
    Pair("ruby", "security", ("ruby3.1",), "new minor version of an interpreter"),
    Pair("mutt", "security", ("mutt",), "security fix of a program"),
    Pair("inkscape", "security", ("inkscape",), "security fix of a C++ program"),
    Pair("openjdk", "security", ("openjdk-17-jre-headless",), "rebuilt Java runtime"),
    Pair("telegram", "security", ("telegram-desktop",), "security fix of a Qt app"),
    *DRAWN,
    *BLIND,
)

BLIND_NAMES = frozenset(pair.name for pair in BLIND)


@dataclass(frozen=True)
class Row:
    """An estimated delta and the real one."""

    pair: str
    codec: str
    format: str
    old_image_bytes: int
    new_image_bytes: int
    raw_bytes: int
    delta_bytes: int
    low_bytes: int
    mid_bytes: int
    high_bytes: int
    estimate_cpu_s: float
    delta_cpu_s: float
    pack_cpu_s: float
    steps: int = 0
    near_steps: int = 0
    coded_bytes: int = 0
    blocks: int = 0
    search_cpu_s: float = 0.0

    @property
    def error(self) -> float:
        """How far the estimate is off, as a share of the real size."""
        return self.mid_bytes / self.delta_bytes - 1


Known = Mapping[tuple[str, str], Sequence[Row]]
"""Rows by pair and codec."""


def apt_settings(trees: Path, suite: str) -> Path:
    """Write apt's settings for a suite, and load its lists; return their file."""
    folder = (trees / "apt" / suite).absolute()
    settings = folder / "apt.conf"
    if settings.exists():
        return settings
    for name in ("lists/partial", "cache", "sources", "pins"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    os.environ.pop("APT_CONFIG", None)  # the mirrors are those of the machine
    main = debian_mirror()
    lines = [f"deb {_KEY} {main} bookworm main"]
    if suite == "security":
        security = debian_mirror("Debian-Security")
        lines.append(f"deb {_KEY} {security} bookworm-security main")
    elif suite != "bookworm":
        lines.append(f"deb {_KEY} {main} bookworm-{suite} main")
        pin = _PIN.format(f"bookworm-{suite}")
        (folder / "pins" / suite).write_text(pin, encoding="utf-8")
    (folder / "sources.list").write_text("\n".join(lines) + "\n", encoding="utf-8")
    settings.write_text(
        f'Dir::Etc::sourcelist "{folder}/sources.list";\n'
        f'Dir::Etc::sourceparts "{folder}/sources";\n'
        f'Dir::Etc::preferencesparts "{folder}/pins";\n'
        f'Dir::State::lists "{folder}/lists";\nDir::Cache "{folder}/cache";\n'
        'APT::Sandbox::User "";\n',
        encoding="utf-8",
    )
    environment = {**os.environ, "APT_CONFIG": str(settings)}
    subprocess.run(["apt-get", "-q", "update"], check=True, env=environment)  # noqa: S607
    return settings


def prime(trees: Path, pair: Pair, suite: str) -> Path:
    """Return a pair's prime directory of a suite, built if it isn't there."""
    folder = trees / pair.name / suite
    if not folder.exists():
        os.environ["APT_CONFIG"] = str(apt_settings(trees, suite))
        cache = str(trees / "cache")
        options = ["--name", pair.name, "--no-triggers", "--cache", cache]
        if build_prime([*pair.packages, *options, "-o", str(folder)]):
            sys.exit(f"{folder} can't be built")
    return folder


def packed(folder: Path, codec: str, *, again: bool) -> tuple[Path, float]:
    """Return a prime directory packed with a codec, and the processor seconds.

    :param again: whether to pack one that is packed already.
    """
    image = folder.with_name(f"{folder.name}-{codec}.snap")
    if image.exists() and not again:
        return image, 0.0
    excludes = folder.with_name("excludes")
    excludes.write_text(exclude_file_text(), encoding="utf-8")
    before = children_s()
    pack(folder, image, codec=codec, snap_type="app", exclude_file=excludes)
    return image, children_s() - before


def children_s() -> float:
    """Return the processor seconds of all programs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def rows(trees: Path, pair: Pair, known: Known) -> Iterator[Row]:
    """Yield what each codec and format of a pair comes to.

    :param known: what the real tools made before; nothing of that is made again.
    """
    for codec in SHIPPABLE:
        real = known.get((pair.name, codec)) or make_deltas(trees, pair, codec)
        old, new = images(trees, pair, codec)
        found = estimated(old, new, codec)
        with open_payload(new) as payload:
            started = time.process_time()
            work = search_work(payload)
            search_s = time.process_time() - started
        for row in real:
            delta, estimate_s = found[row.format]
            size, coded_share = delta.size_bytes, delta.coded_share or 0.0
            yield replace(
                row,
                low_bytes=round(size.low),
                mid_bytes=round(size.mid),
                high_bytes=round(size.high),
                estimate_cpu_s=round(estimate_s, 3),
                coded_bytes=round(coded_share * row.delta_bytes),
                steps=round(work.steps),
                near_steps=round(work.near_steps),
                blocks=round(work.blocks),
                search_cpu_s=round(search_s, 3),
            )


def images(trees: Path, pair: Pair, codec: str) -> tuple[Path, Path]:
    """Return where both images of a pair are."""
    old, new = (
        trees / pair.name / f"{suite}-{codec}.snap" for suite in ("bookworm", pair.new)
    )
    return old, new


def estimated(
    old: Path, new: Path, codec: str
) -> Mapping[str, tuple[DeltaSize, float]]:
    """Return each delta, estimated, and the processor seconds of that.

    What both need (opening the images) counts for the plain one.
    """
    started = time.process_time()
    with open_payload(old) as before, open_payload(new) as after:
        estimator = DeltaEstimator(before, after)
        plain = estimator.plain(codec)
        plain_s = time.process_time() - started
        aware = estimator.snap_aware
        aware_s = time.process_time() - started - plain_s
    return {"xdelta3": (plain, plain_s), "snap-1-1-xdelta3": (aware, aware_s)}


def make_deltas(trees: Path, pair: Pair, codec: str) -> list[Row]:
    """Pack both versions, and make both deltas; nothing is estimated yet."""
    folders = [prime(trees, pair, suite) for suite in ("bookworm", pair.new)]
    old, _ = packed(folders[0], codec, again=False)
    new, pack_s = packed(folders[1], codec, again=True)
    with open_payload(new) as after:
        raw_bytes = after.inventory.raw_bytes
    found = []
    make = {"xdelta3": make_plain_delta, "snap-1-1-xdelta3": make_snap_aware_delta}
    for name, make_delta in make.items():
        begun = children_s()
        delta = old.with_name("delta")
        delta_bytes = make_delta(old, new, delta)
        delta.unlink()
        found.append(
            Row(
                pair=pair.name,
                codec=codec,
                format=name,
                old_image_bytes=old.stat().st_size,
                new_image_bytes=new.stat().st_size,
                raw_bytes=raw_bytes,
                delta_bytes=delta_bytes,
                low_bytes=0,
                mid_bytes=0,
                high_bytes=0,
                estimate_cpu_s=0.0,
                delta_cpu_s=round(children_s() - begun, 3),
                pack_cpu_s=round(pack_s, 3),
            )
        )
    return found


def _row(line: Mapping[str, str]) -> Row:
    texts = {"pair", "codec", "format"}
    values: dict[str, Any] = {
        name: text
        if name in texts
        else float(text)
        if name.endswith("_s")
        else int(text)
        for name, text in line.items()
    }
    return Row(**values)


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a CSV."""
    with path.open(encoding="utf-8", newline="") as file:
        return [_row(line) for line in csv.DictReader(file)]


def summary(path: Path) -> Iterator[str]:
    """Yield the figures of docs/refresh.md."""
    found = read_rows(path)
    yield "| pair | codec | format | image, MB | real, MB | estimated, MB | error |"
    yield "|---|---|---|---|---|---|---|"
    for row in found:
        sizes = (row.new_image_bytes, row.delta_bytes, row.mid_bytes)
        cells = " | ".join(f"{size / 1e6:.2f}" for size in sizes)
        yield (
            f"| {row.pair} | {row.codec} | {row.format} | {cells} | {row.error:+.1%} |"
        )
    for name, some in (
        ("all pairs", found),
        ("blind pairs", [r for r in found if r.pair in BLIND_NAMES]),
    ):
        errors = [abs(row.error) for row in some]
        median, worst = statistics.median(errors), max(errors)
        yield f"{name}: median {median:.1%}, worst {worst:.1%}"
    inside = sum(row.low_bytes <= row.delta_bytes <= row.high_bytes for row in found)
    yield f"inside the interval: {inside} of {len(found)}"
    yield from _times(found)


SIZES = {"below 5 MB": 5e6, "5 to 50 MB": 50e6, "from 50 MB on": math.inf}
"""Of the image that is packed with the codec."""
WITH_SEARCH = "in sum with search_work"


def _times(rows: Sequence[Row]) -> Iterator[str]:
    """Yield how long estimates take, per what they stand for: per pair, and in sum."""
    yield (
        "| pair | image, MB | xz: estimate, s | real, s | share | lzo: estimate, s | "
        "real, s | share |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    by_size: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for name in dict.fromkeys(row.pair for row in rows):
        cells = [name]
        for codec in SHIPPABLE:
            mine = [row for row in rows if (row.pair, row.codec) == (name, codec)]
            estimate_s = sum(row.estimate_cpu_s for row in mine)
            real_s = sum(row.delta_cpu_s for row in mine) + mine[0].pack_cpu_s
            image_bytes = mine[0].new_image_bytes
            if len(cells) == 1:
                cells.append(f"{image_bytes / 1e6:.2f}")
            cells += [f"{estimate_s:.2f}", f"{real_s:.1f}"]
            cells.append(f"{estimate_s / real_s:.1%}")
            size = next(text for text, most in SIZES.items() if image_bytes < most)
            for key in (size, "in sum"):
                by_size[codec, key].append((estimate_s, real_s))
            with_search_s = estimate_s + mine[0].search_cpu_s
            by_size[codec, WITH_SEARCH].append((with_search_s, real_s))
        yield f"| {' | '.join(cells)} |"
    for codec in SHIPPABLE:
        shares = []
        for size in (*SIZES, "in sum", WITH_SEARCH):
            estimates, reals = map(sum, zip(*by_size[codec, size], strict=True))
            shares.append(f"{size} {estimates / reals:.1%}")
        yield f"{codec}: estimates ÷ real deltas and one pack: {', '.join(shares)}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the script."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--trees", type=Path, help="where pairs are, or are built")
    parser.add_argument("-o", "--output", type=Path, help="the CSV to write")
    parser.add_argument("--real", type=Path, help="a CSV whose real deltas are kept")
    parser.add_argument("--summary", type=Path, help="a CSV to summarise")
    parser.add_argument("--pair", action="append", help="only these pairs")
    parsed = parser.parse_args(arguments)
    if parsed.summary:
        print("\n".join(summary(parsed.summary)))
        return
    if not parsed.trees or not parsed.output:
        parser.error("say where the trees are (--trees) and what to write (-o)")
    be_quick()
    known: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in read_rows(parsed.real) if parsed.real else ():
        known[row.pair, row.codec].append(row)
    with parsed.output.open("w", encoding="utf-8", newline="") as file:
        names = [field.name for field in fields(Row)]
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        for pair in PAIRS:
            if parsed.pair and pair.name not in parsed.pair:
                continue
            for row in rows(parsed.trees, pair, known):
                writer.writerow(asdict(row))
                file.flush()
                print(f"{row.pair} {row.codec} {row.format} {row.error:+.1%}")


if __name__ == "__main__":
    main()
