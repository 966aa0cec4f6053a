"""Forget texts for good: plan what goes, remove it, keep it from coming back, and verify that it is gone."""
