"""What the publisher sees of the advice, and finds in snapcraft.yaml."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from ..analysis import Analysis
from ..core.errors import NoInputError
from ..core.scratch import replace_text
from ..core.terminal import emit
from ..project.edit import apply_edit, plan_edit
from ..report.advise_details import detail_sections
from ..report.advise_json import advise_json
from ..report.answer import advise_page, pack_lines
from ..report.lines import FILE_STYLE, TextStyle, shows_unicode
from ..report.text_printer import print_text
from .artifact import Decision
from .project import HostProject

_JSON = ".json"


def show(decision: Decision) -> None:
    """Print the advice in a few lines; the whole report if snapcraft is verbose."""
    analysis = decision.analysis
    style = replace(FILE_STYLE, unicode=shows_unicode(sys.stderr))
    component = decision.artifact.component
    for line in render_report(analysis, style, component=component).splitlines():
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

    :param path: JSON where it ends so, else text; a component's report has the
        component's name before the suffix.
    :raises OSError: if it can't be written.
    """
    component = decision.artifact.component
    if component is not None:
        path = path.with_name(f"{path.stem}+{component}{path.suffix}")
    style = None if path.suffix == _JSON else FILE_STYLE
    text = render_report(decision.analysis, style, component=component)
    replace_text(path, text, mode=0o644)
    emit.verbose(f"Compression report written to {path}")


def write_key(project: HostProject, decision: Decision) -> None:
    """Set what a decision packs with in snapcraft.yaml, in that one line.

    :raises AdvisorError: if it can't be done; the file is as it was.
    """
    if project.file is None or project.says is None:
        message = "there is no snapcraft.yaml here"
        raise NoInputError(message, resolution="Pack in the project's folder.")
    name = decision.analysis.payload.name
    if decision.artifact.component is None and project.says.name != name:
        message = f"{project.says.path} isn't the snapcraft.yaml of snap {name!r}"
        raise NoInputError(message, resolution="Pack in the project's folder.")
    component = decision.artifact.component
    edit = plan_edit(
        project.file,
        decision.compression,
        component=component,
        where=str(project.says.path),
    )
    if edit.changes:
        apply_edit(edit)
        of = "" if component is None else f" of component {component}"
        emit.progress(
            f"  {project.says.path}: compression{of} set to {decision.compression}",
            permanent=True,
        )


def render_report(
    analysis: Analysis, style: TextStyle | None, *, component: str | None = None
) -> str:
    """Return a report as the command line would have it, on the codecs tried.

    :param component: that is analysed.
    :param style: of text; ``None`` for JSON.
    """
    trial = analysis.trial
    tried = {name: each for name, each in trial.codecs.items() if each.available}
    shown = replace(analysis, trial=replace(trial, codecs=tried))
    if style is None:
        return advise_json(shown)
    page = advise_page(
        shown,
        apply=_to_follow(analysis, component),
        details=detail_sections(shown),
    )
    return print_text(page, style.with_all())


def _to_follow(analysis: Analysis, component: str | None) -> str:
    """Return snapcraft's command that follows an advice to change."""
    of = "" if component is None else f" --component {component}"
    return f"snapcraft set-compression {analysis.recommendation.compression}{of}"


def _name(decision: Decision) -> str:
    component = decision.artifact.component
    if component is not None:
        return f"component {component}"
    return decision.analysis.payload.name
