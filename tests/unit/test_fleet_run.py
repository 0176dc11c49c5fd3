"""A fleet's run adds what is missing and keeps what is ready."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fleets import make_request, make_row
from snapcraft_compression_advisor.core.errors import NoInputError, ToolError
from snapcraft_compression_advisor.fleet import imported, task
from snapcraft_compression_advisor.fleet.columns import KNOWN
from snapcraft_compression_advisor.fleet.dataset import Dataset
from snapcraft_compression_advisor.fleet.run import run_fleet, settings_digest
from snapcraft_compression_advisor.fleet.sources import Snap
from snapcraft_compression_advisor.fleet.task import identity_of, lost

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_mock import MockerFixture

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


def test_an_interrupted_run_keeps_what_is_ready_and_is_continued(
    tmp_path: Path,
) -> None:
    data = Dataset(tmp_path, settings="s")
    with pytest.raises(KeyboardInterrupt):
        run_fleet(SNAPS, data, Asked(stop_at="c.snap").rows, progress=lambda _: None)
    again = Asked()
    data = Dataset(tmp_path, settings="s")
    run_fleet(SNAPS, data, again.rows, progress=lambda _: None)
    assert again.paths == ["c.snap"]


def test_a_row_that_is_counted_is_kept_wherever_the_run_is_interrupted(
    tmp_path: Path,
) -> None:
    def interrupt(_: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_fleet(
            SNAPS,
            Dataset(tmp_path, settings="s"),
            Asked().rows,
            progress=interrupt,
        )
    assert Dataset(tmp_path, settings="s").has(SNAPS[0])


def test_settings_are_those_that_rows_depend_on(tmp_path: Path) -> None:
    request = make_request()
    base = tmp_path / "core24.snap"
    digests = {
        settings_digest(request, limit_s=60),
        settings_digest(request, limit_s=60),
    }
    for content in (b"1", b"2"):
        base.write_bytes(content)
        with_base = type(request)(lint=request.lint, bases=(base,))
        digests.add(settings_digest(with_base, limit_s=60))
    assert len(digests) == 3


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


def test_a_snap_that_no_worker_finished_is_not_read_again() -> None:
    row = lost(Snap(path="/dev/zero"), ToolError("too long"))
    assert (row["error"], row["digest"]) == ("too long", None)


def test_a_missing_extra_is_named_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ToolError, match="needs pyarrow") as caught:
        imported("pyarrow")
    assert "[fleet]" in (caught.value.resolution or "")
    assert "pip install" in (caught.value.resolution or "")
