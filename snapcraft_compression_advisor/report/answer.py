"""The answer of ``advise``: verdict, cost, what to type; and the lines of a pack."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..advice.judging import SNAPCRAFT_DEFAULT
from ..codecs import SHIPPABLE
from ..core.terminal import printable
from ..core.units import (
    counted,
    format_bytes,
    format_seconds,
    signed,
    size,
)
from ..payload.snap_yaml import split_component_name
from ..wording import reasons, sentences, verdict_words
from .lines import COLUMNS, FILE_STYLE, TextStyle
from .model import Page, Section, Step, Table
from .words import WINDOW_PHRASES, again, guessed_apps, what_decides

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..advice.evidence import Saving
    from ..advice.recommendation import Verdict
    from ..analysis import Analysis
    from ..launch.model import LaunchEstimate
    from ..launches import LaunchAnalysis
    from .model import Cell

_INDENT = "  "
_NAME_COLUMNS, _SIZE_COLUMNS, _COST_COLUMNS = 6, 10, 22
_BEYOND = 20
"""Recorded apps of which one is left out at each end: between are nine of ten."""
_PACK_VERDICTS: Mapping[Verdict, str] = {
    "change": "CHANGE: set 'compression: {}' in snapcraft.yaml",
    "keep": "KEEP 'compression: {}'",
    "no-benefit": "NO BENEFIT from another codec: stay with {}",
    "undecided": "UNDECIDED: stay with {} for now",
}


def advise_page(
    analysis: Analysis,
    *,
    columns: int = COLUMNS,
    apply: str | None = "",
    details: Iterable[Section] = (),
) -> Page:
    """Return the page that a publisher decides by: 16 lines of text without details.

    :param columns: that text has.
    :param apply: command that follows an advice to change; None if that is done right
        after; by default, the one of the command line.
    :param details: sections that its default text leaves out.
    """
    advice, name = analysis.recommendation, analysis.payload.name
    first = tuple(each for each in what_decides(analysis) if each.short)[:1]
    text = f"{name}: {verdict_words(advice)}"
    text += "".join(f"; {it.short}{':' * bool(it.lines)}" for it in first)
    details = tuple(details)
    charted = any(each.opened and each.charts for each in details)
    shown = (
        Section(short=True, tables=tuple(_table(analysis, columns, charted=charted))),
        Section(short=True, sentences=tuple(_reasons(analysis))),
        Section(short=True, steps=tuple(_to_type(analysis, apply))),
    )
    return Page(
        title=f"Compression advice for {name}",
        tone=advice.verdict,
        alerts=tuple(
            f"NO PROGRAM for app {app}: the snap has no file {program}"
            for app, program in analysis.missing_programs.items()
        ),
        headline=text,
        note=_now(analysis),
        commands=tuple(command for step in first for command in step.lines),
        facts=tuple(_facts(analysis)),
        sections=(*(each for each in shown if each != Section(short=True)), *details),
        more="Charts: --report advice.html",
    )


def pack_lines(analysis: Analysis, style: TextStyle = FILE_STYLE) -> Iterator[str]:
    """Yield the advice for a pack: one line, and for a change what it brings."""
    advice = analysis.recommendation
    lines = [_PACK_VERDICTS[advice.verdict].format(advice.compression)]
    if advice.verdict == "change":
        lines += sentences(advice)
    else:
        lines[0] = ". ".join((lines[0], " ".join(reasons(advice))))
    guessed = any(each.launch_set.source == "static" for each in analysis.launches)
    if advice.verdict == "undecided" and guessed and not analysis.missing_programs:
        lines[0] += " 'record: true' in compression-advisor.yaml records the launch."
    if analysis.no_deltas is not None:
        lines.append(f"{printable(analysis.no_deltas)}.")
    dash = "\N{EN DASH}" if style.unicode else "-"
    yield from (line.replace("\N{EN DASH}", dash) for line in lines)


def _now(analysis: Analysis) -> str:
    """Return the codec that the snap has today, as an aside."""
    declared = analysis.payload.declared_compression
    if analysis.payload.image_bytes is not None:
        return f"(now: packed with {declared})"
    if declared is None:
        return f"(now: {SNAPCRAFT_DEFAULT}, snapcraft's default)"
    return f"(now: {declared})"


def _facts(analysis: Analysis) -> Iterator[str]:
    """Yield what was looked at."""
    payload = analysis.payload
    built = "Built component" if _is_component(analysis) else "Built snap"
    kind = "Prime directory" if payload.kind == "prime" else built
    yield f"{kind} {payload.path}, base {payload.base or 'unknown'}"
    yield (
        f"{counted(payload.files, 'file')}, {format_bytes(payload.raw_bytes)} in "
        f"{counted(payload.data_blocks, 'data block')}"
    )


def _table(analysis: Analysis, columns: int, *, charted: bool) -> Iterator[Table]:
    """Yield download and cold start with both codecs, on as many devices as fit.

    Nothing if the snap stays as it is: there is nothing to weigh.
    """
    if analysis.recommendation.verdict in {"keep", "no-benefit"}:
        return
    launch = deciding_launch(analysis)
    devices = _devices(analysis, launch, columns) if launch else []
    saved = {each.device: each for each in launch.savings()} if launch else {}
    rows: list[tuple[Cell, ...]] = []
    for codec in SHIPPABLE:
        image = analysis.trial.codecs[codec].image_bytes
        known: Cell = "not available" if image is None else size(image.mid)
        costs = (
            _cost(launch.estimates[device], codec, saved.get(device))
            for device in devices
            if launch
        )
        rows.append((codec, known, *costs))
    above = ""
    if launch is not None and devices:
        app = launch.launch_set.app
        whose = "" if app == analysis.payload.name else f" of {app}"
        above = f"cold start{whose} adds, on"
    yield Table(
        heads=("", "download" if devices else "", *devices),
        rows=tuple(rows),
        above=above,
        charted=charted,
        widths=(_NAME_COLUMNS, _SIZE_COLUMNS, *(_COST_COLUMNS for _ in devices)),
    )


def deciding_launch(analysis: Analysis) -> LaunchAnalysis | None:
    """Return the launch that the verdict follows from; None if no files are known."""
    decisive = analysis.recommendation.decisive
    known = [each for each in analysis.launches if each.launch_set.files]
    if decisive is not None:
        known = [each for each in known if each.launch_set.app == decisive.app] or known
    return known[0] if known else None


def _devices(analysis: Analysis, launch: LaunchAnalysis, columns: int) -> Sequence[str]:
    """Return the devices to show: the first ones, and the one that decides."""
    names = [*launch.estimates]
    decisive = analysis.recommendation.decisive
    room = columns - len(_INDENT) - _NAME_COLUMNS - _SIZE_COLUMNS
    most = max(1, room // _COST_COLUMNS)
    if decisive is not None and decisive.device in names[most:]:
        names.remove(decisive.device)
        names.insert(most - 1, decisive.device)
    return names[:most]


def _cost(costs: Mapping[str, LaunchEstimate], codec: str, saved: Saving | None) -> str:
    """Return the seconds that a cold start adds; with lzo, their difference from xz."""
    if codec not in costs:
        return "not known"
    text = format_seconds(costs[codec].added_s.mid)
    if codec == "lzo" and saved is not None:
        return f"{text}  ({signed(-saved.seconds.mid, format_seconds)})"
    return text


def _reasons(analysis: Analysis) -> Iterator[str]:
    """Yield why, and how far that can be trusted."""
    advice, launch = analysis.recommendation, deciding_launch(analysis)
    # What is undecided has a table of sizes.
    yield from (reasons if advice.verdict == "undecided" else sentences)(advice)
    if launch is not None and not _is_component(analysis):
        yield _how_known(launch)
    if analysis.no_deltas is not None:
        yield f"{printable(analysis.no_deltas)}."


def _how_known(launch: LaunchAnalysis) -> str:
    """Return the sentence on the source of the files read, and its accuracy."""
    known = launch.launch_set
    if known.source == "recorded":
        text = "What the app reads was recorded"
        if known.window in (None, "drawn"):
            return f"{text}."
        return f"{text} up to {WINDOW_PHRASES[known.window]}."
    text = "What the app reads was guessed from its files"
    if known.basis is None:
        return f"{text}."
    if known.basis.blind_spots:
        return f"{text}; parts of it could not be followed (-v names them)."
    ratios = sorted(ratio for _, ratio in known.basis.recorded)
    if not ratios:
        return f"{text} ({known.basis.kind}: none was recorded to compare with)."
    beyond = len(ratios) // _BEYOND
    low, high = (f"{ratios[place]:.2f}" for place in (beyond, -1 - beyond))
    others = (
        f"{'nine of ten ' if beyond else ''}apps like it read {low}\N{EN DASH}{high}"
    )
    if len(ratios) == 1:
        others = f"one app like it, recorded, read {low}"
    return f"What the app reads is guessed; {others} times the guess."


def _is_component(analysis: Analysis) -> bool:
    return split_component_name(analysis.payload.name)[1] is not None


def _to_type(analysis: Analysis, apply: str | None) -> Iterator[Step]:
    """Yield the commands that follow the advice, or make it surer."""
    if analysis.recommendation.verdict != "change":
        return
    if apply is not None:
        yield Step(title="Apply", lines=(apply or again(analysis, "--fix"),))
    if guessed_apps(analysis) and not apply and not _is_component(analysis):
        yield Step(title="Be surer", lines=(again(analysis, "--record"),))
