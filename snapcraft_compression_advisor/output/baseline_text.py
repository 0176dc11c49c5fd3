"""A report against a baseline as text: what is new in full, the rest in brief."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.output.baseline_phrases import (
    figure_rows,
    states_text,
)
from snapcraft_compression_advisor.output.lint_text import (
    render_lint_text,
    without_commands,
)
from snapcraft_compression_advisor.output.names import printable
from snapcraft_compression_advisor.output.phrases import title
from snapcraft_compression_advisor.output.text import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcraft_compression_advisor.rules.baseline import (
        JudgedPayload,
        JudgedReport,
    )


def render_judged_text(
    judged: JudgedReport, *, coloured: bool = False, statistics: bool = False
) -> str:
    """Return the findings that count, as without a baseline; then what changed.

    :param coloured: as :func:`.render_lint_text`.
    :param statistics: likewise.
    """
    text = render_lint_text(judged.counting(), coloured=coloured, statistics=statistics)
    lines = [f"Against {printable(judged.where)}: {states_text(judged)}."]
    for payload in judged.payloads:
        lines += _payload_lines(payload, named=len(judged.payloads) > 1)
    return text + "\n" + "".join(f"{without_commands(line)}\n" for line in lines)


def _payload_lines(payload: JudgedPayload, *, named: bool) -> Iterator[str]:
    if named:
        yield f"{printable(payload.linted.snap_name or payload.linted.path)}:"
    if payload.before is None and payload.linted.error is None:
        yield "  not in the baseline: all of its findings are new"
    for label, before, now, change in figure_rows(payload):
        yield from _wrapped(f"{printable(label)}: {change or printable(now)}")
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


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, COLUMNS, initial_indent="  ", subsequent_indent="    ")
