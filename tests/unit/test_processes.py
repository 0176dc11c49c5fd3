"""Figures read from a ``/proc`` made of files."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from snapcraft_compression_advisor.capture.processes import (
    ENDED,
    TICK_S,
    ControlGroup,
    ThreadFigures,
    descendants,
    is_standing_still,
    list_processes,
    merge_threads,
    read_process,
    thread_figures,
)

if TYPE_CHECKING:
    from pathlib import Path


def stat_text(pid: int, name: str, *, parent: int = 1, **fields: int) -> str:
    """Return a stat line; fields are counted as in proc(5)."""
    values = dict.fromkeys(range(5, 53), 0) | {6: fields.get("session", 0)}
    values |= {12: fields.get("faults", 0), 13: fields.get("child_faults", 0)}
    values |= {14: fields.get("user", 0), 15: fields.get("system", 0)}
    values |= {16: fields.get("child_user", 0), 17: fields.get("child_system", 0)}
    state = "Z" if fields.get("zombie") else "S"
    return f"{pid} ({name}) {state} {parent} " + " ".join(
        str(value) for _, value in sorted(values.items())
    )


def write_process(proc: Path, pid: int, name: str, **fields: int) -> Path:
    directory = proc / str(pid)
    directory.mkdir(parents=True)
    (directory / "stat").write_text(stat_text(pid, name, **fields))
    return directory


def write_thread(
    process: Path, tid: int, name: str, *, scheduled_ns: int, read: int, **fields: int
) -> None:
    task = process / "task" / str(tid)
    task.mkdir(parents=True)
    (task / "stat").write_text(stat_text(tid, name, **fields))
    (task / "schedstat").write_text(f"{scheduled_ns} 5 7\n")
    (task / "io").write_text(f"rchar: 9\nread_bytes: {read}\nwrite_bytes: 3\n")


def test_name_of_a_process_may_hold_parentheses_and_spaces(tmp_path: Path) -> None:
    write_process(tmp_path, 7, "a) (b c", parent=3, session=5, user=4, child_user=2)
    process = read_process(7, proc=tmp_path)
    assert process is not None
    assert (process.name, process.parent, process.session) == ("a) (b c", 3, 5)
    assert process.user_s == pytest.approx(6 * TICK_S)


def test_process_that_is_gone_or_cut_short_is_none(tmp_path: Path) -> None:
    assert read_process(7, proc=tmp_path) is None
    (tmp_path / "8").mkdir()
    (tmp_path / "8/stat").write_text("8 (x) S 1")
    assert read_process(8, proc=tmp_path) is None
    (tmp_path / "self").mkdir()
    assert list_processes(proc=tmp_path) == {}


def test_descendants_are_found_through_all_generations(tmp_path: Path) -> None:
    for pid, parent in ((10, 1), (11, 10), (12, 11), (13, 1), (14, 13)):
        write_process(tmp_path, pid, "x", parent=parent)
    processes = list_processes(proc=tmp_path)
    assert descendants(processes, [10]) == {10, 11, 12}
    assert descendants(processes, [10, 14, 99]) == {10, 11, 12, 14}


def test_figures_of_threads_and_of_what_has_ended(tmp_path: Path) -> None:
    process = write_process(
        tmp_path, 20, "app", user=30, child_system=20, faults=9, child_faults=2
    )
    (process / "io").write_text("read_bytes: 1000\n")
    write_thread(process, 20, "app", scheduled_ns=50_000_000, read=600, faults=4)
    write_thread(process, 21, "pool", scheduled_ns=150_000_000, read=100, faults=1)
    figures = thread_figures([20, 77], proc=tmp_path)
    assert figures[20] == ThreadFigures(
        name="app", cpu_s=0.05, read_bytes=600, major_faults=4
    )
    ended = figures[-20]
    assert (ended.name, ended.read_bytes, ended.major_faults) == (ENDED, 300, 6)
    assert ended.cpu_s == pytest.approx(50 * TICK_S - 0.2)


def test_thread_without_schedstat_or_io_counts_in_ticks(tmp_path: Path) -> None:
    process = write_process(tmp_path, 20, "app")
    task = process / "task/20"
    task.mkdir(parents=True)
    (task / "stat").write_text(stat_text(20, "app", user=3, system=4))
    figures = thread_figures([20], proc=tmp_path)[20]
    assert figures.cpu_s == pytest.approx(7 * TICK_S)
    assert figures.read_bytes == 0


@pytest.mark.parametrize(("state", "still"), [("T", True), ("Z", True), ("R", False)])
def test_process_stands_still_once_every_thread_does(
    tmp_path: Path, state: str, *, still: bool
) -> None:
    assert is_standing_still(20, proc=tmp_path)
    process = write_process(tmp_path, 20, "app")
    for tid, letter in ((20, "T"), (21, state)):
        write_thread(process, tid, "app", scheduled_ns=1, read=1)
        stat = process / "task" / str(tid) / "stat"
        stat.write_text(stat.read_text().replace(") S ", f") {letter} "))
    assert is_standing_still(20, proc=tmp_path) == still


def test_threads_of_one_name_are_added_and_readers_come_first() -> None:
    def figures(name: str, read_bytes: int, cpu_s: float = 0.5) -> ThreadFigures:
        return ThreadFigures(
            name=name, cpu_s=cpu_s, read_bytes=read_bytes, major_faults=1
        )

    idle = ThreadFigures(name="idle", cpu_s=0, read_bytes=0, major_faults=0)
    merged = merge_threads([figures("a", 5), idle, figures("b", 8), figures("a", 2)])
    assert merged == (
        figures("b", 8),
        ThreadFigures(name="a", cpu_s=1.0, read_bytes=7, major_faults=2),
    )


def test_groups_within_groups_are_found_at_any_depth(tmp_path: Path) -> None:
    inner = tmp_path.joinpath(*["a"] * 1500)
    for depth in range(1, 1501):
        tmp_path.joinpath(*["a"] * depth).mkdir()
    (inner / "cgroup.procs").write_text("42\n")
    assert ControlGroup(tmp_path).process_ids() == {42}
    subprocess.run(["rm", "-r", tmp_path / "a"], check=True)  # too deep for pytest
