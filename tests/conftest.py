"""What the package's tests need."""

pytest_plugins = ["running", "skips"]
