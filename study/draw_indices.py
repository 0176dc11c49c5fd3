"""What Debian's indices say of packages, for ``draw.py``.

apt fetches ``Packages`` and ``Contents`` of a release into a directory of its own, from
the mirror that this machine's apt uses, and checks their signatures.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from apt_tools import debian_mirror, run_tool

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

ARCHITECTURE = "amd64"
_APT_HELPER = "/usr/lib/apt/apt-helper"
_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
# As in apt-file's configuration: Contents isn't among what apt fetches by default.
_CONTENTS = {
    "MetaKey": "$(COMPONENT)/Contents-$(ARCHITECTURE)",
    "ShortDescription": "Contents",
    "Description": "$(RELEASE)/$(COMPONENT) $(ARCHITECTURE) Contents",
}
_FOLDERS = re.compile(
    r"usr/(?:bin|games)/[^/]+|usr/share/applications/[^/]+\.desktop|"
    r"(?:usr/)?lib/systemd/system/[^/]+\.service"
)
_FIELD = re.compile(r"^([A-Z][A-Za-z-]*): (.*)$", flags=re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """One binary package of a release.

    :param depends: names of what it needs directly, alternatives included, without
        the suffix ``t64`` of trixie's libraries.
    :param built_using: names of the source packages that are linked in statically.
    :param files: of its files, programs, desktop files and units: paths from the root.
    """

    release: str
    name: str
    version: str
    source: str
    section: str
    depends: frozenset[str]
    built_using: frozenset[str]
    files: tuple[str, ...]


def read_release(release: str, directory: Path) -> list[Package]:
    """Fetch a release's indices with apt, where they aren't there, and read them.

    :param directory: where apt keeps them; made if it isn't there.
    :raises PrimeError: if apt fails.
    """
    lists = directory / release / "lists"
    if not lists.is_dir():
        _fetch(release, directory / release)
    texts = {
        path.name.partition("_main_")[2]: path
        for path in sorted(lists.glob("*_main_*"))
    }

    def text(name: str) -> str:
        return run_tool([_APT_HELPER, "cat-file", str(texts[name])])

    names = {name.partition(".")[0]: name for name in texts}
    contents = [
        line
        for kind in ("all", ARCHITECTURE)
        for line in text(names[f"Contents-{kind}"]).splitlines()
    ]
    index = text(names[f"binary-{ARCHITECTURE}_Packages"])
    return [*parse_packages(release, index, parse_contents(contents))]


def _fetch(release: str, directory: Path) -> None:
    for name in ("lists/partial", "cache/archives/partial"):
        (directory / name).mkdir(parents=True)
    (directory / "status").touch()
    sources = directory / "sources.list"
    source = f"deb [signed-by={_KEYRING}] {debian_mirror()} {release} main\n"
    sources.write_text(source, encoding="utf-8")
    options = {
        "Acquire::Languages": "none",
        "APT::Architecture": ARCHITECTURE,
        "APT::Architectures": ARCHITECTURE,
        "APT::Sandbox::User": "",
        "Dir::Cache": str(directory / "cache"),
        "Dir::Etc::sourcelist": str(sources),
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::State::lists": str(directory / "lists"),
        "Dir::State::status": str(directory / "status"),
    }
    target = "Acquire::IndexTargets::deb::Contents-deb"
    options |= {f"{target}::{key}": value for key, value in _CONTENTS.items()}
    words = [f"--option={key}={value}" for key, value in options.items()]
    run_tool(["apt-get", "--quiet", *words, "update"])


def parse_packages(
    release: str, index: str, files: Mapping[str, Iterable[str]]
) -> Iterator[Package]:
    """Yield the packages of a ``Packages`` index.

    :param files: by package, as ``parse_contents`` returns them.
    """
    for paragraph in index.split("\n\n"):
        fields: dict[str, str] = dict(_FIELD.findall(paragraph))
        if not fields:
            continue
        name = fields["Package"]
        needs = f"{fields.get('Pre-Depends', '')},{fields.get('Depends', '')}"
        linked = ",".join(value for key, value in fields.items() if "-Using" in key)
        yield Package(
            release=release,
            name=name,
            version=fields["Version"],
            source=fields.get("Source", name).partition(" ")[0],
            section=fields.get("Section", ""),
            depends=frozenset(each.removesuffix("t64") for each in _names(needs)),
            built_using=frozenset(_names(linked)),
            files=tuple(sorted(files.get(name, ()))),
        )


def _names(relation: str) -> Iterator[str]:
    """Yield the package names of a dependency field."""
    for each in re.split(r"[,|]", relation):
        if name := re.match(r"\s*([a-z0-9][a-z0-9+.-]*)", each):
            yield name[1]


def parse_contents(lines: Iterable[str]) -> dict[str, list[str]]:
    """Return programs, desktop files and units by package, of a ``Contents`` index."""
    files: dict[str, list[str]] = {}
    for line in lines:
        path, _, packages = line.rstrip().rpartition(" ")
        path = path.rstrip()
        if _FOLDERS.fullmatch(path):
            for package in packages.split(","):
                files.setdefault(package.rpartition("/")[2], []).append(path)
    return files
