"""Payload that doesn't compress."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from analyses import make_analysis
from lint_contexts import MUCH, found_by, judged, make_context
from payloads import make_inventory
from snapcraft_compression_advisor.lint.rules.incompressible import (
    incompressible_payload,
)
from snapcraft_compression_advisor.lint.run import make_selection, run_rules
from snapcraft_compression_advisor.payload.layout import make_layout
from snapcraft_compression_advisor.trial.stored import (
    BlockSizes,
    StoredSizes,
    find_incompressible,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snapcraft_compression_advisor.lint.rule import Context

BLOCK = 131_072
FILES = ("bin/app", "media/film", "media/song")
FILM_AND_APP = (0.3, 0.3, 1.0, 1.0, 0.98)


def stored(
    ratios: Sequence[float] = FILM_AND_APP, errors: Sequence[float] = (0,) * 5
) -> StoredSizes:
    """Return sizes of an app of two blocks, a film of two and a song of one."""
    layout = make_layout(
        [(FILES[0], 2 * BLOCK), (FILES[1], 2 * BLOCK), (FILES[2], BLOCK)]
    )
    sizes = BlockSizes(
        stored_bytes=np.array(ratios) * BLOCK, errors=np.array(errors) * BLOCK
    )
    return StoredSizes(layout=layout, codecs={"xz": sizes})


def context(sizes: StoredSizes | None, **options: object) -> Context:
    analysis = judged(make_analysis(), "xz", MUCH)
    analysis = replace(analysis, trial=replace(analysis.trial, stored=sizes))
    made = make_context(analysis=analysis, policy=options)
    return replace(made, inventory=make_inventory(dict.fromkeys(FILES, BLOCK)))


def test_media_that_fill_the_image_are_found_the_largest_first() -> None:
    (finding,) = found_by(incompressible_payload, context(stored()))
    assert (finding.severity, finding.undecided) == ("info", False)
    assert finding.files == ("media/film", "media/song")
    assert finding.message.startswith("An estimated 83% of the image's data")
    assert "2 files, the largest media/film (262.1 kB)" in finding.message


def test_code_compresses_and_is_no_finding() -> None:
    ratios = (0.3, 0.3, 0.3, 0.3, 0.94)
    assert not found_by(incompressible_payload, context(stored(ratios)))


def test_little_media_is_no_finding() -> None:
    ratios = (0.9, 0.9, 0.9, 0.9, 0.96)
    assert not found_by(incompressible_payload, context(stored(ratios)))


def test_sizes_near_the_line_leave_it_undecided() -> None:
    ratios, errors = (0.3, 0.3, 0.95, 0.94, 0.95), (0, 0, 0.05, 0.05, 0.05)
    (finding,) = found_by(incompressible_payload, context(stored(ratios, errors)))
    assert finding.undecided
    assert finding.evidence[0].origin == "estimated"


def test_nothing_is_said_of_sizes_that_are_not_known() -> None:
    assert not found_by(incompressible_payload, context(None))
    empty = replace(stored(), codecs={})
    assert not found_by(incompressible_payload, context(empty))


def test_ignored_files_do_not_count() -> None:
    chosen = make_selection(
        context(None, ignore=["SCA105:media/film"], select=["SCA105"]).policy
    )
    (finding,) = run_rules(context(stored()), [incompressible_payload], chosen)
    assert finding.files == ("media/song",)
    assert finding.message.startswith("An estimated 27% of the image's data")


def test_blocks_near_the_line_make_an_interval() -> None:
    found = find_incompressible(
        stored((0.3, 0.3, 0.95, 1.0, 0.0), (0, 0, 0.01, 0, 0)), "xz", among=FILES
    )
    assert found is not None
    size = found.stored_bytes
    assert size.low == BLOCK
    assert size.mid == size.high == pytest.approx(1.95 * BLOCK)
    assert found.total_bytes == pytest.approx(BLOCK * 2.55)
