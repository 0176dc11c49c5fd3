"""What to ship, what it costs, and where snapcraft.yaml says it."""
