"""The advisor in build instances."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

import snapcraft_compression_advisor
from snapcraft_compression_advisor.host.instance import (
    INSTANCE_DIR,
    importable_directory,
    with_advisor,
    wrap_core22_provider,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from craft_cli.pytest_plugin import RecordingEmitter

VARIABLE = "SNAPCRAFT_COMPRESSION_ADVISOR_INSTANCE_PATH"


class Instance:
    """Notes what is mounted."""

    def __init__(self) -> None:
        self.mounts: list[tuple[Path, object]] = []

    def mount(self, *, host_source: Path, target: object) -> None:
        """Note a mount."""
        self.mounts.append((host_source, target))


class Provider:
    """What the Provider service of an application does, as far as it matters."""

    def __init__(self) -> None:
        self.environment: dict[str, str | None] = {}
        self.made = Instance()

    def setup(self) -> None:
        """Set up the application's own variables."""
        self.environment["SNAPCRAFT_OWN"] = "1"

    @contextlib.contextmanager
    def instance(self, build_info: str, *, work_dir: Path) -> Iterator[Instance]:
        """Provide an instance."""
        assert (build_info, work_dir) == ("build", Path())
        yield self.made


def launched(monkeypatch: pytest.MonkeyPatch, **variables: str) -> Provider:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    base: Any = Provider
    made: Any = with_advisor(base)
    provider: Provider = made()
    provider.setup()
    with provider.instance("build", work_dir=Path()):
        pass
    return provider


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a directory as ``pip install --target`` leaves it, on Python's path."""
    package = tmp_path / "advisor" / "snapcraft_compression_advisor"
    package.mkdir(parents=True)
    monkeypatch.setattr(
        snapcraft_compression_advisor, "__file__", str(package / "__init__.py")
    )
    monkeypatch.syspath_prepend(str(package.parent))
    return package.parent


def test_the_snap_takes_along_the_directory_that_it_imports_from(
    target: Path, monkeypatch: pytest.MonkeyPatch, emitter: RecordingEmitter
) -> None:
    provider = launched(monkeypatch, SNAP_NAME="snapcraft")
    assert provider.made.mounts == [(target, INSTANCE_DIR)]
    assert provider.environment["PYTHONPATH"] == str(INSTANCE_DIR)
    assert provider.environment["SNAPCRAFT_OWN"] == "1"
    assert not any(call.args[0] == "progress" for call in emitter.interactions)


@pytest.mark.usefixtures("target")
def test_another_python_is_not_trusted_to_fit_and_a_hint_says_so(
    monkeypatch: pytest.MonkeyPatch, emitter: RecordingEmitter
) -> None:
    monkeypatch.delenv("SNAP_NAME", raising=False)
    provider = launched(monkeypatch)
    assert provider.made.mounts == []
    assert "PYTHONPATH" not in provider.environment
    (said,) = [
        call.args[1] for call in emitter.interactions if call.args[0] == "progress"
    ]
    assert "docs/snapcraft.md says how" in said


def test_a_directory_of_other_packages_is_not_taken_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site-packages" / "snapcraft_compression_advisor"
    monkeypatch.setattr(
        snapcraft_compression_advisor, "__file__", str(package / "__init__.py")
    )
    monkeypatch.setattr(sys, "path", [str(package.parent)])
    assert importable_directory({"SNAP_NAME": "snapcraft"}) is None


def test_the_directory_that_the_user_names_is_taken_along(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = launched(monkeypatch, **{VARIABLE: str(target)})
    assert provider.made.mounts == [(target, INSTANCE_DIR)]


def test_settings_go_along_but_for_the_directory(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = launched(
        monkeypatch,
        **{VARIABLE: str(target), "SNAPCRAFT_COMPRESSION_ADVISOR_MODE": "write"},
    )
    assert provider.environment["SNAPCRAFT_COMPRESSION_ADVISOR_MODE"] == "write"
    assert VARIABLE not in provider.environment


def test_a_directory_without_the_advisor_costs_a_warning_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, emitter: RecordingEmitter
) -> None:
    provider = launched(monkeypatch, **{VARIABLE: str(tmp_path)})
    assert provider.made.mounts == []
    said = [call.args[1] for call in emitter.interactions]
    assert any("holds no snapcraft_compression_advisor" in line for line in said)


def test_it_takes_its_own_place() -> None:
    base: Any = Provider
    twice: Any = with_advisor(with_advisor(base))
    assert twice.unadvised is Provider


def test_instances_of_core22_take_it_along_too(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(target))
    prepared: list[object] = []
    providers: Any = ModuleType("providers")
    providers.get_command_environment = lambda: {"SNAPCRAFT_OWN": "1"}
    providers.prepare_instance = lambda instance, **_: prepared.append(instance)
    wrap_core22_provider(providers)
    wrap_core22_provider(providers)
    instance = Instance()
    providers.prepare_instance(instance, host_project_path=Path(), bind_ssh=False)
    assert prepared == [instance]
    assert instance.mounts == [(target, INSTANCE_DIR)]
    assert providers.get_command_environment() == {
        "SNAPCRAFT_OWN": "1",
        "PYTHONPATH": str(INSTANCE_DIR),
    }
