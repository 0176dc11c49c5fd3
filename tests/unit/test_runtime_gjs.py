"""Programs in the JavaScript of GNOME, run by GJS."""

import zlib
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elf_files import make_elf
from guesses import found, guessed
from payloads import make_payload
from snapcraft_compression_advisor.core.units import MIB
from snapcraft_compression_advisor.launch.guess.candidates import find_candidates
from snapcraft_compression_advisor.launch.guess.runtimes.gobject import texts_in
from snapcraft_compression_advisor.launch.guess.runtimes.runtime import (
    MAX_MEMBERS_BYTES,
    MEMBER_MAX_BYTES,
)

LIB = "usr/lib/x86_64-linux-gnu"
TYPELIBS = f"{LIB}/girepository-1.0"
TYPELIB = b"GOBJ\nMETADATA\r\n\x1a"
SHEBANG = b"#!/usr/bin/gjs -m\n"
GTK = {
    "usr/bin/gjs": make_elf(),
    f"{TYPELIBS}/Gio-2.0.typelib": TYPELIB,
    f"{TYPELIBS}/Gtk-3.0.typelib": TYPELIB + b"\0libgtk-3.so.0\0",
    f"{TYPELIBS}/Gtk-4.0.typelib": TYPELIB + b"\0libgtk-4.so.1\0",
    f"{LIB}/libgtk-3.so.0": make_elf(),
    f"{LIB}/libgtk-4.so.1": make_elf(),
}
GTK_3 = {f"{TYPELIBS}/Gtk-3.0.typelib", f"{LIB}/libgtk-3.so.0"}
GTK_4 = {f"{TYPELIBS}/Gtk-4.0.typelib", f"{LIB}/libgtk-4.so.1"}
APP = "usr/share/org.example.Hello"


def bundle(files: Mapping[str, bytes], *, compressed: bool = False) -> bytes:
    """Return what a GResource bundle has of files, without the table of their names."""
    contents = (zlib.compress(each) if compressed else each for each in files.values())
    return b"GVariant" + b"\0(uuay)".join(contents)


def names(files: Mapping[str, bytes], command: str = "usr/bin/hello") -> set[str]:
    return set(found({**GTK, **files}, command))


@pytest.mark.parametrize(
    "source",
    [
        b"import Gtk from 'gi://Gtk?version=3.0';\n",
        b"imports.gi.versions.Gtk = '3.0';\nconst Gtk = imports.gi.Gtk;\n",
        b"imports.gi.versions['Gtk'] = '3.0';\nconst {GLib, Gtk: G} = imports.gi;\n",
        b"pkg.require({\n  'Gtk': '3.0',\n});\nimport Gtk from 'gi://Gtk';\n",
    ],
)
def test_program_reads_the_typelibs_that_it_imports_and_their_libraries(
    source: bytes,
) -> None:
    files = {"usr/bin/hello": SHEBANG + source}
    assert names(files) == {*GTK, *files} - GTK_4


@pytest.mark.parametrize(
    "command", ["usr/bin/gjs -m $SNAP/app/main.js", "usr/bin/hello", "usr/bin/start"]
)
def test_modules_beside_the_program_are_followed(command: str) -> None:
    files = {
        "usr/bin/hello": b"#!/bin/sh\ncd $SNAP/app\nexec gjs -m main.js\n",
        "usr/bin/start": b"#!/bin/sh\nexec /usr/bin/gjs /app/main.js\n",
        "app/main.js": b"import {a} from './lib/a.js';\nimport './broken\n",
        "app/lib/a.js": b"import * as b from \"../b.js\"; import '../gone.js'",
        "app/b.js": b"const Gtk = imports.gi.Gtk;",
        "app/other.js": b"x",
    }
    assert names(files, command) >= {"app/main.js", "app/lib/a.js", "app/b.js", *GTK_4}
    assert "app/other.js" not in names(files, command)


@pytest.mark.parametrize("compressed", [True, False], ids=["compressed", "plain"])
def test_modules_in_resources_are_read(compressed: bool) -> None:  # noqa: FBT001 # a parametrised form
    source = b"import Gtk from 'gi://Gtk?version=4.0';\n"
    inside = {"/org/example/Hello/js/main.js": source, "/org/example/a.ui": b"<x/>"}
    files = {
        "usr/bin/hello": SHEBANG
        + b"imports.package.init({name: 'org.example.Hello'});\n"
        b"imports.package.run(imports.main);\n",
        f"{APP}/org.example.Hello.src.gresource": bundle(inside, compressed=compressed),
        f"{APP}/org.example.Hello.data.gresource": bundle({"/a": b"x"}),
        "usr/share/other/org.example.Other.gresource": bundle({"/a": b"x"}),
    }
    expected = {*GTK, *files} - GTK_3 - {"usr/share/other/org.example.Other.gresource"}
    assert names(files) == expected


def test_name_that_is_computed_is_a_blind_spot() -> None:
    files = {"usr/bin/hello": SHEBANG + b"const a = imports[name];\n"}
    spot, *_ = guessed({**GTK, **files}).blind_spots
    assert (spot.reason, spot.where) == ("computed-import", "usr/bin/hello")


def test_program_that_holds_its_scripts_is_a_blind_spot() -> None:
    files = {
        "usr/bin/hello": make_elf(needed=["libgjs.so.0"]),
        f"{LIB}/libgjs.so.0": make_elf(),
    }
    apps = {"hello": {"command": "usr/bin/hello"}}
    payload = make_payload(files, base="bare", apps=apps)
    spot, *_ = find_candidates(payload, "hello").blind_spots
    assert (spot.reason, spot.where) == ("embedded-code", "usr/bin/hello")


def test_script_of_another_runtime_imports_none() -> None:
    files = {
        "usr/bin/node": make_elf(),
        "app/main.js": b"import Gtk from 'gi://Gtk';\n",
        **GTK,
    }
    assert not {*GTK_3, *GTK_4} & set(found(files, "usr/bin/node $SNAP/app/main.js"))


@given(st.binary(max_size=300).map(lambda rest: b"\x78\xda" + rest))
def test_bundle_that_is_broken_ends(content: bytes) -> None:
    assert all(len(text) <= len(content) * 2000 for text in texts_in(content))


def test_no_more_of_a_bundle_is_unpacked_than_of_any_archive() -> None:
    """Each stream, of 64 KiB, would be 64 MiB."""
    content = zlib.compress(bytes(64 * MIB)) * 100
    whole, *texts = texts_in(content)
    assert whole == content
    assert max(map(len, texts)) == MEMBER_MAX_BYTES
    assert sum(map(len, texts)) <= MAX_MEMBERS_BYTES
