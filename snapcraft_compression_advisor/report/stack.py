"""What a launch reads of each snap, what changing one would save: values, tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..core.units import Interval, counted, joined, percent, seconds, size
from ..launch.model import seconds_saved, together
from .document import Part, part
from .model import Cell, Section, Table
from .words import how_known

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..analysis import Analysis
    from ..launch.stack import StackPart
    from ..launches import LaunchAnalysis

_LEAST_STACK = 2
"""Snaps from which on there is something to add up."""
_NOT_KNOWN = "xz?"


@dataclass(frozen=True, slots=True, kw_only=True)
class StackWhole:
    """What all snaps together add to a cold launch on one device.

    :param added_s: as they are packed.
    :param judged_share: what the snap adds of it that the advice is about.
    :param all_lzo_saves_s: all of them with lzo.
    """

    added_s: Interval
    judged_share: float
    all_lzo_saves_s: Interval


def stack_snaps(analysis: Analysis, launch: LaunchAnalysis) -> tuple[StackPart, ...]:
    """Return a launch's reads by snap, the app's own first.

    A prime directory has the codec of snapcraft.yaml.
    """
    declared = analysis.payload.declared_compression
    return tuple(
        replace(each, codec=declared) if each.judged else each for each in launch.stack
    )


def stack_whole(snaps: Sequence[StackPart]) -> dict[str, StackWhole]:
    """Return the seconds that the available snaps add, by device."""
    parts = [each for each in snaps if each.estimates]
    if len(parts) < _LEAST_STACK:
        return {}
    found = {}
    for device in parts[0].estimates:
        costs = [(each, each.estimates[device][each.taken_as]) for each in parts]
        whole = together([cost for _, cost in costs])
        judged = sum(cost.added_s.mid for each, cost in costs if each.judged)
        every = sum(cost.added_s.mid for _, cost in costs)
        lzo = together([each.estimates[device]["lzo"] for each in parts])
        found[device] = StackWhole(
            added_s=whole.added_s,
            judged_share=judged / every if every > 0 else 0.0,
            all_lzo_saves_s=seconds_saved(whole, lzo),
        )
    return found


def _other_codec(snap: StackPart) -> str:
    """Return the codec that a snap could change to."""
    return "xz" if snap.taken_as == "lzo" else "lzo"


def _change_saves_s(snap: StackPart) -> dict[str, Interval]:
    """Return the seconds that the other codec saves per cold launch, by device."""
    codecs = snap.taken_as, _other_codec(snap)
    return {
        device: seconds_saved(*(estimates[codec] for codec in codecs))
        for device, estimates in snap.estimates.items()
        if {*codecs} <= estimates.keys()
    }


def stack_part(snap: StackPart) -> Part:
    """Return a snap of a stack as JSON has it."""
    return part(
        snap.launch_set,
        "source data_blocks raw_bytes",
        snap=snap.name,
        role=snap.role,
        codec=snap.codec,
        taken_as=snap.taken_as,
        judged=snap.judged,
        files=len(snap.launch_set.files),
        expected_blocks=round(snap.launch_set.expected_blocks, 1),
        lzo_adds_bytes=snap.lzo_less_xz_bytes,
        devices={
            device: {codec: {"added_s": cost.added_s} for codec, cost in costs.items()}
            for device, costs in snap.estimates.items()
        },
        other_codec=_other_codec(snap),
        change_saves_s=_change_saves_s(snap),
    )


def stack_section(analysis: Analysis, launch: LaunchAnalysis) -> Section:
    """Return the section on a launch's reads by snap, and on who can change them."""
    snaps = stack_snaps(analysis, launch)
    whole = stack_whole(snaps)
    known = dict.fromkeys(how_known(s.launch_set.source) for s in snaps)
    how = f"{counted(len(snaps), 'snap')}, {' and '.join(known)}"
    tables = [_added(snaps, whole), _changes(snaps, whole)]
    return Section(
        title=f"What the launch of {launch.launch_set.app} reads from each snap: {how}",
        origin="Seconds and bytes estimated, with intervals.",
        sentences=tuple(_sentences(snaps, whole)),
        tables=tuple(each for each in tables if each is not None),
    )


def _added(snaps: Sequence[StackPart], whole: Mapping[str, StackWhole]) -> Table:
    """Return the seconds that each snap adds with its own codec."""
    first = next((each.estimates for each in snaps if each.estimates), {})
    devices = tuple(whole or first)
    rows: list[tuple[Cell, ...]] = []
    for each in snaps:
        unknown = _NOT_KNOWN if each.estimates else "not known"
        rows.append(
            (
                f"{each.name} ({each.role})",
                each.codec or unknown,
                f"{each.launch_set.expected_blocks:,.0f}",
                *(_cost(each, device) for device in devices),
            )
        )
    if whole:
        blocks = sum(each.launch_set.expected_blocks for each in snaps)
        sums = (seconds(each.added_s) for each in whole.values())
        rows.append(("together", "", f"{blocks:,.0f}", *sums))
    return Table(
        caption="Seconds that each snap adds, as packed",
        heads=("snap", "codec", "blocks", *devices),
        rows=tuple(rows),
        words=frozenset((1,)),
    )


def _cost(snap: StackPart, device: str) -> Cell:
    costs = snap.estimates.get(device, {})
    return seconds(costs[snap.taken_as].added_s) if snap.taken_as in costs else (
        "not known"
    )  # fmt: skip


def _changes(
    snaps: Sequence[StackPart], whole: Mapping[str, StackWhole]
) -> Table | None:
    """Return the saving of another codec for each snap; None if none is known."""
    rows: list[tuple[Cell, ...]] = []
    for each in snaps:
        if saves_s := _change_saves_s(each):
            whose, other = "yours" if each.judged else "theirs", _other_codec(each)
            adds, sign = (": adds", -1) if other == "xz" else ("", 1)
            saved = (saves_s.get(device) for device in whole)
            cells = (seconds(it * sign) if it else "" for it in saved)
            rows.append((f"{each.name} to {other} ({whose}){adds}", *cells))
    if not rows or not whole:
        return None
    if sum(each.taken_as != "lzo" for each in snaps if each.estimates) > 1:
        every = (seconds(each.all_lzo_saves_s) for each in whole.values())
        rows.append(("all to lzo", *every))
    return Table(
        caption="What another codec for each snap would save, per cold launch",
        heads=("change", *whole),
        rows=tuple(rows),
    )


def _sentences(
    snaps: Sequence[StackPart], whole: Mapping[str, StackWhole]
) -> Iterator[str]:
    """Yield who can change what, and what the tables leave open."""
    own = next((each for each in snaps if each.judged), None)
    others = [each for each in snaps if not each.judged]
    at_hand = [each.name for each in others if each.estimates]
    if own is None or not whole:
        yield "The other snaps aren't available, so their seconds aren't known."
    else:
        shares = " and ".join(
            f"{percent(each.judged_share)} on {device}"
            for device, each in whole.items()
        )
        yield (
            f"Yours to change is {own.name}: of the seconds that a cold launch adds, "
            f"it makes up {shares}. Only their maintainers can change "
            f"{joined(at_hand)}."
        )
    unknown = [e.name for e in snaps if e.codec is None and e.estimates]
    if unknown:
        yield f"The codec of {joined(unknown)} isn't known, so xz is taken (xz?)."
    missing = [each.name for each in others if not each.estimates]
    if missing:
        names = joined(missing)
        yield f"{names}: recorded, but not available, so seconds aren't known."
    for each in snaps:
        added = each.lzo_less_xz_bytes
        if added is None or each.judged:
            continue
        if _other_codec(each) == "xz":
            yield f"xz takes an estimated {size(added)} off {each.name}."
        else:
            yield f"lzo adds an estimated {size(added)} to {each.name}."
