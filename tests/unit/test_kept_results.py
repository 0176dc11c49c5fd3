"""Results of blocks kept for later runs: the same answers, with less work."""

from __future__ import annotations

import os
import random
import struct
import zlib
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forged_image import file_inode, tree
from payloads import make_payload
from snapcraft_compression_advisor.cli.main import main
from snapcraft_compression_advisor.codecs.deflate import Gzip
from snapcraft_compression_advisor.codecs.library import BoundCodec
from snapcraft_compression_advisor.codecs.xz import Xz
from snapcraft_compression_advisor.core.errors import BadDataError
from snapcraft_compression_advisor.core.result_store import (
    VARIABLE,
    ResultStore,
    keeping_results,
    kept_results,
)
from snapcraft_compression_advisor.payload.layout import DataBlock, lay_out
from snapcraft_compression_advisor.payload.source import (
    DirectoryPayload,
    SnapPayload,
)
from snapcraft_compression_advisor.squashfs.image import Image
from snapcraft_compression_advisor.trial.kept import Block, compressed_bytes, method_of
from snapcraft_compression_advisor.trial.look import closer_look, quick_look
from snapcraft_compression_advisor.trial.sampled import LEAST, run_sampled_trial

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytest_mock import MockerFixture

    from snapcraft_compression_advisor.payload.source import Payload
    from snapcraft_compression_advisor.trial.result import TrialResult

LENGTH = 5_000
TEXT = b"launch block codec table " * (LENGTH // 25)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def store() -> Iterator[ResultStore]:
    with keeping_results():
        store = kept_results()
        assert store is not None
        yield store


def contents(*, seed: int = 7) -> dict[str, bytes]:
    chance = random.Random(seed)
    return {
        f"file{number}": chance.randbytes(chance.randrange(1, 9000))
        + b"words " * chance.randrange(1, 40_000)
        for number in range(20)
    } | {"zeros": bytes(300_000)}


def attempt(payload: Payload) -> TrialResult:
    return run_sampled_trial(
        payload,
        wanted=lambda: ("file1", "file2"),
        progress=lambda _: None,
        decided=lambda _: False,
        effort=LEAST,
    )


def attempt_keeping(payload: Payload) -> TrialResult:
    with keeping_results():
        return attempt(payload)


def block(contents: bytes) -> Block:
    payload = make_payload({"file": contents})
    return Block(payload, lay_out(payload).block(0))


def test_answers_are_the_same_without_results_with_new_ones_and_with_kept_ones() -> (
    None
):
    payload = make_payload(contents())
    without = attempt(payload)
    assert attempt_keeping(payload) == without
    assert attempt_keeping(payload) == without


def test_only_changed_blocks_are_compressed_again(mocker: MockerFixture) -> None:
    files = contents()
    attempt_keeping(make_payload(files))
    spied = mocker.spy(BoundCodec, "compress")
    attempt_keeping(make_payload(files))
    tables = spied.call_count
    files["file3"] = files["file3"][:-1] + b"!"
    payload = make_payload(files)
    found = attempt_keeping(payload)
    changed = {call.args[1] for call in spied.call_args_list[tables:]}
    assert any(files["file3"].endswith(each[-9:]) for each in changed)
    assert not any(each in files["file4"] for each in changed if len(each) > 100)
    assert found == attempt(payload)


def test_file_that_changes_behind_its_times_is_read_as_it_is(tmp_path: Path) -> None:
    root = tmp_path / "prime"
    (root / "meta").mkdir(parents=True)
    (root / "meta" / "snap.yaml").write_text("name: x\nversion: '1'\n")
    file = root / "file1"
    file.write_bytes(random.Random(1).randbytes(200_000))
    before = file.stat()
    attempt_keeping(DirectoryPayload(root))
    file.write_bytes(b"x" * 200_000)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    payload = DirectoryPayload(root)
    assert attempt_keeping(payload) == attempt(payload)


def test_what_is_kept_is_of_the_contents_that_were_read(mocker: MockerFixture) -> None:
    payload = make_payload({"file1": TEXT})
    other = random.Random(1).randbytes(LENGTH)
    read = mocker.patch.object(type(payload), "read", side_effect=[other, TEXT])
    one, two = (Block(payload, lay_out(payload).block(0)) for _ in range(2))
    with keeping_results():
        assert compressed_bytes(one, Xz()) == LENGTH
        assert compressed_bytes(two, Xz()) == len(Xz().compress(TEXT))
    assert read.call_count == 2


@pytest.mark.parametrize(
    "sizes",
    [(0,), (-1,), (LENGTH + 1,), (float("nan"),), (float("inf"),), (9, 9), ()],
)
def test_sizes_that_no_block_has_are_not_believed(
    store: ResultStore, mocker: MockerFixture, sizes: tuple[float, ...]
) -> None:
    stub = mocker.patch.object(store, "get")
    stub.return_value = struct.pack(f"<{len(sizes)}d", *sizes)
    assert compressed_bytes(block(TEXT), Xz()) == len(Xz().compress(TEXT))


@pytest.mark.parametrize("value", [b"", b"1234567", b"123456789"])
def test_bytes_that_are_no_sizes_are_not_believed(
    store: ResultStore, mocker: MockerFixture, value: bytes
) -> None:
    mocker.patch.object(store, "get", return_value=value)
    assert compressed_bytes(block(TEXT), Xz()) == len(Xz().compress(TEXT))


def test_sizes_that_a_block_can_have_are_used(
    store: ResultStore, mocker: MockerFixture
) -> None:
    mocker.patch.object(store, "get", return_value=struct.pack("<d", 77))
    assert compressed_bytes(block(TEXT), Xz()) == 77


def test_zeros_are_not_kept(store: ResultStore, mocker: MockerFixture) -> None:
    spied = mocker.spy(store, "put")
    look = closer_look()
    sizes = block(bytes(LENGTH)).sizes(look.method, look.at, columns=look.columns)
    assert sizes == (0,) * look.columns
    assert not spied.called


def test_methods_differ_by_codec_level_library_and_look(mocker: MockerFixture) -> None:
    methods = [
        method_of(Gzip(level=1)),
        method_of(Gzip(level=9)),
        method_of(Xz(preset=1)),
        method_of(Xz()),
        quick_look().method,
        closer_look().method,
        closer_look(known="xz").method,
    ]
    mocker.patch.object(Xz, "implementation", "liblzma 9.9")
    methods += [method_of(Xz()), closer_look().method]
    assert len(set(methods)) == len(methods)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(
    st.lists(
        st.tuples(st.sampled_from([TEXT, TEXT[1:], b"a", b"ab" * 999]), st.booleans()),
        max_size=8,
    )
)
def test_any_blocks_in_any_order_have_the_sizes_that_they_have_alone(
    asked: list[tuple[bytes, bool]],
) -> None:
    with keeping_results():
        for part, fast in asked:
            codec = Gzip(level=1 if fast else 9)
            assert compressed_bytes(block(part), codec) == len(codec.compress(part))


@pytest.fixture
def mounted(tmp_path: Path, mocker: MockerFixture) -> Iterator[Callable[..., Block]]:
    """Return what makes a snap of one compressed block and returns that."""
    mocker.patch("snapcraft_compression_advisor.payload.source._read_metadata")
    with ExitStack() as until:

        def make(data: bytes, *, block_bytes: int = 131_072) -> Block:
            size = {
                "block_size": block_bytes,
                "block_log": block_bytes.bit_length() - 1,
            }
            record = file_inode(2, size=len(TEXT), words=[len(data)])
            image = tree((b"file", record), **size)
            image.data = data
            path = tmp_path / f"{len(list(tmp_path.iterdir()))}.snap"
            path.write_bytes(image.build())
            payload = SnapPayload(path, until.enter_context(Image.open(path)))
            return Block(payload, DataBlock(path="file", offset=0, raw_bytes=len(TEXT)))

        yield make


@pytest.mark.parametrize(("block_bytes", "read"), [(131_072, 1), (262_144, 2)])
def test_block_of_a_snap_that_is_known_is_not_decompressed(
    mounted: Callable[..., Block], mocker: MockerFixture, block_bytes: int, read: int
) -> None:
    spied = mocker.spy(Gzip, "decompress")
    for _ in range(2):
        with keeping_results():
            of_snap = mounted(zlib.compress(TEXT), block_bytes=block_bytes)
            assert compressed_bytes(of_snap, Xz()) == len(Xz().compress(TEXT))
    assert spied.call_count == read


@pytest.mark.parametrize("block_bytes", [131_072, 262_144])
def test_damaged_block_of_a_snap_is_an_error_as_before(
    mounted: Callable[..., Block], block_bytes: int
) -> None:
    data = bytearray(zlib.compress(TEXT))
    with keeping_results():
        compressed_bytes(mounted(bytes(data), block_bytes=block_bytes), Xz())
    data[-1] ^= 1
    with keeping_results(), pytest.raises(BadDataError):
        compressed_bytes(mounted(bytes(data), block_bytes=block_bytes), Xz())


@pytest.mark.parametrize(
    "options", [["advise"], ["lint"], ["refresh", "prime"], ["diff", "prime"]]
)
def test_every_command_keeps_results_unless_told_not_to(
    place: Path,
    tmp_path: Path,
    options: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "prime" / "meta").mkdir(parents=True)
    (tmp_path / "prime" / "meta" / "snap.yaml").write_text("name: x\nversion: '1'\n")
    (tmp_path / "prime" / "file").write_bytes(TEXT)
    said = []
    for more in (["--no-cache"], [], []):
        main([options[0], *more, *options[1:], "prime"])
        said.append(capsys.readouterr().out)
        assert place.exists() == (more == [])
        monkeypatch.setenv(VARIABLE, str(place))
    assert said[0]
    assert said[0] == said[1] == said[2]
