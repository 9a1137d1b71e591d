"""An agent that works until it is killed; what it prints was kept before.

Run as `python -m tests.embed.endless HOME`.
"""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path

from holdfast import embed
from tests.embed.loop import said

if __name__ == "__main__":
    store = embed.open_store(Path(sys.argv[1]), project=Path(sys.argv[1]))
    session = store.load("k", window=20_000)
    for number in count():
        record = session.ask(f"question {number}")
        sys.stdout.write(f"{record.id}\n")
        sys.stdout.flush()
        session.request()
        session.answer(said(f"answer {number}", 1_000 + 3_000 * (number % 6)))
