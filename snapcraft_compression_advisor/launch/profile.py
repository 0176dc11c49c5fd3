"""A launch set as a file: recorded once, kept beside snapcraft.yaml, used again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import pydantic

from ..core.documents import DocumentKind
from ..core.units import MIB, Interval
from ..payload.inventory import block_count
from ..squashfs.entry import EntryKind
from .guess.priors import GuessedApp, built_in_priors
from .launch_set import WAITED_SHARE, LaunchFile, LaunchSet
from .traced_share import directory_shares, traced_shares

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ..payload.inventory import Inventory

SCHEMA = 1

Share = Annotated[float, pydantic.Field(ge=0, le=1)]
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

    :param user: in user mode.
    :param system: in the kernel; reading an image counts there.
    """

    user: Seconds
    system: Seconds


class RecordedThread(_Model):
    """What the threads of one name did until the cold launch's event.

    :param name: ``(ended)`` are threads and child processes that were gone by then.
    :param read_bytes: that storage delivered for them.
    :param major_faults: page faults that waited for storage.
    """

    name: str
    cpu_s: Seconds
    read_bytes: pydantic.NonNegativeInt
    major_faults: pydantic.NonNegativeInt


class RecordedLaunch(_Model):
    """What was measured while the profile was recorded.

    The cold launch is from an uncompressed image of the payload, so its processor
    time holds no decompression. Both launches are under the same circumstances.

    :param event: what ended the launch, as ``--until`` takes it.
    :param cold_s: from right before exec to the event.
    :param threads: of the cold launch; those that read most come first.
    :param processors: that the launch could use.
    :param kernel: its release.
    :param read_ahead_kb: of the mount; or of the mount whose reads were worked out.
    :param storage: where the image lay: ``memory`` means that reading it cost no
        more than copying it.
    """

    event: str
    cold_s: Seconds | None = None
    warm_s: Seconds | None = None
    cold_cpu_s: CpuTime | None = None
    warm_cpu_s: CpuTime | None = None
    threads: tuple[RecordedThread, ...] = ()
    processors: pydantic.PositiveInt
    kernel: str
    read_ahead_kb: pydantic.NonNegativeInt | None = None
    storage: Literal["memory", "disk"] | None = None


class LaunchProfile(_Model):
    """A launch profile, version 1.

    :param source: by which means it was recorded: ``residency`` (blocks in the page
        cache after a cold launch from a mount), ``directory`` (from the payload's
        directory, by the page cache and page tables) or ``trace`` (blocks read and
        mapped, by system calls); or ``static``, guessed from files.
    :param app: whose launch.
    :param warm_s: seconds of a warm launch where it was recorded, if known.
    :param recorded: what else was measured there, if anything.
    :param files: sorted by path.
    """

    schema_version: Literal[1] = pydantic.Field(alias="schema", default=1)
    source: Literal["residency", "directory", "trace", "static"]
    app: str
    warm_s: Seconds | None = None
    recorded: RecordedLaunch | None = None
    files: tuple[ProfileFile, ...]


PROFILE = DocumentKind(
    model=LaunchProfile,
    name="launch profile",
    max_bytes=16 * MIB,  # larger than a profile of any snap
    broken=f"{{where!r}} is not a launch profile of version {SCHEMA}",
    resolution="Record the launch again with this version of the advisor.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedProfile:
    """A profile as far as it fits a payload.

    :param launch_set: the blocks that are still there.
    :param fitting_share: of the profile's blocks, from 0 to 1.
    :param gone: files that the payload doesn't contain.
    :param changed: files of another size; their blocks are used as far as they reach.
    :param warm_s: of the profile.
    """

    launch_set: LaunchSet
    fitting_share: float
    gone: tuple[str, ...]
    changed: tuple[str, ...]
    warm_s: float | None


def read_profile(path: Path) -> LaunchProfile:
    """Read a launch profile.

    :raises NoInputError: where it isn't there or can't be read.
    :raises BadDataError: where it is no launch profile, or one of another version.
    """
    return PROFILE.parse_json(PROFILE.read(path), where=str(path))


def profile_text(profile: LaunchProfile) -> str:
    """Return a profile as the text of its file, one line a file that is read."""
    head = profile.model_copy(update={"files": ()}).model_dump_json(
        by_alias=True, exclude_none=True
    )
    lines = ",\n".join(
        f"  {file.model_dump_json(exclude_none=True)}" for file in profile.files
    )
    return f"{head.removesuffix('[]}')}[\n{lines}\n]}}\n"


def guessed_profile(launch_set: LaunchSet) -> LaunchProfile:
    """Return a guessed launch set as a profile, to be read, corrected and compared.

    Files whose names aren't UTF-8 are left out, as of recorded launches: JSON has no
    such names.
    """
    return LaunchProfile(
        source="static",
        app=launch_set.app,
        files=tuple(
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
    """Tell whether a profile, which is JSON, can hold a name."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def fit_profile(profile: LaunchProfile, inventory: Inventory) -> FittedProfile:
    """Find a profile's blocks in a payload, which may be a newer one.

    :param inventory: of the payload.
    """
    known = sorted(profile.files, key=lambda file: file.path)
    gone = tuple(file.path for file in known if not _is_there(inventory, file.path))
    changed = tuple(
        file.path
        for file in known
        if file.path not in gone
        and inventory.entries[file.path].size_bytes != file.size
    )
    files = tuple(_fitting_files(known, inventory))
    recorded = sum(last - first + 1 for file in known for first, last in file.blocks)
    fitting = sum(file.block_count for file in files)
    read_share = seek_share = Interval.exactly(1.0)
    if profile.source == "static":
        read_share, seek_share = built_in_priors().shares(
            files,
            GuessedApp(
                kind="",  # a profile doesn't say, nor what the guess was blind to
                payload_blocks=inventory.data_blocks,
                payload_files=inventory.file_count,
                modules_missed=True,
            ),
        )
    elif profile.source == "trace":
        read_share, seek_share = traced_shares(files)
    elif profile.source == "directory":
        read_share, seek_share = directory_shares(files)
    return FittedProfile(
        launch_set=LaunchSet(
            app=profile.app,
            source="static" if profile.source == "static" else "recorded",
            method=None if profile.source == "static" else profile.source,
            files=files,
            read_share=read_share,
            seek_share=seek_share,
            waited_share=waited_share(profile.recorded),
        ),
        fitting_share=fitting / recorded if recorded else 1.0,
        gone=gone,
        changed=changed,
        warm_s=profile.warm_s,
    )


def waited_share(recorded: RecordedLaunch | None) -> Interval:
    """Return what of the work on its blocks a recorded launch waits for.

    A launch from an uncompressed image that keeps more than one processor busy does
    that much of its work side by side, and goes on with it while a block is
    decompressed for one of its threads. Where that wasn't recorded, it is as for a
    launch that is guessed.
    """
    if recorded is None or recorded.cold_cpu_s is None or not recorded.cold_s:
        return WAITED_SHARE
    busy_s = recorded.cold_cpu_s.user + recorded.cold_cpu_s.system
    return Interval.exactly(1 / max(1.0, busy_s / recorded.cold_s))


def _fitting_files(
    files: list[ProfileFile], inventory: Inventory
) -> Iterator[LaunchFile]:
    """Yield what is left of each file; hard links to one file count once."""
    seen: set[int] = set()
    for file in files:
        if not _is_there(inventory, file.path):
            continue
        entry = inventory.entries[file.path]
        blocks = tuple(_within(file.blocks, block_count(entry.size_bytes)))
        if blocks and entry.identity not in seen:
            seen.add(entry.identity)
            yield LaunchFile(
                path=file.path,
                size_bytes=entry.size_bytes,
                blocks=blocks,
                shares=(file.shares or ())[: len(blocks)],
            )


def _within(blocks: tuple[BlockRange, ...], count: int) -> Iterator[tuple[int, int]]:
    for first, last in blocks:
        if first < count:
            yield first, min(last, count - 1)


def _is_there(inventory: Inventory, path: str) -> bool:
    entry = inventory.entries.get(path)
    return entry is not None and entry.kind is EntryKind.FILE
