"""`python -m holdfast.daemon`: the daemon of the home that HOLDFAST_HOME names.

When a daemon is gone, every hook that notices starts one, and only one can have the home. So the lock is
taken before anything is loaded: those that are not needed cost no more than Python itself.
"""

import gc
import os
import sys
from pathlib import Path

from holdfast.daemon.local.lock import Lock, take_lock


def _taken() -> Lock | None:
    """The lock of the home, where the environment names one outright."""
    os.umask(0o077)
    home = Path(os.environ.get("HOLDFAST_HOME", ""))
    if not home.is_absolute():
        return None
    try:
        lock = take_lock(home)
    except OSError:
        return None  # Whoever looks next says why.
    if lock is None:
        sys.exit(0)
    return lock


if __name__ == "__main__":
    held = _taken()
    # What is loaded stays. To look through it again and again for what might go took a tenth of the start.
    gc.disable()
    from holdfast.daemon.main import main

    gc.freeze()
    gc.enable()
    sys.exit(main(held))
