"""Which apps count."""

import pytest

from payloads import MemoryPayload, make_payload
from snapcraft_compression_advisor.core.errors import UsageError
from snapcraft_compression_advisor.launch.launch_set import select_apps


def make(*apps: str, files: tuple[str, ...] = (), desktop: str = "") -> MemoryPayload:
    snap_apps = {
        app: {"command": f"bin/{app}", **({"desktop": "x"} if app == desktop else {})}
        for app in apps
    }
    return make_payload(dict.fromkeys(files, b"x"), apps=snap_apps)


def select(payload: MemoryPayload, *requested: str) -> tuple[str, ...]:
    return select_apps(payload.snap, payload.inventory, requested=requested)[0]


def test_requested_apps_count_in_their_order_once() -> None:
    assert select(make("hello", "a", "b"), "b", "a", "b") == ("b", "a")


def test_app_with_the_name_of_the_snap_counts() -> None:
    payload = make("a", "hello", desktop="a")
    assert select(payload) == ("hello",)
    assert "named after the snap" in select_apps(payload.snap, payload.inventory)[1]


def test_else_apps_with_a_desktop_file_count() -> None:
    assert select(make("a", "b", "c", desktop="b")) == ("b",)
    assert select(make("a", "b", files=("meta/gui/b.desktop",))) == ("b",)


def test_else_all_apps_count() -> None:
    assert select(make("a", "b")) == ("a", "b")


def test_snap_without_apps_has_none() -> None:
    assert select(make()) == ()


def test_unknown_app_is_a_usage_error_that_names_the_others() -> None:
    with pytest.raises(UsageError, match="no app 'helo'") as caught:
        select(make("hello", "other"), "helo")
    assert (
        str(caught.value.resolution) == "Did you mean 'hello'? Its apps: hello, other."
    )
