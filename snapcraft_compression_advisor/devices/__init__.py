"""Device profiles: the model, files, and those built in."""
