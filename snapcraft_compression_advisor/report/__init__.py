"""Pages and JSON of what commands found, and the printers of pages."""
