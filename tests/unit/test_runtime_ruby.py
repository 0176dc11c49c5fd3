"""Programs in Ruby."""

from __future__ import annotations

from elf_files import make_elf
from guesses import found


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
