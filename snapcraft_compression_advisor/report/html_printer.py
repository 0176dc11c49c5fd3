"""Pages as one HTML file that needs nothing else.

Charts are drawn here, by Vega-Lite: the file holds their SVG. There is no script in the
file, and its Content-Security-Policy allows none, nor any request.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..core.errors import ToolError
from ..core.terminal import printable
from ..installing import install_command

if TYPE_CHECKING:
    from types import ModuleType

    from .model import Chart, Page, Spec

EXTRA = "report"
"""Of this package: what pip installs for HTML pages."""

_DIGITS = re.compile(r"(\.\d)\d+")
"""Of places in pixels: a tenth is enough, and saved pages have six digits."""
_PLACES = re.compile(r' (?:d|transform)="[^"]*"')
_TAG = re.compile(r'<[a-z]+(?: [\w:-]+="[^"]*")*/?>')
_ROLES = re.compile(r' (?:role|aria-\w+)="[^"]*"')
"""Of a chart's marks: the whole is one picture, and its name says what they show."""
_BEYOND_16_BITS = re.compile("[\U00010000-\U0010ffff]")
_SIZE = re.compile(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"')


def check_html_extra() -> None:
    """Check that HTML can be written, before anything that takes time.

    :raises ToolError: if what the extra ``report`` installs isn't there.
    """
    for name in ("jinja2", "vl_convert"):
        imported(name)


def print_html(page: Page) -> str:
    """Return a page as HTML.

    :raises ToolError: if what the extra ``report`` installs isn't there.
    """
    markup = imported("markupsafe").Markup
    folder = files(__package__) / "html"
    style = (folder / "page.css").read_text(encoding="utf-8")
    environment = imported("jinja2").Environment(
        autoescape=True, finalize=_inert, undefined=imported("jinja2").StrictUndefined
    )
    template = environment.from_string(
        (folder / "page.html.j2").read_text(encoding="utf-8")
    )
    text: str = template.render(
        page=page,
        folded=[each for each in page.sections if not (each.short or each.opened)],
        drawn=lambda chart: markup(_svg(chart)),
        style=markup(style),
        policy=_policy(style),
        version=__version__,
    )
    return text.rstrip() + "\n"


def _svg(chart: Chart) -> str:
    """Return a chart's SVG with a name; it is as wide as its place."""
    svg = as_svg(chart.spec)
    size = _SIZE.search(svg)
    if size is None:
        message = "The chart library didn't return an SVG"
        raise ToolError(message, resolution="Update vl-convert-python.")
    label = html.escape(printable(chart.alt))
    head = f'<svg role="img" aria-label="{label}" viewBox="0 0 {size[1]} {size[2]}">'
    body = _TAG.sub(lambda tag: _ROLES.sub("", tag[0]), svg[svg.index(">") + 1 :])
    return head + _PLACES.sub(lambda found: _DIGITS.sub(r"\1", found[0]), body)


def as_svg(spec: Spec) -> str:
    """Return a chart's SVG; nothing is fetched for it.

    :raises ToolError: if the library isn't there or can't draw it.
    """
    library = imported("vl_convert")
    lite = "/vega-lite/" in spec["$schema"]
    draw = library.vegalite_to_svg if lite else library.vega_to_svg
    try:
        svg: str = draw(_clean(spec), allowed_base_urls=[])
    except ValueError as error:
        message = "The chart library cannot draw a chart of the report"
        raise ToolError(
            message,
            details=str(error),
            resolution="Write a Markdown report instead, or update vl-convert-python.",
        ) from error
    return svg


def _clean(value: Any) -> Any:  # noqa: ANN401 # JSON
    """Return JSON whose texts are printable, and can be cut.

    If the library cuts a text short, it may cut a character beyond 16 bits in two,
    which it then can't draw.
    """
    if isinstance(value, str):
        return _BEYOND_16_BITS.sub("\N{REPLACEMENT CHARACTER}", printable(value))
    if isinstance(value, dict):
        return {key: _clean(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(each) for each in value]
    return value


def _inert(value: object) -> object:
    """Return a value as a template prints it: text escaped, our own markup as it is."""
    is_text = isinstance(value, str) and not hasattr(value, "__html__")
    return printable(str(value)) if is_text else value


def _policy(style: str) -> str:
    """Return the Content-Security-Policy: this style, nothing else."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; "
        "form-action 'none'"
    )


def imported(name: str) -> ModuleType:
    """Import what the extra brings.

    :raises ToolError: if it isn't there.
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
