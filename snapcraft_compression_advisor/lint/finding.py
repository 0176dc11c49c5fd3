"""What a rule found, and where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from ..core.terminal import printable
from ..core.units import Interval

if TYPE_CHECKING:
    from ..diff.figures import BaselineBuild, PayloadFigures
    from ..project.edit import Edit

MOST_FILES = 200
"""That a finding names; there may be more."""

Severity = Literal["error", "warning", "info"]
"""The most severe first."""

REGRESSIONS = ("SCA107", "SCA6")
"""Prefixes of the rules about a change: their findings are never known before."""


@dataclass(frozen=True, slots=True)
class Location:
    """Where a finding is.

    :param kind: ``project``: a line of snapcraft.yaml; ``payload``: a file of the
        payload; ``image``: the payload as a whole.
    :param path: of the project file as it was given, relative to the payload, or of
        the payload itself.
    """

    kind: Literal["project", "payload", "image"]
    path: str
    line: int | None = None


Origin = Literal["measured", "estimated", "published", "declared"]
"""How a figure is known."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A figure that a finding rests on."""

    label: str
    text: str
    origin: Origin


def measured(label: str, text: str) -> Evidence:
    """Return a measured figure as evidence."""
    return Evidence(label, text, "measured")


def estimated(label: str, text: str) -> Evidence:
    """Return a figure that follows from a sample or a model."""
    return Evidence(label, text, "estimated")


def declared(label: str, text: str) -> Evidence:
    """Return a value of the project or its settings as evidence."""
    return Evidence(label, text, "declared")


@dataclass(frozen=True, slots=True)
class Fix:
    """What fixes a finding.

    :param safe: whether it can be made without a look at its result.
    :param edit: the change to the project file, if the advisor can make it.
    """

    description: str
    safe: bool = False
    edit: Edit | None = None

    @property
    def automatic(self) -> bool:
        """Whether ``--fix`` makes it."""
        return self.safe and self.edit is not None

    @property
    def diff(self) -> str | None:
        """The change to the project file, for ``patch -p1``; None without one."""
        return None if self.edit is None else self.edit.diff()


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """What fixing a finding saves; estimated.

    :param seconds: at most, of each launch or download.
    :param of: what is that much faster: a cold launch or a download.
    :param where: app and device, or link.
    """

    seconds: Interval
    of: Literal["cold launch", "download"]
    where: str


State = Literal["new", "worse", "moved", "known"]
"""What a finding is against a baseline; a run fails for the first two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a rule found.

    :param severity: as the rule or the settings have it; ``info`` if undecided.
    :param message: one or two sentences that stand alone, figures included.
    :param subject: what it is about beside its place, by kind: ``app``, ``device``,
        ``component``; what tells two findings of one rule at one place apart.
    :param files: files of the payload that it concerns, the largest first.
    :param gain: of the fix; ``None`` if it isn't known.
    :param undecided: whether the evidence is inconclusive.
    :param state: against a baseline; ``None`` without one.
    :param was: what the baseline knows it as; ``None`` if it is new.
    """

    rule: str
    name: str
    severity: Severity
    message: str
    location: Location
    subject: Mapping[str, str] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    files: tuple[str, ...] = ()
    fix: Fix | None = None
    gain: Gain | None = None
    undecided: bool = False
    state: State | None = None
    was: Finding | None = None

    @property
    def counts(self) -> bool:
        """Whether it can fail a run, as those of a baseline can't."""
        return self.state in (None, "new", "worse")

    @property
    def place(self) -> tuple[str, str, str]:
        """Rule, kind of location and path: what stays while the finding does.

        A path that isn't within the payload is left out, as checkouts differ in it.
        """
        kind = self.location.kind
        path = printable(self.location.path) if kind == "payload" else ""
        return self.rule, kind, path


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchecked:
    """A rule that couldn't look at a payload: that it finds nothing is no pass."""

    rule: str
    name: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LintedPayload:
    """One payload's findings.

    :param snap_name: of its snap.yaml; empty if it couldn't be read.
    :param findings: by severity, then rule, then location.
    :param fail_on: the least severity that fails a run, as its settings have it.
    :param error: why it couldn't be linted.
    :param figures: of its image and its launches, to compare the next build with.
    :param baseline: the build that a baseline is of, if there is one.
    :param before: what a baseline knows of it; ``None`` if there is none, or it doesn't
        know the snap.
    :param gone: findings that only the baseline has.
    :param project: the line of snapcraft.yaml that stands for all of it; ``None``
        without a project.
    """

    path: str
    snap_name: str
    findings: tuple[Finding, ...]
    fail_on: Severity = "error"
    error: str | None = None
    figures: PayloadFigures | None = None
    baseline: BaselineBuild | None = None
    before: LintedPayload | None = None
    gone: tuple[Finding, ...] = ()
    checked: int = 0
    unchecked: tuple[Unchecked, ...] = ()
    project: Location | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LintReport:
    """All payloads of one run.

    :param against: the baseline's file, as it was given; ``None`` without a baseline.
    """

    version: str
    payloads: tuple[LintedPayload, ...]
    against: str | None = None

    def counting(self) -> LintReport:
        """Return the report of what can fail a run."""
        payloads = (
            replace(each, findings=tuple(f for f in each.findings if f.counts))
            for each in self.payloads
        )
        return replace(self, payloads=tuple(payloads))
