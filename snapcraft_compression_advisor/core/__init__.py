"""What every room uses: errors, units, and leaving nothing behind."""
