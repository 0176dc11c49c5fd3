"""The examples of CONTRIBUTING.md: each is applied, or compared with the code."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PATCHES = ROOT / "docs/contributing"
PACKAGE = ROOT / "snapcraft_compression_advisor"
NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "golden")
ROOMS = ("snapcraft_compression_advisor", "benchmarks", "study")
COPIED = (*ROOMS, "docs", "share", "tests")
TOP_FILES = ("conftest.py", "pyproject.toml", "snapcraft_compression_advisor_plugin.py")


def patched_tree(folder: Path, patch: Path) -> Path:
    """Return a copy of the tree with a patch applied and all pages made again."""
    for name in filter(lambda name: (ROOT / name).exists(), COPIED):
        shutil.copytree(ROOT / name, folder / name, ignore=NOT_COPIED)
    for name in TOP_FILES:
        shutil.copy(ROOT / name, folder)
    run(folder, "git", "apply", str(patch))
    run(folder, sys.executable, "-c", GENERATE)
    return folder


GENERATE = """\
import runpy, sys
sys.path[:0] = [".", "docs"]
runpy.run_path("docs/generate.py", run_name="__main__")
"""


def run(folder: Path, *command: str) -> None:
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "made", "tests"),
    [
        (
            "add-a-rule",
            "docs/rules/SCA309.md",
            ["test_litter_rule.py", "test_docs.py::test_every_rule_says_what_it_is"],
        ),
        (
            "add-a-device-profile",
            "snapcraft_compression_advisor/devices/sbc-ssd.yaml",
            ["test_sbc_ssd.py", "test_builtin_devices.py", "test_device_shares.py"],
        ),
        (
            "add-a-codec",
            "snapcraft_compression_advisor/codecs/lzma_alone.py",
            ["test_lzma_alone.py", "test_codec_blocks.py", "test_device_file.py"],
        ),
        (
            "add-a-family",
            "snapcraft_compression_advisor/launch/guess/families.yaml",
            ["test_spelling.py", "test_static_families.py"],
        ),
        (
            "add-a-runtime",
            "snapcraft_compression_advisor/launch/guess/runtimes/php.py",
            ["test_runtime_php.py", "test_runtime_python.py", "test_runtimes.py"],
        ),
        (
            "add-a-format",
            "snapcraft_compression_advisor/report/lint_formats/checkstyle.py",
            ["test_lint_checkstyle.py"],
        ),
    ],
)
def test_each_patch_applies_and_brings_tests_that_pass(
    tmp_path: Path, name: str, made: str, tests: list[str]
) -> None:
    assert f"docs/contributing/{name}.patch" in (ROOT / "CONTRIBUTING.md").read_text()
    tree = patched_tree(tmp_path / "tree", PATCHES / f"{name}.patch")
    assert (tree / made).is_file()
    named = [f"tests/unit/{name}" for name in tests]
    run(tree, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *named)
    files = [each.partition("::")[0] for each in named]
    run(tree, sys.executable, "-m", "ruff", "check", *files, PACKAGE.name)


def test_every_patch_is_shown() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    kept = {path.name for path in PATCHES.iterdir()}
    assert set(re.findall(r"\(docs/contributing/([^)]+)\)", text)) == kept


def test_a_codec_is_named_in_its_own_module_and_in_the_list() -> None:
    naming = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if '"lz4"' in path.read_text(encoding="utf-8")
    }
    assert naming == {"codecs/lz4.py", "codecs/__init__.py"}
