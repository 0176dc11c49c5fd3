"""Download time against launches: where the lines cross, lzo has paid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.report.charts.spec import (
    MUTED,
    TOLD,
    Drawing,
    Spec,
    layered,
    mark,
    quantity,
    telling,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snapcraft_compression_advisor.report.contract import Interval

_HEIGHT = 320
_SAVED = "var(--lzo)"


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkLine:
    """A link's longer download.

    :param launches: after which it is paid for; ``None`` where that is off the chart.
    """

    label: str
    download_s: float
    launches: float | None
    text: str


def draw_break_even(
    saved_s: Interval, links: Sequence[LinkLine], *, launches: float, width: int
) -> Drawing:
    """Draw what launches save, and what the download costs over each link.

    :param saved_s: seconds per cold launch.
    :param launches: where the axis ends.
    """
    x = quantity(
        "launches",
        "cold launches",
        scale={"domain": [0, launches]},
        axis={"tickCount": 5},
    )
    y = quantity("seconds", "seconds", axis={"tickCount": 6})
    place: Spec = {"x": x, "y": y}
    return layered(
        [
            {
                **_only("saved"),
                "mark": mark("area", fill=_SAVED, opacity=0.18),
                "encoding": {
                    "x": x,
                    "y": quantity("low", "seconds"),
                    "y2": {"field": "high"},
                },
            },
            {
                **_only("saved"),
                "mark": mark("line", stroke=_SAVED, strokeWidth=2.5),
                "encoding": place,
            },
            {
                **_only("link"),
                "mark": mark("rule", stroke=MUTED, strokeDash=[5, 3]),
                "encoding": {"y": y},
            },
            *(
                {
                    **_only(side),
                    "mark": mark("text", align=side, baseline="bottom", dy=-3, dx=dx),
                    "encoding": {
                        **place,
                        "text": {"field": "label", "type": "nominal"},
                    },
                }
                for side, dx in (("left", 4), ("right", -4))
            ),
            {
                **_only("crossing"),
                "mark": telling(
                    "point", filled=True, color=_SAVED, size=110, opacity=1
                ),
                "encoding": {**place, "description": TOLD},
            },
        ],
        values=[*_saved(saved_s, launches), *_links(links, launches)],
        width=width,
        height=_HEIGHT,
    )


def _only(what: str) -> Spec:
    return {"transform": [{"filter": f"datum.what === '{what}'"}]}


def _saved(saved_s: Interval, launches: float) -> list[Spec]:
    return [
        {
            "what": "saved",
            "launches": count,
            "seconds": count * saved_s.mid,
            "low": count * saved_s.low,
            "high": count * saved_s.high,
        }
        for count in (0, launches)
    ]


def _links(links: Sequence[LinkLine], launches: float) -> list[Spec]:
    values: list[Spec] = []
    for link in links:
        place = {"seconds": link.download_s, "label": link.label, "text": link.text}
        values.append({"what": "link", **place})
        # The label stands where the line of what is saved isn't near.
        late = link.launches is None or link.launches > launches / 2
        values.append(
            {"what": "left", "launches": 0, **place}
            if late
            else {"what": "right", "launches": launches, **place}
        )
        if link.launches is not None:
            values.append({"what": "crossing", "launches": link.launches, **place})
    return values
