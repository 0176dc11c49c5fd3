"""A small craft application that packs snaps, with craft-application as it is.

Its Package service packs with the real ``snap pack``. Its Lifecycle service copies what
the project folder has in ``files``, and ``components/NAME``, in place of building; with
``HOST_APP_LIFECYCLE=parts`` in the environment, craft-parts builds the parts.
"""

import importlib.metadata
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import craft_parts
import craft_platforms
from craft_application import (
    Application,
    AppMetadata,
    LifecycleService,
    PackageService,
    ProjectService,
    ServiceFactory,
)
from craft_application.models import BaseMetadata, CraftBaseModel, Project
from craft_parts.packages.base import DummyRepository
from typing_extensions import override

from image_sources import pack_as_snap

Compression = Literal["xz", "lzo"]


class Component(CraftBaseModel):
    """A component, as far as the advisor goes."""

    type: str
    summary: str | None = None
    description: str | None = None
    compression: Compression | None = None


class SnapProject(Project):
    """The keys of snapcraft.yaml that matter here."""

    compression: Compression = "xz"
    grade: str | None = None
    confinement: str | None = None
    apps: dict[str, Any] | None = None
    components: dict[str, Component] | None = None


class Metadata(BaseMetadata):
    """Nothing: snap.yaml is among the files."""


class SnapProjectService(ProjectService):
    """Finds snapcraft.yaml where snapcraft does, and does without platforms."""

    @property
    @override
    def project_file_name(self) -> str:
        """Return the file's place."""
        return "snap/snapcraft.yaml"

    @override
    def _app_render_legacy_platforms(self) -> dict[str, craft_platforms.PlatformDict]:
        """Return this machine's platform."""
        here = craft_platforms.DebianArchitecture.from_host().value
        return {here: {"build-on": [here], "build-for": [here]}}


class CopyLifecycle(LifecycleService):
    """Copies files in place of building parts."""

    copied: bool = False

    @override
    def setup(self) -> None:
        """Set up nothing."""

    @override
    def run(self, step_name: str | None, part_names: list[str] | None = None) -> None:
        """Fill the prime directories where they aren't there yet."""
        for component in (None, *self._components()):
            source = (
                Path("files") if component is None else Path("components", component)
            )
            if not self.get_prime_dir(component).exists():
                shutil.copytree(source, self.get_prime_dir(component))
                self.copied = True

    @property
    @override
    def prime_dir(self) -> Path:
        """Return the snap's prime directory."""
        return self.get_prime_dir(None)

    @property
    @override
    def requires_repack(self) -> bool:
        """Return whether anything was built."""
        return self.copied

    def get_prime_dir(self, component: str | None = None) -> Path:
        """Return a prime directory, as snapcraft's service does."""
        if component is None:
            return Path("prime").absolute()
        return Path("partitions", "component", component, "prime").absolute()

    def _components(self) -> list[str]:
        project: Any = self._services.get("project").get()
        return list(project.components or ())


class PartsLifecycle(CopyLifecycle):
    """Builds the parts on this machine, whichever base they are for."""

    @override
    def run(self, step_name: str | None, part_names: list[str] | None = None) -> None:
        """Build all parts, with the packages that this machine has."""
        craft_parts.packages.Repository = DummyRepository()  # apt's takes python3-apt
        parts = {"parts": self._services.get("project").get().parts}
        manager = craft_parts.LifecycleManager(
            parts,
            application_name="hello",
            cache_dir=Path("cache").absolute(),
            ignore_local_sources=["cache"],
        )
        with manager.action_executor() as executor:
            executor.execute(manager.plan(craft_parts.Step.PRIME))
        self.copied = True


class PackageBase(PackageService):
    """What both kinds of Package service have in common."""

    @override
    def update_project(self) -> None:
        """Update nothing."""

    @override
    def write_metadata(self, path: Path) -> None:
        """Write nothing."""

    @property
    @override
    def metadata(self) -> Metadata:
        """Return nothing of interest."""
        return Metadata()

    def pack_main(self, output: Path) -> Path:
        """Pack the snap."""
        project: Any = self._services.get("project").get()
        lifecycle: Any = self._services.get("lifecycle")
        return snap_pack(lifecycle.prime_dir, output, project.compression)

    def pack_component(self, name: str, output: Path) -> Path:
        """Pack a component; ``snap pack`` of older snapd can't."""
        project: Any = self._services.get("project").get()
        lifecycle: Any = self._services.get("lifecycle")
        compression = project.components[name].compression or project.compression
        return pack_as_snap(lifecycle.get_prime_dir(name), output, codec=compression)


class ArtifactPackage(PackageBase):
    """Packs artifact by artifact."""

    @override
    def get_artifacts(self) -> dict[str | None, Path]:
        """Return all artifacts."""
        project: Any = self._services.get("project").get()
        artifacts: dict[str | None, Path] = {None: Path(f"{project.name}.snap")}
        for name in project.components or ():
            artifacts[name] = Path(f"{project.name}+{name}.comp")
        return {name: path.absolute() for name, path in artifacts.items()}

    @override
    def _prime_dir_for(self, partition_name: str | None) -> Path:
        """Return an artifact's prime directory."""
        lifecycle: Any = self._services.get("lifecycle")
        prime_dir: Path = lifecycle.get_prime_dir(partition_name)
        return prime_dir

    @override
    def _pack(self, *, name: str | None = None, path: Path) -> None:
        """Pack one artifact."""
        if name is None:
            self.pack_main(path)
        else:
            self.pack_component(name, path)


class WholePackage(PackageBase):
    """Packs all at once, as services did before there were artifacts."""

    @override
    def pack(self, prime_dir: Path, dest: Path) -> list[Path]:
        """Pack all artifacts."""
        project: Any = self._services.get("project").get()
        return [
            self.pack_main(Path(f"{project.name}.snap").absolute()),
            *(
                self.pack_component(
                    name, Path(f"{project.name}+{name}.comp").absolute()
                )
                for name in project.components or ()
            ),
        ]


LIFECYCLES: dict[str, type[LifecycleService]] = {
    "copy": CopyLifecycle,
    "parts": PartsLifecycle,
}
PACKAGES: dict[str, type[PackageService]] = {
    "artifacts": ArtifactPackage,
    "whole": WholePackage,
}


def snap_pack(directory: Path, output: Path, compression: str) -> Path:
    """Pack a snap as snapcraft does."""
    subprocess.run(
        [
            *("snap", "pack", "--filename", output.name),
            *("--compression", compression, directory, output.parent),
        ],
        check=True,
        capture_output=True,
    )
    return output


def make_app(
    package: type[PackageService] = ArtifactPackage,
    *,
    lifecycle: type[LifecycleService] = CopyLifecycle,
    name: str = "snapcraft",
) -> Application:
    """Return the application, and register its services."""
    ServiceFactory.reset()
    ServiceFactory.register("package", package)
    ServiceFactory.register("lifecycle", lifecycle)
    ServiceFactory.register("project", SnapProjectService)
    metadata = AppMetadata(
        name=name,
        summary="Packs snaps",
        ProjectClass=SnapProject,
        mandatory_adoptable_fields=[],
        always_repack=False,
    )
    return Application(metadata, ServiceFactory(app=metadata))


if __name__ == "__main__":
    if "HOST_APP_ALONE" in os.environ:
        importlib.metadata.entry_points = lambda **_: ()  # type: ignore[assignment]
    application = make_app(
        PACKAGES[os.environ.get("HOST_APP_PACKAGE", "artifacts")],
        lifecycle=LIFECYCLES[os.environ.get("HOST_APP_LIFECYCLE", "copy")],
    )
    status = application.run()
    if "HOST_APP_LOADED" in os.environ:
        files = (getattr(each, "__file__", None) for each in [*sys.modules.values()])
        Path(os.environ["HOST_APP_LOADED"]).write_text("\n".join(filter(None, files)))
    sys.exit(status)
