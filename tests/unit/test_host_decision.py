"""What a pack reads of a project, and what it decides."""

import copy
import importlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pydantic
import pytest
from craft_cli.pytest_plugin import RecordingEmitter

from analyses import CHANGE, make_analysis
from host_doubles import install_snapcraft
from snapcraft_compression_advisor.advice.recommendation import Verdict
from snapcraft_compression_advisor.core.errors import BadDataError, NoInputError
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
from snapcraft_compression_advisor.host.project import (
    AdvisorPluginProperties,
    raw_parts,
    read_host_project,
)
from snapcraft_compression_advisor.payload.source import (
    DirectoryPayload,
    component_name,
)
from snapcraft_compression_advisor.report.lines import FILE_STYLE
from snapcraft_compression_advisor.settings.load import PLUGIN
from snapcraft_compression_advisor.settings.parts import PackMode
from snapcraft_compression_advisor.settings.settings import Settings
from trees import fill


def test_a_folder_without_a_project_says_nothing(tmp_path: Path) -> None:
    assert read_host_project(tmp_path) is None


def test_the_project_file_is_named_as_people_do(tmp_path: Path) -> None:
    fill(tmp_path, {"snap/snapcraft.yaml": "name: hello\ncompression: lzo\n"})
    project = read_host_project(tmp_path)
    assert project is not None
    assert str(project.path) == "snap/snapcraft.yaml"
    assert project.compression == "lzo"


def test_apps_with_the_extension_make_a_part() -> None:
    parts = raw_parts(
        {
            "apps": {
                "b": {"extensions": [PLUGIN]},
                "a": {"extensions": ["gnome", PLUGIN]},
                "c": {"extensions": ["gnome"]},
            },
            "parts": {"files": {"plugin": "dump"}},
        }
    )
    assert parts[f"{PLUGIN}/settings"] == {
        "plugin": PLUGIN,
        f"{PLUGIN}-apps": ["b", "a"],
    }


def test_apps_with_the_extension_come_first_in_a_part_that_is_there() -> None:
    parts = raw_parts(
        {
            "apps": {"a": {"extensions": [PLUGIN]}},
            "parts": {"ours": {"plugin": PLUGIN, f"{PLUGIN}-apps": ["c", "a"]}},
        }
    )
    assert parts == {"ours": {"plugin": PLUGIN, f"{PLUGIN}-apps": ["a", "c"]}}


@pytest.mark.parametrize(
    "document",
    [{}, {"parts": None}, {"parts": ["a"], "apps": 3}, {"apps": {"a": None}}],
)
def test_what_is_no_project_has_no_parts(document: dict[str, object]) -> None:
    assert raw_parts(document) == {}


def test_a_component_is_named_by_its_metadata(tmp_path: Path) -> None:
    fill(tmp_path, {"meta/component.yaml": "component: hello+more\n"})
    assert component_name(tmp_path) == "more"


@pytest.mark.parametrize(
    "text", ["component: hello", "component: hello+", "- a", "a: ["]
)
def test_metadata_that_names_no_component_is_refused(tmp_path: Path, text: str) -> None:
    fill(tmp_path, {"meta/component.yaml": text})
    with pytest.raises(BadDataError):
        component_name(tmp_path)


def test_a_directory_without_metadata_is_no_component(tmp_path: Path) -> None:
    with pytest.raises(NoInputError):
        component_name(tmp_path)


def test_a_component_has_files_and_no_apps(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("some")
    payload = DirectoryPayload(tmp_path, component="more")
    assert payload.snap.apps == {}
    assert payload.snap.name == "more"
    assert payload.read("data", offset=1, length=2) == b"om"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> type[Any]:
    install_snapcraft(monkeypatch)
    name = "snapcraft_compression_advisor.host.snapcraft_classes"
    found: type[Any] = importlib.import_module(name).CompressionAdvisorExtension
    return found


def apply(made: type[Any], document: dict[str, Any], apps: set[str]) -> None:
    """Apply an extension as snapcraft does, order included."""
    extension = made(
        yaml_data=copy.deepcopy(document), arch="amd64", target_arch="amd64"
    )
    assert all(name.startswith(f"{PLUGIN}/") for name in extension.get_parts_snippet())
    assert extension.get_root_snippet() == {}
    for app in apps:
        assert extension.get_app_snippet(app_name=app) == {}
    for part in document["parts"].values():
        for key, value in extension.get_part_snippet(
            plugin_name=part["plugin"]
        ).items():
            part[key] = [*value, *part.get(key, [])]
    document["parts"].update(extension.get_parts_snippet())


def test_it_adds_a_part_with_the_marked_apps_in_order(made: type[Any]) -> None:
    document = {
        "apps": {"b": {}, "a": {}, "c": {}},
        "parts": {"files": {"plugin": "dump"}},
    }
    apply(made, document, {"a", "b"})
    assert document["parts"] == {
        "files": {"plugin": "dump"},
        f"{PLUGIN}/settings": {"plugin": PLUGIN, f"{PLUGIN}-apps": ["b", "a"]},
    }


def test_it_adds_to_the_part_that_is_there(made: type[Any]) -> None:
    document = {"apps": {"a": {}}, "parts": {"ours": {"plugin": PLUGIN}}}
    apply(made, document, {"a"})
    assert document["parts"] == {"ours": {"plugin": PLUGIN, f"{PLUGIN}-apps": ["a"]}}


def test_on_core22_the_yaml_as_written_comes_to_the_same(made: type[Any]) -> None:
    document: dict[str, Any] = {
        "apps": {"b": {}, "a": {}},
        "parts": {"files": {"plugin": "dump"}},
    }
    written = copy.deepcopy(document)
    for app in written["apps"].values():
        app["extensions"] = [PLUGIN]
    apply(made, document, {"a", "b"})
    assert raw_parts(written) == document["parts"]


def test_it_takes_valid_settings_and_leaves_other_keys_alone() -> None:
    AdvisorPluginProperties.unmarshal(
        {"plugin": PLUGIN, "after": ["files"], f"{PLUGIN}-mode": "apply"}
    )


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("mode", "aply", "'advise', 'apply', 'write' or 'enforce'"),
        ("mod", "apply", "did you mean 'mode'?"),
        ("max-size-growth", 3, "3 isn't a number with a unit"),
        ("max-cold-start", {"hdd-laptop": "fast"}, "'fast' isn't a number"),
    ],
)
def test_it_refuses_broken_settings_in_the_words_of_the_model(
    key: str, value: object, said: str
) -> None:
    with pytest.raises(pydantic.ValidationError) as raised:
        AdvisorPluginProperties.unmarshal({"plugin": PLUGIN, f"{PLUGIN}-{key}": value})
    assert said in str(raised.value)
    assert f"{PLUGIN}-{key}" in str(raised.value)


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
    assert verbose[0].startswith(f"calculator: {CHANGE}")
    assert any("cold start of" in text for text in verbose)


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
    assert CHANGE in (tmp_path / "advice+more.txt").read_text()


@pytest.mark.usefixtures("emitter")
def test_a_report_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "advice.txt").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_report(shown_decision(tmp_path), tmp_path / "advice.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["advice.txt"]
