"""What to ship, from what launches gain and downloads grow by."""
