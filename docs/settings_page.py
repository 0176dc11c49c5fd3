"""The keys of ``compression-advisor.yaml`` as a page of reference."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from snapcraft_compression_advisor.settings.lint_policy import LintPolicy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_Schema = dict[str, Any]  # JSON, of whatever shape
_HEAD = """\
# Settings

What a project asks for stands in `compression-advisor.yaml` beside its snapcraft.yaml.
`advise` and `lint` find it there from wherever they are run; without one, that in the
current directory counts, and `--policy` names another. Several payloads in one `lint`
have the policy of their own project each. All keys may be left out. Editors check it
with [its schema](../compression-advisor.schema.json). How inside snapcraft the
environment and a part's properties go before it,
[that page](../snapcraft.md#settings) says.

| key | value | default | what it is |
|---|---|---|---|
"""


def render_settings_page() -> str:
    """Return the page on all settings, in Markdown."""
    schema = LintPolicy.model_json_schema(by_alias=True)
    return _HEAD + "\n".join(_rows(schema, schema["$defs"], prefix="")) + "\n"


def _rows(
    schema: _Schema, parts: Mapping[str, _Schema], *, prefix: str
) -> Iterator[str]:
    for name, each in schema["properties"].items():
        key = f"{prefix}{name}"
        item = each.get("items", {})
        if "description" in each:
            cells = (f"`{key}`", _kind(each), _default(each), _cell(each))
            yield f"| {' | '.join(cells)} |"
        for place, mark in ((each, "."), (item, "[].")):
            if "$ref" in place:
                part = parts[place["$ref"].rpartition("/")[2]]
                yield from _rows(part, parts, prefix=f"{key}{mark}")


def _kind(schema: _Schema) -> str:
    """Return in words what values a schema takes."""
    if "$comment" in schema:
        return str(schema["$comment"])
    if "anyOf" in schema:
        kinds = [_kind(each) for each in schema["anyOf"] if each.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        return ", ".join(f"`{value}`" for value in values)
    return _kind_by_type(schema)


def _kind_by_type(schema: _Schema) -> str:
    kind = schema.get("type", "the keys below")
    if kind == "array":
        return f"list of: {_kind(schema['items'])}"
    if kind == "object":
        return f"by name: {_kind(schema['additionalProperties'])}"
    return {"string": "text", "boolean": "`true`, `false`"}.get(kind, str(kind))


def _default(schema: _Schema) -> str:
    default = schema.get("default")
    if default in (None, [], {}):
        return "none"
    if isinstance(default, float):
        unit = re.match(r"number in (\S+),", _kind(schema))
        return f"`{default:g}{unit[1] if unit else ''}`"
    return f"`{json.dumps(default).strip(chr(34))}`"


def _cell(schema: _Schema) -> str:
    return str(schema["description"]).replace("|", r"\|").replace("*", r"\*")
