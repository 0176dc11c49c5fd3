"""Recording, with launches and mounts that are only played."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from payloads import make_payload
from snapcraft_compression_advisor.capture import record
from snapcraft_compression_advisor.capture.launch_event import EXITED
from snapcraft_compression_advisor.capture.record import (
    record_residency,
)
from snapcraft_compression_advisor.capture.start import Command, Launched, LaunchRequest
from snapcraft_compression_advisor.cli.listings import schema_of
from snapcraft_compression_advisor.core.errors import ToolError
from snapcraft_compression_advisor.launch.profile import (
    LaunchProfile,
    ProfileFile,
    profile_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_mock import MockerFixture

DOCS = Path(__file__).parents[2] / "docs"
FILES = (ProfileFile(path="a", size=9, blocks=((0, 0),)),)


class Played:
    """Plays the machine, and notes what is done to it."""

    def __init__(self, mocker: MockerFixture) -> None:
        self.done: list[str] = []
        self.drops = [0] * 20
        for name in (
            "mounted", "packed_images", "mount_point", "drop_caches", "time_launch",
            "resident_blocks", "storage_of", "cache_drops",
        ):  # fmt: skip
            mocker.patch.object(record, name, getattr(self, name))

    @contextmanager
    def mounted(self, image: Path, **_: object) -> Iterator[SimpleNamespace]:
        self.done.append(f"mount {image}")
        yield SimpleNamespace(root=Path("/mnt"), read_ahead_kb=128)
        self.done.append("unmount")

    @contextmanager
    def packed_images(self, *_: object, **__: object) -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(paths={"none": Path("image")})

    @contextmanager
    def mount_point(self) -> Iterator[Path]:
        yield Path("/mnt")

    def drop_caches(self) -> None:
        self.done.append("drop")

    def storage_of(self, _image: Path) -> str:
        return "disk"

    def resident_blocks(self, *_: object) -> tuple[ProfileFile, ...]:
        self.done.append("look")
        return FILES

    def cache_drops(self) -> int:
        return self.drops.pop(0)

    def time_launch(self, *_: object, **options: object) -> Launched:
        self.done.append("launch")
        frozen = options.get("frozen")
        if callable(frozen):
            frozen()
        cold = frozen is not None
        return Launched(
            event="exit",
            wall_s=2.00004 if cold else 1,
            user_s=0.5,
            system_s=0.25,
        )


def run(*, warm_up: bool = True) -> LaunchProfile:
    request = LaunchRequest(
        app="hello",
        command=Command(words=("x",)),
        event=EXITED,
        timeout_s=1,
        warm_up=warm_up,
    )
    return record_residency(make_payload({"a": bytes(9)}), request, lambda _: None)


def test_cold_launch_follows_a_warm_up_from_another_mount(
    mocker: MockerFixture,
) -> None:
    played = Played(mocker)
    profile = run()
    assert played.done == [
        "mount image", "launch", "unmount",
        "mount image", "drop", "launch", "look", "launch", "unmount",
    ]  # fmt: skip
    assert (profile.source, profile.app, profile.warm_s) == ("residency", "hello", 1)
    assert profile.files == FILES


def test_warm_up_can_be_left_out(mocker: MockerFixture) -> None:
    played = Played(mocker)
    run(warm_up=False)
    assert played.done.count("launch") == 2


def test_figures_are_kept_in_short(mocker: MockerFixture) -> None:
    Played(mocker)
    recorded = run().recorded
    assert recorded is not None
    assert (recorded.cold_s, recorded.warm_s, recorded.event) == (2.0, 1.0, "exit")
    assert recorded.cold_cpu_s is not None
    assert recorded.cold_cpu_s.user == 0.5
    assert recorded.storage == "disk"


def test_disturbed_launch_is_repeated_and_given_up_at_last(
    mocker: MockerFixture,
) -> None:
    played = Played(mocker)
    played.drops = [1, 2, 2, 2]
    run()
    assert played.done.count("look") == 2
    played.drops = list(range(20))
    with pytest.raises(ToolError, match="dropped the system's caches"):
        run()


def test_recorded_profile_survives_its_text(mocker: MockerFixture) -> None:
    Played(mocker)
    profile = run()
    text = profile_text(profile)
    assert LaunchProfile.model_validate_json(text) == profile
    assert text == profile_text(LaunchProfile.model_validate_json(text))


def test_kept_schema_is_the_current_one() -> None:
    kept = (DOCS / "launch-profile.schema.json").read_text()
    assert kept == schema_of("launch-profile"), "run docs/generate.py"
