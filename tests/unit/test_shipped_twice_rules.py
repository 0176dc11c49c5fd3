"""SCA307 and SCA308: when copies and supplied libraries are a finding."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lint_contexts import found_by
from snapcraft_compression_advisor.lint.rules.shipped import (
    duplicated_content,
    supplied_libraries,
)
from snapcraft_compression_advisor.payload.copies import Copy, Supplied
from snapcraft_compression_advisor.payload.survey import Survey
from surveyed import make_surveyed, storing

if TYPE_CHECKING:
    from snapcraft_compression_advisor.lint.rule import Context

LARGE, SMALL, BORDER = 1_000_000, 10_000, 210_000
PATH = "usr/lib/libx.so.1.2.0"


def with_copy(
    size_bytes: int, *, error: float = 0, doubt: str | None = None
) -> Context:
    copy = Copy(
        kind="older version",
        path=PATH,
        like="usr/lib/libx.so.1.3.0",
        size_bytes=size_bytes,
        doubt=doubt,
    )
    context = make_surveyed(analysis=storing({PATH: size_bytes}, error=error))
    return replace(context, survey=Survey(copies=(copy,)))


def with_library(
    size_bytes: int, *, error: float = 0, same: bool | None = True
) -> Context:
    supplied = Supplied(path=PATH, size_bytes=size_bytes, supplier="core24", same=same)
    context = make_surveyed(analysis=storing({PATH: size_bytes}, error=error))
    return replace(context, survey=Survey(supplied=(supplied,)))


def test_a_second_version_is_a_finding_and_says_what_it_is_like() -> None:
    (finding,) = found_by(duplicated_content, with_copy(LARGE))
    assert finding.severity == "warning"
    assert finding.files == (PATH,)
    assert "(1 file) take 500.0 kB of the image with xz, 1% of it" in finding.message
    assert any("libx.so.1.3.0" in each.text for each in finding.evidence)


def test_a_small_second_version_is_no_finding() -> None:
    assert not found_by(duplicated_content, with_copy(SMALL))


def test_a_second_version_is_undecided_by_doubt_and_by_interval() -> None:
    (finding,) = found_by(duplicated_content, with_copy(LARGE, doubt="who knows"))
    assert finding.undecided
    (finding,) = found_by(duplicated_content, with_copy(BORDER, error=0.1))
    assert finding.undecided


def test_a_copy_that_the_image_stores_once_costs_nothing() -> None:
    context = with_copy(LARGE)
    shared = storing(
        {"usr/lib/libx.so.1.3.0": LARGE}, same_as={PATH: "usr/lib/libx.so.1.3.0"}
    )
    assert not found_by(duplicated_content, replace(context, analysis=shared))


def test_a_library_equal_to_the_bases_is_a_finding() -> None:
    (finding,) = found_by(supplied_libraries, with_library(LARGE))
    assert not finding.undecided
    assert finding.evidence[-1].text == "'core24'"
    assert finding.evidence[-1].origin == "measured"


def test_a_small_library_is_no_finding() -> None:
    assert not found_by(supplied_libraries, with_library(SMALL))


def test_a_library_known_by_name_only_or_of_another_build_is_undecided() -> None:
    (finding,) = found_by(supplied_libraries, with_library(LARGE, same=None))
    assert finding.undecided
    assert "only their names are known" in finding.message
    assert finding.evidence[-1].origin == "published"
    (finding,) = found_by(supplied_libraries, with_library(LARGE, same=False))
    assert finding.undecided
    assert "other builds" in finding.message


def test_an_interval_across_the_line_is_undecided() -> None:
    (finding,) = found_by(supplied_libraries, with_library(BORDER, error=0.1))
    assert finding.undecided
