"""What programs in Perl and Ruby read, and what of others isn't followed."""

import pytest

from elf_files import make_elf
from guesses import found, guessed
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
    "program",
    [
        b"perl\nuse lib '/usr/share/hello';\nuse Own;\n",
        b'perl\nuse FindBin;\nuse lib "$FindBin::Bin/../share/hello";\nuse Own;\n',
        b"perl\nuse lib qw(/usr/share/hello);\nuse Own;\n",
        (
            b"ruby\n$LOAD_PATH.unshift File.expand_path('../share/hello', __dir__)\n"
            b"require 'own'\n"
        ),
        b"ruby\n$:.unshift('/usr/share/hello')\nrequire 'own'\n",
        (
            b'ruby\n$LOAD_PATH << File.expand_path("../../share/hello", __FILE__)\n'
            b"require 'own'\n"
        ),
    ],
)
def test_directories_that_a_program_adds_are_searched(program: bytes) -> None:
    language = program[:4].decode()
    module = {"perl": "Own.pm", "ruby": "own.rb"}[language]
    files = {
        "usr/bin/hello": b"#!/usr/bin/" + program,
        f"usr/bin/{language}": make_elf(),
        f"usr/share/hello/{module}": b"x",
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
    candidates = guessed(files)
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
    spot = BlindSpot(reason="computed-import", where="usr/bin/hello")
    assert guessed(files).blind_spots == (spot,)


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


def test_ruby_program_reads_what_it_requires() -> None:
    ruby = "usr/lib/ruby"
    files = {
        "usr/bin/hello": b"#!/usr/bin/ruby\nrequire 'a/b'\n",
        "usr/bin/ruby": make_elf(),
        f"{ruby}/3.1.0/rubygems.rb": b"",
        f"{ruby}/vendor_ruby/rubygems.rb": b"",
        f"{ruby}/3.1.0/a/b.rb": b"require_relative 'c'\ndef f\n  require 'd'\nend\n",
        f"{ruby}/3.1.0/a/c.rb": b"require 'e'\n",
        f"{ruby}/3.1.0/x86_64-linux-gnu/e.so": make_elf(),
        f"{ruby}/3.1.0/d.rb": b"",
    }
    later = {f"{ruby}/3.1.0/d.rb", f"{ruby}/3.1.0/rubygems.rb"}
    assert set(found(files, "usr/bin/hello")) == set(files) - later


def test_name_with_a_variable_is_a_blind_spot() -> None:
    program = b'#!/usr/bin/env ruby\nrequire "own/#{engine}/images"\n'
    candidates = guessed({"usr/bin/hello": program, "usr/bin/ruby": make_elf()})
    spot = BlindSpot(reason="computed-import", where="usr/bin/hello")
    assert candidates.blind_spots == (spot,)


@pytest.mark.parametrize("number", ["1.2.68", "0.11.4"])
def test_extension_opens_windows_by_sdl_1_which_may_open_sdl_2(number: str) -> None:
    lib = "usr/lib/x86_64-linux-gnu"
    files = {
        "usr/bin/hello": b"#!/usr/bin/ruby\nrequire 'sdl_ext'\n",
        "usr/bin/ruby": make_elf(),
        f"{lib}/ruby/vendor_ruby/3.3.0/sdl_ext.so": make_elf(
            needed=["libSDL-1.2.so.0"]
        ),
        f"{lib}/libSDL-1.2.so.{number}": make_elf(soname="libSDL-1.2.so.0"),
        f"{lib}/libSDL2-2.0.so.0": make_elf(),
        f"{lib}/dri/swrast_dri.so": make_elf(),
        "meta/gui/hello.desktop": b"",
    }
    link = {f"{lib}/libSDL-1.2.so.0": f"libSDL-1.2.so.{number}"}
    candidates = guessed(files, links=link)
    assert (candidates.kind, candidates.blind_spots) == ("SDL", ())
    ways = {file.entry.path: file.way for file in candidates.files}
    two = number.startswith("1")
    assert (f"{lib}/libSDL2-2.0.so.0" in ways) is two
    driver = "mesa-driver of sdl" if two else "mesa-driver of sdl1"
    assert ways[f"{lib}/dri/swrast_dri.so"] == driver


@pytest.mark.parametrize(
    "loader",
    [
        b"loader.load(\"Gtk\", version: '3.0')\n",
        b'def load\n  self.version = "3.0"\n  super("Gtk")\nend\n',
    ],
)
def test_bindings_load_the_namespaces_of_gobject(loader: bytes) -> None:
    lib = "usr/lib/x86_64-linux-gnu"
    files = {
        "usr/bin/hello": b"#!/usr/bin/ruby\nrequire 'gtk3'\n",
        "usr/bin/ruby": make_elf(),
        "usr/lib/ruby/vendor_ruby/gtk3.rb": loader,
        f"{lib}/girepository-1.0/Gtk-3.0.typelib": b"GOBJ\nMETADATA\r\n\x1a"
        b"\0libgtk-3.so.0\0",
        f"{lib}/libgtk-3.so.0": make_elf(),
    }
    assert set(found(files, "usr/bin/hello")) == set(files)


def test_program_of_a_gem_is_found_by_the_script_that_starts_it() -> None:
    gem = "usr/share/rubygems-integration/all/gems/hello-2.0"
    files = {
        "usr/bin/hello": b"#!/usr/bin/ruby\nrequire 'rubygems'\n"
        b"load Gem.activate_bin_path('hello', 'greet', version)\n",
        "usr/bin/ruby": make_elf(),
        f"{gem}/bin/greet": b"require 'hello/cli'\n",
        f"{gem}/lib/hello/cli.rb": b"x",
    }
    assert set(found(files, "usr/bin/hello")) == set(files)


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


def test_library_of_tk_opens_its_scripts_whoever_links_it() -> None:
    files = {**TCL, "usr/bin/hello": make_elf(needed=["libtk8.6.so"])}
    named = found(files, "usr/bin/hello")
    assert named["usr/share/tcltk/tk8.6/ttk/clamTheme.tcl"].way == "tk-themes"
    assert "usr/share/tcltk/tcl8.6/init.tcl" not in named


@pytest.mark.parametrize(
    "command",
    [
        "usr/bin/wish $SNAP/usr/share/hello/main.lua",
        "usr/bin/love $SNAP/usr/share/hello",
        "usr/bin/launch",
    ],
)
def test_script_that_is_given_to_an_interpreter_is_not_followed(command: str) -> None:
    files = {
        **TCL,
        "usr/bin/love": make_elf(),
        "usr/bin/launch": b"#!/bin/sh\nlove /usr/share/hello\n",
        "usr/share/hello/main.lua": b"x",
    }
    candidates = guessed(files, command)
    name = "wish" if "wish" in command else "love"
    where = "usr/share/hello/main.lua"
    spot = BlindSpot(reason="unfollowed-runtime", where=where, what=name)
    assert spot in candidates.blind_spots
    assert candidates.blindness == "program"


def test_interpreter_alone_has_nothing_to_follow() -> None:
    candidates = guessed({"usr/bin/tclsh": make_elf()}, "usr/bin/tclsh")
    assert candidates.blind_spots == ()
