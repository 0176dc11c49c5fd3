"""Which tests were skipped and why, at the end of a run.

``--no-missing`` makes a skip a failure unless it is known why this machine can't run
the test: ``script/setup`` installs all that tests need. ``--able NAME`` makes it a
failure as well if this machine refuses something that it has to allow (abilities.py).
"""

import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from abilities import ABILITIES, REFUSED, why_not

_RELEASE = Path("/etc/os-release").read_text(encoding="utf-8").split()
_DEBIAN = "ID=debian" in _RELEASE
_BOOKWORM = "VERSION_CODENAME=bookworm" in _RELEASE


@dataclass(frozen=True, slots=True)
class Excuse:
    """Why a skip is no failure.

    :param reason: a pattern for the reason that the test gives.
    :param holds: whether it is true of this machine.
    """

    reason: str
    holds: bool


EXCUSES = (
    Excuse("snapcraft 9 isn't importable", holds=True),  # neither in Debian nor PyPI
    Excuse("snap pack is too old for components", holds=True),  # Debian 12's 2.57
    Excuse("mksquashfs is built without lzma", holds=True),  # Debian's is
    Excuse(f"^{REFUSED} ", holds=True),  # but see --able
    Excuse("can't be isolated here|^needs (bubblewrap|namespaces): ", holds=True),
    Excuse("kernel doesn't (report|trace)", holds=True),
    Excuse("immutable files|no extended attributes", holds=True),  # the file system's
    Excuse(r"this user \(root\?\)", holds=True),
    Excuse("^runs as root$", holds=os.geteuid() != 0),
    Excuse("chromium|apt knows no Debian archive", holds=not _DEBIAN),
    Excuse("temporary files are in memory", holds=True),
    Excuse("needs Debian 12", holds=not _BOOKWORM),
)

_SKIPS = pytest.StashKey[list[str]]()


def is_excused(reason: str, excuses: Sequence[Excuse] = EXCUSES) -> bool:
    """Return whether a skip has an excuse that holds here."""
    return any(each.holds and re.search(each.reason, reason) for each in excuses)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption(
        "--no-missing",
        action="store_true",
        help="fail if a test is skipped because an installable program is missing",
    )
    parser.addoption(
        "--able",
        action="append",
        default=[],
        choices=[*ABILITIES],
        help="fail at once if tests can't use this here; may be repeated",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Start counting, where reports arrive."""
    refusals = filter(None, map(why_not, config.getoption("able")))
    if reasons := "; ".join(refusals):
        raise pytest.UsageError(reasons)
    config.stash[_SKIPS] = []
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Counting(config), "count-skips")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that needs what this machine lacks or refuses."""
    for name in ABILITIES:
        if item.get_closest_marker(name) and (reason := why_not(name)):
            pytest.skip(reason)


@dataclass(frozen=True, slots=True)
class _Counting:
    config: pytest.Config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            self._count(report.longrepr)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self._count(report.longrepr)

    def _count(self, longrepr: object) -> None:
        reason = longrepr[2] if isinstance(longrepr, tuple) else str(longrepr)
        self.config.stash[_SKIPS].append(str(reason).removeprefix("Skipped: "))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.config.getoption("no_missing") and self._missing():
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> None:
        reasons = self.config.stash[_SKIPS]
        counted = Counter(reasons)
        if not counted:
            return
        terminalreporter.section(f"{counted.total()} skipped")
        for reason, number in counted.most_common():
            mark = "" if is_excused(reason) else "MISSING "
            terminalreporter.line(f"{number:4} {mark}{reason}")
        if self.config.getoption("no_missing") and self._missing():
            terminalreporter.line(
                "failed: what is MISSING can be installed; see script/setup"
            )

    def _missing(self) -> list[str]:
        return [each for each in self.config.stash[_SKIPS] if not is_excused(each)]
