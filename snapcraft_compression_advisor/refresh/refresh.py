"""What a refresh from one build to the next downloads, by codec."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from ..codecs import SHIPPABLE
from ..core.errors import ToolError
from ..core.frozen import frozen
from ..core.scratch import scratch_directory
from ..core.units import Interval
from ..devices.device import DeviceProfile
from ..payload.layout import check_contents_size
from ..payload.search_work import SearchWork, search_work
from ..payload.source import Payload
from ..trial.result import Progress, TrialResult
from ..trial.sampled import LEAST, Effort, run_sampled_trial
from .apply import ApplyCost, apply_cost
from .builds import check_names, oddities
from .changes import FileChange, find_changes
from .choice import Choice, choices
from .delta import PLAIN, SNAP_AWARE, DeltaFormat, DeltaSize, RefreshSizes
from .estimate import DeltaEstimator, refusal
from .exact import (
    Rebuild,
    check_xdelta3,
    image_of,
    make_plain_delta,
    make_snap_aware_delta,
    rebuild,
)


@frozen
class CodecRefresh:
    """A refresh where both builds are packed with a codec.

    :param full_bytes: of the new image.
    :param full_measured: whether that is the size of an image.
    :param deltas: by format; those that snapd refuses aren't in it.
    :param refusal: why there is no snap-aware delta.
    :param what_if: whether either build isn't packed with this codec.
    :param applying: what it takes to apply each delta, by device.
    :param rebuild: whether the snap-aware delta gives the new image again; ``None``
        where that wasn't tried.
    """

    codec: str
    full_bytes: Interval
    full_measured: bool
    deltas: Mapping[DeltaFormat, DeltaSize]
    refusal: str | None
    what_if: bool
    applying: Mapping[DeltaFormat, Mapping[str, ApplyCost]] = field(
        default_factory=dict
    )
    rebuild: Rebuild | None = None

    @property
    def choices(self) -> Sequence[Choice]:
        """What a device downloads, by what it has set."""
        return tuple(choices(self.full_bytes, self.deltas))


@frozen
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
    """Estimate what a refresh downloads.

    :param codecs: to compare.
    :param trial: of the new build with these, where there is one.
    :raises BadDataError: where the builds are of different snaps.
    :raises ToolError: where a codec isn't available.
    :raises AdvisorError: where a build is broken or changes meanwhile.
    """
    check_names(old, new)
    for payload in (old, new):
        check_contents_size(payload)
    progress("Comparing the contents of both builds")
    estimator = DeltaEstimator(old, new)
    sizes = full_sizes(new, codecs, trial=trial, progress=progress)
    found = {}
    for codec in codecs:
        progress(f"Estimating deltas with {codec}")
        found[codec] = CodecRefresh(
            codec=codec,
            full_bytes=sizes[codec],
            full_measured=new.packed_with == codec,
            deltas=estimator.deltas(codec),
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
            estimator.snap_aware.files,
            {name: each.deltas[PLAIN].files for name, each in found.items()},
        ),
        notes=tuple(oddities(old, new, changed=bool(estimator.snap_aware.files))),
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
        trial = trial or run_sampled_trial(
            new,
            wanted=tuple,
            progress=progress,
            decided=lambda _: True,
            effort=trial_effort(wanted),
        )
        for codec in wanted:
            size = trial.codecs[codec].image_bytes
            if size is None:
                message = f"This machine can't compress with {codec}"
                raise ToolError(
                    message, resolution="Choose another codec with --codec."
                )
            sizes[codec] = size
    return sizes


def trial_effort(codecs: Iterable[str]) -> Effort:
    """Return how closely to look at a build for the sizes of its images."""
    return replace(LEAST, codecs=tuple({*SHIPPABLE, *codecs}))


def with_applying(refresh: Refresh, devices: Sequence[DeviceProfile]) -> Refresh:
    """Return a refresh with what it takes to apply its deltas, estimated.

    :param devices: to apply them on.
    """
    search = search_work(refresh.new)
    codecs = {
        name: replace(codec, applying=_applying(refresh, codec, devices, search))
        for name, codec in refresh.codecs.items()
    }
    return replace(refresh, codecs=codecs)


def _applying(
    refresh: Refresh,
    codec: CodecRefresh,
    devices: Sequence[DeviceProfile],
    search: SearchWork,
) -> dict[DeltaFormat, dict[str, ApplyCost]]:
    old_raw, new_raw = (each.inventory.raw_bytes for each in (refresh.old, refresh.new))
    new_image = codec.full_bytes.mid
    # Of an image that isn't there: as well compressed as the new one.
    old_image = new_image * old_raw / max(1, new_raw)
    if refresh.old.packed_with == codec.codec:
        old_image = refresh.old.path.stat().st_size
    return {
        name: {
            device.name: apply_cost(
                RefreshSizes(
                    old_image_bytes=round(old_image),
                    new_image_bytes=round(new_image),
                    old_raw_bytes=old_raw,
                    new_raw_bytes=new_raw,
                    delta_bytes=delta.size_bytes,
                    coded_share=delta.coded_share,
                    search=search,
                ),
                name,
                codec.codec,
                device,
            )
            for device in devices
        }
        for name, delta in codec.deltas.items()
    }


def measure_refresh(refresh: Refresh, *, progress: Progress) -> Refresh:
    """Make the deltas with xdelta3, as snapd does, and apply the snap-aware ones.

    Images and deltas are written to a temporary directory (``TMPDIR``).

    :returns: the refresh with measured sizes.
    :raises ToolError: where xdelta3 or squashfs-tools are missing or fail.
    :raises StorageError: where the disk is too small.
    """
    check_xdelta3()
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
        sizes[SNAP_AWARE] = make_snap_aware_delta(old, new, delta)
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
