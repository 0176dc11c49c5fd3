"""What a refresh from one build to the next downloads, by codec."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..core.errors import ToolError
from ..core.scratch import scratch_directory
from ..core.units import Interval
from ..payload.source import Payload
from ..trial.exact import pack_with
from ..trial.result import Progress, TrialResult
from ..trial.sampled import run_sampled_trial
from .builds import check_names, oddities
from .changes import FileChange, find_changes
from .delta import PLAIN, SNAP_AWARE, Choice, DeltaFormat, DeltaSize, choices
from .estimate import DeltaMaker, refusal
from .xdelta3 import Rebuild, make_delta_of_images, make_plain_delta, rebuild


@dataclass(frozen=True, slots=True, kw_only=True)
class CodecRefresh:
    """A refresh if both builds are packed with a codec.

    :param full_bytes: of the new image.
    :param full_measured: whether that is the size of an image.
    :param deltas: by format; those that snapd refuses aren't in it.
    :param refusal: why there is no snap-aware delta.
    :param what_if: whether either build isn't packed with this codec.
    :param rebuild: whether the snap-aware delta gives the new image again; ``None``
        if that wasn't tried.
    """

    codec: str
    full_bytes: Interval
    full_measured: bool
    deltas: Mapping[DeltaFormat, DeltaSize]
    refusal: str | None
    what_if: bool
    rebuild: Rebuild | None = None

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
    """

    old: Payload
    new: Payload
    codecs: Mapping[str, CodecRefresh]
    files: Sequence[FileChange]
    notes: Sequence[str]


def compare_refresh(
    old: Payload,
    new: Payload,
    codecs: Sequence[str],
    *,
    trial: TrialResult | None = None,
    progress: Progress,
) -> Refresh:
    """Return what a refresh downloads.

    :param codecs: to compare.
    :param trial: of the new build with these, if there is one.
    :raises BadDataError: if the builds are of different snaps.
    :raises ToolError: if a codec or xdelta3 isn't available.
    :raises AdvisorError: if a build is broken or changes meanwhile.
    """
    check_names(old, new)
    progress("Making deltas")
    maker = DeltaMaker(old, new)
    sizes = full_sizes(new, codecs, trial=trial, progress=progress)
    found = {}
    for codec in codecs:
        found[codec] = CodecRefresh(
            codec=codec,
            full_bytes=sizes[codec],
            full_measured=new.packed_with == codec,
            deltas=maker.deltas(codec),
            refusal=refusal(new, codec),
            what_if=(old.packed_with, new.packed_with) != (codec, codec),
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
    )


def full_sizes(
    new: Payload,
    codecs: Sequence[str],
    *,
    trial: TrialResult | None,
    progress: Progress,
) -> dict[str, Interval]:
    """Return the sizes of the new image: that of a built one is known."""
    sizes = {}
    if new.packed_with in codecs:
        sizes[str(new.packed_with)] = Interval.exactly(new.path.stat().st_size)
    wanted = [codec for codec in codecs if codec not in sizes]
    if wanted:
        trial = trial or run_sampled_trial(new, progress=progress)
        for codec in wanted:
            size = trial.codecs[codec].image_bytes
            if size is None:
                message = f"This machine can't compress with {codec}"
                raise ToolError(
                    message, resolution="Choose another codec with --codec."
                )
            sizes[codec] = size
    return sizes


def measure_refresh(refresh: Refresh, *, progress: Progress) -> Refresh:
    """Make the deltas with xdelta3, as snapd does, and apply the snap-aware ones.

    Images and deltas are written to a temporary directory (``TMPDIR``).

    :returns: the refresh with measured sizes.
    :raises ToolError: if xdelta3 or squashfs-tools are missing or fail.
    :raises StorageError: if the disk is too small.
    """
    codecs = {}
    for name, codec in refresh.codecs.items():
        with scratch_directory(
            resolution="Set TMPDIR to a directory on a larger disk that you can "
            "write to.",
            needed_bytes=_needed_bytes(refresh),
            needs="making deltas needs up to",
        ) as scratch:
            codecs[name] = _measured(refresh, codec, scratch, progress)
    return replace(refresh, codecs=codecs)


def _needed_bytes(refresh: Refresh) -> int:
    """Return what both images, unpacked, the deltas and the rebuilt image take."""
    both = (refresh.old.inventory.raw_bytes, refresh.new.inventory.raw_bytes)
    return 2 * sum(both) + 2 * max(both)


def _measured(
    refresh: Refresh, codec: CodecRefresh, scratch: Path, progress: Progress
) -> CodecRefresh:
    images = []
    for name, payload in (("old", refresh.old), ("new", refresh.new)):
        (scratch / name).mkdir()
        images.append(image_of(payload, codec.codec, scratch / name, progress))
    old, new = images
    delta = scratch / "delta"
    progress(f"Making the plain delta with {codec.codec}")
    sizes = {PLAIN: make_plain_delta(old, new, delta)}
    rebuilt = None
    if SNAP_AWARE in codec.deltas:
        progress(f"Making the snap-aware delta with {codec.codec}")
        sizes[SNAP_AWARE] = make_delta_of_images(old, new, delta)
        progress(f"Applying the snap-aware delta with {codec.codec}")
        rebuilt = rebuild(old, new, delta, scratch / "rebuilt")
    return replace(
        codec,
        full_bytes=Interval.exactly(new.stat().st_size),
        full_measured=True,
        rebuild=rebuilt,
        deltas={
            name: replace(delta, size_bytes=Interval.exactly(sizes[name]))
            for name, delta in codec.deltas.items()
        },
    )


def image_of(payload: Payload, codec: str, scratch: Path, progress: Progress) -> Path:
    """Return a payload's image with a codec: its own, or one that is packed.

    :param scratch: an empty directory, to pack it in.
    :raises ToolError: if mksquashfs is missing, fails or lacks the codec.
    """
    if payload.packed_with == codec:
        return payload.path
    for _, image in pack_with((codec,), payload, scratch, progress):
        if image is not None:
            return image
    message = f"mksquashfs can't pack with {codec}"
    raise ToolError(message, resolution="Choose another codec with --codec.")
