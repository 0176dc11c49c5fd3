"""The result of a trial, kept for later runs on the same payload.

It is in a file under a digest of the payload's state, the blocks tried, and the codecs.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
import zipfile
import zlib
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
    """Return the file of a trial's result; None if the payload's state is unknown.

    :param request: what is tried.
    """
    state = getattr(payload, "state", None)
    methods = [f"{vars(codec)} {codec.implementation}" for codec in CODECS.values()]
    known = f"{__version__} {sys.version} {request} {methods} {state}"
    name = hashlib.sha256(known.encode()).hexdigest()
    return None if state is None else result_file(name)


def load_result(path: Path | None) -> TrialResult | None:
    """Return the result of an earlier run; None without such a run."""
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            return _result(file.read(MOST_BYTES))
    except _BROKEN:
        return None


def save_result(path: Path | None, result: TrialResult) -> None:
    """Keep the result of this run."""
    if path is not None and result.stored is not None:
        content = _content(result, result.stored)
        if len(content) < MOST_BYTES:
            keep_result(path, content)


def _content(result: TrialResult, stored: StoredSizes) -> bytes:
    layout = stored.layout
    arrays: dict[str, Any] = {name: getattr(layout, name) for name in _LAYOUT}
    for codec, sizes in stored.codecs.items():
        arrays |= {f"{codec} {name}": getattr(sizes, name) for name in _SIZES}
    intervals = {
        **{name: codec.image_bytes for name, codec in result.codecs.items()},
        _DIFFERENCE: result.lzo_less_xz_bytes,
    }
    about = {
        "paths": layout.paths,
        "same_as": dict(layout.same_as),
        "tool": result.tool,
        "notes": result.notes,
        "sizes": {name: each and astuple(each) for name, each in intervals.items()},
    }
    text = json.dumps(about).encode("utf-8", "surrogatepass")
    target = io.BytesIO()
    np.savez(target, about=np.frombuffer(text, dtype=np.uint8), **arrays)
    return target.getvalue()


def _result(content: bytes) -> TrialResult | None:
    with zipfile.ZipFile(io.BytesIO(content)) as members:
        if any(each.compress_type for each in members.infolist()):
            return None  # it would take more memory than the file
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        about = json.loads(arrays["about"].tobytes().decode("utf-8", "surrogatepass"))
        intervals = {
            name: ends and Interval(low=ends[0], mid=ends[1], high=ends[2])
            for name, ends in about["sizes"].items()
        }
        difference = intervals.pop(_DIFFERENCE)
        layout = Layout(
            paths=tuple(about["paths"]),
            same_as=about["same_as"],
            **{name: arrays[name] for name in _LAYOUT},
        )
        sizes = {
            codec: BlockSizes(**{name: arrays[f"{codec} {name}"] for name in _SIZES})
            for codec in intervals
            if f"{codec} errors" in arrays
        }
    stored = StoredSizes(layout=layout, codecs=sizes)
    tool, notes = about["tool"], tuple(about["notes"])
    return sampled_result(stored, intervals, difference, tool=tool, notes=notes)
