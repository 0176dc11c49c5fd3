"""What is about to be packed, what the advisor makes of it, and what people see."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path

from ..analysis import Analysis
from ..core.errors import NoInputError
from ..core.files import replace_text
from ..core.terminal import emit
from ..lint.rule import Context
from ..lint.rules.budgets import cold_start_budget, image_size_budget
from ..lint.run import Selection, run_rules
from ..project.edit import apply_edit, plan_edit
from ..project.project_file import ProjectFile
from ..report.advise_details import detail_sections
from ..report.advise_json import advise_json
from ..report.answer import advise_page, pack_lines
from ..report.lines import FILE_STYLE, TextStyle, shows_unicode
from ..report.text_printer import print_text
from ..settings.parts import PackMode
from ..settings.settings import Settings
from ..squashfs.image import Image
from ..wording import sentences
from .guard import PolicyBrokenError


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """A snap or a component about to be packed.

    :param component: its name; None for the snap itself.
    :param compression: that it is packed with unless the advisor changes it.
    :param declared: what snapcraft.yaml says of this artifact itself; None if it says
        nothing, and a component inherits or the default applies.
    """

    prime_dir: Path
    component: str | None = None
    compression: str
    declared: str | None = None

    @property
    def label(self) -> str:
        """What messages call it."""
        return "the snap" if self.component is None else f"component {self.component}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What an artifact is packed with, and why.

    :param follows: whether the compression is the advice's doing.
    """

    artifact: Artifact
    analysis: Analysis
    mode: PackMode
    compression: str
    follows: bool

    @property
    def as_packed(self) -> Analysis:
        """The analysis as it is once the advice is followed: nothing left to change."""
        if not self.follows:
            return self.analysis
        analysis = self.analysis
        return replace(
            analysis,
            payload=replace(analysis.payload, declared_compression=self.compression),
            recommendation=replace(analysis.recommendation, verdict="keep"),
        )


def decide(artifact: Artifact, analysis: Analysis, settings: Settings) -> Decision:
    """Return the codec to pack an artifact with.

    Only ``apply`` and ``write`` change anything, only a verdict ``change`` does, and
    what snapcraft.yaml declares stands unless the settings say otherwise.
    """
    advice = analysis.recommendation
    # On core22 snapcraft packs components with the snap's key, not their own.
    free = settings.override_declared or artifact.declared != artifact.compression
    changes = settings.mode in ("apply", "write") and advice.verdict == "change"
    follows = changes and free
    return Decision(
        artifact=artifact,
        analysis=analysis,
        mode=settings.mode,
        compression=advice.compression if follows else artifact.compression,
        follows=follows,
    )


def codec_of(image: Path) -> str:
    """Return the codec of a built snap or component.

    :raises AdvisorError: if it isn't one.
    """
    with Image.open(image) as opened:
        return opened.superblock.codec


def check_advice(decision: Decision) -> None:
    """Refuse a pack if the advice is to change what snapcraft.yaml says.

    An undecided verdict breaks nothing.

    :raises PolicyBrokenError: in that case.
    """
    advice = decision.analysis.recommendation
    if advice.verdict != "change":
        return
    artifact = decision.artifact
    whose = "declared" if artifact.declared else "implied"
    first, *others = sentences(advice)
    message = (
        f"The {whose} compression {artifact.compression!r} of {artifact.label} "
        f"violates the policy: {first}"
    )
    raise PolicyBrokenError(
        message,
        details="\n".join(others) or None,
        resolution=f"Set 'compression: {advice.compression}' "
        f"({_to_follow(decision.analysis, artifact.component)!r}), or change the "
        "policy.",
    )


def check_budgets(context: Context) -> None:
    """Refuse a pack that breaks a budget, not if the estimate leaves that open.

    :raises PolicyBrokenError: in that case.
    """
    rules = (cold_start_budget, image_size_budget)
    for finding in run_rules(context, rules, Selection(severities={})):
        if not finding.undecided:
            raise PolicyBrokenError(
                finding.message,
                resolution="See what 'snapcraft compression-advice' reports for the "
                "other codec, ship less, or raise the budget.",
            )


def show(decision: Decision) -> None:
    """Print the advice in a few lines; the page without details if it is verbose."""
    analysis = decision.analysis
    style = replace(FILE_STYLE, unicode=shows_unicode(sys.stderr))
    component = decision.artifact.component
    page = advise_page(_tried(analysis), apply=_to_follow(analysis, component))
    for line in print_text(page, style.with_all()).splitlines():
        emit.verbose(line)
    first, *others = pack_lines(analysis, style)
    emit.progress(f"Compression advice for {_name(decision)}: {first}", permanent=True)
    for line in others:
        emit.progress(f"  {line}", permanent=True)


def show_outcome(decision: Decision, *, unset: str | None = None) -> None:
    """Print what became of an advice to change, for the end of the pack.

    :param unset: why snapcraft.yaml couldn't be changed.
    """
    codec, advised = decision.compression, decision.analysis.recommendation
    component = decision.artifact.component
    if advised.verdict != "change":
        return
    if decision.follows:
        text = f"packed with {codec} as advised"
        if unset is not None:
            below = "" if component is None else f" below component {component}"
            text += (
                f", but snapcraft.yaml was NOT changed ({unset}): write 'compression: "
                f"{codec}'{below} into it"
            )
    else:
        text = f"packed with {codec}"
        if decision.mode in ("apply", "write"):
            text += ", which snapcraft.yaml declares"
        text += f"; to change it, run {_to_follow(decision.analysis, component)!r}"
    emit.progress(f"Compression of {_name(decision)}: {text}", permanent=True)


def write_report(decision: Decision, path: Path) -> None:
    """Write the report; a file is complete or not there.

    :param path: JSON if it ends so, else text; a component's report has the
        component's name before the suffix.
    :raises OSError: if it can't be written.
    """
    component = decision.artifact.component
    if component is not None:
        path = path.with_name(f"{path.stem}+{component}{path.suffix}")
    style = None if path.suffix == ".json" else FILE_STYLE
    text = render_report(decision.analysis, style, component=component)
    replace_text(path, text, mode=0o644)
    emit.verbose(f"Compression report written to {path}")


def write_key(folder: Path, project: ProjectFile | None, decision: Decision) -> None:
    """Set what a decision packs with in a folder's snapcraft.yaml, in that one line.

    :raises AdvisorError: if it can't be done; the file is as it was.
    """
    if project is None:
        message = "there is no snapcraft.yaml here"
        raise NoInputError(message, resolution="Pack in the project's folder.")
    name, component = decision.analysis.payload.name, decision.artifact.component
    if component is None and project.name != name:
        message = f"{project.path} isn't the snapcraft.yaml of snap {name!r}"
        raise NoInputError(message, resolution="Pack in the project's folder.")
    edit = plan_edit(
        folder / project.path,
        decision.compression,
        component=component,
        where=str(project.path),
    )
    if edit.changes:
        apply_edit(edit)
        of = "" if component is None else f" of component {component}"
        emit.progress(
            f"  {project.path}: compression{of} set to {decision.compression}",
            permanent=True,
        )


def render_report(
    analysis: Analysis, style: TextStyle | None, *, component: str | None = None
) -> str:
    """Return a report as the command line would have it, on the codecs tried.

    :param style: of text; None for JSON.
    """
    shown = _tried(analysis)
    if style is None:
        return advise_json(shown)
    page = advise_page(
        shown,
        apply=_to_follow(analysis, component),
        details=detail_sections(shown),
    )
    return print_text(page, style.with_all())


def _tried(analysis: Analysis) -> Analysis:
    """Return an analysis of only the codecs that were tried."""
    trial = analysis.trial
    tried = {name: each for name, each in trial.codecs.items() if each.available}
    return replace(analysis, trial=replace(trial, codecs=tried))


def _to_follow(analysis: Analysis, component: str | None) -> str:
    """Return snapcraft's command that follows an advice to change."""
    of = "" if component is None else f" --component {component}"
    return f"snapcraft set-compression {analysis.recommendation.compression}{of}"


def _name(decision: Decision) -> str:
    artifact = decision.artifact
    if artifact.component is not None:
        return artifact.label
    return decision.analysis.payload.name
