"""Guesses that did not reach what files say of the app: wide, and no verdict."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import get_args

import pytest

from elf_files import make_elf
from payloads import MemoryPayload
from snapcraft_compression_advisor.advice.evidence import Evidence, Policy, Saving
from snapcraft_compression_advisor.advice.judging import recommend
from snapcraft_compression_advisor.codecs.codec import DATA_BLOCK_BYTES
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.devices.builtin_devices import default_devices
from snapcraft_compression_advisor.launch.guess.blindness import (
    toolkit_evidence,
    window_evidence,
)
from snapcraft_compression_advisor.launch.guess.candidates import find_candidates
from snapcraft_compression_advisor.launch.guess.guess import static_launch_set
from snapcraft_compression_advisor.launch.guess.priors import Counts, built_in_priors
from snapcraft_compression_advisor.launch.guess.traits import DRIVER_WAYS
from snapcraft_compression_advisor.launch.launch_set import (
    BlindReason,
    BlindSpot,
    GuessBasis,
    LaunchSet,
)
from snapcraft_compression_advisor.launch.model import (
    BlockSums,
    cost_of_blocks,
    seconds_saved,
)
from snapcraft_compression_advisor.payload.snap_yaml import SnapMetadata
from snapcraft_compression_advisor.wording import not_followed

LIB = "usr/lib/x86_64-linux-gnu"
MODULES = "usr/lib/python3/dist-packages"
DESKTOP = {"meta/gui/hello.desktop": b"[Desktop Entry]\nExec=hello\n"}
PYTHON = {"usr/bin/python3.12": make_elf(padding_bytes=6_000_000)}
SCRIPT = {"usr/bin/hello": b"#!/usr/bin/python3.12\n"}
COMPUTED = {
    "usr/bin/hello": b"#!/usr/bin/python3.12\n"
    b"import importlib, sys\n"
    b"importlib.import_module(sys.argv[0] + 'qt').main()\n"
}
QT = {
    f"{LIB}/libQt5Core.so.5.15": make_elf(padding_bytes=5_000_000),
    f"{LIB}/libQt5Gui.so.5.15": make_elf(
        needed=["libQt5Core.so.5.15"], padding_bytes=40_000_000
    ),
    f"{LIB}/qt5/plugins/platforms/libqxcb.so": make_elf(
        needed=["libQt5Gui.so.5.15"], padding_bytes=9_000_000
    ),
    f"{MODULES}/PyQt5/QtGui.abi3.so": make_elf(
        needed=["libQt5Gui.so.5.15"], padding_bytes=3_000_000
    ),
}
GTK = {
    "usr/bin/hello": make_elf(needed=["libgtk-4.so.1"], padding_bytes=20_000_000),
    f"{LIB}/libgtk-4.so.1": make_elf(padding_bytes=40_000_000),
}


def payload_of(
    *parts: dict[str, bytes], snap: Mapping[str, object] | None = None
) -> MemoryPayload:
    """Return a payload of files and keys of snap.yaml."""
    files = {path: content for part in parts for path, content in part.items()}
    metadata = {"apps": {"hello": {"command": "usr/bin/hello"}}, **(snap or {})}
    return MemoryPayload(
        files=files,
        snap=SnapMetadata.model_validate({"name": "hello", "base": "bare", **metadata}),
    )


def launch_set(*parts: dict[str, bytes]) -> LaunchSet:
    return static_launch_set(payload_of(*parts), "hello")


def reasons(found: LaunchSet) -> set[str]:
    assert found.basis is not None
    return {spot.reason for spot in found.basis.blind_spots}


def width(found: LaunchSet) -> float:
    return found.read_share.high / found.read_share.low


def verdict(found: LaunchSet) -> str:
    """Return the advice for blocks of common sizes, packed with xz now."""
    blocks = found.expected_blocks

    def saving(device_number: int) -> Saving:
        device = default_devices()[device_number]
        xz, lzo = (
            cost_of_blocks(
                BlockSums(
                    runs=blocks / 4,
                    blocks=blocks,
                    raw_bytes=blocks * DATA_BLOCK_BYTES,
                    stored_bytes=blocks * DATA_BLOCK_BYTES * ratio,
                    compressed_blocks=blocks,
                    compressed_raw_bytes=blocks * DATA_BLOCK_BYTES,
                    compressed_stored_bytes=blocks * DATA_BLOCK_BYTES * ratio,
                ),
                found,
                codec,
                device,
            )
            for codec, ratio in (("xz", 0.3), ("lzo", 0.45))
        )
        return Saving(app="hello", device=device.name, seconds=seconds_saved(xz, lzo))

    evidence = Evidence(
        declared="xz",
        xz_bytes=Interval.exactly(20e6),
        lzo_bytes=Interval.exactly(30e6),
        bytes_added=Interval.exactly(10e6),
        savings=[saving(number) for number in range(len(default_devices()))],
    )
    return recommend(evidence, Policy()).verdict


def test_desktop_application_in_python_that_computes_its_imports_is_undecided() -> None:
    found = launch_set(COMPUTED, PYTHON, QT, DESKTOP)
    assert "unreached-window" in reasons(found)
    assert f"{LIB}/libQt5Gui.so.5.15" in {file.path for file in found.files}
    assert width(found) > 4
    assert verdict(found) == "undecided"


def test_interval_of_a_blind_guess_spans_what_was_followed() -> None:
    payload = payload_of(COMPUTED, PYTHON, QT, DESKTOP)
    followed = static_launch_set(payload_of(SCRIPT, PYTHON), "hello")
    found = static_launch_set(payload, "hello")
    low, high = (
        found.expected_blocks * end
        for end in (found.read_share.low, found.read_share.high)
    )
    assert low <= followed.expected_blocks
    assert high > found.expected_blocks


@pytest.mark.parametrize(
    ("program", "files", "spots"),
    [
        (b"#!/usr/bin/befunge\n", {}, {"unfollowed-runtime", "unreached-window"}),
        (make_elf(), DESKTOP, {"unreached-window"}),
    ],
    ids=["in an unknown language", "that finds its toolkit at run time"],
)
def test_program_beside_a_toolkit_is_undecided(
    program: bytes, files: dict[str, bytes], spots: set[str]
) -> None:
    found = launch_set({"usr/bin/hello": program}, QT, files)
    assert reasons(found) == spots
    assert verdict(found) == "undecided"


LAUNCHERS = {
    "followed": 'exec "$(cd "$(dirname "$0")" && pwd)/{program}" "$@"',
    "computed": 'exec "$(choose)" "$@"',
    "read from a file": 'read -r P < $SNAP/p; exec "$P"',
    "nothing": "true",
    "checked first": '"$SNAP/usr/bin/check" && exec $(choose)',
    "another language": None,
}
PROGRAMS = {
    "a plain program": {"opt/hello": make_elf(padding_bytes=60_000_000)},
    "a program with windows": {"opt/hello": GTK["usr/bin/hello"], **GTK},
    "a program in Python": {
        **PYTHON,
        "opt/hello": b"#!/usr/bin/python3.12\nimport a\n",
        f"{MODULES}/a.py": b"x = 1\n" * 1_000_000,
    },
    "a small program": {"opt/hello": make_elf(padding_bytes=400_000)},
}


@pytest.mark.parametrize("way", LAUNCHERS)
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("desktop", [{}, DESKTOP])
def test_launcher_in_front_of_a_program_never_hides_what_it_reads(
    way: str, program: str, desktop: dict[str, bytes]
) -> None:
    line = LAUNCHERS[way]
    script = f"#!/bin/bash\n{line}\n" if line else "#!/usr/bin/befunge\n"
    files = {
        **PROGRAMS[program],
        "opt/launch": script.replace("{program}", "hello").encode(),
        "usr/bin/check": make_elf(),
        **desktop,
    }

    def guessed(command: str) -> LaunchSet:
        apps = {"hello": {"command": command}}
        return static_launch_set(payload_of(files, snap={"apps": apps}), "hello")

    truth, found = guessed("opt/hello"), guessed("opt/launch")
    read = truth.expected_blocks * truth.read_share.mid
    low, high = (
        found.expected_blocks * end
        for end in (found.read_share.low, found.read_share.high)
    )
    assert low <= read * 1.05 + 1
    assert read <= high * 1.05 + 1
    assert "opt/hello" in {file.path for file in found.files}
    assert verdict(found) in ("undecided", verdict(truth))


@pytest.mark.parametrize("function", ["execv", "execlp", "execvpe", "posix_spawn"])
def test_small_program_that_starts_another_does_not_hide_it(function: str) -> None:
    big = {"opt/lib/hello": make_elf(padding_bytes=60_000_000)}
    launcher = {"usr/bin/hello": make_elf(symbols=["main", function])}
    found = launch_set(launcher, big)
    assert reasons(found) == {"computed-command"}
    assert "opt/lib/hello" in {file.path for file in found.files}
    assert verdict(found) == "undecided"
    assert reasons(launch_set({"usr/bin/hello": make_elf()}, big)) == set()


@pytest.mark.parametrize(
    "script",
    [
        b"#!/usr/bin/env python3\nimport subprocess\nsubprocess.call(find())\n",
        b"#!/usr/bin/perl\nexec $ENV{APP}, @ARGV;\n",
    ],
)
def test_script_that_starts_another_program_does_not_hide_it(script: bytes) -> None:
    big = {"opt/lib/hello": make_elf(padding_bytes=60_000_000)}
    found = launch_set({"usr/bin/hello": script}, big)
    assert "computed-command" in reasons(found)
    assert verdict(found) == "undecided"


def test_perl_script_that_a_shell_gives_to_perl_starts_no_other() -> None:
    script = b"#!/usr/bin/perl\neval 'exec perl -wS $0 ${1+\"$@\"}'\n if 0;\nprint 1"
    big = {"opt/lib/hello": make_elf(padding_bytes=60_000_000)}
    found = launch_set({"usr/bin/hello": script}, big)
    assert "computed-command" not in reasons(found)


def spread_of(found: LaunchSet) -> Interval:
    assert found.basis is not None
    return built_in_priors().spread_of(found.basis.kind)


def test_program_whose_toolkit_is_reached_is_guessed_as_ever() -> None:
    found = launch_set(GTK, QT, DESKTOP)
    assert reasons(found) == set()
    assert found.read_share == spread_of(found)
    assert verdict(found) == "change"


def test_modules_with_computed_names_count_to_the_high_end_only() -> None:
    package = {
        "usr/bin/hello": b"#!/usr/bin/python3.12\nimport tool\ntool.main()\n",
        f"{MODULES}/tool/__init__.py": b"__import__(name)\n",
    }
    plugin = {f"{MODULES}/tool/plugin.py": b"x = 1\n" * 1_000_000}
    alone, beside = launch_set(package, PYTHON), launch_set(package, plugin, PYTHON)
    assert beside.files == alone.files
    assert beside.read_share.mid == alone.read_share.mid
    assert beside.read_share.high > alone.read_share.high
    assert beside.seek_share.high > alone.seek_share.high


def test_command_line_tool_stays_narrow_beside_a_toolkit() -> None:
    tool = {"usr/bin/hello": make_elf(padding_bytes=1_000_000)}
    found = launch_set(tool, QT)
    assert reasons(found) == set()
    assert width(found) < 3
    assert verdict(found) == "no-benefit"


APP = {"command": "usr/bin/hello"}
CHAIN = "snap/command-chain/desktop-launch"
CONTENT = {"interface": "content"}
YAML = "meta/snap.yaml"


@pytest.mark.parametrize(
    ("snap", "where"),
    [
        ({"plugs": {"wayland": {}}}, YAML),
        ({"apps": {"hello": {**APP, "plugs": ["x11"]}}}, YAML),
        ({"plugs": {"gnome": {**CONTENT, "default-provider": "gnome-46-2404"}}}, YAML),
        ({"plugs": {"webkitgtk-6-gnome-2404": CONTENT}}, YAML),
        ({"apps": {"hello": {**APP, "command-chain": [CHAIN]}}}, CHAIN),
    ],
)
def test_snap_yaml_shows_windows(snap: dict[str, object], where: str) -> None:
    files = dict.fromkeys(("usr/bin/hello", CHAIN), make_elf())
    payload = payload_of(files, snap=snap)
    evidence = window_evidence(payload, "hello")
    assert evidence is not None
    assert evidence.where == where
    assert find_candidates(payload, "hello").blindness == "program"


@pytest.mark.parametrize(
    "snap",
    [
        {"apps": {"hello": {**APP, "daemon": "simple"}}},
        {"plugs": {"network": {}, "opengl": {}}},
        {
            "plugs": {"x11": {}},
            "apps": {"hello": APP, "other": {**APP, "plugs": ["x11"]}},
        },
    ],
)
def test_services_and_other_plugs_show_no_windows(snap: dict[str, object]) -> None:
    payload = payload_of({"usr/bin/hello": make_elf()}, snap=snap)
    assert window_evidence(payload, "hello") is None
    assert find_candidates(payload, "hello").blindness is None


def test_desktop_file_that_asks_for_a_terminal_shows_no_windows() -> None:
    terminal = {"meta/gui/hello.desktop": b"[Desktop Entry]\nTerminal=true\n"}
    payload = payload_of({"usr/bin/hello": make_elf()}, QT, terminal)
    assert window_evidence(payload, "hello") is None
    assert find_candidates(payload, "hello").blindness is None


def test_reference_class_without_members_may_be_the_whole_payload() -> None:
    payload = payload_of(COMPUTED, PYTHON, QT, DESKTOP)
    priors = replace(built_in_priors(), references={})
    found = static_launch_set(payload, "hello", priors=priors)
    high = found.expected_blocks * found.read_share.high
    assert high == pytest.approx(payload.inventory.data_blocks)
    assert verdict(found) == "undecided"


@pytest.mark.parametrize("reason", get_args(BlindReason))
def test_every_reason_has_words(reason: BlindReason) -> None:
    spot = BlindSpot(reason=reason, where="bin/\x1bx", what="befunge")
    text = not_followed(GuessBasis(kind="GTK 4", blind_spots=(spot,)))
    assert "bin/\\x1bx" in text or "befunge" in text
    covered = "the interval covers those of its package, others may add to it"
    if reason != "computed-import":
        covered = "so the interval is wide"
    assert text.endswith(covered)


def test_most_important_of_several_reasons_is_said() -> None:
    spots = (
        BlindSpot(reason="syntax-error", where="a.py"),
        BlindSpot(reason="unreached-window", where="b.desktop"),
    )
    reference = tuple((f"app{number}", 1.0) for number in range(20))
    text = not_followed(
        GuessBasis(kind="GTK 4", blind_spots=spots, reference=reference)
    )
    assert "b.desktop says" in text
    assert "(and 1 more)" in text
    assert "20 recorded applications" in text


def test_empty_payload_has_shares() -> None:
    found = static_launch_set(payload_of(snap={"plugs": {"x11": {}}}), "hello")
    assert found.files == ()
    assert found.read_share.low <= found.read_share.high


def test_doubt_whether_the_driver_is_opened_stands_in_the_interval() -> None:
    mesa = {
        f"{LIB}/dri/swrast_dri.so": make_elf(needed=["libLLVM-15.so.1"]),
        f"{LIB}/libLLVM-15.so.1": make_elf(padding_bytes=60_000_000),
    }
    priors = built_in_priors()

    def guessed(read: int) -> LaunchSet:
        way = f"{DRIVER_WAYS} of gtk4"
        files = Counts(
            read=Counter({**priors.files.read, way: read}),
            counted=Counter({**priors.files.counted, way: 200}),
        )
        payload = payload_of(GTK, DESKTOP, mesa)
        return static_launch_set(payload, "hello", priors=replace(priors, files=files))

    sure, doubtful = guessed(200), guessed(100)
    ends = (sure.read_share.low, sure.read_share.high)
    expected = spread_of(sure)
    assert ends == pytest.approx((expected.low, expected.high), rel=0.01)
    assert doubtful.read_share.low < sure.read_share.low
    assert doubtful.read_share.high > sure.read_share.high


@pytest.mark.parametrize(
    ("plug", "provider"),
    [("gpu-2404", "mesa-2404"), ("gpu-2604", None), ("graphics", "mesa-core20")],
)
def test_graphics_come_with_a_content_plug(plug: str, provider: str | None) -> None:
    content = {"interface": "content", "target": "$SNAP/gpu"}
    plugs = {plug: content | ({"default-provider": provider} if provider else {})}
    payload = payload_of({"usr/bin/hello": make_elf()}, snap={"plugs": plugs})
    assert window_evidence(payload, "hello") is None
    evidence = toolkit_evidence(payload, "hello")
    assert evidence is not None
    assert evidence.what == plug
