"""Which file of the old build a file of the new one was made of."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence

_VERSION = re.compile(r"\d[\d.]*")


def pair_files(old: Mapping[str, int], new: Mapping[str, int]) -> dict[str, str]:
    """Return for files of the new build those of the old one to compare them with.

    That is the file of the same path; else one that is gone, whose path differs by
    versions alone, or whose name does; of several the one of the closest length.

    :param old: lengths by path.
    :param new: likewise.
    """
    by_key: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for length, path in sorted((old[path], path) for path in old if path not in new):
        for key in _keys(path):
            by_key[key].append((length, path))
    pairs = {}
    for path, length in new.items():
        if path in old:
            pairs[path] = path
            continue
        found = next((by_key[key] for key in _keys(path) if key in by_key), None)
        if found is not None:
            pairs[path] = _closest(found, length)
    return pairs


def _closest(files: Sequence[tuple[int, str]], length: int) -> str:
    """Return the file whose length is closest; they are in ascending order."""
    index = bisect_left(files, (length, ""))
    return min(
        files[max(0, index - 1) : index + 1],
        key=lambda each: (abs(each[0] - length), each),
    )[1]


def _keys(path: str) -> tuple[str, str]:
    """Return what likely pairs have in common, the surest first."""
    whole = _VERSION.sub("#", path)
    return whole, "*/" + whole.rpartition("/")[2]
