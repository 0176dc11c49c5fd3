"""What has to go when a run ends, however it ends: children, mounts, directories."""
