"""What a project says of its refreshes: the key ``refresh`` of the policy."""

from __future__ import annotations

import pydantic

from ..advice.evidence import Deltas, Habits
from .quantities import Count, Percent, PolicyModel, Text

DAYS = 365.25 / 12
"""Of an average month."""


class RefreshSettings(PolicyModel):
    """What refreshes bring to a user's device."""

    per_month: Count = pydantic.Field(
        description="how many refreshes a user gets in a month"
    )
    cold_launches_per_day: Count = pydantic.Field(
        description="how many cold launches a user makes in a day"
    )
    deltas: Deltas = pydantic.Field(
        default="none",
        description="what a refresh downloads: 'none' for the whole image; 'xdelta3' "
        "for a plain delta between images; 'snap-1-1-xdelta3' for a snap-aware delta",
    )
    delta_share: Percent | None = pydantic.Field(
        default=None,
        description="size of a typical delta, in percent of the image with xz",
    )

    previous: Text | None = pydantic.Field(
        default=None,
        description="in place of that, the previous build, relative to this file: a "
        ".snap or a prime directory, which xdelta3 makes the delta from",
    )

    @pydantic.model_validator(mode="after")
    def _size_of_deltas_is_known(self) -> RefreshSettings:
        ways = [each for each in (self.delta_share, self.previous) if each is not None]
        if self.deltas == "none" and ways:
            message = "'delta-share' and 'previous' have no effect with 'deltas: none'"
            raise ValueError(message)
        if self.deltas != "none" and len(ways) != 1:
            message = (
                f"'deltas: {self.deltas}' needs 'delta-share', the size of a typical "
                "delta, or 'previous', but not both"
            )
            raise ValueError(message)
        return self

    def to_habits(self) -> Habits:
        """Return what a user does in a month."""
        return Habits(
            refreshes=self.per_month,
            launches=self.cold_launches_per_day * DAYS,
            deltas=self.deltas,
            delta_share=self.delta_share,
        )
