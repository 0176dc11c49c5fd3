"""The plot of what lzo saves as a picture of its own, for a README or a forum.

It has a light background and no style from outside, so it looks the same anywhere.
"""

from __future__ import annotations

import html
import json
import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from .. import __version__
from ..core.errors import BadDataError
from ..core.printable import printable
from .gain import gains
from .html_report import as_svg, imported
from .page.charts import FONT_PX, Drawing
from .page.gain import gain_chart, gain_origin
from .phrases import headline

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .json_report import Report
    from .page.build import Sources

_WIDTH_PX = 760
_PADDING_PX = 14
_TITLE_PX = 15
_HEAD_PX = 78
"""What the title and the lines below it take, and the wider padding."""
_PNG_SCALE = 2.0
"""Pixels of a screen per pixel of the drawing: sharp on most screens."""

_VARIABLE = re.compile(r"--([a-z0-9-]+): (#[0-9a-f]+);")
_USED = re.compile(r"var\(--([a-z0-9-]+)\)")


def render_svg(sources: Sources) -> str:
    """Return the plot as SVG.

    :raises BadDataError: where nothing is known of what lzo saves.
    :raises ToolError: where what the extra ``report`` installs isn't there.
    """
    report = sources.report
    found = gains(report, sources.measurement) if report else None
    if report is None or found is None:
        message = "There is no estimate of what lzo saves over xz, so there is no plot"
        raise BadDataError(message, resolution="Write a page, such as report.html.")
    chart = gain_chart(found)
    drawn = chart.draw(width=_WIDTH_PX).spec
    spec = {
        **drawn,
        "height": drawn["height"] + _HEAD_PX,
        "title": _title(
            report,
            f"lzo over xz: {chart.title[:1].lower()}{chart.title[1:]}",
            gain_origin(found),
        ),
        "background": "var(--paper)",
        "padding": _PADDING_PX,
    }
    svg = as_svg(Drawing(language="vega-lite", spec=_coloured(spec)))
    label = html.escape(printable(f"{_verdict(report)}. {chart.alt}"))
    return svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1) + "\n"


def render_png(sources: Sources) -> bytes:
    """Return the plot as PNG; raises as :func:`render_svg` does."""
    svg = render_svg(sources)
    png: bytes = imported("vl_convert").svg_to_png(svg, scale=_PNG_SCALE)
    return png


def _verdict(report: Report) -> str:
    advice = report.recommendation
    return f"{report.payload.name}: {headline(advice.verdict, advice.compression)}"


def _title(report: Report, text: str, origin: str) -> dict[str, object]:
    """Return what stands above the plot: what it shows, the verdict, and its origin."""
    room = _WIDTH_PX - 2 * _PADDING_PX
    return {
        "text": text,
        "subtitle": [
            _verdict(report),
            f"{origin} snapcraft-compression-advisor {__version__}",
        ],
        "anchor": "start",
        "frame": "bounds",
        "offset": 12,
        "limit": room,
        "fontSize": _TITLE_PX,
        "color": "var(--ink)",
        "subtitleFontSize": FONT_PX,
        "subtitleColor": "var(--muted)",
        "subtitlePadding": 6,
    }


def _coloured(spec: Mapping[str, object]) -> dict[str, object]:
    """Return a specification with the light page's colours for their variables.

    Names of files are strings of JSON, so none of them can end its string.
    """
    colours = _light_colours()
    text = _USED.sub(lambda found: colours.get(found[1], found[0]), json.dumps(spec))
    coloured: dict[str, object] = json.loads(text)
    return coloured


@cache
def _light_colours() -> Mapping[str, str]:
    """Return the colours of light screens by name, as the page's style has them."""
    style = (files(__package__) / "html" / "report.css").read_text(encoding="utf-8")
    light, _, _ = style.partition("@media")
    return dict(_VARIABLE.findall(light))
