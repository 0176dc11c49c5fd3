"""``compression-advisor refresh``: what users download when a new build comes out."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import ClassVar

from craft_cli import emit

from ..codecs import CODECS, SHIPPABLE
from ..devices.builtin_devices import DEFAULT_NAMES
from ..devices.device_file import choose_devices
from ..payload.source import open_payload
from ..refresh.exact import check_xdelta3
from ..refresh.refresh import (
    Refresh,
    compare_refresh,
    measure_refresh,
    with_applying,
)
from ..report.html_report import check_html_extra, render_html
from ..report.page.refresh import refresh_page
from ..report.refresh_json import render_refresh_json
from ..report.refresh_text import render_refresh_markdown, render_refresh_text
from .arguments import Arguments, Command, details, format_argument, output_argument
from .write import check_outputs, write_output

COMPRESSORS = tuple(name for name in CODECS if name != "none")
RENDERERS: Mapping[str, Callable[[Refresh], str]] = {
    "text": render_refresh_text,
    "json": render_refresh_json,
    "markdown": render_refresh_markdown,
    "html": lambda refresh: render_html(refresh_page(refresh)),
}


class RefreshCommand(Command):
    """Estimate what a refresh downloads."""

    name = "refresh"
    help_msg = "Estimate what users download when a new build comes out"
    overview = (
        "Estimate what a refresh from one build to the next downloads: the whole "
        "image, or one of the two deltas that snapd knows, with xz and with lzo; and "
        "how long a device takes to apply them. Name the files that make the deltas "
        "large.\n\n"
        "Sizes of deltas are estimated without making them, unless --exact is given. A "
        "codec that the builds aren't packed with is estimated as if both were."
    )

    arguments: ClassVar[Arguments] = {
        "OLD": "the build that users have: a .snap or a prime directory",
        "NEW": "the build that comes out: a .snap or a prime directory",
        "--codec CODEC…": details(
            "a codec to compare, one of "
            f"{', '.join(COMPRESSORS)}; may be repeated (default: "
            f"{', '.join(SHIPPABLE)})",
            choices=COMPRESSORS,
        ),
        "--device NAME|FILE…": "a device profile to estimate for, as for 'advise'; may "
        f"be repeated (default: {', '.join(DEFAULT_NAMES)})",
        "--exact": "make the deltas with xdelta3 as snapd does, apply the snap-aware "
        "ones, and compare the result with the new image byte for byte",
        **format_argument(RENDERERS),
        **output_argument(),
    }

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Print what a refresh downloads."""
        check_outputs(parsed_args.output)
        if parsed_args.format == "html":
            check_html_extra()
        if parsed_args.exact:
            check_xdelta3()
        devices = choose_devices(parsed_args.device)
        codecs = tuple(dict.fromkeys(parsed_args.codec)) or SHIPPABLE
        with open_payload(parsed_args.old) as old, open_payload(parsed_args.new) as new:
            refresh = compare_refresh(old, new, codecs, progress=emit.progress)
            if parsed_args.exact:
                refresh = measure_refresh(refresh, progress=emit.progress)
            refresh = with_applying(refresh, devices)
            text = RENDERERS[parsed_args.format](refresh)
        write_output(text, parsed_args.output)
