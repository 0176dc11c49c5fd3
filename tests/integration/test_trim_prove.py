"""``trim --prove``: apps are started before and after files are left out."""

import json
import random
from pathlib import Path

import pytest

from real_launches import add_escape, fill_launchable
from real_payloads import advisor
from trees import fill

pytestmark = [pytest.mark.slow, pytest.mark.bubblewrap]
SNAP_YAML = """\
name: launchy
version: '1.0'
summary: A sample
description: A sample
base: core24
architectures: [amd64]
apps:
  launchy: {command: bin/launchy}
  hidden: {command: bin/hidden}
  broken: {command: bin/broken}
"""
HIDDEN = """\
#!/bin/sh
# Computed, so no search of files finds it.
kept=$(echo bil/rsu | rev)/$(echo a.dedeen | rev)
cd "$SNAP"
exec cat "$kept" > /dev/null
"""

CURIOUS = """\
#!/bin/sh
page=$(echo EMDAER/elpmas/cod/erahs/rsu | rev)
cd "$SNAP"
cat "$page" > /dev/null 2>&1
head -c 1 "$SNAP/data/first" > /dev/null
exit 0
"""


@pytest.fixture
def prime(tmp_path: Path) -> Path:
    """Return a payload of which an app reads what looks needless."""
    payload = fill_launchable(tmp_path / "prime")
    archive = b"!<arch>\n" + bytes(300_000)
    files: dict[str, str | bytes] = {
        "meta/snap.yaml": SNAP_YAML,
        "usr/lib/needed.a": archive,
        "usr/lib/idle.a": archive,
        "usr/share/man/man1/launchy.1": random.Random(1).randbytes(50_000),
        "bin/hidden": HIDDEN,
        "bin/broken": "#!/bin/sh\nexit 3\n",
    }
    return fill(payload, files)


def test_group_that_an_app_needs_is_taken_back(
    prime: Path, scratch: Path, tmp_path: Path
) -> None:
    before = {path: path.stat().st_mtime for path in prime.rglob("*")}
    ran = advisor(
        "trim", prime, "--prove", "--format", "json",
        TMPDIR=str(scratch), XDG_CACHE_HOME=str(tmp_path / "cache"), status=0,
    )  # fmt: skip
    report = json.loads(ran.stdout)
    proof = report["proof"]
    (taken,) = proof["taken_back"]
    assert (taken["reason"], taken["app"]) == ("static-libraries", "hidden")
    apps = {each["app"]: each for each in proof["apps"]}
    assert apps["launchy"]["common_share"] == 1
    assert apps["hidden"]["problem"] is None
    assert apps["broken"]["problem"] is not None
    assert proof["after_bytes"] < proof["before_bytes"]
    sure = {each["reason"] for each in report["groups"] if each["risk"] is None}
    assert sure == {"documentation"}
    assert {path: path.stat().st_mtime for path in prime.rglob("*")} == before


@pytest.mark.strace
def test_apps_are_isolated(prime: Path, tmp_path: Path) -> None:
    add_escape(prime / "bin/launchy", tmp_path / "escaped")
    cache = str(tmp_path / "cache")
    options = ("--prove", "--format", "json")
    ran = advisor("trim", prime, *options, XDG_CACHE_HOME=cache)
    apps = {each["app"]: each for each in json.loads(ran.stdout)["proof"]["apps"]}
    assert apps["launchy"]["problem"] is None
    assert not (tmp_path / "escaped").exists()


@pytest.mark.mounts
def test_group_that_an_app_looks_for_is_taken_back(tmp_path: Path) -> None:
    prime = fill_launchable(tmp_path / "prime")
    text = SNAP_YAML.partition("apps:")[0] + (
        "environment: {PATH: '$SNAP/bin:$PATH'}\n"
        "apps: {launchy: {command: bin/curious}}\n"
    )
    (prime / "meta/snap.yaml").write_text(text)
    (prime / "bin/curious").write_text(CURIOUS)
    (prime / "bin/curious").chmod(0o755)
    for name in ("include/idle.h", "doc/sample/README"):
        path = prime / "usr" / ("share" if "doc" in name else "") / name
        path.parent.mkdir(parents=True)
        path.write_bytes(random.Random(2).randbytes(9_000))
    ran = advisor(
        "trim", prime, "--prove", "--runs", "2", "--format", "json",
        TMPDIR=str(tmp_path), XDG_CACHE_HOME=str(tmp_path / "cache"), status=0,
    )  # fmt: skip
    proof = json.loads(ran.stdout)["proof"]
    (taken,) = proof["taken_back"]
    assert taken["problem"] == "it looks for usr/share/doc/sample/README"
    (app,) = proof["apps"]
    assert (app["problem"], app["traced"]) == (None, True)
    assert app["cold_before_s"] > 0 < app["cold_after_s"]


def test_event_of_the_policy_ends_a_service_that_goes_on(tmp_path: Path) -> None:
    prime = fill_launchable(tmp_path / "prime")
    text = SNAP_YAML.partition("apps:")[0] + "apps: {launchy: {command: bin/slow}}\n"
    (prime / "meta/snap.yaml").write_text(text)
    fill(prime, {"usr/include/idle.h": random.Random(2).randbytes(9_000)})
    (tmp_path / "compression-advisor.yaml").write_text(
        "record: {app: launchy, until: 'output:sleeping'}\n"
    )
    ran = advisor(
        "trim", prime, "--prove", "--format", "json",
        "--policy", tmp_path / "compression-advisor.yaml",
        TMPDIR=str(tmp_path), XDG_CACHE_HOME=str(tmp_path / "cache"), status=0,
    )  # fmt: skip
    proof = json.loads(ran.stdout)["proof"]
    assert [each["problem"] for each in proof["apps"]] == [None]
    assert proof["after_bytes"] < proof["before_bytes"]


def test_nothing_is_written_where_an_app_proves_nothing(
    prime: Path, tmp_path: Path
) -> None:
    text = "name: launchy\nparts:\n  app:\n    plugin: nil\n"
    project = tmp_path / "snapcraft.yaml"
    project.write_text(text)
    state = tmp_path / "parts/app/state/prime"
    state.parent.mkdir(parents=True)
    files = (path for path in prime.rglob("*") if not path.is_dir())
    lines = [f"  {path.relative_to(prime)}: null" for path in files]
    state.write_text("\n".join(["files:", *lines]) + "\n")
    ran = advisor(
        "trim", prime, "--prove", "--fix", "--project", tmp_path,
        XDG_CACHE_HOME=str(tmp_path / "cache"),
    )  # fmt: skip
    assert ran.returncode != 0
    assert "Nothing is written: broken can't be started here" in ran.stderr
    assert "documentation: " in ran.stdout
    assert "adds them" not in ran.stdout
    assert project.read_text() == text


def test_apps_see_their_content_snap(tmp_path: Path) -> None:
    prime = fill_launchable(tmp_path / "prime")
    plug = "{interface: content, target: $SNAP/shown, default-provider: shown}"
    head = SNAP_YAML.partition("apps:")[0]
    apps = "apps: {launchy: {command: bin/reader}}\n"
    (prime / "meta/snap.yaml").write_text(f"{head}plugs: {{shown: {plug}}}\n{apps}")
    (prime / "shown").mkdir()
    header = random.Random(2).randbytes(9_000)
    reader = "#!/bin/sh\nexec cat $SNAP/shown/text\n"
    fill(prime, {"bin/reader": reader, "usr/include/idle.h": header})
    slots = "slots: {shown: {interface: content, read: [/]}}"
    shown = {"meta/snap.yaml": f"name: shown\nversion: '1'\n{slots}\n"}
    content = fill(tmp_path / "shown", {**shown, "text": "from the content snap\n"})
    for options, starts in (((), False), (("--content", content), True)):
        ran = advisor(
            "trim", prime, "--prove", "--format", "json", *options,
            TMPDIR=str(tmp_path), XDG_CACHE_HOME=str(tmp_path / "cache"), status=0,
        )  # fmt: skip
        (app,) = json.loads(ran.stdout)["proof"]["apps"]
        assert (app["problem"] is None) is starts
