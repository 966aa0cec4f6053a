"""The index and the state of a workspace: the only package with SQL."""
