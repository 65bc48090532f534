"""Embeddings whose rows are at a parameter server."""
