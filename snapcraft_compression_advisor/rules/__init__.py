"""What may be wrong with a payload's compression, launch and size: findings."""
