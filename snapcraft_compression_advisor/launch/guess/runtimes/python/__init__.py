"""Python programs: the modules that they import."""
