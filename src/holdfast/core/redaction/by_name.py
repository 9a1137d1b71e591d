"""By name: every place in a text where a name may say secret, and what stands behind it.

The search only. What is assigned to a name is found by `core.redaction.assignments`, what is said of one by
`core.redaction.sentences`.
"""

from collections.abc import Iterable
from itertools import chain
from typing import Final

from holdfast.core.redaction.assignments import assigned_at
from holdfast.core.redaction.names import FOREIGN_ANCHORS, NAME_ANCHORS
from holdfast.core.redaction.rules import Rule
from holdfast.core.redaction.sentences import said_at, words_told_at
from holdfast.core.redaction.spans import Span
from holdfast.core.redaction.tables import column_at

# How a name goes on if anything is bound to it or said of it; most talk of tokens and keys says nothing of
# the sort. Read over small letters, where a question mark stands for any sign that is not ASCII.
_GOES_ON: Final = rb"""(?:
    # a flag, or the end of a longer name, and its value right after it
    (?<=[\w/-]%b)[\w-]{0,58}+[ \t]{1,4}(?!(?:is|are|was|and|or|to|for|in|of|with|from|as|by|if|has|must)\b)
      \\{0,3}["']?[^\s"'`<>]
    # the last heading of a table
  | (?:(?<=[|,;\t"_]%b)|(?<=[|,;\t][ ]%b))\w{0,12}["'`*]{0,3}[ \t|]{0,9}\r?\n
  | [\w-]{0,58}+(?:
        # what closes the name, and what binds the value to it
        [^\w\s:=>|?({,;.]{0,9}+(?:\[\d{0,4}\])?(?:[ \t]{0,20}(?:!?[:=|?]{1,3}>?|<-|->)[ \t*]{0,22}|>)
          (?!\$\{\{)[^\s.,;)\]}<*]
      | [ ]\d{1,2}:
      | \\u003 | %%3[ad] | &\#61 | &gt;
      | (?:\\{0,7}["'`])?(?: [ ]?,\s{0,9}\\{0,3}["'] | [ ]\w{1,20}= | \s?\{\s )
      | \](?:\\{0,7}["'`]),\s{0,9}\\{0,3}["']
      | (?:\\{0,7}["'])?(?:,\s{0,40}|\s{1,40})\\{0,3}["']?(?:value|content|secure|default)\b
      | <\\?/\w{1,20}>
      | \([^()\n"']{0,160}["']
      | ["']\)\.\w{1,20}\(["']
      | [ ](?:or[ ])?\\{0,3}["'`(]
        # the heading of a column
      | ["'`*]{0,3}[ \t]{0,20}[|,;\t][\w \t|,;"'`*-]{1,200}\r?\n
        # a sentence, or the next word, with something in it that words do not have
      | :[ \t]{0,4}\r?\n[ \t]{0,8}(?=\S{0,60}[\d!@\#$%%^&*])\S{6}
      | [ ](?:for|of|on|to)[ ][^\n"'`:=,;.]{1,60}(?::|[ ]?=)[ ]?\\{0,3}["'`]?[^\s"'`<>]{4}
      | ["'`*]{0,2}(?:[ ](?:for|of)[ ][^\n"'`]{1,60}?)?
        [ ](?:is|are|was|will|has|had|should|must|to|as|es|est|ist|lautet|\?|-{1,2})[ ]
        (?:[a-z]{2,8}:?[ ]){0,3}+\\{0,3}(?:["'`]|(?=[^\s"'`<>\\]{0,60}[\d!@\#$%%^&*?~+])[^\s"'`<>]{4})
      | [ \t]{1,4}(?:\w{1,12}:?[ \t]{1,4})?(?=[^\s"'`<>,;()]{0,60}\d)[^\s"'`<>,;()]{4}
    )
)"""


def _named_at(text: str, place: int) -> Iterable[Span]:
    """What is bound to the name at this place, or said of it."""
    assigned = assigned_at(text, place)
    return chain(column_at(text, place), said_at(text, place) if assigned is None else assigned)


def _told_at(text: str, place: int) -> Iterable[Span]:
    """The same, and words that a sentence gives as a password."""
    return chain(words_told_at(text, place), _named_at(text, place))


NAME_RULES: Final = (
    Rule(b"pass", rb"(?:word|phrase|code)[ ](?:is|was|for|of)[ ][\"'`a-z0-9@#$*]", _told_at),
    *(
        Rule(anchor, b"(?!" + another_word + b")" + _GOES_ON % (anchor, anchor, anchor), _named_at)
        for anchor, another_word in NAME_ANCHORS
    ),
    *(
        Rule(anchor, rb"""["'`]?(?:[ \t]{0,4}[:=-]|[ ](?:es|ist|is|\?)[ ])""", _named_at)
        for anchor in FOREIGN_ANCHORS
    ),
)
