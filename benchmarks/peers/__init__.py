"""Other local memories and the usual ways to build one, asked the same questions as ours in one run."""

#: Modules of this package, each with one peer.
PEERS = (
    "ours", "memory_core", "memory_core_ageless", "memsearch_milvus", "qmd",
    "sqlite_vec_fts", "lancedb_hybrid", "faiss_flat", "linear_scan",
)  # fmt: skip
