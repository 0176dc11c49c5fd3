"""What is known of the mode without the package, and how packs are refused."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from craft_cli import CraftError

from host_doubles import install_snapcraft
from snapcraft_compression_advisor_plugin import (
    may_enforce,
    refuse,
)

if TYPE_CHECKING:
    from pathlib import Path

VARIABLE = "SNAPCRAFT_COMPRESSION_ADVISOR_MODE"


@pytest.mark.parametrize(
    "name", ["compression-advisor.yaml", "compression-advisor.yml"]
)
@pytest.mark.parametrize("folder", [".", "snap", "build-aux/snap"])
def test_settings_that_cannot_be_read_may_say_enforce(
    tmp_path: Path, folder: str, name: str
) -> None:
    assert not may_enforce(tmp_path, {})
    (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    (tmp_path / folder / name).write_text("# nothing yet\n")
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

    def register(self, name: str, kind: Any) -> None:  # noqa: ANN401 # likewise
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
