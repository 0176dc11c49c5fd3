"""Images for the store's preflight: how each is made, and what becomes of it.

The columns were filled in by hand, from mksquashfs's manual, the source of
review-tools and repacks; the tests hold rules and repacks against them.
"""

import os
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


def accepted(
    *options: str, without: tuple[str, ...] = (), codec: str = "xz"
) -> StoreImage:
    """Return a row of options that the store takes."""
    return StoreImage(
        name=" ".join((codec, *options, *(f"no {each}" for each in without))),
        options=options,
        without=without,
        codec=codec,
        same=True,
    )


def refused(
    *options: str,
    rules: str,
    without: tuple[str, ...] = (),
    codec: str = "xz",
    undecided_rules: str = "",
) -> StoreImage:
    """Return a row of options whose repack differs."""
    return StoreImage(
        name=" ".join((codec, *options, *(f"no {each}" for each in without))),
        options=options,
        without=without,
        codec=codec,
        rules=frozenset(rules.split()),
        undecided_rules=frozenset(undecided_rules.split()),
        same=False,
    )


def reviewed(
    *options: str, rules: str, codec: str = "xz", without_root: bool = True
) -> StoreImage:
    """Return a row that the review refuses though root's repack is the same."""
    return StoreImage(
        name=" ".join((codec, *options)),
        options=options,
        codec=codec,
        rules=frozenset(rules.split()),
        same=True,
        same_without_root=without_root,
    )


ACCEPTED = (
    accepted(),
    accepted(codec="lzo"),
    accepted("-b", "128K"),
    accepted("-exports"),
    accepted("-reproducible"),
    accepted("-not-reproducible"),
    accepted("-no-tailends"),
    accepted("-no-hardlinks"),
    accepted("-Xdict-size", "100%"),
    accepted("-Xcompression-level", "8", codec="lzo"),
    accepted("-Xalgorithm", "lzo1x_999", codec="lzo"),
    accepted("-mkfs-time", "12345"),
    accepted("-all-time", "12345"),
    accepted("-root-time", "12345"),
    accepted("-root-mode", "755"),
    accepted("-force-uid", "0", "-force-gid", "0", without=("-all-root",)),
    accepted("-root-owned", without=("-all-root",)),
    accepted("-processors", "1"),
    accepted("-mem", "64M"),
    accepted("-throttle", "1"),
    accepted("-tarstyle"),
    accepted("-keep-as-directory"),
    accepted("-one-file-system"),
    accepted("-exit-on-error"),
    accepted("-no-recovery"),
    accepted("-e", "data/short"),
    accepted("-p", "made f 644 root root echo made"),
    accepted("-p", "data m 1777 root root"),
    accepted("-action", "chmod(o+r)@type(f)"),
    accepted(without=("-noappend",)),
)
"""What mksquashfs has and the store takes."""

REFUSED = (
    refused("-b", "4K", rules="SCA501 SCA511"),
    refused("-b", "64K", rules="SCA501 SCA511"),
    refused("-b", "256K", rules="SCA501 SCA511"),
    refused("-b", "1M", rules="SCA501 SCA511"),
    refused(without=("-no-fragments",), rules="SCA502"),
    refused("-tailends", without=("-no-fragments",), rules="SCA502 SCA504 SCA511"),
    refused("-tailends", rules="SCA504 SCA511"),
    refused("-always-use-fragments", rules="SCA504 SCA511"),
    refused("-action", "no-fragments@true", without=("-no-fragments",), rules="SCA504"),
    refused("-Xdict-size", "50%", rules="SCA503 SCA511"),
    refused("-Xbcj", "x86", rules="SCA503 SCA511"),
    refused("-Xcompression-level", "9", codec="lzo", rules="SCA503 SCA511"),
    refused("-Xcompression-level", "1", codec="lzo", rules="SCA503 SCA511"),
    refused("-Xalgorithm", "lzo1x_1", codec="lzo", rules="SCA503 SCA511"),
    refused("-Xhc", codec="lz4", rules="SCA402 SCA503 SCA511"),
    refused("-noI", rules="SCA504 SCA511"),
    refused("-noId", rules="SCA504 SCA511"),
    refused("-noD", rules="SCA504 SCA511"),
    refused("-noF", rules="SCA504 SCA511"),
    refused("-noX", rules="SCA504 SCA511"),
    refused("-no-duplicates", rules="SCA504"),
    refused("-no-exports", rules="SCA504"),
    refused(without=("-no-xattrs",), rules="SCA504"),
    refused("-xattrs", without=("-no-xattrs",), rules="SCA504"),
    refused("-root-uid", "5", without=("-all-root",), rules="SCA506"),
    refused("-root-gid", "5", without=("-all-root",), rules="SCA506"),
    refused("-force-uid", "1000", without=("-all-root",), rules="SCA506"),
    refused("-force-gid", "1000", without=("-all-root",), rules="SCA506"),
    refused("-nopad", rules="SCA508 SCA511"),
    refused("-no-sparse", rules="SCA509 SCA511"),
    refused("-action", "uncompressed@name(copy*)", rules="", undecided_rules="SCA509"),
)
"""What the store's repack differs from."""

REVIEWED = (
    reviewed(codec="gzip", rules="SCA402"),
    reviewed(codec="zstd", rules="SCA402"),
    reviewed(codec="lz4", rules="SCA402 SCA511"),
    reviewed(codec="lzma", rules="SCA402"),
    reviewed("-root-mode", "700", rules="SCA507"),
    reviewed("-p", "x c 666 root root 1 3", rules="SCA507", without_root=False),
    reviewed("-p", "x b 666 root root 1 3", rules="SCA507", without_root=False),
    reviewed("-p", "x i 644 root root f", rules="SCA507"),
    reviewed("-p", "x i 644 root root s", rules="SCA507"),
    reviewed("-p", "bin/tool m 4755 root root", rules="SCA507", without_root=False),
    reviewed("-p", "bin/tool m 2755 root root", rules="SCA507", without_root=False),
    reviewed("-p", "bin/tool m 1755 root root", rules="SCA507"),
    reviewed("-p", "meta m 700 root root", rules="SCA507"),
)
"""What the review refuses for another reason than a repack that differs."""

STORE_IMAGES = (*ACCEPTED, *REFUSED, *REVIEWED)


def table_text() -> str:
    """Return the table in Markdown, as ``docs/study/store-preflight.md`` has it."""
    lines = [
        "| codec and options | without | findings | undecided | repack |",
        "|---|---|---|---|---|",
    ]
    for row in STORE_IMAGES:
        options = f"`{' '.join((row.codec, *row.options))}`"
        without = f"`{' '.join(row.without)}`" if row.without else ""
        repack = "same" if row.same else "differs"
        if row.same_without_root is False:
            repack = "same as root, else differs"
        cells = (options, without, _ids(row.rules), _ids(row.undecided_rules), repack)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _ids(rules: frozenset[str]) -> str:
    return ", ".join(sorted(rules))
