"""The scripts of a clone, without installing anything."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from trees import fill

SCRIPTS = Path(__file__).parents[2] / "script"
SIMULATED = """\
Inst libpython3.11 [3.11.2-1] (3.11.2-6 Debian:12/stable [amd64])
Inst python3-venv (3.11.2-1 Debian:12/stable [amd64])
Conf python3-venv (3.11.2-1 Debian:12/stable [amd64])
"""


def run(
    *words: str | Path, directory: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        list(map(str, words)),
        cwd=directory,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def programs(directory: Path, **texts: str) -> str:
    """Make programs that are found first, and return the PATH."""
    files = {name.replace("_", "-"): f"#!/bin/sh\n{texts[name]}\n" for name in texts}
    fill(directory, files)
    return f"{directory}:{os.environ['PATH']}"


@pytest.mark.parametrize("script", ["demo", "setup", "install-packages", "try-snapd"])
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_is_help_and_does_nothing_else(
    tmp_path: Path, script: str, option: str
) -> None:
    path = programs(tmp_path / "bin", apt_get="exit 1", python3="exit 1", sudo="exit 1")
    done = run(SCRIPTS / script, option, directory=tmp_path, PATH=path)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"usage: script/{script} " in done.stdout


@pytest.mark.parametrize("script", ["demo", "setup", "install-packages", "try-snapd"])
def test_option_that_there_is_not_is_a_usage_error(tmp_path: Path, script: str) -> None:
    done = run(SCRIPTS / script, "--nonsense", directory=tmp_path)
    assert (done.returncode, done.stdout) == (os.EX_USAGE, "")
    assert f"usage: script/{script} " in done.stderr


def test_what_apt_upgrades_is_said_before_it_does(tmp_path: Path) -> None:
    path = programs(
        tmp_path / "bin",
        id="echo 0",
        dpkg_query='case "$*" in *there*) echo install ok installed;; *) exit 1;; esac',
        apt_get=f"""case "$*" in *--simulate*) cat <<'END'
{SIMULATED}END
;; *) echo "apt-get $*";; esac""",
    )
    install = SCRIPTS / "install-packages"
    done = run(install, "there", "python3-venv", directory=tmp_path, PATH=path)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert "They need newer versions of: libpython3.11" in said
    assert said[0] == "Installing Debian packages: python3-venv"
    assert said[-1].endswith("--no-remove --no-upgrade python3-venv")
    assert "New packages with what they need: 1" in said


def test_nothing_is_asked_of_apt_where_all_is_there(tmp_path: Path) -> None:
    path = programs(
        tmp_path / "bin", dpkg_query="echo install ok installed", apt_get="exit 1"
    )
    install = SCRIPTS / "install-packages"
    done = run(install, "strace", directory=tmp_path, PATH=path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_advisor_of_the_clone_runs_from_anywhere(tmp_path: Path) -> None:
    clone = tmp_path / "a clone"
    (clone / "script").mkdir(parents=True)
    advisor = Path(shutil.copy(SCRIPTS / "advisor", clone / "script"))
    absent = run(advisor, "advise", directory=tmp_path)
    assert absent.returncode == os.EX_UNAVAILABLE
    assert "script/setup advise" in absent.stderr
    programs(tmp_path / "bin", compression_advisor='printf "%s," "$@"')
    (clone / ".venv").mkdir()
    (tmp_path / "bin").rename(clone / ".venv/bin")
    link = tmp_path / "advisor"
    link.symlink_to(advisor)
    done = run(link, "advise", "a b", directory=tmp_path)
    assert (done.returncode, done.stdout) == (0, "advise,a b,")
