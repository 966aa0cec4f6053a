"""Measurements: retrieval quality on labelled workspaces, and speed on a generated corpus."""
