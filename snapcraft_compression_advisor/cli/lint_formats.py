"""Lint's report in every format, each module loaded where its format is asked for.

Together they would take a tenth of the time of a lint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcraft_compression_advisor.rules.all_rules import ALL_RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from snapcraft_compression_advisor.rules.baseline import JudgedReport
    from snapcraft_compression_advisor.rules.finding import LintReport, Severity


def render_text(
    report: LintReport, *, coloured: bool = False, statistics: bool = False
) -> str:
    """Return the text for people."""
    from snapcraft_compression_advisor.output.lint_text import render_lint_text

    return render_lint_text(report, coloured=coloured, statistics=statistics)


def render_text_judged(
    judged: JudgedReport, *, coloured: bool = False, statistics: bool = False
) -> str:
    """Return the text for people, against a baseline."""
    from snapcraft_compression_advisor.output.baseline_text import render_judged_text

    return render_judged_text(judged, coloured=coloured, statistics=statistics)


def _json(report: LintReport, _: Severity) -> str:
    from snapcraft_compression_advisor.output.lint_json import render_lint_json

    return render_lint_json(report)


def _json_judged(judged: JudgedReport, _: Severity) -> str:
    from snapcraft_compression_advisor.output.baseline_json import render_judged_json

    return render_judged_json(judged)


def _sarif(report: LintReport, _: Severity) -> str:
    from snapcraft_compression_advisor.output.lint_sarif import render_lint_sarif

    return render_lint_sarif(report, ALL_RULES)


def _sarif_judged(judged: JudgedReport, _: Severity) -> str:
    from snapcraft_compression_advisor.output.baseline_sarif import render_judged_sarif

    return render_judged_sarif(judged, ALL_RULES)


def _github(report: LintReport, _: Severity) -> str:
    from snapcraft_compression_advisor.output.lint_github import render_lint_github

    return render_lint_github(report)


def _gitlab(report: LintReport, _: Severity) -> str:
    from snapcraft_compression_advisor.output.lint_gitlab import render_lint_gitlab

    return render_lint_gitlab(report)


def _junit(report: LintReport, fail_on: Severity) -> str:
    from snapcraft_compression_advisor.output.lint_junit import render_lint_junit

    return render_lint_junit(report, fail_on=fail_on)


def _markdown(report: LintReport, _: Severity) -> str:
    from snapcraft_compression_advisor.output.lint_markdown import render_lint_markdown

    return render_lint_markdown(report)


def _markdown_judged(judged: JudgedReport, fail_on: Severity) -> str:
    from snapcraft_compression_advisor.output.comment import render_comment

    return render_comment(judged, fail_on)


RENDERERS: Mapping[str, Callable[[LintReport, Severity], str]] = {
    "text": lambda report, _: render_text(report),
    "json": _json,
    "sarif": _sarif,
    "github": _github,
    "gitlab": _gitlab,
    "junit": _junit,
    "markdown": _markdown,
}
"""By name; they take the least severity that fails, as well."""

JUDGED_RENDERERS: Mapping[str, Callable[[JudgedReport, Severity], str]] = {
    "text": lambda judged, _: render_text_judged(judged),
    "json": _json_judged,
    "sarif": _sarif_judged,
    "github": lambda judged, fail_on: _github(judged.counting(), fail_on),
    # GitLab compares branches' reports itself: what isn't in there counts as mended.
    "gitlab": lambda judged, fail_on: _gitlab(judged.report, fail_on),
    "junit": lambda judged, fail_on: _junit(judged.counting(), fail_on),
    "markdown": _markdown_judged,
}
"""By name, as there are without a baseline."""
