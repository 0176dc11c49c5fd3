"""The report that a person reads at a glance, in 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.printable import printable
from ..core.units import format_bytes
from ..wording import sentences
from .gain import where_from
from .json_report import build_report
from .lines import COLUMNS, wrapped
from .page.codecs import codec_table
from .page.launch_files import blocks_of, launch_accuracy
from .page.texts import WHAT_IF, how_sized, parted
from .phrases import counted, headline, how_known, not_shipped, payload_facts
from .undecided import what_decides

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..analysis import Analysis
    from .json_report import DeviceReport, Report
    from .report_launch import LaunchReport

_DEVICES_PER_TABLE = 2
_COST_COLUMNS = 24


def render_text(analysis: Analysis) -> str:
    """Return the report as plain text, in the order of the pages."""
    report = build_report(analysis)
    payload = report.payload
    lines = [*_missing_lines(analysis)]
    lines += [f"{payload.name}, base {payload.base}", "", *advice_lines(analysis), ""]
    lines += [*payload_facts(payload), ""]
    for launch in report.launches or (None,):
        lines += [*_table_lines(report, launch), ""]
    lines[-1:] = [WHAT_IF, ""]
    for launch in report.launches:
        lines += [*_launch_lines(launch, analysis.app_choice), ""]
    lines += wrapped(" ".join(_method(report)))
    return "\n".join(line.rstrip() for line in lines).rstrip() + "\n"


def _missing_lines(analysis: Analysis) -> Iterator[str]:
    """Yield that an app can't start, before all that is of little use then."""
    for app, program in analysis.missing_programs.items():
        yield f"NO PROGRAM for app {app}: the payload has no file {printable(program)}"
    if analysis.missing_programs:
        yield ""


def _table_lines(report: Report, launch: LaunchReport | None) -> Iterator[str]:
    """Yield a table of all codecs, two devices wide; more devices, more tables."""
    table = codec_table(report, launch)
    for start in range(0, max(1, len(table.heads) - 3), _DEVICES_PER_TABLE):
        if start:
            yield ""
        if launch:
            yield f"seconds added to a cold launch of {launch.app}".rjust(COLUMNS)
        for name, image, versus, *costs in (table.heads, *table.rows):
            size, interval = parted(image)
            shown = costs[start : start + _DEVICES_PER_TABLE]
            added = "".join(cost.rjust(_COST_COLUMNS) for cost in shown)
            line = f"{name:7} {size:>8} {interval:6}{versus:>7}{added}"
            yield line.replace("\N{EN DASH}", "-")  # which every terminal has


def _launch_lines(launch: LaunchReport, app_choice: str) -> Iterator[str]:
    yield f"App {launch.app} ({app_choice})"
    expected = round(blocks_of(launch))
    some = "" if expected == launch.data_blocks else f"{expected:,} of "
    yield (
        f"  launch set, {how_known(launch.source, launch.method)}: "
        f"{counted(launch.files, 'file')}, {some}"
        f"{counted(launch.data_blocks, 'data block')}, {format_bytes(launch.raw_bytes)}"
    )
    texts = [*launch_accuracy(launch)] if launch.files else []
    if launch.files and (clause := where_from(launch)) is not None:
        texts.append(clause)
    for text in (*texts, *not_shipped(launch.unresolved)):
        yield from _indented(text.replace("\N{EN DASH}", "-"))


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


def advice_lines(analysis: Analysis) -> Iterator[str]:
    """Yield the verdict and its reasons, as the report begins with them."""
    advice = analysis.recommendation
    yield headline(advice.verdict, advice.compression)
    for reason in sentences(advice.reasons):
        yield from _indented(reason)
    for step in what_decides(analysis):
        ends = ":" if step.commands else "."
        yield from _indented(f"{step.text}{ends}")
        yield from (f"    {command}" for command in step.commands)


def _indented(text: str) -> list[str]:
    return wrapped(text, first="  ", rest="    ")
