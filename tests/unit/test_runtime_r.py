"""Programs in R."""

from __future__ import annotations

from elf_files import make_elf
from guesses import found


def test_statistics_program_starts_the_shell_script_that_starts_the_real_one() -> None:
    files = {
        "usr/bin/Rscript": make_elf(),
        "usr/lib/R/bin/R": b'#!/bin/sh\nexec "${R_binary}"\n',
        "usr/lib/R/bin/exec/R": make_elf(),
        "usr/lib/R/library/base/R/base.rdb": b"x",
    }
    assert set(found(files, "usr/bin/Rscript x.R")) == set(files)
