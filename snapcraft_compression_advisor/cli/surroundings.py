"""The base, content and consumer snaps of ``advise``: given, set, or installed."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from ..core.errors import AdvisorError, UsageError
from ..core.printable import printable
from ..launches import Consumer, Surroundings
from ..payload.source import Payload, is_prime_directory, open_payload
from ..payload.stack import provides
from ..payload.stack_check import BASE_TYPES, check_consumer, check_stack
from ..settings.lint_policy import LintPolicy
from ..settings.quantities import parse_count
from .arguments import Arguments, details, exclude, stack_arguments
from .write import note, warn

SNAP_MOUNTS = Path("/snap")
SNAP_BLOBS = Path("/var/lib/snapd/snaps")

_SNAP_NAME = re.compile(r"[a-z0-9](?:-?[a-z0-9])*")
_WEIGHTED = re.compile(r"(?P<path>.+)=(?P<weight>[0-9.]+)", re.DOTALL)


def _consumer(text: str) -> tuple[Path, float]:
    """Return a consumer and its weight: ``app.snap`` or ``app.snap=3``."""
    found = _WEIGHTED.fullmatch(text)
    if found is None:
        return Path(text), 1.0
    try:
        return Path(found["path"]), parse_count(found["weight"])
    except ValueError as error:
        message = f"{text!r}: {error}"
        raise argparse.ArgumentTypeError(message) from error


STACK_ARGUMENTS = stack_arguments("the policy's, else the installed one, if any")
SURROUNDINGS: Arguments = {
    **STACK_ARGUMENTS,
    "--consumer SNAP…": details(
        "a snap that runs with this one, a base or a content snap: its launches "
        "decide; may be repeated and have a weight, app.snap=3 (default: none)",
        type=_consumer,
    ),
}
"""What :func:`open_surroundings` reads."""


def check_stack_options(parsed_args: argparse.Namespace) -> None:
    """Refuse to record apps of a snap whose consumers are launched.

    :raises UsageError: in that case.
    """
    exclude(
        {
            "--consumer": parsed_args.consumer,
            "--record": parsed_args.record or parsed_args.record_again,
        },
        "Record the launch of each consumer by itself ('record --installed'), and name "
        "the recordings with --launch-profile.",
    )


def open_surroundings(
    payload: Payload,
    policy: LintPolicy,
    parsed_args: argparse.Namespace,
    until: ExitStack,
) -> Surroundings:
    """Open the snaps that a payload runs with.

    :param until: closes them.
    :raises AdvisorError: if one can't be read or doesn't go with the payload.
    """
    weighted: Sequence[tuple[Path, float]] = parsed_args.consumer
    whole = sum(weight for _, weight in weighted)
    consumers: dict[str, Consumer] = {}
    for path, weight in weighted:
        consumer = until.enter_context(open_payload(path))
        check_consumer(consumer, payload)
        if consumer.snap.name in consumers:
            message = f"Consumer {consumer.snap.name!r} is given twice"
            raise UsageError(message, resolution="Specify it once, with a weight.")
        consumers[consumer.snap.name] = Consumer(
            payload=consumer, weight=weight / whole
        )
    launched = tuple(each.payload for each in consumers.values()) or (payload,)
    bases, contents = (
        tuple(until.enter_context(open_payload(Path(path))) for path in paths)
        for paths in (
            parsed_args.base or policy.bases,
            parsed_args.content or policy.contents,
        )
    )
    for other in (*bases, *contents):
        if consumers and other.snap.name == payload.snap.name:
            message = f"{str(other.path)!r} is {other.snap.name}, which is analysed"
            raise UsageError(message, resolution="Leave it out.")
    check_stack(launched, bases=bases, contents=contents)
    own = (payload,) if consumers else ()
    for path in _installed(launched, (*own, *bases), (*own, *contents)):
        found = _opened_if_fit(path, launched, until)
        if found is not None and found.snap.type in BASE_TYPES:
            bases = (*bases, found)
        elif found is not None:
            contents = (*contents, found)
    named = (("--base", parsed_args.base), ("--content", parsed_args.content))
    return Surroundings(
        bases=bases,
        contents=contents,
        consumers=tuple(consumers.values()),
        options=tuple(
            word
            for option, paths in named
            for path in paths
            for word in (option, printable(str(path)))
        ),
    )


def _installed(
    launched: Sequence[Payload], bases: Sequence[Payload], contents: Sequence[Payload]
) -> Iterator[Path]:
    """Yield the installed snaps that snaps run with and that aren't given."""
    known = {each.snap.name for each in (*bases, *contents)}
    names: dict[str, None] = {}
    for each in launched:
        names[each.snap.base_name] = None
        for plug_name, plug in each.snap.plugs.items():
            given = any(provides(other.snap, plug_name, plug) for other in contents)
            if plug.interface == "content" and not given:
                names[(plug.default_provider or "").partition(":")[0]] = None
    for path in (installed_snap(name) for name in names if name not in known):
        if path is not None:
            yield path


def _opened_if_fit(
    path: Path, launched: Sequence[Payload], until: ExitStack
) -> Payload | None:
    """Return an installed snap, or None if it can't be read or doesn't fit."""
    try:
        payload = until.enter_context(open_payload(path))
        is_base = payload.snap.type in BASE_TYPES
        check_stack(
            launched,
            bases=(payload,) if is_base else (),
            contents=() if is_base else (payload,),
        )
    except AdvisorError as error:
        warn(f"installed snap left out: {error}")
        return None
    note(f"{payload.snap.name} is installed: {path}")
    return payload


def installed_snap(name: str) -> Path | None:
    """Return an installed snap: its image if root runs this, else its mount."""
    if not _SNAP_NAME.fullmatch(name):
        return None
    mount = SNAP_MOUNTS / name / "current"
    try:
        image = SNAP_BLOBS / f"{name}_{mount.readlink().name}.snap"
    except OSError:
        return None
    if os.access(image, os.R_OK):
        return image
    return mount if is_prime_directory(mount) else None
