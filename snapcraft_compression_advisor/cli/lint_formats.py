"""Lint's report in every format, each module loaded where its format is asked for.

Together they would take a tenth of the time of a lint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcraft_compression_advisor.lint.all_rules import ALL_RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from snapcraft_compression_advisor.lint.baseline import JudgedReport
    from snapcraft_compression_advisor.lint.finding import LintReport
    from snapcraft_compression_advisor.report.lines import TextStyle


def render_text(
    report: LintReport, style: TextStyle | None = None, *, statistics: bool = False
) -> str:
    """Return the text for people."""
    from snapcraft_compression_advisor.report.lint_text import render_lint_text

    return render_lint_text(report, style, statistics=statistics)


def render_text_judged(
    judged: JudgedReport, style: TextStyle | None = None, *, statistics: bool = False
) -> str:
    """Return the text for people, against a baseline."""
    from snapcraft_compression_advisor.report.baseline_text import render_judged_text

    return render_judged_text(judged, style, statistics=statistics)


def _json(report: LintReport) -> str:
    from snapcraft_compression_advisor.report.lint_json import render_lint_json

    return render_lint_json(report)


def _json_judged(judged: JudgedReport) -> str:
    from snapcraft_compression_advisor.report.baseline_json import render_judged_json

    return render_judged_json(judged)


def _sarif(report: LintReport) -> str:
    from snapcraft_compression_advisor.report.lint_sarif import render_lint_sarif

    return render_lint_sarif(report, ALL_RULES)


def _sarif_judged(judged: JudgedReport) -> str:
    from snapcraft_compression_advisor.report.baseline_sarif import render_judged_sarif

    return render_judged_sarif(judged, ALL_RULES)


def _github(report: LintReport) -> str:
    from snapcraft_compression_advisor.report.lint_github import render_lint_github

    return render_lint_github(report)


def _gitlab(report: LintReport) -> str:
    from snapcraft_compression_advisor.report.lint_gitlab import render_lint_gitlab

    return render_lint_gitlab(report)


def _junit(report: LintReport) -> str:
    from snapcraft_compression_advisor.report.lint_junit import render_lint_junit

    return render_lint_junit(report)


def _markdown(report: LintReport) -> str:
    from snapcraft_compression_advisor.report.lint_markdown import render_lint_markdown

    return render_lint_markdown(report)


def _markdown_judged(judged: JudgedReport) -> str:
    from snapcraft_compression_advisor.report.comment import render_comment

    return render_comment(judged)


RENDERERS: Mapping[str, Callable[[LintReport], str]] = {
    "text": render_text,
    "json": _json,
    "sarif": _sarif,
    "github": _github,
    "gitlab": _gitlab,
    "junit": _junit,
    "markdown": _markdown,
}
"""By name."""

JUDGED_RENDERERS: Mapping[str, Callable[[JudgedReport], str]] = {
    "text": render_text_judged,
    "json": _json_judged,
    "sarif": _sarif_judged,
    "github": lambda judged: _github(judged.counting()),
    # GitLab compares branches' reports itself: what isn't in there counts as fixed.
    "gitlab": lambda judged: _gitlab(judged.report),
    "junit": lambda judged: _junit(judged.counting()),
    "markdown": _markdown_judged,
}
"""By name, as there are without a baseline."""
