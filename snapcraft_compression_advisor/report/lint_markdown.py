"""Findings as Markdown, for a merge request's comment or a job's summary.

CommonMark, without tables: names of files may hold anything, and only code spans and
backslashes keep it from being markup in every renderer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.report.names import printable
from snapcraft_compression_advisor.report.phrases import (
    LISTED_NAMES,
    fix_label,
    is_automatic,
    summary,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcraft_compression_advisor.lint.finding import (
        Finding,
        LintedPayload,
        LintReport,
    )

_MARKUP = re.compile(r"[\\`*_\[\]<>|~&$#^!]|(?<=:)/(?=/)|(?<=[wW]{3})\.")
"""What starts a span, an entity, a link or a formula."""


def render_lint_markdown(report: LintReport) -> str:
    """Return the findings as Markdown."""
    lines = [f"## compression-advisor: {summary(report)}", ""]
    for payload in report.payloads:
        lines += [*_payload_lines(payload), ""]
    return "\n".join(lines[:-1]) + "\n"


def _payload_lines(payload: LintedPayload) -> Iterator[str]:
    path = code_span(payload.path)
    name = plain(payload.snap_name)
    yield f"### {name}: {path}" if name.strip() else f"### {path}"
    yield ""
    if payload.error is not None:
        yield f"Not linted: {plain(payload.error)}"
    elif not payload.findings:
        yield "Nothing found."
    if payload.error is not None and payload.findings:
        yield ""
    for finding in payload.findings:
        yield from finding_lines(finding)


def finding_lines(finding: Finding) -> list[str]:
    """Return a finding as a list's item: a line that stands alone, then details."""
    return [*_finding_lines(finding)]


def _finding_lines(finding: Finding) -> Iterator[str]:
    location = finding.location
    label = "undecided" if finding.undecided else finding.severity
    where = ""
    if location.kind != "image":
        line = "" if location.line is None else f" line {location.line}"
        where = f" {code_span(location.path)}{line}:"
    rule = f"{finding.rule} {finding.name}"
    yield f"- **{label}** {rule}:{where} {plain(finding.message)}"
    for item in finding.evidence:
        yield f"  - {plain(item.label)}: {plain(item.text)} ({item.origin})"
    if finding.files:
        yield f"  - files: {_listed_files(finding)}"
    if finding.fix is not None:
        made = ", `--fix` makes it" if is_automatic(finding.fix) else ""
        description = plain(finding.fix.description)
        yield f"  - {fix_label(finding.fix)}{made}: {description}"


def _listed_files(finding: Finding) -> str:
    shown = ", ".join(map(code_span, finding.files[:LISTED_NAMES]))
    more = len(finding.files) - LISTED_NAMES
    return f"{shown} and {more:,} more" if more > 0 else shown


def plain(text: str) -> str:
    r"""Return text that Markdown shows as it is, in one line.

    >>> plain("lib/*.so_1")
    'lib/\\*.so\\_1'

    An at sign is followed by an empty comment, as a name after it would be told of
    the finding: renderers look for those after they have taken backslashes away.
    """
    escaped = _MARKUP.sub(r"\\\g<0>", printable(text))
    return escaped.replace("@", "@<!-- -->")


def code_span(name: str) -> str:
    """Return a name in a code span, whatever backticks it has (CommonMark 6.1).

    >>> code_span("a`b")
    '``a`b``'
    """
    text = printable(name)
    runs = {len(run) for run in re.findall("`+", text)}
    fence = "`" * next(n for n in range(1, len(runs) + 2) if n not in runs)
    # A renderer strips one space from both sides; a name's own have to stay.
    padded = text.startswith(("`", " ")) or text.endswith(("`", " "))
    return (
        f"{fence} {text} {fence}" if padded and text.strip() else fence + text + fence
    )
