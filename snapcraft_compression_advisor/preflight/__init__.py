"""What the store looks at in a built image, and the repack that it compares with."""
