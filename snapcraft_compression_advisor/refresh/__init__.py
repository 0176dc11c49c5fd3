"""What a refresh from one build to the next costs: its delta, and applying it."""
