"""Statistics count what happened, and nothing that only looks like it."""

from __future__ import annotations

from holdfast.core.brief.brief_input import Reason
from holdfast.core.session.session import Phase
from holdfast.engine.views.stats import crashes
from tests.stores.contract import receipt, session


def test_a_crashed_session_is_continued_by_a_brief_about_it_and_not_by_one_that_names_it() -> None:
    crashed = [session(key, phase=Phase.ORPHANED) for key in ("continued", "named", "alone")]
    briefs = [
        receipt("1", session="next", predecessor="continued", reason=Reason.STARTUP),
        receipt("2", session="beside", predecessor="named", reason=Reason.PARALLEL),
        receipt("3", session="alone", predecessor="alone", reason=Reason.COMPACT),
    ]
    assert crashes([*crashed, session("at-work")], briefs) == {"seen": 3, "survived": 1}
