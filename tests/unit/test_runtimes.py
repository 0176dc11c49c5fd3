"""What programs of runtimes with a rule or two read."""

import json

import pytest

from elf_files import make_elf
from guesses import found, guessed
from snapcraft_compression_advisor.launch.guess.candidates import Candidates
from snapcraft_compression_advisor.launch.launch_set import BlindSpot


def test_godot_opens_the_pack_beside_the_program() -> None:
    files = {"hello.x86_64": make_elf(), "hello.pck": b"GDPC", "a/other.pck": b"GDPC"}
    assert set(found(files, "hello.x86_64")) == set(files) - {"a/other.pck"}


def test_unity_opens_its_data_and_its_code() -> None:
    data = "opt/hello/Hello_Data"
    files = {
        "opt/hello/Hello.x86_64": make_elf(needed=["UnityPlayer.so"]),
        "opt/hello/UnityPlayer.so": make_elf(),
        f"{data}/globalgamemanagers": b"x",
        f"{data}/level0": b"x",
        f"{data}/sharedassets0.assets": b"x",
        f"{data}/Managed/Assembly-CSharp.dll": b"x",
        f"{data}/Managed/System.Xml.dll": b"x",
        f"{data}/level7": b"x",
    }
    named = set(found(files, "opt/hello/Hello.x86_64"))
    left = {f"{data}/Managed/System.Xml.dll", f"{data}/level7"}
    assert named >= set(files) - left - {"opt/hello/UnityPlayer.so"}
    assert not named & left


def test_electron_of_any_name_opens_code_and_its_extensions() -> None:
    files = {
        "opt/hello/hello": make_elf(),
        "opt/hello/resources.pak": b"x",
        "opt/hello/icudtl.dat": b"x",
        "opt/hello/v8_context_snapshot.bin": b"x",
        "opt/hello/resources/app.asar": b"x",
        "opt/hello/resources/app.asar.unpacked/node_modules/a/a.node": make_elf(),
    }
    assert set(found(files, "opt/hello/hello")) == set(files)


def test_statistics_program_starts_the_shell_script_that_starts_the_real_one() -> None:
    files = {
        "usr/bin/Rscript": make_elf(),
        "usr/lib/R/bin/R": b'#!/bin/sh\nexec "${R_binary}"\n',
        "usr/lib/R/bin/exec/R": make_elf(),
        "usr/lib/R/library/base/R/base.rdb": b"x",
    }
    assert set(found(files, "usr/bin/Rscript x.R")) == set(files)


LIB = "usr/lib/x86_64-linux-gnu"
PLUGINS = f"{LIB}/vlc/plugins"
VLC_FILES = {
    "usr/bin/hello": make_elf(needed=["libvlc.so.5"]),
    f"{LIB}/libvlc.so.5": make_elf(),
    f"{LIB}/libQt5Gui.so.5": make_elf(),
    f"{LIB}/qt5/plugins/platforms/libqxcb.so": make_elf(),
    f"{PLUGINS}/gui/libqt_plugin.so": make_elf(needed=["libQt5Gui.so.5"]),
    f"{PLUGINS}/codec/libavcodec_plugin.so": make_elf(needed=["libavcodec.so.59"]),
    f"{LIB}/libavcodec.so.59": make_elf(),
}
CODEC = {f"{PLUGINS}/codec/libavcodec_plugin.so", f"{LIB}/libavcodec.so.59"}


@pytest.mark.parametrize("listed", [{}, {f"{PLUGINS}/plugins.dat": b"x"}])
def test_without_a_list_of_plugins_all_are_opened(listed: dict[str, bytes]) -> None:
    named = set(found({**VLC_FILES, **listed}, "usr/bin/hello"))
    assert named - set(listed) == (set(VLC_FILES) - CODEC if listed else set(VLC_FILES))


def test_program_without_it_opens_none() -> None:
    files = {**VLC_FILES, "usr/bin/hello": make_elf()}
    assert set(found(files, "usr/bin/hello")) == {"usr/bin/hello"}


ERLANG = "usr/lib/erlang"
ERLANG_FILES = {
    "usr/bin/hello": b"#!/usr/bin/env escript\n%%! +sbtu\nPK",
    "usr/bin/escript": make_elf(),
    f"{ERLANG}/erts-15.2/bin/beam.smp": make_elf(),
    f"{ERLANG}/lib/kernel-10.2/ebin/code.beam": b"x",
    f"{ERLANG}/lib/stdlib-6.2/ebin/lists.beam": b"x",
}


def test_virtual_machine_and_what_it_starts_with_are_read() -> None:
    other = {f"{ERLANG}/lib/ssl-11.2/ebin/ssl.beam": b"x"}
    assert set(found({**ERLANG_FILES, **other}, "usr/bin/hello")) == set(ERLANG_FILES)


def test_node_program_reads_what_it_requires() -> None:
    files = {
        "usr/bin/node": make_elf(),
        "app/main.js": b"const a = require('./lib/a');\nrequire('pkg');\n",
        "app/lib/a.js": b"import b from '../b.mjs'\n",
        "app/b.mjs": b"",
        "app/node_modules/pkg/package.json": b'{"main": "dist/start.js"}',
        "app/node_modules/pkg/dist/start.js": b"require('deep')",
        "usr/share/nodejs/deep/index.js": b"",
        "app/other.js": b"",
    }
    named = found(files, "usr/bin/node $SNAP/app/main.js")
    assert set(named) == set(files) - {"app/other.js"}


@pytest.mark.parametrize("text", [b"{", b"[]", b'{"main": 1}', b"[" * 100_000])
def test_package_that_says_nothing_falls_back_on_its_index(text: bytes) -> None:
    files = {
        "usr/bin/node": make_elf(),
        "app/main.js": b"require('./pkg')",
        "app/pkg/package.json": text,
        "app/pkg/index.js": b"",
    }
    assert "app/pkg/index.js" in found(files, "usr/bin/node app/main.js")


NODE_FILES = {
    "usr/bin/node": make_elf(),
    "app/node_modules/q/dist/main.mjs": b"",
    "app/node_modules/q/dist/main.cjs": b"",
    "app/node_modules/q/dist/sub/a.js": b"",
    "app/node_modules/q/lib.js": b"",
}
BOTH = {"import": "./dist/main.mjs", "default": "./dist/main.cjs"}


def node_candidates(source: bytes, description: dict[str, object]) -> Candidates:
    """Return what a script makes a launch read that has a package ``q`` beside it."""
    text = json.dumps(description).encode()
    files = {"app/main.js": source, "app/node_modules/q/package.json": text}
    return guessed({**NODE_FILES, **files}, "usr/bin/node app/main.js")


@pytest.mark.parametrize(
    ("source", "exports", "read"),
    [
        (b"import Q from 'q'", {".": BOTH}, "dist/main.mjs"),
        (b"import Q from 'q'", BOTH, "dist/main.mjs"),
        (b"require('q')", {"browser": "./lib.js", **BOTH}, "dist/main.mjs"),
        (b"require('q')", {"node": {"require": "./lib.js"}, **BOTH}, "lib.js"),
        (b"require('q')", {"import": "./lib.js"}, "lib.js"),
        (b"require('q')", "./dist/main.cjs", "dist/main.cjs"),
        (b"require('q')", ["./none.js", "./dist/main.cjs"], "dist/main.cjs"),
        (b"require('q/sub')", {".": BOTH, "./sub": "./lib.js"}, "lib.js"),
        (
            b"require('q/s/a')",
            {"./*": "./*", "./s/*": "./dist/sub/*.js"},
            "dist/sub/a.js",
        ),
        (b"require('q')", None, "lib.js"),
    ],
)
def test_files_that_a_package_exports_come_before_its_main_file(
    source: bytes, exports: object, read: str
) -> None:
    candidates = node_candidates(source, {"main": "lib.js", "exports": exports})
    found = {each.entry.path: each for each in candidates.files if each.by}
    package = "app/node_modules/q"
    assert set(found) == {f"{package}/package.json", f"{package}/{read}"}
    assert found[f"{package}/{read}"].by == "app/main.js"
    assert not candidates.blind_spots


def test_package_imports_its_own_files_by_names_of_its_own() -> None:
    files = {
        "usr/bin/node": make_elf(),
        "app/package.json": b'{"imports": {"#x": "./lib/x.js"}}',
        "app/bin/main.js": b"import x from '#x'",
        "app/lib/x.js": b"",
    }
    assert set(found(files, "usr/bin/node app/bin/main.js")) == set(files)


@pytest.mark.parametrize(
    "exports", [{".": "./none.js"}, {"./sub": "./lib.js"}, {"types": "./lib.js"}, {}]
)
def test_package_that_exports_no_such_file_is_a_blind_spot(exports: object) -> None:
    candidates = node_candidates(b"require('q')", {"exports": exports})
    spot = BlindSpot(reason="unresolved-import", where="app/main.js", what="q")
    assert candidates.blind_spots == (spot,)


@pytest.mark.parametrize(
    "call",
    [
        b"require(require('path').join(__dirname, 'lib', 'x.js'))",
        b"require(path.resolve(__dirname, './lib/x'))",
        b"require(join(__dirname, '..', 'app', 'lib', 'x.js'))",
        b"require(__dirname + '/lib/x.js')",
        b"require(`${__dirname}/lib/x`)",
        b"import(`./lib/x.js`)",
        b"import('./lib/x.js', { with: { type: 'json' } })",
        b"new Worker(new URL('./lib/x.js', import.meta.url))",
        b"createRequire(import.meta.url)('./lib/x')",
        b"module.createRequire(__filename)('./lib/x')",
    ],
)
def test_node_program_reads_what_it_names_from_its_own_folder(call: bytes) -> None:
    files = {"usr/bin/node": make_elf(), "app/main.js": call, "app/lib/x.js": b""}
    candidates = guessed(files, "usr/bin/node app/main.js")
    assert {each.entry.path for each in candidates.files} == set(files)


@pytest.mark.parametrize(
    "call",
    [
        b"require(path.join(__dirname, name))",
        b"require(path.join(__dirname, 'lib') + name)",
        b"require('./lib/' + name)",
        b"require(__dirname + '/' + name)",
        b"import(`./${name}`)",
    ],
)
def test_node_program_that_computes_a_part_of_a_name_is_a_blind_spot(
    call: bytes,
) -> None:
    files = {"usr/bin/node": make_elf(), "app/main.js": call, "app/lib/x.js": b""}
    candidates = guessed(files, "usr/bin/node app/main.js")
    spot = BlindSpot(reason="computed-import", where="app/main.js")
    assert candidates.blind_spots == (spot,)


GAC = "usr/lib/mono/gac"
AHEAD = "usr/lib/mono/aot-cache/amd64"


def assembly(*names: str) -> bytes:
    """Return what has these names in its heap of texts."""
    heap = b"\0".join(name.encode() for name in names)
    return b"MZ" + b"\0" * 8 + heap + b"\0"


def test_mono_program_reads_the_assemblies_and_libraries_that_it_names() -> None:
    files = {
        "usr/bin/hello": b"#!/bin/sh\nexec /usr/bin/mono /usr/lib/hello/hello.exe\n",
        "usr/bin/mono": make_elf(),
        "usr/lib/hello/hello.exe": assembly("Main", "gtk-sharp", "own"),
        "usr/lib/hello/own.dll": assembly("String"),
        f"{GAC}/own/1.0/own.dll": assembly(),
        f"{GAC}/gtk-sharp/3.0/gtk-sharp.dll": assembly("libgtk-win32-3.0-0.dll"),
        f"{GAC}/gtk-sharp/3.0/gtk-sharp.dll.config": b"<configuration>\n"
        b'<dllmap dll="libgtk-win32-3.0-0.dll" target="libgtk-3.so.0"/>',
        f"{LIB}/libgtk-3.so.0": make_elf(needed=["libgdk-3.so.0"]),
        f"{LIB}/libgdk-3.so.0": make_elf(),
        "usr/lib/mono/4.5/mscorlib.dll": assembly(),
        f"{AHEAD}/mscorlib.dll.so": make_elf(),
        f"{AHEAD}/Other.dll.so": make_elf(),
        f"{GAC}/Other/1.0/Other.dll": assembly(),
        "usr/lib/libmono-native.so.0": make_elf(needed=["libgssapi_krb5.so.2"]),
        f"{LIB}/libgssapi_krb5.so.2": make_elf(),
        "etc/mono/config": b"x",
    }
    named = found(files, "usr/bin/hello")
    assert set(named) == set(files) - {
        f"{GAC}/own/1.0/own.dll",
        f"{GAC}/gtk-sharp/3.0/gtk-sharp.dll.config",
        f"{GAC}/Other/1.0/Other.dll",
        f"{AHEAD}/Other.dll.so",
    }
    assert named[f"{LIB}/libgtk-3.so.0"].way == "assembly-library"
    assert named[f"{AHEAD}/mscorlib.dll.so"].way == "assembly-code"


def test_windows_forms_open_windows() -> None:
    compose = "usr/share/X11/locale/en_US.UTF-8/Compose"
    files = {
        "usr/bin/hello": b"#!/bin/sh\nexec /usr/bin/cli /usr/lib/hello/hello.exe\n",
        "usr/bin/cli": make_elf(),
        "usr/lib/hello/hello.exe": assembly("Main", "System.Windows.Forms"),
        f"{GAC}/System.Windows.Forms/4.0/System.Windows.Forms.dll": assembly(),
        compose: b"x",
    }
    assert found(files, "usr/bin/hello")[compose].way == "x11-input-method"


def test_program_of_dotnet_starts_the_assembly_of_its_name() -> None:
    files = {
        "opt/hello/Hello": make_elf(),
        "opt/hello/Hello.dll": assembly("Avalonia", "System.Runtime"),
        "opt/hello/Hello.deps.json": b"{}",
        "opt/hello/Hello.runtimeconfig.json": b"{}",
        "opt/hello/Avalonia.dll": assembly("libSkiaSharp"),
        "opt/hello/libSkiaSharp.so": make_elf(),
        "opt/hello/System.Runtime.dll": assembly(),
        "opt/hello/System.Private.CoreLib.dll": assembly(),
        "opt/hello/libcoreclr.so": make_elf(),
        "opt/hello/libhostfxr.so": make_elf(),
        "opt/hello/libSystem.Native.so": make_elf(),
        "opt/hello/System.Unused.dll": assembly(),
    }
    named = found(files, "opt/hello/Hello")
    assert set(named) == set(files) - {"opt/hello/System.Unused.dll"}


def test_dotnet_runs_an_assembly_with_the_shared_framework() -> None:
    shared = "usr/lib/dotnet/shared/Microsoft.NETCore.App/8.0.1"
    files = {
        "usr/bin/dotnet": make_elf(),
        "opt/hello/Hello.dll": assembly("System.Text.Json"),
        f"{shared}/System.Text.Json.dll": assembly("System.Memory"),
        f"{shared}/System.Memory.dll": assembly("System.Buffers"),
        f"{shared}/System.Buffers.dll": assembly("System.Linq"),
        f"{shared}/System.Linq.dll": assembly(),
        f"{shared}/System.Private.CoreLib.dll": assembly(),
        f"{shared}/libcoreclr.so": make_elf(),
        "usr/lib/dotnet/host/fxr/8.0.1/libhostfxr.so": make_elf(),
    }
    named = found(files, "usr/bin/dotnet $SNAP/opt/hello/Hello.dll")
    assert set(named) == set(files)
    assert [
        named[f"{shared}/{name}"].way
        for name in ("libcoreclr.so", "System.Private.CoreLib.dll")
    ] == ["net-runtime"] * 2
    assert [
        named[f"{shared}/System.{name}.dll"].way
        for name in ("Text.Json", "Memory", "Buffers", "Linq")
    ] == ["net-assembly", "net-assembly-second"] + ["net-assembly-far"] * 2


@pytest.mark.parametrize("package", ["sheets", "other"])
def test_module_of_python_runs_the_dotnet_of_its_package(package: str) -> None:
    packages = "usr/lib/python3.12/site-packages"
    host = f"{packages}/sheets/core.cpython-312-x86_64-linux-gnu.so"
    runtime = {
        f"{packages}/{package}/net/libcoreclr.so": make_elf(),
        f"{packages}/{package}/net/System.Private.CoreLib.dll": assembly(),
        f"{packages}/{package}/net/Wrapped.Sheets.dll": assembly("System.Xml"),
        f"{packages}/{package}/net/System.Xml.dll": assembly(),
    }
    files = {
        "usr/bin/hello": b"#!/usr/bin/env python3\nimport sheets.core\n",
        f"{packages}/sheets/__init__.py": b"",
        host: make_elf() + assembly("Wrapped.Sheets"),
        f"{packages}/{package}/net/System.Unused.dll": assembly(),
        **runtime,
    }
    named = found(files, "usr/bin/hello")
    assert host in named
    expected = set(runtime) if package == "sheets" else set()
    assert {path for path in named if "/net/" in path} == expected


def test_assemblies_that_nothing_runs_are_not_read() -> None:
    files = {"usr/bin/hello": make_elf(), "usr/lib/hello/a.dll": assembly()}
    named = found(files, "usr/bin/hello")
    assert all(each.way != "assembly" for each in named.values())


QML = f"{LIB}/qt6/qml"
PROGRAM = make_elf(needed=["libQt6Qml.so.6"])
QML_MODULES = {
    f"{LIB}/libQt6Qml.so.6": make_elf(),
    f"{QML}/QtQuick/qmldir": b"module QtQuick\nplugin qtquick2plugin\n",
    f"{QML}/QtQuick/libqtquick2plugin.so": make_elf(),
    f"{QML}/QtQuick/Controls/qmldir": b"optional import QtQuick.Controls.Fusion auto\n"
    b"optional import QtQuick.Controls.Material auto\n"
    b"default import QtQuick.Controls.Basic auto\noptional plugin controlsplugin\n",
    f"{QML}/QtQuick/Controls/libcontrolsplugin.so": make_elf(),
    f"{QML}/QtQuick/Controls/Basic/qmldir": b"module QtQuick.Controls.Basic\n",
    f"{QML}/QtQuick/Controls/Fusion/qmldir": b"plugin fusionplugin\n",
    f"{QML}/QtQuick/Controls/Fusion/libfusionplugin.so": make_elf(),
}
OTHERS = {
    f"{QML}/QtQuick/Controls/Material/qmldir": b"x",
    f"{QML}/QtQuick/Layouts/qmldir": b"x",
}


@pytest.mark.parametrize(
    "content",
    [
        PROGRAM + b"\nimport QtQuick.Controls as C\n",
        PROGRAM + "QtQuick.Controls".encode("utf-16-le") + b"\0\0",
    ],
    ids=["plain", "compiled"],
)
def test_modules_that_a_program_names_bring_their_plugins(content: bytes) -> None:
    files = {**QML_MODULES, **OTHERS, "usr/bin/hello": content}
    named = found(files, "usr/bin/hello")
    assert set(named) == set(files) - set(OTHERS)
    assert named[f"{QML}/QtQuick/libqtquick2plugin.so"].way == "qml-plugin"


def test_files_of_the_application_name_modules_too() -> None:
    files = {
        **QML_MODULES,
        "usr/bin/hello": PROGRAM,
        "usr/share/hello/qml/main.qml": b"import QtQuick 2.15\nimport QtQuick.Controls",
        "usr/share/other/main.qml": b"import QtQuick.Layouts 1.1",
    }
    named = set(found({**files, **OTHERS}, "usr/bin/hello"))
    assert named == set(files) - {"usr/share/other/main.qml"}


@pytest.mark.parametrize("version", ["QtQuick.2", "QtQuick"])
def test_version_of_a_directory_is_no_part_of_the_name(version: str) -> None:
    files = {
        f"{LIB}/libQt5Qml.so.5": make_elf(),
        "usr/bin/hello": make_elf(needed=["libQt5Qml.so.5"]) + b"\nimport QtQuick 2.1",
        f"{LIB}/qt5/qml/{version}/qmldir": b"plugin qtquick2plugin",
        f"{LIB}/qt5/qml/{version}/libqtquick2plugin.so": make_elf(),
    }
    assert set(found(files, "usr/bin/hello")) == set(files)


def test_program_whose_qml_cannot_be_seen_is_a_blind_spot() -> None:
    files = {**QML_MODULES, "usr/bin/hello": PROGRAM}
    spots = guessed(files).blind_spots
    assert BlindSpot(reason="embedded-code", where="usr/bin/hello") in spots


def test_program_that_links_qml_for_the_web_engine_is_no_blind_spot() -> None:
    files = {
        **QML_MODULES,
        "usr/bin/hello": make_elf(needed=["libQt5Qml.so.5", "libQt5WebEngine.so.5"]),
        f"{LIB}/libQt5WebEngine.so.5": make_elf(),
    }
    spots = guessed(files).blind_spots
    assert "embedded-code" not in {spot.reason for spot in spots}


def test_program_without_qml_reads_no_module() -> None:
    files = {**QML_MODULES, "usr/bin/hello": make_elf() + b"\nimport QtQuick\n"}
    assert set(found(files, "usr/bin/hello")) == {"usr/bin/hello"}
