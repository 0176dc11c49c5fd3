"""``compression-advisor prefetch``: what a launch reads, read ahead."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import ClassVar

from ..core.errors import UsageError
from ..core.terminal import emit
from ..launch.profile import read_profile
from ..payload.source import find_payload, open_payload
from ..prefetch.plan import plan_prefetch
from ..prefetch.program import write_files
from ..report.prefetch import prefetch_json, prefetch_page
from ..settings.policy_parts import LAUNCH_TIMEOUT_S
from .arguments import (
    PATH,
    Arguments,
    Command,
    details,
    output_arguments,
    whole_number,
)
from .record_options import event_arguments, told_here
from .write import check_outputs, note, write_page

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
                    told_here(),
                    codec=payload.packed_with or "xz",
                    rounds=parsed_args.runs,
                    until=parsed_args.until,
                    timeout_s=parsed_args.timeout or LAUNCH_TIMEOUT_S,
                )
            if target is not None:
                for file in write_files(target, plan, payload.snap):
                    note(f"Written: {file}")
            chain = payload.snap.apps[plan.app].command_chain
            snap = payload.snap.name
        page = prefetch_page(plan, proof, snap=snap, chain=chain, written_to=target)
        write_page(page, parsed_args, prefetch_json(plan, proof, snap))
