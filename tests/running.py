"""How all tests run: the same each time, and beside others on one machine."""

from __future__ import annotations

import fcntl
import os
import signal
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from snapcraft_compression_advisor.core.result_store import OFF, VARIABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

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
        "launch_corpus_chroot",
        "lint_components",
        "measure_command",
        "measure_rounds",
        "never_damaged",
        "nothing_left",
        "page_cache",
        "prefetch_command",
        "real_application",
        "real_mounts",
        "record",
        "record_command",
        "record_from_directory",
        "record_option",
        "residency",
        "resquash_command",
        "scale",
        "session_bus",
        "trim_prove",
        "virtual_display",
    )
)
"""Files of tests that empty the page cache, mount, or look for what is left behind in
all of the machine: where tests run side by side, these run one after the other."""


@pytest.fixture(scope="module", autouse=True)
def _the_machine(request: pytest.FixtureRequest) -> Iterator[None]:
    """Hold the machine for a file that needs it, where tests run side by side."""
    if request.path.stem not in THE_MACHINE or "PYTEST_XDIST_WORKER" not in os.environ:
        yield
        return
    path = Path(tempfile.gettempdir(), f"advisor-tests-{os.getuid()}.lock")
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture
def temporary_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the empty directory that temporary files go to, of programs as well."""
    directory = tmp_path / "temporary"
    directory.mkdir()
    monkeypatch.setenv("TMPDIR", str(directory))
    monkeypatch.setattr(tempfile, "tempdir", str(directory))  # TMPDIR is read once
    return directory


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let files with slow tests go first, so that no core waits for them at the end."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
