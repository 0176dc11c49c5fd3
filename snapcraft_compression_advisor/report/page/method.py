"""How the figures were obtained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.units import format_bytes, format_seconds
from ..phrases import how_known, kernel_phrase
from .measured import machine
from .model import Section
from .texts import how_sized

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..advise_month import MonthReport
    from ..json_report import DeviceReport, MethodReport, PolicyReport, Report
    from ..measure_json import MeasurementReport


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
Term = tuple[str, tuple[str, ...]]


def method_section(
    report: Report | None, measurement: MeasurementReport | None
) -> Section:
    """Return how the numbers were made, and how sure they are."""
    terms: list[Term] = []
    if report is not None:
        terms += _analysis_terms(report)
    if measurement is not None:
        terms.append(("Measured launches", machine(measurement)))
    versions = [each.advisor_version for each in (report, measurement) if each]
    version = ", ".join(dict.fromkeys(versions))
    terms.append(("Version", (f"snapcraft-compression-advisor {version}",)))
    return Section(
        key="method", title="How the figures were obtained", terms=tuple(terms)
    )


def _analysis_terms(report: Report) -> Iterator[Term]:
    yield "Image sizes", tuple(_sizes(report))
    yield "Launches", tuple(_launches(report))
    if report.method is None:
        return
    for device in report.method.devices:
        yield (
            f"Device {device.name}",
            (f"{device.description}.", *device.sources, *_kernel(device)),
        )
    yield (
        "Accuracy of the estimated seconds",
        (
            (
                "Measured on Debian applications, each predicted from the others and "
                "from its recorded launch:"
            ),
            *MODEL_ERROR,
        ),
    )
    yield "Policy", tuple(_policy(report.method.policy, report.month))
    if report.method.command:
        yield "Command", (report.method.command,)


def _kernel(device: DeviceReport) -> tuple[str, ...]:
    kernel = device.kernel
    return (f"{kernel_phrase(kernel)} ({kernel.source})",) if kernel else ()


def _sizes(report: Report) -> Iterator[str]:
    trial, method = report.trial, report.method
    if trial.mode == "exact":
        yield f"measured: the payload was packed with every codec ({trial.tool})"
    else:
        yield (
            how_sized(report, trial.tool)
            .removeprefix("Image sizes: ")
            .removesuffix(".")
        )
        if method is not None:
            yield _sample(method)
    yield from trial.notes


def _sample(method: MethodReport) -> str:
    known = ", ".join(
        f"{codec} {count:,}"
        for codec, count in method.blocks_known.items()
        if codec != "none"
    )
    return f"sampled, of {method.distinct_blocks:,} distinct data blocks: {known}"


def _launches(report: Report) -> Iterator[str]:
    if report.method is not None and report.launches:
        apps = ", ".join(launch.app for launch in report.launches)
        yield f"target apps: {apps} ({report.method.app_choice})"
    for launch in report.launches:
        yield f"{launch.app}: blocks read are {how_known(launch.source, launch.method)}"
    yield (
        "seconds: estimated from the blocks read and the device's figures; the "
        "interval covers their uncertainty"
    )


def _policy(policy: PolicyReport, month: MonthReport | None) -> Iterator[str]:
    asked = (
        format_seconds(policy.min_saving_s)
        if policy.min_saving_share is None
        else f"{100 * policy.min_saving_share:g}% of what xz adds"
    )
    pays = f"pay for its larger download within {policy.max_launches:g} cold launches"
    if month is not None:
        pays = f"save time over {month.summary}"
    yield (
        f"lzo must save {asked} per cold launch and {pays} at "
        f"{policy.link_mbit_per_s:g} Mbit/s; {_DECIDING[policy.deciding_apps]} decides"
    )
    if policy.device_shares:
        shares = (f"{share:.0%} {name}" for name, share in policy.device_shares.items())
        yield f"it must do so on average over the users' devices: {', '.join(shares)}"
    if policy.max_growth_bytes is not None:
        yield f"lzo may add up to {format_bytes(policy.max_growth_bytes)}"
    if policy.max_growth_share is not None:
        yield f"lzo may add up to {100 * policy.max_growth_share:g}%"
