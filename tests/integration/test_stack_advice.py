"""``advise`` on a snap with its base and content snaps, and on such a snap itself."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from documents import Document, read_document
from elf_files import make_elf
from real_payloads import advisor, snap_pack

if TYPE_CHECKING:
    from pathlib import Path

LIBRARIES = "usr/lib/x86_64-linux-gnu"
YAML = {
    "app": "name: hello\nversion: '1'\nsummary: x\ndescription: x\nbase: core24\n"
    "architectures: [amd64]\napps: {hello: {command: usr/bin/hello}}\n"
    "plugs: {gnome: {interface: content, target: $SNAP/gnome-platform, "
    "default-provider: gnome-46-2404}}\n",
    "content": "name: gnome-46-2404\nversion: '1'\nsummary: x\ndescription: x\n"
    "base: core24\narchitectures: [amd64]\n",
    "base": "name: core24\nversion: '1'\nsummary: x\ndescription: x\ntype: base\n"
    "architectures: [amd64]\n",
}
"""``meta/snap.yaml`` by role."""

MICROSECONDS = 3e-6
"""By which sums of rounded seconds may be off."""


@pytest.fixture
def snaps(tmp_path: Path) -> dict[str, Path]:
    """Return the prime directories of an app, its content snap and its base."""
    text = random.Random(0).randbytes(300_000).hex().encode()
    files = {
        "app": {"usr/bin/hello": make_elf(needed=("libtool.so.1", "libc.so.6")) + text},
        "content": {f"{LIBRARIES}/libtool.so.1": make_elf() + text[::-1]},
        "base": {f"{LIBRARIES}/libc.so.6": make_elf() + text[::2]},
    }
    for role, contents in files.items():
        for path, content in contents.items():
            file = tmp_path / role / path
            file.parent.mkdir(parents=True)
            file.write_bytes(content)
            file.chmod(0o755)
        (tmp_path / role / "meta").mkdir()
        (tmp_path / role / "meta/snap.yaml").write_text(YAML[role])
    return {role: tmp_path / role for role in files}


def report(*arguments: str | Path, cwd: Path | None = None) -> Document:
    ran = advisor("advise", *arguments, "--format", "json", cwd=cwd)
    assert ran.returncode == 0, ran.stderr
    return read_document(ran.stdout)


def test_each_snap_has_its_blocks_its_codec_and_its_seconds(
    snaps: dict[str, Path], tmp_path: Path
) -> None:
    base = snap_pack(snaps["base"], tmp_path / "packed", compression="lzo")
    found = report(snaps["app"], "--base", base, "--content", snaps["content"])
    (launch,) = found.launches
    assert launch.unresolved == []
    assert [
        (each.snap, each.role, each.codec, each.judged) for each in launch.stack
    ] == [
        ("hello", "app", None, True),
        ("gnome-46-2404", "content", None, False),
        ("core24", "base", "lzo", False),
    ]
    for device, whole in launch.stack_whole.items():
        costs = [each.devices[device] for each in launch.stack]
        assert all({"xz", "lzo"} <= cost.keys() for cost in costs)
        packed = [each.taken_as for each in launch.stack]
        assert packed == ["xz", "xz", "lzo"]
        added = [
            cost[codec].added_s.mid for cost, codec in zip(costs, packed, strict=True)
        ]
        assert whole.added_s.mid == pytest.approx(sum(added), abs=MICROSECONDS)
        assert whole.judged_share == pytest.approx(added[0] / sum(added), abs=1e-5)
        saved = [each.change_saves_s[device].mid for each in launch.stack]
        assert saved[0] > 0 > saved[2]
        assert whole.all_lzo_saves_s.mid == pytest.approx(
            saved[0] + saved[1], abs=MICROSECONDS
        )
        own = launch.devices[device]["xz"].added_s
        assert own.mid == pytest.approx(added[0], abs=MICROSECONDS)


def test_settings_name_the_other_snaps(snaps: dict[str, Path], tmp_path: Path) -> None:
    settings = tmp_path / "compression-advisor.yaml"
    settings.write_text("bases: base\ncontents: [content]\n")
    found = report(tmp_path / "app", "--policy", settings)
    assert [each.role for each in found.launches[0].stack] == ["app", "content", "base"]
    ran = advisor("advise", snaps["app"], "--policy", settings, "-v")
    assert "gnome-46-2404 to lzo (theirs)" in ran.stdout
    assert "Yours to change is hello" in " ".join(ran.stdout.split())


def test_a_platform_snap_is_judged_by_its_consumers(snaps: dict[str, Path]) -> None:
    text = snaps["app"] / "meta/snap.yaml"
    other = snaps["app"].with_name("other")
    (other / "meta").mkdir(parents=True)
    (other / "usr/bin").mkdir(parents=True)
    (other / "usr/bin/other").write_bytes(make_elf(needed=("libnone.so",)))
    (other / "meta/snap.yaml").write_text(text.read_text().replace("hello", "other"))
    found = report(snaps["content"], "--consumer", snaps["app"], "--consumer", other)
    assert [(each.app, each.weight) for each in found.launches] == [
        ("the average consumer", None),
        ("hello", 0.5),
        ("other", 0.5),
    ]
    average, hello, _ = found.launches
    expected, *each = (
        launch.guess.expected_blocks for launch in found.launches if launch.guess
    )
    assert expected == pytest.approx((each[0] + each[1]) / 2, abs=0.1)
    assert average.weight is None
    assert found.recommendation.decides is not None
    assert found.recommendation.decides.app == "the average consumer"
    assert [each.judged for each in hello.stack] == [False, True]


def test_a_platform_snap_without_consumers_says_how_to_name_them(
    snaps: dict[str, Path],
) -> None:
    ran = advisor("advise", snaps["base"])
    assert ran.returncode == 0
    assert "--consumer app.snap" in ran.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--base", "content"], "isn't a base: gnome-46-2404 has the type 'app'"),
        (["--content", "base"], "hello has no content plug for core24"),
        (["--base", "gone.snap"], "Cannot open 'gone.snap'"),
        (["--base", "noise"], "noise: not a squashfs image"),
        (["--consumer", "app", "--record"], "Both --consumer and --record"),
        (["--consumer", "base"], "hello ('app')"),
        (
            ["--content", "content", "--content", "content"],
            "'gnome-46-2404' is given twice",
        ),
    ],
)
def test_what_does_not_go_with_the_snap_is_a_clear_error(
    snaps: dict[str, Path], tmp_path: Path, options: list[str], message: str
) -> None:
    (tmp_path / "noise").write_bytes(b"\xff" * 4096)
    ran = advisor("advise", snaps["app"].name, *options, cwd=tmp_path)
    assert ran.returncode >= 64
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr
