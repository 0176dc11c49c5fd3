"""The keys of ``compression-advisor.yaml`` as a page of reference."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from snapcraft_compression_advisor.settings.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_Schema = dict[str, Any]  # JSON, of whatever shape
_HEAD = """\
# Settings

`compression-advisor.yaml` (or `.yml`) holds the [policy](../glossary.md#policy) of a
project. It is in the project's directory, or beside snapcraft.yaml in `snap/` or
`build-aux/snap/`; two files are an error. `advise`, `lint` and snapcraft all read it.
All keys are optional:

```yaml
mode: apply                      # what a pack does with the advice
apps: [calc, editor]             # target apps, the deciding one first
devices: [nvme-laptop, ./kiosk.yaml]    # or shares: {nvme-laptop: 0.7, sbc-emmc: 0.3}
kernels: [ubuntu-22.04, ubuntu-24.04, debian-12]    # that the devices may have
launch-profile: [launch.json]    # recorded; files are relative to this one
record: {app: calc}              # or recorded now, which runs the payload's program
min-saving: 0.5s                 # when lzo is worth its bytes
refresh: {per-month: 2, cold-launches-per-day: 1}    # then a user's month decides
components: {weights: {read: all}}    # a start waits for all of its files; or none
max-cold-start:
  nvme-laptop: 1.5s              # or by app: {calc: 1s, editor: 2.5s}
max-image-size: 300MB
max-image-growth: 3%             # against --baseline; max-launch-growth: 0.1s
max-refresh-size: 30%            # against --baseline: the delta that users download
targets:
  - kernel: '4.4'                # kernels that have to mount the snap
ignore:
  - SCA105                       # a rule, SCA1 a family
  - SCA305:usr/share/doc/*       # on some files
severity: {SCA302: error}
fail-on: warning                 # exit status 1 from this severity on; default: error
```

A setting has one name wherever it is set. Its value is written in the same way:

| where | for example |
|---|---|
| the file | `min-saving: 0.5s` |
| a part of the plugin `compression-advisor` | `compression-advisor-min-saving: 0.5s` |
| the environment | `SNAPCRAFT_COMPRESSION_ADVISOR_MIN_SAVING=0.5s` |
| an option, if there is one (`--app`, `--device` for one each) | `--min-saving 0.5s` |

`advise` and `lint` take the file of the payload's project, else the one in the current
directory; `--policy` names another. Inside snapcraft, the environment precedes it, and
it precedes [a part's properties](../snapcraft.md#settings). Editors check the file with
[its schema](../compression-advisor.schema.json).

| key | value | default | what it is |
|---|---|---|---|
"""


def render_settings_page() -> str:
    """Return the page on all settings, in Markdown."""
    schema = Settings.model_json_schema(by_alias=True)
    return _HEAD + "\n".join(_rows(schema, schema["$defs"], prefix="")) + "\n"


def _rows(
    schema: _Schema, parts: Mapping[str, _Schema], *, prefix: str
) -> Iterator[str]:
    for name, each in schema["properties"].items():
        key = f"{prefix}{name}"
        item = each.get("items", {})
        if "description" in each:
            required = name in schema.get("required", ())
            default = "required" if required else _default(each)
            cells = (f"`{key}`", _kind(each), default, _cell(each))
            yield f"| {' | '.join(cells)} |"
        choices = ((choice, ".") for choice in each.get("anyOf", ()))
        for place, mark in ((each, "."), (item, "[]."), *choices):
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
