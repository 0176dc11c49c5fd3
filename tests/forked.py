"""Python programs run as processes that needn't import anything again.

They are forked from one that has imported it all: imports are half of the time of a
small lint. What they print goes to files, so that nothing waits for who still has them.
"""

import atexit
import importlib
import json
import os
import pkgutil
import runpy
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

_PACKAGE = "snapcraft_compression_advisor"
_MOST_BYTES = 1 << 17
_READ_AT_START = ("LANG", "LC_", "LD_", "PYTHON", "HOST_APP_ALONE", "HOST_APP_LOADED")
"""How variables begin that Python reads as it starts, or that are about imports."""
_NOT_IMPORTED = tuple(
    f"{_PACKAGE}.{name}" for name in ("__main__", "fleet", "host.", "core.bound_start")
)


def run_program(
    words: Sequence[str],
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str],
    imports: tuple[str, ...] = (_PACKAGE,),
) -> subprocess.CompletedProcess[str]:
    """Run a Python program, and return how it ended and what it printed.

    :param words: a file, or ``-m`` and a module, and its arguments.
    :param environment: all of its environment variables.
    :param imports: what it will need: modules, and packages with all that is in them;
        none to start it as programs start.
    """
    if not imports or any(
        name.startswith(_READ_AT_START) and os.environ.get(name) != value
        for name, value in environment.items()
    ):
        return subprocess.run(
            [sys.executable, *words], cwd=cwd, env=dict(environment), text=True,
            stdin=subprocess.DEVNULL, capture_output=True, check=False,
        )  # fmt: skip
    request = json.dumps([words, str(cwd or Path.cwd()), dict(environment)]).encode()
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        server = _server(imports)
        socket.send_fds(server, [request], [output.fileno(), errors.fileno()])
        status = int(server.recv(_MOST_BYTES))
        for file in (output, errors):
            file.seek(0)
        return subprocess.CompletedProcess(words, status, output.read(), errors.read())


@cache
def _server(imports: tuple[str, ...]) -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    process = subprocess.Popen(
        [sys.executable, __file__, str(theirs.fileno()), *imports],
        pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    theirs.close()

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def import_everything(name: str) -> None:
    """Import a module, and what is in a package, as late as commands import it."""
    module = importlib.import_module(name)
    for each in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{name}."):
        if not each.name.startswith(_NOT_IMPORTED):
            importlib.import_module(each.name)


def serve(requests: socket.socket) -> None:
    """Run a child for each request; return in the child, as the program's process."""
    while True:
        request, descriptors, _, _ = socket.recv_fds(requests, _MOST_BYTES, 2)
        if not request:
            sys.exit()
        if child := os.fork():
            for descriptor in descriptors:
                os.close(descriptor)
            _, status = os.waitpid(child, 0)
            requests.send(str(os.waitstatus_to_exitcode(status)).encode())
            continue
        requests.close()
        words, directory, variables = json.loads(request)
        os.chdir(directory)
        os.environ.clear()
        os.environ.update(variables)
        for number, descriptor in enumerate(descriptors, 1):
            os.dup2(descriptor, number)
            os.close(descriptor)
        sys.argv = words[1:] if words[0] == "-m" else words
        return


def main() -> None:
    """Import, wait, and become what is asked for."""
    with socket.socket(fileno=int(sys.argv[1])) as requests:
        for name in sys.argv[2:]:
            import_everything(name)
        serve(requests)
    if sys.argv[0].endswith(".py"):
        runpy.run_path(sys.argv[0], run_name="__main__")
    else:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
