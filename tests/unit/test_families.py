"""What files belong to, and the groups of a launch that follow from it."""

from __future__ import annotations

import pytest

from snapcraft_compression_advisor.launch.launch_set import LaunchFile
from snapcraft_compression_advisor.payload.families import file_family
from snapcraft_compression_advisor.report.files import (
    LISTED_GROUPS,
    SMALLER,
    launch_groups,
)


def file(path: str, blocks: int = 1) -> LaunchFile:
    return LaunchFile(path=path, size_bytes=blocks, blocks=((0, blocks - 1),))


@pytest.mark.parametrize(
    ("path", "family"),
    [
        ("usr/lib/x86_64-linux-gnu/libgtk-4.so.1.800.3", "GTK"),
        ("usr/lib/x86_64-linux-gnu/libQt5Core.so.5", "Qt"),
        ("usr/lib/x86_64-linux-gnu/qt5/plugins/platforms/libqxcb.so", "Qt"),
        ("usr/lib/x86_64-linux-gnu/libKF5CoreAddons.so.5", "KDE Frameworks"),
        ("usr/lib/llvm-15/lib/libLLVM-15.so.1", "LLVM and Mesa"),
        ("usr/lib/aarch64-linux-gnu/dri/swrast_dri.so", "LLVM and Mesa"),
        ("usr/lib/python3.11/json/decoder.py", "Python's standard library"),
        ("usr/lib/python3.11/lib-dynload/_ssl.so", "Python's standard library"),
        ("usr/lib/python3/dist-packages/meld/filediff.py", "Python: meld"),
        ("usr/lib/python3/dist-packages/six.py", "Python: six"),
        ("usr/share/nodejs/x/node_modules/@a/b/index.js", "Node: @a/b"),
        ("usr/share/locale/de/LC_MESSAGES/gtk40.mo", "locale data"),
        ("usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", "fonts"),
        ("etc/fonts/conf.avail/10-autohint.conf", "fonts"),
        ("usr/share/icons/Adwaita/index.theme", "icons"),
        ("usr/lib/firefox-esr/libxul.so", "firefox-esr"),
        ("opt/tool/bin/data", "tool"),
        ("usr/lib/x86_64-linux-gnu/libunheardof.so.1", "other libraries"),
        ("usr/bin/meld", "programs"),
        ("srv/data/x", "srv/data"),
        ("x", "/"),
    ],
)
def test_paths_tell_what_a_file_belongs_to(path: str, family: str) -> None:
    assert file_family(path) == family


def test_groups_hold_every_block_once() -> None:
    files = [
        file(f"usr/share/p{number}/d{n}/f{n}", 1 + n % 7)
        for number in range(60)
        for n in range(9)
    ]
    groups = launch_groups([*files, file("usr/bin/x", 200)])
    assert len(groups) <= LISTED_GROUPS + 1
    assert groups[-1].name == SMALLER
    whole = sum(each.expected_blocks for each in files) + 200
    assert sum(group.blocks for group in groups) == pytest.approx(whole)
    for group in groups:
        assert sum(part.blocks for part in group.parts) == pytest.approx(group.blocks)
        assert sum(part.files for part in group.parts) == group.files


def test_launch_that_reads_nothing_has_no_groups() -> None:
    assert launch_groups(()) == []
