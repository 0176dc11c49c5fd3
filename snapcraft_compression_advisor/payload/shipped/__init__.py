"""What is shipped and needn't be: by its name, within ELF files, more than once."""
