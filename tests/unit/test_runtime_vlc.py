"""Programs on libVLC, which looks for its plug-ins at run time."""

from __future__ import annotations

import pytest

from elf_files import make_elf
from guesses import found

LIB = "usr/lib/x86_64-linux-gnu"
PLUGINS = f"{LIB}/vlc/plugins"
FILES = {
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
    named = set(found({**FILES, **listed}, "usr/bin/hello"))
    assert named - set(listed) == (set(FILES) - CODEC if listed else set(FILES))


def test_program_without_it_opens_none() -> None:
    files = {**FILES, "usr/bin/hello": make_elf()}
    assert set(found(files, "usr/bin/hello")) == {"usr/bin/hello"}
