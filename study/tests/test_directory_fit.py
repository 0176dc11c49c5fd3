"""What a launch from a directory reads: constants against their data."""

from __future__ import annotations

import directory_fit
from snapcraft_compression_advisor.launch import traced_share


def test_constants_are_those_that_follow_from_the_data() -> None:
    rows = directory_fit.read_rows()
    assert len(rows) >= 10
    assert directory_fit.fitted(rows) == {
        name: getattr(traced_share, name)
        for name in ("DIRECTORY_READ_SHARE", "DIRECTORY_SEEK_SHARE")
    }
    agreed = [directory_fit.agreed(row) for row in rows]
    assert sorted(agreed)[len(agreed) // 2] >= 0.95
