"""A launch set as a file: recorded once, kept beside snapcraft.yaml, used again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import pydantic

from ..core.documents import DocumentKind
from ..core.terminal import printable
from ..core.units import MIB
from ..devices.device import Decompressors, FileMode
from ..payload.stack import Role
from .launch_set import LaunchSet, WindowEnd

if TYPE_CHECKING:
    from pathlib import Path


SCHEMAS = (1, 2)

Share = Annotated[float, pydantic.Field(ge=0, le=1)]
Text = Annotated[str, pydantic.AfterValidator(printable)]
BlockRange = tuple[pydantic.NonNegativeInt, pydantic.NonNegativeInt]


def _ascending(blocks: tuple[BlockRange, ...]) -> tuple[BlockRange, ...]:
    end = -1
    for first, last in blocks:
        if not end < first <= last:
            message = f"block range {first} to {last} isn't in ascending order"
            raise ValueError(message)
        end = last
    return blocks


def _relative(path: str) -> str:
    if path.startswith("/") or ".." in path.split("/"):
        message = f"{path!r} isn't a relative path inside the payload"
        raise ValueError(message)
    return path


class _Model(pydantic.BaseModel):
    # Built where a file is read: most runs read none.
    model_config = pydantic.ConfigDict(
        defer_build=True, extra="forbid", frozen=True, populate_by_name=True
    )


class ProfileFile(_Model):
    """What a launch reads of one file."""

    path: Annotated[str, pydantic.AfterValidator(_relative)]
    size: pydantic.NonNegativeInt
    blocks: Annotated[tuple[BlockRange, ...], pydantic.AfterValidator(_ascending)] = (
        pydantic.Field(description="128 KiB blocks, first and last, both included")
    )
    shares: tuple[Share, ...] | None = pydantic.Field(
        default=None,
        description="of each range, the share of its blocks that is expected to be "
        "read; all of them if missing. In a trace, blocks that were read have a share "
        "of 1, and blocks that were only mapped have less",
    )

    @pydantic.model_validator(mode="after")
    def _one_share_a_range(self) -> ProfileFile:
        if self.shares is not None and len(self.shares) != len(self.blocks):
            message = f"{len(self.shares)} shares for {len(self.blocks)} ranges"
            raise ValueError(message)
        return self


Seconds = Annotated[float, pydantic.Field(ge=0)]


class CpuTime(_Model):
    """Processor time of all processes of a launch, seconds.

    :param system: in the kernel; reading an image counts there.
    """

    user: Seconds
    system: Seconds


_EARLIER = pydantic.Field(default=None, description="in recordings of earlier versions")


class RecordedKernel(_Model):
    """How the kernel of a recording reads squashfs.

    :param file_mode: where it decompresses a block; see :mod:`..devices.device`.
    :param decompressors: of a mount.
    """

    file_mode: FileMode
    decompressors: Decompressors


class RecordedLaunch(_Model):
    """What was measured while the profile was recorded.

    The cold launch is from an uncompressed image of the payload, so its processor
    time holds no decompression; that of an installed snap is from its own image. Both
    launches are under the same circumstances.

    :param event: what ended the launch, as ``--until`` takes it.
    :param window: if a window ended it, what that showed in the cold launch:
        ``drawn`` (content; then reading paused), ``early`` (the same, but far less was
        read than the files suggest), ``reading`` (content; reading went on) or
        ``blank`` (one color up to the time limit).
    :param cold_s: from right before exec to the event.
    :param processors: that the launch could use.
    :param kernel: its release.
    :param read_ahead_kb: of the mount; or of the mount whose reads were worked out.
    :param storage: where the image lay: ``memory`` means that reading it cost no
        more than copying it.
    """

    event: Text
    window: WindowEnd | None = None
    cold_s: Seconds | None = None
    warm_s: Seconds | None = None
    cold_cpu_s: CpuTime | None = None
    warm_cpu_s: CpuTime | None = None
    threads: tuple[dict[str, str | float], ...] | None = _EARLIER
    processors: pydantic.PositiveInt
    kernel: Text
    kernel_modes: RecordedKernel | None = None
    read_ahead_kb: pydantic.NonNegativeInt | None = None
    storage: Literal["memory", "disk"] | None = None
    parts: tuple[dict[str, str | float], ...] | None = _EARLIER
    warm_parts: tuple[dict[str, str | float], ...] | None = _EARLIER


class ProfilePayload(_Model):
    """What a launch of an installed snap reads of one of the snaps under it.

    :param name: without an instance's key.
    :param revision: as snapd numbers it (``x1`` if it isn't from the store).
    :param files: sorted by path, paths as in that snap.
    """

    role: Role
    name: Text
    revision: Text | None = None
    image_bytes: pydantic.NonNegativeInt | None = None
    codec: Text | None = None
    files: tuple[ProfileFile, ...]


class LaunchProfile(_Model):
    """A launch profile: of the app's own payload, or of all snaps under it.

    :param source: by which means it was recorded: ``residency`` (blocks in the page
        cache after a cold launch from a mount), or ``directory``
        (from the payload's directory, by the page cache and page tables); or
        ``static``, guessed from files.
    :param warm_s: seconds of a warm launch, if one was recorded.
    :param recorded: what else was measured, if anything.
    """

    schema_version: Literal[1, 2] = pydantic.Field(alias="schema", default=1)
    source: Literal["residency", "directory", "static"]
    app: Text
    warm_s: Seconds | None = None
    recorded: RecordedLaunch | None = None
    app_files: tuple[ProfileFile, ...] | None = pydantic.Field(
        alias="files",
        default=None,
        description="schema 1: of the app's own payload, sorted by path",
    )
    payloads: tuple[ProfilePayload, ...] | None = pydantic.Field(
        default=None,
        description="schema 2: of each snap that the launch read from, the app's own "
        "first",
    )

    @property
    def files(self) -> tuple[ProfileFile, ...]:
        """What the launch reads of the app's own payload."""
        return self.payloads[0].files if self.payloads else self.app_files or ()

    @pydantic.model_validator(mode="after")
    def _as_its_schema_has_it(self) -> LaunchProfile:
        has = self.app_files is not None, self.payloads is not None
        if has != (self.schema_version == 1, self.schema_version > 1):
            message = f"schema {self.schema_version} has no such lists of files"
            raise ValueError(message)
        roles = [each.role for each in self.payloads or ()]
        if self.payloads is not None and (
            roles[:1] != ["app"] or roles.count("app") > 1
        ):
            message = "the app's own payload isn't the first, or there is another"
            raise ValueError(message)
        return self


PROFILE = DocumentKind(
    model=LaunchProfile,
    name="launch profile",
    max_bytes=16 * MIB,  # larger than a profile of any snap
    broken="{where!r} is not a launch profile of version "
    + " or ".join(map(str, SCHEMAS)),
    resolution="Record the launch again with this version of the advisor.",
)


def read_profile(path: Path) -> LaunchProfile:
    """Read a launch profile.

    :raises NoInputError: if it isn't there or can't be read.
    :raises BadDataError: if it is no launch profile, or one of another version.
    """
    return PROFILE.parse_json(PROFILE.read(path), where=str(path))


def profile_text(profile: LaunchProfile) -> str:
    """Return a profile as the text of its file, one line a file that is read."""
    if profile.payloads is None:
        head = profile.model_copy(update={"app_files": ()})
        return f"{_with_files(head, profile.files)}\n"
    head_text = _json(profile.model_copy(update={"payloads": ()}))
    payloads = ",\n".join(
        _with_files(each.model_copy(update={"files": ()}), each.files)
        for each in profile.payloads
    )
    return f"{head_text.removesuffix('[]}')}[\n{payloads}\n]}}\n"


def _with_files(head: _Model, files: tuple[ProfileFile, ...]) -> str:
    """Return a model whose list of files is last and empty, with these in it."""
    lines = ",\n".join(f"  {_json(file)}" for file in files)
    return f"{_json(head).removesuffix('[]}')}[\n{lines}\n]}}"


def _json(model: _Model) -> str:
    return model.model_dump_json(by_alias=True, exclude_none=True)


def guessed_profile(launch_set: LaunchSet) -> LaunchProfile:
    """Return a guessed launch set as a profile, to be read, corrected and compared.

    Files whose names aren't UTF-8 are left out, as of recorded launches: JSON has no
    such names.
    """
    return LaunchProfile(
        source="static",
        app=launch_set.app,
        app_files=tuple(
            ProfileFile(
                path=file.path,
                size=file.size_bytes,
                blocks=file.blocks,
                shares=file.shares or None,
            )
            for file in launch_set.files
            if is_utf8(file.path)
        ),
    )


def is_utf8(path: str) -> bool:
    """Return whether a profile, which is JSON, can hold a name."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
