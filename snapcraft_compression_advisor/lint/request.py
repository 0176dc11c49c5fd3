"""What a payload is checked against, and what the stages find out for that.

Apart from :mod:`.lint`, whose rules ``advise`` doesn't need.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..analysis import Request
from ..core.errors import BadDataError, ToolError, UsageError
from ..core.units import Interval
from ..devices.device import DeviceProfile
from ..launch.launch_set import select_apps
from ..launches import Surroundings
from ..payload.snap_yaml import COMPONENT_TYPE, split_component_name
from ..payload.source import Payload
from ..settings.parts import RefreshSettings
from ..settings.settings import Settings

if TYPE_CHECKING:
    from ..launch.profile import LaunchProfile
    from ..project.project_file import ProjectFile
    from .baseline import Baseline


@dataclass(frozen=True, slots=True, kw_only=True)
class LintRequest:
    """What a payload is checked against.

    :param policy_path: the file that names the apps, for errors; ``None`` if the
        user named them.
    :param devices: that its names and files lead to, those of its budgets included.
    :param surroundings: the snaps that it runs with.
    :param resquash: whether to unpack built snaps and pack them again.
    """

    policy: Settings
    policy_path: str | None = None
    devices: tuple[DeviceProfile, ...]
    profiles: tuple[LaunchProfile, ...] = ()
    surroundings: Surroundings = field(default_factory=Surroundings)
    resquash: bool = False
    baseline: Baseline | None = None


def analysis_request(
    payload: Payload, request: LintRequest, project: ProjectFile | None
) -> Request:
    """Return the request for the stages.

    A built snap is judged as it is, not by what snapcraft.yaml has by now.
    """
    is_prime = payload.kind == "prime"
    base = Request(
        devices=request.devices,
        policy=request.policy.to_component_policy(),
        declared_compression=project.effective if project and is_prime else None,
        surroundings=request.surroundings,
    )
    if payload.snap.type == COMPONENT_TYPE:  # no launch and no budget counts
        snap, component = split_component_name(payload.snap.name)
        read = request.policy.read_of(component or snap)
        return replace(base, component_read=read)
    return replace(
        base,
        apps=_apps(payload, request.policy),
        profiles=request.profiles,
        policy=request.policy.to_policy([each.name for each in request.devices]),
        deltas=_previous_deltas(payload, request.policy.refresh),
    )


def _previous_deltas(
    payload: Payload, refresh: RefreshSettings | None
) -> Mapping[str, Interval] | str:
    """Return the deltas from the build that the policy names, or why none is known."""
    if refresh is None or refresh.previous is None or refresh.deltas == "none":
        return {}
    from ..refresh.estimate import deltas_from  # noqa: PLC0415 # few policies name one

    try:
        return deltas_from(Path(refresh.previous), payload, refresh.deltas)
    except ToolError as error:
        return f"{error}, and launches and downloads of a month aren't compared"


def check_apps(payload: Payload, request: LintRequest) -> None:
    """Refuse names of apps that the snap doesn't have.

    :raises BadDataError: if they are in the policy's file.
    :raises UsageError: if the user named them.
    """
    if payload.snap.type == COMPONENT_TYPE:
        return
    try:
        recorded = (each.app for each in request.policy.record if each.app)
        wanted = (*_apps(payload, request.policy), *recorded)
        select_apps(payload.snap, payload.inventory, requested=wanted)
    except UsageError as error:
        if request.policy_path is None:
            raise
        message = f"{request.policy_path}: {error}"
        raise BadDataError(message, resolution=error.resolution) from error


def _apps(payload: Payload, policy: Settings) -> tuple[str, ...]:
    """Return the apps that the policy names, those with a budget last."""
    budgets = policy.max_cold_start.values()
    with_budget = [app for each in budgets if isinstance(each, dict) for app in each]
    if policy.apps or not with_budget:
        return policy.apps
    chosen, _ = select_apps(payload.snap, payload.inventory)
    return tuple(dict.fromkeys((*chosen, *with_budget)))
