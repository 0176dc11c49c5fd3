"""Caches of libraries that spare launches work: missing ones, stale ones."""
