"""YAML and JSON documents of bounded size, read into pydantic models."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Generic, TypeVar

import pydantic
import pydantic_core
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

from .errors import BadDataError, NoInputError
from .files import read_regular
from .units import KIB, MIB

_QUOTED = re.compile(r"""'[^'<\\].+'|"[^"<].+\"""")
"""What a parser quotes: it may be a file that isn't ours to show."""

Model = TypeVar("Model", bound=pydantic.BaseModel)


def describe_problem(item: ErrorDetails) -> str:
    """Return the fault of a key, in one line."""
    place = ".".join(map(str, item["loc"])) or "file"
    return f"{place}: {item['msg'].removeprefix('Value error, ')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentKind(Generic[Model]):
    """A kind of document, and what errors say of one that isn't as it must be.

    :param model: of the whole document.
    :param name: as in "Cannot read the policy 'x.yaml'".
    :param max_bytes: largest that is read; bounds what a foreign file can cost.
    :param broken: what a broken one is, with ``{where!r}`` for the file; what is wrong
        with it follows. With ``{line}``, ``:3`` is there if line 3 is broken.
    :param resolution: what to do about a broken one.
    """

    model: type[Model]
    name: str
    max_bytes: int
    broken: str
    resolution: str

    def read(self, path: Path) -> bytes:
        """Return a file's bytes, at most one more than the limit.

        :raises NoInputError: if it can't be read.
        """
        try:
            return read_regular(path, self.max_bytes)
        except (OSError, ValueError) as error:  # ValueError: a null byte in the path
            reason = error.strerror if isinstance(error, OSError) else error
            message = f"Cannot read the {self.name} {str(path)!r}: {reason}"
            raise NoInputError(message, resolution="Check its path.") from error

    def parse_yaml(self, content: bytes, *, where: str) -> Model:
        """Return the document that a YAML file's content is.

        :param where: the file, for errors.
        :raises BadDataError: if it is too large, no YAML, or not of this kind.
        """
        return self.check(self.load_yaml(content, where=where), where=where)

    def load_yaml(self, content: bytes, *, where: str) -> object:
        """Return the plain objects that a YAML file's content is."""
        self._check_size(content, where)
        try:
            yaml = YAML(typ="safe", pure=True)
            node = yaml.compose(content)
            if node is None:
                return None
            if not _expands_to_at_most(node, len(content)):
                problem = "its aliases repeat more than the file holds"
                raise self.error(where, problem, line=node.start_mark.line + 1)
            document: object = yaml.constructor.construct_document(node)
        # An escape beyond Unicode reaches chr(), hence ValueError and OverflowError.
        except (YAMLError, ValueError, OverflowError, RecursionError) as error:
            line, problem = _yaml_problem(error)
            raise self.error(where, problem, line=line) from error
        return document

    def parse_json(self, content: bytes, *, where: str) -> Model:
        """Return the document that a JSON file's content is; as :meth:`parse_yaml`."""
        self._check_size(content, where)
        try:
            return self.model.model_validate_json(content)
        except pydantic.ValidationError as error:
            if error.errors()[0]["type"] != "json_invalid":
                self._check_kind(pydantic_core.from_json(content), where)
            raise self._invalid(error, where) from error

    def check(self, document: object, *, where: str) -> Model:
        """Return the document that plain objects are.

        :raises BadDataError: if they are none of this kind.
        """
        try:
            return self.model.model_validate(document)
        except pydantic.ValidationError as error:
            self._check_kind(document, where)
            raise self._invalid(error, where) from error

    def error(
        self, where: str, *problems: str, line: int | None = None
    ) -> BadDataError:
        """Return the error of a broken document; the first problem is in its line."""
        place = "" if line is None else f":{line}"
        if line is not None and "{line}" not in self.broken:
            problems = (f"line {line}: {problems[0]}", *problems[1:])
        return BadDataError(
            f"{self.broken.format(where=where, line=place)}: {problems[0]}",
            details="\n".join(problems),
            resolution=self.resolution,
        )

    def _invalid(self, error: pydantic.ValidationError, where: str) -> BadDataError:
        items = error.errors(include_url=False, include_input=False)
        return self.error(where, *map(describe_problem, items))

    def _check_kind(self, document: object, where: str) -> None:
        """Refuse another kind of document, of which no error is to quote anything."""
        required = {
            field.alias or name
            for name, field in self.model.model_fields.items()
            if field.is_required()
        }
        if required and isinstance(document, dict) and required.isdisjoint(document):
            raise self.error(
                where, "it has none of the keys of this kind of file"
            ) from None

    def _check_size(self, content: bytes, where: str) -> None:
        if len(content) > self.max_bytes:
            mib, kib = self.max_bytes // MIB, self.max_bytes // KIB
            limit = f"{mib} MiB" if mib else f"{kib} KiB"
            raise self.error(where, f"it has more than {limit}")


def _expands_to_at_most(root: Node, most: int) -> bool:
    """Return whether a document has few nodes, each alias counted with all it repeats.

    Without aliases there are fewer nodes than bytes; ten aliases to ten aliases, and so
    on, are more than there is memory for. A merge key takes a step for each node too.
    """
    pending = [root]
    for _ in range(most):
        if not pending:
            return True
        node = pending.pop()
        if isinstance(node, SequenceNode):
            pending += node.value
        elif isinstance(node, MappingNode):
            pending += chain.from_iterable(node.value)
    return not pending


def _yaml_problem(error: Exception) -> tuple[int | None, str]:
    """Return the line of what is wrong with the YAML, and what, in one line."""
    if isinstance(error, MarkedYAMLError) and error.problem and error.problem_mark:
        problem = _QUOTED.sub("…", error.problem.partition("\n")[0])
        return error.problem_mark.line + 1, problem
    lines = [line.strip() for line in str(error).splitlines()]
    return None, _QUOTED.sub("…", "; ".join(lines[:4])) or "it isn't YAML"
