"""Rules on a component: its own key, no launches, no budget."""

from dataclasses import replace
from pathlib import Path

import pytest

from analyses import evidence_of, make_analysis, make_evidence
from lint_contexts import edited, fix_of, found_by, make_context, make_project
from payloads import MemoryPayload, make_payload
from snapcraft_compression_advisor.advice.evidence import Policy, Saving
from snapcraft_compression_advisor.advice.judging import recommend
from snapcraft_compression_advisor.analysis import analysis_request
from snapcraft_compression_advisor.cli.subject import find_project
from snapcraft_compression_advisor.core.errors import BadDataError, UsageError
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launches import Surroundings
from snapcraft_compression_advisor.lint.lint import LintRequest, lint_payload
from snapcraft_compression_advisor.lint.rule import Context
from snapcraft_compression_advisor.lint.rules.budgets import image_size_budget
from snapcraft_compression_advisor.lint.rules.compression import lzo_gains_nothing
from snapcraft_compression_advisor.lint.rules.declared import key_implicit
from snapcraft_compression_advisor.payload.snap_yaml import COMPONENT_TYPE
from snapcraft_compression_advisor.project.project_file import (
    ProjectFile,
    project_of_component,
)
from snapcraft_compression_advisor.settings.load import LoadedSettings
from snapcraft_compression_advisor.settings.settings import Settings

TEXT = """\
name: hello
compression: lzo
components:
  texts:
    type: standard
  noise:
    type: standard
    compression: xz
"""


def component(name: str = "hello+texts") -> MemoryPayload:
    return make_payload(
        {"text": b"x" * 5000}, name=name, base="none", type=COMPONENT_TYPE
    )


def seen_by(name: str, text: str = TEXT) -> ProjectFile:
    return project_of_component(make_project(text), name)


def context_of(
    project: ProjectFile | None, *, codec: str = "lzo", added: Interval | None = None
) -> Context:
    """Return what rules look at in a component that no launch reads."""
    analysis = make_analysis()
    trial = replace(
        analysis.trial, lzo_less_xz_bytes=added or analysis.trial.lzo_less_xz_bytes
    )
    evidence = replace(evidence_of(trial, [], declared=codec), launched=False)
    analysis = replace(
        analysis,
        payload=replace(analysis.payload, declared_compression=codec),
        launches=(),
        recommendation=recommend(evidence, Policy()),
    )
    context = make_context(analysis=analysis, project=project)
    return replace(context, snap=component().snap)


def test_a_component_has_its_own_key_or_the_snaps() -> None:
    assert seen_by("texts").compression == "lzo"
    assert seen_by("noise").compression == "xz"
    assert (seen_by("texts").compression_line, seen_by("noise").compression_line) == (
        4,
        8,
    )


def test_lzo_for_what_no_launch_reads_is_fixed_by_the_components_own_key() -> None:
    (finding,) = found_by(lzo_gains_nothing, context_of(seen_by("texts")))
    assert "No known launch reads these files" in finding.message
    assert finding.message.startswith("lzo adds ")
    assert fix_of(finding).description == "Give component texts 'compression: xz'"
    assert edited(finding) == TEXT.replace(
        "  texts:\n    type: standard\n",
        "  texts:\n    type: standard\n    compression: xz\n",
    )


def test_a_component_packed_otherwise_than_declared_is_to_be_built_again() -> None:
    (finding,) = found_by(lzo_gains_nothing, context_of(seen_by("noise")))
    assert fix_of(finding).edit is None
    assert "Build the snap again" in fix_of(finding).description


def test_an_unknown_component_cannot_be_fixed_by_itself() -> None:
    (finding,) = found_by(lzo_gains_nothing, context_of(seen_by("others")))
    assert finding.location.line is None
    assert fix_of(finding).edit is None


def test_what_size_leaves_open_is_undecided_without_a_launch_to_record() -> None:
    added = Interval(low=1.0, mid=1e6, high=1e7)
    (finding,) = found_by(lzo_gains_nothing, context_of(seen_by("texts"), added=added))
    assert finding.undecided
    assert "components: {texts: {read: all}}" in fix_of(finding).description


def test_nothing_is_said_of_a_snaps_missing_key() -> None:
    text = "name: hello\ncomponents: {texts: {type: standard}}\n"
    assert not found_by(key_implicit, context_of(seen_by("texts", text)))


def test_the_budget_is_the_snaps() -> None:
    policy = Settings.model_validate({"max-image-size": "17kB"})
    context = replace(context_of(None), settings=policy)
    assert not found_by(image_size_budget, context)
    snap = replace(context, snap=make_payload({}).snap)
    assert found_by(image_size_budget, snap)


def test_apps_and_budgets_of_the_snap_do_not_reach_its_component() -> None:
    policy = Settings.model_validate(
        {
            "apps": ["hello"],
            "max-image-size": "17kB",
            "max-cold-start": {"nvme-laptop": {"hello": "1s"}},
        }
    )
    found = analysis_request(
        component(),
        LoadedSettings(settings=policy, devices=()),
        Surroundings(),
        declared=seen_by("noise").effective,
    )
    assert (found.apps, found.profiles) == ((), ())
    assert found.declared_compression == "xz"


def test_a_built_components_codec_is_its_own() -> None:
    built = component()
    built.kind = "snap"
    loaded = LoadedSettings(settings=Settings(), devices=())
    found = analysis_request(built, loaded, Surroundings(), declared="lzo")
    assert found.declared_compression is None


@pytest.mark.parametrize(
    ("policy_path", "kind", "said"),
    [
        ("there/policy.yaml", BadDataError, "there/policy.yaml: Snap 'hello' has no"),
        (None, UsageError, "Snap 'hello' has no app 'nobody'"),
    ],
)
def test_an_unknown_app_is_bad_data_in_a_policy_and_bad_usage_in_an_option(
    policy_path: str | None, kind: type[Exception], said: str
) -> None:
    loaded = LoadedSettings(
        settings=Settings.model_validate({"apps": "nobody"}),
        policy_path=policy_path,
        devices=(),
    )
    with pytest.raises(kind) as raised:
        lint_payload(
            make_payload({"bin/x": b""}),
            LintRequest(loaded=loaded),
            project=None,
            progress=lambda _: None,
        )
    assert type(raised.value) is kind
    assert str(raised.value).startswith(said)


@pytest.mark.parametrize(
    "place", ["hello+texts_1.comp", "partitions/component/texts/prime"]
)
def test_a_component_finds_its_project(tmp_path: Path, place: str) -> None:
    (tmp_path / "snapcraft.yaml").write_text(TEXT)
    payload = component()
    payload.path = tmp_path / place
    project = find_project(payload, None)
    assert project is not None
    assert (project.compression, project.components) == ("lzo", {})
    payload.path = tmp_path / "elsewhere" / place
    assert find_project(payload, None) is None


def test_a_component_of_another_snap_has_another_project(tmp_path: Path) -> None:
    (tmp_path / "snapcraft.yaml").write_text(TEXT)
    payload = component("other+texts")
    payload.path = tmp_path / "other+texts_1.comp"
    assert find_project(payload, None) is None
    assert find_project(payload, tmp_path) is not None


@pytest.mark.parametrize(
    ("declared", "added", "saved", "verdict", "compression"),
    [
        ("lzo", 3, 1.5, "undecided", "lzo"),
        ("xz", 3, 1.5, "undecided", "xz"),
        ("lzo", 3, 0.01, "change", "xz"),
        ("xz", 3, 0.01, "no-benefit", "xz"),
        ("lzo", 0, 0, "no-benefit", "lzo"),
    ],
)
def test_an_unknown_reader_decides_only_what_is_the_same_for_all_and_none(
    declared: str, added: float, saved: float, verdict: str, compression: str
) -> None:
    seconds = Interval.exactly(saved)
    saving = Saving(app="all of it", device="nvme-laptop", seconds=seconds)
    evidence = make_evidence(saving, declared=declared, added_mb=added)
    advice = recommend(replace(evidence, reader_known=False), Policy())
    assert (advice.verdict, advice.compression) == (verdict, compression)


@pytest.mark.parametrize("read", ["all", "none", None])
def test_the_policy_says_what_is_read_of_a_component(read: str | None) -> None:
    components = {"texts": {"read": read}} if read else {}
    policy = Settings.model_validate({"components": components})
    loaded = LoadedSettings(settings=policy, devices=())
    found = analysis_request(component(), loaded, Surroundings())
    assert found.read == read
