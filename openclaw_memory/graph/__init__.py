"""Concepts that notes mention, how they hang together, and walks over them."""
