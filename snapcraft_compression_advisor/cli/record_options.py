"""Launches that ``advise`` and ``lint`` record, and when a launch has ended."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from ..core.errors import UsageError
from ..core.terminal import emit
from ..launch.launch_set import select_apps
from ..lint.request import LintRequest
from ..payload.snap_yaml import COMPONENT_TYPE
from ..payload.source import Payload
from ..settings.policy_parts import LAUNCH_TIMEOUT_S, Recording
from ..settings.quantities import SECONDS, event_text
from .arguments import Arguments, details, quantity
from .write import note, warn

if TYPE_CHECKING:
    from ..capture.recordings import Told


def event_arguments(policy: str = "") -> Arguments:
    """Return the options that say when a launch has ended, the same for every command.

    :param policy: precedes the defaults of those that have a policy.
    """
    return {
        "--until EVENT": details(
            "the event that ends the launch: 'window' (a window of the app has content "
            "and then the app reads nothing for 0.5 s), 'exit' (the command has ended "
            "with status 0), 'output:TEXT' (a printed line has the text), "
            f"'seconds:TIME' (5, 500ms) (default: {policy}window for an app with a "
            "desktop file, else window or exit)",
            type=quantity(event_text),
        ),
        "--timeout SECONDS": details(
            "time after which the launch has failed: 60, 500ms, 2min (default: "
            f"{policy}{LAUNCH_TIMEOUT_S:g}s)",
            type=quantity(SECONDS.parse),
        ),
    }


RECORD_ARGUMENTS: Arguments = {
    "--record": details(
        "start the app and use what its launch reads in place of the guess, as "
        "'record' does: isolated, without a network. The recording is kept in the "
        "user's cache until the payload changes, unless --no-cache is given (default: "
        "the policy's 'record')",
        action="store_const",
        const=True,
    ),
    "--no-record": details(
        "start nothing, even if the policy has 'record'; of this option and --record, "
        "the last counts",
        action="store_const",
        const=False,
        dest="record",
    ),
    **event_arguments("the policy's, else "),
}


def check_record_options(parsed_args: argparse.Namespace) -> None:
    """Refuse options that say how to record if nothing asks for it.

    :raises UsageError: in that case.
    """
    if parsed_args.record:
        return
    for name in ("until", "timeout"):
        if getattr(parsed_args, name) is not None:
            message = f"--{name} is given without --record"
            raise UsageError(message, resolution="Add --record.")


def with_recordings(
    payload: Payload, request: LintRequest, parsed_args: argparse.Namespace
) -> LintRequest:
    """Return a request with the launches that options or the policy ask to record.

    :raises AdvisorError: if one that is required can't be recorded.
    """
    if parsed_args.record is False:
        return _with_guesses(payload, request)
    policy = request.policy
    recordings = policy.record
    if parsed_args.record:  # which are required
        known = {each.app: each for each in policy.record}
        named = [known.get(app, Recording(app=app)) for app in parsed_args.app]
        given = {"until": parsed_args.until, "timeout": parsed_args.timeout}
        changed = {key: value for key, value in given.items() if value is not None}
        recordings = tuple(
            each.model_copy(update={**changed, "required": True})
            for each in named or policy.record or (Recording(),)
        )
    if not recordings:
        return request
    from ..capture.recordings import (  # noqa: PLC0415 # few runs start anything
        in_place,
        recorded_profiles,
    )

    recorded = recorded_profiles(payload, recordings, told_here(), apps=policy.apps)
    return replace(request, profiles=in_place(request.profiles, recorded))


def _with_guesses(payload: Payload, request: LintRequest) -> LintRequest:
    """Return a request that guesses the launches that the policy asks to record."""
    policy, known = request.policy, [each.app for each in request.profiles]
    guessed = []
    if payload.snap.type != COMPONENT_TYPE:
        for each in policy.record:
            wanted = (each.app,) if each.app else policy.apps
            names, _ = select_apps(payload.snap, payload.inventory, requested=wanted)
            guessed += [name for name in names[:1] if name not in known]
    for app in guessed:
        warn(f"The launch of {app} is guessed, not recorded: --no-record is given")
    apps = policy.apps or (tuple(dict.fromkeys((*known, *guessed))) if guessed else ())
    return replace(request, policy=policy.model_copy(update={"apps": apps}))


def told_here() -> Told:
    """Return what shows the user how launches go."""
    from ..capture.recordings import Told  # noqa: PLC0415 # few runs start anything

    return Told(progress=emit.progress, note=note, warn=warn, debug=emit.debug)
