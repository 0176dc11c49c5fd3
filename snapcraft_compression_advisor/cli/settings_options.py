"""The options that are settings, and those that record launches."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args, get_origin

from ..core.errors import BadDataError, UsageError
from ..core.terminal import emit
from ..launch.launch_set import select_apps
from ..payload.snap_yaml import COMPONENT_TYPE
from ..payload.source import Payload
from ..settings.load import (
    POLICY_FILE_NAME,
    LoadedSettings,
    load_settings,
    settings_of,
)
from ..settings.parts import LAUNCH_TIMEOUT_S, Option, Recording
from ..settings.quantities import SECONDS, event_text
from ..settings.settings import Settings
from .commands import Arguments, details, quantity
from .write import note, warn

if TYPE_CHECKING:
    from ..capture.recordings import Reporter

_OPTIONS: Mapping[str, Option] = {
    name: each
    for name, field in Settings.model_fields.items()
    for each in field.metadata
    if isinstance(each, Option)
}
"""Options by the names of the keys that they set."""


def _options(*names: str) -> Arguments:
    """Return arguments that set keys of the settings."""
    found = {}
    for name in names:
        field, option = Settings.model_fields[name], _OPTIONS[name]
        several = "; may be repeated" if option.usage.endswith("…") else ""
        text = f"{field.description}{several} (default: the policy's, else "
        text += f"{option.unset})"
        choices = get_origin(field.annotation) is Literal and get_args(field.annotation)
        found[option.usage] = details(text, type=None, choices=choices or None)
    return found


POLICY_ARGUMENTS: Arguments = {
    "--policy FILE": "the project's settings; other options override them (default: "
    f"{POLICY_FILE_NAME} of the project, else in the current directory)",
    **_options("apps", "devices", "launch_profile"),
}
ADVICE_ARGUMENTS: Arguments = {
    **POLICY_ARGUMENTS,
    **_options("min_saving", "max_launches", "link", "deciding_apps"),
}
RULE_ARGUMENTS: Arguments = {
    **POLICY_ARGUMENTS,
    **_options("select", "ignore", "fail_on"),
}


def given_settings(parsed_args: argparse.Namespace) -> Settings:
    """Return the settings that a command's options make, each checked as its key is.

    :raises UsageError: if the value of one is broken, or a rule doesn't exist.
    """
    values = []
    for key, option in _OPTIONS.items():
        flag = option.usage.split()[0]
        value = getattr(parsed_args, flag.strip("-").replace("-", "_"), None)
        if key in ("select", "ignore"):
            value = [each.strip() for text in value or () for each in text.split(",")]
        if value not in (None, []):
            values.append((f"argument {flag}", key.replace("_", "-"), value))
    try:
        settings = settings_of(values)
        _check_rules((*settings.select, *settings.ignore), where="--select, --ignore")
    except BadDataError as error:  # an argument, not data
        raise UsageError(str(error), resolution=error.resolution) from error
    return settings


def read_settings(
    file: Path | None, options: Settings, *, narrow: bool = False
) -> LoadedSettings:
    """Return the settings of options and of a file, and say which that is.

    :param narrow: as for :func:`.load_settings`.
    :raises AdvisorError: if the file, or one that it names, can't be read or isn't
        what it should be; if options and file contradict each other.
    """
    loaded = load_settings(file, options, check_rules=_check_rules, narrow=narrow)
    if file is not None:
        note(f"Settings from {file}")
    return loaded


def _check_rules(texts: Iterable[str], *, where: str) -> None:
    """Refuse selectors that select no rule."""
    wanted = tuple(texts)
    if wanted:  # advice has none, and needs no rules
        from ..lint.run import check_selectors  # noqa: PLC0415

        check_selectors(wanted, where=where)


def event_arguments(above: str = "") -> Arguments:
    """Return the options that say when a launch has ended, the same for every command.

    :param above: precedes the defaults of those that settings have, too.
    """
    return {
        "--until EVENT": details(
            "the event that ends the start: 'window' (a window of the app has content "
            "and then the app reads nothing for 0.5 s), 'exit' (the command has ended "
            "with status 0), 'output:TEXT' (a printed line has the text), "
            f"'seconds:TIME' (5, 500ms) (default: {above}window for an app with a "
            "desktop file, else window or exit)",
            type=quantity(event_text),
        ),
        "--timeout SECONDS": details(
            "time after which the start has failed: 60, 500ms, 2min (default: "
            f"{above}{LAUNCH_TIMEOUT_S:g}s)",
            type=quantity(SECONDS.parse),
        ),
    }


RECORD_ARGUMENTS: Arguments = {
    "--record": details(
        "start the app, and use what it reads in place of the guess; isolated, "
        "without a network, as 'record' does (default: the policy's 'record')",
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
    """Refuse options that say how to record if nothing asks for it."""
    if parsed_args.record:
        return
    for name in ("until", "timeout"):
        if getattr(parsed_args, name) is not None:
            message = f"--{name} is given without --record"
            raise UsageError(message, resolution="Add --record.")


def with_recordings(
    payload: Payload, loaded: LoadedSettings, parsed_args: argparse.Namespace
) -> LoadedSettings:
    """Return settings with the launches that they or options ask to record.

    :raises AdvisorError: if one that is required can't be recorded.
    """
    if parsed_args.record is False:
        return _with_guesses(payload, loaded)
    settings = loaded.settings
    recordings = settings.record
    if parsed_args.record:  # which are required
        known = {each.app: each for each in settings.record}
        named = [known.get(app, Recording(app=app)) for app in parsed_args.app]
        given = {"until": parsed_args.until, "timeout": parsed_args.timeout}
        changed = {key: value for key, value in given.items() if value is not None}
        recordings = tuple(
            each.model_copy(update={**changed, "required": True})
            for each in named or settings.record or (Recording(),)
        )
    if not recordings:
        return loaded
    from ..capture.recordings import (  # noqa: PLC0415 # few runs start anything
        in_place,
        recorded_profiles,
    )

    recorded = recorded_profiles(
        payload, recordings, reporter_here(), apps=settings.apps
    )
    return replace(loaded, profiles=in_place(loaded.profiles, recorded))


def _with_guesses(payload: Payload, loaded: LoadedSettings) -> LoadedSettings:
    """Return settings with which the launches are guessed that they have recorded."""
    settings, known = loaded.settings, [each.app for each in loaded.profiles]
    guessed = []
    if payload.snap.type != COMPONENT_TYPE:
        for each in settings.record:
            wanted = (each.app,) if each.app else settings.apps
            names, _ = select_apps(payload.snap, payload.inventory, requested=wanted)
            guessed += [name for name in names[:1] if name not in known]
    for app in guessed:
        warn(f"The launch of {app} is guessed, not recorded: --no-record is given")
    apps = settings.apps
    if guessed and not apps:
        apps = tuple(dict.fromkeys((*known, *guessed)))
    return replace(loaded, settings=settings.model_copy(update={"apps": apps}))


def reporter_here() -> Reporter:
    """Return the reporter that shows the user how launches go."""
    from ..capture.recordings import Reporter  # noqa: PLC0415 # few runs start anything

    return Reporter(progress=emit.progress, note=note, warn=warn)
