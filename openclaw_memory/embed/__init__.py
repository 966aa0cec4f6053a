"""Embeddings: the protocol, llama.cpp and HTTP embedders, and where models come from."""
