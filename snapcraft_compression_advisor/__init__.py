"""Advises which squashfs compression suits a snap, with evidence."""

__version__ = "0.1.0"
