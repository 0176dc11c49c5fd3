"""SCA101, SCA102 and SCA105: whether the compression suits the payload."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from ...advice.judging import SNAPCRAFT_DEFAULT
from ...advice.recommendation import Code
from ...core.units import bytes_text, format_bytes, join_ends, percent, seconds_text
from ...payload.snap_yaml import split_component_name
from ...project.edit import safe_edit
from ...wording import habits_text, not_followed, place_of, reasons
from ..finding import Evidence, Finding, Fix, Gain, estimated, measured
from ..rule import (
    RECORD,
    Context,
    Rule,
    compression_place,
    current_codec,
    no_sizes,
    packed_with,
    priced_codec,
    size_origin,
)
from .compatibility import target_has

LEAST_INCOMPRESSIBLE = 0.25
"""What of the image has to resist before that is worth a finding."""
_LISTED_FILES = 20
_NAMED_FILES = 3
_MANY_LAUNCHES = 1_000


@Rule(id="SCA101", severity="warning")
def lzo_would_gain(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding if lzo makes launches faster and is worth its size."""
    if current_codec(context) != "lzo" and all(
        target_has(target, "lzo") for target in context.settings.targets
    ):
        yield from _advised(rule, context, "lzo", _gain_message)


@Rule(id="SCA102", severity="warning")
def lzo_gains_nothing(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding if lzo makes the image larger without a gain."""
    if current_codec(context) == "lzo":
        yield from _advised(rule, context, "xz", _loss_message)


def compression_fix(context: Context, compression: str) -> Fix:
    """Return the fix that sets the compression, and keeps that of components."""
    project = context.project
    description = f"Set 'compression: {compression}' in snapcraft.yaml"
    if project is None:
        return Fix(description, safe=True)
    if project.compression == compression:
        return Fix(
            "Build the snap again: snapcraft.yaml already says "
            f"'compression: {compression}'"
        )
    if project.effective == compression != current_codec(context):
        return Fix(
            f"Build the snap again: extension {project.extension} already sets "
            f"'compression: {compression}'"
        )
    if project.component is not None:
        description = f"Give component {project.component} 'compression: {compression}'"
    keys: dict[str | None, str] = {project.component: compression}
    if compression == "lzo" != project.effective and project.inheriting:
        # Chosen for the snap's launch alone.
        kept = project.effective or SNAPCRAFT_DEFAULT
        keys.update(dict.fromkeys(project.inheriting, kept))
        description += f", and keep that of {', '.join(project.inheriting)}"
    return Fix(description, safe=True, edit=safe_edit(project, keys))


def _advised(
    rule: Rule, context: Context, codec: str, message: Callable[[Context], str]
) -> Iterator[Finding]:
    """Yield one finding if the advice is to change to a codec, or is undecided."""
    advice = context.analysis.recommendation
    if advice.verdict == "change" and advice.compression == codec:
        it = advice.decisive
        where = f"{it.app} {place_of(it)}" if it else ""
        gain = Gain(seconds=it.seconds, of="cold launch", where=where) if it else None
        yield rule.finding(
            context,
            message(context),
            location=compression_place(context),
            evidence=_advice_evidence(context),
            fix=compression_fix(context, codec),
            gain=gain if codec == "lzo" else None,
        )
    elif advice.verdict == "undecided":
        yield rule.finding(
            context,
            _open_question(context),
            location=compression_place(context),
            evidence=_advice_evidence(context),
            fix=_what_decides(context),
            undecided=True,
        )


def say_reader(component: str) -> Fix:
    """Return the fix that says who reads a component."""
    return Fix(
        "Say what is read of it in compression-advisor.yaml: "
        f"'components: {{{component}: {{read: all}}}}', or 'none'"
    )


def _what_decides(context: Context) -> Fix | None:
    _, component = split_component_name(context.snap.name)
    if component is not None and context.settings.read_of(component) is None:
        return say_reader(component)
    starts = context.analysis.launches and not context.analysis.missing_programs
    return RECORD if starts and component is None else None


def _open_question(context: Context) -> str:
    """Say what is undecided, and the figure that leaves it so."""
    advice = context.analysis.recommendation
    why = " ".join(reasons(advice))
    blind = _blind_spots(context, advice.decisive.app) if advice.decisive else ""
    return f"It is undecided whether lzo is worth its size: {why}{blind}"


def _blind_spots(context: Context, app: str) -> str:
    """Say what the guess of an app's launch could not follow; nothing if all was."""
    for launch in context.analysis.launches:
        basis = launch.launch_set.basis
        if launch.launch_set.app == app and basis is not None and basis.blind_spots:
            text = not_followed(basis)
            return f" {text[0].upper()}{text[1:]}."
    return ""


def _gain_message(context: Context) -> str:
    advice = context.analysis.recommendation
    decisive, added = advice.decisive, advice.bytes_added
    if decisive is None or added is None:  # a verdict of change has both
        return "lzo would make cold launches faster and is worth its size."
    message = (
        f"With lzo, a cold launch of {decisive.app} {place_of(decisive)} would take "
        f"an estimated {seconds_text(decisive.seconds)} less than with xz, for "
        f"{bytes_text(added)} ({_growth(context)}) more to download."
    )
    if advice.reasons[0] is not Code.LZO_PAYS:  # a budget decides
        _, budget, *_ = reasons(advice)
        message = f"{budget} {message}"
    codec = current_codec(context)
    return message if codec == "xz" else f"{message} {packed_with(context)} {codec}."


def _loss_message(context: Context) -> str:
    advice = context.analysis.recommendation
    if (added := advice.bytes_added) is None:  # a verdict of change has it
        return "lzo makes the image larger without a gain that is worth it."
    adds = f"lzo adds {bytes_text(added)} ({_growth(context)}) to what xz would take"
    return f"{adds}: {' '.join(reasons(advice))}"


def _growth(context: Context) -> str:
    added = context.analysis.recommendation.bytes_added
    xz_bytes = context.analysis.trial.codecs["xz"].image_bytes
    if added is None or xz_bytes is None:
        return "share unknown"
    return percent(added.mid / xz_bytes.mid)


def _advice_evidence(context: Context) -> Iterator[Evidence]:
    analysis = context.analysis
    advice = analysis.recommendation
    if (saving := advice.decisive) is not None:
        what = f"lzo saves per cold launch of {saving.app} {place_of(saving)}"
        yield estimated(what, seconds_text(saving.seconds))
    for name in ("xz", "lzo"):
        size = analysis.trial.codecs[name].image_bytes
        if size is not None:
            yield Evidence(
                f"image with {name}", bytes_text(size), size_origin(size, analysis)
            )
    if (month := advice.month) is not None:
        what = f"lzo saves over {habits_text(month.habits)}"
        yield estimated(what, seconds_text(month.total_s))
    elif advice.break_even_launches is not None:
        yield estimated(
            "cold launches that pay for the larger download",
            f"{_launches_text(advice.break_even_launches)} "
            f"(at {analysis.policy.link_mbit_per_s:g} Mbit/s)",
        )


def _launches_text(count: float) -> str:
    """Return a number of launches as one would say it: "6", "the first"."""
    if count > _MANY_LAUNCHES:
        return f"more than {_MANY_LAUNCHES:,}"
    return "the first" if count <= 1 else f"{math.ceil(round(count, 1))}"


@Rule(id="SCA105", severity="info", blocked=no_sizes)
def incompressible_payload(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding if a large part of the image doesn't compress."""
    stored, codec = context.analysis.trial.stored, priced_codec(context)
    if stored is None or codec is None:
        return
    from ...trial.stored import find_incompressible  # noqa: PLC0415 # numpy

    found = find_incompressible(stored, codec, among=context.inventory.entries)
    if found is None or not found.total_bytes:
        return
    size, limit = found.stored_bytes, LEAST_INCOMPRESSIBLE * found.total_bytes
    if size.high < limit:
        return
    low, share, high = (percent(each / found.total_bytes) for each in size.ends)
    share = share if low == high else f"{share} ({join_ends(low, high)})"
    known = context.analysis.payload.kind == "snap" and size.known
    files = sorted(
        (*found.files, *found.partly), key=lambda file: (-file.stored_bytes, file.path)
    )
    largest = ", ".join(
        f"{file.path} ({format_bytes(file.stored_bytes)})"
        for file in files[:_NAMED_FILES]
    )
    text = f"{format_bytes(size.mid)} of {format_bytes(found.total_bytes)}, {share}"
    yield rule.finding(
        context,
        f"{'' if known else 'An estimated '}{share} of the image's data doesn't "
        f"compress with {codec}"
        + (f": {found.where}, the largest {largest}." if files else "."),
        evidence=[
            (measured if known else estimated)(f"doesn't compress with {codec}", text)
        ],
        files=[file.path for file in files[:_LISTED_FILES]],
        undecided=size.low < limit,
    )


RULES = (lzo_would_gain, lzo_gains_nothing, incompressible_payload)
