#!/usr/bin/env python3
"""Score the guess on the blind vendor-built applications, once.

    .venv/bin/python study/vendor_blind.py --trees TREES/blind
    .venv/bin/python study/vendor_blind.py --trees TREES/fit --set fit -o SCORES

As ``blind.py`` does for Debian's: each recorded application of the set
(``data/vendor-drawn-11.csv``) is guessed from its files, compared with its recording,
and ``data/vendor-scores-11.csv`` isn't written over. ``accuracy.py`` makes a section of
``docs/study/accuracy.md`` from it. The fit half has those chosen by hand, too.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from blind import DEVICE, score_payload, write_scores
from snapcraft_compression_advisor.devices.device_file import read_device
from vendor_draw import DATA, SETS, sources

if TYPE_CHECKING:
    from collections.abc import Sequence

SCORES = tuple(DATA / f"vendor-scores-{n}.csv" for n in range(1, 12))
"""Of each draw's blind set, in order."""
DEBIAN_AGAIN = DATA / "blind-scores-again.csv"
"""Of Debian's blind set by the same guess, as ``blind.py`` writes it."""


def main(words: Sequence[str] | None = None) -> int:
    """Score the set.

    :param words: the arguments, by default the command line's.
    """
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trees", metavar="DIR", type=Path, required=True)
    parser.add_argument("--set", choices=list(SETS), default="blind")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, default=SCORES[-1])
    arguments = parser.parse_args(words)
    if (arguments.set == "blind") != (arguments.output == SCORES[-1]):
        parser.error(
            f"{SCORES[-1].name} is of the blind set; of others, -o FILE is needed"
        )
    if arguments.output.exists():
        print(f"{arguments.output} is there: it is scored once.", file=sys.stderr)
        return 1
    recordings = sorted(SETS[arguments.set].glob("*.json"))
    trees = {path.stem: arguments.trees / path.stem for path in recordings}
    if missing := sorted(name for name, tree in trees.items() if not tree.is_dir()):
        print(f"Missing: {', '.join(missing)}.", file=sys.stderr)
        return 1
    known = sources()
    device = read_device(DEVICE)
    write_scores(
        arguments.output,
        [
            replace(
                score_payload(trees[path.stem], path, device)[0],
                distribution=known[path.stem].registry if path.stem in known else "",
                stratum=known[path.stem].kind if path.stem in known else "",
            )
            for path in recordings
        ],
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
