"""What a refresh from one build to the next downloads, by codec."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import ToolError
from ..core.scratch import scratch_directory
from ..core.units import MIB, Interval
from ..payload.source import Payload, SnapPayload, open_payload
from ..trial.exact import pack_with
from ..trial.result import Progress, TrialResult
from .changes import FileChange, find_changes
from .delta import PLAIN, SNAP_AWARE, Choice, DeltaFormat, DeltaSize, choices
from .estimate import Builds, DeltaMaker
from .xdelta3 import Rebuild, rebuild

SMALL_BYTES = 32 * MIB
"""Files of builds that are packed in any case. That takes some seconds, and estimating
deltas of so little takes as long."""
_INSTALL = "Install squashfs-tools, liblzma5 and liblzo2-2."


@dataclass(frozen=True, slots=True, kw_only=True)
class CodecRefresh:
    """A refresh if both builds are packed with a codec.

    :param full_bytes: size of the new image.
    :param deltas: by format, without one that snapd refuses.
    :param what_if: whether either build isn't packed with this codec.
    :param rebuild: whether the snap-aware delta gives the new image again; ``None``
        if that wasn't tried.
    """

    codec: str
    full_bytes: Interval
    deltas: Mapping[DeltaFormat, DeltaSize]
    what_if: bool
    rebuild: Rebuild | None = None

    @property
    def refusal(self) -> str | None:
        """Why there is no snap-aware delta."""
        if SNAP_AWARE in self.deltas:
            return None
        return (
            f"images with {self.codec} and compressor options have no snap-aware delta"
        )

    @property
    def choices(self) -> Sequence[Choice]:
        """What a device downloads, by what it has set."""
        return tuple(choices(self.full_bytes, self.deltas))


@dataclass(frozen=True, slots=True, kw_only=True)
class Refresh:
    """A refresh from one build to another.

    :param codecs: by name.
    :param files: that add to any of the deltas, those that add most first.
    :param notes: what a reader should know of the two builds.
    :param is_needed: whether the builds differ, so that a device downloads anything.
    """

    old: Payload
    new: Payload
    codecs: Mapping[str, CodecRefresh]
    files: Sequence[FileChange]
    notes: Sequence[str]
    is_needed: bool = True


def compare_refresh(  # noqa: PLR0913 # keywords, but for the first three
    old: Payload,
    new: Payload,
    codecs: Sequence[str],
    *,
    trial: TrialResult,
    exact: bool = False,
    progress: Progress,
) -> Refresh:
    """Return the download of a refresh with each codec.

    :param codecs: those that may ship, and what-ifs.
    :param trial: of the new build.
    :param exact: whether to pack both builds with each codec, and the new image again
        as a device does after a snap-aware delta; else sizes are estimated, unless
        both builds are small.
    :raises BadDataError: if the builds are of different snaps.
    :raises ToolError: if a codec, xdelta3 or squashfs-tools isn't available, or fails.
    :raises StorageError: if the disk is too small.
    :raises AdvisorError: if a build is broken or changes meanwhile.
    """
    progress("Making deltas")
    maker = DeltaMaker(old, new)
    largest_bytes = max(each.inventory.raw_bytes for each in (old, new))
    is_packed = exact or largest_bytes <= SMALL_BYTES
    found = {}
    for codec in codecs:
        with ExitStack() as until:
            builds, scratch, rebuilt = (old, new), None, None
            if is_packed:
                with suppress(*() if exact else (ToolError,)):
                    packed = _packed(builds, codec, progress)
                    builds, scratch = until.enter_context(packed)
            deltas = maker.deltas(codec, builds)
            if exact and scratch is not None and SNAP_AWARE in deltas:
                progress(f"Packing the new image again as a device does with {codec}")
                rebuilt = rebuild(builds[1].path, scratch)
            found[codec] = CodecRefresh(
                codec=codec,
                full_bytes=_full_bytes(builds[1], codec, trial),
                deltas=deltas,
                what_if=(old.packed_with, new.packed_with) != (codec, codec),
                rebuild=rebuilt,
            )
    return Refresh(
        old=old,
        new=new,
        codecs=found,
        files=find_changes(
            old,
            new,
            maker.snap_aware.files,
            {name: each.deltas[PLAIN].files for name, each in found.items()},
        ),
        notes=tuple(oddities(old, new, changed=bool(maker.snap_aware.files))),
        is_needed=not maker.nothing_to_download,
    )


@contextmanager
def _packed(
    builds: Builds, codec: str, progress: Progress
) -> Iterator[tuple[Builds, Path]]:
    """Give both builds as images with a codec, and the directory that these are in."""
    raw_bytes = [each.inventory.raw_bytes for each in builds]
    with ExitStack() as until:
        scratch = until.enter_context(
            scratch_directory(
                # Both images, unpacked, the contents and the image packed again.
                needed_bytes=2 * sum(raw_bytes) + 2 * max(raw_bytes),
            )
        )
        images = []
        for number, build in enumerate(builds):
            folder = scratch / f"{number}"
            folder.mkdir()
            image: Path | None = build.path
            if build.packed_with != codec:
                ((_, image),) = pack_with((codec,), build, folder, progress)
            if image is None:
                message = f"mksquashfs can't pack with {codec}"
                raise ToolError(message, resolution=_INSTALL)
            images.append(until.enter_context(open_payload(image)))
        yield (images[0], images[1]), scratch


def _full_bytes(new: Payload, codec: str, trial: TrialResult) -> Interval:
    """Return the size of the new image: that of a built one is known."""
    if new.packed_with == codec:
        return Interval.exactly(new.path.stat().st_size)
    size = trial.codecs[codec].image_bytes
    if size is None:
        message = f"This machine can't compress with {codec}"
        raise ToolError(message, resolution=_INSTALL)
    return size


def oddities(old: Payload, new: Payload, *, changed: bool) -> Iterator[str]:
    """Yield what a reader should know of two builds, each without its full stop.

    They may have been swapped, or be for different devices.

    :param changed: whether the contents of any file differ.
    """
    if isinstance(old, SnapPayload) and isinstance(new, SnapPayload):
        before_s, now_s = (e.image.superblock.modified_s for e in (old, new))
        if 0 < now_s < before_s:
            yield (
                "The new build was packed before the old one. Check their order: the "
                "old build comes first"
            )
    one, other = set(old.snap.architectures), set(new.snap.architectures)
    if one and other and "all" not in one | other and not one & other:
        yield (
            f"The old build is for {', '.join(sorted(one))}, the new one for "
            f"{', '.join(sorted(other))}: no device refreshes from one to the other"
        )
    if old.packed_with and new.packed_with and old.packed_with != new.packed_with:
        yield (
            f"The old build is packed with {old.packed_with}, the new one with "
            f"{new.packed_with}. The figures are for two builds of the same codec. "
            "At this one refresh, a plain delta holds nearly the whole image; a "
            "snap-aware delta is as large as between two builds of the same codec"
        )
    if not changed:
        yield "The contents of all files are the same in both builds"
