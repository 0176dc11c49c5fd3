"""The snap that was published before, as far as it is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..core.errors import BadDataError, UsageError
from ..core.frozen import frozen
from ..payload.source import SnapPayload, open_payload


@frozen
class PreviousSnap:
    """A snap that was published before.

    :param path: as it was given.
    :param name: of its snap.yaml.
    :param image_bytes: size of its file.
    """

    path: str
    name: str
    codec: str
    image_bytes: int


def read_previous(path: Path) -> PreviousSnap:
    """Read what a snap says of itself; nothing is unpacked.

    :raises NoInputError: if the file isn't there or can't be read.
    :raises BadDataError: if it is no built snap, or a broken one.
    """
    with open_payload(path) as payload:
        if not isinstance(payload, SnapPayload):
            message = f"{str(path)!r} is a directory, not a previous snap"
            raise BadDataError(message, resolution="Specify the published .snap file.")
        return PreviousSnap(
            path=str(path),
            name=payload.snap.name,
            codec=payload.packed_with,
            image_bytes=payload.image.image_bytes,
        )


def previous_of(name: str, previous: Sequence[PreviousSnap]) -> PreviousSnap | None:
    """Return the previous snap of a name; ``None`` where none was given at all.

    :raises UsageError: if those given are all of other names.
    """
    if not previous:
        return None
    for each in previous:
        if each.name == name:
            return each
    given = ", ".join(f"{each.path} is of {each.name!r}" for each in previous)
    message = f"No previous snap of {name!r} is given: {given}"
    raise UsageError(
        message, resolution="Specify one of the same snap with --previous."
    )
