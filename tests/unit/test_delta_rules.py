"""SCA603 to SCA607: the delta from the previous build."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from lint_contexts import found_by, make_context
from snapcraft_compression_advisor.core.errors import BadDataError
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.diff.figures import BaselineBuild, BaselineDelta
from snapcraft_compression_advisor.lint.rules.deltas import (
    ARCHIVE_RECOMPRESSED,
    CACHE_UNSTABLE,
    FILE_MOVED,
    FILE_STAMPED,
    refresh_large,
)
from snapcraft_compression_advisor.refresh.changes import ChangeKind, FileChange
from snapcraft_compression_advisor.settings.policy_file import parse_policy

if TYPE_CHECKING:
    from snapcraft_compression_advisor.lint.rule import Context, Rule

MB = 1_000_000
TEN_MB = Interval.around(9 * MB, 10 * MB, 12 * MB)


def change(kind: ChangeKind, delta_bytes: float, path: str = "usr/x") -> FileChange:
    return FileChange(path=path, old_path=None, change=kind, delta_bytes=delta_bytes)


def context(*changes: FileChange, budget: str | None = None) -> Context:
    """Return a payload whose delta from the baseline has an estimated 10 MB."""
    policy = {"max-refresh-size": budget} if budget else {}
    delta = BaselineDelta(
        codec="xz", delta_format="xdelta3", size_bytes=TEN_MB, changes=changes
    )
    baseline = BaselineBuild(figures=None, delta=delta)
    return replace(make_context(policy=policy), baseline=baseline)


@pytest.mark.parametrize(
    ("budget", "undecided"),
    [
        ("8MB", [False]),
        ("10MB", [True]),
        ("13MB", []),
        ("10%", [False]),  # of an image of 44 MB
        ("90%", []),
    ],
)
def test_refresh_is_compared_with_its_budget(
    budget: str, undecided: list[bool]
) -> None:
    findings = found_by(refresh_large, context(budget=budget))
    assert [each.undecided for each in findings] == undecided
    for finding in findings:
        assert "downloads an estimated 10.0 MB" in finding.message
        assert finding.severity == ("info" if finding.undecided else "error")


def test_refresh_without_baseline_or_budget_is_no_finding() -> None:
    assert not found_by(refresh_large, context())
    budget = {"max-refresh-size": "1MB"}
    assert not found_by(refresh_large, make_context(policy=budget))


def test_delta_is_not_known_from_a_report() -> None:
    seen = replace(context(budget="5%"), baseline=BaselineBuild(figures=None))
    (finding,) = found_by(refresh_large, seen)
    assert finding.undecided
    assert "isn't known; 5% of the image is allowed" in finding.message


def test_ignored_rule_contradicts_its_budget() -> None:
    text = b"max-refresh-size: 5MB\nignore: SCA603\n"
    with pytest.raises(BadDataError) as caught:
        parse_policy(text, where="policy.yaml")
    assert "'max-refresh-size' is set" in f"{caught.value} {caught.value.details}"


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        (FILE_MOVED, "moved"),
        (ARCHIVE_RECOMPRESSED, "recompressed"),
        (FILE_STAMPED, "timestamp"),
        (CACHE_UNSTABLE, "cache"),
    ],
)
def test_files_of_a_kind_are_found_with_their_bytes(
    rule: Rule, kind: ChangeKind
) -> None:
    others = (change("added", 3 * MB, "new"), change("changed", 4 * MB, "other"))
    seen = context(*others, change(kind, 2 * MB), change(kind, 0.5 * MB, "opt/y"))
    (finding,) = found_by(rule, seen)
    assert finding.files == ("usr/x", "opt/y")
    assert finding.message.startswith("2 files ")
    assert "2.5 MB (25%) to the plain delta with xz" in finding.message
    assert finding.fix is not None


@pytest.mark.parametrize("delta_bytes", [50_000, 99_000])
def test_little_is_no_finding(delta_bytes: float) -> None:
    assert not found_by(FILE_MOVED, context(change("moved", delta_bytes)))


def test_one_file_is_the_place_of_its_finding() -> None:
    (finding,) = found_by(FILE_STAMPED, context(change("timestamp", MB)))
    assert (finding.location.kind, finding.location.path) == ("payload", "usr/x")
    assert finding.message.startswith("1 file differs in a few bytes only, and adds")
