"""No shell anywhere in the package, told from its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import snapcraft_compression_advisor

PACKAGE = Path(snapcraft_compression_advisor.__file__).parent
STARTERS = frozenset({"run", "Popen", "call", "check_call", "check_output"})
SHELLS = frozenset(
    {
        *("os.system", "os.popen", "subprocess.getoutput"),
        *("subprocess.getstatusoutput", "asyncio.create_subprocess_shell"),
        *("pty.spawn", "commands.getoutput"),
    }
)
BUILT = (ast.JoinedStr, ast.Constant, ast.BinOp)
"""Text put together; a command is a tuple, a list, or a call that returns one."""


def shell_uses(source: str) -> Iterator[str]:
    """Yield what in a module would have a shell read something."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module in {"os", "subprocess"}:
            yield f"line {node.lineno}: names of {node.module} without its name"
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        if called in SHELLS:
            yield f"line {node.lineno}: {called}"
        for keyword in node.keywords:
            if keyword.arg == "shell" and called.startswith("subprocess."):
                yield f"line {node.lineno}: shell="
        if (
            called.startswith("subprocess.")
            and called.rpartition(".")[2] in STARTERS
            and (not node.args or isinstance(node.args[0], BUILT))
        ):
            yield f"line {node.lineno}: a command that is no list"


def test_no_module_uses_a_shell() -> None:
    for path in PACKAGE.rglob("*.py"):
        assert list(shell_uses(path.read_text())) == [], path


@pytest.mark.parametrize(
    "source",
    [
        "import os; os.system('x')",
        "import os; os.popen('x')",
        "import subprocess; subprocess.run(['x'], shell=True)",
        "import subprocess; subprocess.Popen(f'x {y}')",
        "import subprocess; subprocess.run('x ' + y)",
        "from subprocess import run",
        "from os import system",
    ],
)
def test_shell_would_be_noticed(source: str) -> None:
    assert len(list(shell_uses(source))) == 1


def calls(source: str, function: str) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == function
    ]


def test_mount_options_are_constants() -> None:
    """They are flags, and bounds of our own."""
    mount = (PACKAGE / "capture/mount.py").read_text()
    (call,) = calls(mount, "_LIBC.mount")
    assert ast.unparse(call.args[3]) == "ctypes.c_ulong(flags)"
    assert ast.unparse(call.args[4]) == "options.encode()"
    flags = {ast.unparse(each.args[3]) for each in calls(mount, "_mount")}
    assert flags == {
        "_READ_ONLY | _NO_SETUID_NO_DEVICES", "_NO_SETUID_NO_DEVICES",
    }  # fmt: skip
    given = [each.args[4] for each in calls(mount, "_mount") if len(each.args) > 4]
    assert [ast.unparse(each) for each in given] == ["options"]  # of virtual_mount
    sources = [path.read_text() for path in PACKAGE.rglob("*.py")]
    mounts = [each for source in sources for each in calls(source, "virtual_mount")]
    options = [ast.unparse(each.args[2]) for each in mounts if len(each.args) > 2]
    assert options == ["bounds"]
    home = (PACKAGE / "capture/snap_environment.py").read_text()
    assert 'bounds = f"size={HOME_BYTES},nr_inodes={HOME_FILES},mode=700"' in home
