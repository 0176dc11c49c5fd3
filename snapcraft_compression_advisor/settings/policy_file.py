"""Read ``compression-advisor.yaml``."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, get_args

from snapcraft_compression_advisor.core.documents import DocumentKind, describe_problem
from snapcraft_compression_advisor.core.errors import BadDataError
from snapcraft_compression_advisor.core.units import KIB
from snapcraft_compression_advisor.settings.lint_policy import SCHEMA, LintPolicy
from snapcraft_compression_advisor.settings.policy_model import PolicyModel

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pydantic_core import ErrorDetails

POLICY_FILE_NAME = "compression-advisor.yaml"
SCHEMA_COMMAND = "compression-advisor schema compression-advisor"


def read_policy(path: Path) -> LintPolicy:
    """Read a policy file; files that it names become relative to the process.

    :raises NoInputError: where it isn't there or can't be read.
    :raises BadDataError: where it is no policy, one of another version, or one that
        contradicts itself.
    """
    return beside(path, parse_policy(POLICY.read(path), where=str(path)))


def parse_policy(content: bytes, *, where: str) -> LintPolicy:
    """Return the policy that a file's content is; an empty one has all defaults.

    :param where: the file, for errors.
    :raises BadDataError: as :func:`read_policy`.
    """
    document = POLICY.load_yaml(content, where=where)
    return check_policy({} if document is None else document, where=where)


def check_policy(document: object, *, where: str) -> LintPolicy:
    """Return the policy that a document is, from wherever it comes.

    :param where: what errors call it.
    :raises BadDataError: as :func:`read_policy`.
    """
    version = document.get("schema", SCHEMA) if isinstance(document, dict) else SCHEMA
    if version != SCHEMA:
        message = f"{where!r} is a policy of version {version!r}, not {SCHEMA}"
        raise BadDataError(
            message,
            resolution="Use a version of the advisor that knows it, or write it as "
            f"{SCHEMA_COMMAND!r} says.",
        )
    return POLICY.check(document, where=where)


def beside(path: Path, policy: LintPolicy) -> LintPolicy:
    """Return a policy whose files are relative to its own file's directory.

    :param path: where the policy comes from; what it names lies beside that.
    """
    folder, pack = path.parent, policy.pack
    changed: dict[str, object] = {}
    if policy.launch_profile:
        changed["launch_profile"] = tuple(
            str(folder / each) for each in policy.launch_profile
        )
    if policy.devices:
        changed["devices"] = tuple(
            str(folder / each) if _is_file_name(each) else each
            for each in policy.devices
        )
    if pack.report is not None:
        changed["pack"] = pack.model_copy(update={"report": str(folder / pack.report)})
    return policy.model_copy(update=changed)


def _is_file_name(device: str) -> bool:
    """Tell whether a device is a file, as ``--device`` does."""
    return "/" in device or device.endswith((".yaml", ".yml"))


def _problem(item: ErrorDetails) -> str:
    place = ".".join(str(part) for part in item["loc"])
    if item["type"] == "extra_forbidden":
        near = difflib.get_close_matches(
            str(item["loc"][-1]), _keys_beside(item["loc"]), n=1
        )
        hint = f"; did you mean {near[0]!r}?" if near else ""
        return f"unknown key {place!r}{hint}"
    return describe_problem(item).removeprefix("file: ")


def _keys_beside(loc: Sequence[int | str]) -> list[str]:
    """Return the keys that are known where an unknown one stands."""
    model: type[PolicyModel] = LintPolicy
    for part in loc[:-1]:
        by_key = {field.alias: field for field in model.model_fields.values()}
        if part in by_key:
            annotation = by_key[str(part)].annotation
            model = next(
                each
                for each in (annotation, *get_args(annotation))
                if isinstance(each, type) and issubclass(each, PolicyModel)
            )
    return [field.alias or "" for field in model.model_fields.values()]


POLICY = DocumentKind(
    model=LintPolicy,
    name="policy",
    max_bytes=64 * KIB,
    broken="{where!r} is not a valid policy",
    resolution=f"Correct it; {SCHEMA_COMMAND!r} prints what it may hold.",
    describe=_problem,
)
