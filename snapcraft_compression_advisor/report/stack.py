"""What a launch reads of each snap, what changing one would save: values, tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

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
class StackSnap:
    """What a launch reads of one snap, and what that costs.

    :param codec: that it has: for a prime directory that of snapcraft.yaml.
    :param taken_as: the codec that "as packed" means: xz if it isn't known.
    :param other: the codec that it could change to.
    :param saves_s: by device; seconds that the other codec saves per cold launch.
    """

    read: StackPart
    codec: str | None
    taken_as: str
    other: Literal["xz", "lzo"]
    saves_s: Mapping[str, Interval]


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


def stack_snaps(analysis: Analysis, launch: LaunchAnalysis) -> tuple[StackSnap, ...]:
    """Return a launch's reads by snap, the app's own first."""
    return tuple(_snap(analysis, each) for each in launch.stack)


def _snap(analysis: Analysis, read: StackPart) -> StackSnap:
    codec = _codec_of(analysis, read)
    packed = read.packed_as(codec)
    other: Literal["xz", "lzo"] = "xz" if packed == "lzo" else "lzo"
    return StackSnap(
        read=read,
        codec=codec,
        taken_as=packed,
        other=other,
        saves_s={
            device: seconds_saved(estimates[packed], estimates[other])
            for device, estimates in read.estimates.items()
            if {packed, other} <= estimates.keys()
        },
    )


def _codec_of(analysis: Analysis, read: StackPart) -> str | None:
    return analysis.payload.declared_compression if read.judged else read.codec


def stack_whole(analysis: Analysis, launch: LaunchAnalysis) -> dict[str, StackWhole]:
    """Return the seconds that the available snaps add, by device."""
    parts = [each for each in launch.stack if each.estimates]
    if len(parts) < _LEAST_STACK:
        return {}
    found = {}
    for device in launch.estimates:
        costs = [
            (each, each.estimates[device][each.packed_as(_codec_of(analysis, each))])
            for each in parts
        ]
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


def stack_part(snap: StackSnap) -> Part:
    """Return a snap of a stack as JSON has it."""
    read, launch_set = snap.read, snap.read.launch_set
    return part(
        launch_set,
        "source data_blocks raw_bytes",
        snap=read.name,
        role=read.role,
        codec=snap.codec,
        taken_as=snap.taken_as,
        judged=read.judged,
        files=len(launch_set.files),
        expected_blocks=round(launch_set.expected_blocks, 1),
        lzo_adds_bytes=read.lzo_less_xz_bytes,
        devices={
            device: {codec: {"added_s": cost.added_s} for codec, cost in costs.items()}
            for device, costs in read.estimates.items()
        },
        other_codec=snap.other,
        change_saves_s=snap.saves_s,
    )


def stack_section(analysis: Analysis, launch: LaunchAnalysis) -> Section | None:
    """Return the section on a launch's reads by snap, and on who can change them."""
    snaps = stack_snaps(analysis, launch)
    if not snaps:
        return None
    whole = stack_whole(analysis, launch)
    known = dict.fromkeys(how_known(s.read.launch_set.source) for s in snaps)
    how = f"{counted(len(snaps), 'snap')}, {' and '.join(known)}"
    tables = [_added(snaps, whole), _changes(snaps, whole)]
    return Section(
        title=f"What the launch of {launch.launch_set.app} reads from each snap: {how}",
        origin="Seconds and bytes estimated, with intervals.",
        sentences=tuple(_sentences(snaps, whole)),
        tables=tuple(each for each in tables if each is not None),
    )


def _added(snaps: Sequence[StackSnap], whole: Mapping[str, StackWhole]) -> Table:
    """Return the seconds that each snap adds with its own codec."""
    first = next((each.read.estimates for each in snaps if each.read.estimates), {})
    devices = tuple(whole or first)
    rows: list[tuple[Cell, ...]] = []
    for each in snaps:
        read = each.read
        unknown = _NOT_KNOWN if read.estimates else "not known"
        rows.append(
            (
                f"{read.name} ({read.role})",
                each.codec or unknown,
                f"{read.launch_set.expected_blocks:,.0f}",
                *(_cost(each, device) for device in devices),
            )
        )
    if whole:
        blocks = sum(each.read.launch_set.expected_blocks for each in snaps)
        sums = (seconds(each.added_s) for each in whole.values())
        rows.append(("together", "", f"{blocks:,.0f}", *sums))
    return Table(
        caption="Seconds that each snap adds, as packed",
        heads=("snap", "codec", "blocks", *devices),
        rows=tuple(rows),
        words=frozenset((1,)),
    )


def _cost(snap: StackSnap, device: str) -> Cell:
    costs = snap.read.estimates.get(device, {})
    return seconds(costs[snap.taken_as].added_s) if snap.taken_as in costs else (
        "not known"
    )  # fmt: skip


def _changes(
    snaps: Sequence[StackSnap], whole: Mapping[str, StackWhole]
) -> Table | None:
    """Return the saving of another codec for each snap; None if none is known."""
    rows: list[tuple[Cell, ...]] = []
    for each in snaps:
        if each.saves_s:
            whose = "yours" if each.read.judged else "theirs"
            adds, sign = (": adds", -1) if each.other == "xz" else ("", 1)
            saved = (each.saves_s.get(device) for device in whole)
            cells = (seconds(it * sign) if it else "" for it in saved)
            rows.append((f"{each.read.name} to {each.other} ({whose}){adds}", *cells))
    if not rows or not whole:
        return None
    if sum(each.taken_as != "lzo" for each in snaps if each.read.estimates) > 1:
        every = (seconds(each.all_lzo_saves_s) for each in whole.values())
        rows.append(("all to lzo", *every))
    return Table(
        caption="What another codec for each snap would save, per cold launch",
        heads=("change", *whole),
        rows=tuple(rows),
    )


def _sentences(
    snaps: Sequence[StackSnap], whole: Mapping[str, StackWhole]
) -> Iterator[str]:
    """Yield who can change what, and what the tables leave open."""
    own = next((each.read for each in snaps if each.read.judged), None)
    others = [each.read for each in snaps if not each.read.judged]
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
    unknown = [e.read.name for e in snaps if e.codec is None and e.read.estimates]
    if unknown:
        yield f"The codec of {joined(unknown)} isn't known, so xz is taken (xz?)."
    missing = [each.name for each in others if not each.estimates]
    if missing:
        names = joined(missing)
        yield f"{names}: recorded, but not available, so seconds aren't known."
    for each in snaps:
        added = each.read.lzo_less_xz_bytes
        if added is None or each.read.judged:
            continue
        if each.other == "xz":
            yield f"xz takes an estimated {size(added)} off {each.read.name}."
        else:
            yield f"lzo adds an estimated {size(added)} to {each.read.name}."
