"""What files take of an image, each and by what they belong to."""

from __future__ import annotations

import numpy as np
import pytest

from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.launch_set import LaunchFile
from snapcraft_compression_advisor.payload.inventory import file_group
from snapcraft_compression_advisor.payload.layout import make_layout
from snapcraft_compression_advisor.report.files import (
    LISTED_GROUPS,
    SMALLER,
    launch_groups,
)
from snapcraft_compression_advisor.trial.stored import (
    ALIKE,
    BlockSizes,
    StoredSizes,
)

BLOCK = 128 * 1024


def sizes_of(*, errors: float = 0.0) -> StoredSizes:
    """Return a file of two blocks and a half, a copy of it, and a small one."""
    layout = make_layout(
        [("large", 5 * BLOCK // 2), ("small", 1000)], same_as={"copy": "large"}
    )
    stored = np.array([60_000, 40_000, 20_000, 300], dtype=np.float64)
    return StoredSizes(
        layout=layout,
        codecs={"xz": BlockSizes(stored_bytes=stored, errors=stored * errors)},
    )


def test_a_file_takes_what_its_blocks_take() -> None:
    assert sizes_of().freed(["small"], "xz") == Interval.exactly(300)


def test_a_content_counts_once_and_only_if_all_of_its_names_go() -> None:
    sizes = sizes_of()
    assert sizes.freed(["large"], "xz") == Interval.exactly(0)
    assert sizes.freed(["copy"], "xz") == Interval.exactly(0)
    assert sizes.freed(["copy", "large"], "xz") == Interval.exactly(120_000)


def test_names_without_contents_are_passed_over() -> None:
    assert sizes_of().freed(["a directory"], "xz") == Interval.exactly(0)


def test_a_codec_that_was_not_tried_is_unknown() -> None:
    sizes = sizes_of()
    assert sizes.freed(["small"], "lz4") is None
    assert sizes.freed_by_parts("small", [(0, 1)], "lz4") is None


def test_errors_of_blocks_partly_add_up() -> None:
    freed = sizes_of(errors=0.1).freed(["copy", "large"], "xz")
    assert freed is not None
    assert freed.mid == 120_000
    alone = np.sqrt(6_000**2 + 4_000**2 + 2_000**2)
    error = np.sqrt((1 - ALIKE) * alone**2 + ALIKE * 12_000**2)
    assert freed.high - freed.mid == pytest.approx(2.17 * error)
    assert freed.low == pytest.approx(2 * freed.mid - freed.high)


def test_unread_blocks_are_off_by_chance_but_in_runs() -> None:
    layout = make_layout([("a", 100 * BLOCK)])
    stored, errors = np.full(100, 1000.0), np.full(100, 300.0)
    halves = {
        runs: BlockSizes(
            stored_bytes=stored, errors=errors, runs=np.full(100, runs)
        ).total(np.arange(layout.block_count))
        for runs in (0, 1, 9)
    }
    width = {runs: each.high - each.mid for runs, each in halves.items()}
    assert width[1] < width[9] < width[0]
    by_chance = np.sqrt(9 * 100) * 300
    alike = np.sqrt((1 - ALIKE) * 100 * 50**2 + ALIKE * 5000**2)
    assert width[9] == pytest.approx(2.17 * np.hypot(by_chance, alike))


def test_a_part_takes_whole_blocks_for_certain_and_may_take_some_of_others() -> None:
    parts = [(BLOCK, 9 * BLOCK // 4)]  # the second block, and half of the tail
    assert sizes_of().freed_by_parts("large", parts, "xz") == Interval(
        low=40_000, mid=50_000, high=60_000
    )


def file(path: str, blocks: int = 1) -> LaunchFile:
    return LaunchFile(path=path, size_bytes=blocks, blocks=((0, blocks - 1),))


@pytest.mark.parametrize(
    ("path", "group"),
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
def test_paths_tell_what_a_file_belongs_to(path: str, group: str) -> None:
    assert file_group(path) == group


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
