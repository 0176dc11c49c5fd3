"""SCA108: advice that differs between kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from analyses import make_analysis
from lint_contexts import LITTLE, MUCH, found_by, judged, make_context
from snapcraft_compression_advisor.advice.evidence import Evidence, Policy, Saving
from snapcraft_compression_advisor.advice.recommendation import recommend
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.lint.rule import Context
from snapcraft_compression_advisor.lint.rules.kernels import kernels_differ


def context_of(savings: Mapping[str, Interval]) -> Context:
    analysis = judged(make_analysis(), "xz", LITTLE)
    evidence = Evidence(
        declared="xz",
        xz_bytes=analysis.trial.codecs["xz"].image_bytes,
        lzo_bytes=analysis.trial.codecs["lzo"].image_bytes,
        bytes_added=analysis.trial.lzo_less_xz_bytes,
        savings=[
            Saving(app="app0", device=device, seconds=saving)
            for device, saving in savings.items()
        ],
    )
    advice = recommend(evidence, Policy())
    return make_context(analysis=replace(analysis, recommendation=advice))


def test_kernel_that_changes_the_verdict_is_named() -> None:
    context = context_of({"nvme-laptop": LITTLE, "nvme-laptop@ubuntu-22.04": MUCH})
    (finding,) = found_by(kernels_differ, context)
    assert finding.severity == "info"
    assert finding.message == (
        "The verdict for nvme-laptop depends on the kernel: no benefit on nvme-laptop; "
        "change to lzo on nvme-laptop@ubuntu-22.04."
    )
    assert [each.origin for each in finding.evidence] == ["estimated"] * 2
    assert "nvme-laptop@ubuntu-22.04" in finding.evidence[1].label


def test_kernels_that_agree_are_no_finding() -> None:
    context = context_of({"nvme-laptop": MUCH, "nvme-laptop@ubuntu-22.04": MUCH})
    assert not found_by(kernels_differ, context)


def test_devices_may_differ_without_kernels() -> None:
    context = context_of({"nvme-laptop": LITTLE, "hdd-laptop": MUCH})
    assert not found_by(kernels_differ, context)
