#!/usr/bin/env python3
"""Fit what xdelta3's instructions and addresses take beyond those of the matches.

    python3 study/refresh_matching.py OLD NEW [OLD NEW ...]

OLD and NEW are two builds of a program, or two versions of a text. xdelta3 runs over
the first MiB of both at the levels that snapd sets; ``COPY_FACTORS`` of
``refresh/matching.py`` are the means of the factors printed here. Those there come from
redis-check-rdb, mutt, 7zr and 7z.so of Debian 12 and their security updates
(study/data/refresh-matching.csv). ``TEXT_COPY_FACTOR`` is the median of those of 32
texts of 20 kB and more: modules of yt-dlp, Ruby and Django. Of texts that hardly
changed, a delta's header makes it large.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

from snapcraft_compression_advisor.core.units import MIB
from snapcraft_compression_advisor.refresh.matching import (
    COPY_FACTORS,
    compressed,
    find_matches,
)


def delta_bytes(old: bytes, new: bytes, *, level: int) -> int:
    """Return the size of the delta that xdelta3 makes."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("old", "new", "delta")]
        for path, contents in zip(paths, (old, new), strict=False):
            path.write_bytes(contents)
        source, target, delta = map(str, paths)
        options = [f"-{level}", "-e", "-f", "-A", "-s", source, target, delta]
        subprocess.run(["xdelta3", *options], check=True)  # noqa: S607
        return paths[2].stat().st_size


def factor(old: bytes, new: bytes, *, level: int) -> float:
    """Return by how much instructions and addresses have to be multiplied."""
    sections = find_matches(old, new)
    copies = sum(
        compressed(part, level=level).length
        for part in (sections.instructions, sections.addresses)
    )
    literals = compressed(sections.literals, level=level).length
    return (delta_bytes(old, new, level=level) - literals) / copies


def main() -> None:
    """Run the script."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("programs", nargs="+", metavar="OLD NEW", help="two builds")
    names: list[str] = parser.parse_args().programs
    print("program,level,factor,text")
    for old, new in zip(names[::2], names[1::2], strict=True):
        both = [Path(name).read_bytes()[:MIB] for name in (old, new)]
        for level in COPY_FACTORS:
            text = "no" if b"\0" in both[1] else "yes"
            found = factor(*both, level=level)
            print(f"{Path(new).name},{level},{found:.2f},{text}")


if __name__ == "__main__":
    main()
