"""What is read ahead of a launch: chosen, listed, added to a snap, and judged."""

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from image_bombs import aliases
from machine import write_script
from payloads import MemoryPayload, make_payload
from snapcraft_compression_advisor.capture.samples import Sample
from snapcraft_compression_advisor.cli.listings import schema_of
from snapcraft_compression_advisor.core.errors import (
    BadDataError,
    ToolError,
    UsageError,
)
from snapcraft_compression_advisor.launch.profile import LaunchProfile, ProfileFile
from snapcraft_compression_advisor.payload.snap_yaml import (
    SnapMetadata,
    parse_snap_yaml,
)
from snapcraft_compression_advisor.prefetch.plan import (
    PrefetchPlan,
    list_text,
    plan_prefetch,
    wrong_ranges,
)
from snapcraft_compression_advisor.prefetch.program import (
    add_to_command_chain,
    compile_program,
)
from snapcraft_compression_advisor.prefetch.prove import PrefetchProof
from snapcraft_compression_advisor.report.prefetch import prefetch_json, prefetch_page
from snapcraft_compression_advisor.report.text_printer import print_text

BLOCK = 128 * 1024
APPS = {"player": {"command": "bin/player"}, "idle": {}}
FILES = {
    "bin/player": b"\x7fELF" + bytes(range(256)) * 2 * 512,
    "data/first": bytes(range(1, 256)) * 2 * 500,
    "data/second": bytes(range(2, 256)) * 3 * 516,
    "unread": bytes(range(3, 256)) * 7 * 518,
}


def profile(*files: tuple[str, tuple[tuple[int, int], ...]]) -> LaunchProfile:
    return LaunchProfile(
        source="residency",
        app="player",
        app_files=tuple(
            ProfileFile(path=path, size=len(FILES.get(path, b"x")), blocks=blocks)
            for path, blocks in files
        ),
    )


READ = profile(
    ("bin/player", ((0, 1),)), ("data/first", ((0, 1),)), ("data/second", ((2, 2),))
)


def payload_of(files: Mapping[str, bytes] = FILES) -> MemoryPayload:
    return make_payload(files, name="player", apps=APPS)


def lines(plan: PrefetchPlan) -> list[str]:
    return list_text(plan.ranges).splitlines()


def test_list_has_the_blocks_in_the_order_of_the_image() -> None:
    plan = plan_prefetch(payload_of(), READ, 10 * BLOCK)
    assert lines(plan) == ["0 1 bin/player", "0 1 data/first", "2 2 data/second"]
    assert plan.left_out_bytes == 0
    assert plan.fitting_share == 1


def test_programs_come_first_where_the_budget_does_not_suffice() -> None:
    late = {**FILES, "zzz.so": b"\x7fELF" + bytes(50)}
    read = profile(("data/first", ((0, 1),)), ("zzz.so", ((0, 0),)))
    plan = plan_prefetch(payload_of(late), read, BLOCK)
    assert lines(plan) == ["1 1 data/first", "0 0 zzz.so"]
    assert plan.raw_bytes <= BLOCK
    assert plan.left_out_bytes > 0


def test_name_that_breaks_a_line_is_not_listed() -> None:
    odd = {**FILES, "data/a\n0 9 unread": bytes(range(9))}
    read = profile(("data/a\n0 9 unread", ((0, 0),)), ("data/first", ((0, 0),)))
    assert lines(plan_prefetch(payload_of(odd), read, BLOCK * 9)) == ["0 0 data/first"]


def test_profile_of_another_build_is_used_as_far_as_it_fits() -> None:
    read = profile(("gone", ((0, 2),)), ("data/first", ((0, 0),)))
    plan = plan_prefetch(payload_of(), read, BLOCK * 9)
    assert plan.fitting_share == pytest.approx(0.25)
    text = print_text(prefetch_page(plan, None, snap="player"))
    assert "25% of the launch profile's blocks; it is of another build" in " ".join(
        text.split()
    )


def test_profile_of_another_snap_is_refused() -> None:
    with pytest.raises(BadDataError, match="none of the files"):
        plan_prefetch(payload_of(), profile(("gone", ((0, 0),))), BLOCK)
    for app in ("other", "idle"):
        other = READ.model_copy(update={"app": app})
        with pytest.raises(UsageError, match=f"has no app '{app}' to start"):
            plan_prefetch(payload_of(), other, BLOCK)


@given(st.integers(min_value=1, max_value=12 * BLOCK))
def test_budget_is_kept_and_nothing_is_lost(budget_bytes: int) -> None:
    plan = plan_prefetch(payload_of(), READ, budget_bytes)
    whole = plan_prefetch(payload_of(), READ, 99 * BLOCK)
    assert plan.raw_bytes <= budget_bytes
    assert plan.raw_bytes + plan.left_out_bytes == whole.raw_bytes


def test_wrong_list_has_as_many_blocks_that_the_launch_does_not_read() -> None:
    payload = payload_of()
    plan = plan_prefetch(payload, READ, 99 * BLOCK)
    wrong = wrong_ranges(payload, plan)
    numbers = [
        (each.path, number)
        for each in wrong
        for number in range(each.first, each.last + 1)
    ]
    assert len(numbers) == plan.blocks
    right = {(each.path, each.first) for each in plan.ranges}
    assert not right & set(numbers)
    assert wrong == wrong_ranges(payload, plan)


def test_app_gets_the_program_before_its_others(tmp_path: Path) -> None:
    original = tmp_path / "original.yaml"
    text = (
        "name: player # mine\nversion: '1'\napps:\n  player:\n"
        "    command: bin/player\n    command-chain: [bin/launch]\n"
    )
    original.write_text(text)
    tree = tmp_path / "tree"
    (tree / "meta").mkdir(parents=True)
    os.link(original, tree / "meta/snap.yaml")
    add_to_command_chain(tree, "player")
    assert original.read_text() == text
    changed = (tree / "meta/snap.yaml").read_text()
    chain = parse_snap_yaml(changed.encode(), where="x").apps["player"].command_chain
    assert chain == ("prefetch/player", "bin/launch")
    assert "name: player # mine" in changed
    with pytest.raises(BadDataError, match="can't be changed"):
        add_to_command_chain(tree, "other")
    (tree / "meta/snap.yaml").write_bytes(aliases("apps: *a19", merged=True))
    with pytest.raises(BadDataError, match="aliases"):
        add_to_command_chain(tree, "player")


def test_machine_without_a_compiler_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler -O3")
    with pytest.raises(ToolError, match="There is no C compiler 'no-such-compiler'"):
        compile_program(tmp_path / "program", SnapMetadata(name="player"))


def test_compiler_that_fails_is_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = write_script(tmp_path / "cc", "echo 'no header here' >&2\nexit 1")
    monkeypatch.setenv("CC", str(compiler))
    with pytest.raises(ToolError, match="could not compile") as raised:
        compile_program(tmp_path / "program", SnapMetadata(name="player"))
    assert raised.value.details == "no header here"


def proof(
    without: list[float], ahead: list[float], wrong: list[float]
) -> PrefetchProof:
    cold = {"without": without, "with": ahead, "wrong": wrong}
    return PrefetchProof(
        codec="xz",
        storage="memory",
        kernel="6.8.0",
        modes=None,
        processors=2,
        cold_s={name: Sample(runs_s=tuple(runs)) for name, runs in cold.items()},
        warm_s={name: Sample(runs_s=(0.1, 0.11, 0.1)) for name in cold},
    )


SLOW, FAST = [2.0, 2.1, 2.05], [1.5, 1.61, 1.54]


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (proof(SLOW, FAST, SLOW), "YES, reading ahead makes cold launches faster"),
        (proof(FAST, SLOW, FAST), "NO, reading ahead makes cold launches slower"),
        (proof(SLOW, [2.1, 2.0, 2.06], SLOW), "NO, what reading ahead saves here"),
        # What any list brings isn't the merit of this one.
        (proof(SLOW, FAST, FAST), "NO, what reading ahead saves here"),
    ],
)
def test_advice_is_yes_only_where_the_gain_is_clear(
    found: PrefetchProof, verdict: str
) -> None:
    plan = plan_prefetch(payload_of(), READ, 99 * BLOCK)
    text = " ".join(print_text(prefetch_page(plan, found, snap="player")).split())
    assert verdict in text
    assert ("command-chain: [prefetch/player]" in text) == verdict.startswith("YES")
    report = json.loads(prefetch_json(plan, found, "player"))
    jsonschema.validate(report, json.loads(schema_of("prefetch")))
    assert report["proof"]["advice"] == verdict.partition(",")[0].lower()


def test_one_round_proves_nothing() -> None:
    once = proof([2.0], [1.0], [2.0])
    assert not replace(once, processors=1).is_clear
