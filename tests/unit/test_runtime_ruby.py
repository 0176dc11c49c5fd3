"""Programs in Ruby."""

from __future__ import annotations

import pytest

from elf_files import make_elf
from guesses import found
from payloads import make_payload
from snapcraft_compression_advisor.launch.guess.candidates import find_candidates
from snapcraft_compression_advisor.launch.launch_set import BlindSpot


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


@pytest.mark.parametrize(
    "change",
    [
        b"$LOAD_PATH.unshift File.expand_path('../../share/hello', __dir__)\n",
        b"$:.unshift('/usr/share/hello')\n",
        b'$LOAD_PATH << File.expand_path("../../share/hello", __FILE__)\n',
    ],
)
def test_directories_that_a_program_adds_are_searched(change: bytes) -> None:
    files = {
        "usr/bin/hello": b"#!/usr/bin/ruby\n" + change + b"require 'own'\n",
        "usr/bin/ruby": make_elf(),
        "usr/share/hello/own.rb": b"x",
        "share/hello/own.rb": b"x",
    }
    assert {"usr/share/hello/own.rb"} <= set(found(files, "usr/bin/hello"))


@pytest.mark.parametrize(
    ("program", "known"),
    [
        (b"engine ||= 'sdl'\nrequire \"own/#{engine}/images\"\n", True),
        (b'require "own/#{engine}/images"\n', False),
    ],
)
def test_names_are_filled_with_texts_that_variables_have(
    program: bytes, *, known: bool
) -> None:
    images = "usr/lib/ruby/vendor_ruby/own/sdl/images.rb"
    payload = make_payload(
        {
            "usr/bin/hello": b"#!/usr/bin/env ruby\n" + program,
            "usr/bin/ruby": make_elf(),
            images: b"x",
        },
        base="bare",
        apps={"hello": {"command": "usr/bin/hello"}},
    )
    candidates = find_candidates(payload, "hello")
    assert (images in {file.entry.path for file in candidates.files}) is known
    spot = BlindSpot(reason="computed-import", where="usr/bin/hello")
    assert candidates.blind_spots == (() if known else (spot,))


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
    payload = make_payload(
        files, links=link, base="bare", apps={"hello": {"command": "usr/bin/hello"}}
    )
    candidates = find_candidates(payload, "hello")
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
