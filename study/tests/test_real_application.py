"""The main job on a real application of more than 100 MB, and its launch."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from debian_payloads import COMMANDS, build_prime
from doc_commands import without_figures
from goldens import read_document
from real_payloads import advisor, snap_pack
from snapcraft_compression_advisor.launch.profile import read_profile

ROOT = Path(__file__).parents[2]
DEMO = Path(".cache/demo/gnome-calculator/prime")
BOOKWORM = "VERSION_CODENAME=bookworm" in Path("/etc/os-release").read_text().split()


@pytest.fixture(scope="module")
def calculator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the prime directory that script/demo builds."""
    directory = tmp_path_factory.mktemp("calculator")
    prime = directory / DEMO
    subprocess.run(
        [sys.executable, ROOT / "study/prime_from_debs.py", "gnome-calculator",
         "--output", prime, "--cache", directory / "debs"],
        check=True,
    )  # fmt: skip
    return prime


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("Xvfb") is None, reason="needs Xvfb")
def test_calculator_starts_from_its_prime_directory_until_its_window(
    calculator: Path, tmp_path: Path
) -> None:
    assert (calculator / "meta/gui/gnome-calculator.desktop").is_file()
    output = tmp_path / "launch.json"
    arguments = (calculator, "--method", "directory", "-o", output)
    done = advisor("record", *arguments, DISPLAY="")
    assert done.returncode == 0, done.stderr
    profile = read_profile(output)
    assert profile.recorded is not None
    assert profile.recorded.event == "window"
    read = {Path(file.path).name for file in profile.files}
    assert {"gschemas.compiled", "giomodule.cache", "icon-theme.cache"} <= read


@pytest.mark.slow
@pytest.mark.skipif(not BOOKWORM, reason="needs Debian 12, as the README's output")
def test_readme_shows_what_the_demo_prints(calculator: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme.partition("```\ngnome-calculator: ")[2].partition("```")[0]
    folder = calculator.parents[len(DEMO.parents) - 1]
    printed = advisor("advise", DEMO, cwd=folder).stdout
    assert without_figures(printed) == without_figures(f"gnome-calculator: {shown}")


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_payloads_of_the_benchmarks_start_until_their_window(
    tmp_path: Path, name: str
) -> None:
    prime, output = tmp_path / name, tmp_path / "launch.json"
    build_prime(name, prime, tmp_path / "debs")
    options = ("--method", "directory", "--until", "window", "-o", output)
    done = advisor("record", prime, *options, "--", *COMMANDS[name], DISPLAY="")
    assert done.returncode == 0, done.stderr
    assert read_profile(output).files
    shutil.rmtree(prime)


@pytest.mark.slow
def test_advice_on_a_calculator_with_its_closure(
    calculator: Path, tmp_path: Path
) -> None:
    prime = calculator
    report, sampled = (
        read_document(advisor("advise", prime, "--format", "json", *options).stdout)
        for options in (["--exact"], [])
    )

    assert report.payload.raw_bytes > 100_000_000
    for compression in ("xz", "lzo"):
        snap = snap_pack(prime, tmp_path / compression, compression=compression)
        size = report.trial.codecs[compression].image_bytes
        estimate = sampled.trial.codecs[compression].image_bytes
        assert size is not None
        assert estimate is not None
        assert size.mid == snap.stat().st_size
        # Twice the interval: with other versions in the archive, one draw in twenty
        # would miss it.
        off = abs(snap.stat().st_size - estimate.mid)
        assert off <= estimate.high - estimate.low
    assert sampled.recommendation.verdict == report.recommendation.verdict

    (launch,) = report.launches
    assert launch.app == "gnome-calculator"
    assert launch.files > 10
    assert {"libc.so.6"} <= {item.name for item in launch.unresolved}
    costs = launch.devices["nvme-laptop"]
    assert costs["xz"].added_s.mid > costs["lzo"].added_s.mid
