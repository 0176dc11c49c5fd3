"""What to do next: to be copied, each step with what it brings."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from ...core.units import format_bytes
from ..undecided import record_installed
from .model import Section, Step
from .texts import seconds, sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..json_report import Report
    from ..lint_formats.json import FindingReport, GainReport
    from ..report_launch import LaunchReport

_FIXES = 3
_PROFILE = "run.json"
_DECIDED = frozenset({"change", "keep"})
"""Verdicts where launches wait for blocks, and where nothing else has to be done
first."""
TRIMMED = frozenset(f"SCA30{number}" for number in (3, 4, 5, 6, 7, 8))
"""Rules on files that ``trim`` lists, with filters that leave them out."""


def next_section(
    report: Report,
    findings: Sequence[FindingReport] | None,
    *,
    sets_key: bool = False,
) -> Section | None:
    """Return what to do next; ``None`` where there is nothing.

    :param sets_key: whether the advice is followed anyway.
    :param findings: of lint on the same payload; ``None`` where it wasn't linted.
    """
    steps = (
        *(() if sets_key else _key(report)),
        *_decide(report),
        *_fixes(report, findings or ()),
        *_ahead(report),
    )
    if not steps:
        return None
    return Section(
        key="next",
        title="What to do next",
        origin="What each brings is estimated.",
        steps=steps,
    )


def _key(report: Report) -> Iterator[Step]:
    """Yield how to follow an advice to change."""
    advice = report.recommendation
    if advice.verdict != "change":
        return
    brings = []
    if advice.seconds_saved is not None and report.launches:
        app = report.launches[0].app
        brings.append(f"saves {seconds(advice.seconds_saved)} per cold launch of {app}")
    if advice.bytes_added is not None:
        added = advice.bytes_added.mid
        verb = "adds" if added >= 0 else "takes"
        brings.append(f"{verb} {format_bytes(abs(added))}")
    yield Step(
        title="Set the key in snapcraft.yaml",
        text=sentence(" and ".join(brings)) if brings else "",
        lines=(f"compression: {advice.compression}",),
    )


def _decide(report: Report) -> Iterator[Step]:
    """Yield how to make the advice more certain."""
    guessed = [each for each in report.launches if each.files and _guessed(each)]
    narrower = _narrower(guessed[0]) if guessed else ""
    steps = report.recommendation.steps
    for step in steps:
        text = narrower if step is steps[0] else ""
        yield Step(title=step.text, text=text, lines=tuple(step.commands))
    consumers = [each.app for each in report.launches if each.weight is not None]
    if guessed and consumers and not steps:
        yield Step(
            title="Record the launches of the consumers, in place of the guesses",
            text=narrower,
            lines=tuple(map(record_installed, consumers)),
        )
    elif guessed and not steps:
        payload = report.payload
        words = ["advise", payload.path, *payload.stack_options, "--record"]
        if len(report.launches) > 1:
            words += ["--app", guessed[0].app]
        yield Step(
            title="Record the launch, in place of the guess",
            text=narrower,
            lines=(shlex.join(("compression-advisor", *words)),),
        )


def _guessed(launch: LaunchReport) -> bool:
    return launch.source == "static"


def _narrower(launch: LaunchReport) -> str:
    """Return what a recording would do to the interval; nothing where unknown."""
    known = launch.narrowing
    if known is None:
        return ""
    return (
        f"Narrows what lzo saves on {known.device_name} from "
        f"{seconds(known.seconds_saved)} to {seconds(known.if_recorded)}."
    )


def _fixes(report: Report, findings: Sequence[FindingReport]) -> Iterator[Step]:
    """Yield the fixes that save most: of launches first, which are many."""
    payload = report.payload
    trim = shlex.join(
        ("compression-advisor", "trim", payload.path, *payload.stack_options, "--prove")
    )
    known = [
        (finding, finding.gain)
        for finding in findings
        if finding.gain is not None and finding.fix is not None
        if not finding.undecided and finding.gain.seconds.mid > 0
    ]
    known.sort(key=lambda each: (each[1].of == "download", -each[1].seconds.mid))
    for finding, gain in known[:_FIXES]:
        if finding.fix is not None:
            yield Step(
                title=finding.fix.description,
                text=sentence(_saves(gain)),
                lines=(
                    trim
                    if finding.rule in TRIMMED
                    else f"compression-advisor rule {finding.rule}",
                ),
            )


def _ahead(report: Report) -> Iterator[Step]:
    """Yield how to find out whether reading ahead helps, where launches wait at all."""
    launches = [each for each in report.launches if each.files and each.weight is None]
    if report.recommendation.verdict not in _DECIDED or not launches:
        return
    path, app = report.payload.path, launches[0].app
    words = ["compression-advisor", "record", path, "-o", _PROFILE]
    if len(report.launches) > 1:
        words += ["--app", app]
    prefetch = ("prefetch", path, "--launch-profile", _PROFILE, "--prove")
    yield Step(
        title=f"Measure whether reading ahead makes {app} start faster",
        text="Nothing estimates it: it depends on the kernel and on the disk.",
        lines=(shlex.join(words), shlex.join(("compression-advisor", *prefetch))),
    )


def _saves(gain: GainReport) -> str:
    if gain.of == "download":
        what = f"{seconds(gain.seconds)} of each download at {gain.where}"
    else:
        what = f"up to {seconds(gain.seconds)} per cold launch of {gain.where}"
    return f"saves {what}"
