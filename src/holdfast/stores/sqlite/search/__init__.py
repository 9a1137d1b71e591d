"""Search: full text by BM25 and nearest vectors, over the rows of the store."""
