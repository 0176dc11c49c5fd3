"""Payloads built from bare paths, for tests without files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from snapcraft_compression_advisor.payload.inventory import Entry, Inventory
from snapcraft_compression_advisor.payload.snap_yaml import SnapMetadata
from snapcraft_compression_advisor.payload.source import PayloadKind
from snapcraft_compression_advisor.squashfs.entry import EntryKind


def make_inventory(
    files: Mapping[str, bytes | int], links: Mapping[str, str] | None = None
) -> Inventory:
    """Return an inventory of executable files and symlinks.

    :param files: contents, or sizes where contents don't matter.
    :param links: symlinks' targets by path.
    """
    entries = [
        Entry(
            path=path,
            kind=EntryKind.FILE,
            size_bytes=content if isinstance(content, int) else len(content),
            allocated_bytes=content if isinstance(content, int) else len(content),
            mode=0o755,
            identity=number,
        )
        for number, (path, content) in enumerate(files.items())
    ]
    for number, (path, target) in enumerate((links or {}).items(), len(entries)):
        entries.append(
            Entry(
                path=path,
                kind=EntryKind.SYMLINK,
                size_bytes=0,
                allocated_bytes=0,
                mode=0o777,
                identity=number,
                link_target=target,
            )
        )
    directories = {
        parent.as_posix() for entry in entries for parent in Path(entry.path).parents
    } - {"."}
    for number, path in enumerate(sorted(directories), len(entries)):
        entries.append(
            Entry(
                path=path,
                kind=EntryKind.DIRECTORY,
                size_bytes=0,
                allocated_bytes=0,
                mode=0o755,
                identity=number,
            )
        )
    return Inventory.of(sorted(entries, key=lambda entry: entry.path))


@dataclass
class MemoryPayload:
    """A prime directory that exists in memory only."""

    files: Mapping[str, bytes]
    snap: SnapMetadata
    links: Mapping[str, str] = field(default_factory=dict)
    path: Path = Path("prime")
    kind: PayloadKind = "prime"
    packed_with: str | None = None
    is_remote = False

    def __post_init__(self) -> None:
        """List the files."""
        self.inventory = make_inventory(self.files, self.links)

    def read(self, path: str, *, offset: int, length: int) -> bytes:
        """Return bytes of a file."""
        return self.files[path][offset : offset + length]

    def data_ranges(self, path: str) -> list[tuple[int, int]]:
        """Return the whole file."""
        return [(0, len(self.files[path]))]


def make_payload(
    files: Mapping[str, bytes],
    *,
    links: Mapping[str, str] | None = None,
    **snap: object,
) -> MemoryPayload:
    """Return a payload with a snap named ``hello``, base core24, and these keys."""
    metadata = {"name": "hello", "base": "core24", **snap}
    return MemoryPayload(
        files=files, links=links or {}, snap=SnapMetadata.model_validate(metadata)
    )
