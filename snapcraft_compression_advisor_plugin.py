"""What craft applications load: it lets the advisor in, or stops a pack without it.

Every craft application loads this module, and swallows what it raises. It lies beside
the package, of which any module may be damaged, and imports only the standard library:
the rest is loaded if an application packs snaps. What keeps it from loading is a
warning, or the end of the pack if the mode may be ``enforce``.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from craft_application import Application

VARIABLE = "PYTHONPATH"
IMPORT_DIR = Path(__file__).resolve().parent
"""The folder that the advisor is imported from."""
MODE_VARIABLE = "SNAPCRAFT_COMPRESSION_ADVISOR_MODE"
POLICY_FILE_NAMES = ("compression-advisor.yaml", "compression-advisor.yml")
POLICY_FOLDERS = ("", "snap", "build-aux/snap")
"""Folders below the project's that have a settings file: its own, and those that may
have snapcraft.yaml."""
RESOLUTION = (
    "Repair or reinstall the advisor, or choose a mode other than 'enforce' "
    f"({MODE_VARIABLE}=advise for one run)."
)

_HOST = "snapcraft_compression_advisor.host"
_CONFIGURED = "_compression_advisor_is_configured"
_OTHER_MODES = frozenset({"advise", "apply", "write"})
_MAX_REASON = 300
"""Characters of a reason: the rest of it is in the log."""
_REFUSED = {
    "lifecycle": ("run",),
    "package": ("pack", "_pack", "_app_needs_repack"),
    "provider": ("run_managed",),
}
"""Methods of an application's services by which every build and every pack goes."""
_REFUSED_FUNCTIONS = (
    ("snapcraft.parts.lifecycle", "run"),
    ("snapcraft.pack", "pack_snap"),
    ("snapcraft.pack", "pack_component"),
)
"""The same of snapcraft's own: core22, ``snapcraft pack DIRECTORY``."""


def configure(app: Application) -> None:
    """Let the advisor into an application that packs snaps; leave others alone.

    Called again for an application, it does nothing.
    """
    hide_import_dir(os.environ)
    if not _packs_snaps(app) or hasattr(app, _CONFIGURED):
        return
    # Now: the linter runs in the prime directory.
    here = Path(getattr(app, "project_dir", "")).absolute()
    problems = _install(app, here)
    if problems and _enforces(app, here):
        refuse(app, problems[0])
    else:
        for problem in problems:
            warn_of(problem)
    setattr(app, _CONFIGURED, True)


def _install(app: Application, here: Path) -> list[str]:
    """Install all hooks.

    :returns: what can't be had, in one line each.
    """
    try:
        version: str = importlib.import_module("pydantic").VERSION
        if version.startswith("1."):
            return [f"it needs pydantic 2.5 or later, this is {version}"]
        with without_collector():
            hooks = importlib.import_module(f"{_HOST}.hooks")
            problems: list[str] = hooks.install(app, here)
    except Exception as error:  # noqa: BLE001 # of any damage
        return [f"it can't be loaded: {reason_of(error)}"]
    return problems


@contextmanager
def without_collector() -> Iterator[None]:
    """Look for no cycles: that walks all that the host has, 0.5 s of an advice's 6."""
    import gc  # noqa: PLC0415 # other applications needn't load it

    resume = gc.enable if gc.isenabled() else gc.disable
    gc.disable()
    try:
        yield
    finally:
        resume()


def _packs_snaps(app: Application) -> bool:
    """Tell snapcraft and its like from other craft applications."""
    project: Any = app.app.ProjectClass
    # pydantic 1 knows its fields by another name.
    fields = getattr(project, "model_fields", None) or getattr(
        project, "__fields__", {}
    )
    return "compression" in fields


def _enforces(app: Application, here: Path) -> bool:
    """Whether the mode is ``enforce``, or can't be known."""
    if os.environ.get(MODE_VARIABLE):
        return may_enforce(here, os.environ)
    try:
        advisor = importlib.import_module(f"{_HOST}.advisor")
        return bool(advisor.advisor_here(app.services, here).enforces())
    except Exception:  # noqa: BLE001 # then it is unknown
        return may_enforce(here, os.environ)


def may_enforce(project_dir: Path, environment: Mapping[str, str]) -> bool:
    """Whether a project whose settings can't be read may ask for ``enforce``.

    A mode in the environment decides; else it may if there is a settings file.
    """
    mode = environment.get(MODE_VARIABLE)
    if mode:
        return mode not in _OTHER_MODES
    return any(
        os.path.lexists(project_dir / folder / name)
        for folder in POLICY_FOLDERS
        for name in POLICY_FILE_NAMES
    )


def refuse(app: Application, reason: str) -> None:
    """Have an application stop before it builds or packs.

    :param reason: why the advisor can't judge.
    :raises SystemExit: if this version of the application has no place to stop: it
        ends at once. Other exceptions would be swallowed.
    """

    def stop(*_: Any, **__: Any) -> NoReturn:
        raise _refusal(reason)

    try:
        _refuse_services(app, stop)
        _refuse_functions(stop)
    except Exception as error:
        from craft_cli import emit  # noqa: PLC0415 # the application has it

        emit.error(_refusal(reason))
        raise SystemExit(1) from error


def warn_of(problem: str) -> None:
    """Print one warning line, with the log's place if there is a log."""
    from craft_cli import emit  # noqa: PLC0415 # the application has it

    # craft-cli tells nobody where it logs, so this looks inside.
    log = getattr(emit, "_log_filepath", None)
    ending = f" (log: {log})" if log else ""
    text = f"Warning: compression advisor: {problem}{ending}"
    emit.progress("".join(_shown(each) for each in text), permanent=True)


def _shown(character: str) -> str:
    """Return a character that can't steer a terminal."""
    return character if character.isprintable() else "\N{REPLACEMENT CHARACTER}"


def reason_of(error: Exception) -> str:
    """Return what a failure is in one line, and log where it comes from."""
    from craft_cli import CraftError, emit  # noqa: PLC0415 # the application has it

    emit.debug("".join(traceback.format_exception(error)))
    text = " ".join(str(error).split()) or "no reason given"
    if not isinstance(error, CraftError):
        text = f"{type(error).__name__}: {text}"
    return text if len(text) <= _MAX_REASON else f"{text[:_MAX_REASON]}…"


def hide_import_dir(environment: MutableMapping[str, str]) -> None:
    """Take the advisor's folder out of an environment that programs inherit.

    What a part installs would be "already satisfied" by what lies there, and the snap
    would ship without it. This process imports from it all the same: it has read the
    variable.
    """
    path = environment.get(VARIABLE)
    if path is None:
        return
    entries = path.split(os.pathsep)
    others = [each for each in entries if not _is_import_dir(each)]
    if others:
        environment[VARIABLE] = os.pathsep.join(others)
    else:
        del environment[VARIABLE]


def _is_import_dir(entry: str) -> bool:
    # An empty one is the current folder, to Python.
    return bool(entry) and Path(entry).resolve() == IMPORT_DIR


def _refuse_services(app: Application, stop: Callable[..., NoReturn]) -> None:
    services: Any = app.services
    for name, methods in _REFUSED.items():
        base = services.get_class(name)
        stopping = {each: stop for each in methods if hasattr(base, each)}
        services.register(name, type(f"Refusing{base.__name__}", (base,), stopping))


def _refuse_functions(stop: Callable[..., NoReturn]) -> None:
    for module_name, name in _REFUSED_FUNCTIONS:
        module = sys.modules.get(module_name)
        if module is None:
            continue
        function = getattr(module, name)

        def stop_but_clean(
            *args: Any, function: Callable[..., Any] = function, **kwargs: Any
        ) -> Any:
            return function(*args, **kwargs) if args[:1] == ("clean",) else stop(*args)

        setattr(module, name, stop_but_clean)


def _refusal(reason: str) -> Exception:
    """Return the error: on core22 snapcraft prints no other than its own well."""
    from craft_cli import CraftError  # noqa: PLC0415 # the application has it

    errors: Any = sys.modules.get("snapcraft.errors")
    kind = CraftError if errors is None else errors.SnapcraftError
    message = f"The mode is or may be 'enforce', but the advisor is broken: {reason}"
    error: Exception = kind(message, resolution=RESOLUTION, retcode=1)
    return error
