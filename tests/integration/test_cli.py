"""The command line, as a user meets it."""

import json
import os
import signal
from pathlib import Path

import pytest

from analyses import KEEP
from goldens import Document, read_document
from real_payloads import advisor, fill_prime, interrupt, snap_pack
from trees import fill


def report(*arguments: str | Path, cwd: Path | None = None) -> Document:
    result = advisor("advise", *arguments, "--format", "json", cwd=cwd, status=0)
    return read_document(result.stdout)


def test_text_report_alone_goes_to_stdout(small_prime: Path) -> None:
    result = advisor("advise", small_prime, "--exact", "-v", status=0)
    assert result.stdout.startswith(f"sample: {KEEP} ")
    short = advisor("advise", small_prime, "--exact")
    assert result.stdout.startswith(short.stdout.partition("\nDetails:")[0])
    assert len(short.stdout.splitlines()) <= 9
    assert "Packing with zstd (4 of 6)" in result.stderr
    wide = [line for line in result.stdout.splitlines() if len(line) > 80]
    assert all(len(line.split()) == 1 for line in wide)  # a path, to copy


def test_same_input_gives_the_same_answer(small_prime: Path) -> None:
    first, second = (
        advisor("advise", small_prime, "--format", "json", PYTHONHASHSEED=seed).stdout
        for seed in ("1", "2")
    )
    assert first == second


def test_prime_is_found_here_and_measured(small_prime: Path) -> None:
    found = report(cwd=small_prime.parent)
    assert found.payload.kind == "prime"
    assert found.payload.path.endswith("/prime")
    assert found.payload.declared_compression is None
    assert [launch.app for launch in found.launches] == ["sample"]
    assert set(found.launches[0].devices) == {"nvme-laptop", "hdd-laptop"}
    assert found.trial.mode == "sampled"


def test_the_one_snap_here_is_found(small_prime: Path, tmp_path: Path) -> None:
    snap = snap_pack(small_prime, tmp_path / "packed", compression="lzo")
    found = report(cwd=tmp_path / "packed")
    assert found.payload.kind == "snap"
    assert found.payload.declared_compression == "lzo"
    size = found.trial.codecs["lzo"].image_bytes
    assert size is not None
    assert size.low <= snap.stat().st_size <= size.high


def test_several_snaps_here_are_a_usage_error(tmp_path: Path) -> None:
    for name in ("a.snap", "b.snap"):
        (tmp_path / name).touch()
    result = advisor("advise", cwd=tmp_path, status=64)
    assert "a.snap, b.snap" in result.stderr


def test_nothing_here_says_what_was_looked_for(tmp_path: Path) -> None:
    result = advisor("advise", cwd=tmp_path, status=66)
    assert "neither 'prime' nor a .snap" in result.stderr


def test_compression_of_the_project_beside_prime_is_known(small_prime: Path) -> None:
    (small_prime.parent / "snapcraft.yaml").write_text(
        "name: sample\ncompression: lzo\n"
    )
    assert report(small_prime).payload.declared_compression == "lzo"


def test_broken_snapcraft_yaml_beside_prime_is_a_warning(small_prime: Path) -> None:
    (small_prime.parent / "snapcraft.yaml").write_text("name: [")
    result = advisor("advise", small_prime, status=0)
    assert "Warning: " in result.stderr


def test_apps_and_devices_can_be_named(small_prime: Path) -> None:
    found = report(
        small_prime, "--app", "other", "--app", "sample", "--device", "hdd-laptop"
    )
    assert [launch.app for launch in found.launches] == ["other", "sample"]
    assert set(found.launches[0].devices) == {"hdd-laptop"}
    assert found.launches[0].files == 2


def test_output_file_is_written_whole_and_stdout_stays_empty(
    small_prime: Path, tmp_path: Path
) -> None:
    target = tmp_path / "report.json"
    target.write_text("old")
    target.chmod(0o600)
    result = advisor("advise", small_prime, "--format", "json", "-o", target)
    assert (result.returncode, result.stdout) == (0, "")
    assert json.loads(target.read_text())["schema"] == 1
    assert target.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["prime", "report.json"]


ALWAYS_CHANGE = ("--min-saving", "0.000000001", "--max-launches", "999999999")


def test_advice_is_set_where_the_verdict_is_change(small_prime: Path) -> None:
    project_file = small_prime.parent / "snapcraft.yaml"
    project_file.write_text("name: x # keep\ncompression: xz # why\nbase: core24\n")
    shown = advisor("advise", *ALWAYS_CHANGE, "--diff", small_prime)
    assert shown.stdout.endswith(
        "-compression: xz # why\n+compression: lzo # why\n base: core24\n"
    )
    assert shown.stdout.startswith("--- ")
    assert "compression: xz" in project_file.read_text()
    advisor("advise", *ALWAYS_CHANGE, "--fix", small_prime, status=0)
    assert project_file.read_text() == (
        "name: x # keep\ncompression: lzo # why\nbase: core24\n"
    )


def test_nothing_is_set_where_there_is_no_benefit(small_prime: Path) -> None:
    project_file = small_prime.parent / "snapcraft.yaml"
    project_file.write_text("name: x\n")
    result = advisor(
        "advise",
        "prime",
        "--min-saving",
        "999999999",
        "--fix",
        cwd=small_prime.parent,
        status=0,
    )
    assert project_file.read_text() == "name: x\n"
    assert "Nothing to set" in result.stderr
    advisor("advise", "prime", "--fix", "--diff", cwd=small_prime.parent, status=64)


def test_set_without_a_project_fails_before_packing(
    small_prime: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    for named in ("", f"--project={tmp_path / 'empty'}"):
        result = advisor("advise", "--fix", small_prime, *filter(None, [named]))
        assert result.returncode == 66
        assert "Reading" not in result.stderr


def test_set_changes_one_line_and_diff_shows_it(tmp_path: Path) -> None:
    name = "snap/snapcraft.yaml"
    project_file = (
        fill(tmp_path, {name: "name: x\r\ncompression: 'xz' # old\r\n"}) / name
    )
    shown = advisor("set", "--compression", "lzo", "--diff", cwd=tmp_path)
    assert "-compression: 'xz' # old" in shown.stdout
    assert "+compression: 'lzo' # old" in shown.stdout
    assert b"xz" in project_file.read_bytes()
    assert advisor("set", tmp_path, "--compression", "lzo").returncode == 0
    assert project_file.read_bytes() == b"name: x\r\ncompression: 'lzo' # old\r\n"
    again = advisor("set", tmp_path, "--compression", "lzo")
    assert "already" in again.stderr


def bad_inputs(directory: Path) -> dict[str, tuple[tuple[str | Path, ...], int]]:
    prime = fill_prime(directory / "prime")
    (directory / "no-yaml").mkdir()
    fill_prime(directory / "bad-yaml", snap_yaml="name: [")
    fill_prime(directory / "list-yaml", snap_yaml="- name")
    snap = snap_pack(prime, directory / "packed", compression="xz").read_bytes()
    (directory / "truncated.snap").write_bytes(snap[: len(snap) // 2])
    (directory / "tiny.snap").write_bytes(snap[:50])
    (directory / "foreign.snap").write_bytes(b"PK\x03\x04" + bytes(1000))
    (directory / "empty.snap").touch()
    os.mkfifo(directory / "fifo")
    return {
        "missing path": (("advise", directory / "nowhere"), 66),
        "fifo": (("advise", directory / "fifo"), 65),
        "device": (("advise", "/dev/null"), 65),
        "no snap.yaml": (("advise", directory / "no-yaml"), 66),
        "broken snap.yaml": (("advise", directory / "bad-yaml"), 65),
        "snap.yaml is a list": (("advise", directory / "list-yaml"), 65),
        "truncated image": (("advise", directory / "truncated.snap"), 65),
        "fifty bytes": (("advise", directory / "tiny.snap"), 65),
        "foreign image": (("advise", directory / "foreign.snap"), 65),
        "empty file": (("advise", directory / "empty.snap"), 65),
        "unknown app": (("advise", prime, "--app", "nobody"), 64),
        "unknown device": (("advise", prime, "--device", "abacus"), 64),
        "unknown option": (("advise", "--nonsense"), 64),
        "unknown format": (("advise", prime, "--format", "pdf"), 64),
        "negative policy": (("advise", prime, "--link", "-3"), 64),
        "policy no number": (("advise", prime, "--min-saving", "nan"), 64),
        "no command": ((), 64),
        "unknown command": (("advize",), 64),
        "codec not shippable": (("set", directory, "--compression", "zstd"), 64),
        "no project": (("set", directory, "--compression", "xz"), 66),
    }


def test_bad_input_ends_in_one_clear_error(tmp_path: Path) -> None:
    for arguments, status in bad_inputs(tmp_path).values():
        result = advisor(*arguments, status=status)
        assert result.stdout == ""
        assert "Recommended resolution" in result.stderr or status == 64


def test_missing_mksquashfs_is_named(small_prime: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    result = advisor("advise", small_prime, "--exact", PATH=str(tmp_path / "empty"))
    assert result.returncode == 69
    assert "apt install" in result.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interruption_leaves_nothing_behind(
    small_prime: Path, temporary_directory: Path, number: signal.Signals
) -> None:
    interrupt("advise", small_prime, "--exact", at="Packing with xz", by=number)
    assert list(temporary_directory.iterdir()) == []


def test_log_directory_that_cannot_be_written_is_no_obstacle(
    small_prime: Path, tmp_path: Path
) -> None:
    (tmp_path / "state").touch()
    advisor("advise", small_prime, XDG_STATE_HOME=str(tmp_path / "state/x"), status=0)


def write_profile(path: Path, prime: Path, *, app: str = "sample") -> Path:
    size = (prime / "usr/share/data/text").stat().st_size
    files = [
        {"path": "usr/bin/gone", "size": 1, "blocks": [[0, 0]]},
        {"path": "usr/share/data/text", "size": size, "blocks": [[0, 2]]},
    ]
    profile = {"schema": 1, "source": "residency", "app": app, "files": files}
    path.write_text(json.dumps({**profile, "warm_s": 0.5}))
    return path


def test_recorded_launch_takes_the_place_of_the_guess(
    small_prime: Path, tmp_path: Path
) -> None:
    profile = write_profile(tmp_path / "launch.json", small_prime)
    (launch,) = report(small_prime, "--launch-profile", profile).launches
    assert (launch.app, launch.source) == ("sample", "recorded")
    assert (launch.files, launch.data_blocks) == (1, 3)
    cost = launch.devices["nvme-laptop"]["xz"]
    assert cost.warm_s == 0.5
    assert cost.cold_s == pytest.approx(0.5 + cost.added_s.mid)
    text = advisor("advise", small_prime, "--launch-profile", profile, "-v").stdout
    words = " ".join(text.split())
    said = "75% of the launch profile's blocks fit this payload"
    assert f"{said}; 1 file gone (usr/bin/gone)" in words
    assert "guess of what" not in text


def test_profile_of_another_snap_is_bad_data(small_prime: Path, tmp_path: Path) -> None:
    profile = write_profile(tmp_path / "launch.json", small_prime, app="stranger")
    result = advisor("advise", small_prime, "--launch-profile", profile, status=65)
    assert "'stranger'" in result.stderr


def test_app_without_its_program_is_told_first_as_bad_data(tmp_path: Path) -> None:
    snap_yaml = "name: sample\nversion: '1'\napps:\n  sample:\n    command: bin/a\n"
    prime = fill_prime(tmp_path / "prime", snap_yaml=snap_yaml)
    result = advisor("advise", prime)
    first, *_ = result.stdout.splitlines()
    assert first == "NO PROGRAM for app sample: the snap has no file bin/a"
    assert result.returncode == os.EX_DATAERR
