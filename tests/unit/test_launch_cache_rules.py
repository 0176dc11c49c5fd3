"""SCA210 to SCA216: when a missing or stale cache is a finding."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from lint_contexts import found_by
from snapcraft_compression_advisor.lint.rules.launch_caches import (
    FONTS,
    PYTHON_BYTECODE,
    RULES,
    SETTINGS_SCHEMAS,
)
from snapcraft_compression_advisor.payload.caches import CacheFault, CacheKind
from surveyed import launching, make_surveyed

if TYPE_CHECKING:
    from snapcraft_compression_advisor.lint.rule import Rule

KINDS: dict[str, CacheKind] = {
    "SCA210": "settings-schemas",
    "SCA211": "image-loaders",
    "SCA212": "input-methods",
    "SCA213": "icon-theme",
    "SCA214": "fonts",
    "SCA215": "gio-modules",
}
GIO = "usr/lib/x86_64-linux-gnu/libgio-2.0.so.0"
SITE = "lib/python3.12/site-packages"
SCHEMAS = CacheFault(
    kind="settings-schemas",
    state="missing",
    path="usr/share/glib-2.0/schemas/gschemas.compiled",
    sources=("usr/share/glib-2.0/schemas/a.gschema.xml",),
    source_count=1,
    reason="there are schemas but no compiled form of them",
    readers=("libgio-2.0",),
)
BYTECODE = CacheFault(
    kind="python-bytecode",
    state="missing",
    path=SITE,
    sources=(f"{SITE}/a.py", f"{SITE}/b.py"),
    source_count=2,
    reason="these sources have no bytecode for Python 3.12",
)


def fault_of(rule: Rule) -> tuple[CacheFault, str]:
    """Return a fault of a rule's kind, and what a launch reads that needs it."""
    if rule is PYTHON_BYTECODE:
        return BYTECODE, f"{SITE}/a.py"
    return replace(SCHEMAS, kind=KINDS[rule.id]), GIO


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_cache_that_a_launch_uses_is_a_finding(rule: Rule) -> None:
    fault, used = fault_of(rule)
    (finding,) = found_by(rule, make_surveyed(caches=[fault], analysis=launching(used)))
    assert finding.rule == rule.id
    assert finding.severity == "warning"
    assert not finding.undecided
    assert finding.location.path == fault.path
    assert fault.reason in finding.message
    assert finding.evidence


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_caches_of_other_kinds_are_other_rules_affair(rule: Rule) -> None:
    others = [fault_of(other)[0] for other in RULES if other is not rule]
    context = make_surveyed(caches=others, analysis=launching(GIO, f"{SITE}/a.py"))
    assert not found_by(rule, context)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_cache_that_no_launch_is_known_to_use_is_undecided(rule: Rule) -> None:
    fault, _ = fault_of(rule)
    context = make_surveyed(caches=[fault], analysis=launching("bin/other"))
    (finding,) = found_by(rule, context)
    assert finding.undecided
    assert finding.severity == "info"
    assert "no target app's launch is known to use it" in finding.message


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_cache_that_a_recorded_launch_does_not_use_is_no_finding(
    rule: Rule,
) -> None:
    fault, used = fault_of(rule)
    unused = launching("bin/other", source="recorded")
    assert not found_by(rule, make_surveyed(caches=[fault], analysis=unused))
    recorded = launching(used, source="recorded")
    assert found_by(rule, make_surveyed(caches=[fault], analysis=recorded))


def test_a_library_of_a_content_snap_uses_a_cache_too() -> None:
    analysis = launching("bin/x", elsewhere=["libgio-2.0.so.0"])
    (finding,) = found_by(
        SETTINGS_SCHEMAS, make_surveyed(caches=[SCHEMAS], analysis=analysis)
    )
    assert not finding.undecided


def test_a_doubt_leaves_a_used_cache_undecided() -> None:
    fault = replace(SCHEMAS, kind="fonts", doubt="its path isn't known")
    (finding,) = found_by(FONTS, make_surveyed(caches=[fault], analysis=launching(GIO)))
    assert finding.undecided
    assert "its path isn't known" in finding.message


def test_of_bytecode_those_modules_are_listed_that_a_launch_reads() -> None:
    analysis = launching(f"{SITE}/b.py", "bin/x")
    (finding,) = found_by(
        PYTHON_BYTECODE, make_surveyed(caches=[BYTECODE], analysis=analysis)
    )
    assert finding.files == (f"{SITE}/b.py",)
    assert any("1, such as" in each.text for each in finding.evidence)


def test_stale_bytecode_counted_by_a_sample_is_an_estimate() -> None:
    fault = replace(BYTECODE, state="stale", source_count=900)
    analysis = launching(f"{SITE}/b.py")
    (finding,) = found_by(
        PYTHON_BYTECODE, make_surveyed(caches=[fault], analysis=analysis)
    )
    assert "is stale" in finding.message
    assert finding.evidence[0].origin == "estimated"
