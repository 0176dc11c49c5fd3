"""What ``lint`` found, and two of its runs side by side."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.lint.baseline import with_states
from snapcraft_compression_advisor.report.lint_formats.json import report_of
from snapcraft_compression_advisor.report.lint_formats.phrases import (
    counts_text,
    figure,
    fix_label,
)
from snapcraft_compression_advisor.report.page import charts
from snapcraft_compression_advisor.report.page.model import (
    Chart,
    Entry,
    Group,
    Section,
    Table,
)
from snapcraft_compression_advisor.report.page.texts import seconds, size, told, versus

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from snapcraft_compression_advisor.report.contract import Interval
    from snapcraft_compression_advisor.report.lint_formats.json import (
        FiguresReport,
        FindingReport,
        LintDocument,
        LintedPayloadReport,
    )
    from snapcraft_compression_advisor.report.page.charts import Drawing, Spec

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
        title="Findings of lint",
        origin="Each figure says whether it is measured, estimated, published or "
        "declared."
        if findings
        else "",
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Move:
    """A figure before and now."""

    label: str
    before: Interval
    now: Interval

    @property
    def text(self) -> str:
        """What is told of it."""
        return f"{self.label}: {seconds(self.before)} before, {seconds(self.now)} now"


def before_now_section(
    before: LintDocument | None, now: LintDocument | None
) -> Section | None:
    """Return what changed between two runs; ``None`` where there is only one."""
    if before is None or now is None:
        return None
    known = {payload.snap_name: payload for payload in before.payloads}
    groups = tuple(
        group
        for payload in now.payloads
        if payload.snap_name in known
        for group in _groups(known[payload.snap_name], payload)
    )
    return Section(
        key="before-now",
        title="Before and now",
        origin="Seconds: estimated. Sizes of built snaps: measured, others estimated.",
        paragraphs=tuple(_states(before, now)),
        legend="A hollow point is before, a filled one now; lines are intervals.",
        groups=groups,
    )


def _states(before: LintDocument, now: LintDocument) -> Iterator[str]:
    payloads = with_states(report_of(now), report_of(before)).payloads
    new = [finding.was is None for payload in payloads for finding in payload.findings]
    gone = [finding for payload in payloads for finding in payload.gone]
    yield (
        f"Findings: {sum(new):,} new, {len(new) - sum(new):,} known, "
        f"{len(gone):,} gone."
    )
    for finding in gone:
        yield f"Gone: {finding.rule} {finding.name}: {finding.message}"


def _groups(before: LintedPayloadReport, now: LintedPayloadReport) -> Iterator[Group]:
    if before.figures is None or now.figures is None:
        return
    moves = tuple(_moves(before.figures, now.figures))
    chart = Chart(
        key="before-now",
        title="Seconds added to a cold launch",
        alt=told(
            "Seconds added to cold launches before and now",
            (move.text for move in moves),
        ),
        draw=partial(_draw_moves, moves),
        wide=True,
    )
    yield Group(
        heading=now.snap_name,
        charts=(chart,) if moves else (),
        table=_figures_table(before.figures, now.figures, moves),
        open_table=True,
    )


def _moves(before: FiguresReport, now: FiguresReport) -> Iterator[_Move]:
    known = {(each.app, each.device): each.added_s for each in before.launches}
    for launch in now.launches:
        was = known.get((launch.app, launch.device))
        if was is not None:
            label = f"{launch.app} on {launch.device}"
            yield _Move(label=label, before=was, now=launch.added_s)


def _draw_moves(moves: Sequence[_Move], *, width: int) -> Drawing:
    """Draw each figure's two values with their intervals."""
    places: Spec = {
        "y": charts.rows([move.label for move in moves]),
        "yOffset": {"field": "when", "type": "nominal", "sort": ["before", "now"]},
    }
    x = charts.quantity("mid", "seconds", axis={"tickCount": 5})
    return charts.layered(
        [
            charts.layer(
                charts.mark("rule", strokeWidth=2, opacity=0.6),
                **places,
                x={**x, "field": "low"},
                x2={"field": "high"},
                color=charts.PLAIN,
            ),
            charts.layer(
                charts.telling("point", size=110, strokeWidth=2, opacity=1),
                **places,
                x=x,
                stroke=charts.PLAIN,
                fill={**charts.PLAIN, "field": "fill"},
                description=charts.TOLD,
            ),
        ],
        values=[
            {
                "label": move.label,
                "when": when,
                "low": figure.low,
                "mid": figure.mid,
                "high": figure.high,
                "colour": colour,
                "fill": fill,
                "text": move.text,
            }
            for move in moves
            for when, figure, colour, fill in (
                ("before", move.before, charts.MUTED, charts.PAPER),
                ("now", move.now, _NOW, _NOW),
            )
        ],
        width=width,
        height=_AXES_PX + _ROW_PX * len(moves),
    )


def _figures_table(
    before: FiguresReport, now: FiguresReport, moves: tuple[_Move, ...]
) -> Table:
    rows = [("compression", before.compression, now.compression, "")]
    if before.image_bytes is not None and now.image_bytes is not None:
        old, new = before.image_bytes, now.image_bytes
        rows.append(("image", size(old), size(new), versus(new, old)))
    rows += [
        (
            f"seconds added, {move.label}",
            seconds(move.before),
            seconds(move.now),
            versus(move.now, move.before),
        )
        for move in moves
    ]
    return Table(
        caption="Figures before and now",
        heads=("figure", "before", "now", "change"),
        rows=tuple(rows),
    )
