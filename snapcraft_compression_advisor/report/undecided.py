"""What would decide an advice that is undecided."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..advice.reasons import Code
from ..core.printable import printable
from ..payload.snap_yaml import split_component_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..analysis import Analysis

_PROFILE = "launch.json"
_DEVICE = "this-machine.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStep:
    """Something to do: what it brings, commands to copy, and it in a few words."""

    text: str
    commands: tuple[str, ...] = ()
    short: str = ""


def what_decides(analysis: Analysis) -> Iterator[NextStep]:
    """Yield what would decide an advice; nothing if it is decided."""
    if analysis.recommendation.verdict != "undecided":
        return
    guessed = _guessed(analysis)
    path = shlex.quote(printable(str(analysis.payload.path)))
    around = "".join(f" {shlex.quote(each)}" for each in analysis.payload.stack_options)
    again = f"compression-advisor advise {path}{around}"
    advise = f"{again} --launch-profile {_PROFILE}"
    if Code.READER_UNKNOWN in analysis.recommendation.reasons:
        _, name = split_component_name(analysis.payload.name)
        setting = f"'components: {{{name}: {{read: all}}}}', or 'none'"
        yield NextStep(
            text=f"Say what is read of it in compression-advisor.yaml: {setting}",
            short=f"set {setting}",
        )
        return
    if guessed:
        yield _record_instead(analysis, guessed, again)
        return
    if not analysis.launches:
        if Code.NO_APP in analysis.recommendation.reasons:
            yield NextStep(
                text="If it is a base or a content snap, name snaps that run with it: "
                "their launches decide",
                commands=(f"compression-advisor advise {path} --consumer app.snap",),
                short="name a snap that runs with it",
            )
        return
    if "growth" in analysis.recommendation.doubts:
        yield NextStep(text="--exact packs with every codec, so the sizes are measured")
    if {"saving", "paying"} & {*analysis.recommendation.doubts}:
        yield NextStep(
            text="It depends on how fast the device is; a calibrated profile of your "
            "own device decides it for that device",
            commands=(
                f"sudo compression-advisor calibrate -o {_DEVICE}",
                f"{advise} --device {_DEVICE}",
            ),
            short="measure your own device",
        )


def _record_instead(analysis: Analysis, guessed: Sequence[str], again: str) -> NextStep:
    """Return the step that replaces guesses, for a snap or for its consumers."""
    names = [
        each.launch_set.app for each in analysis.launches if each.weight is not None
    ]
    if names:
        return NextStep(
            text="Recorded launches of the consumers in place of the guesses may "
            "decide it",
            commands=tuple(map(record_installed, names)),
            short="record the consumers' launches",
        )
    named = _named(guessed) if len(analysis.launches) > 1 else ""
    return NextStep(
        text="A recorded launch in place of the guess may decide it",
        commands=(f"{again} --record{named}",),
        short="record a launch",
    )


def record_installed(name: str) -> str:
    """Return the command that records the launch of an installed snap, or an app."""
    file = shlex.quote(f"{name}.json")
    return f"compression-advisor record --installed {shlex.quote(name)} -o {file}"


def _guessed(analysis: Analysis) -> Sequence[str]:
    """Return the apps of which it was guessed what they read."""
    sets = (launch.launch_set for launch in analysis.launches)
    return [known.app for known in sets if known.files and known.source == "static"]


def _named(apps: Iterable[str]) -> str:
    return "".join(f" --app {shlex.quote(app)}" for app in apps)
