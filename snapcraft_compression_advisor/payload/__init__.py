"""What is shipped: files, ELF linkage, data blocks."""
