"""SCA103, SCA104, SCA106 and SCA107: the compression declared, packed, published."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from ...advice.evidence import Policy
from ...advice.judging import SNAPCRAFT_DEFAULT
from ...codecs import SHIPPABLE
from ...core.units import Interval, bytes_text, percent, seconds_text
from ...payload.snap_yaml import COMPONENT_TYPE
from ...project.edit import safe_edit
from ..finding import Evidence, Finding, Fix, Location, declared, estimated, measured
from ..rule import (
    ComponentSizes,
    Context,
    Rule,
    compression_place,
    current_codec,
    no_baseline,
    no_project,
)
from .compression import compression_fix, say_reader

if TYPE_CHECKING:
    from ...project.project_file import ProjectFile
    from ...settings.settings import Settings

_NEGLIGIBLE = Policy().negligible_growth


@Rule(id="SCA103", severity="info", unasked=no_project)
def key_implicit(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding if snapcraft.yaml has no ``compression``."""
    project = context.project
    if project is None or project.compression is not None:
        return
    if context.snap.type == COMPONENT_TYPE:
        return
    codec, advice = current_codec(context), context.analysis.recommendation
    default, why = SNAPCRAFT_DEFAULT, "by default"
    kept = codec if codec in SHIPPABLE else default
    if project.extension is not None:
        kept = default = "lzo"
        why = f"as extension {project.extension} asks"
    # Another rule that recommends a change has a fix of this key, too.
    wanted = advice.compression if advice.verdict == "change" else kept
    yield rule.finding(
        context,
        f"There is no 'compression' key, so snapcraft packs with {default} {why}."
        if codec == default
        else f"There is no 'compression' key: the snap is packed with {codec}, but "
        f"snapcraft packs with {default} {why}.",
        location=compression_place(context),
        evidence=[declared("compression in snapcraft.yaml", "none")],
        fix=compression_fix(context, wanted),
    )


def doubtful_components(project: ProjectFile, settings: Settings) -> Iterator[str]:
    """Yield those that inherit lzo, though not all is read, or xz, though all is."""
    for name in project.inheriting:
        if (project.effective == "lzo") is not (settings.read_of(name) == "all"):
            yield name


@Rule(id="SCA104", severity="warning")
def component_key(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding for each component whose codec, inherited, is unsuitable."""
    project = context.project
    if project is None:
        return
    for name in doubtful_components(project, context.settings):
        read = context.settings.read_of(name)
        sizes = context.component_sizes.get(name)
        if project.effective == "lzo":
            small = sizes is not None and _growth(sizes).high <= _NEGLIGIBLE
            doubt = sizes is None or _growth(sizes).low <= _NEGLIGIBLE
        else:
            gain, least_s = _least_saving(sizes), context.analysis.policy.min_saving_s
            small = gain is not None and gain.high < least_s
            doubt = gain is None or gain.low < least_s
        if small:
            continue
        wanted = "xz" if project.effective == "lzo" else "lzo"
        undecided = doubt or read is None
        now = project.effective or SNAPCRAFT_DEFAULT
        yield rule.finding(
            context,
            f"Component {name} inherits 'compression: {now}', "
            f"{_what_it_costs(sizes, read)}",
            location=Location(
                "project", str(project.path), project.component_lines.get(name)
            ),
            subject={"component": name},
            evidence=_component_evidence(name, sizes),
            fix=say_reader(name)
            if read is None
            else Fix(
                f"Give component {name} 'compression: {wanted}'",
                safe=not undecided,
                edit=safe_edit(project, {name: wanted}),
            ),
            undecided=undecided,
        )


def _least_saving(sizes: ComponentSizes | None) -> Interval | None:
    """Return lzo's least saving for a program that reads all of a component."""
    savings = (each.seconds for each in sizes.whole.savings()) if sizes else ()
    return min(savings, key=lambda each: each.low, default=None)


def _what_it_costs(
    sizes: ComponentSizes | None, read: Literal["all", "none"] | None
) -> str:
    if sizes is None:
        return "and its size isn't known, because its files aren't here."
    added = sizes.lzo_less_xz_bytes
    size = f"an estimated {bytes_text(added)} ({percent(_growth(sizes).mid)})"
    if read == "all":
        text = f"which takes {size} less than lzo, but a start waits for all of it."
        return f"{text}{_reads(sizes)}"
    text = f"which adds {size} to what it would take with xz"
    if read == "none":
        return f"{text}; nothing waits for its files."
    return f"{text}. What reads it isn't known.{_reads(sizes)}"


def _reads(sizes: ComponentSizes) -> str:
    """Return the seconds to read all of a component on the first device."""
    for device, by_codec in sizes.whole.estimates.items():
        times = [
            f"{seconds_text(by_codec[codec].added_s)} with {codec}"
            for codec in SHIPPABLE
            if codec in by_codec
        ]
        return (
            f" Reading all of it takes {' and '.join(times)} on {device} (estimated)."
        )
    return ""


def _growth(sizes: ComponentSizes) -> Interval:
    """Return lzo's growth as a share of the image with xz."""
    return sizes.lzo_less_xz_bytes * (1 / sizes.xz_bytes.mid)


def _component_evidence(name: str, sizes: ComponentSizes | None) -> Iterator[Evidence]:
    yield declared(f"compression of component {name}", "inherited")
    if sizes is not None:
        yield estimated(f"component {name} with xz", bytes_text(sizes.xz_bytes))
        yield estimated("added by lzo", bytes_text(sizes.lzo_less_xz_bytes))


def _nothing_declared(context: Context) -> str | None:
    built = context.analysis.payload.kind == "snap"
    return no_project(context) if built and not context.settings.compression else None


@Rule(id="SCA106", severity="warning", unasked=_nothing_declared)
def compression_lost(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding if the snap isn't packed as it declares."""
    codec = current_codec(context)
    project = context.project
    is_built = context.analysis.payload.kind == "snap"
    in_project = project.effective if project and is_built else None
    source = "snapcraft.yaml"
    if project is not None and project.compression is None and project.extension:
        source = f"extension {project.extension}"
    for where, wanted in (
        (source, in_project),
        ("the policy", context.settings.compression),
    ):
        if wanted is None or wanted == codec:
            continue
        verb = "is" if is_built else "would be"
        yield rule.finding(
            context,
            f"{wanted} is declared in {where}, but the snap {verb} packed with "
            f"{codec}.",
            location=compression_place(context),
            subject={"declared": where.rpartition(" ")[2]},
            evidence=(
                declared(f"in {where}", wanted),
                _now("packed with" if is_built else "to be packed with", context),
            ),
            fix=Fix("Build the snap again with 'snapcraft pack'")
            if is_built
            else Fix(f"Set 'compression: {wanted}' in snapcraft.yaml"),
        )


def _now(label: str, context: Context) -> Evidence:
    """Return the snap's codec as evidence."""
    is_built = context.analysis.payload.kind == "snap"
    return (measured if is_built else declared)(label, current_codec(context))


@Rule(id="SCA107", severity="warning", unasked=no_baseline)
def compression_changed(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding if the baseline has another codec."""
    before = context.baseline.figures if context.baseline else None
    codec = current_codec(context)
    if before is None or before.codec == codec:
        return
    verb = "is" if context.analysis.payload.kind == "snap" else "would be"
    yield rule.finding(
        context,
        f"The baseline was packed with {before.codec}; this snap {verb} packed with "
        f"{codec}.",
        location=compression_place(context),
        evidence=(
            (measured if before.measured else declared)("baseline", before.codec),
            _now("now", context),
        ),
        fix=Fix(
            f"Set 'compression: {before.codec}' in snapcraft.yaml, unless the change "
            "is deliberate"
        ),
    )


RULES = (key_implicit, component_key, compression_lost, compression_changed)
