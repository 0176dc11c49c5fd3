"""All that starts, mounts, traces and times: record, measure, calibrate, replay."""
