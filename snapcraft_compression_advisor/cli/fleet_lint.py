"""``compression-advisor fleet-lint``: findings and budgets over a whole fleet."""

from __future__ import annotations

import argparse
import math
import os
from typing import ClassVar, get_args

from ..core.terminal import emit
from ..fleet.reading import failing, lint_report
from ..lint.baseline import Baseline, judge
from ..report.lint_formats import FORMATS, Findings
from ..settings.lint_policy import SeverityName
from .arguments import (
    Arguments,
    Command,
    details,
    format_argument,
    output_argument,
    quantity,
)
from .fleet_query import DATASET, SINCE
from .lint import FINDINGS_STATUS
from .write import check_outputs, write_findings

_WHOLE = 100


def _percent(value: object) -> float:
    text = str(value).removesuffix("%")
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not 0 <= share <= _WHOLE:
        message = f"{value!r} is not a percentage from 0 to 100"
        raise ValueError(message)
    return share


class FleetLintCommand(Command):
    """Check a data set."""

    name = "fleet-lint"
    overview = (
        "Print the findings of all snaps of a data set. The exit status is 1 if more "
        "snaps than --max-share have a finding as severe as --fail-on. Budgets are "
        "those of the policy that 'fleet' was given. A snap that couldn't be analysed "
        "counts as one with such a finding.\n\n"
        "With --since, only findings count that are new or worse since an earlier data "
        "set. 'fleet lint' is the same command. It needs the extra [fleet]."
    )

    arguments: ClassVar[Arguments] = {
        "DATASET": DATASET,
        "--fail-on": details(
            "the least severe finding that counts (default: error)",
            choices=get_args(SeverityName),
            default="error",
        ),
        "--max-share PERCENT": details(
            "share of the snaps that may have such a finding (default: 0)",
            type=quantity(_percent),
            default=0.0,
        ),
        "--since DATASET": SINCE,
        **format_argument(FORMATS),
        **output_argument(),
    }

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Print the findings, and say how many snaps have one that counts."""
        check_outputs(parsed_args.output)
        report = lint_report(parsed_args.dataset)
        if parsed_args.since is not None:
            before = lint_report(parsed_args.since)
            report = judge(
                report, Baseline(where=str(parsed_args.since), report=before)
            )
        shown = Findings(report=report)
        write_findings(parsed_args.format, shown, parsed_args.output)
        bad = len(failing(report, parsed_args.fail_on))
        bad += sum(payload.error is not None for payload in report.payloads)
        share = bad / len(report.payloads) * _WHOLE
        most = parsed_args.max_share
        emit.progress(
            f"{bad:,} of {len(report.payloads):,} snaps ({share:.1f}%) have a finding "
            f"that counts, or an error; {most:g}% may",
            permanent=True,
        )
        return FINDINGS_STATUS if share > most else os.EX_OK
