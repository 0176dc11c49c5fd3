"""Run a command and print the time, processor time and memory that it took, as JSON.

    python -I -S peak_child.py COMMAND [ARGUMENT...]

A program's largest resident set, as the kernel counts it, has that of the process which
started it (``exec_mmap`` in Linux's ``fs/exec.c``). So a process that is small starts
the command: this one has no packages and imports little.
"""

import json
import os
import sys
import time


def main() -> int:
    """Run the command without input and output; its errors are printed.

    :returns: the command's exit status.
    """
    command = sys.argv[1:]
    nothing = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, nothing, stream) for stream in (0, 1)]
    start = time.perf_counter()
    pid = os.posix_spawnp(command[0], command, os.environ, file_actions=actions)
    _, status, usage = os.wait4(pid, 0)
    took = {
        "wall_s": time.perf_counter() - start,
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "peak_bytes": usage.ru_maxrss * 1024,
    }
    print(json.dumps(took))
    return os.waitstatus_to_exitcode(status) and 1


if __name__ == "__main__":
    sys.exit(main())
