"""What both stores do with the same SQL over the same tables."""
