"""SCA105: payload that doesn't compress."""

from __future__ import annotations

from collections.abc import Iterator

from ...core.units import counted, format_bytes, join_ends
from ..figures import share_text
from ..finding import Evidence, Finding
from ..rule import Context, Rule, no_sizes, priced_codec

LEAST_SHARE = 0.25
"""What of the image has to resist before that is worth a finding."""

MOST_FILES = 20
_NAMED_FILES = 3


@Rule(
    id="SCA105",
    severity="info",
    summary="A large part of the image doesn't compress.",
    fails_if="At least a quarter of the image's data is in blocks of 128 KiB that keep "
    "95 % of their length or more with the snap's codec. Blocks shorter than 4 KiB are "
    "left out. The blocks of a built snap are measured, those of a prime directory are "
    "estimated. If the interval includes a quarter, the finding is undecided.",
    why="Media, archives and other compressed data don't become smaller when they are "
    "compressed again, so the codec hardly matters for them. Archives also hide their "
    "contents: equal files inside them are stored more than once, and deltas grow.",
    how_to_fix="Ship archives unpacked or without compression, use smaller media, or "
    "move what few users need into a component or a download. If the data has to stay, "
    "ignore the rule.",
    options={
        "select, ignore": "path patterns that leave files out, such as `SCA105:*.webm`"
    },
    blocked=no_sizes,
    remedy="Ship archives unpacked, or use smaller media",
)
def incompressible_payload(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding if a large part of the image doesn't compress."""
    stored, codec = context.analysis.trial.stored, priced_codec(context)
    if stored is None or codec is None:
        return
    from ...trial.stored import find_incompressible  # noqa: PLC0415 # numpy

    found = find_incompressible(stored, codec, among=context.inventory.entries)
    if found is None or not found.total_bytes:
        return
    size, limit = found.stored_bytes, LEAST_SHARE * found.total_bytes
    if size.high < limit:
        return
    low, share, high = (
        share_text(each, found.total_bytes) for each in (size.low, size.mid, size.high)
    )
    share = share if low == high else f"{share} ({join_ends(low, high)})"
    known = context.analysis.payload.kind == "snap" and size.known
    largest = ", ".join(
        f"{file.path} ({format_bytes(file.stored_bytes)})"
        for file in found.files[:_NAMED_FILES]
    )
    text = f"{format_bytes(size.mid)} of {format_bytes(found.total_bytes)}, {share}"
    yield rule.finding(
        context,
        f"{'' if known else 'An estimated '}{share} of the image's data doesn't "
        f"compress with {codec}: {counted(len(found.files), 'file')}"
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


RULES = (incompressible_payload,)
