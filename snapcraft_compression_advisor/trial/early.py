"""Slow codecs at work while it is still being found out which blocks are drawn.

A draw takes the blocks with the lowest lots (:mod:`.phase`), and those of a long file
follow from its path and length alone. So many of the blocks that are tried in the end
are known as soon as the files are listed, and codecs needn't wait for the layout, the
census and what a launch reads: all these mostly hold the interpreter's lock, so that
one of two cores would wait.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np

from ..codecs import CODECS
from ..payload.inventory import block_count
from ..payload.layout import DataBlock, make_layout
from .kept import Block, compressed_bytes
from .phase import LONG_FILE_BLOCKS, draw_lots

if TYPE_CHECKING:
    from typing_extensions import Self

    from ..payload.source import Payload


class EarlyTries:
    """Sizes of blocks that are likely to be drawn, found one after the other.

    :param names: of codecs.
    :param count: how many blocks will be drawn of the payload.
    :param seed: of the draw.
    """

    def __init__(
        self, payload: Payload, names: Iterable[str], *, count: int, seed: int
    ) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="early")
        self._tries: dict[tuple[DataBlock, str], Future[int]] = {}
        names = tuple(names)
        for place in likely_blocks(payload, count, seed):
            block = Block(payload, place)
            for name in names:
                self._tries[place, name] = self._pool.submit(
                    compressed_bytes, block, CODECS[name]
                )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def size(self, place: DataBlock, name: str) -> int | None:
        """Return what a codec makes of a block; ``None`` where it didn't begin.

        It won't begin afterwards either.

        :raises AdvisorError: where the block couldn't be read.
        """
        found = self._tries.get((place, name))
        return None if found is None or found.cancel() else found.result()


def likely_blocks(payload: Payload, count: int, seed: int) -> Sequence[DataBlock]:
    """Return blocks of long files that a draw will take, those with low lots first.

    Those of files of equal contents aren't all taken, nor those of nothing but zeros;
    but few files are long and have a copy.

    :param count: how many blocks will be drawn of all.
    """
    layout = make_layout(
        [
            (entry.path, entry.size_bytes)
            for entry in payload.inventory.files()
            if block_count(entry.size_bytes) >= LONG_FILE_BLOCKS and not entry.sparse
        ]
    )
    raw_bytes = layout.raw_bytes()
    share = raw_bytes.sum() / max(1, payload.inventory.raw_bytes)
    lowest = np.argsort(draw_lots(layout, seed) / raw_bytes, kind="stable")
    return [layout.block(n) for n in lowest[: int(count * share)].tolist()]
