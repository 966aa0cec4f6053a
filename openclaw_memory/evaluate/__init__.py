"""Measure a memory by questions that are made from its own notes, and compare settings and models."""
