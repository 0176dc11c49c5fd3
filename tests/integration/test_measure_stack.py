"""``measure`` over several mounts: the app sees its base and its content snap."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from real_payloads import advisor

pytestmark = [pytest.mark.mounts, pytest.mark.bubblewrap]

APP_YAML = """\
name: hello
version: '1'
base: tiny
plugs:
  platform:
    interface: content
    target: $SNAP/platform
    default-provider: platform-1
apps:
  hello:
    command: usr/bin/hello
"""
CONTENT_YAML = """\
name: platform-1
version: '1'
slots:
  platform:
    interface: content
    read: [$SNAP]
"""
BASE_YAML = "name: tiny\nversion: '1'\ntype: base\n"
HELLO = "#!/bin/sh\ncat /of-base/data $SNAP/platform/data $SNAP/data > /dev/null\n"
DATA = {"app": "data", "content": "data", "base": "of-base/data"}
EMPTY = ("dev", "home", "proc", "root", "run", "snap", "sys", "tmp", "var/tmp")
PLACES = (("app", "hello"), ("content", "platform-1"), ("base", "tiny"))


def make_snap(directory: Path, snap_yaml: str, data: str) -> Path:
    for name, text in (("meta/snap.yaml", snap_yaml), (data, "some text\n" * 50_000)):
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text)
    return directory


@pytest.fixture
def snaps(tmp_path: Path) -> dict[str, Path]:
    """Return an app's snap, its base with a shell, and its content snap."""
    app = make_snap(tmp_path / "app", APP_YAML, "data")
    (app / "platform").mkdir()
    (app / "usr/bin").mkdir(parents=True)
    (app / "usr/bin/hello").write_text(HELLO)
    (app / "usr/bin/hello").chmod(0o755)
    base = make_snap(tmp_path / "base", BASE_YAML, "of-base/data")
    for name in EMPTY:
        (base / name).mkdir(parents=True)
    for program in ("sh", "cat"):
        found = shutil.which(program)
        assert found is not None
        listed = subprocess.check_output(["ldd", found], text=True)
        libraries = re.findall(r"(/\S+) \(0x", listed)
        for source, place in (
            (found, f"/bin/{program}"),
            *((it, it) for it in libraries),
        ):
            target = Path(f"{base}{place}")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    content = make_snap(tmp_path / "content", CONTENT_YAML, "data")
    return {"app": app, "base": base, "content": content}


def measure(
    snaps: dict[str, Path], *options: str | Path, scratch: Path
) -> subprocess.CompletedProcess[str]:
    return advisor(
        "measure", snaps["app"], "--base", snaps["base"], "--content",
        snaps["content"], "--runs", "1", "--format", "json", *options,
        TMPDIR=str(scratch),
    )  # fmt: skip


def write_profile(path: Path, *roles: str) -> Path:
    """Write the recording of a launch that read the data of some snaps."""
    payloads = [
        {
            "role": role,
            "name": name,
            "files": [{"path": DATA[role], "size": 500_000, "blocks": [[0, 3]]}],
        }
        for role, name in PLACES
        if role in roles
    ]
    profile = {"schema": 2, "source": "residency", "app": "hello", "payloads": payloads}
    path.write_text(json.dumps(profile))
    return path


def test_app_starts_over_its_base_and_content_snap_with_every_combination(
    snaps: dict[str, Path], scratch: Path
) -> None:
    result = measure(snaps, "--until", "exit", scratch=scratch)
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert [(it["role"], it["snap"]) for it in report["layers"]] == list(PLACES)
    codecs = [tuple(each["codecs"]) for each in report["combinations"]]
    assert len(codecs) == len(set(codecs)) == 8
    assert all(set(each) <= {"xz", "lzo"} for each in codecs)


def test_recorded_reads_of_each_snap_are_replayed(
    snaps: dict[str, Path], scratch: Path, tmp_path: Path
) -> None:
    profile = write_profile(tmp_path / "launch.json", "app", "content", "base")
    options = ("--launch-profile", profile, "--codec", "lzo")
    result = measure(snaps, *options, scratch=scratch)
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert report["method"] == "replay"
    assert [each["codecs"] for each in report["combinations"]] == [["lzo"] * 3]
    write_profile(profile, "app", "base")
    result = measure(snaps, *options, scratch=scratch)
    assert result.returncode != 0
    assert "doesn't say what was read of 'platform-1'" in result.stderr


def test_content_snap_without_a_place_is_refused(
    snaps: dict[str, Path], scratch: Path
) -> None:
    (snaps["app"] / "platform").rmdir()
    result = measure(snaps, scratch=scratch)
    assert result.returncode != 0
    assert "'hello' has no directory 'platform'" in result.stderr


def test_options_of_a_single_mount_are_refused(
    snaps: dict[str, Path], scratch: Path
) -> None:
    result = measure(snaps, "--walk", scratch=scratch)
    assert result.returncode != 0
    assert "--walk can't be combined with --base or --content" in result.stderr
