"""What a launch reads of what was recorded otherwise: constants against their data."""

from __future__ import annotations

import math

import share_fit
from share_fit import mounts_agreed
from snapcraft_compression_advisor.launch import fit
from snapcraft_compression_advisor.trim.prove import LEAST_COMMON


def test_constants_of_directories_follow_from_the_data() -> None:
    rows = share_fit.read_directories()
    assert len(rows) >= 10
    assert share_fit.directories_fitted(rows) == {
        name: getattr(fit, name)
        for name in ("DIRECTORY_READ_SHARE", "DIRECTORY_SEEK_SHARE")
    }
    agreed = [share_fit.agreed(row) for row in rows]
    assert sorted(agreed)[len(agreed) // 2] >= 0.95


def test_bar_of_the_proof_is_the_least_that_repeated_launches_have_in_common() -> None:
    shares = [mounts_agreed(row) for row in share_fit.read_directories()]
    assert math.floor(100 * min(shares)) / 100 == LEAST_COMMON
    assert len(shares) == 24
