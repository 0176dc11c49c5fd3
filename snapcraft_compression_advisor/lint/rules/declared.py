"""SCA103, SCA104, SCA106 and SCA107: the compression declared, packed, published."""

from __future__ import annotations

from collections.abc import Iterator

from ...advice.evidence import Policy
from ...advice.recommendation import SNAPCRAFT_DEFAULT
from ...codecs import SHIPPABLE
from ...core.units import Interval, format_bytes
from ...payload.snap_yaml import COMPONENT_TYPE
from ..figures import bytes_text, share_text
from ..finding import Evidence, Finding, Fix, Location, Origin
from ..project import ComponentSizes
from ..rule import Context, Rule, compression_place, current_codec, no_project
from .compression import compression_fix

_NEGLIGIBLE = Policy().negligible_growth


@Rule(
    id="SCA103",
    severity="info",
    summary="snapcraft.yaml has no `compression` key.",
    fails_if="The project file has no `compression` key at its root, or the key is "
    "null. Without a project file, the rule is skipped. It also skips components, "
    "which inherit the snap's compression.",
    why="snapcraft then packs with xz, or with lzo if the project uses one of the "
    "extensions kde-neon, kde-neon-6 and kde-neon-qt6. An explicit key makes the "
    "choice visible in reviews, and keeps it if a default or an extension changes.",
    how_to_fix="Write what SCA101 or SCA102 recommends, or else what the snap is "
    "packed with now. `--fix` does this.",
    unasked=no_project,
)
def key_implicit(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding where snapcraft.yaml has no ``compression``."""
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
        evidence=(Evidence("compression in snapcraft.yaml", "none", "declared"),),
        fix=compression_fix(context, wanted),
    )


@Rule(
    id="SCA104",
    severity="warning",
    summary="A component inherits a compression that doesn't suit it.",
    fails_if="snapcraft.yaml has `compression: lzo`, a component has no key of its own "
    "and so inherits it, and lzo makes the component's image more than 1 % larger than "
    "xz. The sizes are estimated from the component's files in "
    "`partitions/component/NAME/prime`. If these files aren't there, or the interval "
    "includes 1 %, the finding is undecided.",
    why="The project chose lzo for the files that the snap's launch reads. A "
    "component's files aren't among them, so lzo only makes the component's download "
    "larger.",
    how_to_fix="Give the component the key `compression: xz`. `--fix` does this. If "
    "users wait while the component's files are read, write `compression: lzo` "
    "instead.",
)
def component_key(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding for each component whose codec, inherited, is unsuitable."""
    project = context.project
    if project is None or project.effective != "lzo":
        return
    for name in project.inheriting:
        sizes = project.component_sizes.get(name)
        growth = None if sizes is None else _growth(sizes)
        if growth is not None and growth.high <= _NEGLIGIBLE:
            continue
        undecided = growth is None or growth.low <= _NEGLIGIBLE
        yield rule.finding(
            context,
            f"Component {name} inherits 'compression: lzo', {_what_it_costs(sizes)}",
            location=Location(
                "project", str(project.path), project.component_lines.get(name)
            ),
            subject={"component": name},
            evidence=_component_evidence(name, sizes),
            fix=Fix(
                f"Give component {name} 'compression: xz'",
                safe=not undecided,
                edit=project.edit({name: "xz"}),
            ),
            undecided=undecided,
        )


def _what_it_costs(sizes: ComponentSizes | None) -> str:
    if sizes is None:
        return (
            "which was chosen for the snap's launch; its size isn't known, because its "
            "files aren't here."
        )
    added = sizes.lzo_less_xz_bytes
    share = share_text(added.mid, sizes.xz_bytes.mid)
    return (
        f"which adds an estimated {bytes_text(added)} ({share}) to what it would take "
        "with xz; the snap's launch reads none of its files."
    )


def _growth(sizes: ComponentSizes) -> Interval:
    """Return what lzo adds, as a share of the image with xz."""
    return sizes.lzo_less_xz_bytes.map(lambda added: added / sizes.xz_bytes.mid)


def _component_evidence(name: str, sizes: ComponentSizes | None) -> Iterator[Evidence]:
    yield Evidence(f"compression of component {name}", "inherited", "declared")
    if sizes is not None:
        size, added = bytes_text(sizes.xz_bytes), bytes_text(sizes.lzo_less_xz_bytes)
        yield Evidence(f"component {name} with xz", size, "estimated")
        yield Evidence("added by lzo", added, "estimated")


def _nothing_declared(context: Context) -> str | None:
    built = context.analysis.payload.kind == "snap"
    return no_project(context) if built and not context.policy.compression else None


@Rule(
    id="SCA106",
    severity="warning",
    summary="The snap isn't packed with the declared compression.",
    fails_if="A built snap is packed with a codec other than the one that "
    "snapcraft.yaml or the policy declares, or snapcraft.yaml and the policy "
    "declare different codecs. If neither declares a codec, the rule is skipped.",
    why="A plugin, a wrapper or another packer can pack with a default of its own, or "
    "the snap can be older than the key. Users then get a codec that nobody chose.",
    how_to_fix="Build the snap again. If the declared compression is lost again, pack "
    "with `snapcraft pack`, or give `snap pack` its `--compression` option.",
    options={"compression": "the codec to pack the snap with: `xz` or `lzo`"},
    unasked=_nothing_declared,
)
def compression_lost(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding where the snap isn't packed as it declares."""
    codec = current_codec(context)
    project = context.project
    is_built = context.analysis.payload.kind == "snap"
    in_project = project.effective if project and is_built else None
    source = "snapcraft.yaml"
    if project is not None and project.compression is None and project.extension:
        source = f"extension {project.extension}"
    for where, declared in (
        (source, in_project),
        ("the policy", context.policy.compression),
    ):
        if declared is None or declared == codec:
            continue
        verb = "is" if is_built else "would be"
        yield rule.finding(
            context,
            f"{declared} is declared in {where}, but the snap {verb} packed with "
            f"{codec}.",
            location=compression_place(context),
            subject={"declared": where.rpartition(" ")[2]},
            evidence=(
                Evidence(f"in {where}", declared, "declared"),
                _now("packed with" if is_built else "to be packed with", context),
            ),
            fix=Fix("Build the snap again with 'snapcraft pack'")
            if is_built
            else Fix(f"Set 'compression: {declared}' in snapcraft.yaml"),
        )


def _now(label: str, context: Context) -> Evidence:
    """Return what the snap is packed with, as evidence."""
    is_built = context.analysis.payload.kind == "snap"
    origin: Origin = "measured" if is_built else "declared"
    return Evidence(label, current_codec(context), origin)


@Rule(
    id="SCA107",
    severity="warning",
    summary="The previous snap was packed with a different codec.",
    fails_if="With `--previous FILE`: the previously published snap of the same name "
    "is packed with a different codec than this one.",
    why="A new codec changes every block, so the next refresh downloads the whole "
    "image, and launch time and size change for all users. Such a change should be "
    "deliberate.",
    how_to_fix="If the change is deliberate, ignore the rule for this release. "
    "Otherwise, set `compression` to the previous codec.",
    unasked=lambda context: None if context.previous else "--previous isn't given",
)
def compression_changed(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding where the previous snap had another codec."""
    previous = context.previous
    codec = current_codec(context)
    if previous is None or previous.codec == codec:
        return
    verb = "is" if context.analysis.payload.kind == "snap" else "would be"
    size = format_bytes(previous.image_bytes)
    yield rule.finding(
        context,
        f"The previous snap was packed with {previous.codec}; this one {verb} packed "
        f"with {codec}.",
        location=compression_place(context),
        evidence=(
            Evidence(
                f"previous snap {previous.path}",
                f"{previous.codec}, {size}",
                "measured",
            ),
            _now("now", context),
        ),
        fix=Fix(
            f"Set 'compression: {previous.codec}' in snapcraft.yaml, unless the change "
            "is deliberate"
        ),
    )


RULES = (key_implicit, component_key, compression_lost, compression_changed)
