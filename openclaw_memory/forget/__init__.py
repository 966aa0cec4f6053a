"""Forgetting: what goes, how it is kept from coming back, and proof that it is gone."""
