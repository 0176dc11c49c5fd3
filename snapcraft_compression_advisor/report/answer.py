"""The answer of ``advise`` in one screen: verdict, what it costs, what to type."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from ..advice.evidence import Policy
from ..advice.reasons import Code, Decides, Fails, Growth, InDoubt, PaidAfter
from ..advice.recommendation import SNAPCRAFT_DEFAULT
from ..codecs import SHIPPABLE
from ..core.printable import printable
from ..core.units import format_bytes, format_range, format_seconds
from ..payload.snap_yaml import split_component_name
from ..wording import CONTINUATIONS, asked, sentences
from .lines import FILE_STYLE, TextStyle, wrapped
from .phrases import WINDOW_PHRASES, headline, how_known
from .undecided import what_decides

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..advice.evidence import Saving
    from ..advice.reasons import Reason
    from ..analysis import Analysis
    from ..launches import LaunchAnalysis
    from .undecided import NextStep

_INDENT = "  "
_NAME_COLUMNS, _SIZE_COLUMNS, _COST_COLUMNS = 6, 10, 22
_NOTE_COLUMN = 44
"""Where what is set now stands in the first line, if there is room."""

_LEAST_SHOWN_S = 0.001

_IN_FIGURES = (Decides, Growth, PaidAfter)
"""Reasons whose figures the table and the lines below it have."""


def render_answer(
    analysis: Analysis, style: TextStyle = FILE_STYLE, *, sets_key: bool = False
) -> str:
    """Return what a publisher needs to decide, in at most 16 lines of 80 columns.

    :param sets_key: whether the advice is followed right after.
    """
    steps = what_decides(analysis)
    blocks = [
        [*_missing_programs(analysis)],
        [*_headline(analysis, steps, style)],
        [*_table(analysis, style)],
        [*_reasons(analysis, style)],
        [*_no_deltas(analysis, style)],
        [*_to_type(analysis, sets_key=sets_key)],
    ]
    text = "\n\n".join("\n".join(block) for block in blocks if block)
    return text.replace("\N{EN DASH}", _dash(style)) + "\n"


def pack_lines(analysis: Analysis, style: TextStyle = FILE_STYLE) -> Iterator[str]:
    """Yield the advice for a pack: one line, and for a change what it brings."""
    advice = analysis.recommendation
    lines = [headline(advice.verdict, advice.compression)]
    saving = advice.decisive
    why = [*sentences(_without_figures(advice.reasons, saving))]
    if saving is not None:
        why.insert(0, _on_saving(analysis, saving))
    if advice.verdict == "change":
        lines += [*why, *_on_size(analysis)]
    else:
        lines[0] = ". ".join((lines[0], " ".join(why)))
    if advice.verdict == "undecided" and any(
        each.launch_set.source == "static" for each in analysis.launches
    ):
        lines[0] += " 'record: true' in compression-advisor.yaml records the launch."
    if analysis.no_deltas is not None:
        lines.append(f"{printable(analysis.no_deltas)}.")
    yield from (line.replace("\N{EN DASH}", _dash(style)) for line in lines)


def _dash(style: TextStyle) -> str:
    return "\N{EN DASH}" if style.unicode else "-"


def _no_deltas(analysis: Analysis, style: TextStyle) -> Iterator[str]:
    """Yield why a month of refreshes isn't compared although the policy asks for it."""
    if analysis.no_deltas is not None:
        text = f"{printable(analysis.no_deltas)}."
        yield from wrapped(text, style.wrap_columns, rest=_INDENT)


def _missing_programs(analysis: Analysis) -> Iterator[str]:
    for app, program in analysis.missing_programs.items():
        yield f"NO PROGRAM for app {app}: the snap has no file {printable(program)}"


def _headline(
    analysis: Analysis, steps: Sequence[NextStep], style: TextStyle
) -> Iterator[str]:
    """Yield what to do; if it can't be told yet, what would tell it."""
    advice, name = analysis.recommendation, printable(analysis.payload.name)
    first: tuple[NextStep, ...] = ()
    if advice.verdict == "change":
        text = f"{name}: change to {advice.compression}"
    elif advice.verdict == "undecided":
        first = tuple(step for step in steps if step.commands)[:1]
        text = f"{name}: can't tell yet" + "".join(f"; {it.short}:" for it in first)
    else:
        text = f"{name}: keep {advice.compression}"
    note = _now(analysis)
    room = max(0, _NOTE_COLUMN - len(text))
    line = style.verdict(advice.verdict, text)
    if len(text) + 2 + len(note) <= style.wrap_columns:
        yield f"{line}{' ' * max(2, room)}{note}"
    else:
        yield line
    yield from (f"{_INDENT}{command}" for step in first for command in step.commands)


def _now(analysis: Analysis) -> str:
    """Return what the snap has today."""
    declared = analysis.payload.declared_compression
    if analysis.payload.image_bytes is not None:
        return f"(now: packed with {declared})"
    if declared is None:
        return f"(now: {SNAPCRAFT_DEFAULT}, snapcraft's default)"
    return f"(now: {declared})"


def _table(analysis: Analysis, style: TextStyle) -> Iterator[str]:
    """Yield download and cold start with both codecs, on as many devices as fit.

    Nothing if the snap stays as it is: there is nothing to weigh.
    """
    if analysis.recommendation.verdict in {"keep", "no-benefit"}:
        return
    sizes = {codec: analysis.trial.codecs[codec].image_bytes for codec in SHIPPABLE}
    launch = _deciding_launch(analysis)
    devices = _devices(analysis, launch, style) if launch else []
    if launch is not None and devices:
        whose = "" if _is_namesake(analysis, launch) else f" of {launch.launch_set.app}"
        head = " " * (_NAME_COLUMNS + 2)
        yield f"{head}{'download':{_SIZE_COLUMNS}}cold start{whose} adds, on"
        names = "".join(f"{device:{_COST_COLUMNS}}" for device in devices)
        yield f"{head}{'':{_SIZE_COLUMNS}}{names}".rstrip()
    for codec, size in sizes.items():
        known = "not available" if size is None else format_bytes(size.mid)
        costs = (
            f"{_cost(launch, device, codec):{_COST_COLUMNS}}"
            for device in devices
            if launch is not None
        )
        line = f"{_INDENT}{codec:{_NAME_COLUMNS}}{known:{_SIZE_COLUMNS}}"
        yield f"{line}{''.join(costs)}".rstrip()


def _deciding_launch(analysis: Analysis) -> LaunchAnalysis | None:
    """Return the launch that the verdict follows from; None if no files are known."""
    decisive = analysis.recommendation.decisive
    known = [each for each in analysis.launches if each.launch_set.files]
    if decisive is not None:
        known = [each for each in known if each.launch_set.app == decisive.app] or known
    return known[0] if known else None


def _is_namesake(analysis: Analysis, launch: LaunchAnalysis) -> bool:
    return launch.launch_set.app == analysis.payload.name


def _devices(
    analysis: Analysis, launch: LaunchAnalysis, style: TextStyle
) -> Sequence[str]:
    """Return the devices to show: the first ones, and the one that decides."""
    names = [*launch.estimates]
    decisive = analysis.recommendation.decisive
    room = style.wrap_columns - len(_INDENT) - _NAME_COLUMNS - _SIZE_COLUMNS
    most = max(1, room // _COST_COLUMNS)
    if decisive is not None and decisive.device in names[most:]:
        names.remove(decisive.device)
        names.insert(most - 1, decisive.device)
    return names[:most]


def _cost(launch: LaunchAnalysis, device: str, codec: str) -> str:
    """Return what a cold start adds, with lzo also how that differs from xz."""
    costs = launch.estimates[device]
    if codec not in costs:
        return "not known"
    text = format_seconds(costs[codec].added_s.mid)
    saved = next((each for each in launch.savings() if each.device == device), None)
    if codec == "lzo" and saved is not None:
        return f"{text}  ({_signed(-saved.seconds.mid)})"
    return text


def _signed(seconds: float) -> str:
    sign = "+" if seconds > 0 else "-"
    return f"{sign}{format_seconds(abs(seconds))}"


def _reasons(analysis: Analysis, style: TextStyle) -> Iterator[str]:
    """Yield why, a line each, and how far that can be trusted."""
    advice, launch = analysis.recommendation, _deciding_launch(analysis)
    lines = [*sentences(_without_figures(advice.reasons, advice.decisive))]
    if advice.decisive is not None:
        lines.insert(0, _on_saving(analysis, advice.decisive))
    if advice.verdict in {"change", "keep"}:
        lines += _on_size(analysis)
    if launch is not None and not _is_component(analysis):
        lines.append(_how_known(launch))
    for text in lines:
        yield from wrapped(text, style.wrap_columns, first=_INDENT, rest=2 * _INDENT)


def _without_figures(
    reasons: Sequence[Reason], saving: Saving | None
) -> Iterator[Reason]:
    """Yield the reasons that the lines on the saving and the size don't have."""
    is_left_out = False
    for reason in reasons:
        if isinstance(reason, Code) and reason in CONTINUATIONS:
            is_left_out |= reason is Code.LIKELY
        elif saving is None:
            is_left_out = isinstance(reason, _IN_FIGURES)
        else:
            is_left_out = (
                isinstance(reason, _IN_FIGURES)
                or reason is saving
                or reason is Code.LZO_PAYS
                or (isinstance(reason, Fails) and reason.condition == "saving")
                or (isinstance(reason, InDoubt) and reason.conditions == ("saving",))
            )
        if not is_left_out:
            yield reason


def _on_saving(analysis: Analysis, saving: Saving) -> str:
    """Return how much faster lzo starts, and what the policy asks for if it fails."""
    advice = analysis.recommendation
    verb = "starts" if advice.compression == "lzo" else "would start"
    seconds, faster = saving.seconds, "faster"
    if seconds.mid < 0:
        seconds, faster = seconds.map(lambda value: -value), "slower"
    mid, ends = format_range(seconds)
    faster = f"{mid} {faster} ({ends})"
    if max(abs(seconds.low), abs(seconds.high)) < _LEAST_SHOWN_S:
        faster = "within 1 ms of xz"
    text = f"lzo {verb} {faster}{_place(analysis, saving)}"
    reason, least = advice.reasons[0], asked(analysis.policy)
    if isinstance(reason, Fails) and reason.condition == "saving":
        usual = analysis.policy.min_saving_s == Policy().min_saving_s
        why = "isn't noticed" if usual else "isn't worth it here"
        return f"{text}. Less than {least} {why}."
    if isinstance(reason, InDoubt) and "saving" in reason.conditions:
        return f"{text}; {least} is needed."
    if Code.LIKELY in advice.reasons:
        return f"{text}. That is enough in nine cases of ten."
    return f"{text}."


def _place(analysis: Analysis, saving: Saving) -> str:
    """Return on which device that is, if there are several."""
    decides = analysis.recommendation.decides
    if saving.shares:
        return " on average over the users' devices"
    if len(analysis.devices) == 1 or decides is None:
        return ""
    if decides.why == "least-saving" and analysis.recommendation.verdict == "change":
        return f", even on {saving.device}"
    return f" on {saving.device}"


def _on_size(analysis: Analysis) -> Iterator[str]:
    """Yield what lzo adds to the download, and after how many starts that is repaid."""
    advice = analysis.recommendation
    added, xz = advice.bytes_added, analysis.trial.codecs["xz"].image_bytes
    if added is None or xz is None:
        return
    verb = "grows" if added.mid >= 0 else "shrinks"
    share = f"{abs(added.mid) / xz.mid:.0%}"
    text = f"The download {verb} by {format_bytes(abs(added.mid))} ({share})"
    if advice.compression != "lzo":
        text = text.replace("The", "With lzo, the", 1)
    paid = next((each for each in advice.reasons if isinstance(each, PaidAfter)), None)
    if paid is not None and advice.compression == "lzo":
        text += f": {_repaid(paid)} at {paid.link_mbit_per_s:g} Mbit/s"
    yield f"{text}."


def _repaid(paid: PaidAfter) -> str:
    starts = paid.whole_launches
    return f"repaid after {starts} cold start{'' if starts == 1 else 's'}"


def _how_known(launch: LaunchAnalysis) -> str:
    """Return how it is known what the app reads, and how well."""
    known = launch.launch_set
    if known.source == "recorded":
        text = f"What the app reads was {how_known(known.source, known.method)}"
        if known.window in (None, "drawn"):
            return f"{text}."
        return f"{text} up to {WINDOW_PHRASES[known.window]}."
    text = "What the app reads was guessed from its files"
    if known.basis is None:
        return f"{text}."
    if known.basis.blind_spots:
        return f"{text}; parts of it could not be followed (-v names them)."
    ratios = [ratio for _, ratio in known.basis.recorded]
    if not ratios:
        return f"{text} ({known.basis.kind}: none was recorded to compare with)."
    low, high = min(ratios), max(ratios)
    return f"{text} ({known.basis.kind} guesses: {low:.2f}\N{EN DASH}{high:.2f}x)."


def _is_component(analysis: Analysis) -> bool:
    return split_component_name(analysis.payload.name)[1] is not None


def _to_type(analysis: Analysis, *, sets_key: bool) -> Iterator[str]:
    """Yield the commands that follow the advice, or make it surer."""
    advice, payload = analysis.recommendation, analysis.payload
    words = ["advise", printable(str(payload.path)), *payload.stack_options]
    advise = f"compression-advisor {shlex.join(words)}"
    if advice.verdict == "change" and not sets_key:
        yield f"Apply:      {advise} --fix"
    guessed = [
        each
        for each in analysis.launches
        if each.launch_set.source == "static" and each.launch_set.files
    ]
    if guessed and advice.verdict == "change" and not _is_component(analysis):
        yield f"Be surer:   {advise} --record"
    yield "Details:    -v         Charts: --report advice.html"
