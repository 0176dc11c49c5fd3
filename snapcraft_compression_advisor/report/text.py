"""The report that a person reads at a glance, in 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.units import format_bytes
from ..wording import sentences
from .lines import COLUMNS, wrapped
from .names import printable
from .page.texts import WHAT_IF, starred, versus
from .page.texts import seconds as in_seconds
from .phrases import (
    counted,
    headline,
    how_it_fits,
    how_known,
    how_sure,
    how_traced,
    not_shipped,
    payload_facts,
)
from .report_method import method_report, sizes_made
from .undecided import what_decides

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..analysis import Analysis, LaunchAnalysis
    from ..core.units import Interval
    from ..launch.launch_set import GuessBasis
    from ..launch.profile import FittedProfile
    from ..trial.result import CodecTrial

_DEVICES_PER_TABLE = 2
_COST_COLUMNS = 24
_LEAST_SHOWN = 0.0005


def render_text(analysis: Analysis) -> str:
    """Return the report as plain text, in the order of the pages."""
    payload = analysis.payload
    lines = [*_missing_lines(analysis)]
    lines += [f"{payload.name}, base {payload.base}", "", *advice_lines(analysis), ""]
    lines += [*payload_facts(payload), ""]
    for launch in analysis.launches or (None,):
        lines += [*_table_lines(analysis, launch), ""]
    lines[-1:] = [WHAT_IF, ""]
    for launch in analysis.launches:
        lines += [*_launch_lines(launch, analysis.app_choice), ""]
    lines += _method_lines(analysis)
    return "\n".join(line.rstrip() for line in lines).rstrip() + "\n"


def _missing_lines(analysis: Analysis) -> Iterator[str]:
    """Yield that an app can't start, before all that is of little use then."""
    for app, program in analysis.missing_programs.items():
        yield f"NO PROGRAM for app {app}: the payload has no file {printable(program)}"
    if analysis.missing_programs:
        yield ""


def _table_lines(analysis: Analysis, launch: LaunchAnalysis | None) -> Iterator[str]:
    """Yield a table of all codecs, two devices wide; more devices, more tables."""
    devices = [device.name for device in analysis.devices] if launch else []
    for start in range(0, max(1, len(devices)), _DEVICES_PER_TABLE):
        shown = devices[start : start + _DEVICES_PER_TABLE]
        if start:
            yield ""
        if launch:
            app = launch.launch_set.app
            yield f"seconds added to a cold launch of {app}".rjust(COLUMNS)
        yield _row("codec", "image", "", "vs xz", shown)
        for codec in analysis.trial.codecs.values():
            yield _codec_row(analysis, launch, codec, shown)


def _codec_row(
    analysis: Analysis,
    launch: LaunchAnalysis | None,
    codec: CodecTrial,
    devices: Sequence[str],
) -> str:
    name = starred(codec.codec, codec)
    if codec.image_bytes is None:
        return f"{name:7} not available"
    costs = [
        _with_interval(launch.estimates[device][codec.codec].added_s)
        for device in devices
        if launch
    ]
    return _row(
        name,
        format_bytes(codec.image_bytes.mid),
        _half_width(codec.image_bytes),
        versus(codec.image_bytes, analysis.trial.codecs["xz"].image_bytes),
        costs,
    )


def _row(
    codec: str, size: str, half_width: str, versus: str, costs: Sequence[str]
) -> str:
    aligned = "".join(cost.rjust(_COST_COLUMNS) for cost in costs)
    return f"{codec:7}{size:>9} {half_width:6}{versus:>7}{aligned}"


def _half_width(size: Interval) -> str:
    """Return how far the interval reaches; nothing where it doesn't show."""
    share = (size.high - size.low) / 2 / size.mid
    return f"±{share:.1%}" if share >= _LEAST_SHOWN else ""


def _with_interval(seconds: Interval) -> str:
    """Return seconds as the pages have them, with a dash that every terminal has."""
    return in_seconds(seconds).replace("\N{EN DASH}", "-")


def _method_lines(analysis: Analysis) -> Iterator[str]:
    trial = analysis.trial
    method = method_report(analysis, command="")
    made = sizes_made(trial, method, image_bytes=analysis.payload.image_bytes)
    sentences = (made.sentence(trial.tool), *(f"{note}." for note in trial.notes))
    text = " ".join(sentences)
    if analysis.launches:
        text += (
            " Seconds are how much longer a cold launch takes than a warm one, "
            f"estimated from {_origins(analysis)} device figures; the interval covers "
            f"the uncertainty of these{_and_the_guess(analysis)}."
        )
    yield from wrapped(text)


def _origins(analysis: Analysis) -> str:
    """Return where the devices' figures come from, as their sources say."""
    sources = " ".join(
        source for device in analysis.devices for source in device.sources
    )
    found = [origin for origin in ("measured", "published") if origin in sources]
    return " and ".join(found) or "the given"


def _and_the_guess(analysis: Analysis) -> str:
    launch_sets = [launch.launch_set for launch in analysis.launches]
    if any(each.source == "static" for each in launch_sets):
        return " and the guess of what a launch reads"
    if any(each.method == "trace" for each in launch_sets):
        return " and the trace of what a launch reads"
    return ""


def _launch_lines(launch: LaunchAnalysis, app_choice: str) -> Iterator[str]:
    launch_set = launch.launch_set
    yield f"App {launch_set.app} ({app_choice})"
    origin = how_known(launch_set.source, launch_set.method)
    expected = round(launch_set.expected_blocks)
    some = "" if expected == launch_set.data_blocks else f"{expected:,} of "
    yield (
        f"  launch set, {origin}: {counted(len(launch_set.files), 'file')}, {some}"
        f"{counted(launch_set.data_blocks, 'data block')}, "
        f"{format_bytes(launch_set.raw_bytes)}"
    )
    if launch_set.files:
        yield from _basis_lines(launch_set.basis)
        if launch_set.method == "trace":
            yield from _indented(how_traced())
    yield from _profile_lines(launch.profile)
    for text in not_shipped(
        (item.supplier, printable(item.name)) for item in launch_set.unresolved
    ):
        yield from _indented(text)


def _basis_lines(basis: GuessBasis | None) -> Iterator[str]:
    """Yield how far a guess can be trusted for this kind of application."""
    if basis is None:
        return
    yield from _indented(how_sure(basis.kind, [ratio for _, ratio in basis.recorded]))


def _profile_lines(profile: FittedProfile | None) -> Iterator[str]:
    """Yield how far a recorded launch fits a payload that has changed since."""
    if profile is None or not (profile.gone or profile.changed):
        return
    gone, changed = (
        [printable(name) for name in names] for names in (profile.gone, profile.changed)
    )
    text = how_it_fits(profile.fitting_share, gone=gone, changed=changed)
    yield from _indented(text)


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
