"""The report that a person reads at a glance, in 80 columns."""

from __future__ import annotations

import shlex
import textwrap
from itertools import islice
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.output.headlines import headline
from snapcraft_compression_advisor.output.names import printable
from snapcraft_compression_advisor.payload.component_yaml import split_component_name
from snapcraft_compression_advisor.units import format_bytes, format_seconds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from snapcraft_compression_advisor.analysis import Analysis, LaunchAnalysis
    from snapcraft_compression_advisor.launch.launch_set import GuessBasis
    from snapcraft_compression_advisor.launch.profile import FittedProfile
    from snapcraft_compression_advisor.trial.result import CodecTrial
    from snapcraft_compression_advisor.units import Interval

COLUMNS = 80
_DEVICES_PER_TABLE = 2
_COST_COLUMNS = 24
_LISTED_NAMES = 6
_PROFILE = "launch.json"
_LEAST_SHOWN = 0.0005


def render_text(analysis: Analysis) -> str:
    """Return the report as plain text."""
    lines = [*_payload_lines(analysis), "", *advice_lines(analysis), ""]
    for launch in analysis.launches or (None,):
        lines += [*_table_lines(analysis, launch), ""]
    lines += [*_legend_lines(analysis), ""]
    for launch in analysis.launches:
        lines += [*_launch_lines(launch, analysis.app_choice), ""]
    return "\n".join(line.rstrip() for line in lines).rstrip() + "\n"


def _payload_lines(analysis: Analysis) -> Iterator[str]:
    payload = analysis.payload
    _, component = split_component_name(payload.name)
    built = "Built snap" if component is None else "Built component"
    kind = "Prime directory" if payload.kind == "prime" else built
    yield f"{payload.name}, base {payload.base}"
    yield f"{kind} {printable(str(payload.path))}"
    declared = payload.declared_compression or "not known"
    yield (
        f"{payload.files:,} files, {format_bytes(payload.raw_bytes)} in "
        f"{payload.data_blocks:,} data blocks; compression: {declared}"
    )


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
    name = codec.codec if codec.shippable else f"{codec.codec} *"
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
        _versus(codec.image_bytes, analysis.trial.codecs["xz"].image_bytes),
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


def _versus(size: Interval, xz_size: Interval | None) -> str:
    if xz_size is None or size == xz_size:
        return ""
    return f"{size.mid / xz_size.mid - 1:+.0%}"


def _with_interval(seconds: Interval) -> str:
    low, high = (format_seconds(end)[:-2] for end in (seconds.low, seconds.high))
    return f"{format_seconds(seconds.mid)} ({low}-{high})"


def _legend_lines(analysis: Analysis) -> Iterator[str]:
    trial = analysis.trial
    text = f"Image sizes: measured with {trial.tool}."
    if trial.mode == "sampled":
        text = (
            "Image sizes: estimated from some of the data blocks, with the interval "
            f"that holds the truth for 95 % of such samples ({trial.tool})."
        )
    text = " ".join((text, *(f"{note}." for note in trial.notes)))
    if analysis.launches:
        text += (
            " Seconds that a cold launch takes longer than a warm one: estimated from "
            f"{_origins(analysis)} figures of devices, with the interval that they"
            f"{_and_the_guess(analysis)} leave open."
        )
    yield from textwrap.wrap(text, COLUMNS)
    yield "* what if: snapcraft and the store accept only xz and lzo"


def _origins(analysis: Analysis) -> str:
    """Return where the devices' figures come from, as their sources say."""
    sources = " ".join(
        source for device in analysis.devices for source in device.sources
    )
    found = [origin for origin in ("measured", "published") if origin in sources]
    return " and ".join(found) or "the given"


def _and_the_guess(analysis: Analysis) -> str:
    sources = {launch.launch_set.source for launch in analysis.launches}
    return " and the guess of what a launch reads" if "static" in sources else ""


def _launch_lines(launch: LaunchAnalysis, app_choice: str) -> Iterator[str]:
    launch_set = launch.launch_set
    yield f"App {launch_set.app} ({app_choice})"
    origin = "guessed from files" if launch_set.source == "static" else "recorded"
    expected = round(launch_set.expected_blocks)
    some = "" if expected == launch_set.data_blocks else f"{expected:,} of "
    yield (
        f"  launch set, {origin}: {len(launch_set.files):,} files, {some}"
        f"{launch_set.data_blocks:,} data blocks, {format_bytes(launch_set.raw_bytes)}"
    )
    if launch_set.files:
        yield from _basis_lines(launch_set.basis)
    yield from _profile_lines(launch.profile)
    by_supplier: dict[str, list[str]] = {}
    for item in launch_set.unresolved:
        by_supplier.setdefault(item.supplier, []).append(printable(item.name))
    for supplier, names in by_supplier.items():
        yield from _indented(f"{_SUPPLIED[supplier]}: {_listed(names)}")


def _basis_lines(basis: GuessBasis | None) -> Iterator[str]:
    """Yield how far a guess can be trusted for this kind of application."""
    if basis is None:
        return
    ratios = [ratio for _, ratio in basis.recorded]
    if ratios:
        what = "application" if len(ratios) == 1 else "applications"
        text = (
            f"how sure: {basis.kind}; {len(ratios)} recorded {what} of this kind "
            f"read {_from_to(min(ratios), max(ratios))} times as much as guessed "
            "without it (measured)"
        )
    else:
        text = (
            f"how sure: {basis.kind}; none of this kind was recorded, so the interval "
            "is wider"
        )
    yield from _indented(text)


def _from_to(low: float, high: float) -> str:
    return f"{low:.2f}" if low == high else f"{low:.2f} to {high:.2f}"


def _profile_lines(profile: FittedProfile | None) -> Iterator[str]:
    """Yield how far a recorded launch fits a payload that has changed since."""
    if profile is None or not (profile.gone or profile.changed):
        return
    text = f"the launch profile fits {profile.fitting_share:.0%} of its blocks"
    for names, what in ((profile.gone, "gone"), (profile.changed, "of another size")):
        if names:
            listed = _listed([printable(name) for name in names])
            text += f"; {len(names)} files {what} ({listed})"
    yield from _indented(text)


_SUPPLIED = {
    "base": "from the base",
    "base or content snap": "from the base or a content snap",
    "missing": "missing",
    "unreadable": "not readable as ELF",
}


def _listed(names: Sequence[str]) -> str:
    text = ", ".join(islice(names, _LISTED_NAMES))
    more = len(names) - _LISTED_NAMES
    return f"{text} and {more} more" if more > 0 else text


def advice_lines(analysis: Analysis) -> Iterator[str]:
    """Yield the verdict and its reasons, as the report begins with them."""
    advice = analysis.recommendation
    yield headline(advice.verdict, advice.compression)
    for reason in advice.reasons:
        yield from _indented(reason)
    if advice.verdict == "undecided":
        yield from _recording_lines(analysis)


def _recording_lines(analysis: Analysis) -> Iterator[str]:
    """Yield how to record the launches that were guessed, which narrows the figures."""
    guessed = [
        launch.launch_set.app
        for launch in analysis.launches
        if launch.launch_set.source == "static" and launch.launch_set.files
    ]
    if not guessed:
        return
    yield from _indented("A recorded launch in place of the guess may decide it:")
    path = shlex.quote(printable(str(analysis.payload.path)))
    for app in guessed:
        name = shlex.quote(printable(app))
        yield f"    compression-advisor record --root {path} --app {name} -o {_PROFILE}"
    yield f"    compression-advisor advise {path} --launch-profile {_PROFILE}"


def _indented(text: str) -> list[str]:
    return textwrap.wrap(
        text,
        COLUMNS,
        initial_indent="  ",
        subsequent_indent="    ",
        break_on_hyphens=False,
    )
