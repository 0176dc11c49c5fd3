"""Probe every image of a directory, and print what that took as JSON.

    python tests/probe_corpus.py DIRECTORY

The first image by name is what the others are compared with. A process of its own, so
that its memory is what the probes take, and a crash in a codec's library can be told.
"""

import json
import signal
import sys
from pathlib import Path
from types import FrameType

from image_probe import probe
from snapcraft_compression_advisor.payload.source import open_payload

LIMIT_S = 5.0
"""Of the processor, for one image: then the probe is stopped, and is a fault."""


def _stop(_number: int, _frame: FrameType | None) -> None:
    message = f"more than {LIMIT_S} s"
    raise RuntimeError(message)


def main() -> None:
    """Probe image after image; note each that ends otherwise than it should."""
    signal.signal(signal.SIGPROF, _stop)
    faults: dict[str, str] = {}
    right: list[str] = []
    first, *others = sorted(Path(sys.argv[1]).iterdir())
    with open_payload(first) as payload:
        for path in others:
            signal.setitimer(signal.ITIMER_PROF, LIMIT_S)
            try:
                if probe(path, payload):
                    right.append(path.name)
            except Exception as error:  # noqa: BLE001 - whatever it is, it's told
                faults[path.name] = repr(error)
            signal.setitimer(signal.ITIMER_PROF, 0)
    print(  # noqa: T201 - its output is what it prints
        json.dumps(
            {
                "images": len(others),
                "faults": faults,
                "right": right,
                "peak_bytes": _peak_bytes(),
            }
        )
    )


def _peak_bytes() -> int:
    """Return this program's peak; ``ru_maxrss`` counts what it was forked from."""
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


if __name__ == "__main__":
    main()
