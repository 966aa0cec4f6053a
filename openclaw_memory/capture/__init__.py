"""What of a finished turn is worth keeping, and new."""
