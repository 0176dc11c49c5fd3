"""Two builds of a snap beside each other: files, sizes, launches."""
