"""Exit statuses by sysexits."""

import pytest

from snapcraft_compression_advisor.core import errors


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (errors.UsageError, 64),
        (errors.BadDataError, 65),
        (errors.NoInputError, 66),
        (errors.ToolError, 69),
        (errors.AdvisorError, 70),
        (errors.StorageError, 74),
    ],
)
def test_each_kind_of_error_has_its_sysexits_status(
    kind: type[errors.AdvisorError], status: int
) -> None:
    error = kind("wrong", details="why", resolution="do that")
    assert (error.retcode, error.details, error.resolution) == (
        status,
        "why",
        "do that",
    )
