"""Which versions of mksquashfs can do what."""

from __future__ import annotations

import pytest

from snapcraft_compression_advisor.squashfs.mksquashfs import applies_deltas


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("4.5.1", False),
        ("4.6", True),
        ("4.6.1", True),
        ("4.7.4-a8bb1d4d", True),
        ("4.10", True),
        ("5", True),
        ("unknown version", False),
    ],
)
def test_deltas_are_applied_from_4_6_on(version: str, *, expected: bool) -> None:
    assert applies_deltas(version) is expected
