"""Project files in the variety of those that people write, made from a number."""

from __future__ import annotations

import random

NUMBER = 240

_HEADS = (
    "",
    "# Copyright 2024\n# compression: lzo\n\n",
    "---\n",
    "%YAML 1.1\n---\n# after the marker\n",
    "\n\n",
    "# vim: set ts=2:\n--- # the only document\n",
)
_TAILS = (
    "",
    "\n",
    "# the end",
    "...\n",
    "...\n# after the end\n",
    "\n\n  # indented\n",
)
_COMMENTS = (
    "",
    "",
    "# a comment\n",
    "\n# ---- section ----\n#compression: xz\n\n",
    "    # indented by hand\n",
    "#\n#\ttabbed: comment\n",
)
_DECLARED = (
    None,
    None,
    "compression: xz",
    "compression: lzo   # was: xz",
    "compression:    'xz'",
    '"compression": "lzo" # quoted',
    "'compression' : xz",
    "compression:\n  xz",
    "compression: ~",
    "compression: lzo  ",
)
_KEYS: tuple[tuple[str, ...], ...] = (
    ("name: demo", "name: 'demo' # it's", 'name: "demo"'),
    ("base: core24", "base:   core22  # LTS", "base: !!str core24"),
    ("version: '1.0'", 'version: "1e3"', "version: git", "adopt-info: main"),
    ("title: Größe — 中文 🎉", "title: 'It''s: #1'", 'title: "tab\\there"'),
    (
        "summary: one line",
        "summary: goes on\n  over two lines\n\n  and a blank one",
        "summary: >-\n  folded\n  compression: lzo\n",
        'summary: "goes on \\\n  escaped"',
    ),
    (
        "description: |\n  compression: xz\n\n    indented\n  # no comment\n",
        "description: |2+\n    more\n  compression: lzo\n\n",
        "description: >\n  a\ttab\tand more\n  base: core18\n",
        "description: 'compression: xz'",
        "description: |-\n    ---\n    ...\n    compression: lzo",
    ),
    ("grade: stable", 'grade: "devel"'),
    ("confinement: strict", "confinement: >-\n  classic"),
    (
        "platforms:\n  amd64:\n  arm64: {build-on: [amd64, arm64]}",
        "architectures: [amd64, {build-on: arm64,\n   run-on: all}]",
        "architectures:\n- build-on: [amd64] # here\n- build-on: arm64",
    ),
    (
        "environment:\n  A: &a $SNAP/bin:$PATH\n  B: *a",
        "environment: &env\n    LD_LIBRARY_PATH: $SNAP/lib\n    EMPTY: ''",
        'environment: {"A": \'b\', C: "d\\n"}',
    ),
    (
        (
            "apps:\n  demo: &app\n    command: bin/demo # compression: lzo\n"
            "    plugs: [home, network]\n  other:\n    <<: *app\n    command: bin/other"
        ),
        "apps: {demo: {command: bin/demo, plugs: [home]}}",
        (
            "apps:\n    demo:\n        command: bin/demo\n        environment:\n"
            "            compression: xz"
        ),
        "apps:\n  ? demo\n  : command: bin/demo",
    ),
    (
        (
            "parts:\n  demo:\n    plugin: nil\n    override-build: |\n"
            "      cat > x <<EOF\n      compression: xz\n      EOF\n"
            "      \tmake install\n    compression: lzo"
        ),
        (
            "parts:\n  demo:\n    plugin: make\n    stage-packages:\n    - libc6 # y\n"
            "    - on amd64:\n      - gcc\n    prime: [-usr/share/doc, '-*.a']"
        ),
        "parts:\n\n    demo:\n\n        plugin: dump   \n        source: .\n",
        "parts: {demo: {plugin: nil}}",
    ),
    (
        (
            "components:\n  data:\n    type: standard\n    compression: lzo\n"
            "    summary: x"
        ),
        "layout:\n  /usr/lib/x:\n    bind: $SNAP/usr/lib/x",
        "hooks:\n  configure: {plugs: [network]}",
    ),
    ("lint:\n  ignore:\n  - library:\n    - usr/lib/**", "links: {}", "assumes: []"),
)


def shape(number: int) -> bytes:
    """Return one project file; the same for the same number."""
    chance = random.Random(number)
    blocks = [chance.choice(key) for key in _KEYS if chance.random() < 0.8]
    blocks = blocks or ["name: demo"]
    if number % 3 == 0:
        chance.shuffle(blocks)
    declared = chance.choice(_DECLARED)
    if declared is not None:
        blocks.insert(chance.randint(0, len(blocks)), declared)
    body = "".join(
        chance.choice(_COMMENTS) + block.rstrip("\n") + "\n" for block in blocks
    )
    if chance.random() < 0.1:
        body = body.rstrip("\n")  # no line break at the end
    else:
        body += chance.choice(_TAILS)
    text = chance.choice(_HEADS) + body
    text = text.replace("\n", chance.choice(["\n", "\n", "\r\n", "\r"]))
    return (chance.choice(["", "", "", "\ufeff"]) + text).encode()
