"""What a rule is, what it looks at, and where its findings are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

from ..advice.judging import SNAPCRAFT_DEFAULT
from ..core.files import read_table
from ..core.units import Interval
from .finding import Evidence, Finding, Fix, Gain, Location, Origin, Severity

if TYPE_CHECKING:  # the texts of rules are shown without an analysis
    from ..analysis import Analysis
    from ..diff.figures import BaselineBuild, BaselineDelta
    from ..launches import LaunchAnalysis
    from ..payload.inventory import Inventory
    from ..payload.snap_yaml import SnapMetadata
    from ..payload.survey import Survey
    from ..preflight.packing import Packing
    from ..preflight.resquash import Resquash
    from ..project.project_file import ProjectFile
    from ..refresh.delta import DeltaFormat
    from ..settings.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentSizes:
    """Size of a component's image, and what a program waits for that reads all of it.

    :param lzo_less_xz_bytes: what lzo adds to that size.
    """

    xz_bytes: Interval
    lzo_less_xz_bytes: Interval
    whole: LaunchAnalysis


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """All that rules may look at; they open nothing themselves.

    :param survey: what was found in its files: caches, linkage, needless files.
    :param packing: how a built snap was packed; ``None`` for a prime directory.
    :param resquash: what became of it packed again, if that was asked for.
    :param baseline: the build that a baseline is of, if there is one.
    :param component_sizes: of the components whose files are at hand, by name.
    :param packer: version of this machine's mksquashfs; ``None`` if it isn't known.
    """

    analysis: Analysis
    inventory: Inventory
    snap: SnapMetadata
    survey: Survey
    settings: Settings
    project: ProjectFile | None = None
    packing: Packing | None = None
    resquash: Resquash | None = None
    baseline: BaselineBuild | None = None
    packer: str | None = None
    component_sizes: Mapping[str, ComponentSizes] = field(default_factory=dict)


Judge = Callable[["Rule", Context], Iterator[Finding]]


Reason = Callable[["Context"], "str | None"]
"""Returns why a rule can't look at a payload; None if it can."""


def no_image(context: Context) -> str | None:
    """Return why a rule about built snaps can't look."""
    return "it looks at built snaps only" if context.packing is None else None


def no_project(context: Context) -> str | None:
    """Return why a rule about the project can't look."""
    return None if context.project else "no snapcraft.yaml of the snap is at hand"


def no_baseline(context: Context) -> str | None:
    """Return why a rule about changes has nothing to compare with."""
    return "--baseline isn't given" if context.baseline is None else None


def no_sizes(context: Context) -> str | None:
    """Return why a rule about files' sizes in the image can't look."""
    if priced_codec(context) is not None:
        return None
    codec = current_codec(context)
    return f"what files take in an image packed with {codec} isn't known"


DELTA_NAMES: Mapping[DeltaFormat, str] = {
    "xdelta3": "plain delta",
    "snap-1-1-xdelta3": "snap-aware delta",
}


RECORD = Fix(
    "Record a launch with --record, or specify a recording as 'launch-profile'"
)
"""What decides many a finding that is undecided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleText:
    """What a rule says of itself: Markdown, plain sentences.

    :param fails_if: when it fires, thresholds included.
    :param options: settings that it heeds.
    :param remedy: what fixes a finding that brings no fix of its own, an imperative.
    """

    summary: str
    fails_if: str
    why: str
    how_to_fix: str
    options: Sequence[str] = ()
    remedy: str | None = None


@cache
def _rule_texts() -> Mapping[str, RuleText]:
    """Return the texts of all rules, by id; few runs show any."""
    return {
        rule: RuleText(
            options=entry.pop("options", ()),
            **{
                key: text if isinstance(text, str) else " ".join(text)
                for key, text in entry.items()
            },
        )
        for rule, entry in read_table(__package__, "rules.yaml").items()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule: how it judges a payload. It decorates the function that does.

    :param id: ``SCA`` and three digits; never changes or comes back.
    :param name: in words, with hyphens; by default that of the function.
    :param severity: unless the settings say otherwise.
    :param judge: yields what is wrong, made by :meth:`finding`; no I/O.
    :param blocked: why it can't look at a payload, so that no finding is no pass.
    :param unasked: why there is nothing for it to look at: an option or a setting that
        isn't given.
    """

    id: str
    name: str = ""
    severity: Severity
    judge: Judge | None = None
    blocked: Reason = field(default=lambda _: None)
    unasked: Reason = field(default=lambda _: None)

    def __call__(self, judge: Judge) -> Rule:
        """Return the rule that judges by a function, which names it."""
        name = self.name or judge.__name__.replace("_", "-")
        return replace(self, name=name, judge=judge)

    @property
    def text(self) -> RuleText:
        """What it says of itself, which is in ``rules.yaml``."""
        return _rule_texts()[self.id]

    def check(self, context: Context) -> Iterator[Finding]:
        """Yield what is wrong.

        :raises NotImplementedError: if it decorates no function.
        """
        if self.judge is None:
            raise NotImplementedError(self.id)
        return self.judge(self, context)

    def finding(  # noqa: PLR0913 # keywords, each with a default
        self,
        context: Context,
        message: str,
        *,
        location: Location | None = None,
        subject: Mapping[str, str] | None = None,
        evidence: Iterable[Evidence] = (),
        files: Iterable[str] = (),
        fix: Fix | None = None,
        gain: Gain | None = None,
        undecided: bool = False,
    ) -> Finding:
        """Return a finding of this rule.

        :param location: the payload as a whole by default.
        :param fix: the remedy of the rule's text by default.
        """
        remedy = self.text.remedy
        if fix is None and remedy is not None:
            fix = Fix(remedy)
        return Finding(
            rule=self.id,
            name=self.name,
            severity="info" if undecided else self.severity,
            message=message,
            location=location or image_place(context),
            subject=subject or {},
            evidence=tuple(evidence),
            files=tuple(files),
            fix=fix,
            gain=gain,
            undecided=undecided,
        )


def packed_with(context: Context) -> str:
    """Return the beginning of a sentence on the codec, which a directory only gets."""
    is_built = context.analysis.payload.image_bytes is not None
    return f"The snap {'is' if is_built else 'would be'} packed with"


def current_codec(context: Context) -> str:
    """Return the codec that the payload is packed with, or will be."""
    return context.analysis.payload.declared_compression or SNAPCRAFT_DEFAULT


def priced_codec(context: Context) -> str | None:
    """Return the payload's codec, or else the default, if its files' sizes are known.

    Sizes of an image that another program packed, or with fragments, aren't known.
    """
    stored = context.analysis.trial.stored
    known = stored.codecs if stored is not None else ()
    wanted = (current_codec(context), SNAPCRAFT_DEFAULT)
    return next((codec for codec in wanted if codec in known), None)


def image_place(context: Context) -> Location:
    """Return the payload as a whole."""
    return Location("image", str(context.analysis.payload.path))


def compression_place(context: Context) -> Location:
    """Return the line of ``compression``; without a project, the payload."""
    project = context.project
    if project is None:
        return image_place(context)
    return Location("project", str(project.path), project.compression_line)


def size_origin(size: Interval, analysis: Analysis) -> Origin:
    """Return where an image's size comes from: packed, built already, or estimated."""
    built = analysis.payload.image_bytes
    packed = analysis.trial.mode == "exact"
    if packed or (built is not None and size == Interval.exactly(built)):
        return "measured"
    return "estimated"


def delta_name(delta: BaselineDelta) -> str:
    """Return the name of a delta from the baseline."""
    return f"{DELTA_NAMES[delta.delta_format]} with {delta.codec}"
