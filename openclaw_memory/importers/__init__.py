"""Exports of other programs, read one entry after the other, become notes that can be taken out again."""
