"""SCA108: whether the advice is the same for all kernels of the users."""

from __future__ import annotations

from collections.abc import Iterator

from ...advice.reasons import DeviceVerdict
from ...core.units import seconds_text
from ...devices.builtin_kernels import plain_name
from ...wording import verdict_words
from ..finding import Evidence, Finding
from ..rule import Context, Rule, compression_place


@Rule(
    id="SCA108",
    severity="info",
    summary="The advice differs between the kernels that users run.",
    fails_if="The policy has `kernels`, and a device by itself gives another verdict "
    "with one of these kernels than with another.",
    why="Kernels differ in how often they decompress a block (snapd mounts without "
    "`threads=`, so with as many decompressors as each has by default). So lzo can be "
    "worth its size with one and not with another, on the same device.",
    how_to_fix="Decide for the kernel that most users have, and remove the others from "
    "`kernels`. A recorded launch, specified as `launch-profile`, narrows the "
    "intervals.",
    options={"kernels": "systems whose kernels the devices may have"},
    unasked=lambda context: (
        None if context.policy.kernels else "compression-advisor.yaml names no kernels"
    ),
)
def kernels_differ(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding for each device whose verdict depends on the kernel."""
    decides = context.analysis.recommendation.decides
    devices: dict[str, list[DeviceVerdict]] = {}
    for each in decides.by_device if decides else ():
        devices.setdefault(plain_name(each.device), []).append(each)
    for device, verdicts in devices.items():
        said = {each.device: verdict_words(each) for each in verdicts}
        if len({*said.values()}) > 1:
            told = "; ".join(f"{words} on {name}" for name, words in said.items())
            yield rule.finding(
                context,
                f"The verdict for {device} depends on the kernel: {told}.",
                location=compression_place(context),
                subject={"device": device},
                evidence=map(_saved, verdicts),
            )


def _saved(verdict: DeviceVerdict) -> Evidence:
    saving = verdict.saving
    return Evidence(
        f"lzo saves per cold launch of {saving.app} on {verdict.device}",
        seconds_text(saving.seconds),
        "estimated",
    )


RULES = (kernels_differ,)
