"""Lint one payload: analyse it, survey it, check the rules."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..advice.judging import SNAPCRAFT_DEFAULT
from ..analysis import Analysis, Request, analyse, analysis_request, check_apps
from ..core.errors import ToolError
from ..diff.figures import BaselineBuild, BaselineDelta, figures_of
from ..launches import Surroundings
from ..payload.source import DirectoryPayload, Payload
from ..payload.survey import take_survey
from ..preflight.packing import look_at_packing
from ..project.project_file import ProjectFile
from ..settings.load import LoadedSettings
from ..squashfs.mksquashfs import mksquashfs_version
from ..trial.result import Progress
from .baseline import Baseline, same_build
from .finding import Finding, LintedPayload, Location
from .rule import ComponentSizes, Context
from .rules import ALL_RULES
from .rules.declared import component_key, doubtful_components
from .rules.regressions import DELTA_RULES
from .run import Selection, coverage, make_selection, run_rules

_COMPONENT_NAME = re.compile("[a-z0-9-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class LintRequest:
    """What a payload is checked against.

    :param surroundings: the snaps that it runs with.
    :param resquash: whether to unpack built snaps and pack them again.
    """

    loaded: LoadedSettings
    surroundings: Surroundings = field(default_factory=Surroundings)
    resquash: bool = False
    baseline: Baseline | None = None


def lint_payload(
    payload: Payload,
    request: LintRequest,
    *,
    project: ProjectFile | None,
    progress: Progress,
) -> LintedPayload:
    """Return the findings on a payload.

    :raises BadDataError: if the settings name an app that the snap doesn't have.
    :raises AdvisorError: if the payload can't be analysed.
    """
    check_apps(payload, request.loaded)
    wanted = analysis_request(
        payload,
        request.loaded,
        request.surroundings,
        declared=project.effective if project else None,
    )
    analysis = analyse(payload, wanted, progress=progress)
    return lint_analysed(payload, request, analysis, project=project, progress=progress)


def lint_analysed(
    payload: Payload,
    request: LintRequest,
    analysis: Analysis,
    *,
    project: ProjectFile | None,
    progress: Progress,
) -> LintedPayload:
    """Return the findings on a payload that was analysed already.

    :raises AdvisorError: as :func:`lint_payload` does.
    """
    resquash = None
    if request.resquash:  # few runs pack anything
        from ..preflight.resquash import pack_again

        resquash = pack_again(payload, progress=progress)
    progress("Checking caches and unneeded files")
    context = Context(
        analysis=analysis,
        inventory=payload.inventory,
        snap=payload.snap,
        survey=take_survey(
            payload, suppliers=request.surroundings.suppliers(payload.snap)
        ),
        settings=request.loaded.settings,
        project=project,
        packing=look_at_packing(payload),
        resquash=resquash,
        packer=_packer(),
        baseline=_look_back(payload, request, analysis, progress=progress),
    )
    checked, unchecked = coverage(context, _selection(context))
    return LintedPayload(
        path=str(payload.path),
        snap_name=payload.snap.name,
        findings=check_rules(context, payload.path.absolute().parent, progress),
        checked=checked,
        unchecked=unchecked,
        fail_on=request.loaded.settings.fail_on,
        figures=figures_of(analysis),
        baseline=context.baseline,
        project=None
        if project is None
        else Location("project", str(project.path), project.compression_line or 1),
    )


def check_rules(
    context: Context, folder: Path, progress: Progress
) -> tuple[Finding, ...]:
    """Return the findings of the rules that the settings and the project leave.

    :param folder: that snapcraft works in, where ``prime`` is.
    :raises AdvisorError: if components' files can't be read.
    """
    selection = _selection(context)
    if selection.wants(component_key.id):
        sizes = _component_sizes(context, folder, progress)
        context = replace(context, component_sizes=sizes)
    return run_rules(context, ALL_RULES, selection)


def _component_sizes(
    context: Context, folder: Path, progress: Progress
) -> dict[str, ComponentSizes]:
    """Return the sizes of components whose codec is in doubt, if they are here."""
    found: dict[str, ComponentSizes] = {}
    project, settings = context.project, context.settings
    for name in doubtful_components(project, settings) if project else ():
        files = folder / "partitions/component" / name / "prime"
        if _COMPONENT_NAME.fullmatch(name) and files.is_dir():
            payload = DirectoryPayload(files, component=name)
            request = Request(devices=context.analysis.devices)
            analysis = analyse(payload, request, progress=progress)
            added = analysis.trial.lzo_less_xz_bytes
            xz_bytes = analysis.trial.codecs["xz"].image_bytes
            if xz_bytes is not None and added is not None:
                found[name] = ComponentSizes(
                    xz_bytes=xz_bytes,
                    lzo_less_xz_bytes=added,
                    whole=analysis.launches[0],
                )
    return found


def _packer() -> str | None:
    try:
        return mksquashfs_version()
    except ToolError:
        return None


def _selection(context: Context) -> Selection:
    ignored = context.project.ignored if context.project else ()
    return make_selection(context.settings, ignored=ignored)


def _look_back(
    payload: Payload,
    request: LintRequest,
    analysis: Analysis,
    *,
    progress: Progress,
) -> BaselineBuild | None:
    """Compare a payload with its previous build, as far as that is at hand.

    :raises AdvisorError: if either can't be read.
    """
    baseline = request.baseline
    if baseline is None:
        return None
    before = same_build(str(payload.path), payload.snap.name, baseline.report)
    if before is None:
        return None
    if baseline.payload is None:
        return BaselineBuild(figures=before.figures)
    # Only here: few runs have a build to look back at.
    from ..diff.difference import DifferenceRequest, compare_payloads

    difference_request = DifferenceRequest(
        devices=analysis.devices,
        apps=tuple(launch.launch_set.app for launch in analysis.launches),
        profiles=request.loaded.profiles,
        codecs={payload.path: analysis.payload.declared_compression},
        trials={} if payload.kind == "snap" else {payload.path: analysis.trial},
    )
    difference = compare_payloads(
        baseline.payload, payload, difference_request, progress=progress
    )
    delta = _delta(baseline.payload, payload, request, progress)
    return BaselineBuild(
        figures=before.figures,
        difference=difference,
        delta=delta if isinstance(delta, BaselineDelta) else None,
        no_delta=delta if isinstance(delta, str) else None,
    )


def _delta(
    old: Payload, new: Payload, request: LintRequest, progress: Progress
) -> BaselineDelta | str | None:
    """Return the size of a refresh's download, or the reason why it is unknown.

    :returns: None if no rule asks for it.
    """
    settings = request.loaded.settings
    selection, refresh = make_selection(settings), settings.refresh
    if not any(selection.wants(rule.id) for rule in DELTA_RULES):
        return None
    from ..refresh.changes import find_changes
    from ..refresh.delta import PLAIN
    from ..refresh.estimate import DeltaMaker

    progress("Making the delta from the baseline")
    codec = new.packed_with or old.packed_with or SNAPCRAFT_DEFAULT
    try:
        found = DeltaMaker(old, new).deltas(codec)
    except ToolError as error:
        return str(error)
    wanted = refresh.deltas if refresh and refresh.deltas != "none" else PLAIN
    delta_format = wanted if wanted in found else PLAIN
    size = found[delta_format]
    return BaselineDelta(
        codec=codec,
        delta_format=delta_format,
        size_bytes=size.size_bytes,
        changes=find_changes(old, new, size.files),
    )
