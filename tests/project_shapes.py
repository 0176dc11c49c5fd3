"""Project files in the variety of those that people write."""

from collections.abc import Sequence

from hypothesis import strategies as st

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
VALUES = (
    "compression: xz",
    "compression: lzo   # was: xz",
    "compression:    'xz'",
    '"compression": "lzo" # quoted',
    "'compression' : xz",
    "compression:\n  xz",
    "compression: lzo  ",
)
"""The key with a value; behind them in :data:`_DECLARED`, none and null."""
_DECLARED = (*VALUES, "", "compression:", "compression: ~")
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


@st.composite
def project_files(draw: st.DrawFn, declared: Sequence[str] = _DECLARED) -> bytes:
    """Return a project file, with or without the key."""
    keys = draw(st.lists(st.sampled_from(_KEYS), min_size=1, unique=True))
    blocks = [draw(st.sampled_from(key)) for key in keys]
    if key := draw(st.sampled_from(declared)):
        blocks.insert(draw(st.integers(0, len(blocks))), key)
    body = "".join(
        draw(st.sampled_from(_COMMENTS)) + block.rstrip("\n") + "\n" for block in blocks
    )
    text = draw(st.sampled_from(_HEADS)) + body + draw(st.sampled_from(_TAILS))
    if draw(st.booleans()):
        text = text.rstrip("\n")  # no line break at the end
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n", "\r"])))
    return (draw(st.sampled_from(["", "\ufeff"])) + text).encode()
