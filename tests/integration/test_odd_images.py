"""Images that a rule can't look into: each such rule is named, and it is no pass."""

import json
import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from elf_files import make_elf
from image_sources import mksquashfs
from snapcraft_compression_advisor.cli.main import main
from trees import fill

SNAP_YAML = b"""\
name: odd
version: '1'
base: core24
architectures: [amd64]
apps: {odd: {command: bin/odd}}
"""
NEEDLESS = (
    "usr/lib/libx.a",
    "usr/include/x.h",
    "usr/share/man/man1/x.1",
    "var/cache/apt/x",
)
SHIPPED = {"SCA303", "SCA304", "SCA305", "SCA306"}
PLAIN = ("-no-fragments",)
ORDER, COST, CACHES = (
    {"SCA509"},
    {"SCA202"},
    {f"SCA{number}" for number in range(210, 217)},
)
SCHEMAS = "usr/share/glib-2.0/schemas"
UNREADABLE = 8 * 1024 * 1024
ODD: Mapping[str, tuple[tuple[str, ...], Mapping[str, bytes], set[str]]] = {
    "xz": (("-comp", "xz", *PLAIN), {}, set()),
    "xz-fragments": (("-comp", "xz"), {}, ORDER),
    "gzip": (("-comp", "gzip", *PLAIN), {}, set()),
    "gzip-fragments": (("-comp", "gzip"), {}, ORDER),
    "zstd": (("-comp", "zstd", *PLAIN), {}, set()),
    "zstd-fragments": (("-comp", "zstd"), {}, ORDER),
    "lz4": (("-comp", "lz4", *PLAIN), {}, set()),
    "lz4-fragments": (("-comp", "lz4"), {}, ORDER),
    "lzo-fragments": (("-comp", "lzo"), {}, ORDER),
    "large-blocks": (("-comp", "xz", *PLAIN, "-b", "1M"), {}, set()),
    "small-blocks": (("-comp", "xz", *PLAIN, "-b", "4096"), {}, set()),
    "gzip-large-blocks": (("-comp", "gzip", "-b", "1M"), {}, ORDER),
    "stored-data": (("-comp", "xz", *PLAIN, "-noD"), {}, set()),
    "stored-inodes": (("-comp", "xz", *PLAIN, "-noI"), {}, set()),
    "copies": (("-comp", "xz", *PLAIN, "-no-duplicates"), {}, set()),
    "zeros": (("-comp", "xz", *PLAIN, "-no-sparse"), {}, set()),
    "tails": (("-comp", "gzip", "-always-use-fragments"), {}, ORDER),
    "no-program": (("-comp", "xz", *PLAIN), {"bin/odd": b""}, COST),
    "large-cache": (
        ("-comp", "xz", *PLAIN),
        {
            "usr/lib/libgio-2.0.so.0": b"library",
            f"{SCHEMAS}/odd.gschema.xml": b"<schemalist/>",
            f"{SCHEMAS}/gschemas.compiled": b"GVariant" * (UNREADABLE // 8),
        },
        CACHES,
    ),
}


def pack(folder: Path, options: tuple[str, ...], others: Mapping[str, bytes]) -> Path:
    chance = random.Random(1)
    loader = "/lib64/ld-linux-x86-64.so.2"
    files = {
        "meta/snap.yaml": SNAP_YAML,
        "bin/odd": make_elf(interpreter=loader) + chance.randbytes(300_000),
        **{name: b"!<arch>\n" + chance.randbytes(200_000) for name in NEEDLESS},
        **others,
    }
    prime = fill(folder / "prime", {name: files[name] for name in files if files[name]})
    options = ("-noappend", "-all-root", "-no-xattrs", *options)
    return mksquashfs(prime, folder / "odd.snap", *options)


@pytest.mark.parametrize("name", ODD)
def test_rules_that_could_not_look_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    options, files, unchecked = ODD[name]
    image = pack(tmp_path, options, files)
    main(["lint", "--no-cache", "--format", "json", str(image)])
    report = json.loads(capsys.readouterr().out)
    (payload,) = report["payloads"]
    assert {each["rule"] for each in payload["unchecked"]} == unchecked
    assert report["summary"]["unchecked"] == len(unchecked)
    assert {each["rule"] for each in payload["findings"]} >= SHIPPED


def test_what_was_not_looked_at_is_no_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    image = pack(tmp_path, PLAIN, {"bin/odd": b""})
    assert main(["lint", "--no-cache", "--select", "SCA202", str(image)]) == 0
    out = capsys.readouterr().out
    assert "odd: ok, 0 rules checked, 1 rule could not look\n" in out
    assert "not checked: SCA202: what a launch of odd reads isn't known" in out


def test_a_rule_that_is_asked_for_says_what_it_lacks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pack(tmp_path, PLAIN, {})
    arguments = ["--no-cache", str(tmp_path / "prime")]
    main(["lint", "--select", "SCA501", *arguments])
    assert (
        "not checked: SCA501: it looks at built snaps only" in capsys.readouterr().out
    )
    main(["lint", *arguments])
    assert "not checked" not in capsys.readouterr().out


def test_an_unreadable_snap_is_said_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    image = tmp_path / "odd.snap"
    image.write_bytes(b"hsqs" + bytes(200))
    assert main(["lint", str(image)]) != 0
    said = capsys.readouterr()
    assert (said.out + said.err).lower().count("not linted") == 1
    assert "nothing found" not in said.out
