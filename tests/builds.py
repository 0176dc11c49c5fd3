"""Two builds of a snap without files, for tests of their comparison."""

from collections.abc import Hashable, Mapping
from pathlib import Path

from made_blocks import stored_block
from payloads import make_payload
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.diff.build import Build, FileSizes
from snapcraft_compression_advisor.diff.difference import BuildDifference, Side
from snapcraft_compression_advisor.diff.files import FileChange, FilesDifference
from snapcraft_compression_advisor.diff.launches import LaunchCause, LaunchChange
from snapcraft_compression_advisor.launch.launch_set import LaunchFile, LaunchSet
from snapcraft_compression_advisor.squashfs.entry import ImageBlock
from snapcraft_compression_advisor.trial.result import CodecTrial, blocks_of_files

BLOCK_BYTES = 131_072
MB = 1_000_000


def half_sizes(files: Mapping[str, bytes]) -> FileSizes:
    """Let every file compress to half; equal contents share their blocks."""

    def size(path: str) -> tuple[Hashable, Interval] | None:
        content = files[path]
        return (content, Interval.exactly(len(content) / 2)) if content else None

    return size


def make_build(  # noqa: PLR0913 # keywords with defaults
    files: Mapping[str, bytes],
    *,
    codec: str = "xz",
    launched: Mapping[str, float] | None = None,
    image_bytes: float = 1e6,
    read_share: Interval | None = None,
    stored_share: float = 0.5,
    measured: bool = False,
) -> Build:
    """Return a build.

    :param launched: files that a launch of ``hello`` reads, with each one's share.
    :param read_share: of a guess; a recorded launch where it is left out.
    :param stored_share: of each block, what is left of it.
    :param measured: whether that is an image's own figure.
    """
    launch_set = LaunchSet(
        app="hello",
        source="static" if read_share else "recorded",
        files=tuple(
            LaunchFile(
                path=path,
                size_bytes=len(files[path]),
                blocks=((0, -(-len(files[path]) // BLOCK_BYTES) - 1),),
                shares=(share,),
            )
            for path, share in (launched or {}).items()
        ),
        read_share=read_share or Interval.exactly(1.0),
        seek_share=read_share or Interval.exactly(1.0),
        waited_share=Interval.exactly(1.0),
    )
    sets = {"hello": launch_set}
    return Build(
        payload=make_payload(files, apps={"hello": {"command": "bin/hello"}}),
        codec=codec,
        image_bytes=Interval.exactly(image_bytes),
        sizes=half_sizes(files),
        launch_sets=sets,
        trial=CodecTrial(
            codec=codec,
            image_bytes=Interval.exactly(image_bytes),
            blocks=blocks_of_files(
                {
                    path: _blocks(len(files[path]), stored_share)
                    for path in sorted(
                        {f.path for each in sets.values() for f in each.files}
                    )
                }
            ),
        ),
        measured=measured,
    )


def _blocks(size_bytes: int, share: float) -> tuple[ImageBlock, ...]:
    lengths = [
        min(BLOCK_BYTES, size_bytes - start)
        for start in range(0, size_bytes, BLOCK_BYTES)
    ]
    return tuple(
        stored_block(raw_bytes=length, stored_bytes=int(length * share))
        for length in lengths
    )


def make_difference(
    *, library: str = "usr/lib/libfoo.so", app: str = "calculator"
) -> BuildDifference:
    """Return the difference that issue trackers see: a library that grew."""
    return BuildDifference(
        name="calculator",
        old=_side("old.snap", 44.1),
        new=_side("new.snap", 48.3),
        files=FilesDifference(
            changes=(
                _file(library, 10 * MB, 19 * MB, 3.5, 7.2),
                _file("usr/share/new.svg", None, 600_000, 0, 0.6),
                _file("usr/share/old.svg", 200_000, None, 0.1, 0),
            ),
            unchanged=8_000,
            repacked_bytes=Interval.exactly(0),
        ),
        launches=(
            LaunchChange(
                app=app,
                device="nvme-laptop",
                old_s=Interval(low=0.41, mid=0.73, high=1.19),
                new_s=Interval(low=0.61, mid=1.13, high=1.9),
                change_s=Interval(low=0.19, mid=0.4, high=0.7),
                causes=(
                    LaunchCause(
                        path=library, seconds=0.38, old_bytes=10 * MB, new_bytes=19 * MB
                    ),
                    LaunchCause(
                        path="usr/share/new.svg", seconds=0.02, new_bytes=600_000
                    ),
                    LaunchCause(
                        path="usr/share/old.svg", seconds=-0.001, old_bytes=200_000
                    ),
                ),
                source="static",
            ),
            LaunchChange(
                app=app,
                device="hdd-laptop",
                old_s=Interval(low=1.49, mid=2.65, high=4.69),
                new_s=Interval(low=1.5, mid=2.7, high=4.8),
                change_s=Interval(low=-0.1, mid=0.05, high=0.3),
                causes=(),
                source="static",
            ),
        ),
        notes=("App other is new, so its launch isn't compared.",),
    )


def _side(name: str, size_mb: float) -> Side:
    return Side(
        path=Path(name),
        codec="xz",
        image_bytes=Interval.exactly(size_mb * MB),
        measured=True,
        files=8_002,
    )


def _file(
    path: str, old: int | None, new: int | None, old_mb: float, new_mb: float
) -> FileChange:
    return FileChange(
        path=path,
        change="added" if old is None else "removed" if new is None else "changed",
        old_bytes=old,
        new_bytes=new,
        old_stored_bytes=Interval.exactly(old_mb * MB),
        new_stored_bytes=Interval.exactly(new_mb * MB),
    )
