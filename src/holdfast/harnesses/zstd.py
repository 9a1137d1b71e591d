"""Zstandard: of the standard library since Python 3.14, before that its backport. Imported on first use."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 14):
    from compression.zstd import ZstdDecompressor, ZstdError, ZstdFile
else:
    from backports.zstd import ZstdDecompressor, ZstdError, ZstdFile

__all__ = ["ZstdDecompressor", "ZstdError", "ZstdFile"]
