"""prime_from_debs.py with the real apt and dpkg, on a repository made by the tests."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from deb_repository import EPOCH, MODULES, Repository, make_repository

missing = [name for name in ("apt-get", "dpkg-deb") if shutil.which(name) is None]
pytestmark = pytest.mark.skipif(bool(missing), reason=f"needs {', '.join(missing)}")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return make_repository(tmp_path_factory.mktemp("repository"))


def names_of(repository: Repository, *arguments: str) -> list[str]:
    done = repository.build("--print-packages", *arguments)
    assert done.returncode == 0, done.stderr
    return [line.split()[0] for line in done.stdout.splitlines()]


def listing(root: Path) -> dict[str, tuple[int, float, str]]:
    """Return mode, time, and content or target by path."""
    found = {}
    for path in sorted(root.rglob("*")):
        entry = path.lstat()
        is_link = path.is_symlink()
        content = str(path.readlink()) if is_link else ""
        if path.is_file() and not is_link:
            content = path.read_text(encoding="utf-8")
        key = str(path.relative_to(root))
        found[key] = (entry.st_mode, entry.st_mtime, content)
    return found


def test_the_closure_takes_alternatives_and_providers_and_leaves_the_base_out(
    repository: Repository,
) -> None:
    assert names_of(repository, "game") == ["game", "game-data", "libengine1", "viewer"]


@pytest.mark.parametrize(
    ("package", "status", "said"),
    [
        ("no-such-package", os.EX_NOINPUT, "apt knows no package named no-such"),
        ("impossible", os.EX_UNAVAILABLE, "impossible : Depends: nothing"),
        ("clash", os.EX_UNAVAILABLE, "apt-get failed"),
    ],
)
def test_a_closure_that_cant_be_is_one_message(
    repository: Repository, tmp_path: Path, package: str, status: int, said: str
) -> None:
    done = repository.build(package, "-o", str(tmp_path / "prime"))
    assert done.returncode == status
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_prime_directory_is_what_a_snap_ships(
    repository: Repository, tmp_path: Path
) -> None:
    prime = tmp_path / "prime"
    done = repository.build("game", "-o", str(prime))
    assert done.returncode == 0, done.stderr
    found = listing(prime)
    assert found["usr/bin/game"][0] & 0o7777 == 0o755
    assert found["usr/share/game/data"][0] & 0o7777 == 0o644
    assert found["usr/bin/game-link"][2] == "game"
    assert found["usr/bin/outside"][2] == "/etc/outside"
    assert not {"DEBIAN", "bin/bash", "usr/lib/libssl.so.3"} & set(found)
    assert {time for _, time, _ in found.values()} == {EPOCH}
    assert [path.name for path in tmp_path.iterdir()] == ["prime"]
    desktop = found["meta/gui/game.desktop"][2]
    assert "Exec=game %U" in desktop


def test_the_same_packages_give_the_same_tree_without_downloads(
    repository: Repository, tmp_path: Path
) -> None:
    first = repository.build("game", "-o", str(tmp_path / "first"))
    second = repository.build("game", "-o", str(tmp_path / "second"))
    assert first.returncode == second.returncode == 0
    assert "to download" not in second.stderr
    assert listing(tmp_path / "first") == listing(tmp_path / "second")


def test_triggers_are_run_with_tools_that_are_not_installed(
    repository: Repository, tmp_path: Path
) -> None:
    prime = tmp_path / "prime"
    done = repository.build("desktop-app", "-o", str(prime))
    assert done.returncode == 0, done.stderr
    found = listing(prime)
    assert found["usr/share/glib-2.0/schemas/gschemas.compiled"][2] == "<schemalist/>"
    loaders = f"{MODULES}/gdk-pixbuf-2.0/2.10.0"
    assert found[f"{loaders}/loaders.cache"][2] == '"bmp.so"\n"bmp" 5\n'
    assert "../../usr/share/fonts" in found["etc/fonts/fonts.conf"][2]
    assert not any("glib-compile" in path for path in found)
    assert "Exec=desktop-app %U" in found["meta/gui/desktop-app.desktop"][2]
    environment = YAML(typ="safe").load(prime / "meta" / "snap.yaml")["environment"]
    assert environment["GDK_PIXBUF_MODULE_FILE"] == f"$SNAP/{loaders}/loaders.cache"
    assert environment["LD_LIBRARY_PATH"].endswith(f":$SNAP/{loaders}/loaders")
    assert environment["XDG_DATA_DIRS"] == "$SNAP/usr/share"
    assert {time for _, time, _ in found.values()} == {EPOCH}


def test_a_prime_directory_is_replaced_whole_when_forced(
    repository: Repository, tmp_path: Path
) -> None:
    prime = tmp_path / "prime"
    assert repository.build("game", "-o", str(prime)).returncode == 0
    refused = repository.build("viewer", "-o", str(prime))
    assert refused.returncode == os.EX_CANTCREAT
    forced = repository.build("viewer", "-o", str(prime), "--force")
    assert forced.returncode == 0, forced.stderr
    assert not (prime / "usr" / "bin").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["prime"]


@pytest.mark.skipif(shutil.which("snap") is None, reason="needs snap, of snapd")
def test_snap_pack_takes_the_prime_directory(
    repository: Repository, tmp_path: Path
) -> None:
    prime = str(tmp_path / "prime")
    assert repository.build("game", "-o", prime).returncode == 0
    subprocess.run(["snap", "pack", "--check-skeleton", prime], check=True)
    pack = ["snap", "pack", "--compression=lzo", prime, str(tmp_path)]
    subprocess.run(pack, check=True, capture_output=True)
    assert [path.name for path in tmp_path.glob("game_2.0-1_*.snap")]
