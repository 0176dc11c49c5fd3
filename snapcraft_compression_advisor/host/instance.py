"""The advisor in build instances (LXD, Multipass)."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from craft_cli import emit

import snapcraft_compression_advisor
from snapcraft_compression_advisor.host.guard import harmless
from snapcraft_compression_advisor.host.settings import (
    ENVIRONMENT_PREFIX,
    INSTANCE_PATH_VARIABLE,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import ModuleType

    import craft_providers
    from craft_application import ProviderService

    Below = ProviderService
else:
    Below = object

INSTANCE_DIR = PurePosixPath("/opt/snapcraft-compression-advisor")
"""Where the advisor is in an instance."""

_UNADVISED = "unadvised"
_SITE_DIRECTORIES = frozenset({"site-packages", "dist-packages"})
_DOCS = "docs/snapcraft.md"


class ProviderWithAdvisor(Below):
    """Comes before an application's Provider service, and takes the advisor along.

    :cvar unadvised: the application's own class.
    """

    unadvised: type[ProviderService]

    def setup(self) -> None:
        """Set the instance's environment."""
        super().setup()
        self.environment.update(instance_environment(os.environ))

    @contextlib.contextmanager
    def instance(self, *args: Any, **kwargs: Any) -> Iterator[craft_providers.Executor]:  # noqa: ANN401 # passed on
        """Provide an instance that the advisor's directory is mounted in."""
        with super().instance(*args, **kwargs) as instance:
            harmless(
                lambda: _mount(instance), what="the build instance goes without advice"
            )
            yield instance


def with_advisor(base: type[ProviderService]) -> type[ProviderService]:
    """Return a Provider service that takes the advisor into its instances.

    :param base: the application's class; one made here is made anew.
    """
    unadvised = getattr(base, _UNADVISED, base)
    return type(
        "ProviderServiceWithAdvisor",
        (ProviderWithAdvisor, unadvised),
        {_UNADVISED: unadvised},
    )


def wrap_core22_provider(providers: ModuleType) -> None:
    """Take the advisor into the instances of core22, which know no Provider service.

    :param providers: the module ``snapcraft.providers``.
    """
    environment = _unadvised(providers.get_command_environment)
    prepare = _unadvised(providers.prepare_instance)

    @functools.wraps(environment)
    def get_command_environment(*args: Any, **kwargs: Any) -> dict[str, str | None]:  # noqa: ANN401 # passed on
        return {**environment(*args, **kwargs), **instance_environment(os.environ)}

    @functools.wraps(prepare)
    def prepare_instance(instance: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 # passed on
        prepare(instance, *args, **kwargs)
        harmless(
            lambda: _mount(instance), what="the build instance goes without advice"
        )

    providers.get_command_environment = get_command_environment  # type: ignore[attr-defined] # a module
    providers.prepare_instance = prepare_instance  # type: ignore[attr-defined] # likewise
    for function in (get_command_environment, prepare_instance):
        setattr(function, _UNADVISED, getattr(function, "__wrapped__"))  # noqa: B009 # not known to mypy


def instance_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what instances need in their environment.

    :param environment: of this process.
    """
    needed = {
        name: value
        for name, value in environment.items()
        if name.startswith(ENVIRONMENT_PREFIX) and name != INSTANCE_PATH_VARIABLE
    }
    if importable_directory(environment) is not None:
        needed["PYTHONPATH"] = str(INSTANCE_DIR)
    return needed


def importable_directory(environment: Mapping[str, str]) -> Path | None:
    """Return the directory on the host from which instances can import the advisor.

    Where snapcraft runs as a snap, the instance gets the same snap, so what its Python
    can import here it can import there: the directory that ``pip install --target``
    filled, which is on ``PYTHONPATH``. Another Python's directory of packages would
    hide the snap's own, so it takes the user to say that one will do.

    :param environment: of this process.
    """
    named = environment.get(INSTANCE_PATH_VARIABLE)
    if named:
        return Path(named).absolute()
    if environment.get("SNAP_NAME") != "snapcraft":
        return None
    directory = Path(snapcraft_compression_advisor.__file__).resolve().parent.parent
    own = directory.name not in _SITE_DIRECTORIES and str(directory) in sys.path
    return directory if own else None


def _unadvised(function: Callable[..., Any]) -> Callable[..., Any]:
    unadvised: Callable[..., Any] = getattr(function, _UNADVISED, function)
    return unadvised


def _mount(instance: craft_providers.Executor) -> None:
    directory = importable_directory(os.environ)
    if directory is None:
        emit.progress(
            "The build instance goes without compression advice, since its Python may "
            f"be another one: {_DOCS} says how to take it along",
            permanent=True,
        )
        return
    if not (directory / "snapcraft_compression_advisor").is_dir():
        message = f"{directory} holds no snapcraft_compression_advisor"
        raise FileNotFoundError(message)
    instance.mount(host_source=directory, target=INSTANCE_DIR)
    emit.debug(f"The compression advisor is mounted from {directory}")
