"""First runs: what caches they make, what they spend on them, what lint says of it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from lint_contexts import found_by
from measurements import make_measurement
from snapcraft_compression_advisor.capture import first_run as module
from snapcraft_compression_advisor.capture.exec_trace import Exec, ExecTrace, Exit
from snapcraft_compression_advisor.capture.first_run import (
    MadeCache,
    MeasuredCaches,
    first_run,
)
from snapcraft_compression_advisor.capture.kernel_trace import KernelTrace
from snapcraft_compression_advisor.capture.samples import RunTime
from snapcraft_compression_advisor.cli.measure import read_measured_caches
from snapcraft_compression_advisor.core.errors import BadDataError, NoInputError
from snapcraft_compression_advisor.lint.rules.launch_caches import FONTS
from snapcraft_compression_advisor.payload.caches import CacheFault
from snapcraft_compression_advisor.report.lines import FILE_STYLE
from snapcraft_compression_advisor.report.measure import measure_json, measure_page
from snapcraft_compression_advisor.report.text_printer import print_text
from surveyed import launching, make_surveyed

if TYPE_CHECKING:
    from pathlib import Path

    from snapcraft_compression_advisor.capture.measure import Measurement

TOOK = RunTime(wall_s=1.0)
TRACE = """\
 fc-cache-9 [000] ..... 10.500000: sched_process_exec: filename=/snap/x/fc-cache pid=9 \
old_pid=9
 fc-cache-9 [000] ..... 10.900000: sched_process_exit: comm=fc-cache pid=9 prio=120
 fc-cache-8 [000] ..... 11.000000: sched_process_exit: comm=a b pid=8 prio=120 \
group_dead=true
"""
FAULT = CacheFault(
    kind="fonts",
    state="missing",
    path="usr/share/fonts",
    sources=("usr/share/fonts/a.ttf",),
    source_count=1,
    reason="there is no cache of these fonts",
    readers=("libfontconfig",),
)


def launched_with(*files: str) -> tuple[MadeCache, ...]:
    """Return the caches of a first run that writes these files."""

    def launch(home: Path) -> RunTime:
        assert home.is_dir()
        for name in files:
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_bytes(b"12345")
        return TOOK

    found = first_run(launch)
    assert found.time == TOOK
    return found.caches


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("user/.cache/fontconfig/1a2b-le64.cache-8", "fonts"),
        ("user/.local/share/glib-2.0/schemas/gschemas.compiled", "settings-schemas"),
        ("user-common/icons/hicolor/icon-theme.cache", "icon-theme"),
        ("user/.local/share/mime/mime.cache", "mime-types"),
        ("user/.cache/gdk-pixbuf-loaders.cache/loaders.cache", "image-loaders"),
        ("user/.cache/immodules/immodules.cache", "input-methods"),
        ("user/.cache/gio-modules/giomodule.cache", "gio-modules"),
        ("data/__pycache__/a.cpython-312.pyc", "python-bytecode"),
        ("user/.cache/app/qmlcache/9f.qmlc", "qml"),
        ("user/.cache/ksycoca6_en_x", "kde-services"),
        ("user/.cache/gstreamer-1.0/registry.x86_64.bin", "gstreamer-plugins"),
        ("user/.cache/mesa_shader_cache_db/part0/a.foz", "shaders"),
    ],
)
def test_caches_of_a_new_home_are_known_by_their_files(file: str, kind: str) -> None:
    (made,) = launched_with(file)
    assert (made.kind, made.files, made.size_bytes) == (kind, 1, 5)


def test_settings_and_links_out_of_the_home_are_no_caches() -> None:
    assert launched_with("user/.config/app/settings.ini", "user/schemas/x.xml") == ()


def test_programs_that_make_caches_are_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    execs = (
        Exec(1, "/snap/x/1/usr/bin/fc-cache", 10.0),
        Exec(2, "/usr/bin/update-mime-database", 10.0),
        Exec(3, "/usr/bin/other", 10.0),
        Exec(4, "/usr/bin/fc-cache", 12.0),
    )
    exits = (Exit(1, 10.5), Exit(3, 11.0), Exit(4, 12.25))
    monkeypatch.setattr(ExecTrace, "events", lambda _: execs)
    monkeypatch.setattr(ExecTrace, "exits", lambda _: exits)
    (made,) = first_run(lambda _: TOOK).caches
    assert made == MadeCache(kind="fonts", files=0, size_bytes=0, program_s=0.75)


def test_ends_of_processes_are_read_from_the_kernels_text(tmp_path: Path) -> None:
    (tmp_path / "trace").write_text(TRACE)
    assert ExecTrace(KernelTrace(tmp_path)).exits() == (Exit(9, 10.9), Exit(8, 11.0))
    assert ExecTrace(KernelTrace(tmp_path)).events() == (
        Exec(9, "/snap/x/fc-cache", 10.5),
    )


def test_kinds_of_lint_have_its_names() -> None:
    assert {"fonts", "settings-schemas", "icon-theme"} <= module.KINDS.keys()


def text_of(measurement: Measurement) -> str:
    return print_text(measure_page(measurement), FILE_STYLE)


def test_first_run_is_the_apps_work_caches_reading_and_decompression() -> None:
    codecs = json.loads(measure_json(make_measurement(first_run=True)))["codecs"]
    run, plain = (codecs[name]["first_run"] for name in ("xz", "none"))
    assert run["caches_s"] == pytest.approx(0.9)
    assert plain["decompression_s"] == 0
    unpacking = run["reading_s"] - plain["reading_s"]
    assert run["decompression_s"] == pytest.approx(unpacking)
    whole = run["own_s"] + run["caches_s"] + run["reading_s"]
    assert whole == pytest.approx(run["cold_s"]["median"])


def test_decompression_is_not_told_apart_without_an_uncompressed_image() -> None:
    measurement = make_measurement(first_run=True)
    codecs = {"xz": measurement.codecs["xz"]}
    report = json.loads(measure_json(replace(measurement, codecs=codecs)))
    assert report["codecs"]["xz"]["first_run"]["decompression_s"] is None
    text = text_of(replace(measurement, codecs=codecs))
    assert "reading, decompression" in text


def test_text_says_what_first_runs_spend_their_time_on() -> None:
    text = " ".join(text_of(make_measurement(first_run=True)).split())
    assert "First runs with cold caches, in a new home directory" in text
    assert (
        "Caches that a first run made: fontconfig's (12 files, 1.1 MB; the program "
        "that makes it took 0.40 s); compiled shaders (1 file, 3.0 kB)."
    ) in text
    assert "First runs" not in text_of(make_measurement())


def evidence(measured: MeasuredCaches | None) -> dict[str, str]:
    surveyed = make_surveyed(
        caches=[FAULT], analysis=launching("usr/lib/libfontconfig.so.1")
    )
    context = replace(surveyed, measured_caches=measured)
    (finding,) = found_by(FONTS, context)
    return {each.label: each.text for each in finding.evidence}


def test_lint_shows_what_a_first_run_spends_on_a_missing_cache() -> None:
    made = MadeCache(kind="fonts", files=1, size_bytes=9000, program_s=0.5)
    found = evidence(MeasuredCaches(making_s=0.9, made=(made,)))
    assert found["made by a first run instead"] == "1 file, 9.0 kB"
    assert found["making it took, at a first run"] == "0.50 s"
    assert "making all caches takes, at a first run" not in found


def test_cache_that_a_library_makes_has_the_seconds_of_all_caches() -> None:
    made = MadeCache(kind="fonts", files=1, size_bytes=9000, program_s=None)
    found = evidence(MeasuredCaches(making_s=0.9, made=(made,)))
    assert found["making all caches takes, at a first run"] == "0.90 s"
    assert "making it took, at a first run" not in found


def test_first_run_that_made_other_caches_says_nothing_of_this_one() -> None:
    made = MadeCache(kind="qml", files=1, size_bytes=9000, program_s=None)
    assert evidence(MeasuredCaches(making_s=0.9, made=(made,))) == evidence(None)


def test_measured_caches_are_read_from_the_json_of_measure(tmp_path: Path) -> None:
    path = tmp_path / "measured.json"
    path.write_text(measure_json(make_measurement(first_run=True)))
    found = read_measured_caches(path)
    assert found.making_s == pytest.approx(0.9)
    assert [each.kind for each in found.made] == ["fonts", "shaders"]


def test_measurement_without_first_runs_is_bad_data(tmp_path: Path) -> None:
    path = tmp_path / "measured.json"
    path.write_text(measure_json(make_measurement()))
    with pytest.raises(BadDataError, match="holds no first runs"):
        read_measured_caches(path)
    path.write_text("{}")
    with pytest.raises(BadDataError, match="not a report of 'measure"):
        read_measured_caches(path)
    with pytest.raises(NoInputError):
        read_measured_caches(tmp_path / "nowhere.json")
