"""SCA108, SCA401, SCA402: whether kernels mount the image, and the store takes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...advice.recommendation import DeviceVerdict
from ...codecs import CODECS, SHIPPABLE
from ...core.units import seconds_text
from ...devices.builtin_kernels import plain_name
from ...settings.parts import Target
from ...wording import verdict_words
from ..finding import Evidence, Finding, Location, Origin, declared, estimated
from ..rule import Context, Rule, compression_place, current_codec, packed_with

Version = tuple[int, int]

FIRST_KERNEL: Mapping[str, Version] = {
    codec.name: codec.first_kernel for codec in CODECS.values() if codec.first_kernel
}
"""Since when mainline decompresses each; releases 2.6.x stand as (2, x)."""

OLDEST_KERNEL: Version = (4, 4)
"""Of Ubuntu 16.04 and Ubuntu Core 16: the oldest that snapd runs on."""
_OLDEST_BASES = frozenset({"core", "core16"})
"""Bases of the release whose kernel is :data:`OLDEST_KERNEL`."""


@Rule(id="SCA401", severity="error")
def codec_not_in_kernel(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding for each target whose kernel may lack the codec."""
    codec = current_codec(context)
    lacking = [
        (each.label, False)
        for each in context.settings.targets
        if not target_has(each, codec)
    ]
    if not context.settings.targets and not kernel_has(codec, OLDEST_KERNEL):
        # No mainline kernel has a codec that isn't in the table.
        undecided = codec in FIRST_KERNEL
        undecided &= context.snap.base_name not in _OLDEST_BASES
        oldest = f"kernel {_version_text(OLDEST_KERNEL)} of Ubuntu 16.04"
        lacking.append((oldest, undecided))
    since = FIRST_KERNEL.get(codec)
    known = f"since Linux {_version_text(since)}" if since else "in no mainline kernel"
    for target, undecided in lacking:
        verb = "may have to be mounted by" if undecided else "can't be mounted by"
        origin: Origin = "declared" if context.settings.targets else "published"
        yield rule.finding(
            context,
            f"An image packed with {codec} {verb} {target}, which lacks {codec}.",
            location=compression_place(context),
            subject={"target": target},
            evidence=(
                Evidence(f"target {target}", f"no {codec}", origin),
                Evidence(f"squashfs decompresses {codec}", known, "published"),
            ),
            undecided=undecided,
        )


@Rule(id="SCA402", severity="error")
def codec_not_accepted(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding for a codec that snapcraft and the store don't accept."""
    project, codec = context.project, current_codec(context)
    for name, own in (project.components if project else {}).items():
        if project is not None and own is not None and own not in SHIPPABLE:
            yield rule.finding(
                context,
                f"Component {name} has 'compression: {own}', which snapcraft refuses; "
                "it accepts only xz and lzo.",
                location=Location(
                    "project", str(project.path), project.component_lines.get(name)
                ),
                subject={"component": name},
                evidence=(declared(f"component {name}", own),),
            )
    if codec in SHIPPABLE:
        return
    yield rule.finding(
        context,
        f"{packed_with(context)} {codec}; snapcraft and the store "
        "accept only xz and lzo.",
        location=compression_place(context),
        evidence=(declared("compression", codec),),
    )


@Rule(
    id="SCA108",
    severity="info",
    unasked=lambda context: (
        None
        if context.settings.kernels
        else "compression-advisor.yaml names no kernels"
    ),
)
def kernels_differ(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding for each device whose verdict depends on the kernel."""
    decides = context.analysis.recommendation.decides
    devices: dict[str, list[DeviceVerdict]] = {}
    for each in decides.by_device if decides else ():
        devices.setdefault(plain_name(each.device), []).append(each)
    for device, verdicts in devices.items():
        words_of = {each.device: verdict_words(each) for each in verdicts}
        if len({*words_of.values()}) > 1:
            kinds = "; ".join(f"{text} on {name}" for name, text in words_of.items())
            yield rule.finding(
                context,
                f"The verdict for {device} depends on the kernel: {kinds}.",
                location=compression_place(context),
                subject={"device": device},
                evidence=[
                    estimated(
                        f"lzo saves per cold launch of {each.saving.app} on "
                        f"{each.device}",
                        seconds_text(each.saving.seconds),
                    )
                    for each in verdicts
                ],
            )


def kernel_has(codec: str, kernel: Version) -> bool:
    """Return whether mainline of that release decompresses a codec; ``none`` always."""
    first = FIRST_KERNEL.get(codec)
    return codec == "none" or (first is not None and kernel >= first)


def target_has(target: Target, codec: str) -> bool:
    """Return whether a system that the settings name can mount an image."""
    if target.codecs is not None and codec not in (*target.codecs, "none"):
        return False
    return target.kernel is None or kernel_has(codec, _version(target.kernel))


def _version_text(version: Version) -> str:
    """Return a release as people write it."""
    major, minor = version
    return f"2.6.{minor}" if major < 3 else f"{major}.{minor}"  # noqa: PLR2004 # 2.6


def _version(text: str) -> Version:
    parts = [int(part) for part in text.split(".")]
    if parts[0] < 3:  # noqa: PLR2004 # 2.6.38 stands as (2, 38)
        return 2, parts[-1]
    return parts[0], parts[1]


RULES = (kernels_differ, codec_not_in_kernel, codec_not_accepted)
