"""The concepts that notes mention, the graph over concepts and sections, and walks on it."""
