"""The Package service with advice before each artifact."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from .advisor import Advisor, FindAdvisor
from .artifact import DEFAULT_COMPRESSION, Artifact, codec_of
from .guard import derive, harmless

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
    :cvar unadvised_class: the application's own class.
    """

    find_advisor: FindAdvisor
    unadvised_class: type[PackageService]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._artifacts: dict[str | None, Artifact] = {}

    @property
    def advisor(self) -> Advisor | None:
        """Who gives the advice; ``None`` if that can't be loaded."""
        return type(self).find_advisor()

    def pack(self, prime_dir: Path, dest: Path) -> list[Path]:
        """Pack all artifacts at once, as applications without ``_pack`` do."""
        if self.advisor is not None:
            components = self.advisor.judging(
                self._components, what="no advice on components"
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
        """Return whether what is there was packed differently than it would be now.

        This is asked if nothing else has changed since.
        """
        if super()._app_needs_repack(partition):
            return True
        advisor = self.advisor
        if advisor is None:
            return False
        mode = advisor.judging(
            lambda: advisor.settings.policy.mode,
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

        :returns: what it is packed with; ``None`` if that isn't known.
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
            inherited = self._compressed(None).compression or DEFAULT_COMPRESSION
            holder = None if component is None else self._compressed(component)
            own = getattr(holder, "compression", None)  # not before snapcraft 9.1
            self._artifacts[component] = Artifact(
                prime_dir=self._prime_dir(component),
                component=component,
                compression=own or inherited,
                declared=advisor.declared(component),
            )
        return self._artifacts[component]

    def _prime_dir(self, component: str | None) -> Path:
        lifecycle = cast("Any", self._services.get("lifecycle"))
        prime_dir: Path = (
            lifecycle.prime_dir
            if component is None
            else lifecycle.get_prime_dir(component)
        )
        return prime_dir.resolve()

    def _compressed(self, component: str | None) -> Any:
        """Return what holds the key: the project, or one of its components."""
        project: Any = getattr(self, "_project", None)  # up to craft-application 4
        if project is None:
            project = cast("Any", self._services.get("project").get())
        return project if component is None else project.components[component]

    def _components(self) -> list[str]:
        components = getattr(self._compressed(None), "components", None)
        return list(components or ())


def advising(
    base: type[PackageService], find_advisor: FindAdvisor
) -> type[PackageService]:
    """Return a Package service that gives advice before it packs.

    :param base: the application's class; one made here is made anew.
    """
    return derive(
        base,
        "AdvisingPackageService",
        AdvisingPackage,
        mark="unadvised_class",
        find_advisor=staticmethod(find_advisor),
    )
