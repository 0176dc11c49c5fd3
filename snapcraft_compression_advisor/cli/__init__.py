"""Arguments to an analysis, an analysis to output and an exit status."""
