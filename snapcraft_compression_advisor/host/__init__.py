"""The advisor inside snapcraft: what it does while a snap is packed."""
