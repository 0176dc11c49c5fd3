"""Caches that prime_from_debs.py makes as packages' triggers do."""

from __future__ import annotations

import pytest

from prime_triggers import without_folders


@pytest.mark.parametrize("end", ["", " "], ids=["gdk-pixbuf", "GTK 3"])
def test_cache_of_modules_does_not_name_the_build(end: str) -> None:
    line = f'"{{}}im-xim.so"{end}\n"xim" "X" "/usr/share/locale"\n'
    assert without_folders(line.format("/build/prime/usr/lib/")) == line.format("")
