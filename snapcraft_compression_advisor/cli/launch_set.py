"""``launch-set`` and ``prefetch``: what a launch reads, guessed or read ahead."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import ClassVar

from ..core.errors import UsageError
from ..core.terminal import emit
from ..launch.guess.explain import explain
from ..launch.guess.guess import static_launch_set
from ..launch.launch_set import select_apps
from ..launch.profile import guessed_profile, profile_text, read_profile
from ..payload.source import find_payload, open_payload
from ..prefetch.plan import plan_prefetch
from ..prefetch.program import write_files
from ..report.guess import explanation_json, explanation_page, guess_page
from ..report.prefetch import prefetch_json, prefetch_page
from ..settings.parts import LAUNCH_TIMEOUT_S
from .commands import (
    FORMATS,
    PATH,
    Arguments,
    Command,
    details,
    output_arguments,
    whole_number,
)
from .settings_options import event_arguments, reporter_here
from .write import check_outputs, note, write_output, write_page


class LaunchSetCommand(Command):
    """Guess what a launch reads; write the guess, or explain it."""

    name = "launch-set"
    overview = (
        "Guess from a snap's files which of them a cold start of an app reads, and in "
        "which share of starts. 'advise' uses this guess unless a start was "
        "recorded.\n\n"
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


_BUDGET_BYTES = 100_000_000
"""What most launches read is less; it bounds what a wrong list costs."""
DEFAULT_RUNS = 10


class PrefetchCommand(Command):
    """Read ahead what a launch reads."""

    name = "prefetch"
    overview = (
        "Make a list of the data blocks that a recorded launch reads, and a small "
        "program for the command-chain that reads them ahead in the background: at "
        "most 100 MB, programs and libraries first. On most kernels that gains "
        "nothing: --prove measures it here.\n\n"
        "Nothing is written unless --write is given."
    )

    arguments: ClassVar[Arguments] = {
        **PATH,
        "--launch-profile FILE": details(
            "a recorded launch of an app of the snap (required)", required=True
        ),
        "--write DIR": "write the program and its list to this directory, for a part "
        "of the project that dumps it (default: change nothing)",
        "--prove": "start the app from a mounted image, isolated as with 'advise "
        "--record', and time cold and warm launches in turns. This runs the payload's "
        "programs",
        "--runs COUNT": details(
            "with --prove: cold and warm launches of each kind",
            type=whole_number(least=2),
            default=DEFAULT_RUNS,
        ),
        **event_arguments(),
        **output_arguments(),
    }

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Print what is read ahead, and write and prove it if that is asked for."""
        check_outputs(parsed_args.output)
        path = parsed_args.path or find_payload(Path.cwd())
        target: Path | None = parsed_args.write
        if target is not None and target.exists() and not target.is_dir():
            message = f"{str(target)!r} is not a directory"
            raise UsageError(message, resolution="Specify a directory with --write.")
        profile = read_profile(parsed_args.launch_profile)
        proof = None
        with open_payload(path) as payload:
            emit.progress("Choosing what is read ahead")
            plan = plan_prefetch(payload, profile, _BUDGET_BYTES)
            if parsed_args.prove:
                from ..prefetch.prove import (  # noqa: PLC0415 # few runs start any
                    prove_prefetch,
                )

                proof = prove_prefetch(
                    payload,
                    plan,
                    reporter_here(),
                    codec=payload.packed_with or "xz",
                    rounds=parsed_args.runs,
                    until=parsed_args.until,
                    timeout_s=parsed_args.timeout or LAUNCH_TIMEOUT_S,
                )
            if target is not None:
                for file in write_files(target, plan.app, plan.ranges, payload.snap):
                    note(f"Written: {file}")
            chain = payload.snap.apps[plan.app].command_chain
            snap = payload.snap.name
        page = prefetch_page(plan, proof, snap=snap, chain=chain, written_to=target)
        write_page(page, parsed_args, prefetch_json(plan, proof, snap))
