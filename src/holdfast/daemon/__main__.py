"""`python -m holdfast.daemon`: the daemon of the home that HOLDFAST_HOME names.

When no daemon runs, each hook starts one, and only one can have the home. So the lock is taken before
anything is loaded: a surplus daemon costs no more than starting Python.
"""

import gc
import os
import sys
from pathlib import Path

from holdfast.daemon.local.lock import Lock, take_lock


def _take_lock_early() -> Lock | None:
    """The lock of the home, if the environment names it by an absolute path; else None."""
    os.umask(0o077)
    home = Path(os.environ.get("HOLDFAST_HOME", ""))
    if not home.is_absolute():
        return None
    try:
        lock = take_lock(home)
    except OSError:
        return None  # `main` tries again and reports the error.
    if lock is None:
        sys.exit(0)
    return lock


if __name__ == "__main__":
    lock = _take_lock_early()
    # Loaded modules are never freed. Collecting garbage while loading took a tenth of the start.
    gc.disable()
    from holdfast.daemon.main import main

    gc.freeze()
    gc.enable()
    sys.exit(main(lock))
