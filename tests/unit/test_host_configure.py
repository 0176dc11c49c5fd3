"""``configure(app)``: what it registers, where, and how often."""

from __future__ import annotations

import importlib.metadata
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from craft_application import Application, AppMetadata, ServiceFactory
from craft_application.models import Project
from craft_parts import plugins

import snapcraft_compression_advisor_plugin as configure
from host_app import make_app
from host_doubles import install_snapcraft
from snapcraft_compression_advisor.host.pack_hook import AdvisingPackage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from craft_cli.pytest_plugin import RecordingEmitter


@pytest.fixture(autouse=True)
def registries() -> Iterator[None]:
    """Leave craft-application's registries as they were."""
    yield
    ServiceFactory.reset()
    plugins.unregister_all()


def warnings(emitter: RecordingEmitter) -> list[str]:
    return [
        call.args[1]
        for call in emitter.interactions
        if call.args[0] == "progress" and call.args[1].startswith("Warning")
    ]


def test_the_entry_point_leads_to_it() -> None:
    (found,) = importlib.metadata.entry_points(
        group="craft_application_plugins.application"
    )
    assert found.load() is configure


def test_everything_is_registered(emitter: RecordingEmitter) -> None:
    app = make_app()
    configure.configure(app)
    assert issubclass(ServiceFactory.get_class("package"), AdvisingPackage)
    assert "compression-advisor" in plugins.get_registered_plugins()
    names = {
        command.name
        for group in app.command_groups
        if group.name == "Compression"
        for command in group.commands
    }
    assert names == {"compression-advice", "set-compression"}
    assert warnings(emitter) == []


def test_twice_is_as_good_as_once() -> None:
    app = make_app()
    before = ServiceFactory.get_class("package")
    configure.configure(app)
    configure.configure(app)
    advising: Any = ServiceFactory.get_class("package")
    assert advising.unadvised_class is before
    assert sum(issubclass(each, AdvisingPackage) for each in advising.__mro__[1:]) == 1
    groups = [group for group in app.command_groups if group.name == "Compression"]
    assert len(groups) == 1
    assert len(groups[0].commands) == 2


def test_applications_that_pack_no_snaps_are_left_alone() -> None:
    ServiceFactory.reset()
    metadata = AppMetadata(name="craft-application", ProjectClass=Project)
    app = Application(metadata, ServiceFactory(app=metadata))
    before = ServiceFactory.get_class("package")
    configure.configure(app)
    assert ServiceFactory.get_class("package") is before
    assert "compression-advisor" not in plugins.get_registered_plugins()


def test_an_older_craft_application_costs_warnings_only(
    emitter: RecordingEmitter,
) -> None:
    # Up to version 4 services were attributes of the factory, without a registry.
    app = make_app()
    older: Any = SimpleNamespace(
        app=app.app, services=SimpleNamespace(PackageClass=object), command_groups=[]
    )
    older.add_command_group = lambda *_: None
    configure.configure(older)
    said = warnings(emitter)
    assert any("no pack hook in this version of snapcraft" in line for line in said)
    assert "compression-advisor" in plugins.get_registered_plugins()


def test_inside_snapcraft_its_own_registries_are_filled(
    monkeypatch: pytest.MonkeyPatch, emitter: RecordingEmitter
) -> None:
    snapcraft = install_snapcraft(monkeypatch)
    configure.configure(make_app())
    configure.configure(make_app())
    assert list(snapcraft.linters.LINTERS) == ["compression"]
    assert list(snapcraft.registry.registered) == ["compression-advisor"]
    assert [group.name for group in snapcraft.cli.COMMAND_GROUPS] == ["Compression"]
    wrapped: Any = snapcraft.pack.pack_snap
    assert wrapped.unadvised_function == snapcraft.packs.pack_snap
    run: Any = snapcraft.cli.run.unadvised_function
    assert not hasattr(run, "unadvised_function")
    assert warnings(emitter) == []


def test_a_snapcraft_without_a_registry_costs_a_warning_and_the_rest_works(
    monkeypatch: pytest.MonkeyPatch, emitter: RecordingEmitter
) -> None:
    snapcraft = install_snapcraft(monkeypatch)
    del snapcraft.registry.register
    configure.configure(make_app())
    (line,) = warnings(emitter)
    assert "no extension in this version of snapcraft" in line
    assert list(snapcraft.linters.LINTERS) == ["compression"]
