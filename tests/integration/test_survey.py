"""Surveys of built snaps, with the real tools that make caches and images."""

import compileall
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from elf_files import elf_in
from image_sources import mksquashfs, noise, text
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.payload.needless import needless_parts
from snapcraft_compression_advisor.payload.source import open_payload
from snapcraft_compression_advisor.payload.survey import Survey, take_survey
from snapcraft_compression_advisor.squashfs.image import Image
from snapcraft_compression_advisor.trial.sampled import run_sampled_trial
from trees import fill

SNAP_YAML = "name: sample\nbase: bare\n"
SITE = f"lib/python3.{sys.version_info.minor}/site-packages"
MODIFIED_S = 1_700_000_000


def make_prime(root: Path, files: Mapping[str, bytes]) -> Path:
    """Fill a prime directory; nothing in it changed since the same second."""
    fill(root, {"meta/snap.yaml": SNAP_YAML, **files})
    set_times(root)
    return root


def set_times(root: Path) -> None:
    for path in (root, *root.rglob("*")):
        os.utime(path, (MODIFIED_S, MODIFIED_S), follow_symlinks=False)


def packed(prime: Path, *options: str) -> Path:
    """Return the snap of a prime directory, packed anew."""
    snap = prime.parent / "sample.snap"
    snap.unlink(missing_ok=True)
    mksquashfs(prime, snap, "-noappend", "-comp", "xz", "-no-fragments", *options)
    return snap


def survey(path: Path) -> Survey:
    with open_payload(path) as payload:
        return take_survey(payload)


def test_pythons_own_bytecode_fits_until_its_source_changes(tmp_path: Path) -> None:
    prime = make_prime(
        tmp_path / "prime",
        {
            f"{SITE}/hello.py": b"print('hello')\n",
            f"bin/python3.{sys.version_info.minor}": b"",
        },
    )
    source = prime / SITE / "hello.py"
    assert [each.state for each in survey(packed(prime)).caches] == ["missing"]
    assert compileall.compile_file(source, quiet=1)
    assert not survey(prime).caches
    assert not survey(packed(prime)).caches
    os.utime(source, (MODIFIED_S + 1, MODIFIED_S + 1))
    assert not survey(prime).caches
    assert [each.state for each in survey(packed(prime)).caches] == ["stale"]
    source.write_bytes(b"print('hello, world')\n")
    assert [each.state for each in survey(prime).caches] == ["stale"]


@pytest.mark.skipif(
    not shutil.which("glib-compile-schemas"), reason="no glib-compile-schemas here"
)
def test_glibs_own_compiled_schemas_are_understood(tmp_path: Path) -> None:
    schemas = "usr/share/glib-2.0/schemas"
    xml = (
        b"<schemalist><schema id='org.sample' path='/org/sample/'>"
        b"<key name='first' type='b'><default>true</default></key>"
        b"<key name='second' type='s'><default>''</default></key>"
        b"</schema></schemalist>"
    )
    prime = make_prime(
        tmp_path / "prime",
        {f"{schemas}/org.sample.gschema.xml": xml, "usr/lib/libgio-2.0.so.0": b""},
    )
    assert [each.state for each in survey(prime).caches] == ["missing"]
    subprocess.run(["glib-compile-schemas", prime / schemas], check=True)
    assert not survey(prime).caches
    changed = xml.replace(b"second", b"third")
    (prime / schemas / "org.sample.gschema.xml").write_bytes(changed)
    assert [each.state for each in survey(packed(prime)).caches] == ["stale"]


@pytest.mark.skipif(
    not shutil.which("gtk-update-icon-cache"), reason="no gtk-update-icon-cache here"
)
def test_gtks_own_icon_cache_is_understood(tmp_path: Path) -> None:
    theme = "usr/share/icons/sample"
    files = {f"{theme}/16x16/apps/icon{n}.svg": b"<svg/>" for n in range(120)}
    index = b"[Icon Theme]\nName=x\nDirectories=16x16/apps\n[16x16/apps]\nSize=16\n"
    prime = make_prime(
        tmp_path / "prime",
        {**files, f"{theme}/index.theme": index, "usr/lib/libgtk-3.so.0": b""},
    )
    subprocess.run(["gtk-update-icon-cache", "--force", prime / theme], check=True)
    set_times(prime)
    assert not survey(prime).caches
    assert not survey(packed(prime)).caches
    os.utime(prime / theme, (MODIFIED_S + 1, MODIFIED_S + 1))
    assert [each.state for each in survey(packed(prime)).caches] == ["stale"]


@pytest.mark.skipif(not shutil.which("strip"), reason="no strip here")
def test_what_strip_takes_out_is_what_was_found(tmp_path: Path) -> None:
    program = Path(sys.executable).resolve()
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", "-o", stripped, program], check=True)
    assert found_in(stripped) == 0
    shrunk = program.stat().st_size - stripped.stat().st_size
    assert found_in(program) == pytest.approx(shrunk, abs=8192)  # headers, alignment


def found_in(path: Path) -> int:
    """Return the bytes of needless sections of a file."""
    elf = elf_in(path.read_bytes())
    return sum(end - start for start, end in needless_parts(elf)) if elf else 0


def test_stored_bytes_are_those_of_the_blocks_of_the_image(tmp_path: Path) -> None:
    """A small payload's blocks are all tried, so that nothing is left to predict."""
    prime = make_prime(
        tmp_path / "prime",
        {"doc/a": text(30_000), "doc/b": text(900), "bin/x": noise(300_000, 1)},
    )
    snap = packed(prime)
    with Image.open(snap) as image:
        images_own = sum(
            entry.blocks.stored_bytes
            for entry in image.walk()
            if entry.blocks is not None and entry.path.startswith("doc/")
        )
    for path in (prime, snap):
        with open_payload(path) as payload:
            trial = run_sampled_trial(payload, progress=lambda _: None)
        assert trial.stored is not None
        freed = trial.stored.freed(["doc/a", "doc/b"], "xz")
        assert freed == Interval.exactly(images_own)
