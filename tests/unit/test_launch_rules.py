"""SCA202 to SCA216: what dominates a launch, and what it has to make."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from ruamel.yaml import YAML

from analyses import make_analysis
from lint_contexts import found_by, launching, make_context, make_surveyed, with_launch
from made_blocks import stored_block
from payloads import make_payload
from snapcraft_compression_advisor.analysis import Analysis
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.devices.builtin_devices import default_devices
from snapcraft_compression_advisor.launch.launch_set import LaunchFile
from snapcraft_compression_advisor.launch.model import estimate_launch
from snapcraft_compression_advisor.lint.finding import Finding
from snapcraft_compression_advisor.lint.rule import Context, Rule
from snapcraft_compression_advisor.lint.rules.launch_caches import RULES
from snapcraft_compression_advisor.lint.rules.launch_files import (
    launch_dominated,
    launch_not_recorded,
    program_missing,
    target_missing,
)
from snapcraft_compression_advisor.payload.caches import CacheFault, CacheKind
from snapcraft_compression_advisor.payload.linkage import Unresolved
from snapcraft_compression_advisor.squashfs.entry import ImageBlock
from snapcraft_compression_advisor.trial.result import blocks_of_files

BLOCK = 128 * 1024
CERTAIN = Interval.exactly(1.0)
STORED = {"xz": 40_000, "lzo": 60_000}


def full_block(stored_bytes: int) -> ImageBlock:
    return stored_block(raw_bytes=BLOCK, stored_bytes=stored_bytes)


def launching_blocks(blocks: Mapping[str, int], read_share: Interval) -> Analysis:
    """Return an analysis of an app that reads so many blocks of files."""
    analysis = make_analysis()
    launch = analysis.launches[0]
    launch_set = replace(
        launch.launch_set,
        files=tuple(
            LaunchFile(path=path, size_bytes=n * BLOCK, blocks=((0, n - 1),))
            for path, n in blocks.items()
        ),
        read_share=read_share,
        seek_share=read_share,
        waited_share=CERTAIN,
    )
    codecs = {
        name: replace(
            analysis.trial.codecs[name],
            blocks=blocks_of_files(
                {path: (full_block(stored),) * n for path, n in blocks.items()}
            ),
        )
        for name, stored in STORED.items()
    }
    estimates = {
        device.name: {
            name: estimate_launch(launch_set, trial, device)
            for name, trial in codecs.items()
        }
        for device in default_devices()
    }
    trial = replace(analysis.trial, codecs={**analysis.trial.codecs, **codecs})
    launch = replace(launch, launch_set=launch_set, estimates=estimates)
    return with_launch(replace(analysis, trial=trial), launch)


def reading(
    blocks: Mapping[str, int], read_share: Interval = CERTAIN
) -> tuple[Context, list[Finding]]:
    """Return the context of a launch and what the rule finds in it."""
    context = make_context(analysis=launching_blocks(blocks, read_share))
    return context, found_by(launch_dominated, context)


def many(count: int) -> dict[str, int]:
    return {f"lib/lib{number}.so": 1 for number in range(count)}


def test_a_file_that_takes_most_of_a_launch_is_named_with_its_costs() -> None:
    context, (finding,) = reading({"bin/big": 3000, **many(100)})
    assert not finding.undecided
    assert finding.files == ("bin/big",)
    assert finding.location.path == "bin/big"
    assert finding.message.startswith("'bin/big' adds an estimated ")
    labels = [each.label for each in finding.evidence]
    assert any("with xz" in label for label in labels)
    assert any("with lzo" in label for label in labels)
    assert len(context.analysis.devices) > 1  # but one finding only


def test_the_fewest_files_that_take_most_are_named() -> None:
    _, (finding,) = reading({"a": 1000, "b": 900, "c": 10, **many(200)})
    assert finding.files == ("a", "b")
    assert "'a', 'b' add an estimated" in finding.message


@pytest.mark.parametrize(
    "blocks",
    [{"a": 100, **many(3000)}, {"a": 2}, {}],
    ids=["many files", "no time", "nothing known"],
)
def test_a_launch_that_no_few_files_dominate_is_no_finding(
    blocks: dict[str, int],
) -> None:
    assert not reading(blocks)[1]


@pytest.mark.parametrize("most", [3.5, 20.0])
def test_a_guessed_launch_that_may_read_much_more_is_undecided(most: float) -> None:
    guessed = Interval(low=0.9, mid=1.0, high=most)
    _, (finding,) = reading({"a": 3000, **many(100)}, guessed)
    assert finding.undecided
    assert "may add" in finding.message
    assert finding.severity == "info"


@pytest.mark.parametrize(
    ("record", "finds"),
    [
        ("{app: app0, required: true}", True),
        ("{required: true}", True),
        ("{app: app0}", False),
        ("{app: other, required: true}", False),
    ],
)
def test_launch_that_has_to_be_recorded_is_not_decided_by_a_guess(
    record: str, *, finds: bool
) -> None:
    policy = {"record": YAML(typ="safe").load(record)}
    context = make_context(policy=policy)
    found = found_by(launch_not_recorded, context)
    assert [(each.subject, each.undecided) for each in found] == [
        ({"app": "app0"}, True)
    ] * finds
    launch = context.analysis.launches[0]
    recorded = replace(launch.launch_set, source="recorded")
    analysis = with_launch(context.analysis, replace(launch, launch_set=recorded))
    assert not found_by(launch_not_recorded, replace(context, analysis=analysis))


@pytest.mark.parametrize(
    ("target", "files", "base", "finds"),
    [
        ("$SNAP/foo", {}, "core24", True),
        ("${SNAP}/foo/", {}, "core24", True),
        ("foo", {}, "core24", True),
        ("/foo", {}, "core24", True),
        ("foo", {"foo/x": b""}, "core24", False),
        ("$SNAP/", {}, "core24", False),
        ("/", {}, "core24", False),
        ("$SNAP_DATA/foo", {}, "core24", False),
        ("foo", {}, "core26", False),
    ],
)
def test_missing_directory_of_a_content_snap_is_found(
    target: str, files: dict[str, bytes], base: str, *, finds: bool
) -> None:
    plug = {"interface": "content", "target": target, "default-provider": "other"}
    payload = make_payload(files, base=base, plugs={"other": plug})
    context = replace(make_context(), snap=payload.snap, inventory=payload.inventory)
    messages = [each.message for each in found_by(target_missing, context)]
    assert [message.split(",")[0] for message in messages] == [
        "The snap has no directory 'foo'"
    ] * finds


def test_each_app_whose_program_is_missing_is_named() -> None:
    apps = {
        "hello": {"command": "bin/hello --now"},
        "other": {"command": "bin/gone"},
        "chained": {"command": "bin/hello", "command-chain": ["$SNAP/bin/chain"]},
        "base": {"command": "bin/python"},
    }
    payload = make_payload(
        {"bin/hello": b""}, links={"bin/python": "/usr/bin/python3"}, apps=apps
    )
    context = replace(make_context(), snap=payload.snap, inventory=payload.inventory)
    found = found_by(program_missing, context)
    assert [each.message for each in found] == [
        "App other starts 'bin/gone', which the snap doesn't have.",
        "App chained starts '$SNAP/bin/chain', which the snap doesn't have.",
    ]


def test_script_for_an_interpreter_that_is_missing_is_named() -> None:
    missing = Unresolved(
        name="/root/parts/x/bin/python3",
        needed_by="command of hello",
        supplier="missing",
    )
    (launch,) = make_analysis().launches
    launch_set = replace(launch.launch_set, app="hello", unresolved=(missing,))
    context = make_context()
    analysis = replace(
        context.analysis, launches=(replace(launch, launch_set=launch_set),)
    )
    (found,) = found_by(program_missing, replace(context, analysis=analysis))
    assert "for '/root/parts/x/bin/python3', which" in found.message
    assert found.fix is not None
    assert found.fix.description.endswith("'#!/usr/bin/env python3'")


SETTINGS_SCHEMAS, FONTS, PYTHON_BYTECODE = RULES[0], RULES[4], RULES[6]
KINDS: dict[str, CacheKind] = {
    "SCA210": "settings-schemas",
    "SCA211": "image-loaders",
    "SCA212": "input-methods",
    "SCA213": "icon-theme",
    "SCA214": "fonts",
    "SCA215": "gio-modules",
}
GIO = "usr/lib/x86_64-linux-gnu/libgio-2.0.so.0"
SITE = "lib/python3.12/site-packages"
SCHEMAS = CacheFault(
    kind="settings-schemas",
    state="missing",
    path="usr/share/glib-2.0/schemas/gschemas.compiled",
    sources=("usr/share/glib-2.0/schemas/a.gschema.xml",),
    source_count=1,
    reason="there are schemas but no compiled form of them",
    readers=("libgio-2.0",),
)
BYTECODE = CacheFault(
    kind="python-bytecode",
    state="missing",
    path=SITE,
    sources=(f"{SITE}/a.py", f"{SITE}/b.py"),
    source_count=2,
    reason="these sources have no bytecode for Python 3.12",
)


def fault_of(rule: Rule) -> tuple[CacheFault, str]:
    """Return a fault of a rule's kind, and what a launch reads that needs it."""
    if rule is PYTHON_BYTECODE:
        return BYTECODE, f"{SITE}/a.py"
    return replace(SCHEMAS, kind=KINDS[rule.id]), GIO


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_cache_that_a_launch_uses_is_a_finding(rule: Rule) -> None:
    fault, used = fault_of(rule)
    (finding,) = found_by(rule, make_surveyed(caches=[fault], analysis=launching(used)))
    assert finding.rule == rule.id
    assert finding.severity == "warning"
    assert not finding.undecided
    assert finding.location.path == fault.path
    assert fault.reason in finding.message
    assert finding.evidence


def test_stale_bytecode_is_used_by_a_launch_that_is_guessed_to_read_it() -> None:
    read = launching(f"{SITE}/__pycache__/a.cpython-312.pyc")
    context = make_surveyed(caches=[replace(BYTECODE, state="stale")], analysis=read)
    (finding,) = found_by(PYTHON_BYTECODE, context)
    assert not finding.undecided


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_caches_of_other_kinds_are_other_rules_affair(rule: Rule) -> None:
    others = [fault_of(other)[0] for other in RULES if other is not rule]
    context = make_surveyed(caches=others, analysis=launching(GIO, f"{SITE}/a.py"))
    assert not found_by(rule, context)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_cache_that_no_launch_is_known_to_use_is_undecided(rule: Rule) -> None:
    fault, _ = fault_of(rule)
    context = make_surveyed(caches=[fault], analysis=launching("bin/other"))
    (finding,) = found_by(rule, context)
    assert finding.undecided
    assert finding.severity == "info"
    assert "no target app's launch is known to use it" in finding.message


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_cache_that_a_recorded_launch_does_not_use_is_no_finding(rule: Rule) -> None:
    fault, used = fault_of(rule)
    unused = launching("bin/other", source="recorded")
    assert not found_by(rule, make_surveyed(caches=[fault], analysis=unused))
    recorded = launching(used, source="recorded")
    assert found_by(rule, make_surveyed(caches=[fault], analysis=recorded))


def test_a_library_of_a_content_snap_uses_a_cache_too() -> None:
    analysis = launching("bin/x", elsewhere=["libgio-2.0.so.0"])
    (finding,) = found_by(
        SETTINGS_SCHEMAS, make_surveyed(caches=[SCHEMAS], analysis=analysis)
    )
    assert not finding.undecided


def test_a_doubt_leaves_a_used_cache_undecided() -> None:
    fault = replace(SCHEMAS, kind="fonts", doubt="its path isn't known")
    (finding,) = found_by(FONTS, make_surveyed(caches=[fault], analysis=launching(GIO)))
    assert finding.undecided
    assert "its path isn't known" in finding.message


def test_of_bytecode_those_modules_are_listed_that_a_launch_reads() -> None:
    analysis = launching(f"{SITE}/b.py", "bin/x")
    (finding,) = found_by(
        PYTHON_BYTECODE, make_surveyed(caches=[BYTECODE], analysis=analysis)
    )
    assert finding.files == (f"{SITE}/b.py",)
    assert any("1, such as" in each.text for each in finding.evidence)


def test_stale_bytecode_counted_by_a_sample_is_an_estimate() -> None:
    fault = replace(BYTECODE, state="stale", source_count=900)
    analysis = launching(f"{SITE}/b.py")
    (finding,) = found_by(
        PYTHON_BYTECODE, make_surveyed(caches=[fault], analysis=analysis)
    )
    assert "is stale" in finding.message
    assert finding.evidence[0].origin == "estimated"
