"""Ends an isolated launch if the advisor is gone.

Run as a script of its own by :mod:`prepared_process`, not imported. The launch sees
neither this process nor its descriptors. bubblewrap's ``--die-with-parent`` would end a
launch with its first process, although what that started goes on.

Arguments: the descriptor on which bubblewrap names the first process of the launch's
namespace, before that starts anything, and one that ends with the advisor. The kernel
kills all of a namespace with its first process.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import sys

_FIRST_PROCESS = re.compile(rb'"child-pid": (\d+)\D')
_READ_BYTES = 4096


def main() -> None:
    """Wait for the end of the advisor or of the launch; kill the launch in any case."""
    information, advisor = map(int, sys.argv[1:])
    said = b""
    while (found := _FIRST_PROCESS.search(said)) is None:
        read = os.read(information, _READ_BYTES)
        if not read:
            return  # bubblewrap started nothing
        said += read
    with contextlib.suppress(ProcessLookupError):
        process = os.pidfd_open(int(found[1]))
        poll = select.poll()
        poll.register(process, select.POLLIN)
        poll.register(advisor, select.POLLIN)
        poll.poll()
        signal.pidfd_send_signal(process, signal.SIGKILL)


if __name__ == "__main__":
    main()
