"""A baseline and a project's policy in lint."""

import json
import random
import shutil
import subprocess
from pathlib import Path

import jsonschema
import pytest

from host_projects import make_project, project_file
from official_schemas import SARIF, official_schema
from real_payloads import SNAP_YAML, advisor, fill_prime, linted, snap_pack

POLICY = (
    "max-image-growth: 3%\nmax-refresh-size: 10%\nmax-launch-growth: 10ms\n"
    "fail-on: warning\n"
)


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a prime directory, and snaps of it and of the one before."""
    folder = tmp_path_factory.mktemp("packed")
    prime = fill_prime(folder / "prime")
    old = snap_pack(prime, folder / "old", compression="xz")
    with (prime / "usr/bin/sample").open("ab") as file:
        file.write(random.Random(4).randbytes(3_000_000))
    new = snap_pack(prime, folder / "new", compression="xz")
    old.rename(folder / "old.snap")
    new.rename(folder / "new.snap")
    return folder


@pytest.fixture
def builds(packed: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Return a snap and the next one, which has grown; the policy lies beside."""
    (tmp_path / "compression-advisor.yaml").write_text(POLICY)
    old, new = (
        Path(shutil.copy(packed / name, tmp_path)) for name in ("old.snap", "new.snap")
    )
    return old, new


def test_written_baseline_makes_known_findings_pass(
    builds: tuple[Path, Path], tmp_path: Path
) -> None:
    old, _ = builds
    (tmp_path / "compression-advisor.yaml").write_text("fail-on: info\n")
    assert advisor("lint", old, cwd=tmp_path).returncode == 1
    advisor("lint", old, "--write-baseline", "base.json", cwd=tmp_path, status=0)
    again = advisor("lint", old, "--baseline", "base.json", cwd=tmp_path, status=0)
    assert "nothing new" in again.stdout


def test_growth_is_found_against_a_report_and_against_the_snap(
    builds: tuple[Path, Path], tmp_path: Path
) -> None:
    old, new = builds
    advisor("lint", old, "--write-baseline", "base.json", cwd=tmp_path)
    for baseline in ("base.json", old):
        payload = linted(new, "--baseline", baseline, cwd=tmp_path)
        states = {each["rule"]: each["state"] for each in payload["findings"]}
        assert states["SCA602"] == "new"
        assert states["SCA105"] == "known"
        (delta,) = (each for each in payload["findings"] if each["rule"] == "SCA603")
        assert delta["undecided"] == (baseline == "base.json")


def test_launch_that_became_slower_is_found_with_its_cause(
    builds: tuple[Path, Path], packed: Path, tmp_path: Path
) -> None:
    old, new = builds
    size = (packed / "prime/usr/bin/sample").stat().st_size
    read = {"path": "usr/bin/sample", "size": size, "blocks": [[0, size // 131_072]]}
    profile = tmp_path / "launch.json"
    profile.write_text(
        json.dumps({"source": "residency", "app": "sample", "files": [read]})
    )
    options = ("--device", "hdd-laptop", "--launch-profile", profile)
    payload = linted(new, "--baseline", old, *options, cwd=tmp_path)
    (finding,) = (each for each in payload["findings"] if each["rule"] == "SCA601")
    assert not finding["undecided"]
    assert finding["files"] == ["usr/bin/sample"]


def test_every_format_knows_the_baseline(
    builds: tuple[Path, Path], tmp_path: Path
) -> None:
    old, new = builds
    names = ("text", "json", "sarif", "github", "gitlab", "junit", "markdown")
    also = (f"--also={name}={name}" for name in names)
    result = advisor("lint", new, "--baseline", old, *also, cwd=tmp_path, status=1)
    texts = {name: (tmp_path / name).read_text() for name in names}
    assert texts["text"] == result.stdout
    assert all("SCA602" in text for text in texts.values())
    schema = json.loads(official_schema(SARIF))
    jsonschema.Draft4Validator(schema).validate(json.loads(texts["sarif"]))
    assert '"baselineState": "unchanged"' in texts["sarif"]


def test_app_of_the_policy_may_be_newer_than_the_baseline(
    builds: tuple[Path, Path], tmp_path: Path
) -> None:
    old, _ = builds
    prime = fill_prime(
        tmp_path / "later/prime", snap_yaml=SNAP_YAML.replace("  other:", "  later:")
    )
    (tmp_path / "compression-advisor.yaml").write_text("apps: [sample, later]\n")
    assert linted(prime, "--baseline", old, cwd=tmp_path)["figures"]["launches"]


def test_payload_that_cannot_be_linted_writes_no_baseline(tmp_path: Path) -> None:
    (tmp_path / "no.snap").write_bytes(b"no image")
    result = advisor("lint", "no.snap", "--write-baseline", "base.json", cwd=tmp_path)
    assert result.returncode == 65
    assert "Not written: base.json" in result.stderr
    assert not (tmp_path / "base.json").exists()


def test_what_is_no_baseline_is_one_clear_error(
    builds: tuple[Path, Path], tmp_path: Path
) -> None:
    old, new = builds
    content = old.read_bytes()
    files = {
        "text.json": b"hello",
        "short.snap": content[: len(content) // 2],
        "magic.snap": content[:50],
        "other.json": b'{"schema": 1, "advisor_version": "1", "payloads": [{"path": '
        b'"x", "snap_name": "other", "error": null, "findings": []}], "summary": '
        b'{"error": 0, "warning": 0, "info": 0, "undecided": 0, "not_linted": 0}}',
    }
    for name, each in files.items():
        (tmp_path / name).write_bytes(each)
    for name, status, said in (
        ("nowhere.json", 66, "nowhere.json"),
        ("text.json", 65, "neither a report of lint nor a snap"),
        ("short.snap", 65, "short.snap"),
        ("magic.snap", 65, "magic.snap"),
        ("other.json", 65, "is of 'other', not of 'sample'"),
        ("/dev/null", 66, "not a regular file"),
    ):
        result = advisor("lint", new, "--baseline", name, cwd=tmp_path, status=status)
        assert said in result.stderr
    advisor("lint", new, "--baseline", old, "--diff", cwd=tmp_path, status=64)
    advisor("lint", new, "--also", "sarf=x", cwd=tmp_path, status=64)


SETTINGS = "compression-advisor.yaml"
TIGHT = "max-image-size: 17kB\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a project whose budget is broken; its prime directory is ``files``."""
    project = make_project(tmp_path / "project", policy=None)
    (project / SETTINGS).write_text(TIGHT)
    return project


def lint_folder(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return advisor("lint", *arguments, "--select", "SCA301", cwd=cwd)


def test_a_broken_budget_fails_a_lint_from_wherever_it_is_run(
    folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    for path, cwd in (
        ("files", folder),
        ("project/files", tmp_path),
        (folder / "files", tmp_path / "elsewhere"),
        (".", folder / "files"),
    ):
        ran = lint_folder(path, cwd=cwd)
        assert ran.returncode == 1, ran.stderr
        assert "error SCA301 The image takes" in ran.stdout


def test_a_built_snap_has_the_policy_of_the_project_of_its_name(
    folder: Path, tmp_path: Path
) -> None:
    built = snap_pack(folder / "files", folder / "packed", compression="xz")
    snap = built.rename(folder / "built.snap")
    assert lint_folder(snap, cwd=tmp_path).returncode == 1
    text = project_file(folder).read_text()
    project_file(folder).write_text(text.replace("name: hello", "name: other"))
    assert lint_folder(snap, cwd=tmp_path).returncode == 0
    assert lint_folder(snap, "--project", folder, cwd=tmp_path).returncode == 1


def test_each_payload_of_a_run_has_its_own_projects_policy(
    folder: Path, tmp_path: Path
) -> None:
    other = make_project(tmp_path / "other", policy=None)
    (other / SETTINGS).write_text("fail-on: info\nseverity: {SCA103: info}\n")
    paths = ("project/files", "other/files")
    for chosen, statuses in (("SCA301", (1, 0)), ("SCA103", (0, 1))):
        for path, status in zip(paths, statuses, strict=True):
            ran = advisor("lint", path, "--select", chosen, cwd=tmp_path, status=status)
        ran = advisor(
            "lint",
            *paths,
            "--select",
            chosen,
            "--format",
            "json",
            cwd=tmp_path,
            status=1,
        )
        found = [len(each["findings"]) for each in json.loads(ran.stdout)["payloads"]]
        assert found == ([1, 0] if chosen == "SCA301" else [1, 1])
    assert folder.name in ran.stderr


def test_an_unknown_rule_is_the_same_error_for_every_command(
    folder: Path, tmp_path: Path
) -> None:
    for command in ("advise", "lint"):
        for key in ("ignore: [SCA199]", "select: [SCA199]", "severity: {SCA199: info}"):
            (folder / SETTINGS).write_text(f"{key}\n")
            ran = advisor(command, "project/files", cwd=tmp_path)
            assert (ran.returncode, ran.stdout) == (65, "")
            assert f"project/{SETTINGS}: there is no rule 'SCA199'" in ran.stderr


def test_a_policy_that_is_a_broken_link_is_not_passed_over(
    folder: Path, tmp_path: Path
) -> None:
    (folder / SETTINGS).unlink()
    (folder / SETTINGS).symlink_to("gone.yaml")
    for command in ("advise", "lint"):
        ran = advisor(command, "project/files", cwd=tmp_path, status=66)
        assert SETTINGS in ran.stderr
