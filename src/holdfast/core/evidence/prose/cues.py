"""The rules of prose: which words mean that something is a next step, untried, confirmed or failed.

Tables and patterns for folded text (lower case, `'` for every apostrophe). `reader` applies them to a text;
`prompts` has the rules for users' texts, `decisions` and `needs` those for decisions and prerequisites.
Repetitions are bounded, so that no sentence can make a pattern slow.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from typing import Final

from holdfast.lazy_dataclass import dataclass

_NOTHING: Final = r"(?!)"
_CLAUSE_LENGTH: Final = 60
QUESTION: Final = r"[?？]\W*$|吗[。！]?$"


# Compiling eighty patterns takes longer than most commands run, and few commands read prose.
compiled: Final = cache(re.compile)


@dataclass(frozen=True, slots=True)
class Sign:
    """A way to say something: the pattern is searched only if one of the words occurs."""

    words: frozenset[str]
    pattern: str


@dataclass(frozen=True, slots=True)
class Rule:
    """How one kind of statement is recognised.

    A sentence is of this kind if it has one of the signs, no hedge before the sign in the same clause, and no
    match of `unless`. So is what follows one of the headings.
    """

    words: frozenset[str]
    signs: tuple[Sign, ...]
    unless: str
    hedge: str
    headings: frozenset[str]

    def matches(self, folded: str, words: frozenset[str]) -> bool:
        """Whether a folded sentence with these words is of this kind."""
        if self.words.isdisjoint(words):
            return False
        for sign in self.signs:
            if not sign.words.isdisjoint(words) and self._has(sign, folded):
                return not compiled(self.unless).search(folded)
        return False

    def matches_heading(self, under: Collection[str], folded: str) -> bool:
        """Whether a heading above the sentence makes it one of this kind."""
        return not self.headings.isdisjoint(under) and not compiled(self.unless).search(folded)

    def _has(self, sign: Sign, folded: str) -> bool:
        hedge = compiled(self.hedge)
        for match in compiled(sign.pattern).finditer(folded):
            if not hedge.search(folded, max(0, match.start() - _CLAUSE_LENGTH), match.start()):
                return True
        return False


def sign(words: str, pattern: str) -> Sign:
    """A sign from its words, separated by spaces, and its pattern."""
    return Sign(frozenset(words.split()), pattern)


def rule(*signs: Sign, unless: str, hedge: str = _NOTHING, headings: str = "") -> Rule:
    """A rule from its signs; the headings are separated by `|`."""
    return Rule(
        words=frozenset(word for sign in signs for word in sign.words),
        signs=signs,
        unless=unless,
        hedge=hedge,
        headings=frozenset(filter(None, headings.split("|"))),
    )


# ---------------------------------------------------------------- what agents say

BEFORE: Final = r"[^,;.:—]{0,50}$"
_OUGHT: Final = (
    r"\b(?:if|whether|would|could|might|may|should|once|until|unless|before|hopefully|expect|expected|"
    r"in case|let me|let's|make sure|ensures?|ensuring|guarantee|so that|wants?|not|haven't|hasn't|cannot|"
    r"can't|must|needs?|will|i'll|we'll|to be|without|verify|verifies|check|checks|(?:tests?|"
    r"asserts?) that)\b"
)
_REMAINS: Final = (
    r"(?:next(?: steps?| up| action| task)?|remaining(?: work| tasks?| items?| steps?)?|still (?:to do|todo|"
    r"left|open|missing|needed|remaining|pending)|to[- ]?dos?|left to do|what's left|follow[- ]?ups?|"
    r"not (?:yet )?done|outstanding|pending)"
)
_WORK: Final = (
    r"(?:do|done|fix(?:ed)?|add(?:ed)?|writ\w+|test(?:ed)?|implement\w*|wir(?:e|ed)(?: up)?|cover\w*|"
    r"migrat\w*|check\w*|verif\w*|port(?:ed)?|review\w*|commit\w*|push(?:ed)?|merg\w*|integrat\w*|"
    r"hook(?:ed)? up|updat\w*)\b"
)
NEXT_STEP: Final = rule(
    sign(
        "next remaining still todo todos do dos left what's follow followups followup done outstanding "
        "pending",
        rf"^\W*{_REMAINS}(?:\s*[:：]|\s+[—–-])\s*\S",
    ),
    sign(
        "next",
        r"\bnext (?:logical |concrete |big )?(?:steps?|tasks?|thing|item|move|job|piece) "
        r"(?:(?:in|of|on|for) (?:the |this |our )?[\w-]{1,40} )?(?:is|are|will be|"
        r"would be|should be|to do)\b|"
        r"^\W*next,? (?:we|i|you)(?:'ll| will| need to| should| have to| must) (?!now\b)\w",
    ),
    sign(
        "still yet remains remain left remaining",
        rf"\b(?:i|we|you)(?:'ll)? still (?:need|have to|must|want to)\b|"
        rf"\bstill (?:needs?|requires?) (?:to |an? |its |some |more |tests?\b|docs?\b|work\b|review|human )|"
        rf"\bstill (?:has|have) to \w|\b(?:remains?|left|still|yet) to (?:be )?{_WORK}|"
        rf"\bremaining (?:work|task|piece|item|step)s? (?:is|are)\b",
    ),
    sign(
        "final last next remaining",
        r"^\W*(?:now )?(?:comes )?(?:the )?(?:final|last|next|(?:only )?remaining) (?:task|step|item|piece)"
        r"(?:\s*[:：]|\s+[—–-])\s*\S",
    ),
    sign(
        "then after once before",
        r"(?:^|[,;.]\s*|\band )(?:then|after that,?|afterwards,?) (?:we|i|"
        r"you)(?:'ll)? (?:still )?(?:need to|have to|must|should)\b|"
        r"^\W*once\b.{1,100}, (?:we|i|you) (?:need to|have to|must|should|can then|will need to)\b|"
        r"\bbefore (?:merging|releasing|the release|committing|shipping),? (?:we|you|i) (?:need|must|should|"
        r"have to)\b",
    ),
    sign(
        "not hasn't haven't isn't aren't",
        rf"\b(?:is not|are not|has not been|have not been|hasn't been|haven't been|isn't|"
        rf"aren't) {_WORK} yet\b|\b(?:is|are|has|have) not yet (?:been )?{_WORK}",
    ),
    sign(
        "todo requires needs",
        r"\btodo\b\s*(?:\([^)]{0,30}\))?\s*[:：]\s*\S|\b(?:needs|requires) (?:a )?follow[- ]?up\b",
    ),
    sign(
        "下 接 还 待 后 尚 剩",
        r"下一步(?:是|要|需要|将|应该|可以|：|:|，)|接下来(?:要|需要|还要|应该|可以|的工作|的任务|：|:|，)|还需要?|待办(?:事项)?[：:]|"
        r"后续(?:需要|工作|要|：|:)|尚未(?:实现|完成|提交|测试|合并|接入)|剩下的?(?:工作|任务|就?是|还有)",
    ),
    unless=r"^\W*(?:this|that|it|these) (?:is|was|are|were) (?:the|an?|one) (?:\w+ ){0,2}"
    rf"(?:remaining|next|pending)\b[^:]{{0,40}}$|{QUESTION}|\bnext (?:line|token)\b|\bto be able\b|"
    rf"\bshould (?:now )?(?:see|be able|work|have)\b|^\W*(?:pros|cons)\b|^\W*next,? (?:i'll|i will|"
    rf"let me) (?:now )?(?:check|look|read|run|see|"
    rf"search|grep|view|examine|verify|explore)\b|"
    rf"接下来[，,]?我(?:来|先|现在|将|会|就)|不再?还?需要|(?:是否|可能)还需",
    hedge=rf"\b(?:if|whether|no longer|nothing|don't|doesn't)\b{BEFORE}",
    headings="next|next step|next steps|next up|next actions|recommended next steps|suggested next steps|"
    "possible next steps|remaining|remaining work|remaining tasks|remaining items|remaining steps|"
    "still to do|still open|still missing|still needed|to do|to-do|todo|todos|to-dos|todo list|left to do|"
    "what's left|what is left|what's next|what remains|follow-up|follow-ups|followups|not done|not yet done|"
    "outstanding|outstanding work|pending|pending tasks|pending work|"
    "下一步|下一步计划|下一步工作|接下来|待办|待办事项|后续|后续工作|"
    "后续步骤|剩余工作|剩余任务",
)

_WAY: Final = r"(?:\w+ )?(?:option|approach|idea|possibility|alternative|way|route|solution|fix|fallback)"
UNTRIED: Final = rule(
    sign(
        "try experiment",
        r"\b(?:we|you|i|one) (?:could|might|may|can) (?:also |always |instead |still |then )?(?:try|"
        r"experiment with)\b",
    ),
    sign("alternatively", r"^\W*alternatively\b,?\s*\S|\b(?:or|but) alternatively\b"),
    sign(
        "another other second more alternative different possible",
        rf"\b(?:another|one other|a second|the other|one more|an alternative|a different|"
        rf"a possible) {_WAY}(?: \w+){{0,3}} (?:is|would be|could be|might be|may be)\b|"
        rf"\b(?:an|one) alternative (?:is|would be|could be|might be)\b|"
        rf"^\W*(?:another|alternative) {_WAY}\s*[:：]\s*\S",
    ),
    sign(
        "tried try untried untested",
        r"\b(?:haven't|have not|hasn't been|has not been|not) (?:yet )?(?:been )?tried\b|\bdidn't try\b|"
        r"\buntried\b|\bnever tried\b|\b(?:remains|is|are) untested\b",
    ),
    sign(
        "worth",
        r"\b(?:might|may|could|would|is|be|it's|also) (?:also |still )?(?:be )?worth (?:trying|exploring|"
        r"a try|a shot)\b",
    ),
    sign(
        "if fallback resort",
        r"\bif (?:that|this|it) (?:doesn't|does not|fails|still)\b.{0,40}, (?:we|you|i) (?:could|can|"
        r"might)\b|\bas a (?:last resort|fallback),? (?:we|you|i) (?:could|can|might)\b",
    ),
    sign(
        "试 尝 另 备 或",
        r"还?没有?试过?|(?:尚|还)未(?:尝试|试)|可以(?:再|也|考虑)?(?:试试|尝试|试一下)|或者也?可以|备选方案(?:是|：)|"
        r"另一[种个](?:方案|办法|思路|方法|选择)(?:是|可以)",
    ),
    unless=rf"{QUESTION}|\b(?:let me|i'll) try\b|\bi tried\b.{{0,100}}\b(?:and|it) work(?:s|ed)\b|"
    r"让我再?(?:试|尝试)|我(?:来|先)试|没试图",
    headings="not tried|not yet tried|not tried yet|untried|untried ideas|ideas not tried|ideas to try|"
    "alternatives|alternative approaches|alternatives not tried|other ideas|未尝试|未尝试的想法|备选方案",
)

_CHECKED: Final = (
    r"\b(?:tests?|specs?|suites?|checks?|assertions|builds?|lint(?:ing|er)?|ci|pipeline|typecheck|"
    r"type[- ]?checking|mypy|pyright|ruff|eslint|tsc|compilation|everything|all(?: of them)?|\d+)"
)
_STEADY: Final = (
    r"(?: (?!if\b|once\b|when\b|until\b|to\b|that\b|should\b|will\b|can\b|must\b|would\b|not\b|"
    r"don't\b)\w+){0,3}?"
)
_BUT_NOT: Final = (
    r"\b(?:but|however|although|except)\b(?! no\b).{0,100}\b(?:fail\w*|errors?|broken|breaks?|crash\w*|"
    r"hangs?|time-?outs?|timed out|killed|doesn't|didn't)\b|但.{0,40}(?:失败|报错|错误|崩溃|超时)"
)
_GOES_ON: Final = (
    r"\b(?:still|i'm) (?:re-?)?running\b|\b(?:under ?way|in progress|still passing)\b|"
    r"还在(?:跑|运行)|正在(?:跑|运行)"
)
"""A run that is still going on confirms nothing."""
_SAYS_NOT_WHAT: Final = (
    r"^\W*(?:(?:all|everything|it|this|that|both|it's|that's|is|are|now|works?|working|green|pass|passes|passed|"
    r"passing|fixed|clean|verified|confirmed|resolved|again|fine|correctly|fully|good)\b\W*){1,5}$|"
    r"^\W*(?:现在|已经?|都|均|全部|一切|问题){0,3}(?:验证)?(?:通过|修复|解决|正常|成功)了?\W*$|"
    r"^\W*(?:the|this|that|my|our) (?:\w+ )?(?:function(?:ality)?|install(?:ation)?|feature|fix|code|"
    r"implementation|changes?|solution|script|command|tool|approach|setup)(?: \w+){0,2} (?:works?|working|"
    r"fixed)(?: (?:now|again|correctly|properly|perfectly|fine|great|as \w+))*\W*$"
)
CONFIRMED: Final = rule(
    sign(
        "pass passes passed passing green succeeds succeed succeeded",
        rf"{_CHECKED}{_STEADY} (?:now |all |still |also |both |again |cleanly )*(?:pass|passes|passed|"
        rf"passing|green|succeeds?|succeeded)\b",
    ),
    sign(
        "clean green",
        r"\b(?:tests?|build|lint|linting|typecheck|mypy|pyright|ruff|eslint|tsc|credo|output|tree|suite|"
        r"ci) (?:is|are|comes out|came out|runs?) (?:now |all |fully )*(?:clean|green)\b",
    ),
    sign(
        "verified confirmed",
        r"(?:^\W*|\b(?:i|we|i've|we've|have|also|and|been|is|was|now|both|all) )(?:verified|"
        r"confirmed)\b(?=\s*[:,]|\W*$|\s+(?:that|by|with|in|on|it|this|the|all|both|via|against|end|locally|"
        r"manually|working|fixed|live|\w+ing)\b)",
    ),
    sign(
        "works working",
        r"\bworks (?:now|again|as (?:expected|intended|designed|before|it should)|correctly|fine|perfectly|"
        r"end[- ]to[- ]end|reliably|great|on (?:both|all))\b|\bnow works\b|"
        r"\bworking (?:now|again|as expected|correctly|properly|perfectly)\b|\b(?:is|are) now working\b",
    ),
    sign(
        "fixed resolved",
        r"\b(?:is|are|was|were|been|now|it's|that's|got) (?:now )?(?:fixed|resolved)(?! (?:size|width|"
        r"height|length|point|set|number|position|rate|to|from|at|relative))\b|"
        r"^\W*fixed (?:by|in|with|it|the|this|that|both|all)\b|"
        r"(?<!\bis )(?<!\bare )\bfixed (?:by|in|with|it by)\b",
    ),
    sign(
        "已 验 全 都 均 测 构 编 运 部 工 显 功 可",
        r"已(?:全部|经)?(?:通过|修复|解决|验证)|验证通过|(?:全部|都|均)已?通过|测试通过|(?:构建|编译|运行|部署|测试)成功|(?:工作|运行|显示|功能)"
        r"(?:都|均)?正常|"
        r"可以正常",
    ),
    unless=r"\b[1-9]\d* (?:\w+ )?(?:fail|error)|"
    rf"{_BUT_NOT}|{_GOES_ON}|{_SAYS_NOT_WHAT}|{QUESTION}|"
    rf"\b(?:doesn't|don't|didn't|does not|did not|isn't|aren't|wasn't|not|never|no longer) (?:\w+ )?(?:work|"
    rf"works|working|pass|fixed|verified|confirmed|resolved|clean|green)\b|"
    rf"\b(?:unverified|unconfirmed|0 (?:tests? )?pass|none (?:of \w+ )?pass|only works|almost|"
    rf"works? until)\b|\blet me (?!know)|^\W*(?:now )?(?:i'll|i will)\b|"
    rf"\b(?:should|will|would|must|to|can|could|may|might) (?:now |then |all |also |be |still )*(?:pass|"
    rf"work|works|succeed|fixed|verified|confirmed|resolved|clean|green|working)\b|"
    rf"\b(?:is|are|was|were|be|being|been|gets?) passed\b|"
    rf"\b(?:pass|passes|passing|passed) (?:to|into|as|via|down|along|the|it|an?)\b|"
    rf"未通过|没有?通过|不通过|无法|不正常|如果|"
    rf"是否|假如|可能|需要|应该|确保|直到|等到",
    hedge=rf"{_OUGHT}{BEFORE}",
    headings="confirmed|confirmed working|verified|what works|what's working|已验证|已确认",
)

_FAILS: Final = (
    r"(?:fails?|failed|failing|crashes|crashed|errors out|errored|hangs|hung|timed out|times out|breaks|"
    r"broke)"
)
FAILURE: Final = rule(
    sign(
        "didn't doesn't don't not isn't wasn't",
        r"\b(?:didn't|did not|doesn't|does not|don't|do not|isn't|wasn't) (?:actually |quite |seem to |"
        r"really |even |always )?(?:work|working|help|fix|solve|resolve|do the trick|make (?:a|"
        r"any) difference|change anything)\b",
    ),
    sign(
        "still again",
        r"\b(?:still|again) (?:fail(?:s|ed|ing)?|broken|crash(?:es|ed|ing)?|hang(?:s|ing)?|tim(?:es|ed) out|"
        r"error(?:s|ed)(?: out)?)\b",
    ),
    sign(
        "fails fail failed failing crashes crashed errors errored hangs hung timed times breaks broke",
        rf"\b{_FAILS} (?:with|because|due to|since|on|at|as|in|after|again)\b",
    ),
    sign(
        "fail fails failed failing broken broke",
        r"\b[1-9]\d* failed\b|"
        r"\b(?:\d+|one|two|three|four|five|some|several|many|multiple|few|most|these|those|both|the|"
        r"all) (?:(?:of|the|\w+) ){0,2}(?:tests?|checks?|specs?|cases|jobs?|builds?) (?:are |is |still |"
        r"now |also |all )*(?:failed|fails?|broke|(?:failing|broken)(?!(?: now| again| currently)?\W*$))\b"
        r"(?! (?:if|when))|"
        r"\b(?:test|build|command|migration|install|deploy|deployment|compile|job|run|attempt|approach|"
        r"request|push|merge|lint|typecheck) (?:has |now |still |just |also )?fail(?:s|ed)\b(?! (?:if|when|"
        r"gracefully|silently|fast|over|back|open|closed))",
    ),
    sign(
        "tried attempted",
        r"\b(?:i|we) (?:also |first )?(?:tried|attempted)\b.{1,160}\b(?:but|however|no luck|didn't|failed)\b",
    ),
    sign(
        "couldn't could unable",
        r"\b(?:couldn't|could not) (?:get|make|reproduce|install|connect|find a way|run|reach)\b|"
        r"\b(?:was|were|am|is|are) unable to (?:reach|connect|install|run|reproduce|get|make|build|start)\b",
    ),
    sign(
        "luck dead success avail ruled reverted rolled backed",
        r"\b(?:no luck|dead end|without success|to no avail)\b|\b(?:was|were|been|i|we) ruled out\b|"
        r"\b(?:reverted|rolled back|backed out)\b.{1,160}\b(?:because|since|as it|broke|caused|failed)\b",
    ),
    sign(
        "败 行 没 不 报 效 超",
        r"失败(?:了|：|:|，|。|$|的原因)|不行|没有?用(?:[，。！]|$)|不起作用|(?:仍然?|还是|依然)"
        r"(?:报错|失败|无法|超时)|报错(?:：|:|了)|"
        r"(?:修改|尝试|方法|方案)无效|超时(?:了|失败)",
    ),
    unless=r"^\W*(?:does|do)(?:n't| not)\b|"
    r"^\W*(?:(?:bugs?|issues?|problems?|findings?|p\d)\b|问题|缺陷)[^:：]{0,12}[:：]|"
    r"\b(?:works?|working|done|complete)\b[^.;:]{0,20}\bbut (?:is |are |still )*failing\b|"
    rf"{QUESTION}|"
    rf"\b(?:no longer|never|won't|0|zero|no|none|without) (?:\w+ )?(?:fail|fails|failed|failing|broken|"
    rf"crash(?:es)?)\b|\b(?:expected|designed|supposed|intended|meant) to (?:fail|crash|break)\b|"
    rf"\bfail\w* as expected\b|\bxfail\b|\bfix(?:ed|es)? the (?:failing|broken)\b|"
    rf"\b(?:was|were) (?:previously )?failing\b|"
    rf"\b(?:tests?|cases?|checks?|asserts?|verif(?:y|ies)|handles?|covers?|simulates?|ensures?) (?:that|"
    rf"what happens|when|if|for|the case)\b|"
    rf"如果|是否|假如|不行的话|失败(?:时|则|后(?:会|将))|不会失败|没有失败|行不行",
    hedge=rf"\b(?:if|when|whenever|whether|would|could|might|may|should|unless|in case|will|to|can|must|"
    rf"until|that|which|where|why|likely|probably|0)\b{BEFORE}",
    headings="tried and failed|what failed|what didn't work|didn't work|failed attempts|failed approaches|"
    "dead ends|尝试过但失败|失败的尝试",
)
