"""The rounds of a trial, kept for later runs on the same payload.

A file holds what each round came to, under a digest of the payload's state, of what was
tried and with what. A later run goes through the same rounds and stops at the same one,
so its answer is the same as without the file.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from ..codecs import CODECS
from ..core.result_store import MOST_BYTES, keep_result, result_file
from ..core.units import Interval
from ..payload.layout import Layout
from .result import TrialResult, sampled_result
from .stored import BlockSizes, StoredSizes

if TYPE_CHECKING:
    from pathlib import Path

    from ..payload.source import Payload

_BROKEN = (
    *(OSError, EOFError, KeyError, ValueError, TypeError, NotImplementedError),
    *(zipfile.BadZipFile, zlib.error),
)
"""What reading a damaged file raises."""
_LAYOUT = ("sizes", "first_block", "holes")
_SIZES = ("stored_bytes", "errors", "runs")
_DIFFERENCE = "lzo less xz"


def saved_file(payload: Payload, request: object) -> Path | None:
    """Return where the rounds of a trial are kept; None if the payload's state isn't.

    :param request: what is tried.
    """
    state = getattr(payload, "state", None)
    methods = [f"{vars(codec)} {codec.implementation}" for codec in CODECS.values()]
    known = f"{__version__} {sys.version} {request} {methods} {state}"
    name = hashlib.sha256(known.encode()).hexdigest()
    return None if state is None else result_file(name)


def load_rounds(path: Path | None) -> Sequence[TrialResult]:
    """Return the results of an earlier run's rounds; none without such a run."""
    if path is None:
        return ()
    try:
        with path.open("rb") as file:
            return _rounds(file.read(MOST_BYTES))
    except _BROKEN:
        return ()


def save_rounds(path: Path | None, rounds: Sequence[TrialResult]) -> None:
    """Keep what each round of this run came to."""
    if path is not None and len(content := _content(rounds)) < MOST_BYTES:
        keep_result(path, content)


def _content(rounds: Sequence[TrialResult]) -> bytes:
    arrays: dict[str, Any] = {}
    about: dict[str, Any] = {"rounds": []}
    for number, result in enumerate(rounds):
        stored = result.stored
        if stored is None:
            return b""
        layout = stored.layout
        about |= {"paths": layout.paths, "same_as": dict(layout.same_as)}
        arrays |= {name: getattr(layout, name) for name in _LAYOUT}
        intervals = {
            **{name: codec.image_bytes for name, codec in result.codecs.items()},
            _DIFFERENCE: result.lzo_less_xz_bytes,
        }
        about["rounds"].append(
            {
                "tool": result.tool,
                "notes": result.notes,
                "sizes": {k: each and astuple(each) for k, each in intervals.items()},
            }
        )
        for codec, sizes in stored.codecs.items():
            for name in _SIZES:
                arrays[f"{number} {codec} {name}"] = getattr(sizes, name)
    text = json.dumps(about).encode("utf-8", "surrogatepass")
    target = io.BytesIO()
    np.savez(target, about=np.frombuffer(text, dtype=np.uint8), **arrays)
    return target.getvalue()


def _rounds(content: bytes) -> Sequence[TrialResult]:
    with zipfile.ZipFile(io.BytesIO(content)) as members:
        if any(each.compress_type for each in members.infolist()):
            return ()  # it would take more memory than the file
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        about = json.loads(arrays["about"].tobytes().decode("utf-8", "surrogatepass"))
        layout = Layout(
            paths=tuple(about["paths"]),
            same_as=about["same_as"],
            **{name: arrays[name] for name in _LAYOUT},
        )
        return [
            _result(each, number, layout, arrays)
            for number, each in enumerate(about["rounds"])
        ]


def _result(
    about: Mapping[str, Any], number: int, layout: Layout, arrays: Mapping[str, Any]
) -> TrialResult:
    intervals = {
        name: None if ends is None else Interval(low=ends[0], mid=ends[1], high=ends[2])
        for name, ends in about["sizes"].items()
    }
    difference = intervals.pop(_DIFFERENCE)
    sizes = {
        codec: BlockSizes(
            **{name: arrays[f"{number} {codec} {name}"] for name in _SIZES}
        )
        for codec in intervals
        if f"{number} {codec} errors" in arrays
    }
    stored = StoredSizes(layout=layout, codecs=sizes)
    tool, notes = about["tool"], tuple(about["notes"])
    return sampled_result(stored, intervals, difference, tool=tool, notes=notes)
