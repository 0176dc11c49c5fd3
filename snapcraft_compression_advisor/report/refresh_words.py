"""Words for what a refresh downloads: the same in text, Markdown and pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..codecs.codec import DATA_BLOCK_BYTES
from ..core.units import format_bytes
from ..lint.figures import DELTA_NAMES, bytes_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..core.units import Interval
    from ..refresh.changes import ChangeKind, FileChange, KindTotal
    from ..refresh.delta import Choice, Condition
    from ..refresh.refresh import CodecRefresh

TITLES = DELTA_NAMES
CONDITIONS: Mapping[Condition, str] = {
    "default": "by default",
    "snap-delta-format": "snap-delta-format",
}
_WITH_FEATURE = (
    "where snapd is 2.75 or later and experimental.snap-delta-format is set, "
)
_LARGE_FILE_BYTES = DATA_BLOCK_BYTES
"""In a plain delta: more than one block of a file."""
CHANGES: Mapping[ChangeKind, str] = {
    "added": "new; no file of the old build resembles it",
    "moved": "the same contents at another path, farther away than xdelta3 looks",
    "changed": "changed",
    "rebuilt": "a program or library that was built again, or another version",
    "archive": "an archive or compressed file whose contents changed",
    "recompressed": "an archive with the same contents as before, compressed again",
    "timestamp": "the same except for some bytes: a timestamp or a build id",
    "cache": "a cache of files that didn't change, made at another time",
    "documentation": "documentation that changed",
}
_REMEDIES: Mapping[ChangeKind, str] = {
    "recompressed": "Build archives reproducibly, or store their members uncompressed: "
    "the image is compressed anyway.",
    "archive": "Store the members of archives uncompressed: the image is compressed "
    "anyway, and a snap-aware delta then has only what changed in each member.",
    "timestamp": "Set SOURCE_DATE_EPOCH for the build, so that equal sources make "
    "equal files.",
    "cache": "Set the times of the sources to SOURCE_DATE_EPOCH before a cache is "
    "made; compile Python with --invalidation-mode unchecked-hash.",
    "documentation": "Leave manual pages and changelogs out of the snap, but keep "
    "licences.",
    "moved": "Keep paths the same from build to build: xdelta3 finds what moved only "
    "within 32 MiB.",
    "rebuilt": "Stage libraries from packages that don't change with each build; pin "
    "the versions of compilers and of what is downloaded.",
    "changed": "Keep what changes often in small files of its own: in a plain delta, "
    "all blocks of a file that follow an inserted byte are new.",
}
EXPLANATION = (
    "A plain delta is made between the images. A snap-aware delta is made between "
    "their unpacked contents, and the device packs the image again. snapd doesn't "
    "compare sizes, but the store discards a delta that is close to the size of the "
    "image."
)


def what_if_text(codec: CodecRefresh) -> str:
    """Return what to say after a codec that the builds aren't packed with."""
    return ", if both were packed with it" if codec.what_if else ""


def origin_of(size: Interval) -> str:
    """Return how a delta's size is known."""
    return "measured" if size.known else "estimated"


def choice_text(choice: Choice, codec: CodecRefresh) -> str:
    """Return what a device downloads, and why it isn't something else."""
    what = "whole image" if choice.download is None else TITLES[choice.download]
    where = "" if choice.condition == "default" else _WITH_FEATURE
    text = f"{where}a device downloads the {what}, {bytes_text(choice.size_bytes)}"
    if choice.reason == "refused":
        return f"{text}: {codec.refusal}"
    if choice.reason == "larger":
        return f"{text}: the delta isn't smaller, so the store discards it"
    if choice.reason == "perhaps-larger":
        return f"{text}, unless the store discards it as too close to the whole image"
    return text


def rebuild_texts(codec: CodecRefresh) -> list[str]:
    """Return what became of the new image when the snap-aware delta was applied."""
    if codec.rebuild is None:
        return []
    if codec.rebuild.equal:
        return [f"With {codec.codec}, the snap-aware delta gives the new image again."]
    how = "wasn't applied" if codec.rebuild.equal is None else "gives another image"
    said = f"With {codec.codec}, the snap-aware delta {how}: {codec.rebuild.reason}."
    if codec.rebuild.equal is False:
        said += " A device would then download the whole image too."
    return [said]


def kind_text(total: KindTotal) -> str:
    """Return what happened to how many files."""
    files = "1 file" if total.files == 1 else f"{total.files:,} files"
    return f"{files}: {CHANGES[total.change]}"


def change_text(change: FileChange) -> str:
    """Return what happened to a file, and where it was."""
    if change.old_path in (None, change.path):
        return CHANGES[change.change]
    return f"{CHANGES[change.change]} (it was {change.old_path})"


def remedy(total: KindTotal) -> str:
    """Return what would make the deltas smaller; empty where nothing is known to."""
    if total.change == "changed":
        most = max((0.0, *total.plain_bytes.values()))
        if most < _LARGE_FILE_BYTES * total.files:
            return ""
    return _REMEDIES.get(total.change, "")


def size_heads(codecs: Mapping[str, object]) -> list[str]:
    """Return the heads of what :func:`size_cells` has."""
    return ["snap-aware", *(f"plain, {codec}" for codec in codecs)]


def size_cells(added: FileChange | KindTotal) -> Iterator[str]:
    """Yield what is added to the snap-aware delta, and to the plain ones."""
    yield format_bytes(added.delta_bytes)
    for size in added.plain_bytes.values():
        yield format_bytes(size)
