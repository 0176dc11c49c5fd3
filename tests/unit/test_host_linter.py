"""The linter ``compression``, against a double of snapcraft's."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import pytest

from host_doubles import LinterResult, install_snapcraft
from host_projects import LZO_PAYS, make_project, write_policy
from snapcraft_compression_advisor.host.advisor import Advisor
from snapcraft_compression_advisor.host.artifact import Artifact

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from craft_cli.pytest_plugin import RecordingEmitter
    from pytest_mock import MockerFixture


@pytest.fixture
def linter_module(
    monkeypatch: pytest.MonkeyPatch, emitter: RecordingEmitter
) -> ModuleType:
    del emitter  # no more than in place
    install_snapcraft(monkeypatch)
    return importlib.import_module("snapcraft_compression_advisor.host.linter")


def run(module: ModuleType, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Run the linter as snapcraft does: in the prime directory."""
    advisor = Advisor(find_project_dir=lambda: folder, find_parts=dict)
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
    folder = make_project(tmp_path / "project", keys="compression: xz")
    (issue,) = [
        issue
        for issue in run(linter_module, folder, monkeypatch)
        if "SCA101" in issue.text
    ]
    assert issue.name == "compression"
    assert issue.result is LinterResult.WARNING
    assert issue.text.startswith("SCA101 lzo-would-gain: snap/snapcraft.yaml:8: ")
    assert issue.filename is None


@pytest.mark.parametrize(
    ("mode", "rules"),
    [
        ("advise", {"SCA101", "SCA103"}),
        ("apply", {"SCA103"}),
        ("write", set()),
    ],
)
def test_what_is_packed_is_linted_rather_than_what_was_declared(
    linter_module: ModuleType, tmp_path: Path, mode: str, rules: set[str]
) -> None:
    folder = make_project(
        tmp_path / "project", policy=f"{LZO_PAYS}pack: {{mode: {mode}}}\n"
    )
    advisor = Advisor(find_project_dir=lambda: folder, find_parts=dict)
    advisor.before_pack(Artifact(prime_dir=folder / "files", compression="xz"))
    found = {each.rule for each in linter_module.find(advisor, folder / "files")}
    assert {rule for rule in found if rule.startswith("SCA10")} == rules


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
    policy = f"{LZO_PAYS}pack: {{mode: {mode}}}\nbudgets: {{image-size: 20kB}}\n"
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
    advisor = Advisor(find_project_dir=lambda: folder, find_parts=dict)
    analyses = mocker.spy(advisor.__class__, "analyse")
    artifact = Artifact(prime_dir=folder / "files", compression="xz")
    advisor.before_pack(artifact)
    linter_module.find(advisor, folder / "files")
    linter_module.find(advisor, folder / "files")
    assert analyses.call_count == 1
    write_policy(folder, "")
