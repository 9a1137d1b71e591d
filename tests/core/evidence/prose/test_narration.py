"""Narration: what only tells what the agent does in this moment is worth no line later."""

from __future__ import annotations

from holdfast.core.evidence.prose import reader
from tests.tables import every_row

NARRATION = """
I will now run the tests.|Let me check the config.|Now I'll update the parser.|Let's look at the caller.|
I'm going to read the file first.|Good, now let me fix it.|Now I need to see the schema.|
Running the suite again.|Before I commit, let me look at the diff.|Here's the summary of the change.|
Looking at the failing tests.|我现在运行测试。|让我看看配置。|好的，我来修复。|接下来我先检查日志。|
Now write the test of the view.|Good idea. Let me show the prompt.|You're right! Let me fix both.|
Now add the route and the Review button|Update the dashboard:|
Good, now update `session.py`.|Also wrap the callback:|And the light theme:|Finally, commit it.|
I need to update the fallback paths too.|I still need to fix the header.|Also need to add the handler.|
I should remove my own migration and use the generated one.|Still compiling deps. Let me wait for it.|
The build is still running through the packages.|Both workers are running.|Waiting for the linter.|
Now find where links are rendered (see a.py: it has both):|
现在更新测试。|我还需要检查配置。|还在编译依赖。|接下来是这些：
"""
NO_NARRATION = """
All 12 tests pass.|The next step is to port the reader.|I decided to keep the queue.|
We need a second index.|TODO: drop the shim.|The parser reads the file twice.|
I still need to cover the empty case.|Never push on Fridays.|Should I delete it?|The letter was lost.|
下一步是补测试。|测试都通过了。|
You're right: the lock is held twice.|Now test results are stored per run.|
Now it works.|First run took 3 s.|Update the docs before a release.|
The dev server is running at http://localhost:5173|Still missing: the Windows path.|Fixed: the header.|
The cause was this: two writers. One is gone.|You should update the driver.|We should update the driver.|
现在都通过了。|Two of them are left: - the reader in a.py - the writer, which does this:
"""


def split(row: str) -> list[str]:
    return row.replace("\n", "").split("|")


@every_row("sentence", split(NARRATION))
def test_what_the_agent_is_about_to_do_is_narration(sentence: str) -> None:
    assert reader.is_narration(sentence)


@every_row("sentence", split(NO_NARRATION))
def test_what_holds_later_is_no_narration(sentence: str) -> None:
    assert not reader.is_narration(sentence)
