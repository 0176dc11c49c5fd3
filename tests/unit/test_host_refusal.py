"""What is known of the mode without reading YAML, and how packs are refused."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from craft_cli import CraftError

from host_doubles import install_snapcraft
from snapcraft_compression_advisor.host.refusal import asks_to_enforce, refuse

if TYPE_CHECKING:
    from pathlib import Path

VARIABLE = "SNAPCRAFT_COMPRESSION_ADVISOR_MODE"


@pytest.mark.parametrize(
    "text",
    [
        "mode: enforce\n",
        'mode: "enforce" # for now\n',
        "pack:\n  mode: >-\n    enforce\n",
        'report: "a #"\nmode: enforce\n',
        'mode: "enf\\x6frce"\n',
        'mode: "enf\\\n  orce"\n',
    ],
)
def test_a_file_that_may_say_enforce_does(tmp_path: Path, text: str) -> None:
    (tmp_path / "compression-advisor.yaml").write_text(text)
    assert asks_to_enforce(tmp_path, {})


@pytest.mark.parametrize(
    "text", ["", "# mode: enforce\n", "mode: apply  # not yet enforce\n"]
)
def test_a_comment_says_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "compression-advisor.yaml").write_text(text)
    assert not asks_to_enforce(tmp_path, {})


def test_a_file_in_another_encoding_may_say_anything(tmp_path: Path) -> None:
    text = "mode: enforce\n"
    (tmp_path / "compression-advisor.yaml").write_bytes(text.encode("utf-16"))
    assert asks_to_enforce(tmp_path, {})


@pytest.mark.parametrize(
    ("mode", "enforces"),
    [("enforce", True), ("advise", False), ("enforced", True), ("", True)],
)
def test_the_variable_goes_before_the_file(
    tmp_path: Path, mode: str, *, enforces: bool
) -> None:
    (tmp_path / "compression-advisor.yaml").write_text("mode: enforce\n")
    assert asks_to_enforce(tmp_path, {VARIABLE: mode}) is enforces


@pytest.mark.parametrize(
    ("text", "enforces"),
    [
        ("    compression-advisor-mode: enforce\n", True),
        ("    compression-advisor-mode: apply\n", False),
        ("description: rules that we enforce\n", False),
    ],
)
def test_a_part_may_say_it(tmp_path: Path, text: str, *, enforces: bool) -> None:
    (tmp_path / "snap").mkdir()
    (tmp_path / "snap" / "snapcraft.yaml").write_text(text)
    assert asks_to_enforce(tmp_path, {}) is enforces


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
