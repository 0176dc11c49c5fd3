"""Advice with settings of the project, and with the snaps that it runs over."""

import json
import os
import random
import re
from pathlib import Path

import jsonschema
import pytest

from elf_files import make_elf
from goldens import Document, read_document
from host_projects import (
    LZO_PAYS,
    make_project,
    project_file,
    write_policy,
    write_profile,
    write_steady_device,
)
from real_payloads import advisor, snap_pack
from snapcraft_compression_advisor.cli.main import main
from snapcraft_compression_advisor.launch.profile import LaunchProfile, read_profile
from snapcraft_compression_advisor.report.document import schema_text
from trees import fill

SETTINGS = "compression-advisor.yaml"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a project; its prime directory is ``files``."""
    return make_project(tmp_path / "project")


def report(*arguments: str | Path, cwd: Path | None = None) -> Document:
    ran = advisor("advise", *arguments, "--format", "json", cwd=cwd, status=0)
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
        ran = advisor("advise", "elsewhere", "--project", named, cwd=tmp_path, status=0)
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
    ran = advisor("advise", "components/more", "--fix", cwd=folder, status=0)
    assert "(now: lzo)" in ran.stdout
    assert "compression of more set to xz" in ran.stderr
    after = project_file(folder).read_text()
    assert after.replace("    compression: xz\n", "") == before


@pytest.mark.parametrize(
    ("options", "text", "status"),
    [((), "devices: [abacus]\n", 65), (("--app", "nobody"), "", 64)],
)
def test_bad_settings_end_in_one_clear_error(
    folder: Path, options: tuple[str, ...], text: str, status: int
) -> None:
    """Lint, which reads them in the same way, is tested with many more."""
    (folder / SETTINGS).write_text(text)
    ran = advisor("advise", "files", *options, cwd=folder)
    assert (ran.returncode, ran.stdout) == (status, ""), ran.stderr
    assert "Recommended resolution" in ran.stderr


@pytest.mark.parametrize(
    ("budget", "verdict", "said"),
    [
        ("5ms", "change", "lzo meets the cold-start budget; xz exceeds it."),
        ("1ms", "no-benefit", "Neither xz nor lzo meets the cold-start budget"),
        ("1s", "no-benefit", "Less than 0.25 s isn't noticed."),
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
    assert any(said in reason for reason in advice.reasons)


def test_guess_is_written_as_a_profile_that_advise_takes(
    small_prime: Path, tmp_path: Path
) -> None:
    output = tmp_path / "launch.json"
    result = advisor("launch-set", small_prime, "-o", output)
    assert (result.returncode, result.stdout) == (0, "")
    profile = read_profile(output)
    assert (profile.source, profile.app) == ("static", "sample")
    assert "usr/bin/sample" in [file.path for file in profile.files]
    advisor("advise", small_prime, "--launch-profile", output, status=0)


def test_guess_goes_to_stdout_as_text_or_profile(small_prime: Path) -> None:
    text = advisor("launch-set", small_prime).stdout
    assert text.startswith("sample: a launch reads an estimated ")
    found = advisor("launch-set", small_prime, "--format", "json", "--app", "other")
    profile = LaunchProfile.model_validate_json(found.stdout)
    assert profile.app == "other"
    assert {"usr/bin/other", "usr/bin/sample"} <= {file.path for file in profile.files}


def test_file_is_explained(small_prime: Path) -> None:
    text = advisor("launch-set", small_prime, "--explain", "usr/bin/sample").stdout
    assert text.startswith("usr/bin/sample: a launch of sample is expected to read")
    options = ("--explain", "usr/bin/sample", "--format", "json")
    document = json.loads(advisor("launch-set", small_prime, *options).stdout)
    assert (document["app"], document["path"]) == ("sample", "usr/bin/sample")
    assert document["expected_blocks"] > 0
    unread = advisor("launch-set", small_prime, "--explain", "usr/share/data/text")
    assert "not expected in a launch of sample" in unread.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--explain", "usr/bin/nothing"], "has no file 'usr/bin/nothing'"),
        (["--app", "nobody"], "has no app 'nobody'"),
    ],
)
def test_what_cannot_be_guessed_is_said(
    small_prime: Path, arguments: list[str], message: str
) -> None:
    result = advisor("launch-set", small_prime, *arguments)
    assert result.returncode != 0
    assert message in result.stderr


def advise(*arguments: str | Path) -> int:
    return main(["advise", *map(str, arguments)])


def test_saved_json_holds_all_that_pages_tell(
    small_prime: Path, tmp_path: Path
) -> None:
    saved = tmp_path / "a.json"
    assert advise(small_prime, "--format", "json", "-o", saved) == os.EX_OK
    report = json.loads(saved.read_text())
    jsonschema.validate(report, json.loads(schema_text("report")))
    assert report["kinds"]
    assert report["findings"] is not None
    assert report["method"]["command"].startswith("compression-advisor advise ")
    assert report["launches"][0]["heaviest"]


def test_markdown_page_stands_beside_the_text(
    small_prime: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "a.md"
    assert advise(small_prime, "-v", "--report", page) == os.EX_OK
    verdict = re.search(r"^### (.+?) \(now", page.read_text(), re.MULTILINE)
    assert verdict is not None
    assert verdict[1] in capsys.readouterr().out


def test_name_that_tells_no_form_is_refused_before_any_work(
    small_prime: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert advise(small_prime, "--report", tmp_path / "a.pdf") == os.EX_USAGE
    assert "Trying" not in capsys.readouterr().err


def test_findings_of_the_page_are_those_of_lint(
    small_prime: Path, tmp_path: Path
) -> None:
    saved, lint = tmp_path / "a.json", tmp_path / "l.json"
    assert advise(small_prime, "--format", "json", "-o", saved) == os.EX_OK
    arguments = ["lint", str(small_prime), "--format", "json", "-o", str(lint)]
    assert main([*arguments, "--exit-zero"]) == os.EX_OK
    found = json.loads(lint.read_text())["payloads"][0]["findings"]
    rules = [each["rule"] for each in json.loads(saved.read_text())["findings"]]
    assert rules == [each["rule"] for each in found]
    page = tmp_path / "page.html"
    assert advise(small_prime, "--report", page) == os.EX_OK
    assert "Lint findings" in page.read_text()
    assert page.stat().st_size < 200_000


LIBRARIES = "usr/lib/x86_64-linux-gnu"
YAML = {
    "app": "name: hello\nversion: '1'\nsummary: x\ndescription: x\nbase: core24\n"
    "architectures: [amd64]\napps: {hello: {command: usr/bin/hello}}\n"
    "plugs: {gnome: {interface: content, target: $SNAP/gnome-platform, "
    "default-provider: gnome-46-2404}}\n",
    "content": "name: gnome-46-2404\nversion: '1'\nsummary: x\ndescription: x\n"
    "base: core24\narchitectures: [amd64]\n",
    "base": "name: core24\nversion: '1'\nsummary: x\ndescription: x\ntype: base\n"
    "architectures: [amd64]\n",
}
"""``meta/snap.yaml`` by role."""

MICROSECONDS = 3e-6
"""By which sums of rounded seconds may be off."""


@pytest.fixture
def snaps(tmp_path: Path) -> dict[str, Path]:
    """Return the prime directories of an app, its content snap and its base."""
    text = random.Random(0).randbytes(300_000).hex().encode()
    files = {
        "app": {"usr/bin/hello": make_elf(needed=("libtool.so.1", "libc.so.6")) + text},
        "content": {f"{LIBRARIES}/libtool.so.1": make_elf() + text[::-1]},
        "base": {f"{LIBRARIES}/libc.so.6": make_elf() + text[::2]},
    }
    for role, contents in files.items():
        fill(tmp_path / role, {**contents, "meta/snap.yaml": YAML[role]})
    return {role: tmp_path / role for role in files}


def test_each_snap_has_its_blocks_its_codec_and_its_seconds(
    snaps: dict[str, Path], tmp_path: Path
) -> None:
    base = snap_pack(snaps["base"], tmp_path / "packed", compression="lzo")
    found = report(snaps["app"], "--base", base, "--content", snaps["content"])
    (launch,) = found.launches
    assert launch.unresolved == []
    assert [
        (each.snap, each.role, each.codec, each.judged) for each in launch.stack
    ] == [
        ("hello", "app", None, True),
        ("gnome-46-2404", "content", None, False),
        ("core24", "base", "lzo", False),
    ]
    for device, whole in launch.stack_whole.items():
        costs = [each.devices[device] for each in launch.stack]
        assert all({"xz", "lzo"} <= cost.keys() for cost in costs)
        packed = [each.taken_as for each in launch.stack]
        assert packed == ["xz", "xz", "lzo"]
        added = [
            cost[codec].added_s.mid for cost, codec in zip(costs, packed, strict=True)
        ]
        assert whole.added_s.mid == pytest.approx(sum(added), abs=MICROSECONDS)
        assert whole.judged_share == pytest.approx(added[0] / sum(added), abs=1e-5)
        saved = [each.change_saves_s[device].mid for each in launch.stack]
        assert saved[0] > 0 > saved[2]
        assert whole.all_lzo_saves_s.mid == pytest.approx(
            saved[0] + saved[1], abs=MICROSECONDS
        )
        own = launch.devices[device]["xz"].added_s
        assert own.mid == pytest.approx(added[0], abs=MICROSECONDS)


def test_settings_name_the_other_snaps(snaps: dict[str, Path], tmp_path: Path) -> None:
    settings = tmp_path / "compression-advisor.yaml"
    settings.write_text("bases: base\ncontents: [content]\n")
    found = report(tmp_path / "app", "--policy", settings)
    assert [each.role for each in found.launches[0].stack] == ["app", "content", "base"]
    ran = advisor("advise", snaps["app"], "--policy", settings, "-v")
    assert "gnome-46-2404 to lzo (theirs)" in ran.stdout
    assert "Yours to change is hello" in " ".join(ran.stdout.split())


def test_a_platform_snap_is_judged_by_its_consumers(snaps: dict[str, Path]) -> None:
    text = YAML["app"].replace("hello", "other")
    program = make_elf(needed=("libnone.so",))
    other = fill(
        snaps["app"].with_name("other"),
        {"meta/snap.yaml": text, "usr/bin/other": program},
    )
    found = report(snaps["content"], "--consumer", snaps["app"], "--consumer", other)
    assert [(each.app, each.weight) for each in found.launches] == [
        ("the average consumer", None),
        ("hello", 0.5),
        ("other", 0.5),
    ]
    average, hello, _ = found.launches
    expected, *each = (
        launch.guess.expected_blocks for launch in found.launches if launch.guess
    )
    assert expected == pytest.approx((each[0] + each[1]) / 2, abs=0.1)
    assert average.weight is None
    assert found.recommendation.decides is not None
    assert found.recommendation.decides.app == "the average consumer"
    assert [each.judged for each in hello.stack] == [False, True]


def test_a_platform_snap_without_consumers_says_how_to_name_them(
    snaps: dict[str, Path],
) -> None:
    ran = advisor("advise", snaps["base"], status=0)
    assert "--consumer app.snap" in ran.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--base", "content"], "isn't a base: gnome-46-2404 has the type 'app'"),
        (["--base", "gone.snap"], "Cannot open 'gone.snap'"),
        (["--base", "noise"], "noise: not a squashfs image"),
        (["--consumer", "app", "--record"], "Both --consumer and --record"),
        (["--consumer", "base"], "hello ('app')"),
    ],
)
def test_what_does_not_go_with_the_snap_is_a_clear_error(
    snaps: dict[str, Path], tmp_path: Path, options: list[str], message: str
) -> None:
    (tmp_path / "noise").write_bytes(b"\xff" * 4096)
    ran = advisor("advise", snaps["app"].name, *options, cwd=tmp_path)
    assert ran.returncode >= 64
    assert message in ran.stderr
