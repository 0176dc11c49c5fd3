"""Shares drawn from counts."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from payloads import make_inventory
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.guess.block_classes import (
    ElfParts,
    block_keys,
    file_name_class,
)
from snapcraft_compression_advisor.launch.guess.candidates import (
    NO_WINDOW,
    Candidate,
    Role,
)
from snapcraft_compression_advisor.launch.guess.priors import (
    MODULES,
    UNKNOWN_DRIVER_SHARE,
    UNKNOWN_FILE_SHARE,
    UNKNOWN_SHARE,
    UNLIKELY_FILE_SHARE,
    WEIGHT,
    Counts,
    GuessedApp,
    Priors,
    Reference,
    built_in_priors,
    parse_priors,
)
from snapcraft_compression_advisor.launch.launch_set import WAITED_SHARE, LaunchFile
from static_fit import document_text, priors_document
from static_folds import summed, wider_class

SHARE = Interval(low=0.5, mid=1.0, high=2.0)


def counts(**rows: tuple[int, int]) -> Counts:
    result = Counts()
    for key, (read, counted) in rows.items():
        result.add(key, read=read, counted=counted)
    return result


PRIORS = Priors(
    files=counts(seen=(9, 10)),
    blocks=counts(wide=(50, 100), narrow=(4, 4)),
    read_share=SHARE,
    seek_share=SHARE,
    unseen_share=Interval(low=0.1, mid=1.0, high=10.0),
    kinds={"GTK 4": (("calculator", 1.1),)},
    parallel_kinds=("GTK 4",),
)

FIT: dict[str, object] = {"fitted_on": ["a", "b"], "fitted_at": "2026-01-02"}


def candidate(path: str, *, way: str = "linked", role: Role = "library") -> Candidate:
    entry = make_inventory({path: 1}).entries[path]
    return Candidate(entry=entry, way=way, role=role)


def launch_file(blocks: int) -> LaunchFile:
    return LaunchFile(path="a", size_bytes=1, blocks=((0, blocks - 1),))


def test_share_of_a_class_is_drawn_towards_that_of_the_wider_one() -> None:
    wide = (50 + WEIGHT * UNKNOWN_SHARE) / (100 + WEIGHT)
    assert PRIORS.block_share(["wide"]) == pytest.approx(wide)
    assert PRIORS.block_share(["wide", "narrow"]) == pytest.approx(
        (4 + WEIGHT * wide) / (4 + WEIGHT)
    )
    assert PRIORS.block_share(["wide", "never seen"]) == pytest.approx(wide)


def test_files_of_a_rule_that_was_never_seen_are_expected_as_it_was_written() -> None:
    assert PRIORS.file_share("never seen") == UNKNOWN_FILE_SHARE
    assert PRIORS.file_share("never seen" + NO_WINDOW) == UNLIKELY_FILE_SHARE
    assert PRIORS.file_share("own-image") == UNLIKELY_FILE_SHARE
    assert PRIORS.file_share("mesa-driver of a new toolkit") == UNKNOWN_DRIVER_SHARE
    assert PRIORS.file_share("seen") == pytest.approx((9 + UNKNOWN_FILE_SHARE) / 11)


def test_counts_of_applications_add_up() -> None:
    total = summed([counts(a=(1, 2)), counts(a=(1, 1)), counts(b=(0, 5))])
    assert (total.read["a"], total.counted["a"]) == (2, 3)
    assert (total.read["b"], total.counted["b"]) == (0, 5)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("usr/lib/libLLVM-15.so.1", "libLLVM"),
        ("usr/lib/libLLVM.so.19.1", "libLLVM"),
        ("usr/lib/libQt5Gui.so.5.15.8", "libQt5Gui"),
        ("usr/lib/libcairo-gobject.so.2.11600.0", "libcairo-gobject"),
        ("usr/lib/libunwind-x86_64.so.8.0.1", "libunwind-x86_64"),
        ("app.libs/libscipy_openblas64_-32a4b2a6.so", "libscipy_openblas64_"),
        ("lib/x/QtCore.abi3.so", "QtCore"),
        ("lib/x/QtCore.cpython-312-x86_64-linux-gnu.so", "QtCore"),
        ("usr/lib/dri/iris_dri.so", "mesa-driver"),
        ("usr/lib/libgallium-24.2.so", "mesa-driver"),
        ("usr/bin/hello", "hello"),
    ],
)
def test_library_is_known_by_its_name_whatever_its_version(
    path: str, name: str
) -> None:
    assert file_name_class(path) == name


def test_blocks_of_a_library_have_classes_by_part_size_use_and_name() -> None:
    parts = ElfParts(parts=("linking", "text", "data"), text_bytes=1)
    first, second, third = block_keys(candidate("lib/liba.so"), parts, 3)
    assert first[:4] == ("linking", "linking <8", "linking <8 library", "linking liba")
    assert (second[0], third[0]) == ("text 1 behind linking", "data")


def test_first_block_of_other_files_is_told_from_the_rest() -> None:
    keys = block_keys(candidate("share/x", way="mime-cache"), None, 3)
    assert keys[0] == ("data-first", "data-first mime-cache")
    assert keys[1] == keys[2] == ("data", "data mime-cache")


def test_long_data_file_is_told_apart_by_place() -> None:
    keys = block_keys(candidate("lib/modules", way="java-modules"), None, 100)
    assert keys[99][-1] == "data java-modules 63 of 64"
    assert keys[1][-1] == "data java-modules 0 of 64"


def app(kind: str, *, blocks: int = 99, modules_missed: bool = False) -> GuessedApp:
    return GuessedApp(
        kind=kind,
        payload_blocks=blocks,
        payload_files=9,
        modules_missed=modules_missed,
    )


def test_interval_of_a_kind_that_was_not_recorded_is_wider() -> None:
    known, _ = PRIORS.shares([launch_file(1)], app("GTK 4"))
    unseen, _ = PRIORS.shares([launch_file(1)], app("GTK 5"))
    assert known == SHARE
    assert unseen == PRIORS.unseen_share


def test_a_kind_has_a_spread_of_its_own() -> None:
    own = Interval(low=0.9, mid=1.1, high=1.2)
    priors = replace(PRIORS, kind_shares={"GTK 4": own})
    assert priors.shares([launch_file(1)], app("GTK 4"))[0] == own


def test_modules_that_were_missed_widen_the_interval() -> None:
    others = Reference(
        read_share=Interval(low=0.4, mid=1.2, high=3.0),
        seek_share=Interval(low=0.6, mid=1.0, high=5.0),
    )
    priors = replace(PRIORS, references={MODULES: others})
    shares = priors.shares([launch_file(1)], app("GTK 4", modules_missed=True))
    assert shares == (
        Interval(low=0.4, mid=1.0, high=3.0),
        Interval(low=0.5, mid=1.0, high=5.0),
    )
    (alone, _) = PRIORS.shares([launch_file(1)], app("GTK 4", modules_missed=True))
    assert alone.high == app("GTK 4").payload_blocks


def test_no_more_than_the_payload_is_read() -> None:
    read, _ = PRIORS.shares([launch_file(4)], app("GTK 4", blocks=6))
    assert read == replace(SHARE, high=1.5)


def test_launch_of_nothing_known_has_shares() -> None:
    read, seeks = PRIORS.shares([], app("GTK 4", blocks=6))
    assert read.low <= read.mid <= read.high
    assert seeks == SHARE


def test_launches_of_a_kind_wait_as_recorded_ones_did() -> None:
    rows = (("one", 1.0), ("two", 1.0), ("three", 1.0))
    priors = replace(
        PRIORS,
        kinds={"Java": rows, "Tk": rows, "R": rows[:2]},
        parallel_kinds=("Java",),
    )
    assert priors.waited_share("Java") == WAITED_SHARE
    assert priors.waited_share("Tk") == Interval.exactly(1.0)
    assert priors.waited_share("R") == priors.waited_share("Qt") == WAITED_SHARE


def test_stretch_belongs_to_a_part_of_a_library() -> None:
    parts = ElfParts(parts=("linking", "text", "data"), text_bytes=1)
    first, second, third = block_keys(candidate("lib/liba.so"), parts, 3)
    assert wider_class(second[-1]) == second[-2] == "text 1 behind linking liba"
    assert [wider_class(key) for key in (*first, *third)] == [None] * 8


def test_priors_survive_their_document() -> None:
    text = document_text(priors_document(PRIORS, FIT))
    assert json.loads(text)["fit"] == FIT
    assert parse_priors(json.loads(text)) == PRIORS


def test_built_in_priors_are_of_many_applications() -> None:
    priors = built_in_priors()
    assert sum(len(recorded) for recorded in priors.kinds.values()) >= 16
    assert priors.read_share.low < 1 < priors.read_share.high
    assert priors.unseen_share.high > priors.read_share.high
    for part in (priors.files, priors.blocks):
        assert all(part.read[key] <= part.counted[key] for key in part.counted)
