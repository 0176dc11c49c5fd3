"""What a launch reads, guessed from files alone."""
