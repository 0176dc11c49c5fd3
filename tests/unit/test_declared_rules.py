"""The compression declared, packed and published."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from lint_contexts import (
    LITTLE,
    MUCH,
    PERHAPS,
    edited,
    found_by,
    make_context,
    make_project,
)
from snapcraft_compression_advisor.core.errors import UsageError
from snapcraft_compression_advisor.lint.all_rules import ALL_RULES
from snapcraft_compression_advisor.lint.rules.declared import (
    compression_changed,
    compression_lost,
    key_implicit,
)
from snapcraft_compression_advisor.preflight.packing import PreviousSnap, previous_of

if TYPE_CHECKING:
    from snapcraft_compression_advisor.core.units import Interval
    from snapcraft_compression_advisor.lint.rule import Context

PREVIOUS = PreviousSnap(
    path="old.snap", name="hello", codec="xz", image_bytes=90_000_000
)


def built(
    codec: str, *, project: str | None = None, policy: str | None = None
) -> Context:
    """Return the context of a built snap, with what was declared for it."""
    context = make_context(
        declared=codec,
        project=None if project is None else make_project(project),
        policy={"compression": policy} if policy else {},
    )
    payload = replace(context.analysis.payload, kind="snap")
    return replace(context, analysis=replace(context.analysis, payload=payload))


def test_key_that_the_snap_does_not_show_is_lost() -> None:
    (finding,) = found_by(
        compression_lost, built("xz", project="name: a\ncompression: lzo\n")
    )
    assert finding.message == (
        "lzo is declared in snapcraft.yaml, but the snap is packed with xz."
    )
    assert (finding.location.kind, finding.location.line) == ("project", 2)
    assert [each.origin for each in finding.evidence] == ["declared", "measured"]


@pytest.mark.parametrize("text", ["name: a\ncompression: xz\n", "name: a\n"])
def test_key_that_is_kept_or_absent_is_not_lost(text: str) -> None:
    assert not found_by(compression_lost, built("xz", project=text))


def test_policy_can_declare_the_compression() -> None:
    (finding,) = found_by(compression_lost, built("xz", policy="lzo"))
    assert finding.message.startswith("lzo is declared in the policy")
    assert finding.location.kind == "image"
    assert not found_by(compression_lost, built("lzo", policy="lzo"))


def test_prime_directory_is_held_to_the_policy_by_its_project() -> None:
    context = make_context(
        declared="xz",
        project=make_project("name: a\ncompression: xz\n"),
        policy={"compression": "lzo"},
    )
    (finding,) = found_by(compression_lost, context)
    assert "would be packed with xz" in finding.message
    assert finding.evidence[-1].origin == "declared"


def test_change_from_the_previous_snap_is_found() -> None:
    context = replace(built("lzo"), previous=PREVIOUS)
    (finding,) = found_by(compression_changed, context)
    assert (
        finding.message
        == "The previous snap was packed with xz; this one is packed with lzo."
    )
    assert finding.evidence[0].text == "xz, 90.0 MB"
    assert not found_by(compression_changed, replace(built("xz"), previous=PREVIOUS))
    assert not found_by(compression_changed, built("lzo"))


def test_previous_snap_is_chosen_by_name() -> None:
    other = replace(PREVIOUS, name="other")
    assert previous_of("hello", [other, PREVIOUS]) is PREVIOUS
    assert previous_of("hello", []) is None
    with pytest.raises(UsageError, match="No previous snap of 'hello'"):
        previous_of("hello", [other])


KDE = "name: a\napps:\n  one: {}\n  two:\n    extensions: [gnome, kde-neon-6]\n"


def test_an_extension_sets_lzo_unless_the_project_has_a_key() -> None:
    assert make_project(KDE).effective == "lzo"
    assert make_project(f"{KDE}compression: xz\n").effective == "xz"
    assert make_project(f"{KDE}compression:\n").effective == "lzo"
    assert make_project("name: a\napps: {b: {extensions: [gnome]}}\n").effective is None


def test_key_that_an_extension_stands_for_keeps_what_it_sets() -> None:
    project = make_project(KDE)
    context = make_context(declared="lzo", saves=PERHAPS, project=project)
    (finding,) = found_by(key_implicit, context)
    assert finding.message == (
        "There is no 'compression' key, so snapcraft packs with lzo as extension "
        "kde-neon-6 asks."
    )
    assert (
        edited(finding)
        == f"{KDE.replace('apps', 'compression: lzo' + chr(10) + 'apps')}"
    )


def test_snap_that_lost_what_its_extension_sets_is_to_be_built_again() -> None:
    context = built("xz", project=KDE)
    (lost,) = found_by(compression_lost, context)
    assert lost.message == (
        "lzo is declared in extension kde-neon-6, but the snap is packed with xz."
    )
    (implicit,) = found_by(key_implicit, context)
    assert implicit.fix is not None
    assert implicit.fix.edit is None
    assert implicit.fix.description.startswith("Build the snap again")


@pytest.mark.parametrize("text", ["name: a\n", KDE])
@pytest.mark.parametrize("codec", ["xz", "lzo"])
@pytest.mark.parametrize("saves", [MUCH, LITTLE, PERHAPS])
def test_no_two_fixes_set_one_key(text: str, codec: str, saves: Interval) -> None:
    context = make_context(declared=codec, saves=saves, project=make_project(text))
    findings = [each for rule in ALL_RULES for each in found_by(rule, context)]
    edits = {each.fix.edit for each in findings if each.fix and each.fix.edit}
    assert len(edits) <= 1
