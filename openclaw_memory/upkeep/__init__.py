"""Automatic consolidation, and the languages of the notes."""
