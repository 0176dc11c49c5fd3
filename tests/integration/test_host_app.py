"""The advisor inside a craft application, with the real ``snap pack``."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from analyses import CHANGE
from host_projects import (
    LZO_PAYS,
    codecs_of,
    make_project,
    project_file,
    run_host_app,
    warnings_of,
    write_policy,
    write_profile,
    write_steady_device,
)

UNREAD = "components: {more: {read: none}}"
ADVICE = "Compression advice for hello: "


def with_mode(mode: str, *more: str) -> str:
    return "\n".join((f"{LZO_PAYS}mode: {mode}", *more, ""))


def said_last(lines: list[str]) -> str:
    return [line for line in lines if not line.startswith("Packed")][-1]


def test_advice_is_printed_and_the_snap_packed_as_declared(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "project")
    ran = run_host_app(folder, "pack")
    assert ran.status == 0
    assert f"{ADVICE}CHANGE: set 'compression: lzo' in snapcraft.yaml" in ran.lines
    outcome = "packed with xz; to change it, run 'snapcraft set-compression lzo'"
    assert said_last(ran.lines) == f"Compression of hello: {outcome}"
    said = [line for line in ran.lines if "lzo" in line]
    assert len(said) == 3
    assert codecs_of(folder) == {"hello.snap": "xz"}


def test_month_is_by_the_delta_from_the_previous_build(tmp_path: Path) -> None:
    month = "per-month: 1, cold-launches-per-day: 1"
    refresh = f"refresh: {{{month}, deltas: xdelta3, previous: files}}\n"
    folder = make_project(tmp_path / "project", policy=LZO_PAYS + refresh)
    ran = run_host_app(folder, "pack")
    assert ran.status == 0
    said = " ".join(ran.lines)
    assert "Over a month of 30 cold launches and 1 refresh, lzo saves" in said
    assert "downloads take as long" in said


def test_advice_changes_nothing_of_what_is_packed(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "project")
    run_host_app(folder, "pack", HOST_APP_ALONE="1")
    alone = (folder / "hello.snap").read_bytes()
    (folder / "hello.snap").unlink()
    ran = run_host_app(folder, "pack")
    assert any(line.startswith(ADVICE) for line in ran.lines)
    assert (folder / "hello.snap").read_bytes() == alone


@pytest.mark.parametrize("package", ["artifacts", "whole"])
def test_apply_packs_as_advised_and_leaves_the_project_alone(
    tmp_path: Path, package: str
) -> None:
    folder = make_project(tmp_path / "project", policy=with_mode("apply"))
    before = project_file(folder).read_bytes()
    ran = run_host_app(folder, "pack", HOST_APP_PACKAGE=package)
    assert ran.status == 0
    assert said_last(ran.lines) == "Compression of hello: packed with lzo as advised"
    assert codecs_of(folder) == {"hello.snap": "lzo"}
    assert project_file(folder).read_bytes() == before


def test_packing_twice_gives_the_same_image(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "project", policy=with_mode("apply"))
    run_host_app(folder, "pack")
    first = (folder / "hello.snap").read_bytes()
    assert any("Already packed" in line for line in run_host_app(folder, "pack").lines)
    assert (folder / "hello.snap").read_bytes() == first
    (folder / "hello.snap").unlink()
    run_host_app(folder, "pack")
    assert (folder / "hello.snap").read_bytes() == first


def test_a_package_of_another_codec_is_packed_anew_where_apply_says_so(
    tmp_path: Path,
) -> None:
    folder = make_project(tmp_path / "project")
    run_host_app(folder, "pack")
    assert codecs_of(folder) == {"hello.snap": "xz"}
    run_host_app(folder, "pack", SNAPCRAFT_COMPRESSION_ADVISOR_MODE="apply")
    assert codecs_of(folder) == {"hello.snap": "lzo"}


def test_apply_keeps_what_the_publisher_declared(tmp_path: Path) -> None:
    folder = make_project(
        tmp_path / "project", keys="compression: xz", policy=with_mode("apply")
    )
    ran = run_host_app(folder, "pack")
    assert codecs_of(folder) == {"hello.snap": "xz"}
    assert any("which snapcraft.yaml declares" in line for line in ran.lines)


@pytest.mark.parametrize("package", ["artifacts", "whole"])
def test_write_leaves_nothing_but_the_keys(tmp_path: Path, package: str) -> None:
    folder = make_project(
        tmp_path / "project", components=True, policy=with_mode("write", UNREAD)
    )
    before = project_file(folder).read_text().splitlines()
    ran = run_host_app(folder, "pack", HOST_APP_PACKAGE=package)
    after = project_file(folder).read_text().splitlines()
    assert "snap/snapcraft.yaml: compression set to lzo" in ran.lines
    added = [line for line in after if "compression" in line]
    assert added == ["compression: lzo", "    compression: xz"]
    assert [line for line in after if "compression" not in line] == before
    assert codecs_of(folder) == {"hello+more.comp": "xz", "hello.snap": "lzo"}


def test_write_says_what_it_cannot_do_and_the_pack_goes_on(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "project", policy=with_mode("write"))
    project_file(folder).chmod(0o444)
    ran = run_host_app(folder, "pack")
    assert ran.status == 0
    last = said_last(ran.lines)
    assert "packed with lzo as advised, but snapcraft.yaml was NOT changed" in last
    assert "snapcraft.yaml is read-only" in last
    assert last.endswith("write 'compression: lzo' into it")
    assert codecs_of(folder) == {"hello.snap": "lzo"}


def test_write_leaves_a_project_that_it_cannot_splice(tmp_path: Path) -> None:
    folder = make_project(
        tmp_path / "project",
        keys="compression: &codec xz",
        policy=with_mode("write", "override-declared: true"),
    )
    before = project_file(folder).read_bytes()
    ran = run_host_app(folder, "pack")
    assert ran.status == 0
    last = said_last(ran.lines)
    assert "NOT changed" in last
    assert "has an anchor" in last
    assert project_file(folder).read_bytes() == before


def test_each_component_has_advice_of_its_own(tmp_path: Path) -> None:
    folder = make_project(
        tmp_path / "project",
        keys="compression: lzo",
        components=True,
        policy=with_mode("apply", UNREAD),
    )
    ran = run_host_app(folder, "pack")
    assert any(
        line.startswith("Compression advice for component more: CHANGE")
        for line in ran.lines
    )
    assert codecs_of(folder) == {"hello+more.comp": "xz", "hello.snap": "lzo"}


def test_enforce_stops_the_pack_with_a_resolution(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "project", policy=with_mode("enforce"))
    ran = run_host_app(folder, "pack")
    assert ran.status == 1
    assert "compression 'xz' of the snap violates the policy" in ran.output
    assert "snapcraft set-compression lzo" in ran.output
    assert codecs_of(folder) == {}


def test_enforce_stops_even_where_the_package_is_up_to_date(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "project")
    assert run_host_app(folder, "pack").status == 0
    write_policy(folder, with_mode("enforce"))
    assert run_host_app(folder, "pack").status == 1


def test_enforce_stops_where_a_budget_is_broken(tmp_path: Path) -> None:
    policy = f"{with_mode('enforce')}max-image-size: 100kB\n"
    folder = make_project(tmp_path / "project", keys="compression: lzo", policy=policy)
    ran = run_host_app(folder, "pack")
    assert ran.status == 1
    assert "the budget is 100.0 kB" in ran.output


@pytest.mark.parametrize(
    ("mode", "status", "packed"),
    [("apply", 0, {"hello.snap": "lzo"}), ("enforce", 1, {})],
)
def test_a_budget_of_cold_starts_that_lzo_alone_keeps_decides(
    tmp_path: Path, mode: str, status: int, packed: dict[str, str]
) -> None:
    folder = make_project(tmp_path / "project")
    device, budgets = write_steady_device(folder), "max-cold-start: {steady: 5ms}"
    policy = f"devices: [{device}]\n{budgets}\nmode: {mode}\n"
    write_policy(folder, policy)
    write_profile(folder, warm_s=0.0001)
    ran = run_host_app(folder, "pack")
    assert ran.status == status
    assert "lzo meets the cold-start budget; xz exceeds it." in ran.output
    assert codecs_of(folder) == packed


def test_broken_settings_stop_before_anything_is_built(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "project")
    for command, policy, said in (
        ("pull", "apps: [helo]\n", "Did you mean 'hello'?"),
        ("prime", "mode: aply\n", "mode"),
        ("pack", "devices: [hdd-latop]\n", "hdd-latop"),
        ("pack", "record: {app: gone}\n", "has no app 'gone'"),
    ):
        write_policy(folder, policy)
        ran = run_host_app(folder, command)
        assert ran.status == 65
        assert said in ran.output
        assert not (folder / "prime").exists()


def test_a_payload_without_snap_yaml_costs_a_warning_only(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "project")
    run_host_app(folder, "pack")
    (folder / "prime" / "meta" / "snap.yaml").write_text("name: [")
    (folder / "hello.snap").unlink()
    ran = run_host_app(folder, "pack")
    (warning,) = warnings_of(ran.lines)
    assert "no advice on the snap, which is packed with xz" in warning
    assert "hello.snap" not in ran.lines  # that is snap pack's own refusal


def test_the_report_is_written_for_snap_and_component(tmp_path: Path) -> None:
    folder = make_project(
        tmp_path / "project",
        components=True,
        policy=with_mode("advise", "report: advice.json", UNREAD),
    )
    run_host_app(folder, "pack")
    snap = json.loads((folder / "advice.json").read_text())
    component = json.loads((folder / "advice+more.json").read_text())
    assert snap["recommendation"]["compression"] == "lzo"
    assert component["recommendation"]["verdict"] == "no-benefit"


def test_a_report_that_cannot_be_written_costs_a_warning_only(tmp_path: Path) -> None:
    folder = make_project(
        tmp_path / "project", policy=with_mode("advise", "report: nowhere/advice.txt")
    )
    ran = run_host_app(folder, "pack")
    assert ran.status == 0
    assert any("advice.txt isn't written" in line for line in ran.lines)
    assert codecs_of(folder) == {"hello.snap": "xz"}


def test_the_command_advises_on_what_was_built(tmp_path: Path) -> None:
    policy = f"{LZO_PAYS}{UNREAD}\n"
    folder = make_project(tmp_path / "project", components=True, policy=policy)
    run_host_app(folder, "pack")
    text = run_host_app(folder, "compression-advice")
    assert text.status == 0
    assert text.lines[0].startswith(f"hello: {CHANGE} ")
    component = run_host_app(folder, "compression-advice", "--component", "more")
    assert "No known launch reads these files." in component.lines
    built = run_host_app(folder, "compression-advice", "hello.snap")
    assert any("(now: packed with xz)" in line for line in built.lines)


def test_the_command_sets_the_key(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "project", components=True)
    before = project_file(folder).read_bytes()
    shown = run_host_app(folder, "set-compression", "lzo", "--diff")
    assert "+compression: lzo" in shown.lines
    assert project_file(folder).read_bytes() == before
    run_host_app(folder, "set-compression", "lzo")
    run_host_app(folder, "set-compression", "xz", "--component", "more")
    text = project_file(folder).read_text()
    assert "\ncompression: lzo\n" in text
    assert "\n    compression: xz\n" in text


def test_the_command_line_works_without_craft_application() -> None:
    code = (
        "import sys\n"
        "for name in ('craft_application', 'craft_parts', 'snapcraft'):\n"
        "    sys.modules[name] = None\n"
        "from snapcraft_compression_advisor.cli.main import main\n"
        "sys.exit(main(['devices']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert "hdd-laptop" in done.stdout


@pytest.mark.bubblewrap
def test_launch_is_recorded_before_the_pack(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "project", policy=f"{LZO_PAYS}record: true\n")
    isolated = "this runs the payload's program, isolated by bubblewrap"
    ran = run_host_app(folder, "pack")
    assert ran.status == 0
    assert f"Recording hello: {isolated}" in ran.lines
    assert f"{ADVICE}CHANGE: set 'compression: lzo' in snapcraft.yaml" in ran.lines


@pytest.mark.bubblewrap
@pytest.mark.parametrize("mode", ["advise", "enforce"])
@pytest.mark.parametrize("required", [True, False])
def test_launch_that_cannot_be_recorded_breaks_a_pack_only_where_it_must_not(
    tmp_path: Path, mode: str, *, required: bool
) -> None:
    record = f"record: {{until: 'output:never', required: {str(required).lower()}}}\n"
    folder = make_project(
        tmp_path / "project", keys="compression: lzo", policy=with_mode(mode) + record
    )
    ran = run_host_app(folder, "pack")
    warned = [line for line in warnings_of(ran.lines) if "printed no line" in line]
    if required and mode == "enforce":
        assert ran.status != 0
        assert codecs_of(folder) == {}
        return
    assert ran.status == 0
    (line,) = warned
    guess = "The launch of hello is guessed, not recorded"
    assert (guess in line) is not required
    assert ("no advice on the snap" in line) is required
    assert codecs_of(folder) == {"hello.snap": "lzo"}
