"""The settings of a project, and the file that has them."""

import argparse
import contextlib
import json
import re
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcraft_compression_advisor.cli.commands import add_arguments
from snapcraft_compression_advisor.cli.listings import schema_of
from snapcraft_compression_advisor.cli.settings_options import (
    ADVICE_ARGUMENTS,
    given_settings,
)
from snapcraft_compression_advisor.core.errors import (
    BadDataError,
    NoInputError,
    UsageError,
)
from snapcraft_compression_advisor.settings.load import (
    POLICY,
    parse_settings,
    read_settings_file,
)
from snapcraft_compression_advisor.settings.quantities import BYTES, SECONDS
from snapcraft_compression_advisor.settings.settings import Settings

FULL = b"""\
schema: 1
select: [SCA1, SCA301, "SCA303:usr/lib/*"]
ignore: SCA105
severity: {SCA101: error, SCA3: info}
fail-on: warning
max-cold-start:
  nvme-laptop: 1.5s
  hdd-laptop: {calc: 4 s, editor: 800ms}
max-image-size: 300MB
apps: [calc, editor]
devices: [nvme-laptop, hdd-laptop, ./mine.yaml]
launch-profile: launch.json
targets:
  - kernel: '4.4'
  - {name: board, codecs: [xz]}
min-saving: 0.5s
max-launches: 5
link: 8.5
deciding-apps: every
"""
DAILY = "per-month: 2, cold-launches-per-day: 1"


def parse(text: bytes | str) -> Settings:
    content = text.encode() if isinstance(text, str) else text
    return parse_settings(content, where="policy.yaml")


def test_every_key_is_read() -> None:
    policy = parse(FULL)
    assert policy.select == ("SCA1", "SCA301", "SCA303:usr/lib/*")
    assert policy.ignore == ("SCA105",)
    assert policy.severity == {"SCA101": "error", "SCA3": "info"}
    assert policy.fail_on == "warning"
    assert policy.max_cold_start == {
        "nvme-laptop": 1.5,
        "hdd-laptop": {"calc": 4.0, "editor": 0.8},
    }
    assert policy.max_image_size == 300_000_000
    assert [target.label for target in policy.targets] == ["kernel 4.4", "board"]
    advice = policy.to_policy()
    assert (advice.min_saving_s, advice.link_mbit_per_s) == (0.5, 8.5)
    assert (advice.max_launches, advice.deciding_apps) == (5, "every")


def test_empty_file_means_all_defaults() -> None:
    assert parse(b"") == parse(b"# nothing yet\n") == Settings()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("ignor: [SCA1]", "unknown key 'ignor'; did you mean 'ignore'?"),
        ("fail_on: info", "unknown key 'fail_on'; did you mean 'fail-on'?"),
        ("compression-advisor-mode: apply", "did you mean 'mode'?"),
        ("pack.mode: apply", "unknown key 'pack.mode'; did you mean 'mode'?"),
        ("MAX_IMAGE_SIZE: 1MB", "did you mean 'max-image-size'?"),
        ("per-month: 2", "did you mean 'refresh.per-month'"),
        (
            "record: {untill: exit}",
            "unknown key 'record.0.untill'; did you mean 'record.until'?",
        ),
        ("record: {mode: exit}", "unknown key 'record.0.mode'; did you mean 'mode'?"),
        (
            "targets: [{kernal: '4.4'}]",
            "unknown key 'targets.0.kernal'; did you mean 'targets.kernel'?",
        ),
        ("xyz: 1", "unknown key 'xyz'"),
        ("select: [SCB101]", "'SCB101' is neither a rule (SCA101) nor a family"),
        ("select: [SCA10]", "'SCA10' is neither a rule"),
        ("severity: {'SCA101:x': info}", "has a path pattern"),
        ("severity: {SCA101: fatal}", "'error', 'warning' or 'info'"),
        ("max-image-size: 300", "300 isn't a number with a unit (B, "),
        ("max-image-size: 300 mb", "isn't a number with a unit"),
        ("max-image-size: 0MB", "'0MB' isn't a positive number"),
        ("max-cold-start: {x: -1.5}", "-1.5 isn't a positive number"),
        ("max-cold-start: {x: true}", "isn't a number in s, or with a unit"),
        ("max-cold-start: {x: {a: -1s}}", "isn't a number in s, or with a unit"),
        ("targets: [{kernel: 4.10}]", "valid string"),
        ("targets: [{kernel: '4'}]", "isn't a kernel version"),
        ("targets: [{name: x}]", "needs 'kernel' or 'codecs'"),
        ("max-launches: 0", "0 isn't a positive number"),
        ("link: .inf", "inf isn't a positive number"),
        ("link: 50 MB/s", "isn't a number in Mbit/s, or with a unit"),
        ("- SCA1", "dictionary"),
        ("a: 1\na: 2", "duplicate key"),
        ("a: [", "policy.yaml:1: expected the node content"),
        ("a: &x [*x, *x]", "its aliases repeat more than the file holds"),
        ("apps: a\n\nmode: aply\n", "policy.yaml:3: mode: "),
        ("mode: aply", ", not 'aply'"),
        ("# no\ntargets:\n- kernel: '4.4'\n- kernel: '4'\n", "policy.yaml:4: "),
        ("max-cold-start:\n  x: {a: 1s,\n    b: soon}\n", "'soon' isn't a number"),
        ("max-launches: many", "'many' isn't a number"),
        ("apps: 7", "not 7"),
        ("apps: [a\n", "policy.yaml:2: "),
        ("record: {until: never}", "is not one of window, exit, output:TEXT"),
        ("record: {until: 'seconds:soon'}", "isn't a number in s"),
        ("record: {timeout: 0}", "0 isn't a positive number"),
        ("record: {required: 1}", "required"),
        ("record: {event: exit}", "unknown key"),
        ("record: calc", "record"),
        ("refresh: {per-month: 2}", "cold-launches-per-day"),
        (f"refresh: {{{DAILY}, delta-share: 20%}}", "no effect"),
        (f"refresh: {{{DAILY}, deltas: xdelta3}}", "delta-share"),
        (f"refresh: {{{DAILY}, delta-share: 1%, previous: x}}", "no effect"),
        ("refresh: {per-month: 2, delta-share: 120%}", "a percentage up to 100%"),
        ("refresh: {per-month: 0, cold-launches-per-day: 1}", "a positive number"),
        (f"refresh: {{{DAILY}, deltas: bsdiff}}", "deltas"),
        ("select: [SCA1]\nignore: [SCA1]", "'SCA1' is both selected and ignored"),
        ("ignore: [SCA2]\nmax-cold-start: {x: 1s}", "set, but 'SCA2' is ignored"),
        ("ignore: [SCA301]\nmax-image-size: 1MB", "set, but 'SCA301' is ignored"),
        ("ignore: SCA603\nmax-refresh-size: 5MB", "'max-refresh-size' is set"),
        (
            "apps: [a]\nmax-cold-start: {x: {b: 1s}}",
            "app 'b' has a budget on 'x', but isn't one of 'apps'",
        ),
    ],
)
def test_what_does_not_fit_is_named(text: str, problem: str) -> None:
    with pytest.raises(BadDataError) as raised:
        parse(text)
    assert problem in f"{raised.value} {raised.value.details}"
    assert re.match(r"policy\.yaml:[0-9]+: ", str(raised.value))


def test_each_problem_has_its_line() -> None:
    with pytest.raises(BadDataError) as raised:
        parse("mode: aply\nlink: fast\n")
    assert raised.value.details is not None
    lines = raised.value.details.splitlines()
    assert [line.partition(": ")[0] for line in lines] == [
        "policy.yaml:1",
        "policy.yaml:2",
    ]


@pytest.mark.parametrize("version", ["2", "'1'", "null", "0.5"])
def test_another_version_is_refused_before_its_keys(version: str) -> None:
    with pytest.raises(BadDataError, match="schema: Input should be 1"):
        parse(f"schema: {version}\nnew-key: 1\n")


def test_files_are_beside_the_policy(tmp_path: Path) -> None:
    path = tmp_path / "compression-advisor.yaml"
    path.write_bytes(FULL)
    policy = read_settings_file(path)
    assert policy.launch_profile == (str(tmp_path / "launch.json"),)
    assert policy.devices == ("nvme-laptop", "hdd-laptop", str(tmp_path / "mine.yaml"))


def test_unreadable_and_huge_files_are_errors(tmp_path: Path) -> None:
    with pytest.raises(NoInputError, match="No such file"):
        read_settings_file(tmp_path / "no.yaml")
    with pytest.raises(NoInputError, match="Is a directory"):
        read_settings_file(tmp_path)
    with pytest.raises(BadDataError, match="more than 64 KiB"):
        parse(b"#" * (POLICY.max_bytes + 1))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_policy_or_a_clear_error(content: bytes) -> None:
    with contextlib.suppress(BadDataError):
        parse(content)


def test_units_are_decimal_or_binary_as_written() -> None:
    assert BYTES.parse("1.5 kB") == 1500
    assert BYTES.parse("2MiB") == 2 * 1024 * 1024
    assert SECONDS.parse("250 ms") == pytest.approx(0.25)
    assert SECONDS.parse("2min") == 120
    for nonsense in ("1e3s", "1 s ", "s", "1,5s", None, True, "²s", "1s\n"):
        with pytest.raises(ValueError, match="isn't a number in s, or with a unit"):
            SECONDS.parse(nonsense)


@pytest.mark.parametrize(
    "text", ["min-saving: {}", "max-launches: {}", "devices: {{nvme-laptop: {}}}"]
)
def test_a_number_that_no_float_holds_is_refused(text: str) -> None:
    with pytest.raises(BadDataError, match="positive number"):
        parse(text.format("1" + "0" * 400))


def test_schema_for_editors_takes_one_text_for_a_list_as_the_loader_does() -> None:
    schema = json.loads(schema_of("compression-advisor"))
    for value in ("launch.json", ["launch.json", "other.json"]):
        jsonschema.validate({"launch-profile": value}, schema)
    jsonschema.validate({"ignore": "SCA305"}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"launch-profile": 1}, schema)


@pytest.mark.parametrize(
    ("option", "key", "spellings", "value"),
    [
        ("--min-saving", "min-saving", ("0.5", "0.5s", "500ms", "500 ms"), 0.5),
        ("--link", "link", ("8.5", "8.5Mbit/s", "8500 kbit/s"), 8.5),
        ("--max-launches", "max-launches", ("5", "5.0"), 5),
    ],
)
def test_options_are_spelt_as_in_the_policy(
    option: str, key: str, spellings: tuple[str, ...], value: float
) -> None:
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_arguments(parser, ADVICE_ARGUMENTS)
    name = key.replace("-", "_")
    for spelling in spellings:
        given = getattr(given_settings(parser.parse_args([option, spelling])), name)
        for text in (spelling, repr(spelling)):  # as a number, and as a text
            read = getattr(parse(f"{key}: {text}"), name)
            assert given == read == pytest.approx(value)
    with pytest.raises(UsageError, match=f"argument {option}: 'plenty' isn't a"):
        given_settings(parser.parse_args([option, "plenty"]))


def test_schema_takes_what_the_model_takes() -> None:
    schema = json.loads(schema_of("compression-advisor"))
    for value in (0.5, "0.5", "0.5s", "20%"):
        jsonschema.validate({"min-saving": value}, schema)
    for value in (0, "0.5 h", "1e3", "300MB"):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"min-saving": value}, schema)


@pytest.mark.parametrize(
    ("text", "apps"),
    [
        ("{}", []),
        ("record: false", []),
        ("record: true", [None]),
        ("record: {app: calc}", ["calc"]),
        ("record: [{app: calc}, {app: editor, required: true}]", ["calc", "editor"]),
    ],
)
def test_launches_to_record_are_one_or_several(
    text: str, apps: list[str | None]
) -> None:
    assert [each.app for each in parse(text).record] == apps


def test_launch_to_record_says_when_it_ends() -> None:
    (recording,) = parse("record: {until: 'output:ready', timeout: 2min}").record
    assert (recording.until, recording.timeout) == ("output:ready", 120)
    assert not recording.required


def test_refreshes_say_what_a_user_does_in_a_month() -> None:
    policy = parse(f"refresh: {{{DAILY}, deltas: xdelta3, delta-share: 20%}}")
    habits = policy.to_policy().habits
    assert habits is not None
    assert (habits.refreshes, habits.deltas, habits.delta_share) == (2, "xdelta3", 0.2)
    assert habits.launches == pytest.approx(30.4, abs=0.1)
    assert parse("").to_policy().habits is None


def test_delta_has_one_size() -> None:
    habits = f"{DAILY}, deltas: xdelta3"
    with pytest.raises(BadDataError) as caught:
        parse(f"refresh: {{{habits}, previous: old.snap, delta-share: 1%}}")
    assert "but not both" in f"{caught.value} {caught.value.details}"
    assert parse(f"refresh: {{{habits}, previous: old.snap}}").refresh is not None
