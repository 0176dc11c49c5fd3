"""What all tests need: the package's, and those of the study and the benchmarks."""

pytest_plugins = ["goldens", "running", "skips"]
