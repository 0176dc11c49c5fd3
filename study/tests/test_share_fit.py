"""What a launch reads of what was recorded otherwise: constants against their data."""

from __future__ import annotations

import math

import share_fit
from share_fit import interval_of, mounts_agreed, read_traces
from snapcraft_compression_advisor.launch import fit
from snapcraft_compression_advisor.trim.prove import LEAST_COMMON


def test_constants_of_traces_follow_from_the_data() -> None:
    rows = read_traces()
    constants = {
        name: getattr(fit, name)
        for name in (
            "READ_SHARE",
            "FILE_READ_SHARE",
            "SEEK_SHARE",
            "WHOLE_READ_SHARE",
            "WHOLE_SEEK_SHARE",
        )
    }
    assert constants == share_fit.traces_fitted(rows)
    assert share_fit.whole_measured(rows) == fit.WHOLE_MEASURED
    assert len(rows) == fit.APPLICATIONS


def test_truth_of_other_applications_lies_within_their_intervals() -> None:
    others = [row for row in read_traces() if row.use == "check"]
    outside = [
        row.application
        for row in others
        if not interval_of(row).low <= row.read_share <= interval_of(row).high
    ]
    assert len(others) >= 5
    assert outside == []


def test_no_launch_read_more_than_its_trace_names() -> None:
    for row in read_traces():
        assert row.other_bytes <= 0.01 * row.resident_bytes, row.application


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
