"""snapcraft.yaml: finding it, reading it, and changing one key of it."""
