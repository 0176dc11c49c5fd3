"""The advisor inside the real snapcraft, wherever that is importable.

It isn't on PyPI in a version that takes plugins, so these tests run where it is
installed from its repository: they skip elsewhere, and say so.
"""

import importlib.util
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from host_damage import copy_advisor, damaged
from host_projects import (
    LZO_PAYS,
    Ran,
    codecs_of,
    make_project,
    project_file,
    run_as_snapcraft,
    write_policy,
)

EXAMPLES = Path(__file__).parents[2] / "examples"
BASES = {"core22": "", "core24": "", "core26": "build-base: devel"}
OS_RELEASE = """\
NAME="Ubuntu"
ID=ubuntu
VERSION_ID="24.04"
VERSION_CODENAME=noble
UBUNTU_CODENAME=noble
"""


def _importable() -> bool:
    try:
        return importlib.util.find_spec("snapcraft.application") is not None
    except ModuleNotFoundError:
        return False


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not _importable(),
        reason="snapcraft 9 isn't importable: install it from its repository",
    ),
]


@pytest.fixture
def snapcraft(tmp_path: Path) -> Callable[..., Ran]:
    """Return a function that runs snapcraft in a folder, building on this machine.

    Its libraries take the machine for an Ubuntu where it is another Debian.
    """
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "os-release").write_text(OS_RELEASE)

    def run(
        folder: Path,
        *arguments: str,
        program: tuple[str, ...] = ("-m", "snapcraft"),
        **variables: str,
    ) -> Ran:
        return run_as_snapcraft(
            [*program, *arguments],
            folder,
            {"UNIXCONFDIR": str(tmp_path / "etc"), **variables},
        )

    return run


def packs_components(tmp_path: Path) -> bool:
    """Return whether this machine's ``snap pack`` is new enough for components."""
    meta = tmp_path / "component" / "meta"
    meta.mkdir(parents=True)
    text = 'component: hello+more\nversion: "1"\ntype: standard\n'
    (meta / "component.yaml").write_text(text)
    done = subprocess.run(
        ["snap", "pack", meta.parent, tmp_path], check=False, capture_output=True
    )
    return done.returncode == 0


def with_mode(mode: str) -> str:
    return f"{LZO_PAYS}mode: {mode}\ncomponents: {{more: {{read: none}}}}\n"


def project(tmp_path: Path, base: str, mode: str, *, components: bool = False) -> Path:
    return make_project(
        tmp_path / "project",
        base=base,
        keys=BASES[base],
        components=components,
        policy=with_mode(mode),
    )


@pytest.mark.parametrize("base", BASES)
def test_advice_is_printed_and_the_snap_packed_as_declared(
    tmp_path: Path, base: str, snapcraft: Callable[..., Ran]
) -> None:
    folder = project(tmp_path, base, "advise")
    ran = snapcraft(folder)  # without a command, snapcraft packs
    assert ran.status == 0, ran.output
    assert "Compression advice for hello: CHANGE" in ran.output
    assert "SCA10" not in ran.output  # the advice has said it
    assert list(codecs_of(folder).values()) == ["xz"]


ALONE = """\
import importlib.metadata, runpy
importlib.metadata.entry_points = lambda **_: ()
runpy.run_module("snapcraft", run_name="__main__")
"""
"""Runs snapcraft without any plug-in."""

KINDS = {
    "plain": ("", ""),
    "declared": ("compression: lzo", ""),
    "recorded": ("", "record: true\nreport: advice.json\n"),
    "ignored": ("lint: {ignore: [compression]}", "fail-on: info\nselect: SCA\n"),
}
"""By name, keys of snapcraft.yaml and settings."""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("base", BASES)
def test_advice_changes_no_byte_of_what_is_packed(
    tmp_path: Path, base: str, kind: str, snapcraft: Callable[..., Ran]
) -> None:
    keys, settings = KINDS[kind]
    folder = make_project(
        tmp_path / "project",
        base=base,
        keys=f"{BASES[base]}\n{keys}",
        policy=f"{LZO_PAYS}mode: advise\n{settings}",
    )
    (folder / "files" / "empty").mkdir()
    (folder / "files" / "link to").symlink_to("numbers")
    without = tmp_path / "without"
    shutil.copytree(folder, without, symlinks=True)
    ran = snapcraft(without, "pack", program=("-c", ALONE))
    assert ran.status == 0, ran.output
    assert "Compression advice" not in ran.output
    ran = snapcraft(folder, "pack")
    assert ran.status == 0, ran.output
    assert "Compression advice for hello: " in ran.output
    (alone,), (advised,) = without.glob("*.snap"), folder.glob("*.snap")
    assert advised.read_bytes() == alone.read_bytes()


@pytest.mark.parametrize("base", BASES)
def test_apply_packs_as_advised_twice_the_same(
    tmp_path: Path, base: str, snapcraft: Callable[..., Ran]
) -> None:
    folder = project(tmp_path, base, "apply")
    before = project_file(folder).read_bytes()
    ran = snapcraft(folder, "pack")
    assert ran.status == 0, ran.output
    verdict = ran.lines.index("Compression of hello: packed with lzo as advised")
    assert verdict > ran.lines.index("Creating snap package...")
    assert "SCA10" not in ran.output
    assert list(codecs_of(folder).values()) == ["lzo"]
    (snap,) = folder.glob("*.snap")
    first = snap.read_bytes()
    assert snapcraft(folder, "pack").status == 0
    assert snap.read_bytes() == first
    assert project_file(folder).read_bytes() == before


@pytest.mark.parametrize("base", BASES)
def test_write_sets_the_key(
    tmp_path: Path, base: str, snapcraft: Callable[..., Ran]
) -> None:
    folder = project(tmp_path, base, "write")
    before = project_file(folder).read_text()
    assert snapcraft(folder, "pack").status == 0
    after = project_file(folder).read_text()
    assert after.replace("compression: lzo\n", "") == before
    assert list(codecs_of(folder).values()) == ["lzo"]


@pytest.mark.parametrize("base", BASES)
def test_enforce_stops_with_status_1_and_a_resolution(
    tmp_path: Path, base: str, snapcraft: Callable[..., Ran]
) -> None:
    folder = project(tmp_path, base, "enforce")
    ran = snapcraft(folder, "pack")
    assert ran.status == 1
    assert "violates the policy" in ran.output
    assert "set-compression lzo" in ran.output
    assert codecs_of(folder) == {}
    assert snapcraft(folder, "set-compression", "lzo").status == 0
    assert snapcraft(folder, "pack").status == 0
    assert list(codecs_of(folder).values()) == ["lzo"]


NOSY_PART = """\
  nosy:
    plugin: nil
    override-build: |
      echo "${PYTHONPATH-unset}" > "$CRAFT_PART_INSTALL/path"
      if python3 -c "import lies_beside_the_advisor"; then exit 1; fi
"""


@pytest.mark.parametrize("base", BASES)
def test_parts_do_not_see_the_folder_that_the_advisor_lies_in(
    tmp_path: Path, base: str, snapcraft: Callable[..., Ran]
) -> None:
    folder = project(tmp_path, base, "apply")
    with project_file(folder).open("a") as file:
        file.write(f"\n{NOSY_PART}")
    target = tmp_path / "target"
    copy_advisor(target)
    (target / "lies_beside_the_advisor.py").touch()
    ran = snapcraft(folder, PYTHONPATH=f"{target}:/of/the/user")
    assert ran.status == 0, ran.output
    assert (folder / "prime" / "path").read_text() == "/of/the/user\n"
    assert list(codecs_of(folder).values()) == ["lzo"]


@pytest.mark.parametrize(
    "damage", ["numpy", "hooks don't parse", "a hook fails", "analysis"]
)
@pytest.mark.parametrize("base", BASES)
def test_enforce_stops_where_the_advisor_is_damaged(
    tmp_path: Path, base: str, damage: str, snapcraft: Callable[..., Ran]
) -> None:
    folder = project(tmp_path, base, "enforce")
    path = damaged(tmp_path / "damaged", damage)
    for arguments in ((), ("pack",), ("pack", "files", "--output", "built.snap")):
        ran = snapcraft(folder, *arguments, PYTHONPATH=path)
        assert ran.status == 1, ran.output
        assert "'enforce', but" in ran.output
        assert "Recommended resolution" in ran.output
        assert "Traceback" not in ran.output
        assert codecs_of(folder) == {}
    mode = {"SNAPCRAFT_COMPRESSION_ADVISOR_MODE": "advise"}
    ran = snapcraft(folder, PYTHONPATH=path, **mode)
    assert ran.status == 0, ran.output
    warnings = [line for line in ran.lines if line.startswith("Warning: compression")]
    assert len(warnings) == 1, ran.output
    assert list(codecs_of(folder).values()) == ["xz"]


@pytest.mark.parametrize("base", BASES)
def test_broken_settings_stop_the_pack_and_are_named(
    tmp_path: Path, base: str, snapcraft: Callable[..., Ran]
) -> None:
    folder = project(tmp_path, base, "advise")
    write_policy(folder, "devices: [hdd-latop]\n")
    status = 1 if base == "core22" else 65
    for command in ("pull", "prime", "pack"):
        ran = snapcraft(folder, command)
        assert ran.status == status, ran.output
        assert "hdd-latop" in ran.output
        assert "Recommended resolution" in ran.output
        assert not (folder / "parts").exists()
    assert snapcraft(folder, "clean").status == 0
    write_policy(folder, "apps: [helo]\n")
    ran = snapcraft(folder, "prime")
    assert ran.status == status, ran.output
    assert "Did you mean 'hello'?" in ran.output
    assert not (folder / "prime").exists()


@pytest.mark.parametrize("base", BASES)
def test_components_have_advice_and_keys_of_their_own(
    tmp_path: Path, base: str, snapcraft: Callable[..., Ran]
) -> None:
    if not packs_components(tmp_path):
        pytest.skip("this machine's snap pack is too old for components")
    folder = project(tmp_path, base, "write", components=True)
    ran = snapcraft(folder, "pack")
    assert ran.status == 0, ran.output
    assert "Compression advice for component more" in ran.output
    first = codecs_of(folder)
    assert sorted(first.values()) == ["lzo", "xz"]
    assert first["hello+more.comp"] == "xz"
    if base != "core22":  # there, components are packed with what snapcraft.yaml says
        assert "    compression: xz\n" in project_file(folder).read_text()
    assert snapcraft(folder, "pack").status == 0
    assert codecs_of(folder) == first


@pytest.mark.parametrize("base", BASES)
def test_the_linter_can_be_ignored_by_name(
    tmp_path: Path, base: str, snapcraft: Callable[..., Ran]
) -> None:
    folder = project(tmp_path, base, "advise")
    text = project_file(folder).read_text()
    project_file(folder).write_text(f"{text}\nlint:\n  ignore: [compression]\n")
    ran = snapcraft(folder, "pack")
    assert ran.status == 0
    assert "SCA101" not in ran.output


@pytest.mark.parametrize("base", BASES)
def test_the_linter_can_be_ignored_by_rule_and_by_file(
    tmp_path: Path, base: str, snapcraft: Callable[..., Ran]
) -> None:
    folder = project(tmp_path, base, "advise")
    write_policy(folder, f"{with_mode('advise')}select: [SCA1, SCA3]\n")
    (folder / "files" / "lib").mkdir()
    archive = b"!<arch>\n" + random.Random(1).randbytes(300_000)
    (folder / "files" / "lib" / "libx.a").write_bytes(archive)
    ran = snapcraft(folder, "pack")
    assert "SCA101" in ran.output
    assert "SCA303" in ran.output
    text = project_file(folder).read_text()
    ignored = "lint: {ignore: [compression: [SCA101, lib*]]}"
    project_file(folder).write_text(f"{text}\n{ignored}\n")
    (snap,) = folder.glob("*.snap")
    snap.unlink()
    ran = snapcraft(folder, "pack")
    assert ran.status == 0
    assert "SCA101" not in ran.output
    assert "SCA303" not in ran.output
    assert "SCA103" in ran.output


@pytest.mark.parametrize("base", BASES)
def test_a_directory_is_packed_with_advice(
    tmp_path: Path, base: str, snapcraft: Callable[..., Ran]
) -> None:
    folder = project(tmp_path, base, "apply")
    ran = snapcraft(folder, "pack", "files", "--output", "built.snap")
    assert ran.status == 0, ran.output
    assert "Compression advice for hello" in ran.output
    assert list(codecs_of(folder).values()) == ["lzo"]


@pytest.mark.parametrize("base", BASES)
def test_extension_and_build_plugin_carry_the_settings(
    tmp_path: Path, base: str, snapcraft: Callable[..., Ran]
) -> None:
    folder = tmp_path / "project"
    shutil.copytree(EXAMPLES / "extension", folder)
    text = project_file(folder).read_text()
    keys = f"base: {base}\n{BASES[base]}\n"
    project_file(folder).write_text(text.replace("base: core24\n", keys))
    ran = snapcraft(folder, "pack")
    assert ran.status == 0, ran.output
    assert list(codecs_of(folder).values()) == ["lzo"]
    broken = project_file(folder).read_text().replace("mode: apply", "mode: aply")
    project_file(folder).write_text(broken)
    ran = snapcraft(folder, "pack")
    assert ran.status != 0
    assert "compression-advisor-mode" in ran.output


@pytest.mark.parametrize(
    ("name", "codec", "said"),
    [
        ("advise", "xz", "CHANGE: set 'compression: lzo'"),
        ("apply", "lzo", "Compression of hello: packed with lzo as advised"),
        ("enforce", "lzo", "KEEP 'compression: lzo'"),
        ("write", "lzo", "snap/snapcraft.yaml: compression set to lzo"),
    ],
)
def test_the_examples_do_what_they_say(
    tmp_path: Path, name: str, codec: str, said: str, snapcraft: Callable[..., Ran]
) -> None:
    if name == "write" and not packs_components(tmp_path):
        pytest.skip("this machine's snap pack is too old for components")
    folder = tmp_path / "project"
    shutil.copytree(EXAMPLES / name, folder)
    ran = snapcraft(folder, "pack")
    assert ran.status == 0, ran.output
    assert said in ran.output
    (snap,) = folder.glob("*.snap")
    assert codecs_of(folder)[snap.name] == codec


def test_snapcraft_takes_the_project_s_own_snapcraft_yaml(
    tmp_path: Path, snapcraft: Callable[..., Ran]
) -> None:
    folder = tmp_path / "project"
    shutil.copytree(EXAMPLES.parent / "snap", folder / "snap")
    ran = snapcraft(folder, "expand-extensions")
    assert ran.status == 0, ran.output
    assert "name: snapcraft-compression-advisor" in ran.output
