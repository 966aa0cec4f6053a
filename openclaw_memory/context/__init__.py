"""Ambient context: notes relevant to a message, given before the model answers."""
