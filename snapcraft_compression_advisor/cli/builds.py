"""Commands on two builds: ``diff``, what changed; ``refresh``, what users download."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import ClassVar

from ..advice.month import Month, month_by_refresh
from ..analysis import Analysis, analyse, analysis_request, check_apps
from ..codecs import CODECS, SHIPPABLE
from ..core.terminal import emit
from ..diff.difference import DifferenceRequest, compare_payloads
from ..launches import Surroundings
from ..payload.source import Payload, open_payload
from ..refresh.estimate import check_names
from ..refresh.refresh import Refresh, compare_refresh
from ..refresh.xdelta3 import check_xdelta3
from ..report.diff import diff_json, diff_page
from ..report.refresh import refresh_json, refresh_page
from ..settings.load import LoadedSettings
from .commands import REPORT, Arguments, Command, details, output_arguments
from .settings_options import POLICY_ARGUMENTS, given_settings, read_settings
from .subject import find_policy, find_project
from .write import (
    check_outputs,
    check_page_outputs,
    print_page,
    write_output,
    write_page,
)

_WHAT_IF = tuple(name for name in CODECS if name not in ("none", *SHIPPABLE))


class DiffCommand(Command):
    """Compare two builds."""

    name = "diff"
    overview = (
        "Compare two builds of the same snap: how much the image grew, how much "
        "longer a cold launch takes, which files caused it, and whether the "
        "compression changed.\n\n"
        "Sizes of built snaps are measured; those of prime directories are "
        "estimated. The exit status is 0 whether or not anything changed; use "
        "'lint --baseline' to fail on regressions."
    )

    arguments: ClassVar[Arguments] = {
        "OLD": "the earlier build: a .snap or a prime directory",
        "NEW": "the later build: a .snap or a prime directory",
        **POLICY_ARGUMENTS,
        **output_arguments(),
    }

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Print the difference."""
        check_outputs(parsed_args.output)
        with open_payload(parsed_args.old) as old, open_payload(parsed_args.new) as new:
            loaded = _settings(new, parsed_args)
            request = DifferenceRequest(
                devices=loaded.devices,
                apps=loaded.settings.apps,
                profiles=loaded.profiles,
                codecs={each.path: _declared(each) for each in (old, new)},
                trials={},
            )
            difference = compare_payloads(old, new, request, progress=emit.progress)
        write_page(diff_page(difference), parsed_args, diff_json(difference))


def _settings(new: Payload, parsed_args: argparse.Namespace) -> LoadedSettings:
    """Return the settings that count for a new build."""
    file = parsed_args.policy or find_policy(new.path, None)
    return read_settings(file, given_settings(parsed_args), narrow=True)


def _declared(payload: Payload) -> str | None:
    """Return the project beside a prime directory."""
    if payload.kind != "prime":
        return None
    project = find_project(payload, None)
    return None if project is None else project.compression


class RefreshCommand(Command):
    """Show what a refresh downloads."""

    name = "refresh"
    overview = (
        "Show what a refresh from one build to the next downloads: the whole image, or "
        "one of the two deltas that snapd knows, with xz and with lzo. Name the files "
        "that make the deltas large.\n\n"
        "xdelta3 makes the deltas, as snapd has it do. A codec that the builds aren't "
        "packed with is estimated as if both were, unless --exact is given or both are "
        "of up to 32 MiB: then they are packed.\n\n"
        "A month of such refreshes and of cold launches compares xz and lzo, by "
        "'refresh' of compression-advisor.yaml, or by one refresh and 20 launches."
    )

    arguments: ClassVar[Arguments] = {
        "OLD": "the build that users have: a .snap or a prime directory",
        "NEW": "the build that comes out: a .snap or a prime directory",
        "--codec CODEC…": details(
            f"a codec to compare, too, which can't ship: {', '.join(_WHAT_IF)}; may be "
            "repeated (default: none)",
            choices=_WHAT_IF,
        ),
        **POLICY_ARGUMENTS,
        "--exact": "pack both builds with each codec, and the new image again as a "
        "device does after a snap-aware delta; compare the two byte for byte",
        **output_arguments(),
        **REPORT,
    }

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Print what a refresh downloads."""
        check_page_outputs(parsed_args)
        check_xdelta3()
        with open_payload(parsed_args.old) as old, open_payload(parsed_args.new) as new:
            check_names(old, new)
            loaded = _settings(new, parsed_args)
            analysis = _analysed(new, loaded)
            refresh = compare_refresh(
                old,
                new,
                (*SHIPPABLE, *dict.fromkeys(parsed_args.codec)),
                trial=analysis.trial,
                exact=parsed_args.exact,
                progress=emit.progress,
            )
            month = _month(refresh, analysis, loaded)
            page, document = refresh_page(refresh, month), refresh_json(refresh, month)
        write_page(page, parsed_args, document)
        if parsed_args.report is not None:
            write_output(print_page(page, parsed_args.report), parsed_args.report)


def _analysed(new: Payload, loaded: LoadedSettings) -> Analysis:
    """Return the analysis of the new build's launches."""
    check_apps(new, loaded)
    # The month comes later, from the figures of this very refresh.
    settings = loaded.settings.model_copy(update={"refresh": None})
    loaded = replace(loaded, settings=settings)
    request = analysis_request(new, loaded, Surroundings())
    return analyse(new, request, progress=emit.progress)


def _month(
    refresh: Refresh, analysis: Analysis, loaded: LoadedSettings
) -> Month | None:
    known, advice = loaded.settings.refresh, analysis.recommendation
    habits = known.to_habits() if known else None
    link = analysis.policy.link_mbit_per_s
    return month_by_refresh(refresh, advice.decisive, advice.bytes_added, habits, link)
