"""How a run begins."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from snapcraft_compression_advisor.cli import commands
from snapcraft_compression_advisor.cli import main as program

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_mock import MockerFixture

PLUGINS = "PYDANTIC_DISABLE_PLUGINS"


@pytest.mark.parametrize("given", [None, "__all__", "some"])
def test_no_plugins_are_looked_for_and_the_environment_stays(
    given: str | None,
    mocker: MockerFixture,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv(PLUGINS, raising=False)
    if given is not None:
        monkeypatch.setenv(PLUGINS, given)
    loaded = commands.command_groups
    seen: list[str | None] = []

    def noted(arguments: list[str]) -> object:
        seen.append(os.environ.get(PLUGINS))
        return loaded(arguments)

    mocker.patch.object(program, "command_groups", noted)
    assert program.main(["rule", "SCA101"]) == 0
    assert seen == [given or "__all__"]
    assert os.environ.get(PLUGINS) == given
