"""Images for the store's preflight: how each is made, and what becomes of it.

The table is that of docs/study/store-preflight.md. It was filled in by hand, from
mksquashfs's manual, the source of review-tools and repacks; the tests hold rules and
repacks against it.
"""

import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from image_sources import MODIFIED_S, mksquashfs, noise, text

SNAP_OPTIONS = ("-noappend", "-no-fragments", "-all-root", "-no-xattrs")
"""Those of ``snap pack``, but for the codec."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreImage:
    """A row of the table.

    :param name: of the row: mostly the options themselves.
    :param options: of mksquashfs, besides those of ``snap pack``.
    :param without: options of ``snap pack`` that are left out.
    :param rules: that fire, decided.
    :param undecided_rules: that are undecided.
    :param same: whether a repack is the same, byte for byte.
    :param same_without_root: likewise where the repack isn't root's; ``None``: as root.
    """

    name: str
    options: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    codec: str = "xz"
    rules: frozenset[str] = frozenset()
    undecided_rules: frozenset[str] = frozenset()
    same: bool
    same_without_root: bool | None = None

    def pack(self, tree: Path, image: Path) -> None:
        """Write the image."""
        kept = [option for option in SNAP_OPTIONS if option not in self.without]
        mksquashfs(tree, image, "-comp", self.codec, *kept, *self.options)


def write_store_tree(root: Path) -> None:
    """Write files of every kind of block, all times the same."""
    for directory in ("meta", "bin", "data"):
        (root / directory).mkdir(parents=True)
    (root / "meta/snap.yaml").write_text("name: sample\nversion: '1'\n")
    (root / "bin/tool").write_bytes(text(20_000) + noise(50_000, 1))
    (root / "bin/tool").chmod(0o755)
    (root / "data/copy").write_bytes(text(8000))
    (root / "data/copy again").write_bytes(text(8000))
    (root / "data/hard link").hardlink_to(root / "data/copy")
    (root / "data/zeros").write_bytes(text(3000) + bytes(400_000) + b"end")
    (root / "data/short").write_bytes(b"abc" * 50)
    (root / "link").symlink_to("bin/tool")
    for path in (root, *root.rglob("*")):
        os.utime(path, (MODIFIED_S, MODIFIED_S), follow_symlinks=False)


PAGE = Path(__file__).parents[1] / "docs/study/store-preflight.md"


def _row(line: str) -> StoreImage:
    cells = [cell.strip().strip("`") for cell in line.strip("|").split("|")]
    words, without, rules, undecided_rules, repack = cells
    codec, *options = shlex.split(words)
    names = (codec, *options, *(f"no {each}" for each in without.split()))
    return StoreImage(
        name=" ".join(names),
        options=tuple(options),
        without=tuple(without.split()),
        codec=codec,
        rules=frozenset(re.findall(r"SCA\d+", rules)),
        undecided_rules=frozenset(re.findall(r"SCA\d+", undecided_rules)),
        same=repack != "differs",
        same_without_root=False if "else" in repack else None,
    )


_TABLE = PAGE.read_text(encoding="utf-8").partition("| codec and options |")[2]
STORE_IMAGES = [_row(line) for line in _TABLE.partition("\n\n")[0].splitlines()[2:]]
