"""What goes in and out of a store: plain dataclasses and numpy arrays."""
