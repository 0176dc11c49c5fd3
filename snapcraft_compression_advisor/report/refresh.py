"""What a refresh downloads, and a user's month: pages, and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..codecs.codec import DATA_BLOCK_BYTES
from ..core.units import Interval, counted, format_bytes, seconds, sentence, size
from ..lint.rule import DELTA_NAMES
from ..refresh.changes import LISTED_FILES, totals
from ..refresh.delta import DELTA_FORMATS, PLAIN
from ..wording import habits_text, month_text, place_of
from .document import Part, document_text, part
from .model import Cell, Entry, Page, Section, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..advice.month import Month
    from ..refresh.changes import ChangeKind, FileChange, KindTotal
    from ..refresh.delta import Choice
    from ..refresh.refresh import CodecRefresh, Refresh

_SHOWN_FILES = 12
"""Files that a page lists; the JSON has more."""
_SHOWN_REASONS = 3
_FEATURE = "snap-delta-format"
_WITH_FEATURE = f"where snapd is 2.75 or later and experimental.{_FEATURE} is set, "
_LARGE_FILE_BYTES = DATA_BLOCK_BYTES
"""In a plain delta: more than one block of a file."""
_CHANGES: Mapping[ChangeKind, str] = {
    "added": "new; no file of the old build resembles it",
    "moved": "the same contents at another path, too far for xdelta3",
    "changed": "changed",
    "rebuilt": "a program or library, built again or another version",
    "archive": "an archive or compressed file whose contents changed",
    "recompressed": "an archive with the same contents, compressed again",
    "timestamp": "the same except for a timestamp or a build id",
    "cache": "a cache of unchanged files, made at another time",
}
_TABLES = "names, times and places of all files: the image's tables"
_REMEDIES: Mapping[ChangeKind, str] = {
    "recompressed": "Build archives reproducibly, or store their members uncompressed: "
    "the image is compressed anyway.",
    "archive": "Store the members of archives uncompressed: the image is compressed "
    "anyway, and a snap-aware delta then has only what changed in each member.",
    "timestamp": "Set SOURCE_DATE_EPOCH for the build, so that equal sources make "
    "equal files.",
    "cache": "Set the times of the sources to SOURCE_DATE_EPOCH before a cache is "
    "made; compile Python with --invalidation-mode unchecked-hash.",
    "moved": "Keep paths the same from build to build: xdelta3 finds what moved only "
    "within 32 MiB.",
    "rebuilt": "Stage libraries from packages that don't change with each build; pin "
    "the versions of compilers and of what is downloaded.",
    "changed": "Keep what changes often in small files of its own: in a plain delta, "
    "all blocks of a file that follow an inserted byte are new.",
}
_EXPLANATION = (
    "A plain delta is made between the images. A snap-aware delta is made between "
    "their unpacked contents, and the device packs the image again. snapd doesn't "
    "compare sizes, but the store discards a delta that is close to the size of the "
    "image, and may give up on making one of a large snap. A device with less than 683 "
    "MB of memory can't apply a snap-aware delta, as unsquashfs 4.7 refuses: it "
    "downloads the whole image."
)

_ASSUMED = (
    "Assumed, because nothing is known of the users: the key 'refresh' of "
    "compression-advisor.yaml says how often they refresh and launch the snap."
)
_WHAT_IS_DOWNLOADED = {
    "none": "Each refresh downloads the whole image.",
    "xdelta3": "Each refresh downloads a plain delta between the two images.",
    "snap-1-1-xdelta3": "Each refresh downloads a snap-aware delta, from which the "
    "device packs the new image itself: longer with xz, in the background.",
}


def refresh_page(refresh: Refresh, month: Month | None = None) -> Page:
    """Return the page on a refresh: downloads, and the reasons for their size."""
    codecs = [*refresh.codecs.values()]
    downloads = (
        f"{format_bytes(each.choices[0].size_bytes.mid)} with {each.codec}"
        for each in codecs
    )
    found = "nothing to download, both builds are the same"
    if refresh.is_needed:
        found = f"a refresh downloads {', '.join(downloads)}"
    return Page(
        title=f"Refresh of {refresh.new.snap.name}",
        headline=f"{refresh.new.snap.name}: {found}",
        facts=(f"From {refresh.old.path} to {refresh.new.path}",),
        sections=tuple(_sections(refresh, month)),
    )


def _sections(refresh: Refresh, month: Month | None) -> Iterator[Section]:
    codecs = [*refresh.codecs.values()]
    heads = ("", "whole image", "users download", f"with {_FEATURE}")
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            each.codec,
            size(each.full_bytes.mid),
            *(size(choice.size_bytes.mid) for choice in each.choices),
        )
        for each in codecs
    )
    notes = tuple(f"{note}." for note in refresh.notes)
    yield Section(short=True, tables=(Table(heads=heads, rows=rows),))
    if notes:
        yield Section(short=True, sentences=notes)
    if refresh.files:
        yield from _reasons(refresh)
    yield Section(
        title="Sizes",
        sentences=(_EXPLANATION, *(text for each in codecs for text in _known(each))),
        tables=(Table(heads=("", "size", "known by"), rows=tuple(_sizes(codecs))),),
    )
    if month is not None:
        yield month_section(month)
    if refresh.files:
        yield _changes(refresh)


def _reasons(refresh: Refresh) -> Iterator[Section]:
    """Yield the changes that add most to what users download by default."""
    first = next(iter(refresh.codecs))
    added = [
        (each.plain_bytes.get(first, each.delta_bytes), _kind_text(each))
        for each in totals(refresh.files)
    ]
    whole = refresh.codecs[first].deltas[PLAIN].size_bytes.mid
    added.append((whole - sum(count for count, _ in added), _TABLES))
    most = sorted((each for each in added if each[0] >= 1), reverse=True)
    rows = tuple((size(count), text) for count, text in most[:_SHOWN_REASONS])
    if rows:
        yield Section(
            title=f"What makes it large with {first}",
            short=True,
            origin="Estimated.",
            tables=(Table(heads=("", ""), rows=rows, words=frozenset({1})),),
        )


def _sizes(codecs: list[CodecRefresh]) -> Iterator[tuple[Cell, ...]]:
    for codec in codecs:
        what_if = ", if both were packed with it" if codec.what_if else ""
        whole = codec.full_bytes
        yield f"{codec.codec}{what_if}: whole image", size(whole), _origin(whole)
        for name in DELTA_FORMATS:
            if name not in codec.deltas:
                yield f"{codec.codec}: {DELTA_NAMES[name]}", "snapd makes none", ""
                continue
            found = codec.deltas[name].size_bytes
            name_text = f"{codec.codec}: {DELTA_NAMES[name]}"
            yield name_text, size(found), _origin(found)


def _known(codec: CodecRefresh) -> Iterator[str]:
    """Yield what a device takes, why, and whether the delta gives the image again."""
    for choice in codec.choices:
        yield f"With {codec.codec}, {_choice_text(choice, codec)}."
    if codec.rebuild and codec.rebuild.equal:
        yield f"With {codec.codec}, the snap-aware delta gives the new image again."
    elif codec.rebuild:
        yield (
            f"With {codec.codec}, the snap-aware delta gives another image: "
            f"{codec.rebuild.reason}. A device would then download the whole image too."
        )


def _choice_text(choice: Choice, codec: CodecRefresh) -> str:
    """Return the download that a device chooses, with the reason."""
    what = "whole image" if choice.download is None else DELTA_NAMES[choice.download]
    where = "" if choice.wanted == PLAIN else _WITH_FEATURE
    text = f"{where}a device downloads the {what}, {size(choice.size_bytes)}"
    if choice.reason == "refused":
        return f"{text}: {codec.refusal}"
    if choice.reason == "larger":
        return f"{text}: the delta isn't smaller, so the store discards it"
    if choice.reason == "perhaps-larger":
        return f"{text}, unless the store discards it as too close to the whole image"
    return text


def _changes(refresh: Refresh) -> Section:
    """Return the kinds of changes, their remedies, and the files themselves."""
    sizes = ("snap-aware", *(f"plain, {codec}" for codec in refresh.codecs))
    found = totals(refresh.files)
    last = frozenset({len(sizes) + 1})
    return Section(
        title="What makes the deltas large",
        origin="Estimated.",
        tables=(
            Table(
                caption="What happened to the files, and what that adds to the deltas",
                heads=("what happened", *sizes),
                rows=tuple((_kind_text(e), *_added(e, refresh)) for e in found),
            ),
            Table(
                caption="Files that add most to the deltas",
                heads=("file", *sizes, "what happened"),
                rows=tuple(
                    (each.path, *_added(each, refresh), _change_text(each))
                    for each in refresh.files[:_SHOWN_FILES]
                ),
                names=frozenset({0}),
                words=last,
            ),
        ),
        entries=tuple(
            Entry(title=_kind_text(each), text=_remedy(each))
            for each in found
            if _remedy(each)
        ),
    )


def _kind_text(total: KindTotal) -> str:
    return f"{counted(total.files, 'file')}: {_CHANGES[total.change]}"


def _change_text(change: FileChange) -> str:
    """Return the change of a file, with its earlier path if it moved."""
    if change.old_path in (None, change.path):
        return _CHANGES[change.change]
    return f"{_CHANGES[change.change]} (it was {change.old_path})"


def _remedy(total: KindTotal) -> str:
    """Return advice that makes the deltas smaller; empty if none is known."""
    if total.change == "changed":
        most = max((0.0, *total.plain_bytes.values()))
        if most < _LARGE_FILE_BYTES * total.files:
            return ""
    return _REMEDIES.get(total.change, "")


def _added(change: FileChange | KindTotal, refresh: Refresh) -> Iterator[Cell]:
    """Yield what is added to the snap-aware delta, and to the plain ones."""
    yield size(change.delta_bytes)
    for codec in refresh.codecs:
        added = change.plain_bytes.get(codec)
        yield "" if added is None else size(added)


def refresh_json(refresh: Refresh, month: Month | None = None) -> str:
    """Return a refresh as JSON text."""
    old, new = (
        part(each, "path", compression=each.packed_with)
        for each in (refresh.old, refresh.new)
    )
    assumed = {"assumed": month.habits.assumed} if month else {}
    files = refresh.files[:LISTED_FILES]
    return document_text(
        part(
            refresh,
            "notes",
            name=refresh.new.snap.name,
            old=old,
            new=new,
            codecs={name: _codec(each) for name, each in refresh.codecs.items()},
            files=[
                part(e, "path old_path change delta_bytes plain_bytes") for e in files
            ],
            changes=totals(refresh.files),
            month=month_part(month) | assumed if month else None,
        )
    )


def _codec(codec: CodecRefresh) -> Part:
    return part(
        codec,
        "full_bytes what_if refusal rebuild",
        full_measured=codec.full_bytes.known,
        deltas={
            name: {"bytes": each.size_bytes, "origin": _origin(each.size_bytes)}
            for name, each in codec.deltas.items()
        },
        choices=[
            part(
                each,
                "download reason",
                condition="default" if each.wanted == PLAIN else _FEATURE,
                bytes=each.size_bytes,
            )
            for each in codec.choices
        ],
    )


def _origin(value: Interval) -> str:
    return "measured" if value.known else "estimated"


def month_part(month: Month) -> Part:
    """Return a month as JSON has it."""
    saving, habits = month.saving, month.habits
    return part(
        month,
        "link_mbit_per_s launch_s download_bytes download_s total_s decided_by",
        app=saving.app,
        device=None if saving.shares else saving.device,
        refreshes=habits.refreshes,
        cold_launches=habits.launches,
        deltas=habits.deltas,
        summary=habits_text(habits),
        codecs={
            codec: {"download_bytes": each, "download_s": each.map(month.link_s)}
            for codec, each in _by_codec(month).items()
        },
    )


def _by_codec(month: Month) -> dict[str, Interval]:
    refreshes = month.habits.refreshes
    return {codec: each * refreshes for codec, each in month.downloads.by_codec.items()}


def month_section(month: Month) -> Section:
    """Return a month as a table, with what it rests on."""
    saving = month.saving
    habits = f"{habits_text(month.habits)}, {place_of(saving)}"
    xz, lzo = (_by_codec(month)[codec] for codec in ("xz", "lzo"))
    return Section(
        title="What lzo saves in a user's month",
        origin="Estimated, with intervals.",
        sentences=(
            month_text(month),
            sentence(f"{habits}, at {month.link_mbit_per_s:g} Mbit/s"),
            _WHAT_IS_DOWNLOADED[month.habits.deltas],
            *((_ASSUMED,) if month.habits.assumed else ()),
        ),
        tables=(
            Table(
                heads=("in a month", "xz", "lzo", "lzo saves"),
                rows=(
                    (
                        f"cold launches of {saving.app}",
                        "",
                        "",
                        seconds(month.launch_s),
                    ),
                    (
                        "download",
                        size(xz.mid),
                        size(lzo.mid),
                        size(month.download_bytes.mid),
                    ),
                    (
                        "time of the download",
                        seconds(month.link_s(xz.mid)),
                        seconds(month.link_s(lzo.mid)),
                        seconds(month.download_s),
                    ),
                    ("all of it", "", "", seconds(month.total_s)),
                ),
            ),
        ),
    )
