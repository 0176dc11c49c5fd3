"""Becomes a program that the kernel ends with the process that started it.

Run as a script of its own by :mod:`child`, not imported: prctl(2) isn't safe between
fork and exec in a copy of a process that has threads. It imports nothing of this
package. Arguments: the starter's process id, a signal's number, the command.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_NOT_RUN = 126
"""What shells return for a program that they can't run."""


def main() -> None:
    """Ask for the signal, see that it isn't too late, become the command."""
    starter, number, *command = sys.argv[1:]
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
    if os.getppid() != int(starter):
        return  # it ended before that: there won't be a signal
    # Python ignores these two, and what is ignored stays so over exec.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)  # noqa: S606 # there is to be no shell
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        sys.exit(_NOT_RUN)


if __name__ == "__main__":
    main()
