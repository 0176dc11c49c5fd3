"""Rules on payloads: which are checked, what they find, and what a baseline knows."""
