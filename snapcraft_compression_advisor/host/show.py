"""What the publisher sees of the advice, and finds in snapcraft.yaml."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from ..analysis import Analysis
from ..core.errors import NoInputError
from ..core.scratch import replace_text
from ..core.terminal import emit
from ..project.project_file import apply_edit, plan_edit
from ..report.json_report import render_json
from ..report.lines import FILE_STYLE, TextStyle, shows_unicode
from ..report.text import advice_lines, render_text
from .artifact import Decision
from .project import HostProject

_JSON = ".json"


def show(decision: Decision) -> None:
    """Print verdict and reasons; the whole report where snapcraft is verbose."""
    analysis = decision.analysis
    style = replace(FILE_STYLE, unicode=shows_unicode(sys.stderr))
    for line in render_report(analysis, style).splitlines():
        emit.verbose(line)
    headline, *reasons = advice_lines(analysis)
    emit.progress(
        f"Compression advice for {_name(decision)}: {headline}", permanent=True
    )
    for line in (*reasons, *_outcome(decision)):
        emit.progress(line, permanent=True)


def show_verdict(decision: Decision) -> None:
    """Print verdict and codec in one line, for the end of the pack."""
    headline = next(iter(advice_lines(decision.analysis)))
    verdict = f"packed with {decision.compression} as advised"
    if not decision.follows:
        verdict = f"packed with {decision.compression}; {headline}"
    emit.progress(f"Compression of {_name(decision)}: {verdict}", permanent=True)


def write_report(decision: Decision, path: Path) -> None:
    """Write the report; a file is complete or not there.

    :param path: JSON where it ends so, else text; a component's report has the
        component's name before the suffix.
    :raises OSError: where it can't be written.
    """
    component = decision.artifact.component
    if component is not None:
        path = path.with_name(f"{path.stem}+{component}{path.suffix}")
    style = None if path.suffix == _JSON else FILE_STYLE
    text = render_report(decision.analysis, style)
    replace_text(path, text, mode=0o644)
    emit.verbose(f"Compression report written to {path}")


def write_key(project: HostProject, decision: Decision) -> None:
    """Set what a decision packs with in snapcraft.yaml, in that one line.

    :raises AdvisorError: where it can't be done; the file is as it was.
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


def render_report(analysis: Analysis, style: TextStyle | None) -> str:
    """Return a report as the command line would have it, on the codecs tried.

    :param style: of text; ``None`` for JSON.
    """
    trial = analysis.trial
    tried = {name: each for name, each in trial.codecs.items() if each.available}
    shown = replace(analysis, trial=replace(trial, codecs=tried))
    return render_json(shown) if style is None else render_text(shown, style)


def _name(decision: Decision) -> str:
    component = decision.artifact.component
    if component is not None:
        return f"component {component}"
    return decision.analysis.payload.name


def _outcome(decision: Decision) -> list[str]:
    """Say what comes of the advice, where it isn't plain."""
    artifact, advice = decision.artifact, decision.analysis.recommendation
    if decision.follows:
        return [f"  Packing {artifact.label} with {decision.compression} as advised"]
    held = decision.mode in ("apply", "write") and advice.verdict == "change"
    if held:
        said = "snapcraft.yaml declares ('override-declared' would follow the advice)"
        return [f"  Packing {artifact.label} with {decision.compression}, which {said}"]
    return []
