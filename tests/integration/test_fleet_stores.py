"""Snaps in stores are read in parts, whatever the store answers."""

from pathlib import Path
from typing import Any

import pytest

from fleets import make_request, make_snap, rows_of
from image_sources import needs_mksquashfs
from snapcraft_compression_advisor.cli.main import main
from snapcraft_compression_advisor.fleet.bounded import BoundedWorker, Limits
from snapcraft_compression_advisor.fleet.sources import Snap
from stores import serving

pytestmark = [pytest.mark.slow, needs_mksquashfs]

OF_THE_PLACE = (
    *("path", "file_bytes", "file_stamp", "digest", "read_bytes"),
    *("report", "page"),
)


@pytest.fixture(scope="module")
def snap(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_snap(tmp_path_factory.mktemp("store"), "one")


def told(row: dict[str, Any]) -> dict[str, Any]:
    """Return what a row says of the snap, wherever that is."""
    return {key: value for key, value in row.items() if key not in OF_THE_PLACE}


def test_a_snap_in_an_object_store_gets_the_row_of_a_local_one(
    snap: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moto, boto3 = pytest.importorskip("moto.server"), pytest.importorskip("boto3")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        client = boto3.client("s3")
        client.create_bucket(Bucket="fleet")
        client.upload_file(str(snap), "fleet", "daily/one.snap")
        arguments = ["fleet", "s3://fleet/daily", str(snap), "-o", str(tmp_path)]
        assert main(arguments) == 0
        rows = {row["path"]: row for row in rows_of(tmp_path)}
        remote, local = rows["s3://fleet/daily/one.snap"], rows[str(snap)]
        assert remote["error"] is None
        assert remote["digest"].startswith("tables:")
        assert remote["file_stamp"]
        assert remote["file_bytes"] == local["file_bytes"]
        # All of so small a snap, some of it in two ranges.
        assert 0 < remote["read_bytes"] < 1.5 * remote["file_bytes"]
        assert told(remote) == told(local)
        assert main(arguments) == 0
        assert len(rows_of(tmp_path)) == 2
        client.close()
    finally:
        server.stop()


@pytest.mark.parametrize(
    ("mode", "error"),
    [
        ("good", None),
        ("failing", None),
        ("short", None),
        ("whole", "the store returns the whole file, not a range"),
    ],
)
def test_a_store_that_answers_badly_costs_no_wrong_row(
    snap: Path, mode: str, error: str | None
) -> None:
    worker = BoundedWorker(make_request(), Limits(seconds=60))
    try:
        with serving(snap, mode) as address:
            row = worker.row(Snap(path=address))
        with serving(snap) as address:
            pass
        gone = worker.row(Snap(path=address)) if mode == "good" else {"error": "fails"}
    finally:
        worker.close()
    if error is None:
        assert row.get("error") is None
        assert row["name"] == "one"
    else:
        assert error in str(row["error"])
    assert "fails" in str(gone["error"]) or "no such file" in str(gone["error"])


def test_a_store_that_is_stuck_costs_one_row_its_time(snap: Path) -> None:
    worker = BoundedWorker(make_request(), Limits(seconds=60))
    try:
        assert worker.row(Snap(path=str(snap))).get("error") is None
        worker._limits = Limits(seconds=0.5)
        with serving(snap, "stuck") as address:
            row = worker.row(Snap(path=address, file_bytes=1, stamp="1"))
        worker._limits = Limits(seconds=60)
        assert worker.row(Snap(path=str(snap))).get("error") is None
    finally:
        worker.close()
    assert "takes longer than 0.5 s. Raise --time-limit." in str(row["error"])
    assert row["error_status"] == 75
    assert row["digest"] is None
