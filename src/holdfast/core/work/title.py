"""The title of a session: what it is about, in one line that a person recognises it by.

It is made from the user's requests. The newest that asks for some work and says which wins, because goals
change; else the newest that says what it is about. A plan that the user gave keeps its name as long as newer
requests are about the same. An errand ("commit and push"), a question about the progress or a word of
agreement says nothing about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import Final

from holdfast.core.events.event import Action
from holdfast.core.evidence.prose import reader
from holdfast.core.evidence.trail import Trail, Utterance
from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.strings import content_words, one_line
from holdfast.core.work.state import TITLE_CHARS

TELLING_WORDS: Final = 3
"""A request with at least this many words of its own says what the work is about."""
REPORT_WORDS: Final = 4
"""With as many, a current goal that asks for nothing, such as a finding of a review, still names the work."""
LEAD_WORDS: Final = 2
"""A sentence with fewer only leads up to the next one."""
PIECES_READ: Final = 8
"""How many sentences at the beginning of a request may be its title."""
LONG_TOKEN: Final = 30
"""A longer path is shown by its last part."""


def title_of_trail(trail: Trail) -> str:
    """What a session is about, by its requests, else by what was done in it; empty if nothing is known."""
    best, most = "", -1
    requests = tuple(_requests(trail))
    plan = next((request.text for request in requests if _is_plan(request.text)), "")
    for request in requests:
        if reader.is_generic(request.text) or reader.is_bare_command(request.text):
            continue
        headline = _headline(request.text)
        if request.text == plan:
            return shortened_title(headline)
        words = len(_telling_words(headline))
        is_whole = not _says_how_to_go_on(request.text, headline)
        is_goal = request is trail.goal and words >= REPORT_WORDS and not _REMARK.match(headline)
        if words >= TELLING_WORDS and is_whole and (is_goal or _ASKS_FOR_WORK.match(headline)):
            is_of_plan = _telling_words(request.text) & _telling_words(plan)
            return shortened_title(_headline(plan) if is_of_plan else headline)
        # What refers to something said before, or says little, stands back.
        telling = min(words, TELLING_WORDS if is_whole else TELLING_WORDS - 1)
        if telling > most:
            best, most = headline, telling
    return shortened_title(best) or _title_of_work(trail)


def shortened_title(text: str) -> str:
    """A text as a title: one line of at most 60 characters that ends with a whole word."""
    text = one_line(_MARKUP.sub("", text))
    text = " ".join(map(_short_token, text.split(" "))).strip(" ,;:-–—")
    text = text.rstrip(".")
    if len(text) <= TITLE_CHARS:
        return text
    cut = text[: TITLE_CHARS - 1]
    if not text[TITLE_CHARS - 1].isspace():
        ends = [cut.rfind(" "), *(cut.rfind(mark) for mark in ("/", "_", "、", "，"))]
        # Of a last word that is most of the title, a part says more than nothing.
        end = next((end for end in (ends[0], max(ends)) if end > TITLE_CHARS // 3), len(cut))
        cut = cut[:end]
    return f"{_DANGLING.sub('', cut).rstrip(' ,;:-–—(')}…"


def _requests(trail: Trail) -> Iterator[Utterance]:
    """The requests of the user: the current goal, then the newest first."""
    seen: set[str] = set()
    for request in (trail.goal, *reversed(trail.prompts), trail.first_prompt):
        if request is not None and request.text not in seen:
            seen.add(request.text)
            yield request


def _is_plan(request: str) -> bool:
    """Whether a request is a plan that says in its first line what it is for, with headings below."""
    return _PLAN.match(request) is not None and len(_telling_words(_headline(request))) >= LEAD_WORDS


def _says_how_to_go_on(request: str, headline: str) -> bool:
    """Whether a request corrects, refers back to or delivers what was asked for before it."""
    return bool(_REFERS_BACK.match(headline) or _CORRECTION.match(request) or _DELIVERY.match(headline))


def _headline(request: str) -> str:
    """The sentence of a request that says most about the work, without what leads up to it."""
    best, most = "", -1
    for number, piece in enumerate(_pieces(request)):
        headline = _without_opening(piece)
        words = len(_telling_words(headline))
        if words >= LEAD_WORDS and not _ROLE.match(headline):
            return headline
        if words > most and headline:
            best, most = headline, words
        if number == PIECES_READ:
            break
    return best


def _pieces(request: str) -> Iterator[str]:
    """The sentences and lines of a request, without code, tags, images and list marks."""
    text = _BLOCK.sub("\n", request)
    text = _LONE_TAG.sub(" ", text)
    command = _COMMAND.match(text)
    if command:
        rest = text[command.end() :]
        text = (
            rest if len(_telling_words(rest)) >= LEAD_WORDS else f"{command['name'].replace('-', ' ')} {rest}"
        )
    pieces = _BOUNDARY.split(text)
    for piece, following in zip_longest(pieces, pieces[1:], fillvalue=""):
        bare = _LIST_MARK.sub("", one_line(piece).strip(" \\─═_*|>"))
        if any(char.isalpha() for char in bare) and not _only_leads_to_list(bare, following):
            yield bare


def _only_leads_to_list(piece: str, following: str) -> bool:
    """Whether a piece such as "Please do these three things:" says nothing but that a list follows."""
    is_lead = piece.endswith(":") and _LIST_ITEM.match(following) is not None
    return is_lead and not _ASKS_FOR_WORK.match(_without_opening(piece))


def _without_opening(sentence: str) -> str:
    """A sentence without words of agreement, politeness and asking: "can you please add" becomes "Add"."""
    rest, asks = sentence, False
    while match := _OPENING.match(rest):
        if match.end() == 0:
            break
        asks = asks or bool(match["asking"])
        rest = rest[match.end() :]
    if not rest:
        return ""
    if asks:
        rest = rest.rstrip("?？ ")
    first = rest.split(" ", 1)[0]
    return rest[0].upper() + rest[1:] if first.isalpha() and first.islower() else rest


def _telling_words(text: str) -> frozenset[str]:
    """The words of a text that say what the work is about; two signs of a script without spaces are one."""
    words = frozenset(word for word in content_words(text) if not word.isdigit()) - _ERRANDS
    pairs = (run[at : at + 2] for run in _UNSPACED.findall(text) for at in range(0, len(run) - 1, 2))
    return words.union(pairs)


def _title_of_work(trail: Trail) -> str:
    """A title from what was done, for a session whose requests say nothing."""
    edited = [touch.path for touch in trail.files if touch.action in (Action.EDIT, Action.WRITE)]
    if edited:
        others = f" and {len(edited) - 1} more" if len(edited) > 1 else ""
        return shortened_title(f"Changes to {edited[-1].rsplit('/', 1)[-1]}{others}")
    return shortened_title(next((_headline(statement.text) for statement in trail.statements), ""))


def _short_token(token: str) -> str:
    if len(token) <= LONG_TOKEN or "/" not in token:
        return token
    return token.rstrip("/").rsplit("/", 1)[-1]


_BLOCK: Final = compiled(
    r"```.*?(?:```|\Z)|<(?P<tag>[a-zA-Z][\w-]*)(?:\s[^<>]*)?>.*?</(?P=tag)>"
    r"|\[(?:Image|Pasted text|File)[^\]\n]{0,80}\]",
    re.DOTALL,
)
_LONE_TAG: Final = compiled(r"</?[a-z][\w-]*>")
_COMMAND: Final = compiled(r"\s*/(?P<name>[a-zA-Z][\w:-]*)(?=\s)")
_BOUNDARY: Final = compiled(
    r"(?<=[.!?])\s+(?!\d)|(?<=[。！？])|\s*\n\s*(?![\sa-z@])|(?<=:)\s+(?=#)|\s+-{2,}\s+"
)
_LIST_ITEM: Final = compiled(r"\s*(?:[-*•]\s|\(?\d{1,3}[.)])")
_LIST_MARK: Final = compiled(
    r"\A(?:#{1,6}\s+|[-*•]\s+|\(?\d{1,3}[.)]\s+|\(?[a-zA-Z]\)\s+|\W?\[[ x]\]\s+|"
    r"(?i:plan|task|goal|feature)\s*:\s+)+"
)
_MARKUP: Final = compiled(r"[`]|\*\*|^\s*#{1,6}\s")
_DANGLING: Final = compiled(
    r"(?:\s+(?:a|an|and|are|as|at|be|but|by|can|for|from|has|have|if|in|into|is|it|its|my|of|on|or|our|so|"
    r"that|the|their|this|to|was|we|were|when|where|which|with|you|your))+\s*\Z",
    re.IGNORECASE,
)
_UNSPACED: Final = compiled(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_OPENING: Final = compiled(
    r"\s*(?:(?:ok(?:ay)?|yes|yep|yeah|yup|no|nope|sure|great|good|cool|nice|perfect|awesome|thanks?(?: you)?|"
    r"thx|hi|hello|hey|wait|oh|ah|hmm+|um+|uh+|sorry|well|fair enough|"
    r"e+h+|u+gh+|a+r+gh+|haha|never ?mind|actually|also|and|but|so|now|"
    r"then|next|just|pls|quick (?:thing|question|one)|question|q|btw|regarding|again|maybe|i think|"
    r"(?:implement|execute|follow) the following plan|without doing any changes)(?![\w'/.-])"
    r"[\s,.:;!?—–-]*"
    r"|(?P<asking>(?:can|could|would|will|shall|should) (?:you|we|i)\b(?: mind)?|"
    r"(?:are|is) (?:we|it) (?:able|possible) to\b|let'?s\b|let us\b|do you think (?:you|we) could\b|"
    r"i(?:'d| would)? (?:do )?(?:also )?(?:want|like|need|would like)(?: to ask)?(?: you)? to\b|"
    r"we (?:should|need to|want to|have to|must)\b|you (?:should|need to|must)\b|help me(?: to)?\b|please\b)"
    r"[\s,:]*)",
    re.IGNORECASE,
)
_ASKS_FOR_WORK: Final = compiled(
    r"(?:[A-Z]{2,8}-\d+\W+)?(?:add|adapt|align|allow|analy[sz]e|build|bump|cache|change|clean|convert|create|debug|"
    r"delete|deploy|design|document|enable|evaluate|explore|extend|extract|find|fix|handle|implement|"
    r"improve|include|inject|integrate|introduce|inver(?:t|se)|investigate|merge|mend|migrate|modify|move|"
    r"optimi[sz]e|parse|port|prevent|redesign|reduce|refactor|release|remove|rename|reorder|replace|research|set|"
    r"rework|rewrite|search|set ?up|simplify|spawn|split|support|switch|test|track|translate|update|"
    r"upgrade|use|validate|work on|wrap|write)\b",
    re.IGNORECASE,
)
_REMARK: Final = compiled(
    r"(?:i|i'm|i've|i'd|we|we're|we've|it|it's|that|that's|this|these|those|there|things?|you|do|does|did|is|"
    r"are|was|were|can|couldn't|if|what|which|where|why|how|when|who|not sure|seems?|same|check|latest)\b",
    re.IGNORECASE,
)
"""How a sentence begins that tells or asks something instead of saying what is to be done."""
_REFERS_BACK: Final = compiled(
    r"(?!can|could|did|do|does|is|should|was|will|would)[a-z]+ (?:it|them|those|these)\b"
    r"|(?:use|take|try|apply|do) (?:that|this)\b",
    re.IGNORECASE,
)
"""How a request begins that cannot be understood without the one before it: "add them", "use that method"."""
_DELIVERY: Final = compiled(
    r"(?:commit|push|rebase|clean up|resolve (?:the )?(?:merge )?conflicts)\b"
    r"|merge (?:with|from|it|this|that|in|main|master|origin|the (?:branch|pr)|pr)\b"
    r"|(?:create|open|raise|make|launch|close|merge) (?:an? |the |this )?(?:new |draft )*"
    r"(?:pr|pull request|branch|issue|ticket)\b"
    r"|(?:log|file) (?:an? )?(?:\w+ )?(?:issue|ticket)\b|use the \S+ (?:\S+ )?model\b",
    re.IGNORECASE,
)
"""How a request begins that delivers or organises the work: "create a pull request for this"."""
_PLAN: Final = compiled(r"[^#]{0,160}?(?<!\S)#{1,3}\s")
"""How a plan begins: with a heading, or with its title right above one."""
_CORRECTION: Final = compiled(
    r"\s*(?:(?:no|nope|wait|stop|sorry|not (?:that|this|so))\b\s*[,.:;!—–-]|(?:oh\W+)?(?:whoops|oops)\b)",
    re.IGNORECASE,
)
"""How a request begins that corrects the work instead of naming it."""
_ROLE: Final = compiled(r"(?:you(?:'re| are)|act as) (?:an?|the|my|our)\b", re.IGNORECASE)
"""How a sentence begins that gives the agent a role, before the one that asks for something."""
_ERRANDS: Final = frozenset(
    """add again amend answer approach ask branch branches change changes check checks ci code comment
    comments commit commits committed conflict conflicts continue create current done draft everything
    expected fail failing fails feedback file files fix fixed follow following further github good got idea
    implement instructions issue issues let level look looking main make markdown master merge merged message
    missing nice ok one ones open option options origin outcome plan please pr present problem prs pull push
    pushed question questions readme rebase redo remaining remote rest resolve retry review reviews run
    running same save see session sessions settings severity show skill something still stuff suggestion
    suggestions summarize sure task tasks test tests thanks there thing things think try update updated
    version want way work workflow working works write wrong yet""".split()
)
"""Words that say how to go on, not with what."""
