"""SCA105: payload that doesn't compress."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcraft_compression_advisor.advice.recommendation import SNAPCRAFT_DEFAULT
from snapcraft_compression_advisor.core.units import format_bytes
from snapcraft_compression_advisor.lint.figures import share_text
from snapcraft_compression_advisor.lint.finding import Evidence, Finding
from snapcraft_compression_advisor.lint.rule import Context, Rule, current_codec
from snapcraft_compression_advisor.trial.stored import find_incompressible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcraft_compression_advisor.trial.stored import Incompressible

LEAST_SHARE = 0.25
"""What of the image has to resist before that is worth a finding."""

MOST_FILES = 20
_NAMED_FILES = 3


def _check_stored(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield one finding where it is much, or may be."""
    stored = context.analysis.trial.stored
    if stored is None:
        return
    codec = current_codec(context)
    if codec not in stored.codecs:
        codec = SNAPCRAFT_DEFAULT
    found = find_incompressible(stored, codec, among=context.inventory.entries)
    if found is None or not found.total_bytes:
        return
    size, limit = found.stored_bytes, LEAST_SHARE * found.total_bytes
    if size.high < limit:
        return
    share = _share_text(found)
    known = context.analysis.payload.kind == "snap" and size.known
    largest = ", ".join(
        f"{file.path} ({format_bytes(file.stored_bytes)})"
        for file in found.files[:_NAMED_FILES]
    )
    text = f"{format_bytes(size.mid)} of {format_bytes(found.total_bytes)}, {share}"
    yield rule.finding(
        context,
        f"{share} of the image's data{'' if known else ', by estimate,'} don't "
        f"compress with {codec}: {len(found.files):,} files"
        + (f", the largest {largest}." if largest else "."),
        evidence=(
            Evidence(
                f"doesn't compress with {codec}",
                text,
                "measured" if known else "estimated",
            ),
        ),
        files=[file.path for file in found.files[:MOST_FILES]],
        undecided=size.low < limit,
    )


INCOMPRESSIBLE_PAYLOAD = Rule(
    id="SCA105",
    name="incompressible-payload",
    severity="info",
    summary="A good part of the image doesn't compress.",
    fails_if="At least a quarter of the image's data are blocks of 128 KiB that keep "
    "95 % of their length or more, with the codec that it is packed with or will be. "
    "Those shorter than 4 KiB don't count. A built snap's blocks are measured, a prime "
    "directory's estimated from a trial. Where the interval reaches across a quarter, "
    "the finding is undecided.",
    why="Media, archives and packed data don't become smaller once more, whichever "
    "codec is chosen: the compression key hardly matters for them, and packing only "
    "takes longer. Archives within the image also hide their contents from it: equal "
    "files in them aren't stored once, and deltas grow.",
    how_to_fix="Ship archives unpacked, or with contents that are only stored; choose "
    "smaller media; move what few users need into a component or a download. Or leave "
    "it, and ignore the rule.",
    options={"select, ignore": "path patterns leave files out, as in `SCA105:*.webm`"},
    judge=_check_stored,
    remedy="Ship archives unpacked, or smaller media",
)


def _share_text(found: Incompressible) -> str:
    size, total = found.stored_bytes, found.total_bytes
    middle = share_text(size.mid, total)
    low, high = share_text(size.low, total), share_text(size.high, total)
    return middle if low == high else f"{middle} ({low} to {high})"


RULES = (INCOMPRESSIBLE_PAYLOAD,)
