"""A report against a baseline as text: what is new in full, the rest in brief."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcraft_compression_advisor.report.baseline_phrases import (
    figure_rows,
    states_text,
)
from snapcraft_compression_advisor.report.lines import TextStyle, wrapped
from snapcraft_compression_advisor.report.lint_text import (
    render_lint_text,
    without_commands,
)
from snapcraft_compression_advisor.report.names import printable
from snapcraft_compression_advisor.report.phrases import title

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcraft_compression_advisor.lint.baseline import (
        JudgedPayload,
        JudgedReport,
    )


def render_judged_text(
    judged: JudgedReport, style: TextStyle | None = None, *, statistics: bool = False
) -> str:
    """Return the findings that count, as without a baseline; then what changed.

    :param style: as :func:`.render_lint_text`.
    :param statistics: likewise.
    """
    style = style or TextStyle()
    text = render_lint_text(judged.counting(), style, statistics=statistics)
    lines = [f"Against {printable(judged.where)}: {states_text(judged)}."]
    for payload in judged.payloads:
        lines += _payload_lines(payload, style, named=len(judged.payloads) > 1)
    return text + "\n" + "".join(f"{without_commands(line)}\n" for line in lines)


def _payload_lines(
    payload: JudgedPayload, style: TextStyle, *, named: bool
) -> Iterator[str]:
    if named:
        yield f"{printable(payload.linted.snap_name or payload.linted.path)}:"
    if payload.before is None and payload.linted.error is None:
        yield "  not in the baseline: all of its findings are new"
    for label, before, now, change in figure_rows(payload):
        text = f"{printable(label)}: {change or printable(now)}"
        yield from wrapped(text, style.columns, first="  ", rest="    ")
        if change:
            yield f"    {printable(before)} -> {printable(now)}"
    for state in ("moved", "known"):
        for each in payload.of(state):
            was = each.was.path if each.was and state == "moved" else ""
            place = printable(each.finding.location.path)
            where = f"{printable(was)} -> {place}" if was else place
            yield f"  {state}: {title(each.finding)}: {where}"
    for gone in payload.gone:
        yield f"  gone: {gone.rule} {gone.name}: {printable(gone.path)}"
