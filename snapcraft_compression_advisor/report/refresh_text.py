"""What a refresh downloads, as text and as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.printable import printable
from ..core.units import format_bytes
from ..lint.figures import bytes_text, seconds_text
from ..refresh.delta import DELTA_FORMATS, DeltaFormat
from .lines import COLUMNS, wrapped
from .markdown_report import code_span, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ..core.units import Interval
    from ..refresh.changes import ChangeKind, FileChange
    from ..refresh.refresh import CodecRefresh, Refresh

LISTED_FILES = 12
"""Files that a report for people lists; the JSON has more."""
_NO_DELTA = "snapd makes none"
TITLES = {"xdelta3": "plain delta", "snap-1-1-xdelta3": "snap-aware delta"}

CHANGES: Mapping[ChangeKind, str] = {
    "added": "new; no file of the old build resembles it",
    "moved": "moved or renamed, and changed",
    "changed": "changed",
    "recompressed": "an archive with the same contents as before, compressed again",
    "timestamp": "the same but for some bytes: a timestamp or a build id",
}
_REMEDIES: Mapping[ChangeKind, str] = {
    "recompressed": "Build archives reproducibly, or store them uncompressed: the "
    "image is compressed anyway.",
    "timestamp": "Set SOURCE_DATE_EPOCH for the build, so that equal sources make "
    "equal files.",
    "moved": "Keep paths the same from build to build: xdelta3 finds what moved only "
    "within 32 MiB.",
}
EXPLANATION = (
    "A plain delta is made between the images. A snap-aware delta is made between "
    "their unpacked contents, and the device packs the image again; snapd 2.75 and "
    "later ask for it where experimental.snap-delta-format is set. Seconds, memory (on "
    "a device with 4 GiB) and disk space to apply a delta are estimated."
)


def render_refresh_text(refresh: Refresh) -> str:
    """Return a refresh for people, in 80 columns."""
    old, new = (printable(str(each.path)) for each in (refresh.old, refresh.new))
    name = printable(refresh.new.snap.name)
    lines = [name, f"  old: {old}", f"  new: {new}"]
    for codec in refresh.codecs.values():
        lines += ["", f"{codec.codec}{what_if_text(codec)}"]
        for label, text in _rows(codec):
            lines += wrapped(text, first=f"  {label:<18}", rest=" " * 20)
        for said in rebuild_texts(codec):
            lines += wrapped(printable(said), first="  ", rest="  ")
    lines += ["", *wrapped(EXPLANATION)]
    if refresh.files:
        lines += ["", "Files that add most to the snap-aware delta (estimated)"]
        for change in refresh.files[:LISTED_FILES]:
            lines += _file_lines(change)
        lines += [""] * bool(remedies(refresh))
        for remedy in remedies(refresh):
            lines += wrapped(remedy, rest="  ")
    for note in refresh.notes:
        lines += ["", *wrapped(printable(note) + ".")]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def render_refresh_markdown(refresh: Refresh) -> str:
    """Return a refresh as Markdown, for a pull request."""
    old, new = (code_span(str(each.path)) for each in (refresh.old, refresh.new))
    heads = ["", "full download", *(TITLES[each] for each in DELTA_FORMATS)]
    lines = [f"### Refresh of {plain(refresh.new.snap.name)}", "", f"{old} to {new}"]
    lines += ["", f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for codec in refresh.codecs.values():
        rows = _merged(_rows(codec))
        cells = [f"{codec.codec}{what_if_text(codec)}", *rows]
        lines.append(f"| {' | '.join(map(plain, cells))} |")
    lines += ["", EXPLANATION]
    for codec in refresh.codecs.values():
        lines += [line for said in rebuild_texts(codec) for line in ("", plain(said))]
    if refresh.files:
        lines += ["", "| file | snap-aware delta, estimated | what happened |"]
        lines += ["|---|---|---|"]
        lines += [
            f"| {code_span(each.path)} | {format_bytes(each.delta_bytes)} | "
            f"{plain(CHANGES[each.change])} |"
            for each in refresh.files[:LISTED_FILES]
        ]
    lines += [line for remedy in remedies(refresh) for line in ("", plain(remedy))]
    lines += [line for note in refresh.notes for line in ("", plain(note + "."))]
    return "\n".join(lines) + "\n"


def _merged(rows: Iterable[tuple[str, str]]) -> list[str]:
    """Return a text for each row with a label, those without added to the last."""
    texts: list[str] = []
    for label, text in rows:
        if label:
            texts.append(text)
        else:
            texts[-1] += f"; {text}"
    return texts


def what_if_text(codec: CodecRefresh) -> str:
    """Return what to say after a codec that the builds aren't packed with."""
    return ", if both were packed with it" if codec.what_if else ""


def _rows(codec: CodecRefresh) -> Iterator[tuple[str, str]]:
    full = codec.full_bytes
    origin = "measured" if codec.full_measured else "estimated"
    yield "full download", f"{bytes_text(full)}, {origin}"
    for name in DELTA_FORMATS:
        delta = codec.deltas.get(name)
        if delta is None:
            yield TITLES[name], f"{_NO_DELTA}: {codec.refusal}"
            continue
        size = delta.size_bytes
        share = size.mid / full.mid if full.mid else 0.0
        text = f"{bytes_text(size)}, {origin_of(size)}, {share:.0%} of the image"
        yield TITLES[name], text
        yield from _applying(codec, name)


def _applying(codec: CodecRefresh, name: DeltaFormat) -> Iterator[tuple[str, str]]:
    """Yield what it takes to apply a delta."""
    costs = codec.applying.get(name, {})
    for device, cost in costs.items():
        yield "", f"applied in {seconds_text(cost.seconds)} on {printable(device)}"
    if costs:
        memory = max(cost.memory_bytes for cost in costs.values())
        disk = max(cost.disk_bytes for cost in costs.values())
        yield "", f"with {format_bytes(memory)} of memory, {format_bytes(disk)} of disk"


def rebuild_texts(codec: CodecRefresh) -> list[str]:
    """Return what became of the new image when the snap-aware delta was applied."""
    if codec.rebuild is None:
        return []
    if codec.rebuild.equal:
        return [f"With {codec.codec}, the snap-aware delta gives the new image again."]
    how = "wasn't applied" if codec.rebuild.equal is None else "gives another image"
    reason = codec.rebuild.reason
    return [f"With {codec.codec}, the snap-aware delta {how}: {reason}."]


def origin_of(size: Interval) -> str:
    """Return how a delta's size is known."""
    return "measured" if size.known else "estimated"


def _file_lines(change: FileChange) -> Iterator[str]:
    yield f"  {format_bytes(change.delta_bytes):>9}  {printable(change.path)}"
    moved = change.change == "moved" and change.old_path is not None
    was = f" (it was {printable(str(change.old_path))})" if moved else ""
    text = CHANGES[change.change] + was
    yield from wrapped(text, COLUMNS, first=" " * 13, rest=" " * 13)


def remedies(refresh: Refresh) -> list[str]:
    """Return what would make the delta smaller, for what happened to its files."""
    kinds = {change.change for change in refresh.files}
    return [text for kind, text in _REMEDIES.items() if kind in kinds]
