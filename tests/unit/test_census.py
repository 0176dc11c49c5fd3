"""Blocks looked at, the sample of them that is tried, and what files take."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_mock import MockerFixture

from made_blocks import BLOCK, make_census, some_lots, whole
from payloads import make_payload
from snapcraft_compression_advisor.codecs.zstandard import Zstd
from snapcraft_compression_advisor.core.errors import StorageError
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.launch_set import LaunchFile
from snapcraft_compression_advisor.payload.inventory import file_group
from snapcraft_compression_advisor.payload.layout import lay_out, make_layout
from snapcraft_compression_advisor.report.files import (
    LISTED_GROUPS,
    SMALLER,
    launch_groups,
)
from snapcraft_compression_advisor.trial.census import (
    MANY_BLOCKS,
    Sample,
    closer_phase,
    draw,
    draw_lots,
    take_census,
)
from snapcraft_compression_advisor.trial.look import QuickLook
from snapcraft_compression_advisor.trial.stored import ALIKE, BlockSizes, StoredSizes

NOISE = random.Random(5).randbytes(1000)
TEXT = b"the same words again and again " * 10_000


def test_blocks_have_the_size_that_a_quick_look_gives() -> None:
    payload = make_payload({"noise": NOISE, "text": TEXT})
    blocks = take_census(payload, lay_out(payload)).blocks
    assert blocks.raw_bytes.tolist() == [1000, BLOCK, BLOCK, len(TEXT) - 2 * BLOCK]
    parts = (TEXT[:BLOCK], TEXT[BLOCK : 2 * BLOCK], TEXT[2 * BLOCK :])
    sizes = (blocks.ratios[:, 0] * blocks.raw_bytes).tolist()
    looked = [QuickLook().at(each)[0] for each in parts]
    assert sizes == pytest.approx([1000, *looked])


def test_blocks_of_zeros_are_told_apart_and_take_no_room() -> None:
    zeros = bytes(BLOCK)
    payload = make_payload({"noise": NOISE, "zeros": zeros + b"x" + zeros})
    census = take_census(payload, lay_out(payload))
    assert len(census.phases) == 1
    assert census.blocks.zeros.tolist() == [False, True, False, True]
    assert census.raw_bytes == len(NOISE) + BLOCK


def test_without_libzstd_another_fast_codec_serves(mocker: MockerFixture) -> None:
    mocker.patch.object(Zstd, "available", new=False)
    payload = make_payload({"text": TEXT, "zeros": bytes(10)})
    blocks = take_census(payload, lay_out(payload)).blocks
    assert blocks.ratios.shape == (len(blocks.members), 1)
    assert (blocks.ratios < 1).all()


def test_large_payload_is_looked_at_in_part() -> None:
    payload = make_payload({f"f{n}": NOISE[n:] for n in range(100)})
    census = take_census(payload, lay_out(payload), most_blocks=20)
    blocks = census.blocks
    assert len(blocks.members) == 20
    assert not blocks.complete
    assert len(census.phases[0].members) == 100
    assert (blocks.weights * blocks.raw_bytes).sum() == pytest.approx(
        payload.inventory.raw_bytes, rel=0.02
    )
    assert census.raw_bytes == payload.inventory.raw_bytes


def test_file_that_became_shorter_is_an_error() -> None:
    payload = make_payload({"text": TEXT})
    layout = lay_out(payload)
    payload.files = {"text": TEXT[:-1]}
    with pytest.raises(StorageError, match="'text' became shorter"):
        take_census(payload, layout)


def test_empty_payload_has_an_empty_census() -> None:
    payload = make_payload({"empty": b""})
    assert len(take_census(payload, lay_out(payload)).blocks.members) == 0


def test_closer_phase_keeps_what_was_known_and_adds_to_it() -> None:
    census, slow = make_census(10)
    members, shares = np.array([2, 5]), np.array([0.25, 0.5])
    sizes = np.column_stack((slow[members], [7.0, 8.0]))
    drawn = Sample(members=members, shares=shares)
    closer = closer_phase(census, drawn, sizes)
    assert closer.weights.tolist() == [4.0, 2.0]
    assert closer.ratios[:, 0].tolist() == census.ratios[members, 0].tolist()
    assert (closer.ratios[:, 1:] * closer.raw_bytes[:, None]).tolist() == [
        pytest.approx(row) for row in sizes.tolist()
    ]
    assert closer.latest == 2


@pytest.mark.parametrize("known", [MANY_BLOCKS - 1, MANY_BLOCKS])
def test_predictors_are_standardised_and_constant_ones_are_harmless(known: int) -> None:
    census, _ = make_census(500)
    rows = census.predictors(known=known)
    assert rows.mean(axis=0) == pytest.approx(0, abs=1e-9)
    assert rows.std(axis=0) == pytest.approx(1)
    flat = closer_phase(census, whole(census), census.raw_bytes[:, None])
    assert np.isfinite(flat.predictors(known=known)).all()


def test_the_more_blocks_are_known_the_more_they_are_asked_about() -> None:
    census, slow = make_census(500)
    closer = closer_phase(census, whole(census), slow[:, None])
    columns = [
        closer.predictors(known=known).shape[1]
        for known in (MANY_BLOCKS - 1, MANY_BLOCKS)
    ]
    # The closest ratio; both, the length, and how these bend.
    assert columns == [1, 8]


def take(count: int, *, blocks: int = 1000, seed: int = 0) -> Sample:
    census, _ = make_census(blocks)
    return draw(replace(census, lots=some_lots(blocks, seed=seed)), count)


def test_chance_grows_with_the_length_of_a_block() -> None:
    census, _ = make_census(1000)
    sample = take(50)
    assert sample.shares == pytest.approx(
        50 * census.raw_bytes[sample.members] / census.raw_bytes.sum()
    )


def test_few_blocks_are_all_taken() -> None:
    sample = take(50, blocks=30)
    assert sorted(sample.members.tolist()) == list(range(30))
    assert sample.shares.tolist() == [1.0] * 30


@given(st.integers(0, 80), st.integers(0, 80), st.integers(0, 5))
def test_any_draw_has_distinct_blocks_with_chances(
    blocks: int, count: int, seed: int
) -> None:
    sample = take(count, blocks=blocks, seed=seed)
    members = sample.members.tolist()
    assert len(set(members)) == len(members) == min(count, blocks)
    assert ((sample.shares > 0) & (sample.shares <= 1)).all()


def test_blocks_of_zeros_are_never_drawn() -> None:
    census, _ = make_census(40)
    zeros = np.arange(40) < 10
    sample = draw(replace(census, zeros=zeros), 50)
    assert sorted(sample.members.tolist()) == list(range(10, 40))


@pytest.mark.parametrize("seed", [0, 1, 7])
@pytest.mark.parametrize("count", [51, 100, 150])
def test_larger_draw_has_the_blocks_of_the_smaller(seed: int, count: int) -> None:
    few, many = (set(take(n, seed=seed).members.tolist()) for n in (50, count))
    assert few < many


def test_blocks_of_a_draw_are_drawn_of_what_was_drawn_before_likewise() -> None:
    census, _ = make_census(4000)
    totals, lots_left = [], []
    for seed in range(40):
        lots = some_lots(4000, seed=seed)
        phase = replace(census, lots=lots)
        for count in (800, 100):
            drawn = draw(phase, count)
            nothing = np.zeros((len(drawn.members), 1))
            phase = closer_phase(phase, drawn, nothing)
        totals.append(phase.weights @ phase.raw_bytes / census.raw_bytes.sum())
        lots_left.append(phase.lots.mean())
    assert np.mean(totals) == pytest.approx(1.0, abs=0.02)
    assert np.mean(lots_left) == pytest.approx(0.5, abs=0.03)


LAYOUT = make_layout(
    [("long", 5_000 * BLOCK), *((f"d/f{n}", 3_000) for n in range(2_000))]
)


@pytest.mark.parametrize("share", [0.01, 0.05, 0.3])
def test_low_lots_are_spread_evenly_over_a_file(share: float) -> None:
    gaps = np.diff(np.flatnonzero(draw_lots(LAYOUT)[:5_000] < share))
    assert len(set(gaps.tolist())) <= 3
    assert gaps.max() <= 3 / share


def test_lots_are_distributed_evenly() -> None:
    lots = draw_lots(
        make_layout([(f"d{n}/f", 3_000 if n % 2 else 20 * BLOCK) for n in range(999)])
    )
    counts, _ = np.histogram(lots, bins=10, range=(0, 1))
    assert counts == pytest.approx([len(lots) / 10] * 10, rel=0.1)


def test_lots_of_a_file_stay_whatever_else_changes() -> None:
    files = [("a/x", 500), ("b", 30 * BLOCK), ("c/y", 700), ("d", 9 * BLOCK)]
    one, other = make_layout(files), make_layout([files[1], ("e", 8 * BLOCK), files[2]])
    for path in ("b", "c/y"):
        lots = [
            draw_lots(layout)[list(layout.blocks_of(path))].tolist()
            for layout in (one, other)
        ]
        assert lots[0] == lots[1]


def test_longer_file_has_the_lots_of_the_shorter() -> None:
    short, long = (draw_lots(make_layout([("a", n * BLOCK)])) for n in (20, 30))
    assert short.tolist() == long[:20].tolist()


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
