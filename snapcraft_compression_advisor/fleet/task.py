"""One snap's row, also if it can't be analysed."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from glob import escape
from pathlib import Path

from ..analysis import analyse, analysis_request
from ..codecs import SHIPPABLE
from ..core.errors import AdvisorError, NoInputError, StorageError
from ..core.files import open_regular
from ..core.terminal import printable
from ..core.units import MIB
from ..launch.guess.guess import static_launch_set
from ..launch.profile import LaunchProfile, read_profile
from ..launches import Surroundings
from ..lint.lint import LintRequest, lint_analysed
from ..payload.source import Payload, SnapPayload, open_payload
from ..squashfs.image import Image
from .columns import KNOWN, Row, advice_row
from .remote import RemoteFile, is_remote, tables_digest
from .sources import Snap

CHECK_PATH = "Check its path, and that it is readable."


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetRequest:
    """What all snaps of a fleet are checked against.

    :param lint: request without open snaps, so that it can be sent to workers.
    :param bases: paths of base snaps, as for ``lint``.
    :param contents: paths of content snaps.
    :param launch_profiles: directory of recorded launches; ``None`` to guess all.
    :param known: digests of the images that needn't be analysed again.
    """

    lint: LintRequest
    bases: tuple[Path, ...] = ()
    contents: tuple[Path, ...] = ()
    launch_profiles: Path | None = None
    known: frozenset[str] = frozenset()


class SnapTask:
    """Makes rows; what all of them need is opened once.

    :param until: stack that closes what stays open between the snaps.
    :raises AdvisorError: if a base or content snap can't be read.
    """

    def __init__(self, request: FleetRequest, until: ExitStack) -> None:
        self._known = request.known
        self._profiles = request.launch_profiles
        around = Surroundings.opened(until, request.bases, request.contents)
        self._lint = replace(request.lint, surroundings=around)

    def row(self, snap: Snap) -> Row:
        """Return a snap's row; if it can't be analysed, the row of its error."""
        identity = identity_of(snap)
        try:
            if is_remote(snap.path):
                return self._remote(snap, identity)
            identity["digest"] = file_digest(snap.path)
            if identity["digest"] in self._known:
                return {**identity, KNOWN: True}
            with open_payload(Path(snap.path)) as payload:
                return {**identity, **self._payload_row(payload)}
        except AdvisorError as error:
            return failure(identity, error)
        except OSError as error:
            message = f"Cannot read {snap.path!r}: {error.strerror}"
            return failure(identity, StorageError(message))

    def _remote(self, snap: Snap, identity: dict[str, object]) -> Row:
        """Return the row of a snap in a store, of which only parts are read."""
        file = RemoteFile(snap.path)
        identity["file_bytes"] = file.size_bytes
        image = Image(file)
        identity["digest"] = tables_digest(image)
        if identity["digest"] in self._known:
            return {**identity, KNOWN: True}
        # A path, as all payloads have; the address would lose one of its slashes.
        path = Path(snap.path.partition("://")[2])
        row = self._payload_row(SnapPayload(path, image))
        return {**identity, **row, "read_bytes": file.read_bytes}

    def _payload_row(self, payload: Payload) -> Row:
        """Return the columns of an analysis.

        :raises AdvisorError: if the payload can't be analysed.
        """
        ignore: Callable[[str], None] = lambda _: None  # noqa: E731 # nobody reads it
        snap = payload.snap
        profiles = profiles_of(snap.name, self._profiles)
        loaded = replace(self._lint.loaded, profiles=profiles)
        lint = replace(self._lint, loaded=loaded)
        request = analysis_request(payload, loaded, lint.surroundings)
        request = replace(request, codecs=SHIPPABLE)  # rows have no other's size
        analysis = analyse(payload, request, progress=ignore)
        linted = lint_analysed(payload, lint, analysis, project=None, progress=ignore)
        row = advice_row(analysis, linted, version=snap.version, snap_type=snap.type)
        if not row["kind"] and analysis.launches:  # a recorded launch names none
            app = analysis.launches[0].launch_set.app
            basis = static_launch_set(payload, app).basis
            row["kind"] = basis.kind if basis else None
        return row


def profiles_of(name: str, folder: Path | None) -> tuple[LaunchProfile, ...]:
    """Return the recorded launches of a snap's apps: NAME.json, NAME.APP.json.

    :raises AdvisorError: if one can't be read, or is none.
    """
    if folder is None or "/" in name:  # a hostile name leads nowhere else
        return ()
    files = (folder / f"{name}.json", *folder.glob(f"{escape(name)}.*.json"))
    return tuple(read_profile(path) for path in sorted({*files}) if path.exists())


def identity_of(snap: Snap) -> dict[str, object]:
    """Return the columns known before a snap is opened, and the file's state."""
    return {
        "path": printable(snap.path),
        "file_bytes": snap.file_bytes,
        "file_stamp": snap.stamp,
        "state": snap.state,
        "digest": None,
    }


def failure(identity: Row, error: AdvisorError) -> Row:
    """Return the row of a snap that can't be analysed."""
    message = ". ".join(filter(None, (str(error), error.resolution)))
    return {**identity, "error": message, "error_status": error.retcode}


def file_digest(path: str) -> str:
    """Return the SHA-256 of a file's contents.

    :raises NoInputError: if it can't be read.
    """
    digest = hashlib.sha256()
    try:
        with open_regular(path) as file:
            while chunk := file.read(MIB):
                digest.update(chunk)
    except (OSError, ValueError) as error:
        message = f"Cannot read {path!r}: {getattr(error, 'strerror', error)}"
        raise NoInputError(message, resolution=CHECK_PATH) from error
    return f"sha256:{digest.hexdigest()}"


def print_digests(paths: Sequence[str]) -> None:
    """Print the digests of files; what can't be read ends the process, which says so.

    :raises SystemExit: in that case.
    """
    try:
        sys.stdout.writelines(f"{file_digest(path)}\n" for path in paths)
    except NoInputError as error:
        sys.exit(str(error))
