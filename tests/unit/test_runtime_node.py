"""Programs in JavaScript, run by Node."""

from __future__ import annotations

import pytest

from elf_files import make_elf
from guesses import found


def test_node_program_reads_what_it_requires() -> None:
    files = {
        "usr/bin/node": make_elf(),
        "app/main.js": b"const a = require('./lib/a');\nrequire('pkg');\n",
        "app/lib/a.js": b"import b from '../b.mjs'\n",
        "app/b.mjs": b"",
        "app/node_modules/pkg/package.json": b'{"main": "dist/start.js"}',
        "app/node_modules/pkg/dist/start.js": b"require('deep')",
        "usr/share/nodejs/deep/index.js": b"",
        "app/other.js": b"",
    }
    named = found(files, "usr/bin/node $SNAP/app/main.js")
    assert set(named) == set(files) - {"app/other.js"}


@pytest.mark.parametrize("text", [b"{", b"[]", b'{"main": 1}', b"[" * 100_000])
def test_package_that_says_nothing_falls_back_on_its_index(text: bytes) -> None:
    files = {
        "usr/bin/node": make_elf(),
        "app/main.js": b"require('./pkg')",
        "app/pkg/package.json": text,
        "app/pkg/index.js": b"",
    }
    assert "app/pkg/index.js" in found(files, "usr/bin/node app/main.js")
