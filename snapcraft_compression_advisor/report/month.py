"""A user's month with xz and with lzo, launches and downloads: a section, and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.units import seconds, sentence, size
from ..wording import habits_text, month_text
from .document import Part, part
from .model import Section, Table

if TYPE_CHECKING:
    from ..advice.month import Month
    from ..core.units import Interval

_ASSUMED = (
    "Assumed, because nothing is known of the users: the key 'refresh' of "
    "compression-advisor.yaml says how often they refresh and launch the snap."
)
_WHAT_IS_DOWNLOADED = {
    "none": "Each refresh downloads the whole image.",
    "xdelta3": "Each refresh downloads a plain delta between the two images.",
    "snap-1-1-xdelta3": "Each refresh downloads a snap-aware delta, from which the "
    "device packs the new image itself: longer with xz, in the background.",
}


def month_part(month: Month) -> Part:
    """Return a month as JSON has it."""
    saving, habits = month.saving, month.habits
    return part(
        month,
        "link_mbit_per_s launch_s download_bytes download_s total_s decided_by",
        app=saving.app,
        device=None if saving.shares else saving.device,
        refreshes=habits.refreshes,
        cold_launches=habits.launches,
        deltas=habits.deltas,
        summary=habits_text(habits),
        codecs={
            codec: {"download_bytes": each, "download_s": each.map(month.link_s)}
            for codec, each in _by_codec(month).items()
        },
    )


def _by_codec(month: Month) -> dict[str, Interval]:
    refreshes = month.habits.refreshes
    return {codec: each * refreshes for codec, each in month.downloads.by_codec.items()}


def month_section(month: Month) -> Section:
    """Return a month as a table, with what it rests on."""
    saving = month.saving
    where = "on average" if saving.shares else f"on {saving.device}"
    habits = habits_text(month.habits)
    xz, lzo = (_by_codec(month)[codec] for codec in ("xz", "lzo"))
    return Section(
        title="What lzo saves in a user's month",
        origin="Estimated, with intervals.",
        sentences=(
            month_text(month),
            sentence(f"{habits}, {where}, at {month.link_mbit_per_s:g} Mbit/s"),
            _WHAT_IS_DOWNLOADED[month.habits.deltas],
            *((_ASSUMED,) if month.habits.assumed else ()),
        ),
        tables=(
            Table(
                heads=("in a month", "xz", "lzo", "lzo saves"),
                rows=(
                    (
                        f"cold launches of {saving.app}",
                        "",
                        "",
                        seconds(month.launch_s),
                    ),
                    (
                        "download",
                        size(xz.mid),
                        size(lzo.mid),
                        size(month.download_bytes.mid),
                    ),
                    (
                        "time of the download",
                        seconds(month.link_s(xz.mid)),
                        seconds(month.link_s(lzo.mid)),
                        seconds(month.download_s),
                    ),
                    ("all of it", "", "", seconds(month.total_s)),
                ),
            ),
        ),
    )
