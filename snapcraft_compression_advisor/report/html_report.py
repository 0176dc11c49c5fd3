"""The page as one HTML file that needs nothing else.

Charts are drawn here, by Vega-Lite: the file holds their SVG, whose marks carry what
they stand for as text. A script of a few lines shows that text; there is no other code
in the file, and its Content-Security-Policy allows no other, nor any request.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ..core.errors import ToolError
from ..core.printable import printable
from ..installing import install_command
from .page.texts import parted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import ModuleType

    from .page.charts import Drawing
    from .page.model import Chart, Page

EXTRA = "report"
"""Of this package: what pip installs for HTML reports."""

_BROAD_PX = {False: 530, True: 1088}
_NARROW_PX = 328
"""What a screen of 360 pixels leaves."""

_TAG = re.compile(r'<[a-z]+(?: [\w:-]+="[^"]*")*/?>')
_ATTRIBUTE = re.compile(r' ([\w:-]+)="([^"]*)"')
_NEEDLESS = frozenset(
    (
        ("aria-roledescription", ""),
        ("font-family", ""),
        ("pointer-events", ""),
        ("role", "graphics-object"),
        ("font-size", "12px"),
        ("font-weight", "normal"),
        ("opacity", "1"),
        ("text-anchor", "start"),
    )
)
"""Attributes with the values, or with any, that say nothing to a listener, or what the
page's style says."""

_UNSEEN = re.compile(
    r'<path class="(?:back|fore)ground"(?: [\w:-]+="[^"]*")*/>'
    r'|<text(?: [\w:-]+="[^"]*")* opacity="0"(?: [\w:-]+="[^"]*")*(?:/>|>[^<]*</text>)'
)
_DIGITS = re.compile(r"(\.\d)\d+")
"""Of places in pixels: a tenth is enough."""

_BEYOND_16_BITS = re.compile("[\U00010000-\U0010ffff]")
_TOLD_KEY = "text"
"""Of a value: what is told on hover (``TOLD`` of the charts)."""

_SIZE = re.compile(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"')


def check_html_extra() -> None:
    """Tell whether HTML can be written, before anything that takes time.

    :raises ToolError: where what the extra ``report`` installs isn't there.
    """
    for name in ("jinja2", "vl_convert"):
        imported(name)


def render_html(page: Page) -> str:
    """Return the page as HTML.

    :raises ToolError: where what the extra ``report`` installs isn't there.
    """
    jinja2 = imported("jinja2")
    markup = imported("markupsafe").Markup
    folder = files(__package__) / "html"
    style, script = (
        (folder / name).read_text(encoding="utf-8")
        for name in ("report.css", "report.js")
    )
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_inert,
        trim_blocks=False,
    )
    template = environment.from_string(
        (folder / "report.html.j2").read_text(encoding="utf-8")
    )
    text: str = template.render(
        page=page,
        drawn=lambda chart: markup(_both_widths(chart)),
        parted=parted,
        choices=_choices(page),
        has_what_if=any(chart.what_if for chart in _charts(page)),
        style=markup(style),
        script=markup(script),
        policy=_policy(style, script),
    )
    return text.rstrip() + "\n"


def _charts(page: Page) -> Iterator[Chart]:
    for section in page.sections:
        for group in section.groups:
            yield from group.charts


def _choices(page: Page) -> Sequence[tuple[str, str, Sequence[str]]]:
    """Return what readers choose from: a name, a label, and what shows first, first."""
    devices = dict.fromkeys(
        (page.device, *(chart.device for chart in _charts(page) if chart.device))
    )
    apps = dict.fromkeys(
        group.app for section in page.sections for group in section.groups if group.app
    )
    found = (("device", "Device", [*devices]), ("app", "App", [*apps]))
    return [each for each in found if len(each[2]) > 1]


def _both_widths(chart: Chart) -> str:
    """Return a chart's SVG for wide and for narrow screens; styles choose one."""
    return "".join(
        _svg(
            as_svg(chart.draw(width=width)),
            label=printable(chart.alt),
            class_name=class_name,
        )
        for class_name, width in (
            ("broad", _BROAD_PX[chart.wide]),
            ("narrow", _NARROW_PX),
        )
    )


def as_svg(drawing: Drawing) -> str:
    """Return a drawing's SVG; nothing is fetched for it.

    :raises ToolError: where the library isn't there or can't draw it.
    """
    library = imported("vl_convert")
    draw = {"vega": library.vega_to_svg, "vega-lite": library.vegalite_to_svg}
    try:
        svg: str = draw[drawing.language](_clean(drawing.spec), allowed_base_urls=[])
    except ValueError as error:
        message = "The chart library cannot draw a chart of the report"
        raise ToolError(
            message,
            details=str(error),
            resolution="Write a Markdown report instead, or update vl-convert-python.",
        ) from error
    return svg


def _svg(svg: str, *, label: str, class_name: str) -> str:
    """Return an SVG with a name, reachable by keyboard, in place of its own head."""
    size = _SIZE.search(svg)
    if size is None:
        message = "The chart library didn't return an SVG"
        raise ToolError(message, resolution="Update vl-convert-python.")
    width, height = size[1], size[2]
    head = (
        f'<svg class="{class_name}" role="graphics-document document" tabindex="0" '
        f'width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'aria-label="{html.escape(label)}">'
    )
    body = _UNSEEN.sub("", svg[svg.index(">") + 1 :])
    return head + _TAG.sub(lambda tag: _ATTRIBUTE.sub(_short, tag[0]), body)


def _short(attribute: re.Match[str]) -> str:
    """Return an attribute of an SVG as briefly as it can be; many charts are alike."""
    name, value = attribute[1], attribute[2]
    if _NEEDLESS & {(name, ""), (name, value)}:
        return ""
    if name in ("d", "transform"):
        value = _DIGITS.sub(r"\1", value)
    return f' {name}="{value}"'


def _clean(value: Any) -> Any:  # noqa: ANN401 # JSON
    """Return JSON with the texts in it printable, and those that are drawn cuttable.

    Where the library cuts a text short, it may cut a character beyond 16 bits in two,
    which it then can't draw. What is only told on hover is never cut.
    """
    if isinstance(value, str):
        return _BEYOND_16_BITS.sub("\N{REPLACEMENT CHARACTER}", printable(value))
    if isinstance(value, dict):
        return {
            key: printable(each)
            if key == _TOLD_KEY and isinstance(each, str)
            else _clean(each)
            for key, each in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_clean(each) for each in value]
    return value


def _inert(value: object) -> object:
    """Return what a template prints: text printable, markup of our own as it is."""
    is_text = isinstance(value, str) and not hasattr(value, "__html__")
    return printable(str(value)) if is_text else value


def _policy(style: str, script: str) -> str:
    """Return the Content-Security-Policy: this style and this script, nothing else."""
    digests = (hashlib.sha256(each.encode()).digest() for each in (style, script))
    styles, scripts = (f"'sha256-{base64.b64encode(d).decode()}'" for d in digests)
    return (
        f"default-src 'none'; style-src {styles}; script-src {scripts}; "
        "base-uri 'none'; form-action 'none'"
    )


def imported(name: str) -> ModuleType:
    """Import what the extra brings.

    :raises ToolError: where it isn't there.
    """
    try:
        return import_module(name)
    except ImportError as error:
        message = f"A report with charts needs {name}, which isn't installed"
        raise ToolError(
            message,
            resolution=f"Install it: {install_command(EXTRA)}. A Markdown report "
            "(--report FILE.md) needs no other package.",
        ) from error
