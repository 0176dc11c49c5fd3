"""What ``advise`` rests on: the sections that its short text leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import numpy as np

from ..codecs import SHIPPABLE, CodecName
from ..core.units import (
    Interval,
    bytes_text,
    counted,
    first_of,
    format_seconds,
    percent,
    seconds,
    sentence,
    size,
)
from ..launch.stack import AVERAGE_CONSUMER
from ..trial.stored import find_incompressible
from ..wording import allowed_growth, asked, habits_text, verdict_words
from .answer import deciding_launch
from .files import file_kinds, heavy_files, launch_groups
from .lint_formats.phrases import findings_sections
from .model import Entry, Section, Table
from .refresh import month_section
from .stack import stack_section
from .words import (
    WHAT_IF,
    accuracy,
    guessed_apps,
    how_known,
    kernel_phrase,
    not_shipped,
    record_instead,
    what_decides,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..advice.evidence import Saving
    from ..analysis import Analysis
    from ..launches import LaunchAnalysis
    from ..lint.finding import LintedPayload
    from .model import Cell

MODEL_ERROR = (
    "error of the time added, xz: median 6.5%, worst 20.5% (18 figures)",
    "error of the time added, other codecs: median 17.7%, worst 67.2% (51 figures)",
    "order of two codecs that differ by more than noise: right in 149 of 149",
    "same recommendation as from the measurement: 18 of 18",
    "measured time inside the predicted interval: 90 of 90 (100%)",
)
"""Measured on Debian applications, each predicted from the others and its recorded
launch; ``study/accuracy.py`` prints these lines, and a test compares them."""

_DECIDING = {"first": "the first target app", "every": "every target app"}
_SHOWN_GROUPS = 5
_SHOWN_KINDS = 12
_NARROWER = 0.95
"""Of an interval's width, so much at most is worth saying."""
_AVERAGE = "average of users"


def detail_sections(
    analysis: Analysis,
    *,
    linted: LintedPayload | None = None,
    command: str = "",
) -> Iterator[Section]:
    """Yield all that an advice rests on.

    :param linted: findings on the same payload; None if it wasn't linted.
    :param command: that makes the same figures again; empty if none does.
    """
    month = analysis.recommendation.month
    found = [
        _most_read(analysis),
        *(findings_sections(linted) if linted else ()),
        _gains(analysis),
        *(_codecs(analysis, each) for each in analysis.launches or (None,)),
        *(_reads(analysis, each) for each in analysis.launches),
        *(stack_section(analysis, each) for each in analysis.launches if each.stack),
        month_section(month) if month else None,
        _steps(analysis),
        _kinds(analysis),
        _method(analysis, command),
    ]
    yield from (each for each in found if each is not None)


def _most_read(analysis: Analysis) -> Section | None:
    """Return the groups of files that the deciding launch reads most."""
    launch = deciding_launch(analysis)
    if launch is None or not launch.launch_set.expected_blocks:
        return None
    whole = launch.launch_set.expected_blocks
    groups = launch_groups(launch.launch_set.files)
    return Section(
        title=f"What a cold start of {launch.launch_set.app} reads most",
        opened=True,
        origin=f"Blocks read: {how_known(launch.launch_set.source)}.",
        entries=tuple(
            Entry(
                title=f"{percent(each.blocks / whole)} {each.name}",
                text=counted(each.files, "file"),
            )
            for each in groups[:_SHOWN_GROUPS]
        ),
    )


def _gains(analysis: Analysis) -> Section | None:
    """Return lzo's savings by app and device, and ways to narrow their intervals."""
    advice = analysis.recommendation
    decides = advice.decides
    by_device = decides.by_device if decides else ()
    alone = {(each.saving.app, each.device): verdict_words(each) for each in by_device}
    savings = [
        saving
        for launch in analysis.launches
        if launch.launch_set.files
        for saving in launch.savings()
    ]
    if decides is not None and decides.saving.shares:
        savings.append(decides.saving)
    if not savings:
        return None
    rows = tuple(
        (
            each.app,
            _AVERAGE if each.shares else each.device,
            seconds(each.seconds),
            f"{alone.get((each.app, each.device), '')}"
            + ", decides" * (each == advice.decisive),
        )
        for each in savings
    )
    return Section(
        title="What lzo saves per cold start",
        origin="Estimated, with intervals.",
        sentences=tuple(_narrowing(advice.decisive)),
        tables=(
            Table(
                heads=("app", "device", "lzo saves", "verdict there"),
                rows=rows,
                words=frozenset((1, 3)),
            ),
        ),
    )


def _narrowing(saving: Saving | None) -> Iterator[str]:
    """Yield what would narrow the interval of what decides."""
    if saving is None or saving.narrowing is None:
        return
    width = saving.seconds.high - saving.seconds.low
    ways = [
        f"{way} would narrow it to {seconds(interval)}"
        for way, interval in (
            ("a recording", saving.narrowing.if_recorded),
            ("a calibrated device", saving.narrowing.if_calibrated),
        )
        if interval.high - interval.low < _NARROWER * width
    ]
    if ways:
        yield f"The interval {seconds(saving.seconds)}: {', '.join(ways)}."


def _codecs(analysis: Analysis, launch: LaunchAnalysis | None) -> Section | None:
    """Return every codec's size, and what it adds to a launch on each device."""
    estimates = launch.estimates if launch and launch.launch_set.files else {}
    xz = analysis.trial.codecs["xz"].image_bytes
    rows: list[tuple[Cell, ...]] = []
    for name, codec in analysis.trial.codecs.items():
        label = name if codec.shippable else f"{name} *"
        image = codec.image_bytes
        if image is None:
            rows.append((label, "not available", "", *("" for _ in estimates)))
            continue
        more = (
            f"{image.mid / xz.mid - 1:+.0%}" if xz and xz.mid and name != "xz" else ""
        )
        added = (
            seconds(costs[name].added_s) if name in costs else ""
            for costs in estimates.values()
        )
        rows.append((label, size(image), more, *added))
    of = f", and seconds added to a cold start of {_title(launch)}" if estimates else ""
    if launch is not None and not estimates and len(analysis.launches) > 1:
        return None
    return Section(
        title=f"Image with every codec{of}",
        origin=_sizes_origin(analysis),
        sentences=(WHAT_IF,),
        tables=(
            Table(heads=("codec", "image", "vs xz", *estimates), rows=tuple(rows)),
        ),
    )


def _title(launch: LaunchAnalysis | None) -> str:
    if launch is None:
        return ""
    if launch.weight is not None:
        return f"consumer {launch.launch_set.app}, weight {percent(launch.weight)}"
    average = launch.launch_set.app == AVERAGE_CONSUMER
    return "all consumers, on average" if average else launch.launch_set.app


def _sizes_origin(analysis: Analysis) -> str:
    if analysis.trial.mode == "exact":
        return "Sizes measured, seconds estimated."
    own = _own_codec(analysis)
    return f"Size with {own} measured, others estimated." if own else "Estimated."


def _own_codec(analysis: Analysis) -> str | None:
    """Return the codec whose image has the very size of the built snap."""
    if (built := analysis.payload.image_bytes) is None:
        return None
    images = {name: each.image_bytes for name, each in analysis.trial.codecs.items()}
    return next((e for e in images if images[e] == Interval.exactly(built)), None)


def _reads(analysis: Analysis, launch: LaunchAnalysis) -> Section:
    """Return the section on a launch's reads, with the files that add most."""
    known = launch.launch_set
    blocks = round(known.expected_blocks)
    some = "" if blocks == known.data_blocks else f"about {blocks:,} of "
    consumed = launch.weight is not None or known.app == AVERAGE_CONSUMER
    choice = "" if consumed else f" ({analysis.app_choice})"
    files = counted(len(known.files), "file")
    reads = sentence(
        f"{how_known(known.source)}: {files}, {some}"
        f"{counted(known.data_blocks, 'data block')}, {bytes_text(known.read_bytes)}"
    )
    clauses = accuracy(launch) if known.files else ()
    texts = (*clauses, *not_shipped(known.unresolved))
    heavy = heavy_files(analysis, known)
    columns = [
        (device, name)
        for device, costs in launch.estimates.items()
        for name in SHIPPABLE
        if name in costs
    ]
    table = Table(
        heads=("file", "length", *(f"{name} on {device}" for device, name in columns)),
        rows=tuple(
            (
                each.path,
                size(each.size_bytes),
                *(
                    seconds(each.added_s[device][name].mid)
                    if name in each.added_s.get(device, {})
                    else ""
                    for device, name in columns
                ),
            )
            for each in heavy
        ),
        names=frozenset((0,)),
    )
    return Section(
        title=f"What a cold start of {_title(launch)}{choice} reads",
        origin="Seconds of the files that add most are estimated." if heavy else "",
        sentences=(reads, *map(sentence, texts)),
        tables=(table,) if heavy else (),
    )


def _steps(analysis: Analysis) -> Section | None:
    """Return the steps that decide an advice, or make it surer."""
    steps, guessed = [*what_decides(analysis)], guessed_apps(analysis)
    if guessed and any(each.weight is not None for each in analysis.launches):
        steps = steps or [record_instead(analysis, guessed)]
    return Section(title="What would make it surer", steps=(*steps,)) if steps else None


def _kinds(analysis: Analysis) -> Section | None:
    """Return the table of kinds of files with their sizes by codec."""
    stored = analysis.trial.stored
    kinds = [each for each in file_kinds(stored) if each.raw_bytes] if stored else []
    if stored is None or not kinds:
        return None
    codecs = [name for name in SHIPPABLE if name in kinds[0].stored_bytes]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            each.kind,
            f"{each.files:,}",
            size(each.raw_bytes),
            *(size(each.stored_bytes[codec]) for codec in codecs),
        )
        for each in kinds[:_SHOWN_KINDS]
    )
    texts = ["The kind of a file is taken from its path."]
    found = find_incompressible(stored, "xz", among=stored.layout.file_numbers)
    if found is not None and found.files and found.total_bytes:
        share = percent(min(1.0, found.stored_bytes.mid / found.total_bytes))
        names = first_of([each.path for each in (*found.files, *found.partly)])
        texts.append(
            "Blocks that don't compress (they keep 95% of their length or more) make "
            f"up {share} of the image's data with xz"
            + (f", in {found.where}: {names}." if names else ".")
        )
    return Section(
        title="What compresses, and what doesn't",
        origin=_sizes_origin(analysis),
        sentences=tuple(texts),
        tables=(Table(heads=("kind", "files", "length", *codecs), rows=rows),),
    )


def _method(analysis: Analysis, command: str) -> Section:
    """Return the section on the figures' origin and certainty."""
    guessed = any(each.launch_set.source == "static" for each in analysis.launches)
    terms = [
        ("Image sizes", (_how_sized(analysis), *analysis.trial.notes)),
        (
            "Seconds",
            (
                (
                    "how much longer a cold launch takes than a warm one, estimated "
                    "from the blocks read and the device's figures; the interval "
                    "covers their uncertainty"
                    + (", and that of a guess of what is read" if guessed else "")
                ),
            ),
        ),
        *(
            (
                f"Device {each.name}",
                (
                    each.description,
                    *each.sources,
                    f"{kernel_phrase(each.kernel)} ({each.kernel.source})",
                ),
            )
            for each in analysis.devices
        ),
        ("Accuracy of the estimated seconds, measured", MODEL_ERROR),
        ("Policy", tuple(_policy(analysis))),
    ]
    if command:
        terms.append(("Command", (command,)))
    return Section(
        title="How the figures were obtained",
        entries=tuple(
            Entry(title=term, text="; ".join(e.rstrip(".") for e in texts))
            for term, texts in terms
        ),
    )


def _how_sized(analysis: Analysis) -> str:
    """Return the sentence on the origin of image sizes."""
    tool = analysis.trial.tool
    if analysis.trial.mode == "exact":
        return f"measured: the payload was packed with every codec ({tool})"
    own = _own_codec(analysis)
    others = f"measured for {own}, the snap's own codec; others " if own else ""
    text = f"{others}estimated ({tool}), with intervals that contain the true size for "
    text += "95% of such samples"
    stored = analysis.trial.stored
    if stored is None:
        return text
    known = ", ".join(
        f"{codec} {count:,}"
        for codec, count in blocks_known(analysis).items()
        if codec != "none"
    )
    return f"{text}; of {stored.layout.block_count:,} distinct data blocks: {known}"


def blocks_known(analysis: Analysis) -> dict[str, int]:
    """Return the number of distinct data blocks with measured sizes, by codec."""
    stored = analysis.trial.stored
    codecs = stored.codecs if stored else {}
    return {
        name: int(np.count_nonzero(codecs[name].errors == 0))
        for name in get_args(CodecName)
        if name in codecs
    }


def _policy(analysis: Analysis) -> Iterator[str]:
    policy, month = analysis.policy, analysis.recommendation.month
    pays = f"pay for its larger download within {policy.max_launches:g} cold launches"
    if month is not None:
        pays = f"save time over {habits_text(month.habits)}"
    yield (
        f"lzo must save {asked(policy)} per cold launch and {pays} at "
        f"{policy.link_mbit_per_s:g} Mbit/s; {_DECIDING[policy.deciding_apps]} decides"
    )
    if policy.device_shares:
        shares = (f"{share:.0%} {name}" for name, share in policy.device_shares.items())
        yield f"it must do so on average over the users' devices: {', '.join(shares)}"
    if allowed := allowed_growth(policy):
        yield f"lzo may add up to {allowed}"
    if policy.cold_start_limits_s:
        limits = (
            f"{device} {format_seconds(limit)}"
            for device, limit in policy.cold_start_limits_s.items()
            if isinstance(limit, float)
        )
        yield f"budgets of cold starts: {', '.join(limits) or 'by app'}"
