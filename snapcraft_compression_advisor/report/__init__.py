"""An analysis as text or bytes, one format a file."""
