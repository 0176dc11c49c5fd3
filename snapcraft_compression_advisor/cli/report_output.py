"""Reports as pages: what goes into them, and where they are written."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from craft_cli import emit

from snapcraft_compression_advisor.cli.write import write_output
from snapcraft_compression_advisor.core.errors import UsageError
from snapcraft_compression_advisor.lint.lint import lint_analysed
from snapcraft_compression_advisor.payload.survey import take_survey
from snapcraft_compression_advisor.preflight.packing import look_at_packing
from snapcraft_compression_advisor.report.html_report import (
    check_html_extra,
    render_html,
)
from snapcraft_compression_advisor.report.json_report import (
    Beside,
    build_report,
)
from snapcraft_compression_advisor.report.markdown_report import render_markdown
from snapcraft_compression_advisor.report.page.build import Sources, build_page

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from snapcraft_compression_advisor.analysis import Analysis
    from snapcraft_compression_advisor.lint.lint import LintRequest
    from snapcraft_compression_advisor.lint.project import ProjectFile
    from snapcraft_compression_advisor.payload.source import Payload
    from snapcraft_compression_advisor.report.json_report import Report
    from snapcraft_compression_advisor.report.page.model import Page

RENDERERS: Mapping[str, Callable[[Page], str]] = {
    ".html": render_html,
    ".htm": render_html,
    ".md": render_markdown,
}
"""By the ending of the file's name."""


def check_report_path(path: Path | None) -> None:
    """Refuse early what can't be written after minutes of work.

    :raises UsageError: where the name's ending is of no known form.
    :raises ToolError: where an HTML report needs what isn't installed.
    """
    if path is None:
        return
    render = RENDERERS.get(path.suffix.lower())
    if render is None:
        message = f"{str(path)!r} is neither .html nor .md"
        raise UsageError(message, resolution="Name a file such as report.html.")
    if render is render_html:
        check_html_extra()


def write_page(sources: Sources, path: Path) -> None:
    """Write the page.

    :param path: as :func:`check_report_path` accepts it.
    :raises AdvisorError: where that isn't possible.
    """
    write_output(RENDERERS[path.suffix.lower()](build_page(sources)), path)


def full_report(
    analysis: Analysis,
    payload: Payload,
    lint: LintRequest,
    *,
    project: ProjectFile | None,
    command: object,
) -> Report:
    """Return the report with all that a page shows.

    :param lint: what to check the payload against.
    :param project: of the payload, where it is at hand.
    :param command: arguments of the command line; anything else where they aren't
        known.
    :raises AdvisorError: where the payload can't be looked at.
    """
    emit.progress("Checking caches and unneeded files")
    survey = take_survey(payload)
    linted = lint_analysed(
        payload,
        lint,
        (analysis, survey, look_at_packing(payload)),
        path=str(payload.path),
        project=project,
        progress=emit.progress,
    )
    entries = payload.inventory.entries.values()
    words = map(str, command) if isinstance(command, list) else ()
    beside = Beside(
        linted=linted,
        executables=frozenset(entry.path for entry in entries if entry.executable),
        command=shlex.join(("compression-advisor", *words)) if command else "",
    )
    return build_report(analysis, beside)
