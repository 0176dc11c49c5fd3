"""The JSON report's part on how its numbers were made, and when a download pays."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, get_args

import numpy as np
from pydantic import Field

from ..advice.evidence import break_even_launches, download_seconds
from ..codecs import CodecName
from .contract import Count, Interval, Part, Text, filled
from .phrases import SizesMade

if TYPE_CHECKING:
    from ..advice.recommendation import Recommendation
    from ..analysis import Analysis
    from ..trial.result import TrialResult
    from .json_report import TrialReport

LINKS_MBIT_PER_S = (5.0, 20.0, 50.0, 200.0, 1000.0)
"""From a poor mobile link to fibre; the policy's own is added."""


class BreakEvenReport(Part):
    """After how many cold launches lzo's larger download has paid for itself."""

    link_mbit_per_s: float
    download_s: Interval = Field(
        description="seconds that the download takes longer; negative where shorter"
    )
    launches: float | None = Field(description="null if it never pays off")
    launches_low: float | None = Field(
        description="at the best ends of the intervals; null if it never pays off"
    )
    launches_high: float | None = Field(
        description="at the worst ends of the intervals; null if it never pays off"
    )


class DeviceReport(Part):
    """A machine that costs were estimated for."""

    name: Text
    description: Text
    sources: list[Text] = Field(description="measured or published, as each one states")


class PolicyReport(Part):
    """When lzo is worth its bytes."""

    min_saving_s: float
    min_saving_share: float | None
    max_launches: float
    link_mbit_per_s: float
    deciding_apps: str
    max_growth_bytes: float | None
    max_growth_share: float | None


class MethodReport(Part):
    """How the figures were obtained."""

    command: Text = Field(description="empty if it isn't known")
    app_choice: str = Field(description="why these apps count")
    distinct_blocks: Count = Field(
        description="distinct data blocks, as an image stores them"
    )
    blocks_known: dict[CodecName, Count] = Field(
        description="of these, those whose size with a codec is measured"
    )
    devices: list[DeviceReport]
    policy: PolicyReport


def method_report(analysis: Analysis, *, command: str) -> MethodReport:
    """Return how an analysis was made."""
    stored = analysis.trial.stored
    return filled(
        MethodReport,
        analysis,
        command=command,
        distinct_blocks=stored.layout.block_count if stored else 0,
        blocks_known=_blocks_known(analysis.trial),
    )


def sizes_made(
    trial: TrialResult | TrialReport,
    method: MethodReport | None,
    *,
    image_bytes: int | None,
) -> SizesMade:
    """Return how a trial's sizes were made, be it fresh or saved.

    :param image_bytes: of a built snap, whose codec has exactly that size; ``None`` for
        a prime directory.
    """
    sizes = {name: each.image_bytes for name, each in trial.codecs.items()}
    own = (
        name
        for name, size in sizes.items()
        if size is not None and size.low == size.high == image_bytes
    )
    return SizesMade(
        packed=trial.mode == "exact",
        own=next(own, None),
        known_blocks=dict[str, int](method.blocks_known.items()) if method else {},
        all_blocks=method.distinct_blocks if method else 0,
    )


def _blocks_known(trial: TrialResult) -> dict[CodecName, int]:
    if trial.stored is None:
        return {}
    known: dict[str, int] = {
        name: int(np.count_nonzero(sizes.errors == 0))
        for name, sizes in trial.stored.codecs.items()
    }
    return {name: known[name] for name in CODEC_NAMES if name in known}


CODEC_NAMES: tuple[CodecName, ...] = get_args(CodecName)


def break_even_reports(
    advice: Recommendation, policy_link_mbit_per_s: float
) -> list[BreakEvenReport]:
    """Return for some links when lzo has paid; nothing where it isn't known."""
    added, decisive = advice.bytes_added, advice.decisive
    if added is None or decisive is None:
        return []
    seconds = decisive.seconds
    return [
        BreakEvenReport(
            link_mbit_per_s=link,
            download_s=Interval.model_validate(
                added.map(partial(download_seconds, link_mbit_per_s=link))
            ),
            launches=break_even_launches(added.mid, seconds.mid, link),
            launches_low=break_even_launches(added.low, seconds.high, link),
            launches_high=break_even_launches(added.high, seconds.low, link),
        )
        for link in sorted({*LINKS_MBIT_PER_S, policy_link_mbit_per_s})
    ]
