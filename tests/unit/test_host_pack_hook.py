"""The Package service with advice, in applications of other versions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from host_projects import LZO_PAYS, make_project
from snapcraft_compression_advisor.host.advisor import Advisor
from snapcraft_compression_advisor.host.pack import advising

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from craft_cli.pytest_plugin import RecordingEmitter


class Packing:
    """Packs all at once, as services of craft-application 4 do."""

    packed_with: str | None = None

    def __init__(self, services: object, project: object = None) -> None:
        self._services = services
        self._project = project

    def pack(self, prime_dir: Path, dest: Path) -> list[Path]:
        """Note what would be packed with."""
        del prime_dir
        self.packed_with = getattr(self._project, "compression", "xz")
        return [dest / "hello.snap"]


class NoServices:
    """Knows no service."""

    def get(self, name: str) -> object:
        message = f"Not a registered service: {name}"
        raise AttributeError(message)


def service(
    folder: Path, services: object, project: object, find: Callable[[], Advisor | None]
) -> Any:  # noqa: ANN401 # a class made at run time
    base: Any = Packing
    advised: Any = advising(base, find)
    made = advised(services, project)
    assert made.pack(folder / "files", folder) == [folder / "hello.snap"]
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project", policy=f"{LZO_PAYS}mode: apply\n")


@pytest.mark.usefixtures("emitter")
def test_services_that_hold_their_project_themselves_get_advice(folder: Path) -> None:
    lifecycle = SimpleNamespace(prime_dir=folder / "files")
    services = SimpleNamespace(get={"lifecycle": lifecycle}.__getitem__)
    project = SimpleNamespace(compression="xz", components=None)
    advisor = Advisor(project_dir=folder)
    made = service(folder, services, project, lambda: advisor)
    assert made.packed_with == "lzo"


def test_services_that_nothing_is_known_of_pack_without(
    folder: Path, emitter: RecordingEmitter
) -> None:
    advisor = Advisor(project_dir=folder)
    made = service(folder, NoServices(), None, lambda: advisor)
    assert made.packed_with == "xz"
    said = [str(each.args[1]) for each in emitter.interactions if len(each.args) > 1]
    assert any(
        "no advice, because the project isn't as expected" in one for one in said
    )


@pytest.mark.usefixtures("emitter")
def test_an_advisor_that_cannot_be_had_costs_no_pack(folder: Path) -> None:
    lifecycle = SimpleNamespace(prime_dir=folder / "files")
    services = SimpleNamespace(get={"lifecycle": lifecycle}.__getitem__)
    project = SimpleNamespace(compression="xz", components=None)
    assert service(folder, services, project, lambda: None).packed_with == "xz"
