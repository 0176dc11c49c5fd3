"""The linter ``compression``, against a double of snapcraft's."""

import importlib
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("craft_application", reason="craft-application isn't installed")

from pathlib import Path
from types import ModuleType

from craft_cli.pytest_plugin import RecordingEmitter
from pytest_mock import MockerFixture

from host_doubles import LinterResult, install_snapcraft
from host_projects import LZO_PAYS, make_project, project_file, write_policy
from image_sources import pack_as_snap
from lint_reports import DEBUG_SYMBOLS
from snapcraft_compression_advisor.host.advisor import Advisor
from snapcraft_compression_advisor.host.decision import Artifact
from snapcraft_compression_advisor.lint.finding import Location
from snapcraft_compression_advisor.payload import scan


@pytest.fixture
def linter_module(
    monkeypatch: pytest.MonkeyPatch, emitter: RecordingEmitter
) -> ModuleType:
    del emitter  # no more than in place
    install_snapcraft(monkeypatch)
    return importlib.import_module(
        "snapcraft_compression_advisor.host.snapcraft_classes"
    )


def run(module: ModuleType, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Run the linter as snapcraft does: in the prime directory."""
    advisor = Advisor(project_dir=folder)
    linter_class = module.compression_linter(lambda: advisor)
    linter = linter_class(
        name="compression", snap_metadata=None, lint=None, build_base=None
    )
    monkeypatch.chdir(folder / "files")
    issues: list[Any] = linter.run()
    return issues


def test_findings_have_the_rules_ids_and_the_line(
    linter_module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = f"{LZO_PAYS}select: SCA101\n"
    keys = "compression: xz"
    folder = make_project(tmp_path / "project", keys=keys, policy=policy)
    (issue,) = run(linter_module, folder, monkeypatch)
    assert issue.name == "compression"
    assert issue.result is LinterResult.WARNING
    assert issue.text.startswith("SCA101 lzo-would-gain: snap/snapcraft.yaml:8: ")
    assert issue.filename is None


def test_no_name_makes_lines_of_its_own(linter_module: ModuleType) -> None:
    linter = linter_module.compression_linter(Advisor)(
        name="compression", snap_metadata=None, lint=None, build_base=None
    )
    name = "a\n::error::\x1b"
    for kind in ("payload", "project"):
        finding = replace(DEBUG_SYMBOLS, message=name, location=Location(kind, name))
        issue = linter._issue(finding, enforces=False)
        assert f"{issue.text}{issue.filename or ''}".isprintable()


@pytest.mark.parametrize("mode", ["advise", "apply", "write"])
def test_a_pack_does_not_repeat_its_advice_as_findings(
    linter_module: ModuleType, tmp_path: Path, mode: str
) -> None:
    folder = make_project(
        tmp_path / "project",
        keys="compression: lzo",
        components=True,
        policy=f"{LZO_PAYS}mode: {mode}\n",
    )
    advisor = Advisor(project_dir=folder)
    artifact = Artifact(prime_dir=folder / "files", compression="lzo", declared="lzo")
    advisor.before_pack(artifact)
    assert list(linter_module.find(advisor, folder / "files")) == []


def test_what_the_settings_select_is_looked_at_in_a_pack(
    linter_module: ModuleType, tmp_path: Path
) -> None:
    policy = f"{LZO_PAYS}mode: apply\nselect: [SCA103, SCA301]\nmax-image-size: 20kB\n"
    folder = make_project(tmp_path / "project", policy=policy)
    advisor = Advisor(project_dir=folder)
    advisor.before_pack(Artifact(prime_dir=folder / "files", compression="xz"))
    found = {each.rule for each in linter_module.find(advisor, folder / "files")}
    assert found == {"SCA103", "SCA301"}


def test_a_key_that_was_set_meanwhile_is_no_finding(
    linter_module: ModuleType, tmp_path: Path
) -> None:
    policy = f"{LZO_PAYS}mode: write\nselect: SCA103\n"
    folder = make_project(tmp_path / "project", policy=policy)
    advisor = Advisor(project_dir=folder)
    artifact = Artifact(prime_dir=folder / "files", compression="xz")
    assert advisor.context(artifact) is not None
    advisor.before_pack(artifact)
    assert list(linter_module.find(advisor, folder / "files")) == []


@pytest.mark.parametrize("component", [None, "extra"])
def test_directory_is_listed_once_a_run(
    linter_module: ModuleType,
    tmp_path: Path,
    mocker: MockerFixture,
    component: str | None,
) -> None:
    del linter_module  # no more than in place
    folder = make_project(tmp_path / "project", components=True)
    listings = mocker.spy(scan, "scan_directory")
    advisor = Advisor(project_dir=folder)
    artifact = Artifact(
        prime_dir=folder / "files", compression="xz", component=component
    )
    advisor.before_pack(artifact)
    context = advisor.context(artifact)
    assert context is not None
    assert context.survey.copies == ()
    listings.assert_called_once()


@pytest.mark.parametrize(
    ("mode", "result"),
    [("advise", LinterResult.WARNING), ("enforce", LinterResult.ERROR)],
)
def test_an_error_stops_the_pack_only_where_the_policy_is_enforced(
    linter_module: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
    result: LinterResult,
) -> None:
    policy = f"{LZO_PAYS}mode: {mode}\nmax-image-size: 20kB\n"
    folder = make_project(tmp_path / "project", policy=policy)
    (issue,) = [
        issue
        for issue in run(linter_module, folder, monkeypatch)
        if "SCA301" in issue.text
    ]
    assert issue.result is result


def test_what_the_project_ignores_is_left_out(
    linter_module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_project(
        tmp_path / "project", keys="lint: {ignore: [{compression: [SCA1]}]}"
    )
    texts = [issue.text for issue in run(linter_module, folder, monkeypatch)]
    assert not any("SCA1" in text for text in texts)


def test_a_failure_leaves_no_findings(
    linter_module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_project(tmp_path / "project")
    (folder / "files" / "meta" / "snap.yaml").write_text("name: [")
    assert run(linter_module, folder, monkeypatch) == []


def test_the_linter_and_the_pack_share_one_analysis(
    linter_module: ModuleType, tmp_path: Path, mocker: MockerFixture
) -> None:
    folder = make_project(tmp_path / "project")
    advisor = Advisor(project_dir=folder)
    analyses = mocker.spy(advisor.__class__, "analyse")
    artifact = Artifact(prime_dir=folder / "files", compression="xz")
    advisor.before_pack(artifact)
    linter_module.find(advisor, folder / "files")
    linter_module.find(advisor, folder / "files")
    assert analyses.call_count == 1
    write_policy(folder, "")


def test_of_a_built_snap_the_linter_knows_the_image_s_codec(
    linter_module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_project(tmp_path / "project", keys="compression: xz")
    image = pack_as_snap(folder / "files", tmp_path / "hello.snap", codec="lzo")
    advisor = Advisor(project_dir=folder)
    linter_class = linter_module.compression_linter(lambda: advisor)
    command: Any = importlib.import_module("snapcraft.commands.lint").LintCommand
    linter_module.wrap_lint_command(command, linter_class)
    command()._run_linter(image, None)
    linter = linter_class(
        name="compression", snap_metadata=None, lint=None, build_base=None
    )
    monkeypatch.chdir(folder / "files")  # as installed: the same files, without codec
    texts = [issue.text for issue in linter.run()]
    assert not any("SCA101" in text for text in texts)
    assert any("the snap is packed with lzo" in text for text in texts)


def test_of_another_snap_than_the_project_s_the_project_says_nothing(
    linter_module: ModuleType, tmp_path: Path
) -> None:
    folder = make_project(tmp_path / "project")
    image = pack_as_snap(folder / "files", tmp_path / "hello.snap", codec="lzo")
    text = project_file(folder).read_text().replace("name: hello", "name: other")
    project_file(folder).write_text(text)
    advisor = Advisor(project_dir=folder)
    found = {each.rule for each in linter_module.find(advisor, image)}
    assert "SCA103" not in found


def test_what_an_extension_chose_is_what_is_linted(
    linter_module: ModuleType, tmp_path: Path
) -> None:
    folder = make_project(tmp_path / "project")
    file = project_file(folder)
    extended = "command: bin/hello\n    extensions: [kde-neon]\n"
    file.write_text(file.read_text().replace("command: bin/hello\n", extended))
    advisor = Advisor(project_dir=folder)
    findings = linter_module.find(advisor, folder / "files")
    assert "SCA10" not in " ".join(each.rule for each in findings)  # the advice follows
    (artifact,) = advisor._decisions  # what was analysed
    assert artifact.compression == "lzo"
