"""What the advisor registers with its host, and what it does when it fails."""

import gc
import importlib.metadata
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from craft_application import Application, AppMetadata, ServiceFactory
from craft_application.models import Project
from craft_cli import CraftError
from craft_cli.pytest_plugin import RecordingEmitter
from craft_parts import plugins

import snapcraft_compression_advisor_plugin as configure
from host_app import make_app
from host_doubles import install_snapcraft
from snapcraft_compression_advisor.core.errors import BadDataError
from snapcraft_compression_advisor.host.guard import (
    PolicyBrokenError,
    SettingsError,
    harmless,
)
from snapcraft_compression_advisor.host.pack import AdvisingPackage
from snapcraft_compression_advisor_plugin import (
    IMPORT_DIR,
    hide_import_dir,
    may_enforce,
    refuse,
)
from trees import fill


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
    configure.configure(app)
    advising = ServiceFactory.get_class("package")
    configure.configure(app)
    assert ServiceFactory.get_class("package") is advising
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


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (str(IMPORT_DIR), None),
        (f"{IMPORT_DIR}/", None),
        (f"{IMPORT_DIR}:{IMPORT_DIR}/docs/..", None),
        (f"/mine:{IMPORT_DIR}", "/mine"),
        (f"{IMPORT_DIR}:/mine::/yours/", "/mine::/yours/"),
        ("/mine", "/mine"),
        ("", ""),
        (None, None),
    ],
)
def test_its_own_entry_goes_and_the_rest_stays(
    before: str | None, after: str | None
) -> None:
    environment = {} if before is None else {"PYTHONPATH": before}
    hide_import_dir(environment)
    assert environment == ({} if after is None else {"PYTHONPATH": after})


VARIABLE = "SNAPCRAFT_COMPRESSION_ADVISOR_MODE"


@pytest.mark.parametrize(
    "name", ["compression-advisor.yaml", "compression-advisor.yml"]
)
@pytest.mark.parametrize("folder", [".", "snap", "build-aux/snap"])
def test_settings_that_cannot_be_read_may_say_enforce(
    tmp_path: Path, folder: str, name: str
) -> None:
    assert not may_enforce(tmp_path, {})
    fill(tmp_path / folder, {name: "# nothing yet\n"})
    assert may_enforce(tmp_path, {})


@pytest.mark.parametrize(
    ("mode", "enforces"),
    [("enforce", True), ("advise", False), ("enforced", True), ("", True)],
)
def test_the_variable_goes_before_the_file(
    tmp_path: Path, mode: str, *, enforces: bool
) -> None:
    (tmp_path / "compression-advisor.yaml").write_text("mode: enforce\n")
    assert may_enforce(tmp_path, {VARIABLE: mode}) is enforces


class Lifecycle:
    """Stands for a service that builds."""

    def run(self) -> str:
        """Build."""
        return "built"

    def clean(self) -> str:
        """Build nothing."""
        return "cleaned"


class Services:
    """Stands for the registry of services."""

    def __init__(self) -> None:
        self.classes: dict[str, Any] = dict.fromkeys(
            ("lifecycle", "package", "provider"), Lifecycle
        )

    def get_class(self, name: str) -> Any:  # noqa: ANN401 # of any kind
        """Return a service's class."""
        return self.classes[name]

    def register(self, name: str, kind: Any) -> None:  # noqa: ANN401 # as above
        """Set a service's class."""
        self.classes[name] = kind


def test_services_refuse_to_build_and_still_clean() -> None:
    services: Any = Services()
    app: Any = SimpleNamespace(services=services)
    refuse(app, "numpy is damaged")
    lifecycle = services.get_class("lifecycle")()
    with pytest.raises(CraftError, match="numpy is damaged") as caught:
        lifecycle.run()
    assert caught.value.retcode == 1
    assert lifecycle.clean() == "cleaned"


def test_snapcraft_s_own_functions_refuse_with_its_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    snapcraft = install_snapcraft(monkeypatch)
    app: Any = SimpleNamespace(services=Services())
    refuse(app, "numpy is damaged")
    for pack in (snapcraft.pack.pack_snap, snapcraft.pack.pack_component):
        with pytest.raises(snapcraft.errors.SnapcraftError, match="numpy is damaged"):
            pack(tmp_path, output=None)
    assert snapcraft.packs.calls == []


@pytest.mark.usefixtures("emitter")
def test_an_application_that_cannot_be_held_back_ends() -> None:
    app: Any = SimpleNamespace(services=SimpleNamespace())
    with pytest.raises(SystemExit) as caught:
        refuse(app, "numpy is damaged")
    assert caught.value.code == 1


def failing(error: BaseException) -> NoReturn:
    raise error


def said(emitter: RecordingEmitter) -> list[str]:
    return [call.args[1] for call in emitter.interactions if call.args[0] == "progress"]


def test_what_succeeds_says_nothing(emitter: RecordingEmitter) -> None:
    assert harmless(lambda: 5, what="five") == 5
    assert said(emitter) == []


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (BadDataError("the file is broken"), "the file is broken"),
        (OSError("the file\nis \x1b"), "OSError: the file is \ufffd"),
        (KeyError("absent"), "KeyError: 'absent'"),
        (RecursionError(), "RecursionError: no reason given"),
        (MemoryError("x" * 1000), f"MemoryError: {'x' * 287}…"),
    ],
)
def test_a_failure_is_one_warning_line(
    emitter: RecordingEmitter, error: Exception, reason: str
) -> None:
    assert harmless(lambda: failing(error), what="nothing is done") is None
    (line,) = said(emitter)
    assert line.startswith(f"Warning: compression advisor: nothing is done: {reason}")
    assert "\n" not in line


@pytest.mark.usefixtures("emitter")
def test_the_collector_of_cycles_rests_meanwhile() -> None:
    assert harmless(gc.isenabled, what="looking") is False
    harmless(lambda: failing(OSError("broken")), what="failing")
    assert gc.isenabled()
    gc.disable()
    try:
        harmless(gc.isenabled, what="looking")
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize(
    "error", [SettingsError("broken"), PolicyBrokenError("broken"), KeyboardInterrupt()]
)
def test_what_has_to_stop_the_pack_does(
    emitter: RecordingEmitter, error: BaseException
) -> None:
    with pytest.raises(type(error)):
        harmless(lambda: failing(error), what="nothing")
    assert said(emitter) == []
