"""What holds for every test: how hypothesis searches, and how many tests run at once.

No fixtures of one room here; those stand beside the tests that use them. Those for PostgreSQL are used in
several rooms.
"""

import os

from hypothesis import settings

from tests.depth import DEEP, EXAMPLES, examples

pytest_plugins = ["tests.postgres.fixtures"]

# No deadline anywhere: how long an example takes is the machine's business, and benchmarks/ measures ours.
settings.register_profile("shallow", deadline=None, max_examples=examples(EXAMPLES))
# The same examples on every run, so that a red build is red again on the next machine.
settings.register_profile(
    "ci", deadline=None, max_examples=EXAMPLES, derandomize=True, database=None, print_blob=True
)
settings.load_profile("ci" if DEEP else "shallow")


def pytest_xdist_auto_num_workers() -> int:
    """Three workers for two cores: a third of what a worker does is to wait for daemons and time limits."""
    cores = os.cpu_count() or 1
    return cores + cores // 2
