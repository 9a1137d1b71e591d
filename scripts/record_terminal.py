"""Draw docs/pictures/terminal.svg: a session loses its context and gets it back, in an animated terminal.

`python -m scripts.record_terminal` replays the recording that `holdfast demo` replays, through the same
engine, and draws what it found: the session as its transcript has it, what the compaction left, the brief,
and what each leads to. The picture is one file without scripts, and moves by CSS alone. Where motion is not
wanted, it shows its last screen.
"""
# ruff: noqa: INP001, T201

from __future__ import annotations

import json
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final

from holdfast.cli.demo_session.questions import Belief
from holdfast.cli.demo_session.recording import HOME, Replayed, read, replay

TARGET: Final = Path(__file__).resolve().parents[1] / "docs" / "pictures" / "terminal.svg"

COLUMNS: Final = 66
ROWS: Final = 25
FONT_PX: Final = 15
FONTS: Final = 'ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace'
CELL_PX: Final = 9.1
"""The widest usual monospaced letter of that size."""
ROW_PX: Final = 21
MARGIN_PX: Final = 18
BAR_PX: Final = 38
LABEL: Final = 10
"""The columns of a section's name beside its first line."""

COLORS: Final = {
    "text": "#d7dce2",
    "dim": "#8b949e",
    "prompt": "#79c0ff",
    "loss": "#ffb454",
    "wrong": "#ff8a80",
    "right": "#7ee787",
    "label": "#d2a8ff",
}


@dataclass(frozen=True, slots=True)
class Row:
    """A line on the screen, and how many seconds pass before it appears."""

    text: str
    style: str = "text"
    after_s: float = 0.12
    label: str = ""
    """Stands before the text, in a color of its own."""
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Scene:
    """One screen: what its bar says, its rows, and how long they stay once all are there."""

    title: str
    rows: tuple[Row, ...]
    stay_s: float


def main() -> int:
    """Replay, draw, write."""
    text = draw(scenes())
    TARGET.write_text(text, encoding="utf-8")
    print(f"{len(text.encode()):,} bytes  {TARGET.relative_to(Path.cwd())}")
    return 0


# ---------------------------------------------------------------- what is shown


def scenes() -> tuple[Scene, ...]:
    """The session, its loss, and its return."""
    with tempfile.TemporaryDirectory(prefix="record-terminal-") as directory:
        replayed = replay(Path(directory).resolve())
    return (_session(replayed), _without(replayed), _with_brief(replayed))


def _session(replayed: Replayed) -> Scene:
    _, *rows = _conversation()
    end = _wrapped("The window is full. The session is compacted.", "loss", 0.9)
    return Scene(f"{replayed.title}, at work", (*rows, Row(""), *end), 1.8)


def _without(replayed: Replayed) -> Scene:
    loss = replayed.losses[0]
    rows = [
        *_wrapped("All that the compaction left of it:", "loss", 0.3),
        Row(""),
        *_wrapped(loss.context, "text"),
    ]
    for outcome in loss.outcomes:
        rows += [Row(""), *_answer(outcome.question, outcome.without)]
    return Scene(f"{replayed.title}, without Holdfast", tuple(rows), 4.5)


def _with_brief(replayed: Replayed) -> Scene:
    loss = replayed.losses[0]
    rows = _wrapped("With Holdfast, the very next request holds the brief too:", "loss", 0.3)
    rows.append(Row(""))
    for section, items in _sections(loss.brief.text):
        for place, item in enumerate(items):
            shown = textwrap.shorten(item, COLUMNS - LABEL, placeholder=" …")
            rows.append(Row(shown, "text", 0.35, label=section if not place else "", indent=LABEL))
    for outcome in loss.outcomes:
        rows += [Row(""), *_answer(outcome.question, outcome.with_brief)]
    return Scene(f"{replayed.title}, with Holdfast", tuple(rows), 9.0)


def _conversation() -> Iterator[Row]:
    """What was said and done before the window was full, as the transcript has it."""
    recording = read(Path(HOME))
    for line in recording.transcript[: recording.story.shown_before]:
        content = json.loads(line).get("message", {}).get("content", "")
        if isinstance(content, str):
            yield Row("", after_s=0.7)
            yield from _wrapped("> " + " ".join(content.split()), "prompt")
            continue
        for part in content:
            if part["type"] == "text":
                yield from _wrapped(part["text"], "text", 0.6)
            elif part["type"] == "tool_use":
                given = part["input"].get("command") or Path(part["input"]["file_path"]).name
                yield Row(f"  {part['name']} {given}", "dim", 0.35)


def _sections(brief: str) -> Iterator[tuple[str, list[str]]]:
    for section in brief.split("\n### ")[1:]:
        name, *lines = section.removesuffix("</holdfast-recall>").strip().splitlines()
        if name not in ("Goal", "Where"):
            yield name, [line.removeprefix("- ") for line in lines]


def _answer(question: str, believed: Belief) -> list[Row]:
    right = believed.verdict == "right"
    answer = believed.answer.split(" / ")[0] or "(nothing)"
    verdict = f"{'✓' if right else '✗'} {believed.verdict}: "
    return [
        Row(question, "prompt", 0.5),
        *_wrapped(verdict + answer, "right" if right else "wrong", 0.5),
    ]


def _wrapped(text: str, style: str, after_s: float = 0.12) -> list[Row]:
    lines = [line for part in text.splitlines() for line in textwrap.wrap(part, COLUMNS)]
    return [Row(line, style, after_s if not place else 0.12) for place, line in enumerate(lines)]


# ---------------------------------------------------------------- how it is drawn


def draw(shown: Sequence[Scene]) -> str:
    """The picture of these scenes, one after the other and again from the start."""
    width, height = round(COLUMNS * CELL_PX) + 2 * MARGIN_PX, BAR_PX + ROWS * ROW_PX + 2 * MARGIN_PX
    total = sum(sum(row.after_s for row in scene.rows) + scene.stay_s for scene in shown)
    styles, groups, at = [], [], 0.0
    for number, scene in enumerate(shown):
        style, group, at = _scene(scene, number, at, total)
        styles.append(style)
        groups.append(group)
    states = ["hidden"] * (len(shown) - 1) + ["visible"]
    still = "".join(f".s{number}{{visibility:{state}}}" for number, state in enumerate(states))
    colors = "".join(f".{name}{{fill:{color}}}" for name, color in COLORS.items())
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return f"""<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title">
<title id="title">{escape(_in_words(shown))}</title>
<style>
text{{font:{FONT_PX}px {FONTS};white-space:pre}}
{colors}{still}
@media (prefers-reduced-motion:no-preference){{
{chr(10).join(styles)}
}}
</style>
<rect width="{width}" height="{height}" rx="10" fill="#161b22" stroke="#57606a"/>
<circle cx="22" cy="19" r="6" fill="#57606a"/><circle cx="42" cy="19" r="6" fill="#57606a"/>\
<circle cx="62" cy="19" r="6" fill="#57606a"/>
<path d="M1 {BAR_PX}H{width - 1}" stroke="#30363d"/>
<clipPath id="screen"><rect x="0" y="{BAR_PX}" width="{width}" height="{height - BAR_PX}"/></clipPath>
{chr(10).join(groups)}
</svg>
"""


def _scene(scene: Scene, number: int, at: float, total: float) -> tuple[str, str, float]:
    """The rules and the drawing of a scene that begins at a time, and when it is over."""
    rules, drawn, scrolls = [], [], []
    begin = at
    for place, row in enumerate(scene.rows):
        at += row.after_s
        y = BAR_PX + MARGIN_PX + (place + 1) * ROW_PX - 6
        rules.append(f".r{number}-{place}{{animation:r{number}-{place} {total:.2f}s step-end infinite}}")
        rules.append(f"@keyframes r{number}-{place}{{0%{{opacity:0}}{_percent(at, total)}{{opacity:1}}}}")
        drawn.append(_row(row, f"r{number}-{place}", y))
        if place >= ROWS:
            scrolls.append(f"{_percent(at, total)}{{transform:translateY({(ROWS - place - 1) * ROW_PX}px)}}")
    end = at + scene.stay_s
    hidden_again = "" if end > total - 0.01 else f"{_percent(end, total)}{{visibility:hidden}}"
    rules.append(f".s{number}{{animation:s{number} {total:.2f}s step-end infinite}}")
    shows = f"{_percent(begin, total)}{{visibility:visible}}"
    rules.append(f"@keyframes s{number}{{0%{{visibility:hidden}}{shows}{hidden_again}}}")
    if scrolls:
        rules.append(f".m{number}{{animation:m{number} {total:.2f}s step-end infinite}}")
        rules.append(f"@keyframes m{number}{{0%{{transform:none}}{''.join(scrolls)}}}")
    group = (
        f'<g class="s{number}"><text class="dim" x="84" y="24">{escape(scene.title)}</text>'
        f'<g clip-path="url(#screen)"><g class="m{number}">\n{chr(10).join(drawn)}\n</g></g></g>'
    )
    return "\n".join(rules), group, end


def _row(row: Row, name: str, y: int) -> str:
    label = f'<tspan class="label">{escape(row.label)}</tspan>' if row.label else ""
    text = f'<tspan x="{MARGIN_PX + round(row.indent * CELL_PX)}">{escape(row.text)}</tspan>'
    return f'<text class="{row.style} {name}" x="{MARGIN_PX}" y="{y}">{label}{text}</text>'


def _percent(at: float, total: float) -> str:
    return f"{100 * at / total:.2f}%"


def _in_words(shown: Sequence[Scene]) -> str:
    """What the picture tells, for whoever cannot see it."""
    return " ".join(f"{scene.title}." for scene in shown)


if __name__ == "__main__":
    sys.exit(main())
