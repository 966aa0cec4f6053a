"""Embeddings: choose a model, fetch and verify it, open it in a worker, embed texts, cache vectors."""
