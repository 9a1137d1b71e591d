"""Extract facts from a text by rule: the things that it names, the rules that it sets, its form.

Things are file paths, directories, commands, identifiers, error names and references, each in one normalised
spelling. This is only for measuring texts. Briefs are selected by evidence, which has rules of its own, so
that the measurement is independent of how a brief was made.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final, TypeAlias

from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.markdown import BlockKind, blocks, without_fenced_code
from holdfast.core.text.strings import is_plain_word, plain_share, query_terms, text_lines
from holdfast.lazy_dataclass import dataclass

Fact: TypeAlias = str
"""A thing in its normalised spelling: `retry.py`, `src/`, `git push`, `RetryError`, `#12`."""

_TOKEN = compiled(r"[^\s\"'`()\[\]{}<>,;|=*\\“”‘’…→│]+")
_NOISE = compiled(r"</\w[\w.:-]*|<\w[\w.:-]*\s*/>|\\[bnrt](?=\w)|\bconsole\.log\b")
"""What looks like a fact and is none: a markup tag, the letter of an escape, `console.log`."""
_EDGES = ".:!?&$%^+-"
_URL = compiled(r"https?://[^\s/]+\S*")
_FLAG = compiled(r"--[a-z][\w-]+")
_NUMBER = compiled(r"#\d{1,6}")
_UUID = compiled(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_HASH = compiled(r"(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}")
_VERSION = compiled(r"v?\d+\.\d+\.\d+(?:[-+.][\w.]+)?|v\d+\.\d+")
_TICKET = compiled(r"[A-Z]{2,8}-\d{1,6}")
_PLACE = compiled(r"(?:[:#]L?\d+(?:[-:]L?\d+)*)+$")
"""A line number after a path."""
_PATH = compiled(r"[\w@~.+/-]*/[\w@~.+/-]*")
_FILE_NAME = compiled(
    r"\.?[\w@+-][\w@.+-]*\.[A-Za-z][A-Za-z0-9]{0,9}"
    r"|\.[a-z]+(?:rc|ignore|env|config|attributes)|\.env|Makefile|Dockerfile"
)
_EXTENSIONS: Final = frozenset(
    """bash c cc cfg cjs clj conf cpp cs css csv dart db diff eex env erl ex exs go gradle h heex hpp hs html
    ini ipynb java jpg js json jsonl jsx kt less lock log lua m md mdx mjs ml mts nix patch php plist png
    proto ps1 py pyi r rb rs rst scala scss sh sql sqlite svelte svg swift tf tmpl toml ts tsx txt vue xml
    yaml yml zig""".split()
)
_UNSPECIFIC: Final = frozenset(
    """index main mod lib page route layout __init__ readme package types utils config test conftest
    skill""".split()
)
"""File names that mean nothing without their directory."""
_WORD = compiled(r"[A-Za-z_]\w{2,}")
_IDENTIFIER = compiled(
    r"[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+\w*"  # camelCase
    r"|(?:[A-Z]+[a-z0-9]+){2,}\w*"  # PascalCase
    r"|_*[A-Za-z0-9]+(?:_+[A-Za-z0-9]+)+"  # snake_case, LOUD_CASE
    r"|E[A-Z]{4,}|[A-Z]{1,4}\d{3,5}|SIG[A-Z]{3,5}"  # ENOENT, TS2345, SIGTERM
)
_SPAN = compiled(r"`([^`\n]{2,400})`|^\s*\$ (.+)$", re.MULTILINE)
_HERE_DOCUMENT = compiled(r"<<-?\s*['\"]?(\w+).*?(?:^\s*\1\s*$|\Z)", re.DOTALL | re.MULTILINE)
_QUOTED = compiled(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'", re.DOTALL)
_SEGMENT = compiled(r"\s*(?:&&|\|\||;|\||\n)\s*")
_ASSIGNMENT = compiled(r"^(?:[A-Z_]\w*=\S*\s+)+")
_PROGRAM = compiled(r"[a-z][\w.+-]*")
_SUBCOMMAND = compiled(r"[a-z][a-z0-9:_-]*")
_PLUMBING: Final = frozenset(
    """awk cat cd cp cut do done echo else exit export fi find for grep head if kill ls mkdir mv nl printf pwd
    read rg rm sed set sleep sort tail tee test then time touch true uniq wait wc which while xargs""".split()
)
"""Programs and shell keywords that every session uses, and that a brief need not mention."""
_WELL_KNOWN: Final = frozenset(
    """bun cargo chmod curl deno docker dotnet eslint gh git go gofmt golangci-lint gradle helm jq just
    kubectl make mise mix mvn mypy node npm npx pip playwright pnpm poetry prettier psql pytest python python3
    rsync ruff rustc sqlite3 ssh swift tar terraform tsc uv vitest wget yarn""".split()
)
_IN_PROSE = compiled(
    r"\b(?:git (?:add|bisect|blame|branch|checkout|cherry-pick|clean|clone|commit|diff|fetch|grep|init|log"
    r"|merge|mv|pull|push|rebase|reflog|remote|reset|restore|rev-parse|revert|rm|show|stash|status|switch|tag"
    r"|worktree)|(?:npm|pnpm|yarn|bun) (?:ci|install|run|test|add|build)"
    r"|cargo (?:build|test|run|check|clippy)"
    r"|go (?:build|fmt|generate|get|install|mod|run|test|vet)|gh (?:api|issue|pr|release|repo|run)"
    r"|docker (?:build|compose|exec|logs|ps|run)|uv (?:add|pip|run|sync|tool)|pip install"
    r"|terraform (?:apply|plan))\b"
)


def facts_in(text: str) -> frozenset[Fact]:
    """Every fact that a text names."""
    facts = {fact for token in set(_TOKEN.findall(_NOISE.sub(" ", text))) for fact in _named(token)}
    facts.update(command for command in quoted_commands(text) if command.split(" ", 1)[0] in _WELL_KNOWN)
    facts.update(_IN_PROSE.findall(text))
    return frozenset(facts)


def facts_in_command(line: str) -> frozenset[Fact]:
    """Every fact that a command line names, and the commands that it runs."""
    return facts_in(line).union(_commands(line))


def quoted_commands(text: str) -> frozenset[Fact]:
    """The code spans of a text, parsed as commands; many are none, so use only those that are known."""
    return frozenset(command for span in _SPAN.finditer(text) for command in _commands(span[1] or span[2]))


def is_name(fact: Fact) -> bool:
    """Whether a fact is an identifier; which identifiers count is a matter of judgement."""
    return bool(_IDENTIFIER.fullmatch(fact))


@lru_cache(maxsize=1 << 17)
def _named(token: str) -> tuple[Fact, ...]:
    """The facts in one token; cached, because the same few tokens occur again and again."""
    if _FLAG.fullmatch(token):
        return (token,)
    token = token.strip(_EDGES) if not token.startswith(".") else token.rstrip(_EDGES)
    if _URL.fullmatch(token):
        return (token.split("#")[0].rstrip("/"),)
    for reference in (_NUMBER, _UUID, _HASH, _VERSION, _TICKET):
        if reference.fullmatch(token):
            return (token[:12] if reference is _HASH else token,)
    path = _PLACE.sub("", token)
    if _PATH.fullmatch(path):
        return tuple(_path(path))
    if _is_file_name(path):
        return (path,)
    return tuple(word for word in _WORD.findall(token) if _IDENTIFIER.fullmatch(word))


def _path(path: str) -> Iterator[Fact]:
    """The facts in a path: a file's name and its directory, or a directory's last name."""
    parts = [part for part in path.split("/") if part not in ("", ".", "..", "~", "...")]
    if not parts:
        return
    if _FILE_NAME.fullmatch(parts[-1]) and not path.endswith("/"):
        yield _file(parts)
        parts.pop()
    elif path.count("/") < 2 and not path.startswith(("/", "./", "../", "~")) and not path.endswith("/"):
        return  # "and/or" is not a path
    if parts and parts[-1] != "null":
        yield f"{parts[-1]}/"


def _file(parts: list[str]) -> Fact:
    specific = parts[-1].split(".", 1)[0].lower() not in _UNSPECIFIC
    return parts[-1] if specific else "/".join(parts[-2:])


def _is_file_name(token: str) -> bool:
    # With an upper-case extension it is an attribute: `testing.M`, `tree.Diff`.
    return bool(_FILE_NAME.fullmatch(token)) and token.rsplit(".", 1)[-1] in _EXTENSIONS


def _commands(line: str) -> Iterator[Fact]:
    """Program and subcommand of each part of a command line."""
    for segment in _SEGMENT.split(_QUOTED.sub('""', _HERE_DOCUMENT.sub(" ", line))):
        words = _ASSIGNMENT.sub("", segment).split()
        program = words[0].rsplit("/", 1)[-1] if words else ""
        if not _PROGRAM.fullmatch(program) or program in _PLUMBING:
            continue
        if words[1:2] == ["-m"] and len(words) > 2:
            yield f"{program} -m {words[2]}"
        elif len(words) > 1 and _SUBCOMMAND.fullmatch(words[1]):
            yield f"{program} {words[1]}"
        else:
            yield program


_SENTENCE_END = compiled(r"(?<=[.!?。！？])\s+|\n+")
_RULE = compiled(r"\b(?:must|never|always|don['’]t|do not|only|instead)\b", re.IGNORECASE)
_PROSE_WORD = compiled(r"[^\W_]+(?:['’][^\W_]+)?")
_SHORTEST_RULE, _LONGEST_RULE = 4, 60
CONTENT_SHARE = 0.6
"""The share of a sentence's content words that a text must contain to have the sentence's content."""


def constraints_in(texts: Iterable[str]) -> tuple[str, ...]:
    """The sentences that set a rule (must, never, always, don't, only, instead), each once; no code."""
    rules: dict[str, None] = {}
    for text in texts:
        for sentence in _SENTENCE_END.split(without_fenced_code(text)):
            words = len(sentence.split())
            if _RULE.search(sentence) and _SHORTEST_RULE <= words <= _LONGEST_RULE:
                rules[" ".join(sentence.split())] = None
    return tuple(rules)


def holds(text: str, sentence: str) -> bool:
    """Whether a text contains most of a sentence's content words."""
    content = _content_words(sentence)
    return bool(content) and len(content & _content_words(text)) >= CONTENT_SHARE * len(content)


def _content_words(text: str) -> frozenset[str]:
    return frozenset(query_terms(text.lower(), limit=len(text)).split())


SECTIONS: Final = tuple(
    re.compile(words, re.IGNORECASE)
    for words in ("goal|task", "constraint|rule", "state|done|now|next|progress", "file", "command|fail")
)
LEAST_SECTIONS = 3
LEAST_READABLE = 0.5
LEAST_PLAIN = 0.4
_BULLET = compiled(r"^\s*(?:[-*•]|\d+[.)])\s+")
_LABEL = compiled(r"^[`“]?[\w./ ()’'-]{2,60}[`”]?(?: \([^)]*\))?: ?\S")
_SENTENCE_WORDS = 4
_TWICE_WORDS = 5


@dataclass(frozen=True, slots=True)
class Form:
    """How a brief reads."""

    sections: int
    readable: float
    """The share of characters in lines that are sentences or labelled items."""
    plain: float
    """The share of words that are plain words."""
    repeated: int
    """How many lines or sentences are repetitions."""

    @property
    def is_readable(self) -> bool:
        """Whether the brief is readable for a person."""
        enough = self.readable >= LEAST_READABLE and self.plain >= LEAST_PLAIN
        return enough and self.sections >= LEAST_SECTIONS and not self.repeated


def form_of(text: str) -> Form:
    """How a text reads: its sections, its lines, its words, and its repetitions."""
    headings = [block.text for block in blocks(text) if block.kind is BlockKind.HEADING]
    body = _body(text)
    size = sum(map(len, body))
    return Form(
        sections=sum(any(name.search(heading) for heading in headings) for name in SECTIONS),
        readable=sum(len(line) for line in body if _is_readable(line)) / size if size else 0.0,
        plain=plain_share(text),
        repeated=_repeated(body),
    )


def _body(text: str) -> list[str]:
    """The lines of a text without headings, fence and bullets."""
    return [_BULLET.sub("", line) for line in text_lines(text)]


def _is_readable(line: str) -> bool:
    """Whether a line is a sentence, with a few plain words, or an item with a label."""
    return sum(map(is_plain_word, line.split())) >= _SENTENCE_WORDS or bool(_LABEL.match(line))


def _repeated(lines: list[str]) -> int:
    sentences = (sentence for line in lines for sentence in _SENTENCE_END.split(line))
    counts = Counter(
        " ".join(_PROSE_WORD.findall(sentence.lower()))
        for sentence in sentences
        if len(sentence.split()) >= _TWICE_WORDS
    )
    return sum(times - 1 for times in counts.values())
