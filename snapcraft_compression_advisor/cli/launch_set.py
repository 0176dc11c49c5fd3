"""``compression-advisor launch-set``: what a launch reads, guessed from files."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import ClassVar

from ..core.errors import BadDataError, UsageError
from ..launch.comparison import compare_launches
from ..launch.guess.explain import explain
from ..launch.guess.guess import static_launch_set
from ..launch.launch_set import LaunchSet, select_apps
from ..launch.profile import LaunchProfile, guessed_profile, profile_text, read_profile
from ..payload.snap_yaml import COMPONENT_TYPE
from ..payload.source import Payload, find_payload, open_payload
from ..report.compare import (
    render_comparison_json,
    render_comparison_text,
    render_explanation_text,
    render_guess_text,
)
from .arguments import PATH, Arguments, Command, details
from .write import check_outputs, write_output


class LaunchSetCommand(Command):
    """Guess what a launch reads; write the guess, or compare it."""

    name = "launch-set"
    overview = (
        "Derive from a payload's files which data blocks a cold launch of an app "
        "reads, each with the share of launches in which it is read. 'advise' "
        "uses this guess unless a launch was recorded.\n\n"
        "With --output, the guess is written as a launch profile for 'advise "
        "--launch-profile'. --compare compares it with a recorded launch; --explain "
        "tells why one file is expected, or why not."
    )

    arguments: ClassVar[Arguments] = {
        **PATH,
        "--app NAME": "the app that is launched (default: the app named after the "
        "snap, else the first with a desktop file, else the first)",
        "-o, --output FILE": "write the guess as a launch profile to this file "
        "(default: not written)",
        "--compare RECORDED": "a recorded launch of the same app, to compare the guess "
        "with (default: none)",
        "--explain FILE": "a file of the payload: print why it is expected, by which "
        "way and in which share of launches; or why it isn't (default: none)",
        "--format": details(
            "output format of the guess or the comparison",
            choices=("text", "json"),
            default="text",
        ),
    }

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Guess, write, compare."""
        prints = parsed_args.compare is not None or parsed_args.output is None
        check_outputs(*filter(None, [parsed_args.output]), *([None] if prints else []))
        recorded = read_profile(parsed_args.compare) if parsed_args.compare else None
        with open_payload(parsed_args.path or find_payload(Path.cwd())) as payload:
            app = _app(payload, parsed_args.app, recorded)
            if parsed_args.explain is not None:
                found = explain(payload, app, str(parsed_args.explain))
                write_output(render_explanation_text(found), None)
                return
            launch_set = static_launch_set(payload, app)
            text = _report(launch_set, recorded, payload, parsed_args.format)
        if parsed_args.output is not None:
            write_output(profile_text(guessed_profile(launch_set)), parsed_args.output)
        if prints:
            write_output(text, None)


def _app(payload: Payload, wanted: str | None, recorded: LaunchProfile | None) -> str:
    """Return whose launch it is.

    :raises AdvisorError: if there is no such app, or none at all, or the recorded
        launch is of another app.
    """
    if wanted is None and recorded is not None:
        wanted = recorded.app
    names, _ = select_apps(
        payload.snap, payload.inventory, requested=(wanted,) if wanted else ()
    )
    if not names:
        is_component = payload.snap.type == COMPONENT_TYPE
        what = "Component" if is_component else "Snap"
        message = f"{what} {payload.snap.name!r} has no apps, so nothing is launched"
        raise UsageError(message, resolution="Specify a payload with apps.")
    if recorded is not None and recorded.app != names[0]:
        message = f"The recorded launch is for app {recorded.app!r}, not {names[0]!r}"
        raise BadDataError(message, resolution="Record a launch of that app.")
    return names[0]


def _report(
    launch_set: LaunchSet,
    recorded: LaunchProfile | None,
    payload: Payload,
    wanted: str,
) -> str:
    if recorded is None:
        if wanted == "json":
            return profile_text(guessed_profile(launch_set))
        return render_guess_text(launch_set)
    comparison = compare_launches(launch_set.files, recorded, payload.inventory)
    if wanted == "json":
        return render_comparison_json(comparison, app=launch_set.app)
    return render_comparison_text(comparison)
