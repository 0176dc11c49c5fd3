"""Programs in Erlang."""

from __future__ import annotations

from elf_files import make_elf
from guesses import found
from payloads import make_payload
from snapcraft_compression_advisor.launch.guess.candidates import find_candidates
from snapcraft_compression_advisor.launch.launch_set import BlindSpot

ERLANG = "usr/lib/erlang"
FILES = {
    "usr/bin/hello": b"#!/usr/bin/env escript\n%%! +sbtu\nPK",
    "usr/bin/escript": make_elf(),
    f"{ERLANG}/erts-15.2/bin/beam.smp": make_elf(),
    f"{ERLANG}/lib/kernel-10.2/ebin/code.beam": b"x",
    f"{ERLANG}/lib/stdlib-6.2/ebin/lists.beam": b"x",
}


def test_virtual_machine_and_what_it_starts_with_are_read() -> None:
    other = {f"{ERLANG}/lib/ssl-11.2/ebin/ssl.beam": b"x"}
    assert set(found({**FILES, **other}, "usr/bin/hello")) == set(FILES)


def test_modules_are_loaded_when_they_are_called() -> None:
    payload = make_payload(
        FILES, base="bare", apps={"hello": {"command": "usr/bin/hello"}}
    )
    candidates = find_candidates(payload, "hello")
    assert candidates.blind_spots == (
        BlindSpot(reason="computed-import", where="usr/bin/hello"),
    )
    assert (candidates.kind, candidates.blindness) == ("Erlang", "modules")
