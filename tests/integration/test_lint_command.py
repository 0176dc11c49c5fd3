"""Lint, as a user meets it."""

import re
import shutil
import subprocess
from pathlib import Path

from real_payloads import advisor, linted, snap_pack
from trees import fill

PROJECT = "name: sample\nbase: core24\nparts: {}\n"
FORMATS = ("text", "json", "sarif", "github", "gitlab", "junit", "markdown")
TIGHT = "max-image-size: 100kB\n"


def rules(*arguments: str | Path) -> set[str]:
    return {finding["rule"] for finding in linted(*arguments)["findings"]}


def write_policy(directory: Path, text: str) -> Path:
    path = directory / "compression-advisor.yaml"
    path.write_text(text)
    return path


def test_text_goes_to_stdout_and_progress_does_not(small_prime: Path) -> None:
    result = advisor("lint", small_prime, "--select", "SCA1,SCA2,SCA4", status=0)
    assert result.stdout.startswith("sample: ")
    assert "Reading" not in result.stdout
    assert "\x1b" not in result.stdout


def test_broken_budget_is_an_error_by_exit_status(small_prime: Path) -> None:
    write_policy(small_prime.parent, TIGHT)
    result = advisor("lint", cwd=small_prime.parent, status=1)
    assert "error SCA301 The image takes" in result.stdout
    assert result.stderr.splitlines()[-1].startswith("failed: 1 error")
    assert result.stderr.splitlines()[-1].endswith("(fail-on: error)")
    passed = advisor("lint", "--exit-zero", cwd=small_prime.parent, status=0)
    assert "failed" not in passed.stderr


def test_fail_on_sets_how_severe_a_finding_has_to_be(small_prime: Path) -> None:
    (small_prime.parent / "snapcraft.yaml").write_text(PROJECT)
    chosen = ("lint", small_prime, "--select", "SCA103")
    assert advisor(*chosen).returncode == 0
    assert advisor(*chosen, "--fail-on", "info").returncode == 1
    policy = write_policy(small_prime.parent, "severity: {SCA103: error}\n")
    assert advisor(*chosen, "--policy", policy).returncode == 1


def test_built_snap_is_judged_by_its_own_size(
    small_prime: Path, tmp_path: Path
) -> None:
    snap = snap_pack(small_prime, tmp_path / "packed", compression="lzo")
    size = snap.stat().st_size
    policy = write_policy(tmp_path, f"max-image-size: {size} B\nselect: SCA301\n")
    assert not linted(snap, "--policy", policy)["findings"]
    write_policy(tmp_path, f"max-image-size: {size - 1} B\nselect: SCA301\n")
    (finding,) = linted(snap, "--policy", policy)["findings"]
    assert "with lzo" in finding["message"]


def test_every_format_is_written_and_says_the_same_twice(
    small_prime: Path, tmp_path: Path
) -> None:
    write_policy(tmp_path, TIGHT)
    runs = []
    for folder in (tmp_path / "first", tmp_path / "second"):
        folder.mkdir()
        also = (f"--also={name}={folder / name}" for name in FORMATS)
        result = advisor("lint", small_prime, *also, "-o", folder / "-", cwd=tmp_path)
        assert (result.returncode, result.stdout) == (1, "")
        runs.append({path.name: path.read_text() for path in folder.iterdir()})
    assert runs[0] == runs[1]
    assert runs[0]["text"] == runs[0]["-"]
    assert len(runs[0]) == len(FORMATS) + 1
    assert all("SCA301" in text for text in runs[0].values())


def test_fix_makes_what_diff_shows(small_prime: Path) -> None:
    project = small_prime.parent / "snap/snapcraft.yaml"
    fill(project.parent, {project.name: PROJECT})
    chosen = ("lint", "prime", "--select", "SCA103", "--fail-on", "info")
    shown = advisor(*chosen, "--diff", cwd=small_prime.parent)
    assert project.read_text() == PROJECT
    subprocess.run(
        ["patch", "-p1", "--dry-run"],
        input=shown.stdout,
        text=True,
        check=True,
        cwd=small_prime.parent,
        capture_output=True,
    )
    fixed = advisor(*chosen, "--fix", cwd=small_prime.parent, status=0)
    assert "fixed SCA103" in fixed.stderr
    assert re.search(r": ok, 1 rule checked", fixed.stdout)
    assert project.read_text() == PROJECT.replace(
        "core24\n", "core24\ncompression: xz\n"
    )
    assert advisor(*chosen, "--diff", cwd=small_prime.parent).stdout == ""


def test_components_keys_are_fixed_by_what_their_files_say(small_prime: Path) -> None:
    root = small_prime.parent
    text = (
        "name: sample\ncompression: lzo\ncomponents:\n"
        "  text:\n    type: standard\n  noise:\n    type: standard\n"
    )
    (root / "snapcraft.yaml").write_text(text)
    write_policy(root, "components: {text: {read: none}, noise: {read: none}}\n")
    for name in ("text", "noise"):
        files = root / f"partitions/component/{name}/prime"
        files.mkdir(parents=True)
        shutil.copy(small_prime / "usr/share/data" / name, files)
    (finding,) = linted(small_prime, "--select", "SCA104")["findings"]
    assert "Component text inherits" in finding["message"]
    assert advisor("lint", small_prime, "--select", "SCA104", "--fix").returncode == 0
    assert (root / "snapcraft.yaml").read_text() == text.replace(
        "  text:\n    type: standard\n",
        "  text:\n    type: standard\n    compression: xz\n",
    )


def test_lint_ignore_of_the_project_counts(small_prime: Path) -> None:
    project = small_prime.parent / "snapcraft.yaml"
    project.write_text(PROJECT)
    assert "SCA103" in rules(small_prime)
    project.write_text(f"{PROJECT}lint: {{ignore: [compression: [SCA103]]}}\n")
    assert "SCA103" not in rules(small_prime)
    project.write_text(f"{PROJECT}lint: {{ignore: [compression: [SCA199]]}}\n")
    result = advisor("lint", small_prime, status=65)
    assert "there is no rule 'SCA199'" in result.stdout


def test_project_of_another_snap_is_not_this_one(small_prime: Path) -> None:
    project = small_prime.parent / "snapcraft.yaml"
    project.write_text(PROJECT.replace("sample", "other"))
    assert "SCA103" not in rules(small_prime)
    assert "SCA103" in rules(small_prime, "--project", project)


ERRORS = (
    (("--select", "SCA999"), None, 64, "there is no rule 'SCA999'"),
    (("--select", "lzo"), None, 64, "'lzo' is neither a rule"),
    (("--fail-on", "never"), None, 64, "invalid choice"),
    (("--policy", "no.yaml"), None, 66, "No such file"),
    ((), "schema: 9", 65, "schema: Input should be 1, not 9"),
    (("--ignore", "SCA3"), TIGHT, 64, "is ignored"),
    ((), "max-cold-start: {abacus: 1s}", 65, "No device profile 'abacus'"),
    (
        (),
        "devices: nvme-laptop\nmax-cold-start: {hdd-laptop: 1s}",
        65,
        "isn't one of the devices named",
    ),
    ((), "launch-profile: no.json", 66, "no.json"),
    ((), "apps: nobody", 65, "compression-advisor.yaml: Snap 'sample' has no app"),
    (
        (),
        "max-cold-start: {nvme-laptop: {nobody: 1s}}",
        65,
        "compression-advisor.yaml: Snap 'sample' has no app 'nobody'",
    ),
    ((), "devices: abacus", 65, "No device profile 'abacus'"),
    ((), "devices: [mine.yaml]", 66, "mine.yaml"),
    (("--app", "sample"), "apps: nobody", 0, ""),
    (("--device", "abacus"), None, 64, "No device profile 'abacus'"),
    (("--app", "nobody"), None, 64, "no app 'nobody'"),
    (("--fix", "--diff"), None, 64, "Both --fix and --diff"),
    (
        ("--device", "nvme-laptop"),
        "max-cold-start: {hdd-laptop: 1s}",
        64,
        "isn't one of the devices named",
    ),
)
"""Arguments, settings, the exit status and what is printed."""


def test_what_does_not_fit_is_one_clear_error(small_prime: Path) -> None:
    for arguments, policy, status, said in ERRORS:
        settings = write_policy(small_prime.parent, policy or "")
        if policy is None:
            settings.unlink()
        result = advisor("lint", *arguments, cwd=small_prime.parent, status=status)
        assert said in result.stdout + result.stderr


def test_rules_are_listed_and_explained() -> None:
    listed = advisor("rule", status=0)
    assert "SCA101  lzo-would-gain" in listed.stdout
    page = advisor("rule", "lzo-would-gain").stdout
    assert page.startswith("# SCA101: lzo-would-gain\n")
    unknown = advisor("rule", "SCA1000", status=64)
    assert "Did you mean" in unknown.stderr
