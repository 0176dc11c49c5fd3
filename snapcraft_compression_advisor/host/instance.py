"""The advisor in build instances (LXD, Multipass)."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import snapcraft_compression_advisor
from snapcraft_compression_advisor_plugin import VARIABLE

from ..core.terminal import emit
from ..settings.load import ENVIRONMENT_PREFIX, INSTANCE_PATH_VARIABLE
from .advisor import FindAdvisor
from .guard import (
    CannotJudgeError,
    SettingsError,
    judging,
    wrap,
)

if TYPE_CHECKING:
    import craft_providers

    Enter = Callable[[craft_providers.Executor], None]

INSTANCE_DIR = PurePosixPath("/opt/snapcraft-compression-advisor")
"""Where the advisor is in an instance."""

_SITE_DIRECTORIES = frozenset({"site-packages", "dist-packages"})
_UNMOUNTED = (
    "the build instance doesn't have it, because its Python may differ: name a "
    f"directory that 'pip install --target' filled for it in {INSTANCE_PATH_VARIABLE}"
)


def wrap_get_provider(owner: object, enter: Enter) -> None:
    """Take the advisor into the instances of the provider that a function returns.

    :param owner: has the function: a Provider service, or for core22 and ``snapcraft
        lint``, which know no service, the module ``snapcraft.providers``.
    """

    @contextlib.contextmanager
    def launched(
        launch: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Iterator[Any]:
        with launch(*args, **kwargs) as instance:
            enter(instance)
            yield instance

    def get_entering_provider(
        get_provider: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Any:
        provider = get_provider(*args, **kwargs)
        wrap(provider, "launched_environment", launched)
        return provider

    wrap(owner, "get_provider", get_entering_provider)


def enforces(find_advisor: FindAdvisor) -> bool:
    """Return whether a build mustn't go without advice."""
    advisor = find_advisor()
    try:
        return advisor is not None and advisor.enforces()
    except SettingsError:  # the build that follows says so, and stops
        return True


def enter(
    instance: craft_providers.Executor, *, program: str, enforces: Callable[[], bool]
) -> None:
    """Let the advisor into an instance, for the application's own commands only.

    :param program: that is started there: the application.
    :raises CannotJudgeError: if the advisor can't be had there and the mode is
        ``enforce``.
    """
    variables = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(ENVIRONMENT_PREFIX) and name != INSTANCE_PATH_VARIABLE
    }
    mounted = judging(
        lambda: _mount(instance),
        what="there is no advice in the build instance",
        enforces=enforces,
    )
    if mounted:
        variables[VARIABLE] = str(INSTANCE_DIR)
    _start_with(instance, program, variables)
    if not enforces():
        return
    if mounted is False:
        raise CannotJudgeError.of(_UNMOUNTED)
    command = [program, "compression-advice", "--help"]
    done = instance.execute_run(command, check=False, capture_output=True)
    if done.returncode:
        reason = (
            f"{program} doesn't load it in the build instance ('{' '.join(command)}' "
            f"ends with {done.returncode})"
        )
        raise CannotJudgeError.of(reason)


def importable_directory(environment: Mapping[str, str]) -> Path | None:
    """Return the directory on the host from which instances can import the advisor.

    If snapcraft runs as a snap, the instance gets the same snap, so what its Python
    can import here it can import there: the directory that ``pip install --target``
    filled, which was on ``PYTHONPATH``. Another Python's directory of packages would
    hide the snap's own, so it takes the user to say that one will do.
    """
    named = environment.get(INSTANCE_PATH_VARIABLE)
    if named:
        return Path(named).absolute()
    if environment.get("SNAP_NAME") != "snapcraft":
        return None
    directory = Path(snapcraft_compression_advisor.__file__).resolve().parent.parent
    own = directory.name not in _SITE_DIRECTORIES and str(directory) in sys.path
    return directory if own else None


def _mount(instance: craft_providers.Executor) -> bool:
    directory = importable_directory(os.environ)
    if directory is None:
        emit.progress(f"No compression advice: {_UNMOUNTED}", permanent=True)
        return False
    if not (directory / "snapcraft_compression_advisor").is_dir():
        message = f"{directory} holds no snapcraft_compression_advisor"
        raise FileNotFoundError(message)
    instance.mount(host_source=directory, target=INSTANCE_DIR)
    emit.debug(f"The compression advisor is mounted from {directory}")
    return True


def _start_with(instance: Any, program: str, variables: Mapping[str, str]) -> None:
    """Have a program in an instance started with variables that nothing else gets.

    What is in the instance's own environment stays in ``/etc/environment``, and would
    reach each part's build, and shells.
    """

    def run_with(run: Callable[..., Any], command: list[str], **kwargs: Any) -> Any:
        if command[:1] == [program]:
            kwargs["env"] = {**variables, **(kwargs.get("env") or {})}
        return run(command, **kwargs)

    wrap(instance, "execute_run", run_with)
