"""Payloads that can't be linted."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.cli import lint
from snapcraft_compression_advisor.lint.request import LintRequest
from snapcraft_compression_advisor.settings.lint_policy import LintPolicy

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_mock import MockerFixture

REQUEST = LintRequest(policy=LintPolicy(), devices=())


def test_payloads_that_cannot_be_read_are_outcomes_with_a_status(
    tmp_path: Path,
) -> None:
    (tmp_path / "no.snap").write_bytes(b"no image")
    outcomes = [
        lint.lint_path(tmp_path / name, REQUEST) for name in ("nowhere", "no.snap")
    ]
    assert [each.error_status for each in outcomes] == [os.EX_NOINPUT, os.EX_DATAERR]
    assert all(each.linted.error for each in outcomes)


def test_a_disk_that_fails_is_an_outcome_too(
    tmp_path: Path, mocker: MockerFixture
) -> None:
    mocker.patch.object(
        lint, "open_payload", side_effect=OSError(5, "Input/output error")
    )
    failed = lint.lint_path(tmp_path / "a.snap", REQUEST)
    assert failed.error_status == os.EX_IOERR
    assert "Input/output error" in (failed.linted.error or "")
