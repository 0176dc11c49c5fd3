"""Two runs of ``lint`` side by side: figures before and now."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.report.charts.before_now import Move, draw_moves
from snapcraft_compression_advisor.report.page.model import (
    Chart,
    Group,
    Section,
    Table,
)
from snapcraft_compression_advisor.report.page.texts import seconds, size, versus
from snapcraft_compression_advisor.report.phrases import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcraft_compression_advisor.report.lint_formats.json import (
        FiguresReport,
        LintDocument,
        LintedPayloadReport,
    )


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
        paragraphs=tuple(_paragraphs(before, now)),
        legend="A hollow point is before, a filled one now; lines are intervals.",
        groups=groups,
    )


def _paragraphs(before: LintDocument, now: LintDocument) -> Iterator[str]:
    old = {f.fingerprint: f for payload in before.payloads for f in payload.findings}
    new = {f.fingerprint: f for payload in now.payloads for f in payload.findings}
    yield (
        f"Findings: {counted(len(new.keys() - old.keys()), 'new one')}, "
        f"{counted(len(new.keys() & old.keys()), 'known one')}, "
        f"{len(old.keys() - new.keys()):,} gone."
    )
    for print_, finding in old.items():
        if print_ not in new:
            yield f"Gone: {finding.rule} {finding.name}: {finding.message}"


def _groups(before: LintedPayloadReport, now: LintedPayloadReport) -> Iterator[Group]:
    if before.figures is None or now.figures is None:
        return
    moves = tuple(_moves(before.figures, now.figures))
    chart = Chart(
        key="before-now",
        title="Seconds added to a cold launch",
        alt="Seconds added to cold launches before and now: "
        + "; ".join(move.text for move in moves)
        + ".",
        draw=partial(draw_moves, moves),
        wide=True,
    )
    yield Group(
        heading=now.snap_name,
        charts=(chart,) if moves else (),
        table=_table(before.figures, now.figures, moves),
        open_table=True,
    )


def _moves(before: FiguresReport, now: FiguresReport) -> Iterator[Move]:
    known = {(each.app, each.device): each.added_s for each in before.launches}
    for launch in now.launches:
        was = known.get((launch.app, launch.device))
        if was is not None:
            label = f"{launch.app} on {launch.device}"
            old, new = was, launch.added_s
            text = f"{label}: {seconds(old)} before, {seconds(new)} now"
            yield Move(label=label, before=old, now=new, text=text)


def _table(before: FiguresReport, now: FiguresReport, moves: tuple[Move, ...]) -> Table:
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
