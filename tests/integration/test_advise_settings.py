"""``advise`` with the project's settings, the same file as inside snapcraft."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from documents import Document, read_document
from host_projects import (
    LZO_PAYS,
    make_project,
    project_file,
    write_policy,
    write_profile,
    write_steady_device,
)
from real_payloads import advisor, snap_pack

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = "compression-advisor.yaml"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a project; its prime directory is ``files``."""
    return make_project(tmp_path / "project")


def report(*arguments: str | Path, cwd: Path) -> Document:
    ran = advisor("advise", *arguments, "--format", "json", cwd=cwd)
    assert ran.returncode == 0, ran.stderr
    return read_document(ran.stdout)


def test_settings_beside_snapcraft_yaml_count_wherever_the_command_is_run(
    folder: Path, tmp_path: Path
) -> None:
    (tmp_path / SETTINGS).write_text("devices: [sbc-emmc]\n")  # here, and not its own
    found = report("project/files", cwd=tmp_path)
    assert found.launches[0].source == "recorded"
    assert found.recommendation.verdict == "change"
    ran = advisor("advise", folder / "files", cwd=tmp_path)
    assert f"Settings from {folder / SETTINGS}" in ran.stderr


def test_options_go_before_the_settings(folder: Path) -> None:
    write_policy(folder, f"{LZO_PAYS}devices: [sbc-emmc]\n")
    assert set(report("files", cwd=folder).launches[0].devices) == {"sbc-emmc"}
    found = report(
        "files", "--min-saving", "999999999", "--device", "hdd-laptop", cwd=folder
    )
    assert set(found.launches[0].devices) == {"hdd-laptop"}
    assert found.recommendation.verdict == "no-benefit"


def test_shares_of_the_users_have_the_average_decide(folder: Path) -> None:
    write_policy(folder, f"{LZO_PAYS}devices: {{sbc-emmc: 3, hdd-laptop: 1}}\n")
    found = report("files", cwd=folder).recommendation
    assert found.decides is not None
    assert (found.decides.why, found.decides.device) == ("average", None)
    assert found.decides.shares == {"sbc-emmc": 0.75, "hdd-laptop": 0.25}
    low, high = sorted(each.seconds_saved.mid for each in found.by_device)
    assert found.seconds_saved is not None
    assert low < found.seconds_saved.mid < high


def test_a_device_that_an_option_names_needs_no_budget(folder: Path) -> None:
    write_policy(folder, f"{LZO_PAYS}max-cold-start: {{sbc-emmc: 9s}}\n")
    assert "sbc-emmc" in report("files", cwd=folder).launches[0].devices
    found = report("files", "--device", "hdd-laptop", cwd=folder)
    assert set(found.launches[0].devices) == {"hdd-laptop"}


def test_settings_that_are_named_go_before_the_projects_own(
    folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "other.yaml").write_text("min-saving: 99%\n")
    found = report("files", "--policy", tmp_path / "other.yaml", cwd=folder)
    assert found.launches[0].source == "static"
    assert found.recommendation.verdict != "change"


def test_a_snap_has_the_settings_of_the_project_of_its_name(
    folder: Path,
) -> None:
    snap = snap_pack(folder / "files", folder / "packed", compression="xz")
    snap.rename(folder / "built.snap")
    assert report("built.snap", cwd=folder.parent / "project/packed/..").launches
    ran = advisor("advise", folder / "built.snap", cwd=folder.parent)
    assert "Settings from" in ran.stderr
    text = project_file(folder).read_text()
    project_file(folder).write_text(text.replace("name: hello", "name: other"))
    ran = advisor("advise", folder / "built.snap", cwd=folder.parent)
    assert ran.returncode == 0
    assert "Settings from" not in ran.stderr


def test_without_a_project_the_settings_here_count(
    folder: Path, tmp_path: Path
) -> None:
    project_file(folder).unlink()
    (tmp_path / SETTINGS).write_text("devices: [sbc-emmc]\n")
    found = report("project/files", cwd=tmp_path)
    assert set(found.launches[0].devices) == {"sbc-emmc"}


def test_the_named_project_brings_its_settings_from_above_its_file(
    folder: Path, tmp_path: Path
) -> None:
    (folder / "files").rename(tmp_path / "elsewhere")
    for named in ("project", "project/snap/snapcraft.yaml"):
        ran = advisor("advise", "elsewhere", "--project", named, cwd=tmp_path)
        assert ran.returncode == 0, ran.stderr
        assert "What the app reads was recorded." in ran.stdout
    assert "compression: lzo" not in project_file(folder).read_text()
    advisor("advise", "elsewhere", "--project", named, "--fix", cwd=tmp_path)
    assert "compression: lzo" in project_file(folder).read_text()


def test_a_component_gets_a_key_of_its_own(tmp_path: Path) -> None:
    folder = make_project(
        tmp_path / "project",
        keys="compression: lzo",
        components=True,
        policy="components: {more: {read: none}}\n",
    )
    before = project_file(folder).read_text()
    ran = advisor("advise", "components/more", "--fix", cwd=folder)
    assert ran.returncode == 0, ran.stderr
    assert "(now: lzo)" in ran.stdout
    assert "compression of more set to xz" in ran.stderr
    after = project_file(folder).read_text()
    assert after.replace("    compression: xz\n", "") == before


BAD = {
    "no such file": (["--policy", "nowhere.yaml"], "", 66),
    "broken file": ([], "devices: 7\n", 65),
    "unknown device": ([], "devices: [abacus]\n", 65),
    "unknown app": ([], "apps: [nobody]\n", 65),
    "a budget for no device": (
        [],
        "devices: [hdd-laptop]\nmax-cold-start: {sbc-emmc: 1s}\n",
        65,
    ),
    "missing profile": ([], "launch-profile: gone.json\n", 66),
    "unknown app as an option": (["--app", "nobody"], "", 64),
    "unknown device as an option": (["--device", "abacus"], "", 64),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_settings_end_in_one_clear_error(folder: Path, case: str) -> None:
    options, text, status = BAD[case]
    (folder / SETTINGS).write_text(text)
    ran = advisor("advise", "files", *options, cwd=folder)
    assert ran.returncode == status, ran.stderr
    assert ran.stdout == ""
    assert "Traceback" not in ran.stderr
    if status == 65:
        assert SETTINGS in ran.stderr
    assert "Recommended resolution" in ran.stderr


@pytest.mark.parametrize(
    ("budget", "verdict", "said"),
    [
        ("5ms", "change", "lzo meets the cold-start budget; xz exceeds it."),
        ("1ms", "no-benefit", "Neither xz nor lzo meets the cold-start budget"),
        ("1s", "no-benefit", "lzo saves less than 0.25 s per cold launch."),
    ],
)
def test_a_budget_of_cold_starts_steers_the_advice(
    folder: Path, budget: str, verdict: str, said: str
) -> None:
    device = write_steady_device(folder)
    write_profile(folder, warm_s=0.0001)
    budgets = f"max-cold-start: {{steady: {budget}}}"
    write_policy(folder, f"devices: [{device}]\n{budgets}\n")
    advice = report("files", cwd=folder).recommendation
    assert advice.verdict == verdict
    assert any(reason.startswith(said) for reason in advice.reasons)
