"""Which data blocks a launch reads, and what each costs."""
