"""Advice before each artifact is packed: by the Package service, or without one.

Without one pack core22 and ``snapcraft pack DIRECTORY``.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from ..advice.judging import SNAPCRAFT_DEFAULT
from ..payload.source import component_name
from .advisor import Advisor, FindAdvisor, check_settings
from .decision import Artifact, codec_of
from .guard import harmless, stopping_snapcraft, wrap

if TYPE_CHECKING:
    from craft_application import PackageService

    Below = PackageService
else:
    Below = object


class AdvisingPackage(Below):
    """Comes before an application's Package service; what is packed stays its business.

    The application's project needs ``compression``, and may have ``components`` with
    one each, as snapcraft's has.

    :cvar find_advisor: returns who gives the advice, always the same.
    """

    find_advisor: FindAdvisor

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._artifacts: dict[str | None, Artifact] = {}

    @property
    def advisor(self) -> Advisor | None:
        """Who gives the advice; None if that can't be loaded."""
        return type(self).find_advisor()

    def pack(self, prime_dir: Path, dest: Path) -> list[Path]:
        """Pack all artifacts at once, as applications without ``_pack`` do."""
        if self.advisor is not None:
            components = self.advisor.judging(
                lambda: list(getattr(self._compressed(None), "components", None) or ()),
                what="no advice on components",
            )
            for component in (None, *(components or ())):
                self._advise(component)
        packed = super().pack(prime_dir, dest)
        self._conclude()
        return packed

    def pack_artifacts(self) -> Mapping[str | None, bool]:
        """Pack artifact by artifact, as later applications do."""
        packed = super().pack_artifacts()
        self._conclude()
        return packed

    def _conclude(self) -> None:
        if self.advisor is not None:
            self.advisor.conclude()

    def _pack(self, *, name: str | None = None, path: Path) -> None:
        """Pack one artifact."""
        self._advise(name)
        super()._pack(name=name, path=path)

    def _app_needs_repack(self, partition: str | None = None) -> bool:
        """Return whether what is there was packed differently than it would be now."""
        if super()._app_needs_repack(partition):
            return True
        advisor = self.advisor
        if advisor is None:
            return False
        mode = advisor.judging(
            lambda: advisor.loaded.settings.mode,
            what="the existing package isn't checked",
        )
        if mode in (None, "advise"):
            return False
        wanted = self._advise(partition)
        if wanted is None:
            return False
        there = advisor.judging(
            lambda: codec_of(self.get_artifacts()[partition]),
            what="cannot read the existing package",
        )
        return there != wanted

    def _advise(self, name: str | None) -> str | None:
        """Give advice on an artifact, and have it packed as that says.

        :returns: what it is packed with; None if that isn't known.
        """
        advisor, component = self.advisor, None if name == "default" else name
        if advisor is None:
            return None
        artifact = advisor.judging(
            lambda: self._artifact(advisor, component),
            what="no advice, because the project isn't as expected",
        )
        if artifact is None:
            return None
        wanted = advisor.before_pack(artifact)
        if wanted == artifact.compression:
            return wanted
        done = harmless(
            lambda: self._set_compression(component, wanted),
            what=f"{artifact.label} is packed with {artifact.compression}",
        )
        return wanted if done else artifact.compression

    def _set_compression(self, component: str | None, compression: str) -> bool:
        self._compressed(component).compression = compression
        return True

    def _artifact(self, advisor: Advisor, component: str | None) -> Artifact:
        """Return an artifact as it was when first asked for."""
        if component not in self._artifacts:
            inherited = self._compressed(None).compression or SNAPCRAFT_DEFAULT
            holder = None if component is None else self._compressed(component)
            own = getattr(holder, "compression", None)  # not before snapcraft 9.1
            lifecycle = cast("Any", self._services.get("lifecycle"))
            prime_dir: Path = (
                lifecycle.prime_dir
                if component is None
                else lifecycle.get_prime_dir(component)
            )
            self._artifacts[component] = Artifact(
                prime_dir=prime_dir.resolve(),
                component=component,
                compression=own or inherited,
                declared=advisor.declared(component),
            )
        return self._artifacts[component]

    def _compressed(self, component: str | None) -> Any:
        """Return the holder of the key: the project, or one of its components."""
        project: Any = getattr(self, "_project", None)  # up to craft-application 4
        if project is None:
            project = cast("Any", self._services.get("project").get())
        return project if component is None else project.components[component]


def advising(
    base: type[PackageService], find_advisor: FindAdvisor
) -> type[PackageService]:
    """Return an application's Package service, which gives advice before it packs."""
    members = {"find_advisor": staticmethod(find_advisor)}
    return type("AdvisingPackageService", (AdvisingPackage, base), members)


def wrap_pack_functions(pack: ModuleType, find_advisor: FindAdvisor) -> None:
    """Have snapcraft's two functions that pack a directory ask for advice first.

    If the Package service has asked already, they only pack.

    :param pack: the module ``snapcraft.pack``.
    :raises TypeError: if snapcraft's functions take other arguments.
    """
    for name in ("pack_snap", "pack_component"):
        signature = inspect.signature(getattr(pack, name))
        if not {"directory", "compression"} <= signature.parameters.keys():
            message = f"{name} takes {', '.join(signature.parameters)}"
            raise TypeError(message)
        is_component = name == "pack_component"
        wrap(pack, name, functools.partial(_pack, find_advisor, is_component))


def wrap_lifecycle(lifecycle: ModuleType, find_advisor: FindAdvisor) -> None:
    """Have the settings checked before snapcraft builds anything on core22.

    :param lifecycle: the module ``snapcraft.parts.lifecycle``.
    """

    def checked(
        run: Callable[..., None], command_name: str, *args: Any, **kwargs: Any
    ) -> None:
        if command_name != "clean":  # which needs no settings
            with stopping_snapcraft():
                check_settings(find_advisor)
        run(command_name, *args, **kwargs)

    wrap(lifecycle, "run", checked)


def _pack(
    find_advisor: FindAdvisor,
    is_component: bool,  # noqa: FBT001 # no keyword may get into what is passed on
    function: Callable[..., str],
    *args: Any,
    **kwargs: Any,
) -> str:
    """Pack a directory as snapcraft's own function does, but with what advice says."""
    arguments = inspect.signature(function).bind(*args, **kwargs)
    given = arguments.arguments
    prime_dir = Path(given["directory"]).resolve()
    with stopping_snapcraft():
        advisor = find_advisor()
        asks = advisor is not None and not advisor.has_advised(prime_dir)
        if advisor is not None and asks:
            artifact = advisor.judging(
                lambda: _artifact(advisor, prime_dir, given, is_component=is_component),
                what="no advice, because the payload isn't as expected",
            )
            wanted = advisor.before_pack(artifact) if artifact else None
            if artifact and wanted != artifact.compression:
                given["compression"] = wanted
    packed = function(*arguments.args, **arguments.kwargs)
    if advisor is not None and asks:
        advisor.conclude()
    return packed


def _artifact(
    advisor: Advisor, prime_dir: Path, given: Mapping[str, Any], *, is_component: bool
) -> Artifact:
    component = component_name(prime_dir) if is_component else None
    compression = given.get("compression")
    return Artifact(
        prime_dir=prime_dir,
        component=component,
        compression=compression or SNAPCRAFT_DEFAULT,
        # If snapcraft passes none, it packs a directory without its project.
        declared=advisor.declared(component) if compression else None,
    )
