"""Programs in Perl."""

from __future__ import annotations

from elf_files import make_elf
from guesses import found


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
