"""A coding agent in one file that outlives its context window.

It reads one prompt a line from its standard input, works with three tools, and remembers everything that was
said in a session of Holdfast. Kill it at any time: started again, it goes on where it was. When its window is
full, it makes room and goes on too.

    pip install "holdfast[anthropic]"
    export ANTHROPIC_API_KEY=...
    python agent.py --model MODEL
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import anthropic

from holdfast import embed

SYSTEM = """\
You are a coding agent in the directory {cwd}. Work with your tools, and say what you did.
What must last longer than this conversation goes into memory/YYYY-MM-DD.md."""

TOOLS: list[Any] = [
    {
        "name": "bash",
        "description": "Run a shell command; its output, and its exit status where that is not 0.",
        "input_schema": {
            "type": "object",
            "properties": {"command": {"type": "string"}},
            "required": ["command"],
        },
    },
    {
        "name": "read",
        "description": "Read a text file.",
        "input_schema": {
            "type": "object",
            "properties": {"path": {"type": "string"}},
            "required": ["path"],
        },
    },
    {
        "name": "write",
        "description": "Write a text file, with all directories on the way to it.",
        "input_schema": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
            "required": ["path", "content"],
        },
    },
]
MOST_OUTPUT = 20_000


def main() -> None:
    options = arguments()
    with anthropic.Anthropic() as client, closing(embed.open_store(project=options.cwd)) as store:
        session = store.load(options.session, window=options.window)
        for line in sys.stdin:
            if prompt := line.strip():
                print(work(client, session, prompt, options), flush=True)


def work(
    client: anthropic.Anthropic, session: embed.Session, prompt: str, options: argparse.Namespace
) -> str:
    """Answer one prompt, with as many tools as that takes."""
    session.ask(prompt)
    while True:
        # Here room is made if the window is full, and the agent asked in time to write down what must last.
        request = session.request(SYSTEM.format(cwd=options.cwd))
        response = client.messages.create(
            model=options.model,
            max_tokens=options.max_tokens,
            system=request.system,
            messages=request.messages,
            tools=TOOLS,
        )
        calls = session.answer(response)
        if not calls:
            return "\n".join(block.text for block in response.content if block.type == "text")
        for call in calls:
            output, ok = run_tool(call, options.cwd)
            session.returned(call.id, output, ok=ok)


def run_tool(call: embed.Call, cwd: Path) -> tuple[str, bool]:
    """What a tool says, and whether it did what it was to do."""
    try:
        match call.name:
            case "bash":
                return bash(call.arguments["command"], cwd)
            case "read":
                return shortened((cwd / call.arguments["path"]).read_text(encoding="utf-8")), True
            case "write":
                path = cwd / call.arguments["path"]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(call.arguments["content"], encoding="utf-8")
                return f"{path} is written", True
            case _:
                return f"there is no tool `{call.name}`", False
    except (OSError, UnicodeDecodeError, KeyError, subprocess.TimeoutExpired) as error:
        return f"{type(error).__name__}: {error}", False


def bash(command: str, cwd: Path) -> tuple[str, bool]:
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=600,
        check=False,
    )
    output = shortened(done.stdout) or "(no output)"
    if done.returncode:
        return f"{output}\n\nCommand exited with code {done.returncode}", False
    return output, True


def shortened(text: str) -> str:
    """A text whose middle is left out where it is long: one tool must not fill the window."""
    if len(text) <= MOST_OUTPUT:
        return text
    half = MOST_OUTPUT // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A coding agent that outlives its context window.")
    parser.add_argument("--model", required=True)
    parser.add_argument("--session", default="holdfast:main:main", help="which session to go on with")
    parser.add_argument(
        "--window", type=int, default=0, help="tokens; by default what the model is known for"
    )
    parser.add_argument("--max-tokens", type=int, default=4_000)
    parser.add_argument("--cwd", type=Path, default=Path.cwd())
    return parser.parse_args()


if __name__ == "__main__":
    main()
