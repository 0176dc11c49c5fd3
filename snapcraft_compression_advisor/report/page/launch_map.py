"""Where a launch goes: directories and files as a treemap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .charts import FONT_PX, INK, PAPER, Drawing, Spec

if TYPE_CHECKING:
    from collections.abc import Sequence

_SCHEMA = "https://vega.github.io/schema/vega/v6.json"
_TINTS = 4
_PADDING_PX = 2
_TEXT_ROOM = 0.84
"""Readers' fonts are wider than the one that the text is cut for."""
_HEADER_PX = 18
_LETTER_PX = 6.5
_LEAST_LABEL_PX = 44
"""A name that is cut shorter says nothing."""
_LEAST_HEIGHT = 320
_HEIGHT_SHARE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """A file, or several that share a tile."""

    name: str
    blocks: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TileGroup:
    """A directory."""

    name: str
    tiles: tuple[Tile, ...]


def draw_launch_map(groups: Sequence[TileGroup], *, width: int) -> Drawing:
    """Draw directories and files by the blocks that are read of them."""
    height = max(_LEAST_HEIGHT, round(width * _HEIGHT_SHARE))
    return Drawing(
        language="vega",
        spec={
            "$schema": _SCHEMA,
            "background": None,
            "width": width - 2 * _PADDING_PX,
            "height": height,
            "padding": _PADDING_PX,
            "autosize": "none",
            "data": _data(groups),
            "marks": _marks(),
        },
    )


def _data(groups: Sequence[TileGroup]) -> list[Spec]:
    whole = sum(tile.blocks for group in groups for tile in group.tiles)
    nodes: list[Spec] = [{"id": "root", "parent": None, "share": 0}]
    for number, group in enumerate(groups):
        key = f"d{number}"
        nodes.append({"id": key, "parent": "root", "name": group.name, "share": 0})
        nodes += [
            {
                "id": f"{key}f{place}",
                "parent": key,
                "name": tile.name,
                "share": tile.blocks / whole,
                "tint": f"var(--tint{number % _TINTS})",
                "text": tile.text,
            }
            for place, tile in enumerate(group.tiles)
        ]
    return [
        {
            "name": "nodes",
            "values": nodes,
            "transform": [
                {"type": "stratify", "key": "id", "parentKey": "parent"},
                {
                    "type": "treemap",
                    "field": "share",
                    "sort": {"field": "value", "order": "descending"},
                    "method": "squarify",
                    "ratio": 1.6,
                    "round": True,
                    "paddingInner": 1,
                    "paddingOuter": 1,
                    "paddingTop": _HEADER_PX,
                    "size": [{"signal": "width"}, {"signal": "height"}],
                },
            ],
        },
        {"name": "groups", "source": "nodes", "transform": _filter("depth === 1")},
        {"name": "tiles", "source": "nodes", "transform": _filter("depth === 2")},
    ]


def _filter(condition: str) -> list[Spec]:
    return [{"type": "filter", "expr": f"datum.{condition}"}]


def _marks() -> list[Spec]:
    box: Spec = {
        "x": {"field": "x0"},
        "x2": {"field": "x1"},
        "y": {"field": "y0"},
        "y2": {"field": "y1"},
    }
    room = "(datum.x1 - datum.x0 - 6)"
    fits = (
        f"{room} >= min({_LEAST_LABEL_PX}, length(datum.name) * {_LETTER_PX}) "
        "&& datum.y1 - datum.y0 > 15"
    )
    label: Spec = {
        "x": {"signal": "datum.x0 + 4"},
        "y": {"signal": "datum.y0 + 13"},
        "text": {"field": "name"},
        "limit": {"signal": f"max(0, {room} * {_TEXT_ROOM})"},
        "fill": {"value": INK},
        "fontSize": {"value": FONT_PX},
        "font": {"value": "sans-serif"},
        "opacity": {"signal": f"{fits} ? 1 : 0"},
    }
    return [
        {
            "type": "rect",
            "from": {"data": "tiles"},
            "encode": {
                "enter": {
                    **box,
                    "fill": {"field": "tint"},
                    "stroke": {"value": PAPER},
                    "description": {"field": "text"},
                }
            },
        },
        *(
            {
                "type": "text",
                "from": {"data": data},
                "aria": False,
                "encode": {"enter": {**label, "fontWeight": {"value": weight}}},
            }
            for data, weight in (("tiles", "normal"), ("groups", "bold"))
        ),
    ]
