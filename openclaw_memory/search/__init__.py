"""Ranking: features of units and their windows, fused into one score, cut into hits."""
