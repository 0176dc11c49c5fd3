"""What all tests need."""

from __future__ import annotations

import signal

# A shell that starts the tests in the background has them ignore what a terminal's keys
# send, and nohup what its end sends; so would the programs that the tests start.
for number, usual in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGQUIT, signal.SIG_DFL),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)
