"""Whether the compression suits the payload."""

from dataclasses import replace

import pytest

from analyses import MB, make_analysis
from lint_contexts import (
    LITTLE,
    MUCH,
    PERHAPS,
    edited,
    fix_of,
    found_by,
    judged,
    make_context,
    make_project,
    sized,
)
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.launch_set import BlindSpot, GuessBasis
from snapcraft_compression_advisor.lint.rule import ComponentSizes, Rule
from snapcraft_compression_advisor.lint.rules.compression import (
    lzo_gains_nothing,
    lzo_would_gain,
)
from snapcraft_compression_advisor.lint.rules.declared import (
    component_key,
    key_implicit,
)

XZ_PROJECT = "name: x\ncompression: xz # small\nbase: core24\n"
LZO_PROJECT = """\
name: x
compression: lzo
components:
  data:
    type: standard
    summary: s
"""


def test_lzo_that_pays_is_found_on_the_line_of_the_key() -> None:
    context = make_context(saves=MUCH, project=make_project(XZ_PROJECT))
    (finding,) = found_by(lzo_would_gain, context)
    assert (finding.severity, finding.undecided) == ("warning", False)
    place = finding.location
    assert (place.kind, place.path, place.line) == ("project", "snap/snapcraft.yaml", 2)
    assert "1.00 s (0.45\N{EN DASH}3.12 s) less than with xz" in finding.message
    assert "13.1 MB (30%) more to download" in finding.message
    assert edited(finding) == XZ_PROJECT.replace("xz", "lzo")
    assert finding.gain is not None
    assert (finding.gain.of, finding.gain.seconds.mid) == ("cold launch", 1.0)
    assert fix_of(finding).safe


def test_components_keep_what_they_inherit_when_the_snap_becomes_lzo() -> None:
    text = LZO_PROJECT.replace("lzo", "xz")
    context = make_context(saves=MUCH, project=make_project(text))
    (finding,) = found_by(lzo_would_gain, context)
    assert edited(finding) == LZO_PROJECT.replace(
        "standard\n", "standard\n    compression: xz\n"
    )
    assert fix_of(finding).description.endswith("and keep that of data")


def test_component_that_cannot_be_edited_leaves_the_fix_to_people() -> None:
    text = "name: x\ncompression: xz\ncomponents: {data: {type: standard}}\n"
    context = make_context(saves=MUCH, project=make_project(text))
    (finding,) = found_by(lzo_would_gain, context)
    assert fix_of(finding).edit is None


@pytest.mark.parametrize("built_bytes", [None, 43.5 * MB, 50 * MB])
def test_only_the_size_of_an_image_that_exists_is_measured(
    built_bytes: float | None,
) -> None:
    analysis = judged(make_analysis(), "xz", MUCH)
    image_bytes = None if built_bytes is None else int(built_bytes)
    payload = replace(analysis.payload, image_bytes=image_bytes)
    trial = replace(analysis.trial, mode="sampled")
    analysis = replace(analysis, payload=payload, trial=trial)
    analysis = sized(analysis, "xz", Interval.exactly(43.5))
    (finding,) = found_by(lzo_would_gain, make_context(analysis=analysis))
    origins = {each.label: each.origin for each in finding.evidence}
    expected = "measured" if built_bytes == 43.5 * MB else "estimated"
    assert origins["image with xz"] == expected
    assert origins["image with lzo"] == "estimated"


def test_without_a_project_the_finding_is_about_the_image() -> None:
    (finding,) = found_by(lzo_would_gain, make_context(saves=MUCH))
    assert finding.location.kind == "image"
    assert fix_of(finding).edit is None


def test_compression_that_is_not_known_counts_as_the_default() -> None:
    (finding,) = found_by(lzo_would_gain, make_context(declared=None, saves=MUCH))
    assert not finding.undecided


@pytest.mark.parametrize(
    ("rule", "declared", "saves"),
    [
        *((lzo_would_gain, *each) for each in (("xz", LITTLE), ("lzo", MUCH))),
        (lzo_would_gain, "lzo", PERHAPS),
        *((lzo_gains_nothing, "xz", each) for each in (LITTLE, PERHAPS)),
        *((lzo_gains_nothing, *each) for each in (("gzip", LITTLE), ("lzo", MUCH))),
    ],
)
def test_lzo_that_gains_nothing_more_or_pays_already_is_no_finding(
    rule: Rule, declared: str, saves: Interval
) -> None:
    assert not found_by(rule, make_context(declared=declared, saves=saves))


def test_interval_across_the_line_is_undecided_at_info() -> None:
    (finding,) = found_by(lzo_would_gain, make_context(saves=PERHAPS))
    assert (finding.severity, finding.undecided) == ("info", True)
    assert "0.25 s is needed" in finding.message


def test_lzo_is_not_suggested_where_a_target_cannot_mount_it() -> None:
    policy = {"targets": [{"name": "board", "codecs": ["xz", "gzip"]}]}
    assert not found_by(lzo_would_gain, make_context(saves=MUCH, policy=policy))


def test_snap_built_before_the_key_was_changed_is_to_be_built_again() -> None:
    project = make_project(LZO_PROJECT)
    (finding,) = found_by(lzo_would_gain, make_context(saves=MUCH, project=project))
    assert "Build the snap again" in fix_of(finding).description
    assert fix_of(finding).edit is None


def test_lzo_that_saves_too_little_is_found() -> None:
    context = make_context(
        declared="lzo", saves=LITTLE, project=make_project(LZO_PROJECT)
    )
    (finding,) = found_by(lzo_gains_nothing, context)
    assert finding.severity == "warning"
    assert "lzo adds 13.1 MB (30%)" in finding.message
    assert edited(finding) == LZO_PROJECT.replace("lzo", "xz")


def test_undecided_finding_says_what_the_guess_could_not_follow() -> None:
    context = make_context(saves=PERHAPS)
    (launch,) = context.analysis.launches
    spot = BlindSpot(reason="unreached-window", where="meta/gui/app0.desktop")
    basis = GuessBasis(kind="Python", blind_spots=(spot,), reference=(("a", 1.2),))
    blind = replace(launch, launch_set=replace(launch.launch_set, basis=basis))
    analysis = replace(context.analysis, launches=(blind,))
    (finding,) = found_by(lzo_would_gain, replace(context, analysis=analysis))
    assert finding.undecided
    assert finding.message.endswith(
        "Not followed: meta/gui/app0.desktop says that the app opens windows, but the "
        "search found no toolkit that it loads; so the interval also covers what 1 "
        "recorded application read that was searched as blindly."
    )
    assert "Record a launch with --record" in fix_of(finding).description


def test_whether_lzo_loses_may_be_undecided() -> None:
    (finding,) = found_by(
        lzo_gains_nothing, make_context(declared="lzo", saves=PERHAPS)
    )
    assert (finding.severity, finding.undecided) == ("info", True)


def test_missing_key_is_found_and_written_as_what_it_means() -> None:
    project = make_project("name: x\nbase: core24\n")
    context = make_context(project=project, saves=PERHAPS)
    (finding,) = found_by(key_implicit, context)
    assert finding.severity == "info"
    assert edited(finding) == "name: x\nbase: core24\ncompression: xz\n"


def test_key_that_is_there_is_no_finding_and_neither_is_no_project() -> None:
    context = make_context(project=make_project(XZ_PROJECT))
    assert not found_by(key_implicit, context)
    assert not found_by(key_implicit, make_context())


NOTHING_READS = {"components": {"data": {"read": "none"}}}
ALL_IS_READ = {"components": {"data": {"read": "all"}}}
GROWS = Interval(low=2e6, mid=3e6, high=4e6)


def sizes(*, added: Interval) -> dict[str, ComponentSizes]:
    """Return the sizes of a component, and what reading all of it takes."""
    whole = make_analysis().launches[0]
    return {
        "data": ComponentSizes(
            xz_bytes=Interval.exactly(1e7), lzo_less_xz_bytes=added, whole=whole
        )
    }


GROWN = sizes(added=GROWS)


def test_component_that_nothing_reads_gets_xz() -> None:
    project = make_project(LZO_PROJECT)
    context = make_context(project=project, sizes=GROWN, policy=NOTHING_READS)
    (finding,) = found_by(component_key, context)
    assert (finding.severity, finding.location.line) == ("warning", 4)
    assert "3.0 MB (2.0\N{EN DASH}4.0 MB) (30%)" in finding.message
    assert edited(finding) == LZO_PROJECT.replace(
        "standard\n", "standard\n    compression: xz\n"
    )


def test_component_of_which_nothing_is_known_is_undecided_and_priced() -> None:
    project = make_project(LZO_PROJECT)
    (finding,) = found_by(component_key, make_context(project=project, sizes=GROWN))
    assert finding.undecided
    assert "What reads it isn't known. Reading all of it takes" in finding.message
    assert " with xz and " in finding.message
    assert fix_of(finding).edit is None
    assert "components: {data: {read: all}}" in fix_of(finding).description


def test_component_that_a_start_waits_for_keeps_lzo_and_does_not_keep_xz() -> None:
    project = make_project(LZO_PROJECT)
    context = make_context(project=project, sizes=GROWN, policy=ALL_IS_READ)
    assert not found_by(component_key, context)
    text = LZO_PROJECT.replace("compression: lzo", "compression: xz")
    project = make_project(text)
    (finding,) = found_by(
        component_key,
        make_context(project=project, sizes=GROWN, policy=ALL_IS_READ),
    )
    assert fix_of(finding).description == "Give component data 'compression: lzo'"
    assert not found_by(component_key, make_context(project=project, sizes=GROWN))


def test_component_that_does_not_grow_is_no_finding() -> None:
    project = make_project(LZO_PROJECT)
    assert not found_by(
        component_key,
        make_context(project=project, sizes=sizes(added=Interval.exactly(1e4))),
    )


def test_component_whose_growth_straddles_the_line_is_undecided() -> None:
    added = Interval(low=0.0, mid=1e5, high=1e6)
    project = make_project(LZO_PROJECT)
    context = make_context(
        project=project, sizes=sizes(added=added), policy=NOTHING_READS
    )
    (finding,) = found_by(component_key, context)
    assert (finding.severity, finding.undecided) == ("info", True)
    assert not fix_of(finding).safe


def test_component_without_its_files_is_undecided() -> None:
    (finding,) = found_by(
        component_key, make_context(project=make_project(LZO_PROJECT))
    )
    assert finding.undecided
    assert "its files aren't here" in finding.message


def test_component_with_a_key_or_under_xz_is_no_finding() -> None:
    own = LZO_PROJECT.replace("    summary: s\n", "    compression: lzo\n")
    for text in (own, LZO_PROJECT.replace("lzo", "xz"), XZ_PROJECT):
        assert not found_by(component_key, make_context(project=make_project(text)))


def test_bare_project_without_its_text_carries_no_edit() -> None:
    project = replace(make_project(XZ_PROJECT), content=b"name: [")
    (finding,) = found_by(lzo_would_gain, make_context(project=project))
    assert fix_of(finding).edit is None
