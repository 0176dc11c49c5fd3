"""What a pack does with the advice, and what it shows of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from craft_cli.pytest_plugin import RecordingEmitter

from analyses import make_analysis
from snapcraft_compression_advisor.advice.reasons import Verdict
from snapcraft_compression_advisor.host.decision import (
    Artifact,
    Decision,
    check_advice,
    decide,
    render_report,
    show,
    show_outcome,
    write_report,
)
from snapcraft_compression_advisor.host.guard import PolicyBrokenError
from snapcraft_compression_advisor.report.lines import FILE_STYLE
from snapcraft_compression_advisor.settings.parts import PackMode
from snapcraft_compression_advisor.settings.settings import Settings


def decision(
    mode: PackMode,
    *,
    verdict: Verdict = "change",
    override_declared: bool = False,
    **artifact: str,
) -> Decision:
    analysis = make_analysis()
    advice = replace(analysis.recommendation, compression="lzo", verdict=verdict)
    return decide(
        Artifact(
            prime_dir=Path("/prime"),
            component=artifact.get("component"),
            compression=artifact.get("compression", "xz"),
            declared=artifact.get("declared"),
        ),
        replace(analysis, recommendation=advice),
        Settings.model_validate({"mode": mode, "override-declared": override_declared}),
    )


@pytest.mark.parametrize("mode", ["apply", "write"])
def test_a_change_is_followed_where_nothing_is_declared(mode: PackMode) -> None:
    assert decision(mode).compression == "lzo"
    assert decision(mode).follows


@pytest.mark.parametrize("mode", ["advise", "enforce"])
def test_other_modes_follow_nothing(mode: PackMode) -> None:
    assert decision(mode, override_declared=True).compression == "xz"


@pytest.mark.parametrize("verdict", ["keep", "no-benefit", "undecided"])
def test_only_a_change_is_followed(verdict: Verdict) -> None:
    assert decision("apply", verdict=verdict).compression == "xz"


def test_what_is_declared_stands_unless_the_settings_say_otherwise() -> None:
    assert decision("apply", declared="xz").compression == "xz"
    given = decision("apply", declared="xz", override_declared=True)
    assert given.compression == "lzo"


def test_what_snapcraft_does_not_heed_is_not_declared() -> None:
    # On core22 a component is packed with the snap's compression, whatever its own.
    assert decision("apply", declared="lzo", compression="xz").compression == "lzo"


def test_enforce_stops_at_a_change_and_says_how_to_make_it() -> None:
    with pytest.raises(PolicyBrokenError) as raised:
        check_advice(decision("enforce", declared="xz"))
    assert str(raised.value).startswith("The declared compression 'xz' of the snap")
    assert "'snapcraft set-compression lzo'" in str(raised.value.resolution)
    assert raised.value.retcode == 1


def test_enforce_names_the_component() -> None:
    with pytest.raises(PolicyBrokenError) as raised:
        check_advice(decision("enforce", component="more"))
    assert str(raised.value).startswith(
        "The implied compression 'xz' of component more"
    )
    assert "lzo --component more" in str(raised.value.resolution)


@pytest.mark.parametrize("verdict", ["keep", "no-benefit", "undecided"])
def test_enforce_lets_other_verdicts_pass(verdict: Verdict) -> None:
    check_advice(decision("enforce", verdict=verdict))


def shown_decision(prime_dir: Path, *, component: str | None = None) -> Decision:
    artifact = Artifact(prime_dir=prime_dir, component=component, compression="xz")
    return Decision(
        artifact=artifact,
        analysis=make_analysis(),
        mode="apply",
        compression="lzo",
        follows=True,
    )


def test_the_verdict_stays_on_the_screen_and_the_table_is_for_the_verbose(
    tmp_path: Path, emitter: RecordingEmitter
) -> None:
    show(shown_decision(tmp_path))
    calls = [(call.args[0], call.args[1]) for call in emitter.interactions]
    headline = "CHANGE: set 'compression: lzo' in snapcraft.yaml"
    assert ("progress", f"Compression advice for calculator: {headline}") in calls
    shown = [text for kind, text in calls if kind == "progress"]
    assert len(shown) == 3
    assert not any("snapcraft set-compression" in text for text in shown)
    assert ("verbose", "Apply:      snapcraft set-compression lzo") in calls
    assert not any("compression-advisor " in text for _, text in calls)
    verbose = [text for kind, text in calls if kind == "verbose"]
    assert verbose[0].startswith("calculator: change to lzo")
    assert any(kind == "verbose" and "codec " in text for kind, text in calls)


def test_codecs_that_were_not_tried_are_left_out() -> None:
    assert "lz4" not in render_report(make_analysis(), FILE_STYLE)
    codecs = json.loads(render_report(make_analysis(), None))["trial"]["codecs"]
    assert len(codecs) == 5


@pytest.mark.parametrize("verdict", ["keep", "no-benefit", "undecided"])
def test_what_changes_nothing_is_one_line(
    tmp_path: Path, emitter: RecordingEmitter, verdict: Verdict
) -> None:
    made = shown_decision(tmp_path)
    advice = replace(made.analysis.recommendation, verdict=verdict)
    made = replace(made, analysis=replace(made.analysis, recommendation=advice))
    show(made)
    show_outcome(replace(made, follows=False))
    shown = [each.args[1] for each in emitter.interactions if each.args[0] != "verbose"]
    assert len(shown) == 1
    assert "compression-advisor " not in shown[0]


@pytest.mark.parametrize(
    ("component", "to_do"),
    [
        (None, "write 'compression: lzo' into it"),
        ("more", "write 'compression: lzo' below component more into it"),
    ],
)
def test_a_key_that_could_not_be_set_is_said_last(
    tmp_path: Path, emitter: RecordingEmitter, component: str | None, to_do: str
) -> None:
    show_outcome(shown_decision(tmp_path, component=component), unset="it is read-only")
    last = emitter.interactions[-1].args[1]
    assert last.endswith(
        "packed with lzo as advised, but snapcraft.yaml was NOT changed (it is "
        f"read-only): {to_do}"
    )


@pytest.mark.usefixtures("emitter")
def test_the_report_of_a_component_has_a_name_of_its_own(tmp_path: Path) -> None:
    write_report(shown_decision(tmp_path), tmp_path / "advice.json")
    write_report(shown_decision(tmp_path, component="more"), tmp_path / "advice.txt")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "advice+more.txt",
        "advice.json",
    ]
    assert json.loads((tmp_path / "advice.json").read_text())["schema"]
    assert "change to lzo" in (tmp_path / "advice+more.txt").read_text()


@pytest.mark.usefixtures("emitter")
def test_a_report_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "advice.txt").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_report(shown_decision(tmp_path), tmp_path / "advice.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["advice.txt"]
