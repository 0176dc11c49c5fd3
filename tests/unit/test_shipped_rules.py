"""SCA302 to SCA306: when files that needn't ship are a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lint_contexts import found_by, sized
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.lint.rules.shipped import (
    DEBUG_SYMBOLS,
    DOCUMENTATION,
    RULES,
)
from snapcraft_compression_advisor.lint.run import make_selection, run_rules
from snapcraft_compression_advisor.payload.needless import (
    Needless,
    NeedlessFile,
    NeedlessKind,
)
from snapcraft_compression_advisor.settings.lint_policy import LintPolicy
from surveyed import make_surveyed, storing

if TYPE_CHECKING:
    from snapcraft_compression_advisor.lint.rule import Rule

KINDS: dict[str, NeedlessKind] = {
    "SCA302": "debug-symbols",
    "SCA303": "static-libraries",
    "SCA304": "development-files",
    "SCA305": "documentation",
    "SCA306": "package-caches",
}
NEEDLESS_RULES = [rule for rule in RULES if rule.id in KINDS]
LARGE, SMALL = 1_000_000, 10_000


def needless(rule: Rule, size_bytes: int, *, doubt: str | None = None) -> Needless:
    file = NeedlessFile(path="usr/lib/a/one", size_bytes=size_bytes, doubt=doubt)
    return Needless(kind=KINDS[rule.id], files=(file,))


@pytest.mark.parametrize("rule", NEEDLESS_RULES, ids=lambda rule: rule.id)
def test_what_weighs_something_is_a_finding(rule: Rule) -> None:
    context = make_surveyed(
        needless=[needless(rule, LARGE)], analysis=storing({"usr/lib/a/one": LARGE})
    )
    (finding,) = found_by(rule, context)
    assert finding.rule == rule.id
    assert finding.severity == "warning"
    assert not finding.undecided
    assert "(1 file) take 500.0 kB of the image with xz, 1% of it" in finding.message
    assert finding.location.path == "usr/lib/a"
    assert finding.files == ("usr/lib/a/one",)
    assert finding.evidence[0].origin == "measured"


@pytest.mark.parametrize("rule", NEEDLESS_RULES, ids=lambda rule: rule.id)
def test_what_weighs_nothing_is_no_finding(rule: Rule) -> None:
    context = make_surveyed(
        needless=[needless(rule, SMALL)], analysis=storing({"usr/lib/a/one": SMALL})
    )
    assert not found_by(rule, context)


@pytest.mark.parametrize("rule", NEEDLESS_RULES, ids=lambda rule: rule.id)
def test_files_of_another_kind_are_another_rules(rule: Rule) -> None:
    context = make_surveyed(
        needless=[needless(other, LARGE) for other in NEEDLESS_RULES if other != rule],
        analysis=storing({"usr/lib/a/one": LARGE}),
    )
    assert not found_by(rule, context)


@pytest.mark.parametrize("rule", NEEDLESS_RULES, ids=lambda rule: rule.id)
def test_what_is_less_than_a_thousandth_of_the_image_is_no_finding(
    rule: Rule,
) -> None:
    analysis = storing({"usr/lib/a/one": LARGE})
    context = make_surveyed(
        needless=[needless(rule, LARGE)],
        analysis=sized(analysis, "xz", Interval.exactly(501)),
    )
    assert not found_by(rule, context)


@pytest.mark.parametrize("rule", NEEDLESS_RULES, ids=lambda rule: rule.id)
def test_an_interval_across_the_line_is_undecided(rule: Rule) -> None:
    size = 210_000  # 105,000 with xz, by an error of some 10 %
    context = make_surveyed(
        needless=[needless(rule, size)],
        analysis=storing({"usr/lib/a/one": size}, error=0.1),
    )
    (finding,) = found_by(rule, context)
    assert finding.undecided
    assert finding.severity == "info"
    assert "an estimated 105.0 kB (" in finding.message
    assert finding.evidence[0].origin == "estimated"


@pytest.mark.parametrize("rule", NEEDLESS_RULES, ids=lambda rule: rule.id)
def test_files_that_something_may_read_are_undecided(rule: Rule) -> None:
    context = make_surveyed(
        needless=[needless(rule, LARGE, doubt="a compiler is shipped")],
        analysis=storing({"usr/lib/a/one": LARGE}),
    )
    (finding,) = found_by(rule, context)
    assert finding.undecided
    assert "a compiler is shipped" in finding.message


def test_doubtful_files_are_left_out_where_the_others_weigh_enough() -> None:
    files = (
        NeedlessFile(path="usr/share/doc/a/manual.pdf", size_bytes=LARGE, doubt="help"),
        NeedlessFile(path="usr/share/doc/a/changelog", size_bytes=LARGE),
    )
    context = make_surveyed(
        needless=[Needless(kind="documentation", files=files)],
        analysis=storing({file.path: file.size_bytes for file in files}),
    )
    (finding,) = found_by(DOCUMENTATION, context)
    assert finding.files == ("usr/share/doc/a/changelog",)
    assert "500.0 kB" in finding.message


def test_files_that_the_policy_leaves_out_are_not_weighed() -> None:
    files = (
        NeedlessFile(path="usr/share/doc/a/news", size_bytes=LARGE),
        NeedlessFile(path="usr/share/man/b", size_bytes=LARGE),
    )
    context = make_surveyed(
        needless=[Needless(kind="documentation", files=files)],
        analysis=storing({file.path: file.size_bytes for file in files}),
    )
    policy = LintPolicy.model_validate({"ignore": ["SCA305:usr/share/doc"]})
    (finding,) = run_rules(context, RULES, make_selection(policy))
    assert finding.files == ("usr/share/man/b",)
    assert "(1 file) take 500.0 kB" in finding.message


def test_contents_that_other_files_keep_do_not_count() -> None:
    context = make_surveyed(
        needless=[needless(DEBUG_SYMBOLS, LARGE)],
        analysis=storing({"used": LARGE}, same_as={"usr/lib/a/one": "used"}),
    )
    assert not found_by(DEBUG_SYMBOLS, context)


def test_of_an_unstripped_file_only_its_symbols_count() -> None:
    file = NeedlessFile(path="bin/x", size_bytes=600_000, parts=((400_000, 1_000_000),))
    context = make_surveyed(
        needless=[Needless(kind="debug-symbols", files=(file,))],
        analysis=storing({"bin/x": LARGE}),
    )
    (finding,) = found_by(DEBUG_SYMBOLS, context)
    assert "an estimated 300.0 kB" in finding.message


def test_files_without_a_directory_in_common_are_the_payloads_affair() -> None:
    files = tuple(
        NeedlessFile(path=path, size_bytes=LARGE) for path in ("a/x.debug", "b/y.debug")
    )
    context = make_surveyed(
        needless=[Needless(kind="debug-symbols", files=files)],
        analysis=storing({file.path: file.size_bytes for file in files}),
    )
    (finding,) = found_by(DEBUG_SYMBOLS, context)
    assert finding.location.kind == "image"


def test_where_nothing_is_known_of_sizes_nothing_is_said() -> None:
    context = make_surveyed(needless=[needless(DEBUG_SYMBOLS, LARGE)])
    assert not found_by(DEBUG_SYMBOLS, context)
