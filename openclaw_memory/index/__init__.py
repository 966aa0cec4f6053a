"""The columns of the index in memory, and masks of the rows that summaries cover or repeat."""
