"""Writes the generated files of this folder; a test fails where one is stale."""

from __future__ import annotations

from pathlib import Path

from snapcraft_compression_advisor.launch.device_file import device_schema_text
from snapcraft_compression_advisor.launch.profile import profile_schema_text
from snapcraft_compression_advisor.output.json_report import schema_text
from snapcraft_compression_advisor.output.measure_json import measurement_schema_text

FOLDER = Path(__file__).parent


def main() -> None:
    """Write every generated file."""
    (FOLDER / "report.schema.json").write_text(schema_text(), encoding="utf-8")
    (FOLDER / "launch-profile.schema.json").write_text(
        profile_schema_text(), encoding="utf-8"
    )
    (FOLDER / "measure.schema.json").write_text(
        measurement_schema_text(), encoding="utf-8"
    )
    (FOLDER / "device.schema.json").write_text(device_schema_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
