"""What a launch reads of each snap, and what changing one would save: as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .page.model import Table
from .page.texts import percent, seconds, short_seconds, size
from .phrases import counted, how_known

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .report_launch import LaunchReport
    from .report_stack import StackSnapReport

STACK_TITLE = "What the launch reads from each snap"
CHANGE_TITLE = "What another codec for each snap would save"
_NOT_KNOWN = "xz?"


def stack_table(launch: LaunchReport) -> Table:
    """Return what each snap of a launch adds, as they are packed."""
    devices = tuple(launch.stack_whole or _devices(launch))
    rows = [
        (
            snap_label(each),
            _codec(each),
            f"{each.expected_blocks:,.0f}",
            *(_added(each, device) for device in devices),
        )
        for each in launch.stack
    ]
    if launch.stack_whole:
        blocks = sum(each.expected_blocks for each in launch.stack)
        whole = (seconds(each.added_s) for each in launch.stack_whole.values())
        rows.append(("together", "", f"{blocks:,.0f}", *whole))
    return Table(
        caption=f"Seconds that each snap adds to a cold launch of {launch.app}, as "
        "packed",
        heads=("snap", "codec", "blocks", *devices),
        rows=tuple(rows),
        words=frozenset((1,)),
        short="seconds by snap",
    )


def change_table(launch: LaunchReport) -> Table | None:
    """Return what another codec for each snap would save; ``None`` if none is known."""
    devices = tuple(launch.stack_whole)
    rows = [
        (
            _change(each),
            *(_saved(each, device) for device in devices),
        )
        for each in launch.stack
        if each.change_saves_s
    ]
    if not rows or not devices:
        return None
    slower = sum(each.taken_as != "lzo" for each in launch.stack if each.devices)
    if slower > 1:
        whole = launch.stack_whole.values()
        rows.append(("all to lzo", *(seconds(each.all_lzo_saves_s) for each in whole)))
    return Table(
        caption=f"Seconds that a change saves per cold launch of {launch.app}",
        heads=("change", *devices),
        rows=tuple(rows),
        short="seconds saved by snap",
    )


def stack_sentences(launch: LaunchReport) -> Iterator[str]:
    """Yield who can change what, and what the tables leave open."""
    own = next((each for each in launch.stack if each.judged), None)
    others = [each for each in launch.stack if not each.judged]
    at_hand = [each.snap for each in others if each.devices]
    if own is None or not launch.stack_whole:
        yield "The other snaps aren't available, so their seconds aren't known."
    else:
        shares = " and ".join(
            f"{percent(whole.judged_share)} on {device}"
            for device, whole in launch.stack_whole.items()
        )
        yield (
            f"Yours to change is {own.snap}: of the seconds that a cold launch adds, "
            f"it makes up {shares}. Only their maintainers can change "
            f"{_listed(at_hand)}."
        )
    unknown = [
        each.snap for each in launch.stack if each.codec is None and each.devices
    ]
    if unknown:
        yield f"The codec of {_listed(unknown)} isn't known, so xz is taken (xz?)."
    missing = [each for each in others if not each.devices]
    if missing:
        names = _listed([each.snap for each in missing])
        yield f"{names}: recorded, but not available, so seconds aren't known."
    if launch.recorded_parts:
        yield _measured_parts(launch)
    grown = [each for each in launch.stack if each.lzo_adds_bytes and not each.judged]
    yield from map(_growth, grown)


def _measured_parts(launch: LaunchReport) -> str:
    """Return what the parts of the recorded launch took, snapd's programs first."""
    taken = [
        f"{each.part} {short_seconds(each.cold_s)}" for each in launch.recorded_parts
    ]
    return (
        "Parts of the recorded cold launch (measured, with the codecs of the installed "
        f"snaps): {_listed(taken)}."
    )


def how_read(launch: LaunchReport) -> str:
    """Return how it is known what the launch reads of each snap."""
    known = dict.fromkeys(how_known(each.source, None) for each in launch.stack)
    return f"{counted(len(launch.stack), 'snap')}, {' and '.join(known)}"


def _growth(snap: StackSnapReport) -> str:
    added = snap.lzo_adds_bytes
    if added is None:
        return ""
    if snap.other_codec == "xz":
        return f"xz takes an estimated {size(added)} off {snap.snap}."
    return f"lzo adds an estimated {size(added)} to {snap.snap}."


def _devices(launch: LaunchReport) -> tuple[str, ...]:
    return tuple(next((each.devices for each in launch.stack if each.devices), ()))


def snap_label(snap: StackSnapReport) -> str:
    """Return a snap's name, and what it is to the launch."""
    return f"{snap.snap} ({snap.role})"


def _change(snap: StackSnapReport) -> str:
    whose = "yours" if snap.judged else "theirs"
    adds = ": adds" if snap.other_codec == "xz" else ""
    return f"{snap.snap} to {snap.other_codec} ({whose}){adds}"


def _saved(snap: StackSnapReport, device: str) -> str:
    """Return what the other codec saves, or what xz adds in place of lzo."""
    saved = snap.change_saves_s.get(device)
    if saved is None:
        return ""
    sign = -1 if snap.other_codec == "xz" else 1
    return seconds(saved.interval().map(lambda end: sign * end))


def _codec(snap: StackSnapReport) -> str:
    if snap.codec is None and snap.devices:
        return _NOT_KNOWN
    return snap.codec or "not known"


def _added(snap: StackSnapReport, device: str) -> str:
    costs = snap.devices.get(device, {})
    return (
        seconds(costs[snap.taken_as].added_s) if snap.taken_as in costs else "not known"
    )


def _listed(names: list[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
