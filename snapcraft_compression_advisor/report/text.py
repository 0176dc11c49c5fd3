"""The report that a person reads at a glance."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING

from ..core.printable import printable
from ..core.units import format_bytes
from ..launch.stack import AVERAGE_CONSUMER
from ..wording import sentences
from .advise_month import month_section
from .gain import gains, narrowing_text, why_narrow
from .gain_bars import gain_lines
from .installation import installation_section
from .json_report import short_report
from .lines import FILE_STYLE, TextStyle, wrapped
from .page.codecs import codec_table
from .page.launch_files import blocks_of, launch_accuracy
from .page.next_steps import next_section
from .page.texts import WHAT_IF, how_sized, launch_title, parted, sentence
from .phrases import counted, headline, how_known, not_shipped, payload_facts
from .stack import (
    CHANGE_TITLE,
    STACK_TITLE,
    change_table,
    how_read,
    stack_sentences,
    stack_table,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..analysis import Analysis
    from ..capture.snapd_timings import SnapdTimings
    from .json_report import DeviceReport, Report
    from .page.model import Section, Step, Table
    from .report_launch import LaunchReport

_SIZE_COLUMNS = 30
_COST_COLUMNS = 24
_STACK_COLUMNS = 21


def render_text(
    analysis: Analysis,
    style: TextStyle = FILE_STYLE,
    *,
    timings: SnapdTimings | None = None,
    to_follow: str | None = None,
    sets_key: bool = False,
) -> str:
    """Return the report as plain text, in the order of the pages.

    :param to_follow: snapcraft's command that follows an advice to change, in place of
        next steps with commands that not every snapcraft has beside it.
    :param sets_key: whether the advice is followed right after.
    :param timings: of snapd, where they were given.
    """
    report = short_report(analysis, timings=timings)
    payload, found = report.payload, gains(report)
    lines = [*_missing_lines(analysis)]
    lines += [f"{payload.name}, base {payload.base}", ""]
    first, *reasons = _verdict_lines(analysis, style)
    lines += [style.verdict(report.recommendation.verdict, first), *reasons, ""]
    if found is not None:
        lines += [*gain_lines(found, style), *_on_gains(report, style), ""]
    for fact in payload_facts(payload):
        lines += wrapped(fact, style.wrap_columns)
    lines.append("")
    launches = [
        launch
        for launch in report.launches
        if found is None or not launch.files or launch.app in found.apps
    ]
    for each in launches or (None,):
        lines += [*_table_lines(report, each, style), ""]
    lines[-1:] = [*wrapped(WHAT_IF, style.wrap_columns), ""]
    for launch in launches:
        lines += [*_launch_lines(launch, analysis.app_choice, style), ""]
        if launch.stack:
            lines += [*_stack_lines(launch, style), ""]
    month = month_section(report)
    if month is not None:
        lines += [*table_section(saved_only(month), style), ""]
    installation = installation_section(report)
    if installation is not None:
        lines += [*table_section(installation, style), ""]
    if to_follow is None:
        lines += _next_lines(report, style, sets_key=sets_key)
    elif report.recommendation.verdict == "change":
        lines += [f"Set the key: {to_follow}", ""]
    lines += wrapped(" ".join(_method(report)), style.wrap_columns)
    return "\n".join(line.rstrip() for line in lines).rstrip() + "\n"


def _next_lines(report: Report, style: TextStyle, *, sets_key: bool) -> Iterator[str]:
    section = next_section(report, report.findings, sets_key=sets_key)
    if section is not None:
        yield from (style.bold(section.title), *_step_lines(section.steps, style), "")


def _missing_lines(analysis: Analysis) -> Iterator[str]:
    """Yield that an app can't start, before all that is of little use then."""
    for app, program in analysis.missing_programs.items():
        yield f"NO PROGRAM for app {app}: the payload has no file {printable(program)}"
    if analysis.missing_programs:
        yield ""


def _on_gains(report: Report, style: TextStyle) -> Iterator[str]:
    """Yield why the difference is narrow, and what its interval is made of."""
    why = why_narrow(report)
    if why is not None:
        yield from _indented(why, style)
    decides = report.recommendation.decides
    for launch in report.launches:
        if decides is not None and launch.app == decides.app:
            clause = narrowing_text(launch)
            if clause is not None:
                yield from _indented(sentence(clause), style)


def _table_lines(
    report: Report, launch: LaunchReport | None, style: TextStyle
) -> Iterator[str]:
    """Yield a table of all codecs; where devices don't fit in, several tables."""
    table = codec_table(report, launch)
    columns = max(_COST_COLUMNS, *(len(head) + 2 for head in table.heads[3:]), 0)
    fitting = max(1, (style.wrap_columns - _SIZE_COLUMNS) // columns)
    for start in range(0, max(1, len(table.heads) - 3), fitting):
        if start:
            yield ""
        rows = [
            (*row[:3], *row[3 + start : 3 + start + fitting])
            for row in (table.heads, *table.rows)
        ]
        if launch:
            width = _SIZE_COLUMNS + columns * (len(rows[0]) - 3)
            yield f"seconds added to a cold launch of {launch.app}".rjust(width)
        for name, image, versus, *costs in rows:
            size, interval = parted(image)
            added = "".join(cost.rjust(columns) for cost in costs)
            line = f"{name:7} {size:>8} {interval:6}{versus:>7}{added}"
            yield line.replace("\N{EN DASH}", "-")  # which every terminal has


def _launch_lines(
    launch: LaunchReport, app_choice: str, style: TextStyle
) -> Iterator[str]:
    consumed = launch.weight is not None or launch.app == AVERAGE_CONSUMER
    choice = "" if consumed else f" ({app_choice})"
    yield f"{launch_title(launch)}{choice}"
    expected = round(blocks_of(launch))
    some = "" if expected == launch.data_blocks else f"{expected:,} of "
    reads = (
        f"launch set, {how_known(launch.source, launch.method)}: "
        f"{counted(launch.files, 'file')}, {some}"
        f"{counted(launch.data_blocks, 'data block')}, {format_bytes(launch.raw_bytes)}"
    )
    accuracy = launch_accuracy(launch) if launch.files else ()
    for text in (reads, *accuracy, *not_shipped(launch.unresolved)):
        yield from _indented(text, style)


def table_section(section: Section, style: TextStyle) -> Iterator[str]:
    """Yield a section of one table: its last column is aligned to the right."""
    yield style.bold(section.title)
    for group in section.groups:
        for *names, figure in group.table.rows if group.table else ():
            name, width = " ".join(names), style.wrap_columns - len(figure) - 4
            first, *others = textwrap.wrap(name, width, subsequent_indent="  ")
            yield f"  {first:{width}}  {figure}"
            yield from (f"  {line}" for line in others)
    for text in section.paragraphs:
        yield from _indented(text, style)


def saved_only(section: Section) -> Section:
    """Return the month with two columns, which fit into any terminal."""
    groups = (
        replace(
            group,
            table=replace(
                group.table,
                rows=tuple(
                    (f"{what}: xz {xz}, lzo {lzo}" if xz else what, saved)
                    for what, xz, lzo, saved in group.table.rows
                ),
            ),
        )
        for group in section.groups
        if group.table
    )
    title = f"{section.title} (estimated, with intervals)"
    return replace(section, title=title, groups=tuple(groups))


def _stack_lines(launch: LaunchReport, style: TextStyle) -> Iterator[str]:
    """Yield what the launch reads of each snap, and who can change that."""
    title = f"{STACK_TITLE}: {launch.app} ({how_read(launch)})"
    yield from map(style.bold, wrapped(title, style.wrap_columns))
    yield from _plain_table(stack_table(launch), style)
    changes = change_table(launch)
    if changes is not None:
        yield ""
        yield from wrapped(
            f"{CHANGE_TITLE}, per cold launch (estimated)", style.wrap_columns
        )
        yield from _plain_table(changes, style)
    for text in stack_sentences(launch):
        yield from _indented(text, style)


def _plain_table(table: Table, style: TextStyle) -> Iterator[str]:
    """Yield a table's lines; where devices don't fit in, those of several tables."""
    fixed = len(table.words) + 1 + ("blocks" in table.heads)
    rows = (table.heads, *table.rows)
    widths = [max(len(row[column]) for row in rows) for column in range(fixed)]
    room = style.wrap_columns - sum(widths) - fixed
    fitting = max(1, room // _STACK_COLUMNS)
    for start in range(fixed, len(table.heads), fitting):
        if start > fixed:
            yield ""
        for row in rows:
            cells = [
                cell.ljust(width) if place in {0, *table.words} else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(row, widths, strict=False))
            ]
            costs = [
                cell.rjust(_STACK_COLUMNS) for cell in row[start : start + fitting]
            ]
            yield f"{' '.join(cells)} {''.join(costs)}".replace("\N{EN DASH}", "-")


def _method(report: Report) -> Iterator[str]:
    yield how_sized(report, report.trial.tool)
    yield from (f"{note}." for note in report.trial.notes)
    if report.launches and report.method:
        yield (
            "Seconds are how much longer a cold launch takes than a warm one, "
            f"estimated from {_origins(report.method.devices)} device figures; the "
            "interval covers the uncertainty of "
            f"these{_and_the_reads(report.launches)}."
        )


def _origins(devices: Sequence[DeviceReport]) -> str:
    """Return where the devices' figures come from, as their sources say."""
    sources = " ".join(source for device in devices for source in device.sources)
    found = [origin for origin in ("measured", "published") if origin in sources]
    return " and ".join(found) or "the given"


def _and_the_reads(launches: Sequence[LaunchReport]) -> str:
    if any(launch.source == "static" for launch in launches):
        return " and the guess of what a launch reads"
    if any(launch.method == "trace" for launch in launches):
        return " and the trace of what a launch reads"
    return ""


def _verdict_lines(analysis: Analysis, style: TextStyle) -> Iterator[str]:
    advice = analysis.recommendation
    yield headline(advice.verdict, advice.compression)
    for reason in sentences(advice.reasons):
        yield from _indented(reason, style)


def _step_lines(steps: Iterable[Step], style: TextStyle) -> Iterator[str]:
    for step in steps:
        yield from _to_do(step.title, step.lines, style)


def _to_do(text: str, to_copy: Sequence[str], style: TextStyle) -> Iterator[str]:
    yield from _indented(f"{text}{':' if to_copy else '.'}", style)
    yield from (f"    {line}" for line in to_copy)


def _indented(text: str, style: TextStyle) -> list[str]:
    plain = text.replace("\N{EN DASH}", "-")  # which every terminal has
    return wrapped(plain, style.wrap_columns, first="  ", rest="    ")
