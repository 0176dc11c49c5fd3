"""Runs over a fleet: its snaps, their profiles, what is new."""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from fleets import make_request, make_row, make_snap
from image_sources import needs_mksquashfs
from snapcraft_compression_advisor.cli.main import main
from snapcraft_compression_advisor.core.errors import (
    BadDataError,
    NoInputError,
    ToolError,
)
from snapcraft_compression_advisor.fleet import imported, task
from snapcraft_compression_advisor.fleet.columns import KNOWN
from snapcraft_compression_advisor.fleet.dataset import Dataset
from snapcraft_compression_advisor.fleet.run import run_fleet, settings_digest
from snapcraft_compression_advisor.fleet.sources import Snap, find_snaps
from snapcraft_compression_advisor.fleet.task import SnapTask, identity_of, profiles_of
from trees import fill


@pytest.fixture
def store(tmp_path: Path) -> Path:
    names = ("b.snap", "a.snap", "a.txt", "deep/c.comp", "deep/d.iso")
    return fill(tmp_path / "store", dict.fromkeys(names, b"1234"))


def found(store: Path, *sources: object) -> list[str]:
    paths = [snap.path for snap in find_snaps(map(str, sources))]
    return [path.removeprefix(f"{store}/") for path in paths]


def test_a_directory_stands_for_the_snaps_in_and_below_it(store: Path) -> None:
    assert found(store, store) == ["a.snap", "b.snap", "deep/c.comp"]


def test_a_pattern_stands_for_what_it_matches_and_each_counts_once(store: Path) -> None:
    assert found(store, store / "b*", store / "**/*.snap") == ["b.snap", "a.snap"]


def test_a_list_has_a_source_a_line(store: Path) -> None:
    lines = ["# those of today", "", f"{store}/deep", f" {store}/b.snap ", "gone.snap"]
    (store / "a.txt").write_text("\n".join(lines))
    assert found(store, store / "a.txt") == ["deep/c.comp", "b.snap", "gone.snap"]


def look_after(
    path: Path, after_ns: int, monkeypatch: pytest.MonkeyPatch
) -> tuple[int | None, str, str]:
    now_ns = path.stat().st_ctime_ns + after_ns
    monkeypatch.setattr(time, "time_ns", lambda: now_ns)
    (snap,) = find_snaps([str(path)])
    return snap.file_bytes, snap.stamp, snap.state


def test_a_file_of_the_same_length_and_time_has_another_state(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, rebuilt = store / "a.snap", store / "b.snap"
    for file in (path, rebuilt):
        os.utime(file, (0, 0))  # as where builds are reproducible
    before = look_after(path, 10**10, monkeypatch)
    rebuilt.replace(path)
    after = look_after(path, 10**10, monkeypatch)
    assert before[:2] == after[:2] == (4, "0")
    assert before[2] != after[2]


def test_the_state_of_a_file_that_was_just_changed_proves_nothing(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = store / "a.snap"
    states = [
        look_after(path, after_ns, monkeypatch)[2]
        for after_ns in (-(10**9), 0, 2 * 10**9 - 1, 2 * 10**9)
    ]
    assert [bool(state) for state in states] == [False, False, False, True]


def test_a_source_without_snaps_is_an_error(store: Path) -> None:
    with pytest.raises(NoInputError, match="No snaps in"):
        find_snaps([str(store / "*.img")])
    (store / "deep/c.comp").unlink()
    with pytest.raises(NoInputError, match="No snaps in"):
        find_snaps([str(store), str(store / "deep")])
    with pytest.raises(NoInputError, match="Cannot read the list"):
        find_snaps([str(store / "gone.txt")])


PROFILE = (
    '{"schema":1,"source":"residency","app":"one",'
    '"files":[{"path":"noise","size":100000,"blocks":[[0,0]]}]}'
)


@pytest.mark.parametrize("file", ["one.json", "one.app.json"])
def test_a_profile_is_that_of_the_snap_in_its_name(tmp_path: Path, file: str) -> None:
    (tmp_path / file).write_text(PROFILE)
    (tmp_path / "one-more.json").write_text("of another snap")
    (profile,) = profiles_of("one", tmp_path)
    assert profile.app == "one"
    assert profiles_of("other", tmp_path) == ()
    assert profiles_of("one", None) == ()


def test_a_hostile_name_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text(PROFILE)
    (tmp_path / "in").mkdir()
    for name in ("../one", "*", "[a-z]ne"):
        assert profiles_of(name, tmp_path / "in") == ()
        assert profiles_of(name, tmp_path) == () or name == "../one"
    (tmp_path / "two.json").write_text("no profile")
    with pytest.raises(BadDataError):
        profiles_of("two", tmp_path)


def test_what_is_no_directory_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow")
    snap = tmp_path / "one.snap"
    snap.write_bytes(b"hsqs")
    arguments = ["fleet", str(snap), "-o", str(tmp_path / "data")]
    assert main([*arguments, "--launch-profiles", str(snap)]) == os.EX_NOINPUT
    assert "isn't a directory of launch profiles" in capsys.readouterr().err


@needs_mksquashfs
def test_a_row_has_the_recorded_launch_and_its_kind(tmp_path: Path) -> None:
    snap = make_snap(tmp_path, "one")
    (tmp_path / "one.json").write_text(PROFILE)
    rows = []
    for folder in (tmp_path, None):
        request = replace(make_request(), launch_profiles=folder)
        with ExitStack() as until:
            rows.append(SnapTask(request, until).row(Snap(path=str(snap))))
    recorded, guessed = rows
    assert {each["source"] for each in recorded["launches"]} == {"recorded"}  # type: ignore[attr-defined]
    assert {each["source"] for each in guessed["launches"]} == {"static"}  # type: ignore[attr-defined]
    assert recorded["launch_bytes"] == 100_000
    assert recorded["kind"] == guessed["kind"] is not None


SNAPS = [Snap(path=f"{name}.snap", file_bytes=10_000_000, state="1") for name in "abc"]


class Asked:
    """Makes rows, and notes for which snaps.

    :param stop_at: the path at which the user interrupts the run.
    :param known: digests of the data set's rows.
    """

    def __init__(self, stop_at: str = "", known: frozenset[str] = frozenset()) -> None:
        self.paths: list[str] = []
        self._stop_at, self._known = stop_at, known

    def rows(self, snaps: Sequence[Snap]) -> Iterator[Mapping[str, object]]:
        for snap in snaps:
            if snap.path == self._stop_at:
                raise KeyboardInterrupt
            self.paths.append(snap.path)
            row = make_row(snap.path.removesuffix(".snap"), state=snap.state)
            known = row["digest"] in self._known
            yield (
                {**identity_of(snap), "digest": row["digest"], KNOWN: 1}
                if known
                else row
            )


def test_a_second_run_makes_only_what_is_new(tmp_path: Path) -> None:
    said: list[str] = []
    first = Dataset(tmp_path, settings="s")
    run_fleet(SNAPS[:2], first, Asked().rows, progress=said.append)
    assert said[-1].startswith("2 of 2 snaps, ")
    assert said[-1].endswith(" a minute, 0 s left")
    second = Asked()
    data = Dataset(tmp_path, settings="s")
    summary = run_fleet(SNAPS, data, second.rows, progress=said.append)
    assert second.paths == ["c.snap"]
    assert (summary.found, summary.there, summary.added) == (3, 2, 1)


def test_a_file_that_turns_out_to_be_known_is_read_once(tmp_path: Path) -> None:
    data = Dataset(tmp_path, settings="s")
    run_fleet(SNAPS, data, Asked().rows, progress=lambda _: None)
    copied = [replace(snap, state="2") for snap in SNAPS]
    asked_for = []
    for _ in range(2):
        data = Dataset(tmp_path, settings="s")
        asked = Asked(known=data.digests())
        summary = run_fleet(copied, data, asked.rows, progress=lambda _: None)
        assert (summary.added, summary.there, summary.failed) == (0, 3, 0)
        asked_for.append(asked.paths)
    assert asked_for == [["a.snap", "b.snap", "c.snap"], []]


def test_a_row_that_is_counted_is_kept_wherever_the_run_is_interrupted(
    tmp_path: Path,
) -> None:
    def interrupt(_: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_fleet(
            SNAPS, Dataset(tmp_path, settings="s"), Asked().rows, progress=interrupt
        )
    assert Dataset(tmp_path, settings="s").has(SNAPS[0])


def test_settings_are_those_that_rows_depend_on(tmp_path: Path) -> None:
    request = make_request()
    base = tmp_path / "core24.snap"
    digests = [settings_digest(request, limit_s=60) for _ in range(2)]
    for content in (b"1", b"2"):
        base.write_bytes(content)
        with_base = replace(request, bases=(base,))
        digests.append(settings_digest(with_base, limit_s=60))
    with_profiles = replace(request, launch_profiles=tmp_path)
    digests.append(settings_digest(with_profiles, limit_s=60))
    (tmp_path / "one.json").write_text(PROFILE)
    digests.append(settings_digest(with_profiles, limit_s=60))
    assert [digests.index(each) for each in digests] == [0, 0, 2, 3, 0, 5]


def test_files_that_settings_name_are_read_elsewhere_for_a_limited_time(
    tmp_path: Path, mocker: MockerFixture
) -> None:
    mocker.patch(f"{task.__name__}.open_regular", side_effect=AssertionError)
    base = tmp_path / "core24.snap"
    request = replace(make_request(), bases=(base,))
    with pytest.raises(NoInputError, match="No such file"):
        settings_digest(request, limit_s=60)
    os.mkfifo(base)
    with pytest.raises(NoInputError, match="regular file"):
        settings_digest(request, limit_s=60)
    base.unlink()
    base.touch()
    os.truncate(base, 10**12)
    with pytest.raises(ToolError, match="longer than 1 s"):
        settings_digest(request, limit_s=1)


def test_a_missing_extra_is_named_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ToolError, match="needs pyarrow") as caught:
        imported("pyarrow")
    assert "[fleet]" in (caught.value.resolution or "")
    assert "pip install" in (caught.value.resolution or "")
