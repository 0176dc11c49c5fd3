"""Applications as vendors build them: each is named as what it is."""

import struct

import pytest

from elf_files import make_elf
from guesses import found, guessed
from payloads import make_payload
from snapcraft_compression_advisor.core.errors import UsageError
from snapcraft_compression_advisor.launch.guess.candidates import find_candidates
from snapcraft_compression_advisor.launch.guess.explain import explain
from snapcraft_compression_advisor.launch.guess.guess import static_launch_set
from snapcraft_compression_advisor.payload.elf_symbols import LEAST_CARRIED_BYTES
from snapcraft_compression_advisor.report.guess import explanation_page
from snapcraft_compression_advisor.report.text_printer import print_text

BLOCK = 128 * 1024
SITE = "lib/python3.11/site-packages"
PYTHON = {
    "usr/bin/python3": make_elf(),
    "bin/app": b"#!/usr/bin/env python3\nimport ext\n",
}
SECTION_BYTES = 64


def with_sections(content: bytes, sections: dict[bytes, bytes]) -> bytes:
    """Return an ELF file with sections that aren't loaded, behind its segments."""
    names = b"\0" + b"".join(name + b"\0" for name in (*sections, b".shstrtab"))
    rows, at = [bytes(SECTION_BYTES)], len(content)
    for name, text in {**sections, b".shstrtab": names}.items():
        start = names.index(b"\0" + name + b"\0") + 1
        rows.append(struct.pack("<2I4Q2I2Q", start, 1, 0, 0, at, len(text), 0, 0, 1, 0))
        at += len(text)
    header = bytearray(content[:SECTION_BYTES])
    struct.pack_into("<Q", header, 40, at)
    struct.pack_into("<3H", header, 58, SECTION_BYTES, len(rows), len(rows) - 1)
    body = content[SECTION_BYTES:] + b"".join(sections.values()) + names
    return bytes(header) + body + b"".join(rows)


def kind_of(
    files: dict[str, bytes], command: str = "bin/app", *, desktop: bool = False
) -> str:
    desktops = {"meta/gui/hello.desktop": b"[Desktop Entry]\n"} if desktop else {}
    return guessed({**files, **desktops}, command).kind


def expected_blocks(content: bytes) -> float:
    payload = make_payload(
        {"bin/app": content}, base="bare", apps={"hello": {"command": "bin/app"}}
    )
    (file,) = static_launch_set(payload, "hello").files
    return file.expected_blocks


@pytest.mark.parametrize("name", [b"pydata", b".bundle"])
def test_what_a_program_carries_behind_its_segments_is_read(name: bytes) -> None:
    program = with_sections(make_elf(), {name: bytes(40 * BLOCK)})
    assert expected_blocks(program) > 0.5 * 40
    assert kind_of({"bin/app": program}) == "program that carries its files"


def test_what_a_program_carries_behind_all_sections_is_read() -> None:
    program = with_sections(make_elf(), {b".comment": b"x"}) + bytes(40 * BLOCK)
    assert expected_blocks(program) > 0.5 * 40


@pytest.mark.parametrize("name", [b".symtab", b".debug_info", b".zdebug_str"])
def test_symbols_of_a_program_are_not_read(name: bytes) -> None:
    stripped = make_elf(padding_bytes=60 * BLOCK)
    program = with_sections(stripped, {name: bytes(40 * BLOCK)})
    assert expected_blocks(program) < expected_blocks(stripped) + 10
    assert kind_of({"bin/app": program}) == "plain program"


@pytest.mark.parametrize(
    ("section", "kind"),
    [
        ({b".gopclntab": b"x"}, "program in Go"),
        ({b".comment": b"GCC\0rustc version 1.90.0\0"}, "program in Rust"),
        ({b".comment": b"GCC\0"}, "plain program"),
    ],
)
def test_language_of_a_program_is_told_by_its_sections(
    section: dict[bytes, bytes], kind: str
) -> None:
    program = make_elf(padding_bytes=60 * BLOCK)
    assert kind_of({"bin/app": with_sections(program, section)}) == kind


def test_less_is_read_of_a_program_in_rust_than_of_one_in_go() -> None:
    program = make_elf(padding_bytes=300 * BLOCK)
    go = with_sections(program, {b".gopclntab": b"x"})
    rust = with_sections(program, {b".comment": b"rustc version 1"})
    assert expected_blocks(rust) < 0.6 * expected_blocks(go)


def test_code_for_gpus_is_not_read() -> None:
    plain = make_elf(padding_bytes=60 * BLOCK)
    program = with_sections(plain, {b".nv_fatbin": bytes(100 * BLOCK)})
    assert expected_blocks(program) < expected_blocks(plain) + 10


def test_less_is_read_of_a_module_with_go_in_it_than_of_a_program_in_go() -> None:
    content = with_sections(make_elf(padding_bytes=300 * BLOCK), {b".gopclntab": b"x"})
    module = f"{SITE}/ext.abi3.so"
    files = static_launch_set(
        make_payload(
            {**PYTHON, module: content},
            base="bare",
            apps={"hello": {"command": "bin/app"}},
        ),
        "hello",
    ).files
    (expected,) = (each.expected_blocks for each in files if each.path == module)
    assert expected < 0.8 * expected_blocks(content)


@pytest.mark.parametrize("behind", ["ext__mypyc", "ext.parts__mypyc"])
def test_what_is_behind_a_small_front_of_mypyc_is_imported(behind: str) -> None:
    suffix = ".cpython-311-x86_64-linux-gnu.so"
    front = make_elf() + b"\0" + behind.encode() + b"\0"
    at = f"{SITE}/{behind.replace('.', '/')}{suffix}"
    own = {f"{SITE}/ext/__init__{suffix}": front, at: make_elf()}
    assert at in {
        each.entry.path for each in guessed({**PYTHON, **own}, "bin/app").files
    }


@pytest.mark.parametrize(
    ("symbol", "kind"),
    [
        ("_ZN4node5StartEiPPc", "Node program in one file"),
        ("BUN_1.2", "program in Bun"),
    ],
)
def test_node_and_bun_are_known_under_another_name(symbol: str, kind: str) -> None:
    program = make_elf(padding_bytes=LEAST_CARRIED_BYTES, symbols=[symbol])
    assert kind_of({"bin/app": program}) == kind


@pytest.mark.parametrize(
    ("launcher", "reached"),
    [
        (b"os.execv(os.path.join(here, '..', 'opt/app'), sys.argv)", True),
        (b"program = here + '/../opt/app'\nos.execvp(program, sys.argv)", True),
        (b"os.execv(choose(), sys.argv)", False),
        (b"print('opt/app')", None),
    ],
)
def test_what_a_python_launcher_replaces_itself_by_is_started(
    launcher: bytes, *, reached: bool | None
) -> None:
    script = b"#!/usr/bin/env python3\nimport os, sys\nhere = __file__\n" + launcher
    files = {**PYTHON, "bin/app": script, "opt/app": make_elf()}
    candidates = guessed(files, "bin/app")
    paths = {each.entry.path for each in candidates.files}
    assert ("opt/app" in paths) == bool(reached)
    reasons = {spot.reason for spot in candidates.blind_spots}
    assert ("computed-command" in reasons) == (reached is False)


def test_flutter_reads_its_code_and_its_assets() -> None:
    files = {
        "opt/x/app": make_elf(
            needed=["libflutter_linux_gtk.so"], runpath="$ORIGIN/lib"
        ),
        "opt/x/lib/libflutter_linux_gtk.so": make_elf(needed=["libgtk-3.so.0"]),
        "opt/x/lib/libapp.so": make_elf(),
        "opt/x/data/icudtl.dat": b"x",
        "opt/x/data/flutter_assets/AssetManifest.bin": b"x",
        "opt/x/data/flutter_assets/fonts/Icons.otf": b"x",
        "usr/lib/libgtk-3.so.0": make_elf(),
    }
    assert set(found(files, "opt/x/app")) == set(files)
    assert kind_of(files, "opt/x/app", desktop=True) == "Flutter"


def test_theme_of_another_desktop_does_not_make_qt_an_application_of_gtk() -> None:
    plugins = f"{SITE}/PyQt6/Qt6/plugins"
    files = {
        **PYTHON,
        "bin/app": b"#!/usr/bin/env python3\nimport PyQt6.QtWidgets\n",
        f"{SITE}/PyQt6/__init__.py": b"",
        f"{SITE}/PyQt6/QtWidgets.abi3.so": make_elf(needed=["libQt6Gui.so.6"]),
        "usr/lib/libQt6Gui.so.6": make_elf(),
        "usr/lib/libgtk-3.so.0": make_elf(),
        f"{plugins}/platformthemes/libqgtk3.so": make_elf(needed=["libgtk-3.so.0"]),
    }
    assert kind_of(files, desktop=True) == "Qt"


def test_engine_of_chromium_beside_any_program_is_one() -> None:
    files = {
        "opt/x/app": make_elf(needed=["libcef.so"], runpath="$ORIGIN"),
        "opt/x/libcef.so": make_elf(),
        "opt/x/libEGL.so": make_elf(),
        "opt/x/libGLESv2.so": make_elf(),
        "opt/x/icudtl.dat": b"x",
        "opt/x/v8_context_snapshot.bin": b"x",
        "opt/x/resources.pak": b"x",
    }
    assert set(found(files, "opt/x/app")) == set(files)
    assert kind_of(files, "opt/x/app", desktop=True) == "Chromium engine"


def test_chromium_without_windows_is_one_by_its_drawing_library() -> None:
    files = {"x/bin/tool": make_elf(), "x/bin/swiftshader/libGLESv2.so": make_elf()}
    assert kind_of(files, "x/bin/tool") == "Chromium engine"


def test_python_package_that_is_an_extension_is_followed() -> None:
    name = "__init__.cpython-311-x86_64-linux-gnu.so"
    files = {
        **PYTHON,
        f"{SITE}/ext/{name}": make_elf(needed=["libbig.so.1"], runpath="$ORIGIN/lib"),
        f"{SITE}/ext/lib/libbig.so.1": make_elf(),
    }
    assert {f"{SITE}/ext/{name}", f"{SITE}/ext/lib/libbig.so.1"} <= set(
        found(files, "bin/app")
    )


@pytest.mark.parametrize(
    "source",
    [
        (
            b"import ctypes, os\n"
            b"ctypes.CDLL(os.path.join(os.path.dirname(__file__), 'libbig.so'))\n"
        ),
        b"from ctypes import cdll\ncdll.LoadLibrary(f'{here}/lib{name}.so')\n",
    ],
)
def test_library_that_python_opens_by_ctypes_is_read(source: bytes) -> None:
    files = {
        **PYTHON,
        f"{SITE}/ext/__init__.py": source,
        f"{SITE}/ext/native/libbig.so": make_elf(),
        "usr/lib/libother.so": make_elf(),
    }
    named = found(files, "bin/app")
    assert f"{SITE}/ext/native/libbig.so" in named
    assert "usr/lib/libother.so" not in named


@pytest.mark.parametrize("option", ["-p", "--module-path"])
def test_archives_of_a_module_path_are_read(option: str) -> None:
    files = {
        "jre/bin/java": make_elf(),
        "jre/lib/modules": b"x",
        "app/mods/a.jar": b"x",
        "app/mods/b.jar": b"x",
        "app/other.jar": b"x",
    }
    command = f"jre/bin/java {option} $SNAP/app/mods -m a/a.Main"
    named = found(files, command)
    assert set(named) == set(files) - {"app/other.jar"}
    assert named["jre/lib/modules"].way == "java-linked-modules"


@pytest.mark.parametrize(
    ("source", "package", "native"),
    [
        (b"require('child_process').spawn(find())", "pkg", "pkg-linux-x64/bin/pkg"),
        (b"require('child_process')", "@all/pkg", "@all/cli-linux-x64/pkg"),
        (b"WebAssembly.compile(read(find()))", "pkg", "pkg/lib/pkg.wasm"),
    ],
)
def test_what_node_starts_by_a_computed_path_is_a_blind_spot(
    source: bytes, package: str, native: str
) -> None:
    modules = "app/node_modules"
    payload = make_payload(
        {
            "bin/node": make_elf(),
            "app/main.js": f"require('{package}')".encode(),
            f"{modules}/{package}/index.js": source,
            f"{modules}/{native}": make_elf(),
        },
        base="bare",
        apps={"hello": {"command": "bin/node $SNAP/app/main.js"}},
    )
    candidates = find_candidates(payload, "hello")
    assert [spot.reason for spot in candidates.blind_spots] == ["computed-program"]
    named = {file.entry.path: file.way for file in candidates.files}
    assert named[f"{modules}/{native}"] == "started"
    assert f"{modules}/other/other.wasm" not in named


def explained(path: str, script: bytes = b"#!/bin/sh\nexec $SNAP/opt/app\n") -> str:
    payload = make_payload(
        {
            "bin/app": script,
            "opt/app": make_elf(needed=["libgtk-3.so.0"]),
            "usr/lib/libgtk-3.so.0": make_elf(padding_bytes=3 * BLOCK),
            "usr/lib/libQt6Gui.so.6": make_elf(),
            "usr/lib/qt6/plugins/platforms/libqxcb.so": make_elf(),
        },
        base="bare",
        apps={"hello": {"command": "bin/app"}},
    )
    return print_text(explanation_page(explain(payload, "hello", path)))


def test_explanation_says_by_which_way_a_file_is_expected() -> None:
    text = explained("usr/lib/libgtk-3.so.0")
    assert "expected to read" in text
    assert "opt/app links it (way 'linked')" in " ".join(text.split())


def test_explanation_says_which_rule_would_name_a_file() -> None:
    text = " ".join(explained("$SNAP/usr/lib/qt6/plugins/platforms/libqxcb.so").split())
    assert "not expected in a launch of hello" in text
    assert "The rule 'qt-platform' would" in text


def test_explanation_says_that_the_search_is_blind() -> None:
    text = explained("opt/app", b"#!/bin/sh\nexec $(choose)\n")
    assert "each block of the payload counts" in " ".join(text.split())
    assert "0%" not in text


def test_explanation_names_who_imports_a_file_or_what_leads_to_none() -> None:
    package = "node_modules/q"
    files = {
        "bin/node": make_elf(),
        "main.js": b"require('./a')\nrequire('q')",
        "a.js": b"x",
        f"{package}/package.json": b'{"exports": {"deno": "./b.js"}}',
        f"{package}/b.js": b"x",
    }
    app = {"hello": {"command": "bin/node main.js"}}
    payload = make_payload(files, base="bare", apps=app)
    texts = [
        " ".join(explain(payload, "hello", path).sentences)
        for path in ("a.js", f"{package}/b.js")
    ]
    assert "main.js imports it (way 'node-module')." in texts[0]
    assert "main.js imports 'q', but that leads to no file." in texts[1]


def test_explanation_names_own_sources_that_load_by_computed_names() -> None:
    other = "app/node_modules/q"
    files = {
        "bin/node": make_elf(),
        "app/main.js": b"require('q')\n// require(x)\nrequire('./b')",
        "app/b.js": b"const a = require(`./plugins/${name}`)",
        f"{other}/index.js": b"require(name)",
        "app/plugins/a.js": b"x",
    }
    app = {"hello": {"command": "bin/node app/main.js"}}
    payload = make_payload(files, base="bare", apps=app)
    _, *others = explain(payload, "hello", "app/plugins/a.js").sentences
    assert others == ["Not followed: computed-import in app/b.js."]


def test_explanation_of_a_source_is_that_of_what_is_read_in_its_place() -> None:
    folder = "usr/lib/python3/dist-packages"
    compiled = f"{folder}/__pycache__/a.cpython-311.pyc"
    files = {
        "usr/bin/python3": make_elf(),
        "bin/hello": b"#!/usr/bin/python3\nimport a\n",
        f"{folder}/a.py": b"import b\n",
        compiled: b"x",
        f"{folder}/b.py": b"",
    }
    payload = make_payload(files, base="bare", apps={"hello": {"command": "bin/hello"}})
    found = explain(payload, "hello", f"{folder}/a.py")
    assert found.path == compiled
    said = f"Python reads {compiled} instead of {folder}/a.py."
    assert found.sentences[:2] == (said, "bin/hello imports it (way 'python-module').")
    found = explain(payload, "hello", f"{folder}/b.py")
    assert found.sentences[0] == f"{folder}/a.py imports it (way 'python-module')."


def test_explanation_of_a_file_that_is_not_there_names_one_like_it() -> None:
    with pytest.raises(UsageError, match="has no file") as caught:
        explained("x/libQt6Gui.so.6")
    assert caught.value.resolution == "Did you mean 'usr/lib/libQt6Gui.so.6'?"


def test_what_pyinstaller_puts_beside_its_program_is_found() -> None:
    program = with_sections(
        make_elf(symbols=["_MEIPASS"]), {b"pydata": bytes(3 * BLOCK)}
    )
    module = "opt/app/_internal/PIL/_imaging.cpython-311-x86_64-linux-gnu.so"
    files = {
        "opt/app/app": program,
        "opt/app/_internal/base_library.zip": b"PK",
        "opt/app/_internal/libpython3.11.so.1.0": make_elf(),
        "opt/app/_internal/libtiff-20b7e810.so.6": make_elf(),
        module: make_elf(needed=["libtiff-20b7e810.so.6"]),
    }
    candidates = guessed(files, "opt/app/app")
    assert {each.entry.path for each in candidates.files} >= files.keys()
    assert candidates.kind == "Python program frozen by PyInstaller"


@pytest.mark.parametrize("place", ["ext/ext.abi3.so", "_ext_runtime_32/_ext.abi3.so"])
def test_the_part_in_c_that_a_package_names_nowhere_is_found(place: str) -> None:
    files = {
        **PYTHON,
        f"{SITE}/ext/__init__.py": b"import importlib\n",
        f"{SITE}/{place}": make_elf(),
        f"{SITE}/other/other.abi3.so": make_elf(),
    }
    ways = found(files, "bin/app")
    assert ways[f"{SITE}/{place}"].way == "python-unnamed-extension"
    assert f"{SITE}/other/other.abi3.so" not in ways


def test_constants_before_the_code_tell_what_carries_a_program() -> None:
    text = b"DOTNET_BUNDLE_EXTRACT_BASE_DIR\0".ljust(4096, b"\0")
    head = b"\x7fELF\2\1\1".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 2, 64, 0, 0
    )
    at = 64 + 2 * 56
    for flags, start in ((4, at), (5, at + len(text))):
        head += struct.pack("<II6Q", 1, flags, start, start, start, 4096, 4096, 4096)
    program = head + text + bytes(4096 + 40 * BLOCK)
    assert len(program) > LEAST_CARRIED_BYTES
    assert kind_of({"bin/app": program}) == ".NET program in one file"


@pytest.mark.parametrize("front", ["qtpy", "AnyQt", "pyqtgraph.Qt"])
def test_whichever_toolkit_is_there_is_what_a_front_of_several_imports(
    front: str,
) -> None:
    files = {
        **PYTHON,
        "bin/app": f"#!/usr/bin/env python3\nfrom {front} import QtCore\n".encode(),
        f"{SITE}/{front.replace('.', '/')}/__init__.py": b"if API: import PyQt6\n",
        f"{SITE}/PyQt6/QtCore.abi3.so": make_elf(),
    }
    assert f"{SITE}/PyQt6/QtCore.abi3.so" in found(files, "bin/app")
