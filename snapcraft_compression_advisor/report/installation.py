"""What snapd measured of an installation, beside what is estimated of a launch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from .contract import Part, Text, filled
from .page.model import Group, Section, Table
from .page.texts import seconds, short_seconds
from .phrases import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..capture.snapd_timings import SnapdTimings
    from .json_report import Report

_SHOWN_TASKS = 5
"""The others of a change take a small share of it."""
_ALWAYS = "Mount snap"


class TaskReport(Part):
    """A task of snapd, or a change of several tasks."""

    id: str
    summary: Text
    kind: Text = Field(default="", description="of the task; empty if it isn't known")
    seconds: float


class ProgramReport(Part):
    """A program of a traced run, until it started another program or ended."""

    program: Text
    seconds: float


class InstallationReport(Part):
    """What snapd measured of the snap on a machine; imported."""

    tasks: list[TaskReport] = Field(description="of 'snap debug timings', in its order")
    changes: list[TaskReport] = Field(
        description="of 'snap changes', in its order; in whole seconds"
    )
    programs: list[ProgramReport] = Field(
        description="of 'snap run --trace-exec', the slowest ones"
    )
    run_s: float | None = Field(
        description="of that run, until it ended; null if there is none"
    )


def installation_report(timings: SnapdTimings) -> InstallationReport:
    """Return timings in the shape of the contract."""
    return filled(InstallationReport, timings)


def installation_section(report: Report) -> Section | None:
    """Return what snapd measured beside the estimates; ``None`` without timings."""
    timings = report.installation
    if timings is None:
        return None
    table = Table(
        caption="What snapd measured on the machine of these timings",
        heads=("what", "measured"),
        rows=tuple(_rows(timings)),
    )
    return Section(
        key="installation",
        title="Installation, as snapd measured it",
        origin="Measured by snapd where it was installed; launches are estimated.",
        paragraphs=tuple(_paragraphs(report)),
        groups=(Group(table=table, open_table=True),),
    )


def _rows(timings: InstallationReport) -> Iterator[tuple[str, str]]:
    for change in timings.changes:
        yield change.summary, f"{change.seconds:.0f} s"
    if timings.tasks:
        total_s = sum(task.seconds for task in timings.tasks)
        yield f"tasks of snapd, all {len(timings.tasks)}", short_seconds(total_s)
    yield from ((task.summary, short_seconds(task.seconds)) for task in _main(timings))
    if timings.run_s is not None:
        yield "snap run, traced, until it ended", short_seconds(timings.run_s)
    for each in timings.programs:
        yield each.program, short_seconds(each.seconds)


def _main(timings: InstallationReport) -> Iterator[TaskReport]:
    """Yield the tasks that take longest, and the mounts, in their order."""
    longest = sorted(timings.tasks, key=lambda task: -task.seconds)[:_SHOWN_TASKS]
    for task in timings.tasks:
        if task in longest or task.summary.startswith(_ALWAYS):
            yield task


def _paragraphs(report: Report) -> Iterator[str]:
    """Yield what of it depends on the codec."""
    yield (
        "The codec changes what grows with the image, such as copying and checking it "
        "in 'Mount snap', and the first launch, which is cold."
    )
    for launch in report.launches[:1]:
        for name, costs in launch.devices.items():
            added = [
                f"{seconds(costs[codec].added_s)} with {codec}"
                for codec in ("xz", "lzo")
                if codec in costs
            ]
            if added:
                yield (
                    f"Estimated for {name}: a cold launch of {launch.app} spends "
                    f"{listed(added)} on reading and decompressing."
                )
