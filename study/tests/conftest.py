"""What the tests of the study and of the benchmarks need."""

pytest_plugins = ["running", "skips"]
