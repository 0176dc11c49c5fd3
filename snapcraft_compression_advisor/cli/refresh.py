"""``compression-advisor refresh``: what users download when a new build comes out."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import ClassVar

from ..advice.month import SHIPPED, Month, month_by_refresh
from ..analysis import Analysis, analyse
from ..codecs import CODECS, SHIPPABLE
from ..core.terminal import emit
from ..lint.request import LintRequest, analysis_request, check_apps
from ..payload.source import Payload, open_payload
from ..refresh.builds import check_names
from ..refresh.refresh import Refresh, compare_refresh, measure_refresh
from ..refresh.xdelta3 import check_xdelta3
from ..report.refresh import refresh_json, refresh_page
from .arguments import Arguments, Command, details, format_argument, output_argument
from .find_project import find_policy
from .pages import FORMATS, REPORT, check_report_path, save_page, write_page
from .policy_options import POLICY_ARGUMENTS, lint_request, policy_options
from .write import check_outputs, write_output

COMPRESSORS = tuple(name for name in CODECS if name != "none")


class RefreshCommand(Command):
    """Show what a refresh downloads."""

    name = "refresh"
    overview = (
        "Show what a refresh from one build to the next downloads: the whole image, or "
        "one of the two deltas that snapd knows, with xz and with lzo. Name the files "
        "that make the deltas large.\n\n"
        "xdelta3 makes the deltas, as snapd has it do. A codec that the builds aren't "
        "packed with is estimated as if both were, unless --exact is given.\n\n"
        "A month of such refreshes and of cold launches compares xz and lzo, by "
        "'refresh' of compression-advisor.yaml, or by one refresh and 20 launches."
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
        **POLICY_ARGUMENTS,
        "--exact": "pack both builds with each codec, apply the snap-aware deltas, and "
        "compare the result with the new image byte for byte",
        **format_argument(FORMATS),
        **output_argument(),
        **REPORT,
    }

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Print what a refresh downloads."""
        check_report_path(parsed_args.report)
        check_outputs(parsed_args.output, *filter(None, [parsed_args.report]))
        check_xdelta3()
        codecs = tuple(dict.fromkeys(parsed_args.codec)) or SHIPPABLE
        with open_payload(parsed_args.old) as old, open_payload(parsed_args.new) as new:
            check_names(old, new)
            file = parsed_args.policy or find_policy(new.path, None)
            lint = lint_request(file, policy_options(parsed_args), narrow=True)
            wanted = {*SHIPPED} <= {*codecs}
            analysis = _analysed(new, lint) if wanted else None
            refresh = compare_refresh(
                old,
                new,
                codecs,
                trial=analysis.trial if analysis else None,
                progress=emit.progress,
            )
            if parsed_args.exact:
                refresh = measure_refresh(refresh, progress=emit.progress)
            month = _month(refresh, analysis, lint)
            page, document = refresh_page(refresh, month), refresh_json(refresh, month)
        if parsed_args.format == "json":
            write_output(document, parsed_args.output)
        else:
            write_page(page, parsed_args.format, parsed_args.output)
        save_page(page, parsed_args.report)


def _analysed(new: Payload, lint: LintRequest) -> Analysis:
    """Return what launches of the new build gain."""
    check_apps(new, lint)
    # The month comes later, from the figures of this very refresh.
    policy = lint.policy.model_copy(update={"refresh": None})
    request = analysis_request(new, replace(lint, policy=policy), None)
    request = replace(request, size_limits=())
    return analyse(new, request, progress=emit.progress)


def _month(
    refresh: Refresh, analysis: Analysis | None, lint: LintRequest
) -> Month | None:
    if analysis is None:
        return None
    known = lint.policy.refresh
    advice = analysis.recommendation
    return month_by_refresh(
        refresh,
        advice.decisive,
        advice.bytes_added,
        known.to_habits() if known else None,
        analysis.policy.link_mbit_per_s,
    )
