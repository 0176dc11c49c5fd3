#!/usr/bin/env python3
"""Compare deltas as the advisor finds them with real ones, between Debian's versions.

    python3 study/refresh_pairs.py --trees DIR -o study/data/refresh-estimates.csv

For each pair, both prime directories are built by ``prime_from_debs.py`` from two of
Debian's suites (bookworm, its security updates, its backports), unless they are in DIR
already; packed with xz and lzo as ``snap pack`` does; and both deltas are made by
xdelta3 as snapd makes them. The CSV has a row for each pair, codec and format: the real
delta, and what the advisor says of it without images with that codec: the snap-aware
delta made of contents, the plain one estimated from images with the other codec.

``--summary FILE`` prints what docs/study/deltas.md says of such a CSV. The real deltas
of all pairs, at one time, are in ``study/data/refresh-pairs.csv``.

The script needs apt, xdelta3, squashfs-tools and the network.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from apt_tools import debian_mirror
from prime_from_debs import main as build_prime
from snapcraft_compression_advisor.codecs import SHIPPABLE
from snapcraft_compression_advisor.payload.inventory import exclude_file_text
from snapcraft_compression_advisor.payload.source import open_payload
from snapcraft_compression_advisor.refresh.estimate import DeltaMaker
from snapcraft_compression_advisor.refresh.xdelta3 import (
    make_delta_of_images,
    make_plain_delta,
)
from snapcraft_compression_advisor.squashfs.mksquashfs import pack

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
and firmware weren't in the lot."""

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
"""The first five of another lot, without those above."""

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


@dataclass(frozen=True)
class Row:
    """A delta as the advisor finds it, and the real one."""

    pair: str
    codec: str
    format: str
    image_bytes: int
    delta_bytes: int
    low_bytes: int
    mid_bytes: int
    high_bytes: int
    found_s: float
    real_s: float

    @property
    def error(self) -> float:
        """How far the advisor is off, as a share of the real size."""
        return self.mid_bytes / self.delta_bytes - 1


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


def packed(folder: Path, codec: str) -> Path:
    """Return a prime directory packed with a codec, unless it is packed already."""
    image = folder.with_name(f"{folder.name}-{codec}.snap")
    if not image.exists():
        excludes = folder.with_name("excludes")
        excludes.write_text(exclude_file_text(), encoding="utf-8")
        pack(folder, image, codec=codec, snap_type="app", exclude_file=excludes)
    return image


def used_s() -> float:
    """Return the processor seconds of this process and of all programs that ended."""
    used = [
        resource.getrusage(who)
        for who in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF)
    ]
    return sum(each.ru_utime + each.ru_stime for each in used)


def rows(trees: Path, pair: Pair) -> Iterator[Row]:
    """Yield what each codec and format of a pair comes to."""
    folders = [prime(trees, pair, suite) for suite in ("bookworm", pair.new)]
    images = {c: [packed(folder, c) for folder in folders] for c in SHIPPABLE}
    for codec, other in zip(SHIPPABLE, reversed(SHIPPABLE), strict=True):
        old, new = images[codec]
        with ExitStack() as opened:
            maker = DeltaMaker(
                *(opened.enter_context(open_payload(each)) for each in images[other])
            )
            for name in ("snap-1-1-xdelta3", "xdelta3"):
                aware = name == "snap-1-1-xdelta3"
                make = make_delta_of_images if aware else make_plain_delta
                delta = old.with_name("delta")
                begun = used_s()
                delta_bytes = make(old, new, delta)
                made = used_s()
                size = (maker.snap_aware if aware else maker.plain(codec)).size_bytes
                yield Row(
                    pair=pair.name,
                    codec=codec,
                    format=name,
                    image_bytes=new.stat().st_size,
                    delta_bytes=delta_bytes,
                    low_bytes=round(size.low),
                    mid_bytes=round(size.mid),
                    high_bytes=round(size.high),
                    found_s=round(used_s() - made, 2),
                    real_s=round(made - begun, 2),
                )
                delta.unlink()


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a CSV."""
    kinds = {"pair": str, "codec": str, "format": str, "found_s": float}
    kinds["real_s"] = float
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Row(**{name: kinds.get(name, int)(text) for name, text in line.items()})
            for line in csv.DictReader(file)
        ]


def summary(path: Path) -> Iterator[str]:
    """Yield the figures of docs/study/deltas.md."""
    found = read_rows(path)
    yield "| pair | codec | format | image, MB | real, MB | found, MB | error |"
    yield "|---|---|---|---|---|---|---|"
    for row in found:
        sizes = (row.image_bytes, row.delta_bytes, row.mid_bytes)
        cells = " | ".join(f"{size / 1e6:.2f}" for size in sizes)
        yield (
            f"| {row.pair} | {row.codec} | {row.format} | {cells} | {row.error:+.1%} |"
        )
    for label, name in (
        ("snap-aware deltas, made of contents", "snap-1-1-xdelta3"),
        ("plain deltas, estimated", "xdelta3"),
    ):
        some = [row for row in found if row.format == name]
        errors = [abs(row.error) for row in some]
        text = f"median {statistics.median(errors):.1%}, worst {max(errors):.1%}"
        yield f"{label}: {text} of {len(some)}"
    inside = [r.low_bytes <= r.delta_bytes <= r.high_bytes for r in some]
    yield f"inside the interval: {sum(inside)} of {len(inside)}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the script."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--trees", type=Path, help="where pairs are, or are built")
    parser.add_argument("-o", "--output", type=Path, help="the CSV to write")
    parser.add_argument("--summary", type=Path, help="a CSV to summarise")
    parser.add_argument("--pair", action="append", help="only these pairs")
    parsed = parser.parse_args(arguments)
    if parsed.summary:
        print("\n".join(summary(parsed.summary)))
        return
    if not parsed.trees or not parsed.output:
        parser.error("say where the trees are (--trees) and what to write (-o)")
    with parsed.output.open("w", encoding="utf-8", newline="") as file:
        names = [field.name for field in fields(Row)]
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        for pair in PAIRS:
            if parsed.pair and pair.name not in parsed.pair:
                continue
            for row in rows(parsed.trees, pair):
                writer.writerow(asdict(row))
                file.flush()
                print(f"{row.pair} {row.codec} {row.format} {row.error:+.1%}")


if __name__ == "__main__":
    main()
