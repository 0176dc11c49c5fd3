"""Contexts for tests of rules, made of an analysis without files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from analyses import MB, evidence_of, make_analysis
from payloads import make_payload
from snapcraft_compression_advisor.advice.evidence import Policy, Saving
from snapcraft_compression_advisor.advice.recommendation import recommend
from snapcraft_compression_advisor.analysis import Analysis
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launches import LaunchAnalysis
from snapcraft_compression_advisor.lint.components import ComponentSizes
from snapcraft_compression_advisor.lint.finding import Finding
from snapcraft_compression_advisor.lint.rule import Context, Rule
from snapcraft_compression_advisor.payload.survey import take_survey
from snapcraft_compression_advisor.project.project_file import ProjectFile, read_project
from snapcraft_compression_advisor.settings.settings import Settings

MUCH = Interval(low=0.45, mid=1.0, high=3.12)
LITTLE = Interval(low=0.01, mid=0.02, high=0.05)
PERHAPS = Interval(low=0.1, mid=0.3, high=0.9)
"""Seconds that lzo saves, against the 0.25 s that it has to."""


def make_context(  # noqa: PLR0913 # keywords, each with a default
    *,
    declared: str | None = "xz",
    saves: Interval = MUCH,
    policy: Mapping[str, object] | None = None,
    project: ProjectFile | None = None,
    sizes: Mapping[str, ComponentSizes] | None = None,
    base: str = "core24",
    analysis: Analysis | None = None,
) -> Context:
    """Return what rules look at; sizes and launches are those of ``make_analysis``.

    :param declared: compression of the payload.
    :param saves: what lzo saves per cold launch.
    :param policy: as it stands in the policy's file.
    :param analysis: instead of one made from these.
    """
    payload = make_payload({"bin/x": b""}, base=base)
    return Context(
        analysis=analysis or judged(make_analysis(), declared, saves),
        inventory=payload.inventory,
        snap=payload.snap,
        survey=take_survey(payload),
        policy=Settings.model_validate(policy or {}),
        project=project,
        component_sizes=sizes or {},
    )


def judged(analysis: Analysis, declared: str | None, saves: Interval) -> Analysis:
    """Return an analysis with the recommendation that follows from a saving."""
    saving = Saving(app="app0", device="nvme-laptop", seconds=saves)
    evidence = evidence_of(analysis.trial, [saving], declared=declared)
    return replace(
        analysis,
        payload=replace(analysis.payload, declared_compression=declared),
        recommendation=recommend(evidence, Policy()),
    )


def sized(analysis: Analysis, codec: str, size_mb: Interval) -> Analysis:
    """Return an analysis with another image size for one codec."""
    codecs = dict(analysis.trial.codecs)
    codecs[codec] = replace(
        codecs[codec], image_bytes=size_mb.map(lambda size: size * MB)
    )
    return replace(analysis, trial=replace(analysis.trial, codecs=codecs))


def with_launch(analysis: Analysis, launch: LaunchAnalysis) -> Analysis:
    """Return an analysis of that launch only."""
    return replace(analysis, launches=(launch,))


def make_project(text: str) -> ProjectFile:
    """Return a project file of a text."""
    return read_project(Path("snap/snapcraft.yaml"), text.encode())


def found_by(rule: Rule, context: Context) -> list[Finding]:
    """Return what one rule finds."""
    return list(rule.check(context))


def edited(finding: Finding) -> str:
    """Return the text that a finding's fix makes of the project file."""
    assert finding.fix is not None
    assert finding.fix.edit is not None
    return finding.fix.edit.after.decode()
