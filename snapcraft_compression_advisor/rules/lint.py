"""Lint one payload: analyse it, survey it, check the rules."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.analysis import Request, analyse
from snapcraft_compression_advisor.launch.apps import select_apps
from snapcraft_compression_advisor.payload.survey import take_survey
from snapcraft_compression_advisor.rules.all_rules import ALL_RULES
from snapcraft_compression_advisor.rules.component_sizes import component_sizes
from snapcraft_compression_advisor.rules.components import ComponentKey
from snapcraft_compression_advisor.rules.context import Context
from snapcraft_compression_advisor.rules.finding import LintedPayload
from snapcraft_compression_advisor.rules.run import run_rules
from snapcraft_compression_advisor.rules.select import make_selection
from snapcraft_compression_advisor.trial.sampled import LEAST

if TYPE_CHECKING:
    from snapcraft_compression_advisor.advice.lint_policy import LintPolicy
    from snapcraft_compression_advisor.launch.device import DeviceProfile
    from snapcraft_compression_advisor.launch.profile import LaunchProfile
    from snapcraft_compression_advisor.payload.snap_yaml import SnapMetadata
    from snapcraft_compression_advisor.payload.source import Payload
    from snapcraft_compression_advisor.rules.project import ProjectFile
    from snapcraft_compression_advisor.trial.result import Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class LintRequest:
    """What a payload is checked against.

    :param policy: of the project.
    :param devices: that its names and files lead to, those of its budgets included.
    :param profiles: recorded launches.
    :param bases: base snaps; that counts which a snap names.
    :param content: content snaps, which all count.
    """

    policy: LintPolicy
    devices: tuple[DeviceProfile, ...]
    profiles: tuple[LaunchProfile, ...] = ()
    bases: tuple[Payload, ...] = ()
    content: tuple[Payload, ...] = ()

    def suppliers(self, snap: SnapMetadata) -> tuple[Payload, ...]:
        """Return whose files a snap finds beside its own, as far as they are given."""
        bases = (base for base in self.bases if base.snap.name == snap.base_name)
        return (*bases, *self.content)


def lint_payload(
    payload: Payload,
    request: LintRequest,
    *,
    path: str,
    project: ProjectFile | None,
    progress: Progress,
) -> LintedPayload:
    """Return the findings on a payload.

    :param path: of the payload, as it was given.
    :param project: of the payload, where it is at hand.
    :raises AdvisorError: where the payload can't be analysed.
    """
    with ThreadPoolExecutor(max_workers=1) as beside:
        surveyed = beside.submit(
            take_survey, payload, suppliers=request.suppliers(payload.snap)
        )
        analysis = analyse(
            payload, analysis_request(payload, request, project), progress=progress
        )
        progress("Looking for caches and needless files")
        survey = surveyed.result()
    selection = make_selection(
        request.policy, ignored=project.ignored if project else ()
    )
    if project is not None and selection.wants(ComponentKey.id):
        folder = payload.path.absolute().parent
        sizes = component_sizes(folder, project, progress=progress)
        project = replace(project, component_sizes=sizes)
    context = Context(
        analysis=analysis,
        inventory=payload.inventory,
        snap=payload.snap,
        survey=survey,
        policy=request.policy,
        project=project,
    )
    return LintedPayload(
        path=path,
        snap_name=payload.snap.name,
        findings=run_rules(context, ALL_RULES, selection),
    )


def analysis_request(
    payload: Payload, request: LintRequest, project: ProjectFile | None
) -> Request:
    """Return what the stages are to find out.

    A built snap is judged as it is, whatever snapcraft.yaml says by now.
    """
    is_prime = payload.kind == "prime"
    base = Request(
        devices=request.devices,
        apps=_apps(payload, request.policy),
        profiles=request.profiles,
        policy=request.policy.advice.to_policy(),
        effort=LEAST,
    )
    if not is_prime:
        return base
    limit = request.policy.budgets.image_size
    return replace(
        base,
        declared_compression=project.compression if project else None,
        size_limits=() if limit is None else (limit,),
    )


def _apps(payload: Payload, policy: LintPolicy) -> tuple[str, ...]:
    """Return the apps that the policy names, those with a budget last.

    :raises UsageError: where the snap has no such app.
    """
    budgets = policy.budgets.cold_start.values()
    with_budget = [app for each in budgets if isinstance(each, dict) for app in each]
    if policy.apps or not with_budget:
        return policy.apps
    chosen, _ = select_apps(payload.snap, payload.inventory)
    return tuple(dict.fromkeys((*chosen, *with_budget)))
