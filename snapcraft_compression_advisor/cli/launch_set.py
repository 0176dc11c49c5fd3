"""``launch-set``: what a launch reads, guessed."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import ClassVar

from ..core.errors import UsageError
from ..launch.guess.explain import explain
from ..launch.guess.guess import static_launch_set
from ..launch.launch_set import select_apps
from ..launch.profile import guessed_profile, profile_text
from ..payload.source import find_payload, open_payload
from ..report.guess import explanation_json, explanation_page, guess_page
from .commands import FORMATS, PATH, Arguments, Command, details
from .write import check_outputs, write_output, write_page


class LaunchSetCommand(Command):
    """Guess what a launch reads; write the guess, or explain it."""

    name = "launch-set"
    overview = (
        "Guess from a snap's files which of them a cold start of an app reads, and in "
        "which share of starts. 'advise' uses this guess unless a start was "
        "recorded, and follows it into base and content snaps that are at hand.\n\n"
        "With --output, the guess is written as a launch profile for 'advise "
        "--launch-profile'. --explain says why one file is expected, or why not."
    )

    arguments: ClassVar[Arguments] = {
        **PATH,
        "--app NAME": "the app that is started (default: the app named after the "
        "snap, else the first with a desktop file, else the first)",
        "-o, --output FILE": "write the guess as a launch profile to this file "
        "(default: not written)",
        "--explain FILE": "a file of the snap: print why it is expected, by which "
        "way and in which share of starts; or why it isn't (default: none)",
        "--format": details(
            "output format of the guess, or of --explain",
            choices=FORMATS,
            default="text",
        ),
    }

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Guess, and write or explain the guess."""
        check_outputs(parsed_args.output)
        with open_payload(parsed_args.path or find_payload(Path.cwd())) as payload:
            wanted = (parsed_args.app,) if parsed_args.app else ()
            names, _ = select_apps(payload.snap, payload.inventory, requested=wanted)
            if not names:
                message = f"{payload.snap.name!r} has no apps, so nothing is launched"
                raise UsageError(message, resolution="Specify a payload with apps.")
            app = names[0]
            if parsed_args.explain is not None:
                found = explain(payload, app, str(parsed_args.explain))
                write_page(
                    explanation_page(found), parsed_args, explanation_json(found)
                )
                return
            launch_set = static_launch_set(payload, app)
        profile = profile_text(guessed_profile(launch_set))
        if parsed_args.output is not None:
            write_output(profile, parsed_args.output)
        else:
            write_page(guess_page(launch_set), parsed_args, profile)
