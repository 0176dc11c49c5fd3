"""The advisor's failures stay the advisor's."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import pytest

from snapcraft_compression_advisor.core.errors import BadDataError
from snapcraft_compression_advisor.host.guard import (
    PolicyBrokenError,
    SettingsError,
    harmless,
)

if TYPE_CHECKING:
    from craft_cli.pytest_plugin import RecordingEmitter


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


@pytest.mark.parametrize(
    "error", [SettingsError("broken"), PolicyBrokenError("broken"), KeyboardInterrupt()]
)
def test_what_has_to_stop_the_pack_does(
    emitter: RecordingEmitter, error: BaseException
) -> None:
    with pytest.raises(type(error)):
        harmless(lambda: failing(error), what="nothing")
    assert said(emitter) == []
