"""What is left to do where the advisor itself is broken: warn, or refuse to pack.

Only the standard library is imported here. craft-cli is loaded within functions: the
application has it, in whatever version.
"""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from craft_application import Application

ENVIRONMENT_PREFIX = "SNAPCRAFT_COMPRESSION_ADVISOR_"
POLICY_FILE_NAME = "compression-advisor.yaml"
PROJECT_FILE_NAMES = (
    "snap/snapcraft.yaml",
    "build-aux/snap/snapcraft.yaml",
    "snapcraft.yaml",
    ".snapcraft.yaml",
)
RESOLUTION = (
    "Repair or reinstall the advisor, or choose a mode other than 'enforce' "
    f"({ENVIRONMENT_PREFIX}MODE=advise for one run)."
)

_OTHER_MODES = frozenset({"advise", "apply", "write"})
_MAX_REASON = 300
"""Characters of a reason: the rest of it is in the log."""
_COMMENT = re.compile(r"(?:^|\s)#.*")
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


def asks_to_enforce(project_dir: Path, environment: Mapping[str, str]) -> bool:
    """Tell whether a project may ask for the mode ``enforce``.

    This reads no YAML, so it is true as well where that can't be ruled out: the word
    stands somewhere else than in a comment, or could be written in another way.
    """
    mode = environment.get(f"{ENVIRONMENT_PREFIX}MODE")
    if mode:
        return mode not in _OTHER_MODES
    if _may_say_enforce(project_dir / POLICY_FILE_NAME):
        return True
    return any(
        _may_say_enforce(project_dir / name, besides="compression-advisor")
        for name in PROJECT_FILE_NAMES
    )


def refuse(app: Application, reason: str) -> None:
    """Have an application stop before it builds or packs.

    :param reason: why the advisor can't judge.
    :raises SystemExit: where that can't be had of this version of the application: it
        ends at once. Other exceptions would be swallowed.
    """

    def stop(*_: Any, **__: Any) -> NoReturn:
        raise _refusal(reason)

    try:
        _refuse_services(app, stop)
        _refuse_functions(stop)
    except Exception as error:
        from craft_cli import emit  # noqa: PLC0415 # see above

        emit.error(_refusal(reason))
        raise SystemExit(1) from error


def warn_of(problem: str) -> None:
    """Print one warning line, with the log's place where there is a log."""
    from craft_cli import emit  # noqa: PLC0415 # see above

    # craft-cli tells nobody where it logs, so this looks inside.
    log = getattr(emit, "_log_filepath", None)
    ending = f" (log: {log})" if log else ""
    emit.progress(f"Warning: compression advisor: {problem}{ending}", permanent=True)


def reason_of(error: Exception) -> str:
    """Return what a failure is in one line, and log where it comes from."""
    from craft_cli import CraftError, emit  # noqa: PLC0415 # see above

    emit.debug("".join(traceback.format_exception(error)))
    text = " ".join(str(error).split()) or "no reason given"
    text = "".join(each if each.isprintable() else "\ufffd" for each in text)
    if not isinstance(error, CraftError):
        text = f"{type(error).__name__}: {text}"
    return text if len(text) <= _MAX_REASON else f"{text[:_MAX_REASON]}…"


def _may_say_enforce(path: Path, *, besides: str = "") -> bool:
    try:
        if path.exists() and not path.is_file():  # a FIFO: no one may write to it
            return True
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    except (OSError, ValueError):  # unreadable, or in another encoding
        return True
    quoted = ("'", '"')
    text = "\n".join(
        # A quoted text may go on behind a number sign; elsewhere it begins a comment.
        line if any(each in line for each in quoted) else _COMMENT.sub("", line)
        for line in text.splitlines()
    )
    if besides not in text:
        return False
    lines = [line for line in text.splitlines() if besides in line]
    return "enforce" in text or any("\\" in line or "\0" in line for line in lines)


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
    from craft_cli import CraftError  # noqa: PLC0415 # see above

    errors: Any = sys.modules.get("snapcraft.errors")
    kind = CraftError if errors is None else errors.SnapcraftError
    message = f"The mode is 'enforce', but the compression advisor is broken: {reason}"
    error: Exception = kind(message, resolution=RESOLUTION, retcode=1)
    return error
