"""How programs in Python are started, and what their functions import."""

from __future__ import annotations

import pytest

from elf_files import make_elf
from guesses import found, guessed
from python_trees import HEAVY, PACKAGES, PYTHON, SHEBANG, names, search
from snapcraft_compression_advisor.launch.guess.runtimes.python import importer
from snapcraft_compression_advisor.launch.launch_set import BlindSpot


@pytest.mark.parametrize(
    "script",
    [
        b"from hello.main import main\nimport sys\nsys.exit(main())\n",
        b"import hello.main\nhello.main.main()\n",
        (
            b"from hello import main as program\nif __name__ == '__main__':\n"
            b"    program.main()\n"
        ),
        b"__import__('hello.main').main.main()\n",
        b"from importlib import import_module\nimport_module('hello.main').main()\n",
    ],
)
def test_function_that_a_console_script_calls_imports(script: bytes) -> None:
    module = b"def main():\n    import heavy\n"
    files = {
        "usr/bin/hello": SHEBANG + script,
        f"{PACKAGES}/hello/__init__.py": b"",
        f"{PACKAGES}/hello/main.py": module,
    }
    assert HEAVY in names(files)


def heavy_is_imported(module: bytes) -> bool:
    """Return whether a program whose main function this module holds imports it."""
    files = {
        "usr/bin/hello": SHEBANG + b"from hello.main import main\nmain()\n",
        f"{PACKAGES}/hello/__init__.py": b"",
        f"{PACKAGES}/hello/main.py": module,
        f"{PACKAGES}/hello/other.py": b"def go():\n  import heavy\n",
    }
    return HEAVY in names(files)


GO = b"def go():\n  import heavy\n"


@pytest.mark.parametrize(
    "module",
    [
        b"def main():\n  go()\n" + GO,
        b"def main():\n  later(go)\n" + GO,
        b"def main():\n  x.connect('clicked', go)\n" + GO,
        b"async def go():\n  import heavy\ndef main():\n  asyncio.run(go())\n",
        b"def main():\n  f = lambda: go()\n  f()\n" + GO,
        b"from .other import go as run\ndef main():\n  run()\n",
        b"class A:\n  def __init__(self):\n    import heavy\ndef main():\n  A()\n",
        (
            b"class A:\n  def __init__(self):\n    self.go()\n  def go(self):\n"
            b"    import heavy\nclass B(A):\n  pass\ndef main():\n  B()\n"
        ),
        b"class A:\n  def do_activate(self):\n    import heavy\ndef main():\n  A()\n",
    ],
)
def test_function_counts_where_something_calls_its_name(module: bytes) -> None:
    assert heavy_is_imported(module)


@pytest.mark.parametrize(
    "module",
    [
        b"def main():\n  pass\n" + GO,
        b"class A:\n  def __init__(self):\n    import heavy\ndef main():\n  pass\n",
        b"def main(): pass\nif __name__ == '__main__':\n  import heavy\n",
        b"def main(): pass\nif typing.TYPE_CHECKING:\n  import heavy\n",
    ],
)
def test_function_that_nothing_calls_at_the_start_does_not_count(module: bytes) -> None:
    assert not heavy_is_imported(module)


def expected(module: bytes, more: dict[str, bytes] | None = None) -> set[str]:
    """Return what is expected of a program whose main function this module holds."""
    files = {
        "usr/bin/hello": SHEBANG + b"from hello.main import main\nmain()\n",
        f"{PACKAGES}/hello/__init__.py": b"from . import main\n",
        f"{PACKAGES}/hello/main.py": module,
        HEAVY: b"x = 1",
        **(more or {}),
    }
    return {candidate.entry.path for candidate in search(files).files}


def test_function_that_does_nothing_but_call_others_runs_them() -> None:
    module = b"def main():\n  'Doc.'\n  return go()\n" + GO
    assert HEAVY in expected(module)
    assert HEAVY not in expected(module.replace(b"return", b"if x:"))


def test_package_may_load_a_module_when_a_program_uses_it() -> None:
    lazy = f"{PACKAGES}/lazy"
    files = {f"{lazy}/__init__.py": b"def __getattr__(n): 1\n", f"{lazy}/sub.py": b""}
    module = b"def main():\n  import lazy as l, os\n  l.sub.f(os.x)\n"
    assert f"{lazy}/sub.py" in expected(module, files)


def test_started_function_of_a_large_application_is_followed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = b"def main():\n  return go()\n" + GO
    large = {
        f"{PACKAGES}/hello/__init__.py": b"import sys\n" * 9 + b"from . import main"
    }
    monkeypatch.setattr(importer, "PARSED_MAX_BYTES", 100)
    assert HEAVY in expected(module, large)


def test_functions_of_libraries_do_not_count() -> None:
    files = {
        "usr/bin/hello": SHEBANG + b"import library\nlibrary.parse()\n",
        f"{PACKAGES}/library.py": b"def parse():\n    import heavy\n",
    }
    assert HEAVY not in names(files)


@pytest.mark.parametrize(
    "call",
    [
        b"sys.exit(load_entry_point('Hello-App==1.0', 'gui_scripts', 'hello')())",
        b"importlib_load_entry_point(\n 'hello_app==1.0', 'gui_scripts', \"hello\")()",
    ],
)
@pytest.mark.parametrize("info", ["Hello_App-1.0.egg-info", "hello_app-1.0.dist-info"])
def test_entry_point_is_looked_up_in_the_package_s_metadata(
    call: bytes, info: str
) -> None:
    metadata = f"{PACKAGES}/{info}/entry_points.txt"
    files = {
        "usr/bin/hello": SHEBANG + b"import sys\n" + call + b"\n",
        metadata: b"[console_scripts]\nhello = no:main\n\n"
        b"[gui_scripts]\nhello = hi.app:start [extra]\n",
        f"{PACKAGES}/hi/__init__.py": b"",
        f"{PACKAGES}/hi/app.py": b"def start():\n  import heavy\n",
        f"{PACKAGES}/no.py": b"x",
    }
    assert names(files) == {*PYTHON, *files, HEAVY} - {f"{PACKAGES}/no.py"}


def test_plugins_of_an_entry_point_group_are_a_blind_spot() -> None:
    files = {
        "usr/bin/hello": SHEBANG + b"from importlib.metadata import entry_points\n"
        b"for each in entry_points(group='hello.plugins'):\n  each.load()\n",
    }
    spot = BlindSpot(reason="computed-import", where="usr/bin/hello")
    assert search(files).blind_spots == (spot,)


@pytest.mark.parametrize(
    "command",
    [
        "usr/bin/python3 -m hello",
        "usr/bin/python3 -s -u -m hello --option",
        "usr/bin/python3 -c 'import hello.__main__'",
        "usr/bin/python3 -Ic 'from hello import __main__'",
        f"usr/bin/python3 $SNAP/{PACKAGES}/hello",
        f"usr/bin/python3 $SNAP/{PACKAGES}/hello/__main__.py",
        "usr/bin/hello.sh",
    ],
)
def test_module_directory_and_code_are_started(command: str) -> None:
    files = {
        f"{PACKAGES}/hello/__init__.py": b"",
        f"{PACKAGES}/hello/__main__.py": b"def main():\n  import heavy\nmain()\n",
        "usr/bin/hello.sh": b"#!/bin/sh\nif true; then\n  python3 -m hello\nfi\n",
    }
    assert HEAVY in names(files, command)


MODULES = {
    f"{PACKAGES}/package/__init__.py": b"",
    f"{PACKAGES}/package/module.py": b"",
    f"{PACKAGES}/namespace/__main__.py": b"",
}


@pytest.mark.parametrize("module", ["nowhere", "package"])  # that has no __main__
def test_module_that_is_no_program_of_the_snap_is_a_blind_spot(module: str) -> None:
    spot = BlindSpot(reason="computed-command", where=f"python3 -m {module}")
    assert search(MODULES, f"usr/bin/python3 -m {module}").blind_spots == (spot,)


@pytest.mark.parametrize("module", ["package.module", "namespace", "http.server"])
def test_module_of_the_snap_or_of_python_is_none(module: str) -> None:
    assert search(MODULES, f"usr/bin/python3 -m {module}").blind_spots == ()


@pytest.mark.parametrize(
    ("wrapper", "script"),
    [
        (b"exec /usr/bin/python3 /usr/share/hello/start", b"import own.app"),
        (b'cd /usr/share/hello\nexec python3 start "$@"', b"import own.app"),
        (b'cd "$SNAP/usr/share/hello" && python3 ./start', b"import own.app"),
        (b"export PYTHONPATH=$SNAP/usr/share/hello\npython3 -m own.app", b""),
        (b"PYTHONPATH=/usr/share/hello:$PYTHONPATH exec python3 -m own.app", b""),
    ],
)
def test_wrapper_leads_to_the_modules_of_an_application(
    wrapper: bytes, script: bytes
) -> None:
    files = {
        "usr/bin/hello": b"#!/bin/sh\n" + wrapper + b"\n",
        "usr/share/hello/start": script,
        "usr/share/hello/own/__init__.py": b"",
        "usr/share/hello/own/app.py": b"import heavy",
    }
    assert HEAVY in names(files)


@pytest.mark.parametrize(
    "change",
    [
        b"sys.path.insert(0, '/usr/share/hello')",
        b"sys.path.append(os.path.join(os.path.dirname(__file__), '../share/hello'))",
        (
            b"here = pathlib.Path(__file__).resolve().parent\n"
            b"sys.path.insert(1, str(here.parent / 'share' / 'hello'))"
        ),
        b"DATA = '/usr/share/'\nsys.path[:0] = [DATA + 'hello']",
        b"PREFIX = '/usr'\nsys.path = [f'{PREFIX}/share/hello'] + sys.path",
        b"sys.path.insert(0, os.path.join(os.environ['SNAP'], 'usr/share/hello'))",
        b"site.addsitedir(os.getenv('HELLO', '/usr/share/hello'))",
        (
            b"sys.path.insert(1, os.path.join(os.environ.get('DESTDIR') or '/',"
            b" '.' + '/usr/share/hello'))"
        ),
        (
            b"root = Path(os.path.abspath(sys.argv[0])).parents[1]\n"
            b"sys.path.append(root.joinpath('share', 'hello').as_posix())"
        ),
    ],
)
def test_script_changes_where_modules_are_searched(change: bytes) -> None:
    files = {
        "usr/bin/hello": SHEBANG + b"import os, site, sys\n" + change + b"\nimport own",
        "usr/share/hello/own.py": b"def later(): import heavy\nlater()",
    }
    assert HEAVY in names(files)


def test_link_to_a_script_leads_to_its_directory() -> None:
    files = {
        **PYTHON,
        "usr/share/hello/hello": SHEBANG + b"import own\n",
        "usr/share/hello/own.py": b"x",
    }
    links = {"usr/bin/hello": "../share/hello/hello"}
    assert "usr/share/hello/own.py" in found(files, "usr/bin/hello", links=links)


@pytest.mark.parametrize(
    ("place", "command"),
    [("usr/bin/hello", "usr/bin/hello"), ("a.pyz", "usr/bin/python3 $SNAP/a.pyz")],
)
def test_zipped_application_is_a_blind_spot(place: str, command: str) -> None:
    content = b"#!/usr/bin/env python3\nPK\3\4\n\0\0"
    candidates = guessed({**PYTHON, place: content}, command)
    assert candidates.blind_spots == (BlindSpot(reason="embedded-code", where=place),)
    assert candidates.blindness == "program"


@pytest.mark.parametrize(
    "source",
    [
        b"__import__(name)",
        b"import_module(name, 'a')",
        b"import_module('%s' % x)",
        b"import_module(f'hello.plugins.{name}')",
    ],
)
def test_import_of_a_name_that_nobody_knows_is_a_blind_spot(source: bytes) -> None:
    files = {
        "usr/bin/hello": SHEBANG + b"import hello\n",
        f"{PACKAGES}/hello/__init__.py": source + b"\nimport library\n",
        f"{PACKAGES}/library.py": source,
    }
    spot = BlindSpot(reason="computed-import", where=f"{PACKAGES}/hello/__init__.py")
    assert search(files).blind_spots == (spot,)


def test_modules_of_a_package_that_computes_names_may_be_read() -> None:
    files = {
        "usr/bin/hello": SHEBANG + b"import hello\n",
        f"{PACKAGES}/hello/__init__.py": b"__import__(name)",
        f"{PACKAGES}/hello/deep/plugin.py": b"import heavy",
        HEAVY: b"x = 1",
        f"{PACKAGES}/other.py": b"x",
    }
    found = search(files)
    assert {entry.path for entry in found.possible} == {
        f"{PACKAGES}/hello/deep/plugin.py",
        HEAVY,
    }


def test_relative_names_start_from_the_package() -> None:
    files = {
        "usr/bin/hello": SHEBANG + b"import hello.app\n",
        f"{PACKAGES}/hello/__init__.py": b"",
        f"{PACKAGES}/hello/app.py": b"import importlib as i\n"
        b"i.import_module('.deep', __package__)\nfrom . import near\n",
        f"{PACKAGES}/hello/deep.py": b"x",
        f"{PACKAGES}/hello/near.py": b"x",
    }
    assert names(files) == {*PYTHON, *files}


def test_own_module_that_cannot_be_parsed_is_a_blind_spot_and_followed() -> None:
    module = f"{PACKAGES}/hello.py"
    files = {
        "usr/bin/hello": SHEBANG + b"import hello, library\nhello.main()\n",
        module: b"def main():\n  import heavy\nprint 'a'\n",
        f"{PACKAGES}/library.py": b"print 'a'",
    }
    assert HEAVY in names(files)
    assert search(files).blind_spots == (
        BlindSpot(reason="syntax-error", where=module),
    )


def test_more_modules_than_are_followed_are_a_blind_spot() -> None:
    files = {
        f"{PACKAGES}/m{number}.py": b"import m%d\n" % (number + 1)
        for number in range(10_000)
    }
    spots = search({"usr/bin/hello": SHEBANG + b"import m0", **files}).blind_spots
    assert [(spot.reason, spot.what) for spot in spots] == [
        ("limit-reached", "modules")
    ]


def test_package_that_loads_entry_points_is_not_the_applications_own() -> None:
    files = {
        "usr/bin/hello": SHEBANG
        + b"try:\n  from importlib.metadata import distribution\n"
        + b"except ImportError:\n  from pkg_resources import load_entry_point\n"
        + b"load_entry_point('hi==1', 'gui_scripts', 'hello')()\n",
        f"{PACKAGES}/pkg_resources/__init__.py": b"__import__(name)",
    }
    assert not search(files).blind_spots


@pytest.mark.parametrize(
    "text", ["pkill old; hello", "exec hello", "exec $(tool); hello"]
)
def test_command_that_is_given_to_a_shell_is_followed(text: str) -> None:
    files = {
        "usr/bin/sh": make_elf(),
        "usr/bin/pkill": make_elf(),
        "usr/bin/hello": SHEBANG + b"import heavy\n",
    }
    assert HEAVY in names(files, f"usr/bin/sh -c '{text}'")


def test_variable_that_a_shell_is_given_as_a_program_is_a_blind_spot() -> None:
    found = guessed({"usr/bin/sh": make_elf()}, "usr/bin/sh -c '$APP x'")
    assert [spot.reason for spot in found.blind_spots] == ["computed-command"]


STARTS = {
    "usr/bin/hello": SHEBANG + b"from hello import main\nmain()\n",
    f"{PACKAGES}/hello/__init__.py": b"def main():\n  from .run import run\n  run()\n",
    f"{PACKAGES}/hello/run.py": b"import os\ndef run():\n  os.execv(find(), [])\n",
    f"{PACKAGES}/hello/readme": b"text",
    f"{PACKAGES}/other/bin/tool": make_elf(),
}


def test_program_that_a_package_starts_has_the_name_of_the_script() -> None:
    programs = {
        f"{PACKAGES}/hello/bin/{name}": make_elf() for name in ("hello", "test")
    }
    candidates = search({**STARTS, **programs})
    ways = {file.entry.path: file.way for file in candidates.files}
    assert ways[f"{PACKAGES}/hello/bin/hello"] == "started"
    assert f"{PACKAGES}/hello/bin/test" not in ways
    assert candidates.blind_spots == ()


def test_program_of_another_name_that_a_package_starts_may_be_any() -> None:
    node = f"{PACKAGES}/hello/bin/node"
    candidates = search({**STARTS, node: make_elf()})
    named = {file.entry.path for file in candidates.files}
    assert node in named
    assert not named & {f"{PACKAGES}/other/bin/tool", f"{PACKAGES}/hello/readme"}
    where = f"{PACKAGES}/hello/run.py"
    assert candidates.blind_spots == (
        BlindSpot(reason="computed-program", where=where),
    )


def test_program_that_a_module_starts_which_may_be_imported_is_a_blind_spot_alone() -> (
    None
):
    tool, where = f"{PACKAGES}/solver/bin/tool", f"{PACKAGES}/solver/__init__.py"
    files = {
        "usr/bin/hello": SHEBANG + b"from other import x\n",
        f"{PACKAGES}/other/__init__.py": b"if fast:\n  import solver\n",
        where: b"import os\ndef run():\n  os.execv(find(), [])\n",
        tool: make_elf(),
    }
    candidates = search(files)
    assert tool not in {file.entry.path for file in candidates.files}
    assert BlindSpot(reason="computed-program", where=where) in candidates.blind_spots
    files["usr/bin/hello"] += b"import solver\n"
    assert tool in {file.entry.path for file in search(files).files}
