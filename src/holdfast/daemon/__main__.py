"""`python -m holdfast.daemon`: the daemon of the home that HOLDFAST_HOME names."""

import sys

from holdfast.daemon.main import main

if __name__ == "__main__":
    sys.exit(main())
