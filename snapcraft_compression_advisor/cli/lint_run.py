"""Payloads linted, some of them at once; one that can't be stops no other."""

from __future__ import annotations

import argparse
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from ..core.errors import AdvisorError
from ..core.frozen import frozen
from ..core.terminal import emit
from ..lint.all_rules import ALL_RULES
from ..lint.finding import LintedPayload
from ..lint.lint import lint_payload
from ..lint.request import LintRequest, check_apps
from ..lint.run import check_selectors
from ..payload.source import open_payload
from ..trial.result import Progress
from .find_project import find_project
from .record_options import with_recordings

PAYLOADS_AT_ONCE = 2
"""One takes up to 200 MB of memory. Its trial keeps all cores busy by itself, so that a
second one only fills the gaps, while files are listed and looked at."""


@frozen
class Outcome:
    """What came of one payload.

    :param error_status: exit status of the error that kept it from being linted.
    """

    linted: LintedPayload
    error_status: int | None = None


class _StoppedError(Exception):
    """The run has ended, whatever this thread was about to do."""


@dataclass(slots=True, kw_only=True)
class _Told:
    """Progress of several threads on one terminal, until they are to stop.

    :param show: takes one message at a time.
    """

    show: Progress
    stopped: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, message: str) -> None:
        """Show a message.

        :raises _StoppedError: where the thread is to stop.
        """
        if self.stopped.is_set():
            raise _StoppedError
        with self._lock:
            self.show(message)


def record_all(
    requests: Mapping[Path, LintRequest], parsed_args: argparse.Namespace
) -> tuple[dict[Path, LintRequest], dict[Path, AdvisorError]]:
    """Record the launches that are asked for, one after the other.

    :returns: the requests with them, and why a payload can't be linted.
    """
    recorded, failed = dict(requests), {}
    for path, request in requests.items():
        if request.policy.record or parsed_args.record or parsed_args.record_again:
            try:
                with open_payload(path) as payload:
                    check_apps(payload, request)
                    recorded[path] = with_recordings(payload, request, parsed_args)
            except AdvisorError as error:
                failed[path] = error
    return recorded, failed


def lint_all(
    requests: Mapping[Path, LintRequest],
    *,
    project_dir: Path | None,
    failed: Mapping[Path, AdvisorError],
    reported: bool = False,
) -> tuple[Outcome, ...]:
    """Lint payloads and say which ones couldn't be.

    :param requests: what each payload is to be checked against.
    :param project_dir: of all payloads; ``None`` where each has the one beside it.
    :param failed: why some can't be linted.
    :param reported: whether the terminal gets a report that says so.
    :returns: in the order of the requests, whatever ended first.
    """

    def lint(path: Path, progress: Progress) -> Outcome:
        return _lint(
            path,
            progress,
            requests[path],
            project_dir=project_dir,
            failed=failed.get(path),
        )

    cores = len(os.sched_getaffinity(0))
    outcomes = tuple(in_order(lint, [*requests], show=emit.progress, cores=cores))
    for outcome in outcomes:
        if outcome.linted.error is not None and not reported:
            emit.progress(f"Not linted: {outcome.linted.error}", permanent=True)
    return outcomes


def in_order(
    lint: Callable[[Path, Progress], Outcome],
    paths: Sequence[Path],
    *,
    show: Progress,
    cores: int,
) -> Iterator[Outcome]:
    """Yield outcomes in the order of the paths, some of them made at once.

    :param show: takes progress, which names the payload where several are at work.
    :param cores: that the process may use.
    """
    workers = min(PAYLOADS_AT_ONCE, len(paths), cores)
    if workers == 1:
        yield from (lint(path, show) for path in paths)
        return
    told = _Told(show=show)
    with ThreadPoolExecutor(workers, thread_name_prefix="lint") as pool:
        try:
            yield from pool.map(lambda path: lint(path, _of(path, told)), paths)
        except BaseException:
            told.stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _of(path: Path, told: _Told) -> Progress:
    return lambda message: told(f"{path.name}: {message}")


def _lint(
    path: Path,
    progress: Progress,
    request: LintRequest,
    *,
    project_dir: Path | None,
    failed: AdvisorError | None,
) -> Outcome:
    """Lint a payload, or note why that isn't possible.

    :param failed: why it isn't, where that is known.
    """
    name = ""
    try:
        with open_payload(path) as payload:
            name = payload.snap.name
            if failed is not None:
                raise failed
            project = find_project(payload, project_dir)
            if project is not None:
                check_selectors(project.ignored, ALL_RULES, where=str(project.path))
            linted = lint_payload(
                payload, request, path=str(path), project=project, progress=progress
            )
        return Outcome(linted=linted)
    except AdvisorError as error:
        message = ". ".join(filter(None, (str(error), error.resolution)))
        status = error.retcode
    except OSError as error:
        message = f"Cannot read {str(path)!r}: {error.strerror}"
        status = os.EX_IOERR
    linted = LintedPayload(path=str(path), snap_name=name, findings=(), error=message)
    return Outcome(linted=linted, error_status=status)
