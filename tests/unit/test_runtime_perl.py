"""Programs in Perl."""

from __future__ import annotations

import pytest

from elf_files import make_elf
from guesses import found
from payloads import make_payload
from snapcraft_compression_advisor.launch.guess.candidates import find_candidates
from snapcraft_compression_advisor.launch.launch_set import BlindSpot


def test_perl_program_reads_the_modules_that_it_uses() -> None:
    perl = "usr/share/perl5"
    files = {
        "usr/bin/hello": b"#!/usr/bin/perl\nuse A::B;\nif (1) {\n  require C;\n}\n",
        "usr/bin/perl": make_elf(),
        f"{perl}/A/B.pm": b"  use D;\n  require Later;\n",
        f"{perl}/C.pm": b"",
        f"{perl}/D.pm": b"",
        f"{perl}/Later.pm": b"",
    }
    assert set(found(files, "usr/bin/hello")) == set(files) - {f"{perl}/Later.pm"}


@pytest.mark.parametrize(
    "statement", [b"use parent qw/A::B/;", b"use base 'A::B';", b"use parent ('A::B');"]
)
def test_classes_that_a_class_is_made_of_are_read(statement: bytes) -> None:
    files = {
        "usr/bin/hello": b"#!/usr/bin/perl\nuse C;\n",
        "usr/bin/perl": make_elf(),
        "usr/share/perl5/A/B.pm": b"",
        "usr/share/perl5/C.pm": statement,
    }
    assert set(found(files, "usr/bin/hello")) == set(files)


@pytest.mark.parametrize(
    "change",
    [
        b"use lib '/usr/share/hello';\n",
        b'use FindBin;\nuse lib "$FindBin::Bin/../share/hello";\n',
        b"use lib qw(/usr/share/hello);\n",
    ],
)
def test_directories_that_a_program_adds_are_searched(change: bytes) -> None:
    files = {
        "usr/bin/hello": b"#!/usr/bin/perl\n" + change + b"use Own;\n",
        "usr/bin/perl": make_elf(),
        "usr/share/hello/Own.pm": b"x",
    }
    assert set(found(files, "usr/bin/hello")) == set(files)


def test_modules_in_c_bring_their_libraries() -> None:
    perl = "usr/lib/x86_64-linux-gnu/perl5/5.36"
    files = {
        "usr/bin/hello": b"#!/usr/bin/perl\nuse SDL::Video;\n",
        "usr/bin/perl": make_elf(),
        f"{perl}/SDL/Video.pm": b"x",
        f"{perl}/auto/SDL/Video/Video.so": make_elf(needed=["libSDL-1.2.so.0"]),
        "usr/lib/libSDL-1.2.so.0": make_elf(),
    }
    named = found(files, "usr/bin/hello")
    assert set(named) == set(files)
    assert named[f"{perl}/auto/SDL/Video/Video.so"].way == "perl-extension"
    payload = make_payload(
        files, base="bare", apps={"hello": {"command": "usr/bin/hello"}}
    )
    candidates = find_candidates(payload, "hello")
    assert (candidates.kind, candidates.blind_spots) == ("SDL", ())


def test_namespaces_of_gobject_are_loaded_in_the_version_asked_for() -> None:
    lib = "usr/lib/x86_64-linux-gnu"
    header = b"GOBJ\nMETADATA\r\n\x1a"
    files = {
        "usr/bin/hello": b"#!/usr/bin/perl\nuse Gtk3 -init;\n",
        "usr/bin/perl": make_elf(),
        "usr/share/perl5/Gtk3.pm": b"my $_GTK_BASENAME = 'Gtk';\n"
        b"my $_GTK_VERSION = '3.0';\n",
        f"{lib}/girepository-1.0/Gtk-3.0.typelib": header + b"\0libgtk-3.so.0\0",
        f"{lib}/girepository-1.0/Gtk-4.0.typelib": header,
        f"{lib}/libgtk-3.so.0": make_elf(),
    }
    left = {f"{lib}/girepository-1.0/Gtk-4.0.typelib"}
    assert set(found(files, "usr/bin/hello")) == set(files) - left


def test_module_of_a_computed_name_is_a_blind_spot_of_the_program_only() -> None:
    files = {
        "usr/bin/hello": b"#!/usr/bin/perl\nuse Other;\nrequire $plugin;\n",
        "usr/bin/perl": make_elf(),
        "usr/share/perl5/Other.pm": b"require $plugin;\n",
    }
    payload = make_payload(
        files, base="bare", apps={"hello": {"command": "usr/bin/hello"}}
    )
    spot = BlindSpot(reason="computed-import", where="usr/bin/hello")
    assert find_candidates(payload, "hello").blind_spots == (spot,)


def test_functions_of_the_module_named_after_the_program_count() -> None:
    perl = "usr/share/perl5"
    files = {
        "usr/bin/hello": b"#!/usr/bin/perl\nuse Hello;\nHello::start();\n",
        "usr/bin/perl": make_elf(),
        f"{perl}/Hello.pm": b"sub start {\n  require Wx;\n}\n",
        f"{perl}/Wx.pm": b"use Other::Hello;\n",
        f"{perl}/Other/Hello.pm": b"sub start {\n  require Rare;\n}\n",
        f"{perl}/Rare.pm": b"x",
    }
    assert set(found(files, "usr/bin/hello")) == set(files) - {f"{perl}/Rare.pm"}
