"""What craft-application calls: ``configure(app)``, by the entry point."""

from __future__ import annotations

import functools
import importlib
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from craft_cli import CommandGroup, emit

from snapcraft_compression_advisor.advice.project_lines import LINTER_NAME
from snapcraft_compression_advisor.host.guard import warn
from snapcraft_compression_advisor.host.project_service import advisor_here
from snapcraft_compression_advisor.host.settings import PLUGIN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from craft_application import Application

    from snapcraft_compression_advisor.host.advisor import Advisor

    FindAdvisor = Callable[[], Advisor]
    Step = Callable[[Application, FindAdvisor], None]

_HERE = "snapcraft_compression_advisor.host"


def configure(app: Application) -> None:
    """Let the advisor into an application that packs snaps; leave others alone.

    What can't be had from this version of the application costs one warning line, the
    rest works on. Called again, it takes its own place.
    """
    if not _packs_snaps(app):
        return
    # Now: the linter runs in the prime directory.
    here = Path(getattr(app, "project_dir", "")).absolute()
    find_advisor = functools.cache(lambda: advisor_here(app.services, here))
    for name, step in _STEPS.items():
        _take(name, step, app, find_advisor)


def _take(name: str, step: Step, app: Application, find_advisor: FindAdvisor) -> None:
    try:
        step(app, find_advisor)
    except Exception as error:  # noqa: BLE001 # never keep the application from running
        warn(f"no {name} in this version of {app.app.name}: {error}")
        emit.debug(traceback.format_exc())


def _packs_snaps(app: Application) -> bool:
    """Tell snapcraft and its like from other craft applications."""
    project_class: Any = app.app.ProjectClass
    return "compression" in getattr(project_class, "model_fields", {})


def _add_pack_hook(app: Application, find_advisor: FindAdvisor) -> None:
    from snapcraft_compression_advisor.host.pack_hook import advising  # noqa: PLC0415

    services: Any = app.services
    services.register("package", advising(services.get_class("package"), find_advisor))


def _add_build_plugin(_app: Application, _find_advisor: FindAdvisor) -> None:
    plugins = importlib.import_module("craft_parts.plugins")
    module = importlib.import_module(f"{_HERE}.build_plugin")
    plugins.register({PLUGIN: module.AdvisorPlugin})


def _wrap_pack_functions(_app: Application, find_advisor: FindAdvisor) -> None:
    if not _is_snapcraft():
        return
    module = importlib.import_module(f"{_HERE}.pack_functions")
    error_class, stop = _snapcraft("errors").SnapcraftError, module.Stop()
    module.wrap_pack_functions(_snapcraft("pack"), error_class, find_advisor, stop)
    module.wrap_run(_snapcraft("cli"), stop)


def _add_extension(_app: Application, _find_advisor: FindAdvisor) -> None:
    if not _is_snapcraft():
        return
    module = importlib.import_module(f"{_HERE}.extension")
    _snapcraft("extensions.registry").register(
        PLUGIN, module.CompressionAdvisorExtension
    )


def _add_linter(_app: Application, find_advisor: FindAdvisor) -> None:
    if not _is_snapcraft():
        return
    module = importlib.import_module(f"{_HERE}.linter")
    _snapcraft("linters.linters").LINTERS[LINTER_NAME] = module.compression_linter(
        find_advisor
    )


def _add_commands(app: Application, _find_advisor: FindAdvisor) -> None:
    module = importlib.import_module(f"{_HERE}.commands")
    if all(group.name != module.GROUP for group in app.command_groups):
        adding: Any = app
        adding.add_command_group(module.GROUP, module.COMMANDS)
    if _is_snapcraft():
        # Where snapcraft looks whether it can run a command on core22, too.
        groups = _snapcraft("cli").COMMAND_GROUPS
        if all(group.name != module.GROUP for group in groups):
            groups.append(CommandGroup(module.GROUP, module.COMMANDS))


def _enter_instances(app: Application, _find_advisor: FindAdvisor) -> None:
    module = importlib.import_module(f"{_HERE}.instance")
    services: Any = app.services
    provider = services.get_class("provider")
    services.register("provider", module.with_advisor(provider))
    if _is_snapcraft():
        module.wrap_core22_provider(_snapcraft("providers"))


_STEPS: Mapping[str, Step] = {
    "pack hook": _add_pack_hook,
    "build plugin": _add_build_plugin,
    "advice on core22 and 'pack DIRECTORY'": _wrap_pack_functions,
    "extension": _add_extension,
    "linter": _add_linter,
    "commands": _add_commands,
    "advice in build instances": _enter_instances,
}


def _is_snapcraft() -> bool:
    """Tell whether the application at work is snapcraft itself."""
    return "snapcraft.application" in sys.modules


def _snapcraft(name: str) -> Any:  # noqa: ANN401 # snapcraft is no dependency
    return importlib.import_module(f"snapcraft.{name}")
