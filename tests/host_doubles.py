"""Doubles of what the advisor meets inside snapcraft, as far as it looks."""

import enum
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest


class SnapcraftError(Exception):
    """snapcraft's own, with what its emitter prints."""

    def __init__(
        self,
        message: str,
        *,
        details: str | None = None,
        resolution: str | None = None,
        retcode: int = 1,
    ) -> None:
        super().__init__(message)
        self.details = details
        self.resolution = resolution
        self.retcode = retcode


class Extension:
    """snapcraft's base class of extensions."""

    def __init__(
        self, *, yaml_data: dict[str, Any], arch: str, target_arch: str
    ) -> None:
        self.yaml_data = yaml_data
        self.arch = arch
        self.target_arch = target_arch


class LinterResult(str, enum.Enum):
    """snapcraft's results of linters."""

    WARNING = "warning"
    ERROR = "error"
    INFO = "info"


@dataclass
class LinterIssue:
    """snapcraft's finding of a linter."""

    name: str
    result: LinterResult
    text: str
    filename: str | None = None


class Linter:
    """snapcraft's base class of linters."""

    def __init__(
        self, name: str, snap_metadata: object, lint: object, build_base: str | None
    ) -> None:
        self._name = name
        self._rest = (snap_metadata, lint, build_base)


class LintCommand:
    """snapcraft's command ``lint``."""

    def _run_linter(self, snap_file: Path, assert_file: Path | None) -> None:
        """Lint a snap."""


@dataclass
class Packs:
    """What was packed, in place of packing it."""

    calls: list[tuple[str, Path, str | None]] = field(default_factory=list)

    def pack_snap(
        self,
        directory: Path,
        *,
        output: str | None,
        compression: str | None = None,
        name: str | None = None,
    ) -> str:
        """Note a snap."""
        del output, name
        self.calls.append(("snap", Path(directory), compression))
        return "hello.snap"

    def pack_component(
        self, directory: Path, output_dir: Path, compression: str | None = None
    ) -> str:
        """Note a component."""
        del output_dir
        self.calls.append(("component", Path(directory), compression))
        return "hello+more.comp"


def install_snapcraft(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Make a double of snapcraft importable.

    :returns: its modules, by their last names, and ``packs``.
    """
    packs = Packs()
    modules: dict[str, dict[str, object]] = {
        "snapcraft": {},
        "snapcraft.application": {},
        "snapcraft.errors": {"SnapcraftError": SnapcraftError},
        "snapcraft.pack": {
            "pack_snap": packs.pack_snap,
            "pack_component": packs.pack_component,
        },
        "snapcraft.cli": {"COMMAND_GROUPS": [], "run": lambda: 1},
        "snapcraft.linters": {},
        "snapcraft.parts": {},
        "snapcraft.parts.lifecycle": {"run": print},
        "snapcraft.commands": {},
        "snapcraft.commands.lint": {"LintCommand": LintCommand},
        "snapcraft.providers": {"get_provider": dict},
        "snapcraft.linters.base": {
            "Linter": Linter,
            "LinterIssue": LinterIssue,
            "LinterResult": LinterResult,
        },
        "snapcraft.linters.linters": {"LINTERS": {}},
        "snapcraft.extensions": {},
        "snapcraft.extensions.extension": {"Extension": Extension},
        "snapcraft.extensions.registry": {},
    }
    made: dict[str, Any] = {}
    for name, contents in modules.items():
        module = ModuleType(name)
        vars(module).update(contents)
        monkeypatch.setitem(sys.modules, name, module)
        made[name.rpartition(".")[2]] = module
    registered: dict[str, type] = {}
    made["registry"].register = registered.__setitem__
    made["registry"].registered = registered
    ours = "snapcraft_compression_advisor.host.snapcraft_classes"
    monkeypatch.delitem(sys.modules, ours, raising=False)
    return SimpleNamespace(**made, packs=packs)
