"""A month of refreshes like the one between two builds, as a section."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..wording import month_text
from .month import month_report, section_of_month

if TYPE_CHECKING:
    from ..advice.refresh_month import RefreshMonth
    from .page.model import Section

_ASSUMED = (
    "Assumed, because nothing is known of the users: the key 'refresh' of "
    "compression-advisor.yaml says how often they refresh and launch the snap."
)


def refresh_month_section(month: RefreshMonth | None) -> Section | None:
    """Return a month as a table; ``None`` where there is none."""
    if month is None:
        return None
    said = (month_text(month.month), *((_ASSUMED,) if month.assumed else ()))
    return section_of_month(month_report(month.month), *said)
