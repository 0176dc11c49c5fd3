"""All that the advisor hooks into: snapcraft, and applications that pack like it."""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from craft_cli import CommandGroup

from snapcraft_compression_advisor_plugin import reason_of

from ..project.project_file import LINTER_NAME
from ..settings.load import PLUGIN
from .advisor import FindAdvisor, check_settings, finding_advisor
from .guard import stopping_snapcraft, wrap

if TYPE_CHECKING:
    from craft_application import Application

    Step = Callable[[Application, FindAdvisor], None]

_HERE = "snapcraft_compression_advisor.host"


def install(app: Application, here: Path) -> list[str]:
    """Let the advisor into an application that packs snaps.

    :param here: the project's folder, absolute.
    :returns: what this version of the application doesn't let in, in one line each; the
        rest works on.
    """
    find_advisor = finding_advisor(app.services, here)
    found = []
    for name, step in _STEPS.items():
        if name in _SNAPCRAFTS and not _is_snapcraft():
            continue
        try:
            step(app, find_advisor)
        except Exception as error:  # noqa: BLE001
            reason = reason_of(error)
            found.append(f"no {name} in this version of {app.app.name}: {reason}")
    # A module that ends too early may still load, and say nothing.
    return found if find_advisor() is not None else [*found, "it gives no advice"]


def _add_pack_hook(app: Application, find_advisor: FindAdvisor) -> None:
    services: Any = app.services
    advising = importlib.import_module(f"{_HERE}.pack").advising
    services.register("package", advising(services.get_class("package"), find_advisor))


def _add_build_plugin(_app: Application, _find_advisor: FindAdvisor) -> None:
    plugins = importlib.import_module("craft_parts.plugins")
    module = importlib.import_module(f"{_HERE}.project")
    plugins.register({PLUGIN: module.AdvisorPlugin})


def _wrap_pack_functions(_app: Application, find_advisor: FindAdvisor) -> None:
    module = importlib.import_module(f"{_HERE}.pack")
    module.wrap_pack_functions(_snapcraft("pack"), find_advisor)
    module.wrap_lifecycle(_snapcraft("parts.lifecycle"), find_advisor)


def _add_extension(_app: Application, _find_advisor: FindAdvisor) -> None:
    module = importlib.import_module(f"{_HERE}.snapcraft_classes")
    _snapcraft("extensions.registry").register(
        PLUGIN, module.CompressionAdvisorExtension
    )


def _add_linter(_app: Application, find_advisor: FindAdvisor) -> None:
    module = importlib.import_module(f"{_HERE}.snapcraft_classes")
    linter = module.compression_linter(find_advisor)
    _snapcraft("linters.linters").LINTERS[LINTER_NAME] = linter
    module.wrap_lint_command(_snapcraft("commands.lint").LintCommand, linter)


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


def _enter_instances(app: Application, find_advisor: FindAdvisor) -> None:
    module = importlib.import_module(f"{_HERE}.instance")
    services: Any = app.services
    provider = services.get_class("provider")
    enter = functools.partial(
        module.enter,
        program=app.app.name,
        enforces=functools.partial(module.enforces, find_advisor),
    )
    entering = type(f"Entering{provider.__name__}", (provider,), {})
    module.wrap_get_provider(entering, enter)
    services.register("provider", entering)
    if _is_snapcraft():
        enter_or_stop = stopping_snapcraft()(enter)
        module.wrap_get_provider(_snapcraft("providers"), enter_or_stop)


def _check_before_builds(app: Application, find_advisor: FindAdvisor) -> None:
    def checked(method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        check_settings(find_advisor)
        return method(*args, **kwargs)

    services: Any = app.services
    for name, method in (("lifecycle", "run"), ("provider", "run_managed")):
        base = services.get_class(name)
        service = type(f"Checked{base.__name__}", (base,), {})
        wrap(service, method, checked)
        services.register(name, service)


# In this order: a check of the Provider service goes before its entering instances.
_STEPS: Mapping[str, Step] = {
    "pack hook": _add_pack_hook,
    "build plugin": _add_build_plugin,
    "advice on core22 and 'pack DIRECTORY'": _wrap_pack_functions,
    "extension": _add_extension,
    "linter": _add_linter,
    "commands": _add_commands,
    "advice in build instances": _enter_instances,
    "check of the settings before a build": _check_before_builds,
}
_SNAPCRAFTS = ("advice on core22 and 'pack DIRECTORY'", "extension", "linter")
"""Steps for snapcraft itself: applications that pack like it have no such thing."""


def _is_snapcraft() -> bool:
    """Return whether the application at work is snapcraft itself."""
    return "snapcraft.application" in sys.modules


def _snapcraft(name: str) -> Any:
    return importlib.import_module(f"snapcraft.{name}")
