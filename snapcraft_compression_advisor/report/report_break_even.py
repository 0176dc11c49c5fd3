"""After how many cold launches the larger download of lzo has paid for itself."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pydantic import Field

from ..advice.evidence import break_even_launches, download_seconds
from .contract import Interval, Part

if TYPE_CHECKING:
    from ..advice.recommendation import Recommendation

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
