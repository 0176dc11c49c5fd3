"""What a launch reads of what its trace names: constants against their data."""

from __future__ import annotations

import traced_fit
from snapcraft_compression_advisor.launch import traced_share
from traced_fit import interval_of, read_rows, read_savings


def test_constants_are_those_that_follow_from_the_data() -> None:
    rows = read_rows()
    constants = {
        name: getattr(traced_share, name)
        for name in (
            "READ_SHARE",
            "FILE_READ_SHARE",
            "SEEK_SHARE",
            "WHOLE_READ_SHARE",
            "WHOLE_SEEK_SHARE",
        )
    }
    assert constants == traced_fit.fitted(rows)
    assert traced_fit.whole_measured(rows) == traced_share.WHOLE_MEASURED
    assert len(rows) == traced_share.APPLICATIONS


def test_truth_of_other_applications_lies_within_their_intervals() -> None:
    others = [row for row in read_rows() if row.use == "check"]
    outside = [
        row.application
        for row in others
        if not interval_of(row).low <= row.read_share <= interval_of(row).high
    ]
    assert len(others) >= 5
    assert outside == []


def test_no_launch_read_more_than_its_trace_names() -> None:
    for row in read_rows():
        assert row.other_bytes <= 0.01 * row.resident_bytes, row.application


def test_what_residency_says_is_saved_lies_within_what_the_trace_says() -> None:
    intervals = {row.application: interval_of(row) for row in read_rows()}
    outside = [
        (application, device)
        for (application, device), saved in read_savings().items()
        if not intervals[application].low * saved["trace"]
        <= saved["residency"]
        <= intervals[application].high * saved["trace"]
    ]
    assert outside == []
