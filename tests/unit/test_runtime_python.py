"""Programs in Python: the modules that they import."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elf_files import make_elf
from guesses import found
from payloads import make_payload
from snapcraft_compression_advisor.launch.guess.candidates import find_candidates
from snapcraft_compression_advisor.launch.guess.runtimes.python.finder import (
    ModuleFinder,
)
from snapcraft_compression_advisor.launch.guess.runtimes.python.importer import (
    Importer,
    imported_names,
)

LIB = "usr/lib/python3.12"
LIBRARIES = "usr/lib/x86_64-linux-gnu"
TYPELIB = b"GOBJ\nMETADATA\r\n\x1a"


def followed(files: dict[str, bytes]) -> Importer:
    payload = make_payload(files)
    finder = ModuleFinder(payload.inventory, folders=("bin",))
    importer = Importer(payload, finder)
    importer.start_source(files["bin/x"], file="bin/x")
    importer.run()
    return importer


def imported(files: dict[str, bytes]) -> list[str]:
    return list(followed(files).files)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        (b"import os, sys as s\n", ["os", "sys"]),
        (b"if x:\n    m = importlib.import_module('a.b')\n", ["a.b"]),
        (b"from a.b import c, d as e\n", ["a.b", "a.b.c", "a.b.d"]),
        (b"from a import (b,\n  c)\n", ["a", "a.b", "a.c"]),
        (b"from . import a\n", ["p.q", "p.q.a"]),
        (b"from ..r import a\n", ["p.r", "p.r.a"]),
        (b"from a import *\n", ["a"]),
        (b"try:\n  import a\nexcept ImportError:\n  import b\n", ["a", "b"]),
        (b"import a  # import b\n", ["a"]),
        (b"import a\n)(\nimport b\n", ["a", "b"]),
        (b"if TYPE_CHECKING:\n    import a\nelse:\n    import b\n", ["b"]),
        (b"def f():\n    import a\n    if x:\n        import b\nimport c\n", ["c"]),
    ],
)
def test_imports_are_named(source: bytes, names: list[str]) -> None:
    assert [name for name, _ in imported_names(source, package="p.q")] == names


def test_imports_depend_in_conditions_and_functions() -> None:
    source = b"""if x:
    import a
else:
    import b
import c
try:
    if y:
        import d
    import e
except ImportError:
    def f():
        if z:
            import g
import h
"""
    found = dict(imported_names(source, package="", in_functions=True))
    assert [name for name, depends in found.items() if depends] == ["a", "d", "g"]
    assert [name for name, depends in found.items() if not depends] == [*"bceh"]


def test_module_depends_if_only_a_called_function_or_a_condition_imports_it() -> None:
    files = {
        "bin/x": b"from own import main\nif len(own.y): import in_program\nmain()\n",
        f"{LIB}/dist-packages/own.py": b"""import first
def main():
    import from_main
    from own import always as named
    named()
    if y: helper()
def always():
    import from_always
def helper():
    import later, first
""",
        f"{LIB}/dist-packages/later.py": b"import behind\n",
        f"{LIB}/dist-packages/first.py": b"if x:\n    import perhaps\n",
    }
    for name in ("in_program", "from_main", "from_always", "behind", "perhaps"):
        files[f"{LIB}/dist-packages/{name}.py"] = b"x"
    importer = followed(files)
    unsure = (path for path, file in importer.files.items() if not file.expected)
    depending = {path.rpartition("/")[2] for path in unsure}
    assert depending == {"later.py", "behind.py", "perhaps.py"}
    assert len(importer.files) == len(files) - 1


def test_python_itself_has_what_its_modules_try_to_import_first() -> None:
    source = b"try:\n  import a\nexcept ImportError:\n  import b\n"
    files = {
        "bin/x": b"import tried, other\n",
        f"{LIB}/tried.py": source,
        f"{LIB}/b.py": b"x",
    }
    assert imported(files) == [f"{LIB}/tried.py"]
    files[f"{LIB}/dist-packages/other.py"] = source
    assert f"{LIB}/b.py" in imported(files)


@given(st.binary())
def test_text_that_is_no_python_is_no_error(source: bytes) -> None:
    list(imported_names(source, package="p"))


def test_what_swig_imports_from_its_package_depends_on_nothing() -> None:
    source = b"""\
if __package__ or "." in __name__:
    from . import _ext
else:
    import _ext
if other:
    import rest
"""
    found = dict(imported_names(source, package="p"))
    assert found == {"p": False, "p._ext": False, "_ext": False, "rest": True}


def test_compiled_module_is_read_in_place_of_its_source() -> None:
    files = {
        "bin/x": b"import a\n",
        f"{LIB}/a.py": b"",
        f"{LIB}/__pycache__/a.cpython-312.pyc": b"x",
    }
    assert imported(files) == [f"{LIB}/__pycache__/a.cpython-312.pyc"]


def test_of_a_module_for_several_versions_the_one_of_the_directory_is_read() -> None:
    own = f"{LIB}/site-packages/a.cpython-312-x86_64-linux-gnu.so"
    files = {
        "bin/x": b"import a, b\n",
        f"{LIB}/site-packages/a.cpython-310-x86_64-linux-gnu.so": b"",
        own: b"",
        f"{LIB}/site-packages/a.cpython-36m-x86_64-linux-gnu.so": b"",
        f"{LIB}/b.py": b"",
        f"{LIB}/__pycache__/b.cpython-311.pyc": b"x",
        f"{LIB}/__pycache__/b.cpython-312.pyc": b"x",
    }
    assert imported(files) == [own, f"{LIB}/__pycache__/b.cpython-312.pyc"]


def test_imports_of_imported_modules_are_followed_with_their_packages() -> None:
    files = {
        "bin/x": b"import a.b\n",
        f"{LIB}/a/__init__.py": b"",
        f"{LIB}/a/b.py": b"from . import c\n",
        f"{LIB}/a/c.cpython-312-x86_64-linux-gnu.so": b"",
    }
    assert set(imported(files)) == set(files) - {"bin/x"}


@pytest.mark.parametrize(
    "lazy", [b"def __getattr__(n): 1", b"__getattr__, _ = lazy.attach(x)"]
)
def test_package_loads_on_use_what_it_tells_type_checkers(lazy: bytes) -> None:
    files = {
        "bin/x": b"from a import One\n",
        f"{LIB}/a/__init__.py": b"if TYPE_CHECKING:\n from .b import One\n"
        b" from .c import Two\n" + lazy,
        f"{LIB}/a/b.py": b"",
        f"{LIB}/a/c.py": b"",
    }
    assert imported(files) == [f"{LIB}/a/__init__.py", f"{LIB}/a/b.py"]


def test_package_loads_on_use_what_the_stub_beside_it_names() -> None:
    files = {
        "bin/x": b"from a import b\nb.one()\n",
        f"{LIB}/a/__init__.py": b"",
        f"{LIB}/a/b/__init__.py": b"__getattr__, _, _ = lazy.attach_stub(x, y)\n",
        f"{LIB}/a/b/__init__.pyi": b"from .c import one\nfrom .d import two\n",
        f"{LIB}/a/b/c.py": b"",
        f"{LIB}/a/b/d.py": b"",
    }
    unread = {"bin/x", f"{LIB}/a/b/__init__.pyi", f"{LIB}/a/b/d.py"}
    assert set(imported(files)) == set(files) - unread


def test_names_that_are_no_modules_do_not_end_the_search() -> None:
    names = ", ".join(f"n{number}" for number in range(6000)).encode()
    files = {"bin/x": b"from a import " + names + b"\nimport b\n"}
    files |= {f"bin/{name}.py": b"import c" for name in "abc"}
    assert set(imported(files)) == set(files) - {"bin/x"}


def test_modules_beside_the_script_come_before_those_of_the_library() -> None:
    files = {"bin/x": b"import a\n", "bin/a.py": b"", f"{LIB}/a.py": b""}
    assert imported(files) == ["bin/a.py"]


def test_modules_that_import_each_other_end() -> None:
    files = {"bin/x": b"import a", "bin/a.py": b"import b", "bin/b.py": b"import a"}
    assert imported(files) == ["bin/a.py", "bin/b.py"]


def test_interpreter_reads_its_own_modules_first() -> None:
    files = {"bin/x": b"", f"{LIB}/encodings/__init__.py": b"", f"{LIB}/site.py": b""}
    assert imported(files) == [f"{LIB}/encodings/__init__.py", f"{LIB}/site.py"]


def test_python_program_reads_the_modules_that_it_imports() -> None:
    files = {
        "usr/bin/hello": b"#!/usr/bin/python3\ndef main():\n    import json\n",
        "usr/bin/python3": make_elf(),
        f"{LIB}/json/__init__.py": b"import _json\n",
        f"{LIB}/lib-dynload/_json.so": make_elf(),
        f"{LIB}/other.py": b"",
    }
    candidates = found(files, "usr/bin/hello")
    assert candidates[f"{LIB}/json/__init__.py"].way == "python-module"
    assert candidates[f"{LIB}/lib-dynload/_json.so"].way == "python-extension"
    assert f"{LIB}/other.py" not in candidates


def test_python_program_reads_the_typelibs_that_it_asks_for_and_their_libraries() -> (
    None
):
    typelibs = f"{LIBRARIES}/girepository-1.0"
    files = {
        "usr/bin/hello": b"#!/usr/bin/python3\nimport gi\n"
        b"gi.require_version('Gtk', '3.0')\nfrom gi.repository import Gtk\n",
        "usr/bin/python3": make_elf(),
        f"{typelibs}/Gtk-3.0.typelib": TYPELIB
        + b"\0Gio-2.0|Gdk-3.0\0libgtk-3.so.0,libgdk-3.so.0\0",
        f"{typelibs}/Gtk-4.0.typelib": TYPELIB,
        f"{typelibs}/Gdk-3.0.typelib": b"not a typelib",
        f"{LIBRARIES}/libgtk-3.so.0": make_elf(needed=["liba.so"]),
        f"{LIBRARIES}/libgdk-3.so.0": make_elf(),
        f"{LIBRARIES}/liba.so": make_elf(),
        "usr/share/icons/Adwaita/icon-theme.cache": b"x",
    }
    assert set(found(files, "usr/bin/hello")) == set(files) - {
        f"{typelibs}/Gtk-4.0.typelib"
    }


@pytest.mark.parametrize("first_line", ["#!/usr/bin/python3", "#!/usr/bin/env python3"])
def test_modules_are_followed_where_the_base_supplies_python(first_line: str) -> None:
    module = "lib/python3.12/site-packages/greeting/__init__.py"
    payload = make_payload(
        {"bin/hello": f"{first_line}\nimport greeting\n".encode(), module: b"A = 1\n"},
        base="core24",
        apps={"hello": {"command": "bin/hello"}},
    )
    candidates = find_candidates(payload, "hello")
    assert module in {candidate.entry.path for candidate in candidates.files}
    assert candidates.kind == "Python"
