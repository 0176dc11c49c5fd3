"""What all tests need."""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

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
        "launch_corpus_chroot",
        "lint_components",
        "measure",
        "measure_command",
        "mount",
        "never_damaged",
        "nothing_left",
        "real_mounts",
        "record",
        "record_command",
        "residency",
        "resquash_command",
        "scale",
    )
)
"""Files of tests that empty the page cache, mount, or look for what is left behind in
all of the machine: where tests run side by side, these run one after the other."""


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Keep the tests of a file, and those of the machine, together."""
    if not config.pluginmanager.hasplugin("xdist"):
        return
    for item in items:
        name = item.path.stem
        group = "the machine" if name in THE_MACHINE else name
        item.add_marker(pytest.mark.xdist_group(group))
