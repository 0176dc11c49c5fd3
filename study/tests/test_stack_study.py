"""The study of launches over several mounts: how trees are split, what is compared."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.devices.device import (
    NO_COST,
    BlockCost,
    DeviceProfile,
)
from snapcraft_compression_advisor.launch.model import BlockSums
from stack_accuracy import apart_table, error_of, order_right, page, plain_error_of
from stack_data import CHOICES, Stacked, read_stacked
from stack_guess import Guessed, figures_of, ratios_of, read_guesses
from stack_launcher import COMBINATIONS, UNCOMPRESSED
from stack_layers import ROLES, Systems, recorded_application, split_tree

DOCS = Path(__file__).parents[2] / "docs"
ADDED_S = {"xz": 1.0, "lzo": 0.1, "none": 0.0}
SCALE = {"app": 4, "content": 2, "base": 1}


def cost(codec: str) -> BlockCost:
    nothing = Interval.exactly(0.0)
    return BlockCost(
        block_s=nothing,
        raw_s_per_byte=Interval.exactly(ADDED_S[codec]),
        stored_s_per_byte=nothing,
    )


DEVICE = DeviceProfile(
    name="test",
    description="",
    seek_s=Interval.exactly(0.0),
    read_s_per_byte=Interval.exactly(0.0),
    fill=BlockCost(
        block_s=Interval.exactly(0.01),
        raw_s_per_byte=Interval.exactly(0.0),
        stored_s_per_byte=Interval.exactly(0.0),
    ),
    decompress={"xz": cost("xz"), "lzo": cost("lzo"), "none": NO_COST},
    processors=2,
    sources=(),
)


def made_up(*, together: float = 1.0) -> Stacked:
    """Return launches that take what the model says but for a factor of each codec.

    :param together: what all of it takes, per second that the parts take by themselves.
    """
    stacked = Stacked(
        name="made-up",
        cold_s={},
        warm_s=(0.5, 0.51, 0.52),
        processors_busy=0.9,
        sums={
            (role, codec): BlockSums(
                blocks=10,
                raw_bytes=SCALE[role],
                compressed_blocks=10,
                compressed_raw_bytes=SCALE[role],
            )
            for role in ROLES
            for codec in ADDED_S
        },
        metadata_blocks=dict.fromkeys(ROLES, 0),
        device=DEVICE,
    )
    for each in COMBINATIONS:
        added_s = stacked.estimate(each).added_s.mid * together
        assert isinstance(stacked.cold_s, dict)
        stacked.cold_s[each] = tuple(warm_s + added_s for warm_s in stacked.warm_s)
    return stacked


def test_page_is_what_the_data_give() -> None:
    text = "\n".join([*page(read_stacked()), ""])
    assert text == (DOCS / "study/stacks.md").read_text(encoding="utf-8")


def test_paths_go_to_the_lowest_system_that_has_them(tmp_path: Path) -> None:
    tree, minimal, toolkit = (tmp_path / name for name in ("tree", "one", "two"))
    for root, names in (
        (minimal, ("usr/bin/sh",)),
        (toolkit, ("usr/bin/sh", "usr/lib/mesa")),
        (tree, ("usr/bin/sh", "usr/lib/mesa", "usr/bin/app", "usr/lib/own")),
    ):
        for name in names:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(f"{name} of {root.name}")
    (minimal / "run").mkdir()
    (tree / "run").mkdir()
    (tree / "usr/link").symlink_to("bin")
    os.utime(tree / "usr/lib", ns=(1, 2_000_000_000))
    layers = split_tree(
        tree, Systems(minimal=minimal, toolkit=toolkit), tmp_path / "layers"
    )
    found = {
        role: sorted(
            str(path.relative_to(layer))
            for path in layer.rglob("*")
            if path.is_symlink() or not path.is_dir() or path.name == "run"
        )
        for role, layer in layers.items()
    }
    assert found == {
        "app": ["usr/bin/app", "usr/lib/own", "usr/link"],
        "content": ["usr/lib/mesa"],
        "base": ["run", "usr/bin/sh"],
    }
    assert (layers["base"] / "usr/bin/sh").read_text() == "usr/bin/sh of tree"
    for role in ("app", "content"):
        assert (layers[role] / "usr/lib").stat().st_mtime_ns == 2_000_000_000


def test_application_of_the_draw_is_known_by_its_name() -> None:
    vitables = recorded_application("vitables")
    assert (vitables.suite, vitables.kind, vitables.event) == (
        "bookworm", "qt5", "window",
    )  # fmt: skip
    assert recorded_application("gnome-calculator").kind == "gtk4"


def test_what_the_model_says_is_what_its_launches_take() -> None:
    stacked = made_up()
    assert [error_of(stacked, each) for each in CHOICES] == pytest.approx([0] * 8)
    assert [plain_error_of(stacked, each) for each in CHOICES] == pytest.approx([0] * 8)
    assert stacked.over_warm_s(UNCOMPRESSED) == pytest.approx(0.3)
    slower = made_up(together=1.25)
    assert error_of(slower, ("xz", "xz", "lzo")) == pytest.approx(-0.2)


def test_order_of_combinations_is_that_of_their_times() -> None:
    assert order_right([made_up()]) == (28, 28)
    assert order_right([made_up(together=-1.0)]) == (0, 28)


def test_launch_that_is_busy_elsewhere_waits_for_less() -> None:
    one, two = made_up(), made_up()
    assert (
        Stacked(
            name="busy",
            cold_s={},
            warm_s=(),
            processors_busy=2.0,
            sums=two.sums,
            metadata_blocks=two.metadata_blocks,
            device=DEVICE,
        )
        .estimate(("xz",) * 3)
        .added_s.mid
    ) == pytest.approx(one.estimate(("xz",) * 3).added_s.mid / 2)


def test_parts_that_add_up_cost_the_same_beside_xz() -> None:
    assert "adds 1.00 times what it adds beside lzo" in "\n".join(
        apart_table([made_up()])
    )


def test_guess_is_scored_by_the_payloads_asked_for() -> None:
    guesses = [
        Guessed(
            application=name, kind="Qt", role=role, read_bytes=read, expected_bytes=5
        )
        for name, role, read in (
            ("one", "base", 4_000_000),
            ("one", "content", 6_000_000),
            ("one", "app", 50_000_000),
            ("small", "base", 10),
        )
    ]
    assert ratios_of(guesses, ("base", "content")) == [1_000_000]
    assert list(figures_of([0.5, 0.7, 1.0, 1.5, 2.0]))[-2:] == ["3 (60%)", "1 (20%)"]


def test_kept_guesses_are_of_all_three_payloads() -> None:
    assert {each.role for each in read_guesses()} == set(ROLES)
