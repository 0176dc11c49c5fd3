"""prime_from_debs.py with the real apt and dpkg, on a repository made by the tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from ruamel.yaml import YAML

SCRIPT = Path(__file__).parents[1] / "prime_from_debs.py"
# A file's content, or what it links to.
Content = dict[str, str]
EPOCH = 1_600_000_000
MODULES = "usr/lib/x86_64-linux-gnu"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A folder of .deb files and an apt that knows only it."""

    root: Path
    environment: dict[str, str]

    def build(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the script with a plain Python and this repository's apt."""
        cache = f"--cache={self.root / 'cache'}"
        return subprocess.run(
            [sys.executable, "-S", str(SCRIPT), *arguments, cache],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )


def make_deb(pool: Path, fields: str, files: Content) -> str:
    """Build a .deb and return its stanza for the repository's index."""
    control = dict(line.split(": ", 1) for line in fields.splitlines())
    control.setdefault("Version", "1")
    tree = pool / "tree"
    (tree / "DEBIAN").mkdir(parents=True)
    text = "Architecture: all\nMaintainer: Test <t@example.org>\nDescription: test\n"
    text = "".join(f"{key}: {value}\n" for key, value in control.items()) + text
    (tree / "DEBIAN" / "control").write_text(text, encoding="utf-8")
    for name, content in files.items():
        write_entry(tree / name, content)
    for path in [*tree.rglob("*"), tree]:
        os.utime(path, (EPOCH, EPOCH), follow_symlinks=False)
    deb = pool / f"{control['Package']}_{control['Version']}_all.deb"
    build = ["dpkg-deb", "--root-owner-group", "--build", str(tree), str(deb)]
    subprocess.run(build, check=True, capture_output=True)
    shutil.rmtree(tree)
    digest = subprocess.check_output(["sha256sum", str(deb)], text=True).split()[0]
    size = deb.stat().st_size
    return f"{text}Filename: pool/{deb.name}\nSize: {size}\nSHA256: {digest}\n"


def write_entry(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if content.startswith("-> "):
        path.symlink_to(content[3:])
        return
    path.write_text(content, encoding="utf-8")
    if path.parent.name == "bin":
        path.chmod(0o4755)
    else:
        path.chmod(0o755 if content.startswith("#!") else 0o640)


PACKAGES: dict[str, Content] = {
    "Package: game\nVersion: 1:2.0-1\n"
    "Depends: libengine1 (>= 1), nothing | game-data, image-viewer, bash\n"
    "Recommends: game-music": {
        "usr/bin/game": "#!/bin/sh\n",
        "usr/bin/game-link": "-> /usr/bin/game",
        "usr/bin/outside": "-> /etc/outside",
        "usr/share/applications/game.desktop": "[Desktop Entry]\nExec=game %U\n",
    },
    "Package: libengine1\nDepends: libssl3": {"usr/lib/libengine.so.1": "engine"},
    "Package: game-data": {"usr/share/game/data": "data" * 1000},
    "Package: game-music": {"usr/share/game/music": "la"},
    "Package: viewer\nProvides: image-viewer": {"usr/share/viewer": "view"},
    "Package: libssl3\nSection: libs": {"usr/lib/libssl.so.3": "ssl"},
    "Package: bash": {"bin/bash": "bash"},
    "Package: openssh-server\nDepends: libssl3, perl-base": {"usr/sbin/sshd": "ssh"},
    "Package: perl-base": {"usr/bin/perl": "perl"},
    "Package: needs-perl\nDepends: perl-base": {"usr/share/script": "perl"},
    "Package: impossible\nDepends: nothing": {"usr/share/impossible": "x"},
    "Package: suite\nSource: suite-all\nDepends: suite-core": {"usr/share/suite": "x"},
    "Package: suite-core\nSource: suite-all\nDepends: viewer": {"usr/share/core": "x"},
    "Package: other-shell\nConflicts: bash": {"bin/other-shell": "x"},
    "Package: desktop-app": {
        "usr/bin/desktop-app": "#!/bin/sh\n",
        "usr/share/glib-2.0/schemas/app.gschema.xml": "<schemalist/>",
        f"{MODULES}/gdk-pixbuf-2.0/2.10.0/loaders/bmp.so": "loader",
        "etc/fonts/fonts.conf": "<dir>/usr/share/fonts</dir>\n",
        "usr/share/applications/org.example.App.desktop": (
            "[Desktop Entry]\nExec=/usr/bin/desktop-app %U\n"
        ),
        "usr/share/applications/other.desktop": "[Desktop Entry]\nExec=other\n",
    },
    # The tools that triggers run; not of the app, and not installed.
    "Package: libglib2.0-0t64": {
        f"{MODULES}/glib-2.0/glib-compile-schemas": (
            '#!/bin/sh\ncat "$1"/*.xml >"$1/gschemas.compiled"\n'
        ),
        f"{MODULES}/glib-2.0/gio-querymodules": (
            "#!/bin/sh\n[ ! -e $1/bad.so ] || { echo no module; exit 3; }\n"
        ),
    },
    "Package: libgdk-pixbuf-2.0-0": {
        f"{MODULES}/gdk-pixbuf-2.0/gdk-pixbuf-query-loaders": (
            '#!/bin/sh\nfor f; do printf \'"%s"\\n"bmp" 5\\n\' "$f"; done\n'
        )
    },
    "Package: broken-modules": {f"{MODULES}/gio/modules/bad.so": "no module"},
    "Package: unloaded-modules": {f"{MODULES}/gio/modules/unloaded.so": "no module"},
    "Package: clash\nConflicts: game-data\nDepends: game": {"usr/share/clash": "x"},
}


def make_repository(root: Path) -> Repository:
    """Fill an empty directory with a repository and with the state of its apt."""
    (root / "pool").mkdir()
    stanzas = [make_deb(root / "pool", *package) for package in PACKAGES.items()]
    (root / "Packages").write_text("\n".join(stanzas), encoding="utf-8")
    for folder in ("lists/partial", "archives/partial", "parts"):
        (root / folder).mkdir(parents=True)
    source = f"deb [trusted=yes] copy:{root} ./\n"
    (root / "sources.list").write_text(source, encoding="utf-8")
    architecture = subprocess.check_output(["dpkg", "--print-architecture"], text=True)
    (root / "apt.conf").write_text(
        f'Dir::State "{root}";\nDir::State::lists "{root}/lists";\n'
        f'Dir::State::status "{root}/status";\nDir::Cache "{root}";\n'
        f'Dir::Etc::sourcelist "{root}/sources.list";\n'
        f'Dir::Etc::sourceparts "{root}/parts";\n'
        f'Dir::Etc::preferencesparts "{root}/parts";\n'
        f'APT::Architecture "{architecture.strip()}";\nAPT::Sandbox::User "";\n'
        # The machine's own hooks after an update are none of the tests' business.
        "#clear APT::Update::Post-Invoke;\n#clear APT::Update::Post-Invoke-Success;\n",
        encoding="utf-8",
    )
    (root / "status").touch()
    environment = {**os.environ, "APT_CONFIG": str(root / "apt.conf")}
    update = ["apt-get", "update"]
    subprocess.run(update, env=environment, check=True, capture_output=True)
    return Repository(root=root, environment=environment)


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
