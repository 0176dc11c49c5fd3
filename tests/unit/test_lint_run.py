"""Several payloads linted in one run."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import call

import pytest

from snapcraft_compression_advisor.cli import lint_run
from snapcraft_compression_advisor.cli.lint_run import (
    PAYLOADS_AT_ONCE,
    Outcome,
    in_order,
    lint_all,
)
from snapcraft_compression_advisor.lint.finding import LintedPayload
from snapcraft_compression_advisor.lint.request import LintRequest
from snapcraft_compression_advisor.settings.lint_policy import LintPolicy

if TYPE_CHECKING:
    from collections.abc import Callable

    from craft_cli.pytest_plugin import RecordingEmitter
    from pytest_mock import MockerFixture

    from snapcraft_compression_advisor.trial.result import Progress

REQUEST = LintRequest(policy=LintPolicy(), devices=())
PATHS = [Path(name) for name in "abcdef"]
WAIT_S = 60
"""After which a test that would wait for ever fails."""


def outcome(path: Path) -> Outcome:
    return Outcome(
        linted=LintedPayload(path=str(path), snap_name=path.name, findings=())
    )


def run(
    lint: Callable[[Path, Progress], Outcome],
    *,
    cores: int,
    show: Progress = lambda _: None,
) -> list[str]:
    return [each.linted.path for each in in_order(lint, PATHS, show=show, cores=cores)]


def test_outcomes_stand_in_the_order_of_the_paths_whichever_ends_first() -> None:
    second_ended = threading.Event()

    def lint(path: Path, _progress: Progress) -> Outcome:
        if path.name == "a":
            assert second_ended.wait(WAIT_S)
        if path.name == "b":
            second_ended.set()
        return outcome(path)

    assert run(lint, cores=8) == list("abcdef")


def test_no_more_are_linted_at_once_than_memory_is_meant_for() -> None:
    running: set[str] = set()
    most: list[int] = []
    full = threading.Barrier(PAYLOADS_AT_ONCE, timeout=WAIT_S)

    def lint(path: Path, _progress: Progress) -> Outcome:
        running.add(path.name)
        full.wait()
        most.append(len(running))
        full.wait()
        running.remove(path.name)
        return outcome(path)

    run(lint, cores=64)
    assert set(most) == {PAYLOADS_AT_ONCE}


def test_one_core_lints_one_after_another_in_the_main_thread() -> None:
    threads = set()

    def lint(path: Path, _progress: Progress) -> Outcome:
        threads.add(threading.current_thread())
        return outcome(path)

    assert run(lint, cores=1) == list("abcdef")
    assert threads == {threading.main_thread()}


def test_progress_of_several_names_the_payload() -> None:
    shown: list[str] = []

    def lint(path: Path, progress: Progress) -> Outcome:
        progress("Reading")
        return outcome(path)

    run(lint, cores=2, show=shown.append)
    assert sorted(shown) == [f"{name}: Reading" for name in "abcdef"]


def test_what_ends_the_run_stops_the_others_at_their_next_step() -> None:
    other_runs, stopped = threading.Event(), threading.Event()
    begun: list[str] = []

    def lint(path: Path, progress: Progress) -> Outcome:
        begun.append(path.name)
        if path.name == "a":
            assert other_runs.wait(WAIT_S)
            raise KeyboardInterrupt
        other_runs.set()
        try:
            for _step in range(10**5):
                progress("Reading")
        except BaseException:
            stopped.set()
            raise
        return outcome(path)

    with pytest.raises(KeyboardInterrupt):
        run(lint, cores=2)
    assert stopped.is_set()
    assert "f" not in begun


def test_payloads_that_cannot_be_read_are_outcomes_with_a_status(
    tmp_path: Path, emitter: RecordingEmitter
) -> None:
    (tmp_path / "no.snap").write_bytes(b"no image")
    paths = [tmp_path / "nowhere", tmp_path / "no.snap"]
    outcomes = lint_all(dict.fromkeys(paths, REQUEST), project_dir=None, failed={})
    assert [each.error_status for each in outcomes] == [os.EX_NOINPUT, os.EX_DATAERR]
    emitter.assert_interactions(
        [
            call("progress", f"Not linted: {each.linted.error}", permanent=True)
            for each in outcomes
        ]
    )


def test_a_disk_that_fails_is_an_outcome_too(
    tmp_path: Path, mocker: MockerFixture
) -> None:
    mocker.patch.object(
        lint_run, "open_payload", side_effect=OSError(5, "Input/output error")
    )
    (failed,) = lint_all({tmp_path / "a.snap": REQUEST}, project_dir=None, failed={})
    assert failed.error_status == os.EX_IOERR
    assert "Input/output error" in (failed.linted.error or "")
