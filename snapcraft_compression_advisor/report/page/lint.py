"""What ``lint`` found, and two of its runs side by side."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ...diff.figures import BaselineBuild, launch_changes
from ...lint.baseline import with_states
from ..lint_formats.json import report_of
from ..lint_formats.phrases import changed_rows, counts_text, figure, fix_label
from . import charts
from .model import Chart, Entry, Group, Section, Table
from .texts import seconds, told

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...diff.launches import FigureChange
    from ...lint.finding import LintedPayload
    from ..lint_formats.json import FindingReport, LintDocument
    from .charts import Drawing, Spec

_LISTED_FILES = 4
_ROW_PX = 48
_AXES_PX = 50
_NOW = "var(--lzo)"


def findings_section(findings: Sequence[FindingReport] | None) -> Section | None:
    """Return the findings; ``None`` where nobody looked."""
    if findings is None:
        return None
    return Section(
        key="findings",
        title="Lint findings",
        origin="Each figure says whether it is measured, estimated, published or "
        "declared."
        if findings
        else "",
        gist=counts_text(findings) or "nothing found",
        paragraphs=(f"{counts_text(findings) or 'Nothing found'}.",),
        entries=tuple(_entry(finding) for finding in findings),
    )


def _entry(finding: FindingReport) -> Entry:
    """Return a finding as a point of a list."""
    mark = "undecided" if finding.undecided else finding.severity
    return Entry(
        mark=mark,
        tone="info" if finding.undecided else finding.severity,
        title=f"{finding.rule} {finding.name}"
        + ("" if finding.state is None else f" ({finding.state})"),
        text=finding.message,
        details=tuple(_details(finding)),
    )


def _details(finding: FindingReport) -> Iterator[str]:
    place = finding.location
    if place.kind == "project":
        line = "" if place.line is None else f", line {place.line}"
        yield f"in {place.path}{line}"
    for item in finding.evidence:
        yield figure(item)
    if finding.files:
        yield _files(finding.files)
    if finding.fix is not None:
        yield f"{fix_label(finding.fix)}: {finding.fix.description}"


def _files(names: Sequence[str]) -> str:
    """Return the first of a finding's files.

    Rules name some of the files where there are many, so how many are left isn't told.
    """
    shown = ", ".join(names[:_LISTED_FILES])
    return f"files: {shown}" + (", and others" if len(names) > _LISTED_FILES else "")


def before_now_section(
    before: LintDocument | None, now: LintDocument | None
) -> Section | None:
    """Return what changed between two runs; ``None`` where there is only one."""
    if before is None or now is None:
        return None
    payloads = with_states(report_of(now), report_of(before)).payloads
    return Section(
        key="before-now",
        title="Before and now",
        gist=next(_states(payloads)).rstrip("."),
        paragraphs=tuple(_states(payloads)),
        legend="Hollow points are before, filled points now; lines are intervals.",
        groups=tuple(group for payload in payloads for group in _groups(payload)),
    )


def _states(payloads: Sequence[LintedPayload]) -> Iterator[str]:
    new = [finding.was is None for payload in payloads for finding in payload.findings]
    gone = [finding for payload in payloads for finding in payload.gone]
    yield (
        f"Findings: {sum(new):,} new, {len(new) - sum(new):,} known, "
        f"{len(gone):,} gone."
    )
    for finding in gone:
        yield f"Gone: {finding.rule} {finding.name}: {finding.message}"


def _groups(payload: LintedPayload) -> Iterator[Group]:
    now, before = payload.figures, payload.before
    if now is None or before is None or before.figures is None:
        return
    baseline = BaselineBuild(figures=before.figures)
    data = [
        value for change in launch_changes(baseline, now) for value in _data(change)
    ]
    texts = dict.fromkeys(value["text"] for value in data)
    chart = Chart(
        key="before-now",
        title="Seconds added to a cold launch",
        alt=told("Seconds added to cold launches before and now", texts),
        draw=partial(_draw_changes, data),
        wide=True,
    )
    yield Group(
        heading=payload.snap_name,
        charts=(chart,) if texts else (),
        table=Table(
            caption="Figures before and now",
            heads=("figure", "before", "now", "change"),
            rows=tuple(changed_rows(replace(payload, baseline=baseline))),
        ),
        open_table=True,
    )


def _data(change: FigureChange) -> Iterator[Spec]:
    """Yield the chart's data of a launch's two values."""
    label = f"{change.app} on {change.device}"
    old, new = seconds(change.old_s), seconds(change.new_s)
    for when, added, colour, fill in (
        ("before", change.old_s, charts.MUTED, charts.PAPER),
        ("now", change.new_s, _NOW, _NOW),
    ):
        yield {
            "label": label,
            "when": when,
            **charts.ends("s", added),
            "colour": colour,
            "fill": fill,
            "text": f"{label}: {old} before, {new} now",
        }


def _draw_changes(data: Sequence[Spec], *, width: int) -> Drawing:
    """Draw each figure's two values with their intervals."""
    x, y = charts.quantity("s", "seconds", axis={"tickCount": 5}), charts.rows(data)
    line = charts.mark("rule", strokeWidth=2, opacity=0.6)
    ends: Spec = {"x": {**x, "field": "s_low"}, "x2": {"field": "s_high"}}
    return charts.layered(
        [charts.layer(line, **ends, color=charts.PLAIN), charts.points(110)],
        values=data,
        width=width,
        height=_AXES_PX + _ROW_PX * len(y["sort"]),
        x=x,
        y=y,
        yOffset={"field": "when", "type": "nominal", "sort": ["before", "now"]},
    )
