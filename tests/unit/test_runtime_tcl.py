"""Programs in Tcl, and the scripts of Tcl's and Tk's libraries."""

from __future__ import annotations

import pytest

from elf_files import make_elf
from guesses import found
from payloads import make_payload
from snapcraft_compression_advisor.launch.guess.candidates import find_candidates
from snapcraft_compression_advisor.launch.launch_set import BlindReason, BlindSpot

LIB = "usr/lib/x86_64-linux-gnu"
TCL = {
    "usr/bin/tclsh": make_elf(needed=["libtcl8.6.so"]),
    "usr/bin/wish": make_elf(needed=["libtcl8.6.so", "libtk8.6.so"]),
    f"{LIB}/libtcl8.6.so": make_elf(),
    f"{LIB}/libtk8.6.so": make_elf(),
    "usr/share/tcltk/tcl8.6/init.tcl": b"x",
    "usr/share/tcltk/tk8.6/tk.tcl": b"x",
    "usr/share/tcltk/tk8.6/ttk/clamTheme.tcl": b"x",
}
PACKAGE = {
    "usr/share/tcltk/img/pkgIndex.tcl": b"package ifneeded img 1.4 [list source \\\n"
    b"  [file join $dir img.tcl]]\n"
    b"package ifneeded jpeg 9 [list load [file join $dir libjpegtcl9.6.so]]\n",
    "usr/share/tcltk/img/img.tcl": b"package require jpeg",
    "usr/share/tcltk/libjpegtcl9.6.so": make_elf(),
}


@pytest.mark.parametrize(
    "script",
    [
        b"#!/usr/bin/wish\npackage require img\n",
        b"#!/usr/bin/env wish\nsource [file join $here lib a.tcl]\nsource a.tcl\n",
        b'#!/bin/sh\n# \\\nexec wish "$0" "$@"\npackage require -exact img 1.4\n',
    ],
)
def test_program_reads_the_packages_that_it_requires(script: bytes) -> None:
    files = {
        **TCL,
        **PACKAGE,
        "usr/bin/hello": script,
        "usr/bin/a.tcl": b"package require img",
    }
    left = {"usr/bin/tclsh", "usr/share/tcltk/img/pkgIndex.tcl"}
    if b"a.tcl" not in script:
        left.add("usr/bin/a.tcl")
    assert set(found(files, "usr/bin/hello")) == set(files) - left


def test_library_of_tk_opens_its_scripts_whoever_links_it() -> None:
    files = {**TCL, "usr/bin/hello": make_elf(needed=["libtk8.6.so"])}
    named = found(files, "usr/bin/hello")
    assert named["usr/share/tcltk/tk8.6/ttk/clamTheme.tcl"].way == "tk-themes"
    assert "usr/share/tcltk/tcl8.6/init.tcl" not in named


def test_script_that_sources_a_computed_name_is_a_blind_spot() -> None:
    script = b"#!/usr/bin/tclsh\nsource $plugin\n"
    files = {"usr/bin/hello": script, "usr/bin/tclsh": make_elf()}
    payload = make_payload(
        files, base="bare", apps={"hello": {"command": "usr/bin/hello"}}
    )
    spot = BlindSpot(reason="computed-import", where="usr/bin/hello")
    assert find_candidates(payload, "hello").blind_spots == (spot,)


def test_packages_of_computed_names_are_words_of_the_program() -> None:
    files = {
        **TCL,
        **PACKAGE,
        "usr/bin/hello": b"#!/usr/bin/tclsh\nset needed {{img 1.4} {Tk 8.6}}\n"
        b"foreach each $needed { package require [lindex $each 0] }\n",
        "usr/lib/tcltk/tk8.6/pkgIndex.tcl": b"package ifneeded Tk 8.6 [list load \\\n"
        b"  [file join /usr/lib/x86_64-linux-gnu libtk8.6.so]]\n",
    }
    named = set(found(files, "usr/bin/hello"))
    assert {f"{LIB}/libtk8.6.so", "usr/share/tcltk/img/img.tcl"} <= named


def test_sourced_files_lie_below_a_computed_directory() -> None:
    files = {
        **TCL,
        "usr/bin/hello": b"#!/bin/sh\nexec tclsh /usr/share/hello/main.tcl\n",
        "usr/share/hello/main.tcl": b'source "${::HERE}/lib/a.tcl"\t;# windows\n',
        "usr/share/hello/lib/a.tcl": b"source $::HERE/b.tcl\n",
        "usr/share/hello/b.tcl": b"",
    }
    named = set(found(files, "usr/bin/hello"))
    assert {"usr/share/hello/lib/a.tcl", "usr/share/hello/b.tcl"} <= named


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (b"package require $name", "computed-import"),
        (b"exec {*}$command", "computed-program"),
        (b'set pipe [open "| $command" r]', "computed-program"),
    ],
)
def test_what_a_program_computes_is_a_blind_spot(
    script: bytes, reason: BlindReason
) -> None:
    files = {
        "usr/bin/hello": b"#!/usr/bin/tclsh\n" + script + b"\n",
        "usr/bin/tclsh": make_elf(),
    }
    payload = make_payload(
        files, base="bare", apps={"hello": {"command": "usr/bin/hello"}}
    )
    candidates = find_candidates(payload, "hello")
    assert candidates.blind_spots == (BlindSpot(reason=reason, where="usr/bin/hello"),)
    assert candidates.blindness == "modules"
