"""What all tests need."""

from __future__ import annotations

import os
import signal

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
