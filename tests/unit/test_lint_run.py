"""Several payloads linted in one run."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from craft_cli import emit

from snapcraft_compression_advisor.cli import lint_run
from snapcraft_compression_advisor.cli.lint_run import (
    PAYLOADS_AT_ONCE,
    Outcome,
    lint_all,
)
from snapcraft_compression_advisor.lint.finding import LintedPayload
from snapcraft_compression_advisor.lint.lint import LintRequest
from snapcraft_compression_advisor.settings.lint_policy import LintPolicy

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_mock import MockerFixture

    from snapcraft_compression_advisor.trial.result import Progress

REQUEST = LintRequest(policy=LintPolicy(), devices=())
PATHS = [Path(name) for name in "abcdef"]
WAIT_S = 60
"""After which a test that would wait for ever fails."""


@pytest.fixture
def cores(mocker: MockerFixture) -> Callable[[int], None]:
    """Return what sets the number of cores that the process may use."""
    affinity = mocker.patch.object(os, "sched_getaffinity")

    def set_cores(count: int) -> None:
        affinity.return_value = set(range(count))

    return set_cores


def outcome(path: Path) -> Outcome:
    return Outcome(
        linted=LintedPayload(path=str(path), snap_name=path.name, findings=())
    )


def run() -> list[str]:
    return [
        each.linted.path
        for each in lint_all(dict.fromkeys(PATHS, REQUEST), project_dir=None)
    ]


def test_outcomes_stand_in_the_order_of_the_paths_whichever_ends_first(
    mocker: MockerFixture, cores: Callable[[int], None]
) -> None:
    cores(8)
    second_ended = threading.Event()

    def lint(path: Path, _progress: Progress, **_: object) -> Outcome:
        if path.name == "a":
            assert second_ended.wait(WAIT_S)
        if path.name == "b":
            second_ended.set()
        return outcome(path)

    mocker.patch.object(lint_run, "_lint", lint)
    assert run() == list("abcdef")


def test_no_more_are_linted_at_once_than_memory_is_meant_for(
    mocker: MockerFixture, cores: Callable[[int], None]
) -> None:
    cores(64)
    running: set[str] = set()
    most: list[int] = []
    full = threading.Barrier(PAYLOADS_AT_ONCE, timeout=WAIT_S)

    def lint(path: Path, _progress: Progress, **_: object) -> Outcome:
        running.add(path.name)
        full.wait()
        most.append(len(running))
        full.wait()
        running.remove(path.name)
        return outcome(path)

    mocker.patch.object(lint_run, "_lint", lint)
    run()
    assert set(most) == {PAYLOADS_AT_ONCE}


def test_one_core_lints_one_after_another_in_the_main_thread(
    mocker: MockerFixture, cores: Callable[[int], None]
) -> None:
    cores(1)
    threads = set()

    def lint(path: Path, _progress: Progress, **_: object) -> Outcome:
        threads.add(threading.current_thread())
        return outcome(path)

    mocker.patch.object(lint_run, "_lint", lint)
    assert run() == list("abcdef")
    assert threads == {threading.main_thread()}


def test_progress_of_several_names_the_payload(
    mocker: MockerFixture, cores: Callable[[int], None]
) -> None:
    cores(2)
    shown = mocker.patch.object(emit, "progress")

    def lint(path: Path, progress: Progress, **_: object) -> Outcome:
        progress("Reading")
        return outcome(path)

    mocker.patch.object(lint_run, "_lint", lint)
    run()
    texts = sorted(call.args[0] for call in shown.call_args_list)
    assert texts == [f"{name}: Reading" for name in "abcdef"]


def test_what_ends_the_run_stops_the_others_at_their_next_step(
    mocker: MockerFixture, cores: Callable[[int], None]
) -> None:
    cores(2)
    mocker.patch.object(emit, "progress")
    other_runs, stopped = threading.Event(), threading.Event()
    begun: list[str] = []

    def lint(path: Path, progress: Progress, **_: object) -> Outcome:
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

    mocker.patch.object(lint_run, "_lint", lint)
    with pytest.raises(KeyboardInterrupt):
        run()
    assert stopped.is_set()
    assert "f" not in begun


def test_payloads_that_cannot_be_read_are_outcomes_with_a_status(
    tmp_path: Path, mocker: MockerFixture, cores: Callable[[int], None]
) -> None:
    cores(2)
    shown = mocker.patch.object(emit, "progress")
    (tmp_path / "no.snap").write_bytes(b"no image")
    paths = [tmp_path / "nowhere", tmp_path / "no.snap"]
    outcomes = lint_all(dict.fromkeys(paths, REQUEST), project_dir=None)
    assert [each.error_status for each in outcomes] == [os.EX_NOINPUT, os.EX_DATAERR]
    said = [call.args[0] for call in shown.call_args_list]
    assert said == [f"Not linted: {each.linted.error}" for each in outcomes]


def test_a_disk_that_fails_is_an_outcome_too(
    tmp_path: Path, mocker: MockerFixture
) -> None:
    mocker.patch.object(
        lint_run, "open_payload", side_effect=OSError(5, "Input/output error")
    )
    mocker.patch.object(emit, "progress")
    (failed,) = lint_all({tmp_path / "a.snap": REQUEST}, project_dir=None)
    assert failed.error_status == os.EX_IOERR
    assert "Input/output error" in (failed.linted.error or "")
