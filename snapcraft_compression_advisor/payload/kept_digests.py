"""Digests of what files contain, kept for later runs by the files' states."""

from __future__ import annotations

import hashlib
import struct
import threading

from ..core.result_store import kept_results
from .file_state import STATE_BYTES, StatesOfFiles

DIGEST_BYTES = 16
"""Where a digest is longer, so many of its first bytes are kept."""
MOST_DIGESTS = 200_000
"""Of one directory; some 11 MB. The files of the others are read again."""

HEAD = -1
WHOLE = -2
"""Parts of a file; any other is the data block that starts at that byte."""

_FORMAT = b"digests of files 1 "
_PART = struct.Struct("<q")
_DIGEST_START = STATE_BYTES + _PART.size
_RECORD_BYTES = _DIGEST_START + DIGEST_BYTES


class KeptDigests:
    """Digests of parts of a directory's files, found by this run and by earlier ones.

    All of a directory are one result of the store: to read thousands one by one takes a
    tenth of a second.

    :ivar states: of the directory's files.
    """

    def __init__(self, states: StatesOfFiles) -> None:
        self.states = states
        self._known: dict[bytes, bytes] | None = None
        self._lock = threading.Lock()  # of reading them: threads ask at once
        self._new = False

    def get(self, path: str, part: int) -> bytes | None:
        """Return the digest of a part of a file, ``None`` where it has to be read.

        :param part: :data:`HEAD`, :data:`WHOLE`, or where a data block starts.
        """
        state = self.states.of(path)
        if state is None:
            return None
        return self._digests().get(state + _PART.pack(part))

    def put(self, path: str, part: int, digest: bytes) -> bytes:
        """Keep a digest of what was just read of a file.

        It is kept only if the file is still as it was listed.

        :returns: the digest as it is kept.
        """
        digest = digest[:DIGEST_BYTES]
        state = self.states.of(path)
        if state is not None and kept_results() is not None:
            self._digests()[state + _PART.pack(part)] = digest
            self._new = True
        return digest

    def _digests(self) -> dict[bytes, bytes]:
        """Return all that are known; read them at the first time."""
        if self._known is not None:
            return self._known
        with self._lock:
            if self._known is None:
                store, key = kept_results(), self._key()
                if store is None or key is None:
                    return {}
                self._known = _unpacked(store.get(key) or b"")
                store.before_close(self._save)
        return self._known

    def _key(self) -> bytes | None:
        where = self.states.where
        return None if where is None else hashlib.sha256(_FORMAT + where).digest()

    def _save(self) -> None:
        """Put what is new into the store, without what is of files that are gone."""
        store, key = kept_results(), self._key()
        if not self._new or not self._known or store is None or key is None:
            return
        states = set(self.states.all())
        records = [
            name + digest
            for name, digest in self._known.items()
            if name[:STATE_BYTES] in states
        ]
        store.put(key, b"".join(records[:MOST_DIGESTS]))


def _unpacked(records: bytes) -> dict[bytes, bytes]:
    """Return digests by state and part; none where these aren't whole records."""
    if len(records) % _RECORD_BYTES:
        return {}
    return {
        records[start : start + _DIGEST_START]: records[
            start + _DIGEST_START : start + _RECORD_BYTES
        ]
        for start in range(0, len(records), _RECORD_BYTES)
    }
