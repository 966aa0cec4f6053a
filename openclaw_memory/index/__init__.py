"""The resident columns of the index, and what of them summaries cover."""
