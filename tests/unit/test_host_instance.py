"""The advisor in build instances."""

import contextlib
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from craft_cli.pytest_plugin import RecordingEmitter

import snapcraft_compression_advisor
from host_doubles import SnapcraftError, install_snapcraft
from snapcraft_compression_advisor.host import instance
from snapcraft_compression_advisor.host.guard import (
    CannotJudgeError,
    stopping_snapcraft,
)
from snapcraft_compression_advisor.host.instance import (
    INSTANCE_DIR,
    importable_directory,
)

VARIABLE = "SNAPCRAFT_COMPRESSION_ADVISOR_INSTANCE_PATH"


class Instance:
    """Notes what is mounted and executed."""

    def __init__(self) -> None:
        self.mounts: list[tuple[Path, object]] = []
        self.executed: list[tuple[list[str], dict[str, str | None]]] = []
        self.loads_the_advisor = True

    def mount(self, *, host_source: Path, target: object) -> None:
        """Note a mount."""
        self.mounts.append((host_source, target))

    def execute_run(
        self,
        command: list[str],
        *,
        env: dict[str, str | None] | None = None,
        **_: object,
    ) -> SimpleNamespace:
        """Note a command and what is added to its environment."""
        self.executed.append((command, env or {}))
        fails = "--help" in command and not self.loads_the_advisor
        return SimpleNamespace(returncode=64 if fails else 0)


class Provider:
    """What a provider of craft-providers does, as far as it matters."""

    def __init__(self, made: Instance) -> None:
        self.made = made

    @contextlib.contextmanager
    def launched_environment(self, *, project_name: str) -> Iterator[Instance]:
        """Launch an instance."""
        assert project_name == "hello"
        yield self.made


class ProviderService:
    """What the Provider service of an application does, likewise."""

    made = Instance()

    def get_provider(self, name: str | None = None) -> Provider:
        """Return the provider."""
        del name
        return Provider(self.made)


def entered(
    monkeypatch: pytest.MonkeyPatch,
    made: Instance,
    *,
    enforced: bool = False,
    **variables: str,
) -> Instance:
    """Return an instance in which snapcraft was run."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    enter = partial(instance.enter, program="snapcraft", enforces=lambda: enforced)
    entering: Any = type("Entering", (ProviderService,), {})
    instance.wrap_get_provider(entering, enter)
    service = entering()
    service.made = made
    with service.get_provider().launched_environment(project_name="hello") as launched:
        launched.execute_run(["snapcraft", "pack"], env={"CRAFT_PLATFORM": "amd64"})
        launched.execute_run(["bash"])
    return made


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
    made = entered(monkeypatch, Instance(), SNAP_NAME="snapcraft")
    assert made.mounts == [(target, INSTANCE_DIR)]
    assert not any(call.args[0] == "progress" for call in emitter.interactions)


def test_only_snapcraft_s_own_start_finds_it_there(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = entered(
        monkeypatch,
        Instance(),
        SNAPCRAFT_COMPRESSION_ADVISOR_INSTANCE_PATH=str(target),
        SNAPCRAFT_COMPRESSION_ADVISOR_MODE="write",
    )
    pack, shell = made.executed
    assert pack == (
        ["snapcraft", "pack"],
        {
            "CRAFT_PLATFORM": "amd64",
            "PYTHONPATH": str(INSTANCE_DIR),
            "SNAPCRAFT_COMPRESSION_ADVISOR_MODE": "write",
        },
    )
    assert shell == (["bash"], {})


@pytest.mark.usefixtures("target")
def test_another_python_is_not_trusted_to_fit_and_a_hint_says_so(
    monkeypatch: pytest.MonkeyPatch, emitter: RecordingEmitter
) -> None:
    monkeypatch.delenv("SNAP_NAME", raising=False)
    made = entered(monkeypatch, Instance())
    assert made.mounts == []
    assert made.executed == [
        (["snapcraft", "pack"], {"CRAFT_PLATFORM": "amd64"}),
        (["bash"], {}),
    ]
    (said,) = [
        call.args[1] for call in emitter.interactions if call.args[0] == "progress"
    ]
    assert "SNAPCRAFT_COMPRESSION_ADVISOR_INSTANCE_PATH" in said


@pytest.mark.usefixtures("target", "emitter")
def test_a_build_that_is_enforced_stops_where_the_instance_goes_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("SNAP_NAME", raising=False)
    made = Instance()
    with pytest.raises(CannotJudgeError, match="the build instance doesn't have it"):
        entered(monkeypatch, made, enforced=True)
    assert made.executed == []


def test_a_build_that_is_enforced_stops_where_snapcraft_does_not_load_it_there(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Instance()
    entered(
        monkeypatch,
        made,
        enforced=True,
        SNAPCRAFT_COMPRESSION_ADVISOR_INSTANCE_PATH=str(target),
    )
    assert ["snapcraft", "pack"] in [command for command, _ in made.executed]
    made = Instance()
    made.loads_the_advisor = False
    with pytest.raises(CannotJudgeError, match="doesn't load it"):
        entered(
            monkeypatch,
            made,
            enforced=True,
            SNAPCRAFT_COMPRESSION_ADVISOR_INSTANCE_PATH=str(target),
        )
    assert ["snapcraft", "pack"] not in [command for command, _ in made.executed]


def test_a_directory_of_other_packages_is_not_taken_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site-packages" / "snapcraft_compression_advisor"
    monkeypatch.setattr(
        snapcraft_compression_advisor, "__file__", str(package / "__init__.py")
    )
    monkeypatch.setattr(sys, "path", [str(package.parent)])
    assert importable_directory({"SNAP_NAME": "snapcraft"}) is None


def test_a_directory_without_the_advisor_costs_a_warning_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, emitter: RecordingEmitter
) -> None:
    made = entered(
        monkeypatch,
        Instance(),
        SNAPCRAFT_COMPRESSION_ADVISOR_INSTANCE_PATH=str(tmp_path),
    )
    assert made.mounts == []
    said = [call.args[1] for call in emitter.interactions]
    assert any("holds no snapcraft_compression_advisor" in line for line in said)


def test_instances_of_core22_and_of_lint_take_it_along_too(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(target))
    made = Instance()
    providers: Any = ModuleType("providers")
    providers.get_provider = lambda name=None: Provider(made)  # noqa: ARG005 # as it is called
    enter = partial(instance.enter, program="snapcraft", enforces=lambda: False)
    instance.wrap_get_provider(providers, enter)
    instance.wrap_get_provider(providers, enter)
    provider = providers.get_provider("lxd")
    with provider.launched_environment(project_name="hello") as launched:
        launched.execute_run(["snapcraft", "lint", "/root/hello.snap"], check=True)
    assert made.mounts == [(target, INSTANCE_DIR)]
    assert made.executed[-1][1] == {"PYTHONPATH": str(INSTANCE_DIR)}


@pytest.mark.usefixtures("target", "emitter")
def test_core22_stops_with_snapcraft_s_own_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("SNAP_NAME", raising=False)
    install_snapcraft(monkeypatch)
    providers: Any = ModuleType("providers")
    providers.get_provider = lambda: Provider(Instance())
    enter = partial(instance.enter, program="snapcraft", enforces=lambda: True)
    instance.wrap_get_provider(providers, stopping_snapcraft()(enter))
    launch = providers.get_provider().launched_environment(project_name="hello")
    with pytest.raises(SnapcraftError, match="doesn't have it"), launch:
        pass
