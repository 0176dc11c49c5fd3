"""``trim --prove`` of apps whose launches differ, or fail, by chance."""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path

import pytest

from snapcraft_compression_advisor.capture.isolation import Isolation
from snapcraft_compression_advisor.capture.recordings import Reporter
from snapcraft_compression_advisor.core.errors import ToolError
from snapcraft_compression_advisor.launch.profile import LaunchProfile, ProfileFile
from snapcraft_compression_advisor.payload.source import Payload, open_payload
from snapcraft_compression_advisor.settings.parts import Recording
from snapcraft_compression_advisor.trim import prove
from snapcraft_compression_advisor.trim.plan import TrimGroup, TrimPlan
from snapcraft_compression_advisor.trim.prove import Proof, prove_trim
from snapcraft_compression_advisor.trim.without import Starts

SNAP_YAML = "name: game\nversion: '1'\napps:\n  game: {command: bin/game}\n"
HEADER = "usr/include/game.h"
CRASH = "crash"
CRASHES = [CRASH] * 3


def silent(_: str) -> None:
    """Tell nobody."""


@pytest.fixture
def payload(tmp_path: Path) -> Iterator[Payload]:
    for name, text in (("meta/snap.yaml", SNAP_YAML), (HEADER, "int planted;\n")):
        path = tmp_path / "prime" / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    with open_payload(tmp_path / "prime") as found:
        yield found


def proven(
    payload: Payload,
    monkeypatch: pytest.MonkeyPatch,
    whole: Sequence[str],
    trimmed: Sequence[str],
) -> Proof:
    """Prove a trim of launches that come one after the other.

    :param whole: of the payload: the files that each reads, or a crash.
    :param trimmed: of what is left, likewise.
    """
    coming = {True: iter(whole), False: iter(trimmed)}

    def recorded(
        source: Payload, wanted: Sequence[Recording], *_: object, within: Isolation
    ) -> tuple[LaunchProfile]:
        assert within == Isolation()
        files = next(coming[HEADER in source.inventory.entries])
        if files == CRASH:
            message = "'bin/game' ended with status 139"
            raise ToolError(message, resolution="Try again.")
        read = (ProfileFile(path=each, size=9, blocks=((0, 0),)) for each in files)
        app = wanted[0].app or ""
        return (LaunchProfile(source="residency", app=app, app_files=tuple(read)),)

    monkeypatch.setattr(prove, "recorded_profiles", recorded)
    images = {"before": payload.path, "after": payload.path}
    monkeypatch.setattr(prove, "packed", lambda *_: nullcontext(images))
    monkeypatch.setattr(prove, "can_trace", lambda: False)
    group = TrimGroup(
        reason="development-files",
        risk=None,
        files=(HEADER,),
        raw_bytes=13,
        image_bytes=None,
        saved_s={},
        filters={},
    )
    plan = TrimPlan(
        path=payload.path,
        snap="game",
        codec="xz",
        image_bytes=None,
        sure_bytes=None,
        delta_share=None,
        groups=(group,),
        apps=("game",),
        parts=(),
    )
    reporter = Reporter(progress=silent, note=silent, warn=silent)
    return prove_trim(payload, plan, Starts(reporter=reporter))


@pytest.mark.parametrize(
    ("whole", "trimmed", "share"),
    [
        (["abcd"], ["abcd"], 1),
        ([CRASH, "abcd"], ["abcd"], 1),
        (["abcd"], [CRASH, "abcd"], 1),
        (["abcd", "ab"], ["ab", "abcd"], 1),
        ([CRASH, CRASH, "abcd"], ["abcd"], 1),
        (["abcd"], [CRASH, CRASH, "abcd"], 1),
        (["abcd", "ab"], ["ab", *CRASHES], 1),
        (["abcd", "ab"], ["abc", "abc"], 0.75),
    ],
)
def test_chance_takes_nothing_back(
    payload: Payload,
    monkeypatch: pytest.MonkeyPatch,
    whole: Sequence[str],
    trimmed: Sequence[str],
    share: float,
) -> None:
    proof = proven(payload, monkeypatch, whole, trimmed)
    assert proof.taken_back == ()
    assert [(each.problem, each.common_share) for each in proof.apps] == [(None, share)]


@pytest.mark.parametrize(
    ("whole", "trimmed", "problem"),
    [
        (["abcd"], CRASHES, "'bin/game' ended with status 139. Try again"),
        (["abcd"] * 2, ["ab"] * 2, "its launch reads something else: 50% in common"),
        (["abcd", *CRASHES], ["ab"] * 2, "its launch reads something else"),
    ],
)
def test_what_happens_again_is_taken_back(
    payload: Payload,
    monkeypatch: pytest.MonkeyPatch,
    whole: Sequence[str],
    trimmed: Sequence[str],
    problem: str,
) -> None:
    (taken,) = proven(payload, monkeypatch, whole, trimmed).taken_back
    assert taken.problem.startswith(problem)


def test_app_that_fails_each_time_proves_nothing(
    payload: Payload, monkeypatch: pytest.MonkeyPatch
) -> None:
    (app,) = proven(payload, monkeypatch, CRASHES, []).apps
    assert app.problem == "'bin/game' ended with status 139. Try again"
