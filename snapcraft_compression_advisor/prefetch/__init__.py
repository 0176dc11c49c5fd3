"""Reading ahead what a launch reads: the list, the program that reads it, the proof."""
