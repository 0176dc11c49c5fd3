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

PLUGINS, THREADS = "PYDANTIC_DISABLE_PLUGINS", "OPENBLAS_NUM_THREADS"


@pytest.mark.parametrize(
    ("variable", "texts"),
    [
        (PLUGINS, (None, "__all__")),
        (PLUGINS, ("__all__", "__all__")),
        (PLUGINS, ("some", "some")),
        (THREADS, (None, "1")),
        (THREADS, ("3", "3")),
    ],
)
def test_libraries_start_small_and_the_environment_stays(
    variable: str,
    texts: tuple[str | None, str],
    mocker: MockerFixture,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    given, expected = texts
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv(variable, raising=False)
    if given is not None:
        monkeypatch.setenv(variable, given)
    made = commands.make_dispatcher
    seen: list[str | None] = []

    def noted(name: str) -> object:
        seen.append(os.environ.get(variable))
        return made(name)

    mocker.patch.object(program, "make_dispatcher", noted)
    assert program.main(["rule", "SCA101"]) == 0
    assert seen == [expected]
    assert os.environ.get(variable) == given
