"""How all tests run: the same each time, and beside others on one machine."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling

from snapcraft_compression_advisor.core.files import OFF, VARIABLE

if TYPE_CHECKING:
    from xdist.remote import Producer

# A busy machine is slow, not wrong. What fails here fails everywhere, and again.
settings.register_profile(
    "same",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
# To look for what nobody has met yet: HYPOTHESIS_PROFILE=explore pytest tests/unit
settings.register_profile("explore", settings.get_profile("same"), derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

# No test uses results of another, and none leaves any in the user's cache directory.
os.environ[VARIABLE] = OFF

# A shell that starts the tests in the background has them ignore what a terminal's keys
# send, and nohup what its end sends; so would the programs that the tests start.
for number, usual in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGQUIT, signal.SIG_DFL),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)

THE_MACHINE = frozenset(
    f"test_{name}"
    for name in (
        "calibrate_command",
        "exact_trial",
        "failing_disk",
        "image",
        "isolated_failures",
        "measure_command",
        "measure_rounds",
        "never_damaged",
        "real_application",
        "real_mounts",
        "record",
        "record_command",
        "record_from_directory",
        "record_installed",
        "record_option",
        "resquash_command",
        "scale",
        "session_bus",
        "trim_prove",
        "virtual_display",
    )
)
"""Files of tests that empty the page cache, mount, or look for what is left behind in
all of the machine: where tests run side by side, one process runs all of these."""


class _OneForTheMachine(LoadFileScheduling):  # type: ignore[misc] # has no types
    def _split_scope(self, nodeid: str) -> str:
        path = super()._split_scope(nodeid)
        return "the machine" if Path(path).stem in THE_MACHINE else path


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(
    config: pytest.Config, log: Producer
) -> LoadFileScheduling:
    """Return what shares out tests by files, those that need the machine as one."""
    return _OneForTheMachine(config, log)


@pytest.fixture
def temporary_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the empty directory that temporary files go to, of programs as well."""
    directory = tmp_path / "temporary"
    directory.mkdir()
    monkeypatch.setenv("TMPDIR", str(directory))
    monkeypatch.setattr(tempfile, "tempdir", str(directory))  # TMPDIR is read once
    return directory


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let what takes long go first, so that no core waits for it at the end."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(
        key=lambda item: (item.path.stem not in THE_MACHINE, item.path not in slow)
    )
