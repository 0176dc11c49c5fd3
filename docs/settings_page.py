"""The keys of ``compression-advisor.yaml`` as a page of reference."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from snapcraft_compression_advisor.advice.lint_policy import LintPolicy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_Schema = dict[str, Any]  # JSON, of whatever shape
_HEAD = """\
# Settings

What a project asks for stands in `compression-advisor.yaml`: beside snapcraft.yaml for
`advise` and inside snapcraft, where the command is run for `lint`; `--policy` names
another. All keys may be left out. Editors check it with
[its schema](../compression-advisor.schema.json). How inside snapcraft the environment
and a part's properties go before it, [that page](../snapcraft.md#settings) says.

| key | value | default | what it is |
|---|---|---|---|
"""
_UNITS = {"ms": "time", "B": "size", "%": "percent"}


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
    if "anyOf" in schema:
        kinds = [_kind(each) for each in schema["anyOf"] if each.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        return ", ".join(f"`{value}`" for value in values)
    if "pattern" in schema:
        units = re.search(r"\?\(?([A-Za-z%]+)", schema["pattern"])
        return _UNITS[units[1]] if units else "text"
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
    if isinstance(default, float) and "time" in _kind(schema):
        return f"`{default:g}s`"
    return f"`{json.dumps(default).strip(chr(34))}`"


def _cell(schema: _Schema) -> str:
    return str(schema["description"]).replace("|", r"\|").replace("*", r"\*")
