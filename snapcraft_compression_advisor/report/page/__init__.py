"""The report's pages as plain data: what they say, before they become HTML or text."""
