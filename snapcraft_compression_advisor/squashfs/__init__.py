"""Squashfs images: read without mounting or unpacking them."""
