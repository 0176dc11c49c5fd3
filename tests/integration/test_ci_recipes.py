"""Recipes for CI systems, as far as they go without the services."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from real_launches import fill_launchable
from real_payloads import fill_prime, snap_pack

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/how-to/ci.md"
SCRIPT = ROOT / "script/github-action"
NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build", "dist")
GH = """\
#!/bin/sh
# Stands in for GitHub's client: writes down its arguments and the comment.
printf '%s\\n' "$*" >>"$GH_LOG"
for word; do
    case $word in body=@*) cp "${word#body=@}" "$GH_LOG.body" ;; esac
done
case " $* " in *" --jq "*) [ -z "${GH_KNOWN:-}" ] || printf "$GH_KNOWN" ;; esac
exit "${GH_STATUS:-0}"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """What GitHub's runner gives to an action's script."""

    folder: Path

    def run(self, step: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {
            **os.environ,
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "RUNNER_TEMP": str(self.folder),
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "GITHUB_REPOSITORY": "owner/name",
            "GITHUB_REF": "refs/pull/7/merge",
            "GH_LOG": str(self.folder / "gh.log"),
            **variables,
        }
        return subprocess.run(
            [str(SCRIPT), step],
            env=environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )

    def outputs(self) -> dict[str, str]:
        lines = (self.folder / "output").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines)

    def calls(self) -> list[str]:
        return (self.folder / "gh.log").read_text().splitlines()


def write_program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def advisor_program() -> str:
    return f'#!/bin/sh\nexec {sys.executable} -m snapcraft_compression_advisor "$@"\n'


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """Return a runner on which the advisor is installed already."""
    write_program(tmp_path / "bin/gh", GH)
    write_program(
        tmp_path / "compression-advisor/bin/compression-advisor", advisor_program()
    )
    return Runner(folder=tmp_path)


def yaml_of(path: Path) -> Any:  # noqa: ANN401 # whatever the file holds
    return YAML(typ="safe", pure=True).load(path.read_text())


def blocks(tab: str, language: str) -> list[str]:
    """Return the code blocks of a tab of the page."""
    text = PAGE.read_text().partition(f"{{tab-item}} {tab}")[2].partition("\n:::\n")[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def test_action_lints_and_says_where_its_reports_are(runner: Runner) -> None:
    fill_prime(runner.folder / "prime")
    (runner.folder / "policy.yaml").write_text("max-image-size: 100kB\n")
    result = runner.run(
        "lint",
        ADVISOR_PATH="prime\n",
        ADVISOR_POLICY="policy.yaml",
        ADVISOR_ARGUMENTS="--app=sample\n",
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("::error title=SCA301 ")
    outputs = runner.outputs()
    assert outputs["status"] == "1"
    sarif = json.loads(Path(outputs["sarif-file"]).read_text())
    assert sarif["version"] == "2.1.0"
    comment = Path(outputs["comment-file"]).read_text()
    assert (runner.folder / "summary").read_text() == comment


def test_action_takes_inputs_as_words_never_as_code(runner: Runner) -> None:
    nasty = fill_prime(runner.folder / "a b;touch $(touch x)`touch y`*")
    path = f"{nasty.name}\nprime*\n-x"
    result = runner.run("lint", ADVISOR_PATH=path, ADVISOR_FAIL_ON="$(touch z)")
    assert "invalid choice" in result.stderr
    assert runner.outputs() == {"status": "64"}
    result = runner.run("lint", ADVISOR_PATH=path, ADVISOR_BASELINE="")
    assert runner.outputs()["status"] == "66"
    report = Path(runner.outputs()["comment-file"]).read_text()
    assert "'prime\\*'" in report
    assert "Cannot open '-x'" in report  # not an option
    names = {each.name for each in runner.folder.iterdir()}
    assert not {"x", "y", "z"} & names


def test_action_records_where_that_is_asked_for(runner: Runner) -> None:
    write_program(
        runner.folder / "compression-advisor/bin/compression-advisor",
        '#!/bin/sh\necho "$@"\n',
    )
    for given, option in (("true", "--record"), ("false", "--no-record")):
        result = runner.run("lint", ADVISOR_RECORD=given, ADVISOR_PATH="prime")
        assert result.stdout.startswith(f"lint {option} prime ")


@pytest.mark.parametrize("record", ["", "true"])
def test_settings_of_a_pull_request_start_nothing(runner: Runner, record: str) -> None:
    fill_launchable(runner.folder / "prime")
    (runner.folder / "compression-advisor.yaml").write_text(
        "record: {app: launchy, required: true}\n"
    )
    isolates = f"#!/bin/sh\ntouch '{runner.folder}/started'\nexit 1\n"
    write_program(runner.folder / "bin/bwrap", isolates)
    cache = str(runner.folder / "cache")
    result = runner.run("lint", ADVISOR_RECORD=record, XDG_CACHE_HOME=cache)
    assert (runner.folder / "started").exists() is bool(record)
    if not record:
        assert "The launch of launchy is guessed, not recorded" in result.stderr
        (line,) = (each for each in result.stdout.splitlines() if "SCA203" in each)
        assert "whether the app starts wasn't checked" in line
        assert runner.outputs()["status"] == "0"


def test_action_writes_one_comment_and_replaces_it(runner: Runner) -> None:
    report = runner.folder / "report.md"
    report.write_text("## report\n")
    assert runner.run("comment", ADVISOR_COMMENT=str(report)).returncode == 0
    assert runner.calls()[-1].startswith(
        "api --silent --method POST repos/owner/name/issues/7/comments "
    )
    body = (runner.folder / "gh.log.body").read_text()
    assert body == "<!-- compression-advisor -->\n## report\n"
    report.write_text(body)
    runner.run("comment", ADVISOR_COMMENT=str(report), GH_KNOWN="41\\n42\\n")
    assert runner.calls()[-1].startswith(
        "api --silent --method PATCH repos/owner/name/issues/comments/41 "
    )
    assert (runner.folder / "gh.log.body").read_text() == body


def test_action_goes_on_where_it_may_not_comment(runner: Runner) -> None:
    report = runner.folder / "report.md"
    report.write_text("## report\n")
    denied = runner.run("comment", ADVISOR_COMMENT=str(report), GH_STATUS="1")
    assert denied.returncode == 0
    assert "::warning::Cannot read the pull request's comments" in denied.stdout
    pushed = runner.run(
        "comment", ADVISOR_COMMENT=str(report), GITHUB_REF="refs/heads/main"
    )
    assert pushed.returncode == 0
    assert "No pull request" in pushed.stdout


def test_action_file_names_what_the_script_reads() -> None:
    action = yaml_of(ROOT / "action.yml")
    assert action["runs"]["using"] == "composite"
    steps = action["runs"]["steps"]
    script = SCRIPT.read_text()
    for step in steps:
        command = step.get("run", "")
        assert "${{" not in command  # an expression there would be read as code
        for variable in step.get("env", {}):
            assert variable == "GH_TOKEN" or variable in script + command
        if "github-action" in command:
            assert command.split()[-1] in script
    (lint,) = (step for step in steps if step.get("id") == "lint")
    used = set(re.findall(r"ADVISOR_[A-Z_]+", script)) - {"ADVISOR_COMMENT"}
    assert used == set(lint["env"])
    for output in action["outputs"].values():
        name = re.search(r"steps\.lint\.outputs\.([a-z-]+)", output["value"])
        assert name is not None
        assert f"{name[1]}=" in script
    tab = PAGE.read_text().partition("\n:::\n")[0]
    rows = re.findall(r"^\| (`.+?) \|", tab, re.MULTILINE)
    documented = {name for row in rows for name in re.findall("`([a-z-]+)`", row)}
    assert documented == set(action["inputs"])


def run_shell(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a recipe's commands where the advisor is installed already."""
    write_program(folder / ".advisor/bin/compression-advisor", advisor_program())
    return subprocess.run(
        ["sh", "-euc", text], cwd=folder, capture_output=True, text=True, check=False
    )


def test_script_of_the_gitlab_job_leaves_its_reports(tmp_path: Path) -> None:
    snap_pack(fill_prime(tmp_path / "files"), tmp_path, compression="xz")
    job = YAML(typ="safe").load(blocks("GitLab", "yaml")[0])["lint-snap"]
    result = run_shell("\n".join(("RECORD=false", *job["script"])), tmp_path)
    assert result.returncode == 0, result.stderr
    reports = job["artifacts"]["reports"]
    entries = json.loads((tmp_path / reports["codequality"]).read_text())
    assert {"fingerprint", "location", "severity"} <= entries[0].keys()
    paths = [Path(entry["location"]["path"]) for entry in entries]
    assert not any(path.is_absolute() for path in paths)
    assert "<testsuites" in (tmp_path / reports["junit"]).read_text()


def test_gitlab_job_records_where_that_is_asked_for(tmp_path: Path) -> None:
    job = YAML(typ="safe").load(blocks("GitLab", "yaml")[0])["lint-snap"]
    assert job["variables"]["RECORD"] == "false"
    write_program(
        tmp_path / ".advisor/bin/compression-advisor", '#!/bin/sh\necho "$@"\n'
    )
    for value, option in (("true", "--record"), ("false", "--no-record")):
        script = "\n".join((f"RECORD={value}", *job["script"]))
        said = subprocess.check_output(["sh", "-euc", script], cwd=tmp_path, text=True)
        assert said.endswith(f" {option}\n")


def test_shell_recipes_lint(tmp_path: Path) -> None:
    fill_prime(tmp_path / "prime")
    shell = blocks("Any shell", "sh")[0].splitlines()[-1]
    job = YAML(typ="safe").load(blocks("Any shell", "yaml")[0])["jobs"]["lint"]
    for command in (shell, job["run"].splitlines()[-1]):
        report = tmp_path / job["output"]["paths"][0]
        report.unlink(missing_ok=True)
        result = run_shell(command, tmp_path)
        assert result.returncode == 0, result.stderr
        assert report.read_text().startswith("### compression-advisor: ")


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True
    )


def scratch_repository(folder: Path) -> Path:
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--no-verify", "--message=x")
    return folder


@pytest.mark.slow
def test_hook_is_installed_and_run_by_pre_commit(tmp_path: Path) -> None:
    source = tmp_path / "advisor"
    shutil.copytree(ROOT, source, ignore=NOT_COPIED)
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", source)
    scratch_repository(source)
    project = tmp_path / "project"
    fill_prime(project / "prime")
    (project / ".gitignore").write_text("prime\n")
    (project / "compression-advisor.yaml").write_text("max-image-size: 100kB\n")
    config = YAML(typ="safe").load(blocks("pre-commit", "yaml")[0])
    (repository,) = config["repos"]
    repository |= {"repo": str(source), "rev": "main"}
    (hook,) = repository["hooks"]
    del hook["args"]
    with (project / ".pre-commit-config.yaml").open("w") as file:
        YAML().dump(config, file)
    scratch_repository(project)
    command = ["pre_commit", "run", hook["id"], "--hook-stage", "pre-push"]
    environment = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "home")}
    environment.pop("GIT_DIR", None)

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", *command, "--all-files"],
            cwd=project,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    broken = run()
    assert broken.returncode == 1, broken.stdout + broken.stderr
    assert "error SCA301 " in broken.stdout
    (project / "compression-advisor.yaml").unlink()
    passed = run()
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert "Passed" in passed.stdout
