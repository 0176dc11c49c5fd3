"""Frozen classes behave as the dataclasses that they stand for."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, replace

import pytest

from snapcraft_compression_advisor.core.frozen import frozen, frozen_in_order


@frozen
class Block:
    """A class with each kind of field."""

    path: str
    length: int = 1
    parts: list[int] = field(default_factory=list, hash=False)
    note: str = field(default="", compare=False, repr=False)


@frozen
class StoredBlock(Block):
    """One that adds a field, and says itself how it is shown."""

    codec: str

    def __repr__(self) -> str:
        return f"{self.path} with {self.codec}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standard:
    """What the standard library makes of the same fields."""

    path: str
    length: int = 1
    parts: list[int] = field(default_factory=list, hash=False)
    note: str = field(default="", compare=False, repr=False)


def test_it_shows_and_hashes_itself_as_a_dataclass_does() -> None:
    one, other = Block(path="a", parts=[2]), Standard(path="a", parts=[2])
    assert repr(one) == repr(other).replace("Standard", "Block")
    assert hash(one) == hash(other)
    assert asdict(one) == asdict(other)


def test_fields_that_are_not_compared_make_no_difference() -> None:
    assert Block(path="a", note="x") == Block(path="a", note="y")
    assert Block(path="a") != Block(path="b")
    other: object = Standard(path="a")
    assert Block(path="a") != other


def test_each_instance_has_its_own_default() -> None:
    assert Block(path="a").parts is not Block(path="a").parts


def test_a_changed_copy_leaves_the_first_as_it_was() -> None:
    first = Block(path="a", length=2)
    assert replace(first, path="b") == Block(path="b", length=2)
    assert first.path == "a"


def test_fields_are_neither_set_nor_deleted() -> None:
    block = Block(path="a")
    with pytest.raises(FrozenInstanceError, match="'path'"):
        block.path = "b"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="'path'"):
        del block.path
    assert not hasattr(block, "__dict__")


@pytest.mark.parametrize(
    ("given", "named"), [("", "path"), ("path size", "size"), ("size", "path, size")]
)
def test_missing_and_unknown_arguments_are_named(given: str, named: str) -> None:
    with pytest.raises(TypeError, match=rf"^Block\(\) .*: {named}$"):
        Block(**dict.fromkeys(given.split(), "a"))  # type: ignore[arg-type]


def test_it_survives_a_copy_and_a_process() -> None:
    block = StoredBlock(path="a", codec="xz", parts=[1])
    assert copy.copy(block) == block
    assert pickle.loads(pickle.dumps(block)) == block  # noqa: S301 # our own


def test_a_subclass_keeps_fields_and_has_its_own_methods() -> None:
    block = StoredBlock(path="a", codec="xz", length=3)
    assert repr(block) == "a with xz"
    assert (block.length, block.codec) == (3, "xz")
    assert block != Block(path="a", length=3)


@frozen_in_order
class Place:
    """One whose fields are given in order."""

    path: str
    line: int = 1


def test_fields_are_given_in_order_or_by_name() -> None:
    assert Place("a", 2) == Place("a", line=2) == Place(line=2, path="a")
    assert Place("a") == Place("a", 1)
    match Place("a", 2):
        case Place(path, line):
            assert (path, line) == ("a", 2)


def test_too_many_arguments_are_an_error() -> None:
    with pytest.raises(TypeError, match="too many arguments"):
        Place("a", 2, 3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="too many arguments"):
        Place("a", path="b")  # type: ignore[misc]
    with pytest.raises(TypeError, match="missing or unknown arguments: path"):
        Place(line=2)  # type: ignore[call-arg]
