"""What a snap needn't ship: found, checked against what launches need, written down."""

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_mock import MockerFixture
from ruamel.yaml import YAML

from elf_files import EM_AARCH64, make_elf
from snapcraft_compression_advisor.cli.listings import schema_of
from snapcraft_compression_advisor.cli.main import main
from snapcraft_compression_advisor.launch.profile import ProfileFile
from snapcraft_compression_advisor.trim.filters import parts_of_files
from snapcraft_compression_advisor.trim.plan import TrimGroup
from snapcraft_compression_advisor.trim.prove import common_share, find_culprit

LIB = "usr/lib/x86_64-linux-gnu"
SNAP_YAML = b"""\
name: calculator
version: '1'
base: core24
architectures: [amd64]
apps:
  calculator: {command: bin/calculator}
  other: {command: bin/other}
"""
FOO = make_elf(soname="libfoo.so.1", exported=["foo"])
PRIME: Mapping[str, bytes] = {
    "meta/snap.yaml": SNAP_YAML,
    "bin/calculator": make_elf(
        interpreter="/lib64/ld-linux-x86-64.so.2",
        needed=["libfoo.so.1", "libbar.so.1", "libown.so.1"],
    ),
    "bin/other": b"#!/bin/sh\nexec cat $SNAP/usr/share/man/man1/help.1\n",
    f"{LIB}/libfoo.so.1": FOO + b"built by us",
    f"{LIB}/libbar.so.1": make_elf(soname="libbar.so.1", exported=["bar", "new"]),
    f"{LIB}/libown.so.1": make_elf(soname="libown.so.1"),
    f"{LIB}/libarm.so": make_elf(soname="libarm.so", machine=EM_AARCH64),
    "usr/lib/libfoo.a": b"!<arch>\n" + bytes(range(256)) * 40,
    "usr/share/man/man1/help.1": b"help " * 400,
    "usr/share/man/man1/other.1": b"other " * 400,
    "usr/share/locale/de/LC_MESSAGES/calculator.mo": b"deutsch",
    "usr/share/doc/calculator/copyright": b"GPL",
}
BASE: Mapping[str, bytes] = {
    "meta/snap.yaml": b"name: core24\nversion: '1'\ntype: base\n",
    f"{LIB}/libfoo.so.1": FOO,
    f"{LIB}/libfoo.so": FOO,
    f"{LIB}/libbar.so.1": make_elf(soname="libbar.so.1", exported=["bar"]),
    "bin/cat": b"#!/bin/sh\n",
}
PROJECT = """\
name: calculator
parts:
  app:
    plugin: dump
  deps:  # libraries
    plugin: nil
    prime:
      - -usr/include
"""
STATE = """\
files: !!set
{files}
part_properties: {{}}
"""


def write(root: Path, files: Mapping[str, bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o755)
    return root


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Make a project that was built, and its base."""
    write(tmp_path / "prime", PRIME)
    (tmp_path / f"prime/{LIB}/libfoo.so").symlink_to("libfoo.so.1")
    write(tmp_path / "core24", BASE)
    (tmp_path / "snapcraft.yaml").write_text(PROJECT, encoding="utf-8")
    return tmp_path


def write_states(project: Path) -> None:
    """Write what craft-parts keeps of two parts that brought these files."""
    of_deps = {name for name in (*PRIME, f"{LIB}/libfoo.so") if "usr/lib" in name}
    for part, files in (("app", PRIME.keys() - of_deps), ("deps", of_deps)):
        state = project / "parts" / part / "state" / "prime"
        state.parent.mkdir(parents=True)
        lines = "\n".join(f"  {each}: null" for each in sorted(files))
        state.write_text(STATE.format(files=lines), encoding="utf-8")


def trim(project: Path, *options: str) -> int:
    prime, base = str(project / "prime"), str(project / "core24")
    return main(["trim", prime, "--base", base, *options])


def groups(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> dict[str, list[dict[str, object]]]:
    assert trim(project, "--format", "json") == 0
    report = json.loads(capsys.readouterr().out)
    jsonschema.validate(report, json.loads(schema_of("trim")))
    found: dict[str, list[dict[str, object]]] = {}
    for group in report["groups"]:
        found.setdefault(group["reason"], []).append(group)
    return found


def test_what_nothing_needs_is_listed_by_reason(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = groups(project, capsys)
    (static,) = found["static-libraries"]
    assert static["files"] == ["usr/lib/libfoo.a"]
    assert static["risk"] is None
    (foreign,) = found["other-architectures"]
    assert foreign["files"] == [f"{LIB}/libarm.so"]
    (translations,) = found["translations"]
    assert translations["risk"] == "users of these languages read them"


def test_supplied_library_of_the_same_symbols_goes_with_its_link(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sure, risky = sorted(
        groups(project, capsys)["supplied-libraries"],
        key=lambda each: each["risk"] is not None,
    )
    assert sure["files"] == [f"{LIB}/libfoo.so.1", f"{LIB}/libfoo.so"]
    assert sure["risk"] is None
    assert risky["files"] == [f"{LIB}/libbar.so.1"]
    assert risky["risk"] == "core24 has another build of it"


def test_path_of_the_loader_leads_to_no_library_in_particular(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spare = make_elf(soname="libspare.so.1")
    variable = f"environment: {{LD_LIBRARY_PATH: '$SNAP/{LIB}'}}\n"
    write(
        project / "prime",
        {
            f"{LIB}/libspare.so.1": spare,
            "meta/snap.yaml": SNAP_YAML + variable.encode(),
        },
    )
    found = groups(project, capsys)
    risks = [each["risk"] for each in found["supplied-libraries"]]
    assert risks == [None, "core24 has another build of it"]


def test_library_that_the_loader_would_not_find_in_the_base_is_risky(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prime = project / "prime"
    (prime / "meta/snap.yaml").write_bytes(SNAP_YAML)
    for entry in (project / "core24" / LIB).iterdir():
        entry.rename(project / "core24" / entry.name)
    found = groups(project, capsys)
    assert all(each["risk"] for each in found.get("supplied-libraries", []))


def test_file_that_a_launch_reads_is_never_listed(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profile = project / "launch.json"
    profile.write_text(
        json.dumps(
            {
                "schema": 1,
                "app": "calculator",
                "source": "residency",
                "files": [
                    {
                        "path": "usr/share/man/man1/other.1",
                        "size": 2400,
                        "blocks": [[0, 0]],
                    }
                ],
            }
        ),
        encoding="utf-8",
    )
    assert trim(project, "--format", "json", "--launch-profile", str(profile)) == 0
    out = capsys.readouterr().out
    assert "man1/other.1" not in out
    assert "libfoo.a" in out


def test_parts_are_those_that_brought_the_files(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_states(project)
    assert trim(project, "--format", "yaml") == 0
    parts = YAML(typ="safe", pure=True).load(capsys.readouterr().out)["parts"]
    assert set(parts["deps"]["prime"]) == {
        f"-{LIB}/libarm.so",
        f"-{LIB}/libfoo.so*",
        "-usr/lib/libfoo.a",
    }
    assert all(each.startswith("-usr/share/man") for each in parts["app"]["prime"])


def test_without_their_parts_a_part_of_its_own_removes_them(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert trim(project, "--format", "yaml") == 0
    (part,) = (
        YAML(typ="safe", pure=True).load(capsys.readouterr().out)["parts"].values()
    )
    assert part["after"] == ["app", "deps"]
    assert "rm -rf ./usr/lib/libfoo.a" in part["override-prime"]


def test_write_adds_sure_filters_and_nothing_else(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_states(project)
    assert trim(project, "--diff") == 0
    shown = capsys.readouterr().out
    assert shown.startswith("--- ")
    assert "-usr/include" in shown
    assert (project / "snapcraft.yaml").read_text(encoding="utf-8") == PROJECT
    assert trim(project, "--fix") == 0
    text = (project / "snapcraft.yaml").read_text(encoding="utf-8")
    assert "  deps:  # libraries\n" in text
    assert "      - -usr/include\n      - '-usr/lib/libfoo.a'\n" in text
    assert "libbar" not in text
    assert "locale" not in text
    assert trim(project, "--fix") == 0
    assert (project / "snapcraft.yaml").read_text(encoding="utf-8") == text
    assert "there is no filter to add" in capsys.readouterr().err


def test_nothing_is_written_where_a_part_is_not_known(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert trim(project, "--fix") != 0
    said = capsys.readouterr()
    assert "isn't known" in said.err
    assert f"rm -rf ./{LIB}/libfoo.so*\n" in said.out  # what was found isn't lost
    assert (project / "snapcraft.yaml").read_text(encoding="utf-8") == PROJECT


def test_no_app_is_started_for_filters_that_can_not_be_written(
    project: Path, capsys: pytest.CaptureFixture[str], mocker: MockerFixture
) -> None:
    prove = mocker.patch("snapcraft_compression_advisor.trim.prove.prove_trim")
    assert trim(project, "--prove", "--fix") != 0
    assert "isn't known" in capsys.readouterr().err
    prove.assert_not_called()


def test_text_says_what_is_risky_and_why(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert trim(project) == 0
    out = capsys.readouterr().out
    assert "risky translations: 1 file, 7 B: may be needed: users of these" in out
    assert f"rm -rf ./{LIB}/libfoo.so*\n" in out
    assert f"rm -rf ./{LIB}/libbar.so.1" not in out
    assert trim(project, "--risky") == 0
    assert f"rm -rf ./{LIB}/libbar.so.1" in capsys.readouterr().out


def test_sizes_of_kinds_add_up_and_a_kind_of_a_few_bytes_has_no_filters(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    noise = random.Random(1).randbytes
    twice = FOO + noise(200_000)
    write(project / "core24", {f"{LIB}/libfoo.so.1": twice})
    copies = {f"{LIB}/libfoo.so.1": twice, "usr/share/man/man1/other.1": twice}
    write(
        project / "prime", {**copies, "usr/lib/libfoo.a": b"!<arch>\n" + noise(200_000)}
    )
    assert trim(project, "--format", "json") == 0
    plan = json.loads(capsys.readouterr().out)
    sure = [each for each in plan["groups"] if each["risk"] is None]
    assert [each["reason"] for each in sure] == [
        "static-libraries",
        "supplied-libraries",
        "documentation",
    ]
    total_bytes = sum(each["image_bytes"]["mid"] for each in sure)
    assert total_bytes == pytest.approx(plan["sure_bytes"]["mid"], abs=8192)
    assert total_bytes > 400_000
    assert trim(project) == 0
    out = capsys.readouterr().out
    assert "No filters for programs and libraries for other architectures (1" in out
    assert "libarm" not in out
    assert out.index("Test the snap") < out.index("rm -rf")


def test_nothing_to_leave_out_is_nothing_to_test(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"meta/snap.yaml": SNAP_YAML, "bin/calculator": b"#!/bin/sh\n"}
    assert main(["trim", str(write(tmp_path / "prime", files))]) == 0
    out = capsys.readouterr().out
    assert "nothing was found that could be left out without a risk" in out
    assert "Test the snap" not in out


def test_all_filters_are_shown_however_many(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project / "prime", {f"usr/lib/lib{n}.a": b"!<arch>\n" for n in range(30)})
    write(project / "prime", {f"usr/lib/lib{n}": b"text" for n in range(30)})
    (project / "prime/usr/lib/kept.a").write_bytes(b"no archive")
    assert trim(project) == 0
    out = capsys.readouterr().out
    assert all(f"rm -rf ./usr/lib/lib{n}.a" in out for n in range(30))


def test_states_with_odd_names_are_read(tmp_path: Path) -> None:
    state = tmp_path / "parts/app/state/prime"
    state.parent.mkdir(parents=True)
    files = (
        "  usr/a: null\n  \"b: '\\xFC\": null\n  'c #1': null\n  ? long/name\n  : null"
    )
    state.write_text(STATE.format(files=files), encoding="utf-8")
    known = {"usr/a", "b: 'ü", "c #1", "long/name"}
    assert parts_of_files(tmp_path) == {"app": known}
    levels = ", ".join(
        f"&a{level} [{f'*a{level - 1}, ' * 10}]" for level in range(1, 6)
    )
    bomb = f"  'x': [&a0 [y], {levels}] # '"
    state.write_text(STATE.format(files=bomb), encoding="utf-8")
    assert parts_of_files(tmp_path) == {"app": set()}
    state.write_bytes(b"\xff\xfe")
    assert not parts_of_files(tmp_path)


def group(name: str) -> TrimGroup:
    return TrimGroup(
        reason="documentation",
        risk=None,
        files=(name,),
        raw_bytes=1,
        image_bytes=None,
        saved_s={},
        filters={},
    )


@given(count=st.integers(1, 20), bad=st.sets(st.integers(0, 19), min_size=1))
def test_bisection_finds_a_group_that_is_needed(count: int, bad: set[int]) -> None:
    every = [group(str(number)) for number in range(count)]
    needed = {every[number % count].files for number in bad}

    def trial(groups: Sequence[TrimGroup]) -> dict[str, str]:
        broken = any(each.files in needed for each in groups)
        return {"app": "fails"} if broken else {}

    assert find_culprit(every, trial).files in needed


def test_files_left_out_do_not_count_as_common_or_not() -> None:
    one = ProfileFile(path="a", size=9, blocks=((0, 3),))
    other = ProfileFile(path="a", size=9, blocks=((1, 3),))
    gone = ProfileFile(path="b", size=9, blocks=((0, 0),))
    assert common_share([one, gone], [other], frozenset("b")) == 0.75
    assert common_share([gone], [], frozenset("b")) == 1.0


@pytest.mark.parametrize(
    ("yaml", "link", "risk"),
    [
        ("", "usr/share/calculator/help", "the link 'usr/share/calculator/help' leads"),
        ("layout: {/usr/share/man: {bind: $SNAP/usr/share/man}}", "", "a layout shows"),
        ("environment: {MANPATH: '$SNAP/usr/share/man'}", "", "the variable MANPATH"),
        ("environment: {XDG_DATA_DIRS: $SNAP/usr/share}", "", None),
        ("", "usr/share/man/man1/again.1", None),
    ],
)
def test_what_something_leads_to_is_risky(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    yaml: str,
    link: str,
    risk: str | None,
) -> None:
    prime = project / "prime"
    (prime / "meta/snap.yaml").write_text(f"{SNAP_YAML.decode()}{yaml}\n")
    if link:
        (prime / link).parent.mkdir(parents=True, exist_ok=True)
        (prime / link).symlink_to("/usr/share/man/man1/other.1")
    (manual,) = groups(project, capsys)["documentation"]
    if risk is None:
        assert manual["risk"] is None
        assert not link or link in str(manual["files"])
    else:
        assert str(manual["risk"]).startswith(risk)


def test_name_that_no_yaml_can_hold_is_not_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = {"usr/share/man/man1/odd\udcff.1": b"odd " * 400}
    prime = write(tmp_path / "prime", {**PRIME, **odd})
    assert main(["trim", str(prime), "--format", "json"]) == 0
    groups = json.loads(capsys.readouterr().out)["groups"]
    files = [path for group in groups for path in group["files"]]
    assert "usr/share/man/man1/other.1" in files
    assert not any("odd" in path for path in files)
