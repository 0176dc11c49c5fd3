"""The study of kernels: what is built, and what the kept data say."""

from __future__ import annotations

from pathlib import Path

import pytest

import kernel_builds
import kernel_emulated
import kernel_tables
import kernels

PAGE = Path(__file__).parents[2] / "docs/study/kernels.md"


@pytest.mark.parametrize(
    ("version", "choice"),
    [("5.10", False), ("6.1", False), ("6.2", True), ("6.12", True)],
)
def test_kernels_from_6_2_on_choose_at_mount(version: str, *, choice: bool) -> None:
    assert kernel_builds.has_choice(version) is choice


def test_kernels_with_a_choice_are_built_once_for_all_decompressors() -> None:
    built = {each.name: each for each in kernel_builds.builds(Path("work"))}
    assert len(built) == 18
    assert built["7.3-cache-multi"].threads == "multi"
    assert "6.12-cache-multi" not in built
    assert built["6.12-direct-percpu"].path == built["6.12-direct-single"].path
    assert built["6.12-direct-percpu"].threads == "percpu"
    assert built["6.1-direct-percpu"].path != built["6.1-direct-single"].path
    assert built["6.1-direct-percpu"].threads == ""


def test_page_has_the_tables_of_the_data() -> None:
    page = PAGE.read_text(encoding="utf-8")
    lines = [line for line in kernel_tables.report_lines() if line.startswith("|")]
    assert len(lines) > 20
    missing = [line for line in lines if line not in page]
    assert not missing, "run 'study/kernels.py report'"


def test_archive_is_what_the_kernel_unpacks() -> None:
    packed = kernel_emulated.archive({"init": b"abc", "lzo.ko": b""})
    assert packed.startswith(b"070701")
    assert len(packed) % 4 == 0
    names = (b"init\0", b"lzo.ko\0", b"TRAILER!!!\0")
    assert sorted(map(packed.index, names)) == list(map(packed.index, names))
    start = packed.index(b"init\0")
    data = -(-(start + len(b"init\0")) // 4) * 4
    assert packed[data : data + 3] == b"abc"
    assert int(packed[54:62], 16) == 3


def test_results_are_by_codec_and_compared_with_one_reader() -> None:
    said = (
        "boot\r\nRESULT lzo 128 1 100\r\nRESULT lzo 128 7/8+1/8 of 2 104\r\n"
        "RESULT xz 128 1 80\r\nRESULT lzo 0 1 90\r\n"
    )
    assert list(kernel_emulated.result_rows(said)) == [
        ("lzo", 128, "1", 100, 100),
        ("lzo", 128, "2, one reads 1/8", 104, 100),
        ("xz", 128, "1", 80, 80),
        ("lzo", 0, "1", 90, 100),
    ]


def test_each_time_the_counts_become_a_run_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "readers.csv"
    table.write_text("# what it is\nrun,kernel,readers\n1,5.10,1\n2,5.10,1\n")
    monkeypatch.setattr(kernel_emulated, "TABLE", table)
    monkeypatch.setattr(
        kernel_emulated, "_rows", lambda *_: iter([("6.12", "4 alike")])
    )
    monkeypatch.setattr("sys.argv", ["kernel_emulated.py", "--work", str(tmp_path)])
    kernel_emulated.main()
    lines = table.read_text().splitlines()
    assert lines[:4] == ["# what it is", "run,kernel,readers", "1,5.10,1", "2,5.10,1"]
    assert lines[4:] == ["3,6.12,4 alike"]


def test_launch_is_the_lower_quartile_of_runs_less_their_own_warm_ones() -> None:
    times_s = [(0.50, 0.10), (0.20, 0.15), (0.62, 0.20), (0.45, 0.15), (0.9, 0.1)]
    lines: list[dict[str, object]] = [
        {
            "kind": "launch",
            "application": "vim",
            "codec": "lzo",
            "cold_s": cold_s,
            "warm_s": warm_s,
            "read_bytes": 9,
        }
        for cold_s, warm_s in times_s
    ]
    columns, rows = kernels.WRITTEN["launches"][2:]
    (row,) = rows(("6.1", "cache", "single"), lines)
    found = dict(zip((*kernels.MODE, *columns), row, strict=True))
    assert found["added_s"] == "0.3000"
    assert (found["least_added_s"], found["greatest_added_s"]) == ("0.0500", "0.8000")
    assert (found["warm_s"], found["runs"]) == ("0.1500", 5)
