"""What a refresh from one build to the next downloads, by codec."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..core.errors import ToolError
from ..core.scratch import scratch_directory
from ..core.units import Interval
from ..payload.source import Payload, SnapPayload
from ..trial.exact import pack_with
from ..trial.result import Progress, TrialResult
from ..trial.sampled import run_sampled_trial
from .changes import FileChange, find_changes
from .delta import PLAIN, SNAP_AWARE, Choice, DeltaFormat, DeltaSize, choices
from .estimate import DeltaMaker, refusal
from .xdelta3 import Rebuild, make_plain_delta, rebuild

_SAME = "Both builds are the same: a device that has the old one downloads nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodecRefresh:
    """A refresh if both builds are packed with a codec.

    :param full_bytes: size of the new image.
    :param full_measured: whether that isn't an estimate.
    :param deltas: by format, without one that snapd refuses.
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
    :param is_needed: whether the builds differ, so that a device downloads anything.
    """

    old: Payload
    new: Payload
    codecs: Mapping[str, CodecRefresh]
    files: Sequence[FileChange]
    notes: Sequence[str]
    is_needed: bool = True


def compare_refresh(
    old: Payload,
    new: Payload,
    codecs: Sequence[str],
    *,
    trial: TrialResult | None = None,
    progress: Progress,
) -> Refresh:
    """Return the download of a refresh.

    :param trial: of the new build with these codecs, if there is one.
    :raises BadDataError: if the builds are of different snaps.
    :raises ToolError: if a codec or xdelta3 isn't available.
    :raises AdvisorError: if a build is broken or changes meanwhile.
    """
    progress("Making deltas")
    maker = DeltaMaker(old, new)
    sizes = _full_sizes(new, codecs, trial, progress)
    found = {
        codec: CodecRefresh(
            codec=codec,
            full_bytes=sizes[codec],
            full_measured=new.packed_with == codec,
            deltas=maker.deltas(codec),
            refusal=refusal(new, codec),
            what_if=(old.packed_with, new.packed_with) != (codec, codec),
        )
        for codec in codecs
    }
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
        notes=(_SAME,)
        if maker.nothing_to_download
        else tuple(oddities(old, new, changed=bool(maker.snap_aware.files))),
        is_needed=not maker.nothing_to_download,
    )


def _full_sizes(
    new: Payload, codecs: Sequence[str], trial: TrialResult | None, progress: Progress
) -> dict[str, Interval]:
    """Return the sizes of the new image: that of a built one is known."""
    sizes = {}
    for codec in codecs:
        if new.packed_with == codec:
            sizes[codec] = Interval.exactly(new.path.stat().st_size)
            continue
        trial = trial or run_sampled_trial(new, progress=progress)
        size = trial.codecs[codec].image_bytes
        if size is None:
            message = f"This machine can't compress with {codec}"
            raise ToolError(message, resolution="Choose another codec with --codec.")
        sizes[codec] = size
    return sizes


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


def measure_refresh(refresh: Refresh, *, progress: Progress) -> Refresh:
    """Pack both builds with each codec, and make the plain deltas of the images.

    The snap-aware delta is known already; the new image is packed again as a device
    does after it. Images are written to a temporary directory (``TMPDIR``).

    :returns: the refresh with measured sizes.
    :raises ToolError: if xdelta3 or squashfs-tools are missing or fail.
    :raises StorageError: if the disk is too small.
    """
    raw_bytes = [each.inventory.raw_bytes for each in (refresh.old, refresh.new)]
    codecs = {}
    for name, codec in refresh.codecs.items():
        with scratch_directory(
            resolution="Set TMPDIR to a directory on a larger disk that you can "
            "write to.",
            # Both images, unpacked, the contents and the image packed again.
            needed_bytes=2 * sum(raw_bytes) + 2 * max(raw_bytes),
            needs="making deltas needs up to",
        ) as scratch:
            codecs[name] = _measured(refresh, codec, scratch, progress)
    return replace(refresh, codecs=codecs)


def _measured(
    refresh: Refresh, codec: CodecRefresh, scratch: Path, progress: Progress
) -> CodecRefresh:
    images = []
    for name, payload in (("old", refresh.old), ("new", refresh.new)):
        (scratch / name).mkdir()
        images.append(_image_of(payload, codec.codec, scratch / name, progress))
    old, new = images
    deltas = dict(codec.deltas)
    if refresh.is_needed:
        progress(f"Making the plain delta with {codec.codec}")
        size = Interval.exactly(make_plain_delta(old, new, scratch / "delta"))
        deltas[PLAIN] = replace(deltas[PLAIN], size_bytes=size)
    rebuilt = None
    if SNAP_AWARE in deltas:
        progress(f"Packing the new image again as a device does with {codec.codec}")
        rebuilt = rebuild(new, scratch)
    return replace(
        codec,
        full_bytes=Interval.exactly(new.stat().st_size),
        full_measured=True,
        rebuild=rebuilt,
        deltas=deltas,
    )


def _image_of(payload: Payload, codec: str, scratch: Path, progress: Progress) -> Path:
    """Return a payload's image with a codec: its own, or one packed in a directory."""
    if payload.packed_with == codec:
        return payload.path
    ((_, image),) = pack_with((codec,), payload, scratch, progress)
    if image is None:
        message = f"mksquashfs can't pack with {codec}"
        raise ToolError(message, resolution="Choose another codec with --codec.")
    return image
