"""Statement rules: which words of an agent mean a next step, a decision, a need, a result or a failure.

Tables and patterns for folded text (lower case, `'` for every apostrophe), except those of measurements: `MB`
and `mb` differ. `reader` applies them to a text; `evidence.kinds` has a row for each kind of statement;
`prompt_rules` has the rules for users' texts. Repetitions are bounded, so that no sentence can make a pattern
slow.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from typing import Final

from holdfast.core.text.lazy_patterns import compiled
from holdfast.lazy_dataclass import dataclass

_NOTHING: Final = r"(?!)"
_CLAUSE_LENGTH: Final = 60
QUESTION: Final = r"[?？]\W*$|吗[。！]?$"


# Compiling eighty patterns takes longer than most commands run, and few commands read prose.
cached_pattern: Final = cache(re.compile)


@dataclass(frozen=True, slots=True)
class Sign:
    """A way to say something: the pattern is searched only if one of the words occurs."""

    words: frozenset[str]
    pattern: str


@dataclass(frozen=True, slots=True)
class ProseRule:
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
                return not cached_pattern(self.unless).search(folded)
        return False

    def matches_heading(self, under: Collection[str], folded: str) -> bool:
        """Whether a heading above the sentence makes it one of this kind."""
        return not self.headings.isdisjoint(under) and not cached_pattern(self.unless).search(folded)

    def _has(self, sign: Sign, folded: str) -> bool:
        hedge = cached_pattern(self.hedge)
        for match in cached_pattern(sign.pattern).finditer(folded):
            if not hedge.search(folded, max(0, match.start() - _CLAUSE_LENGTH), match.start()):
                return True
        return False


def sign(words: str, pattern: str) -> Sign:
    """A sign from its words, separated by spaces, and its pattern."""
    return Sign(frozenset(words.split()), pattern)


def rule(*signs: Sign, unless: str, hedge: str = _NOTHING, headings: str = "") -> ProseRule:
    """A rule from its signs; the headings are separated by `|`."""
    return ProseRule(
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


# ---------------------------------------------------------------- decisions

_I: Final = r"\b(?:i'll|we'll|i will|we will|let's|i'm going to|we're going to)"
_WHY: Final = r"\b(?:because|since|so that|to avoid)\b"
_REASON: Final = r"\b(?:because|since|rather than|instead|so that|to avoid|over)\b"
_CHOOSE: Final = (
    r"(?:use|keep|put|store|make|pick|choose|prefer|move|place|leave|skip|replace|treat|return|implement|"
    r"split)\b"
)
_CHOOSING: Final = (
    r"(?:using|keeping|making|treating|storing|putting|skipping|leaving|splitting|moving|replacing|switching|"
    r"dropping|removing|preserving|reusing)\b"
)
_LOOKING: Final = (
    r"(?:\w+ly |just |also |now |first ){0,3}(?:ask|begin|check|close|commit|continue|dig|examine|explore|"
    r"find|get|go|help|inspect|investigate|list|look|mark|need|open|proceed|push|re-?run|read|review|run|search|"
    r"see|show|start|take|try|trace|verify|view|wait)\b(?! with\b)"
)
"""What an agent does all the time is no choice, even with a reason."""
_HOW_TO_LOOK: Final = (
    r"\bswitch(?:ing)? to (?:\S+ ){0,5}?(?:diffs?|look-?ups?|search(?:es)?|grep|rg|history|logs?|reading|"
    r"inspection)\b(?! (?:file|index|level|engine|table)s?\b)"
)
"""Another way to look something up is no decision about the work."""
_WILL: Final = (
    r"\b(?:i'll|i will|we'll|we will|i'm going to|we're going to|let's|let me|i need to|we need to|i should|"
    r"we should|i have to|we have to)"
)
_BEST: Final = (
    r"(?:best|better|cleanest|cleaner|simplest|simpler|safest|safer|right|correct|proper|smallest|minimal)"
)
_CHANGED: Final = (
    r"(?:changed|converted|deleted|dropped|fixed|merged|migrated|modified|refactored|removed|renamed|"
    r"restored|reused|reverted|rewrote|split|updated|used)"
)
_NOW: Final = (
    r"now (?:\w+ly )?(?:calls|checks|compares|counts|goes|keeps|loads|opens|reads|returns|reuses|runs|sends|"
    r"shows|stores|takes|uses|writes)"
)

DECISION: Final = rule(
    sign(
        "decided chose chosen opted settled agreed picked went switched",
        r"\b(?:i|we|you|the user)(?:'ve| have|'d| had)? (?:\w+ly |also |already |just )?(?:decided (?:to|on|"
        r"against|that|not)|chose|chosen|opted (?:for|to)|settled (?:on|for)|agreed (?:to|on|that)|picked|"
        r"went with|switched)\b",
    ),
    sign(
        "decision decisions",
        r"^\W*(?:(?:key|design|my|final|technical|architecture) )?decisions?(?: made)?(?:\s*[:：]|"
        r"\s+[—–-])\s*\S",
    ),
    sign(
        "going sticking staying",
        r"(?:^\W*|[,;:—]\s*|\b(?:so|i'm|we're|i am|we are) )(?:going|sticking|staying) with\b",
    ),
    sign(
        "go stick stay opt settle switch adopt",
        rf"{_I} (?:go with|stick (?:with|to)|stay with|opt for|settle on|switch to|adopt)\b",
    ),
    sign(
        "because since rather instead so avoid over",
        rf"{_I} (?:\w+ly |just |also |instead )?{_CHOOSE}.{{0,200}}{_REASON}|"
        rf"\b(?:let me|let's) (?:\w+ly |just |also |instead )?(?:{_CHOOSE}|go with|switch to|"
        rf"do\b).{{0,200}}{_WHY}|"
        rf"\b(?:i'm|we're|i am|we are) (?:\w+ly )?(?:using|keeping|making|treating|storing|putting|skipping|"
        rf"leaving|splitting|moving)\b.{{0,200}}{_REASON}|"
        rf"^\W*(?:i(?:'ve)? |we(?:'ve)? )?(?:used|moved|kept|made|put|switched|chose|picked|added|"
        rf"implemented|stored|replaced|extracted|placed|skipped|left|avoided|preferred|"
        r"went)\b[^:]{0,200}\b(?:rather than|instead of|because|since|over)\b|\b(?:was|were|been) (?:chosen|"
        r"picked|preferred|selected)\b.{0,120}\b(?:over|because|since|rather|instead)\b",
    ),
    sign(
        "let's",
        r"(?:^\W*|[,;:]\s*)let's (?:use|store|put|go for|make it)\b(?! (?:it|this|that|these|"
        r"those)\b)(?!.{0,60}\b(?:to (?:find|check|see|look|search)|tool|grep)\b)",
    ),
    # The reason comes first: "Since the caller has asked already, I'll pass `force`."
    sign(
        "since because given",
        rf"\b(?:since|because|given(?: that)?)\b [^;:?]{{8,180}}?, "
        rf"(?:i'll|i will|we'll|we will|i'm going to|let's) (?!{_LOOKING})\w",
    ),
    sign(
        "so therefore",
        rf", (?:so|therefore),? (?:i'll|i will|we'll|we will) (?:\w+ly |just |also |instead )?{_CHOOSE}|"
        rf", (?:so|therefore),? (?:i'm|we're|i am|we are) (?:\w+ly |just |also |instead )?{_CHOOSING}",
    ),
    # The rejected alternative is named.
    sign(
        "instead rather",
        rf"{_WILL} (?!{_LOOKING})[^;?]{{2,160}}?\b(?:instead of|rather than)\b|"
        rf"{_WILL} (?!{_LOOKING})[^;?]{{2,160}}?(?:\band instead \w|\binstead,? (?:since|because|so that)\b)|"
        rf"(?!\blet){_WILL} (?:just |also |\w+ly )?(?:change|drop|keep|make|put|remove|replace|rewrite|store|"
        rf"switch|use)\b[^;?]{{2,120}}?\binstead\W*$|"
        rf"\b{_NOW}\b.{{0,160}}\b(?:instead of|rather than)\b",
    ),
    sign(
        "instead rather because since so avoid",
        rf"^\W*(?:\S{{1,80}} [-—–] )?(?:i(?:'ve)? |we(?:'ve)? )?{_CHANGED}\b[^:]{{0,200}}"
        rf"\b(?:instead of|rather than|because|since|so that|to avoid)\b",
    ),
    sign(
        "best better cleanest cleaner simplest simpler safest safer right correct proper smallest minimal",
        rf"\b{_BEST} (?:solution|approach|fix|way|option|choice|behaviou?r|design)(?: here| now)? is "
        rf"(?:simply |just |actually )?(?:not )?to (?!{_LOOKING})\w",
    ),
    sign("fix", rf"\bthe (?:real |actual )?fix is (?:simple: |(?:simply |just )?to (?!{_LOOKING}))\w"),
    sign(
        "因 由 鉴",
        r"(?:因为|由于|鉴于).{1,80}[，,](?:所以|因此)?(?:我们?)?(?:将|会|就|直接|选择|决定){0,2}"
        r"(?:用|使用|改用|改为|采用|保留|跳过|沿用|放弃)",
    ),
    sign("而 代 替 取", r"(?:使用|改用|采用|保留|改为|我们?用).{1,60}(?:而不是|而非|来?代替|来?替代|取代)"),
    sign("决 改 采 选", r"决定(?!于|性|论|因素|权)|改用|(?:采用|选用|选择)(?!题|器|框|性|的是?哪)"),
    unless=rf"{QUESTION}|^\W*(?:if|should|would|could|shall)\b|\bwould you (?:like|prefer)\b|\bundecided\b|"
    r"\b(?:not|n't|need to|have to|to be|yet to|you can|you could|help) (?:yet )?(?:decide|decided|choose|"
    r"chosen)\b|\blet me (?:check|see|look|verify|read|find)\b|\bdecision is yours\b|"
    r"\bif [^,;]{1,80}, (?:i'll|i will|we'll|we will)\b|"
    rf"{_HOW_TO_LOOK}|\b(?:signature|api|format|it) (?:has |was )?changed\b|"
    r"^\W*(?:[\w']+,? ){0,5}(?:use|keep|do|put|make|chose|choose|pick|picked|going with|go with|went with|"
    r"stick with|switch to) (?:it|this|that|these|those|them|both)(?: (?:instead|then|now|too|for now))*\W*$|"
    r"^\W*(?:让我|我来|我先)(?!.*(?:因为|由于|以便|避免|以免))|尚未决定|还没决定|未决定|取决|是否|"
    r"由[^，。]{1,12}决定|可以选择|请选择",
    hedge=rf"\b(?:if|whether|when|could|might|would|should|can|unless)\b{BEFORE}",
    headings="decision|decisions|key decisions|design decisions|decisions made|my decisions|final decision|"
    "technical decisions|决定|决策|关键决策|设计决策",
)


# ---------------------------------------------------------------- prerequisites of the work

_TOOL: Final = (
    r"(?:node(?:\.?js)?|python|golang|go|rust|java|jdk|ruby|php|elixir|erlang|bun|deno|pnpm|npm|yarn|docker|"
    r"podman|kubernetes|redis|postgres(?:ql)?|mysql|mariadb|mongodb|sqlite|kafka|rabbitmq|nats|minio|"
    r"elasticsearch|memcached|localstack|ollama|chrome|chromium|playwright|ffmpeg|cuda|xcode|android sdk)"
)
_SERVICE: Final = r"(?:server|daemon|database|emulator|simulator|containers?|service|stack|vpn|proxy|tunnel)"
_PLACE: Final = (
    r"(?:`?https?://(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])\S*|port `?\d{2,5}|localhost:\d{2,5})"
)
_VARIABLE: Final = r"`?\$?[a-z][a-z0-9]*_[a-z0-9_]{2,}"
_MUST: Final = r"(?:must|needs? to|ha(?:s|ve) to)"

NEED: Final = rule(
    sign(
        "requires require needs need depends",
        r"\b(?:requires?|needs?|depends? on)"
        r"(?: (?:an?|the|at least|running|local|recent|to have|access to|both|only)){0,3}"
        rf" `?{_TOOL}\b(?! (?:code|style|apis?|imports?|strings?|objects?|arrays?|modules?|types?|syntax))",
    ),
    sign(
        "must needs need has have",
        rf"\b(?:{_TOOL}|the (?:\w+ ){{0,2}}{_SERVICE})"
        rf" {_MUST} be (?:running|started|up|installed|reachable)\b",
    ),
    sign(
        "set export exported",
        rf"\b(?:{_MUST}|remember to|make sure to) (?:\w+ ){{0,3}}(?:set|export)"
        rf" (?:the )?(?:\w+ ){{0,2}}{_VARIABLE}"
        rf"|{_VARIABLE}`? {_MUST} be (?:set|exported)\b",
    ),
    sign(
        "first before",
        r"^\W*(?:first,? )?(?:run|execute|install|activate|source|start) `[^`]{2,60}`"
        r" (?:first\b|before (?:you|running|starting|the|any))",
    ),
    sign(
        "running runs listens listening served reachable up",
        rf"\b(?:{_SERVICE}|db|app|api|ui|dashboard|site|{_TOOL})\b.{{0,40}}"
        rf"\b(?:running|runs|listens|listening|served|reachable|up) (?:at|on) {_PLACE}",
    ),
    sign(
        "需 依 必 先",
        rf"(?:需要|必须)先?(?:启动|安装|设置|配置|运行)|(?:依赖|需要)\s?{_TOOL}|先(?:启动|安装|运行)",
    ),
    unless=r"[?？]\W*$|^\W*(?:if|when|whether|let me|now i|i'll|i need to)\b|不需要|无需"
    r"|\b(?:no longer|doesn't|does not|don't|do not|didn't|without|never|not) (?:\w+ )?"
    r"(?:needs?|requires?|depend|running)\b",
    hedge=r"\b(?:if|whether|would|could|might|unless|in case)\b[^,;.:—]{0,50}$",
    headings="prerequisites|prerequisite|environment prerequisites|environment setup|前置条件|环境要求",
)


# ---------------------------------------------------------------- signs that need no rule

OPEN_QUESTIONS: Final = frozenset(
    ("open questions", "open question", "questions", "remaining questions", "未决问题", "待确认")
)
"""Headings under which every sentence is an open question."""
_ASKED_OF_USER: Final = compiled(
    r"\byou(?:r|'d|'re|'ve)?\b|\b(?:should|shall|may|can|could|do) (?:i|we)\b|\bwant me\b|"
    r"\bwhich (?:\w+ )?(?:option|approach|one|of)\b|你|您|要不要|需要我|是否需要|哪[个种一]"
)
_IDLE_QUESTION: Final = compiled(
    r"^\W*(?:(?:how|what) (?:can|may|should) i (?:help|assist|do)|what would you like me to (?:do|help|"
    r"search|explore|find|investigate|analyze|work)|what (?:are|would) you (?:look|interest|like|want)|"
    r"is there anything else|anything else|does (?:that|this) (?:help|make sense)|makes? sense|sounds? good|"
    r"wait|hmm|but wait|so what|let me|what (?:happened|changed|does this mean|is happening|went wrong)|"
    r"what's (?:happening|going on|wrong|new)|why (?:does|did|is) (?:this|that|it)\b|who knows|guess what|"
    r"see what|还有(?:什么|其他)|有什么(?:可以|能)帮|让我|为什么会)|"
    r"\b(?:anything else|can i help|help you with|would you like to explore)\b|"
    r"^\W*(?:ready|right|see|why|how|really|so|the (?:problem|issue|result|answer|catch|reason|fix))\W*$"
)

_DIGIT: Final = compiled(r"\d")
_QUOTED: Final = compiled(r"`[^`]*`|\"[^\"]*\"|“[^”]*”")
_MEASURE: Final = compiled(
    r"\d(?<![A-Za-z0-9_.:/#@=<>≥≤-]\d)(?<!line \d)"
    r"(?<!lines \d)(?!(?<=1)00\s?%)"
    r"(?:[\d,]{0,20}\d)?(?:\.\d{1,9})?(?:\s?(?:[mµμun]s|secs?|seconds?|mins?|minutes?|"
    r"hours?|hrs?|[KMGT]i?B|[kmg]b|[KMG]bps|[KMG]?B/s|bytes|%|fps|rps|req/s|ops/s|qps|milliseconds?|"
    r"microseconds?)(?![A-Za-z0-9_-])|\s?[sh](?![\w-])|[x×](?![\w-])|\s?percent\b| times (?:faster|slower|"
    r"smaller|larger|more|fewer|less)\b|[kKM]? (?:\w+ ){0,2}(?:tests?|assertions|specs|checks|"
    r"examples) (?:\w+ ){0,2}(?:pass|fail|skip|green|ran|run)|[kKM]? (?:passed|failed|skipped|(?:passing|"
    r"failing)(?! tests)|tokens|requests|rows|records|events|characters|LOC)\b|(?:(?<=\d\d)|"
    r"(?<=\d)[kKM]) (?:\w+ )?(?:lines|files|tests|calls|commits|errors|warnings|failures|items|entries|"
    r"messages|sessions|matches|occurrences|queries|words)\b| (?:out )?of (?:the )?\d[\d,]*(?![\w.])|"
    r"\s?(?:毫秒|秒|分钟|小时|倍|字节)|\s?[个项条](?:测试|用例|错误|警告|文件)| ?行代码)"
)
_PERCENTILE: Final = compiled(r"\bp(?:50|75|90|95|99)\b\W{1,4}(?:\w+ ){0,3}\W?\d")
_NOT_MEASURED: Final = compiled(
    r"\d\s?\w{1,12} ago\b|\d\s?(?:毫秒|秒|分钟|小时)前|"
    r"\b(?:older|newer|longer|more|less) than ~?\d|\bper (?:page|request)\b|\bdebounc|"
    r"\b(?:at (?:least|most)|up to|every|max(?:imum)?(?: of)?|min(?:imum)?(?: of)?|limit(?:ed)?(?: of| to|"
    r" is)?|time-?outs?(?: of| is| to)?|within|defaults?(?: of| to| is)?|sleep|wait(?:s|ing)?(?: for)?|"
    r"ttl(?: of| is)?|interval(?: of| is)?|after|first|last|next|top|retry|line|lines|port):? ~?\d|"
    r"\b(?:waits?|sleeps?|polls?|throttles?|caps?|capped)\b[^,;.]{0,30}\d|设为|设置为|延迟(?:了|为)?\s?\d|"
    r"\d\s?\w+\s(?:default|debounce|time-?out|interval|ttl|delay|grace|limit|cap|window|retention)\b|"
    r"\b(?:let me|i'll|i will|should|must|would|could|aim|target|goal|budget|if)\b.{0,80}\d|至少|最多|不超过|"
    r"超时(?:时间)?(?:为|设)|[?？]\W*$"
)
_LINES: Final = compiled(r"~?\d[\d,.]*[kK]? (?:\w+ )?(?:lines|LOC)\b|\d+ ?行代码")
_COUNT_CHANGED: Final = compiled(
    r"\b(?:now|from|down|up|remov\w+|add(?:s|ed)|delet\w+|dropped|sav(?:e[sd]?|ing)|eliminat\w+|reduc\w+|shr[aiu]nk\w*|"
    r"gr[eo]w\w*|fewer|less|more|cut|total|went|vs|shows?|showed|counts|reports)\b|→|->|减少|增加|从|降|共",
    re.IGNORECASE,
)
"""Words that make a number of lines a result; otherwise it only describes a file."""

_DOING: Final = (
    r"(?:add|apply|analy[sz]e|begin|build|check|clean|commit|compare|continue|create|debug|dig|do|edit|"
    r"examine|explore|find|fix|gather|get|go|grep|help|implement|inspect|install|investigate|launch|list|"
    r"look|make|mark|move|open|proceed|pull|push|read|rebuild|refactor|remove|rename|replace|re-?run|review|"
    r"run|scan|search|see|set|show|simplify|start|take|test|trace|try|understand|update|use|verify|view|wait|"
    r"walk|work|write)\b"
)
_COURTESY: Final = (
    r"(?:that's )?(?:an? )?(?:good|great|fair|nice|excellent) (?:idea|question|catch|point|call)|"
    r"you're (?:absolutely |quite )?right|got it|agreed"
)
NARRATION: Final = compiled(
    rf"\W*(?:(?:{_COURTESY}|good|great|perfect|ok|okay|alright|right|now|so|first|next|then|yes|excellent|sure|"
    r"done|hmm|wait|actually|and|but|finally|also|(?:since|before|based on|looking at|"
    r"after) [^,]{1,60})[,.!:—-]*\s+){0,4}"
    rf"(?:let me\b|let's (?:first |now )?{_DOING}|(?:i'll|i will|i'm going to|i am going to|we'll|"
    rf"we will) (?:now |first |also |just |quickly |next |then )*{_DOING}|i(?:'m| am) (?:now |currently |"
    rf"also )?(?:about to|\w+ing)\b|"
    r"i (?:read|run|check|look at|open|start|try|list|search) .{1,60} first\b|"
    r"now i (?:need|can|have|see|understand|know|want|should)\b|i (?:now )?(?:see|can see|understand)\b|"
    r"(?:checking|running|looking|reading|updating|creating|starting|searching|fixing|writing|exploring|"
    r"verifying)\b|here(?:'s| is| are) (?:the|an?|my|what)\b|"
    r"(?:好的?[，,。]?)?(?:我现在|现在(?:我|让我|来|开始)|让我|我来|我先|首先[，,]?(?:我|让我)|接下来[，,]?我(?:来|先|将|会|就)|我将|我会先|正在))"
)
_GOING_ON: Final = (
    r"(?:running|compiling|building|installing|downloading|waiting|loading|finishing|continuing|progressing|"
    r"underway|in progress)\b(?! (?:at|on|under|as|in|fine|well|again)\b)"
)
INTENT: Final = (
    rf"\W*(?:(?:{_COURTESY}|good|great|perfect|ok|okay|alright|right|so|yes|excellent|sure|done|and|but|clean)"
    r"[,.!:—-]*\s+){0,3}"
    rf"(?:(?:now|first|then|finally|also)[,:]?\s+(?:also\s+)?(?:{_DOING}|(?:adjust|register|stage|tag|wire|"
    r"wrap|convert|extend)\b)\s"
    r"(?!(?:\S+\s){0,3}(?:is|are|was|were|has|have|pass|passes|fails?|shows?|takes?|took)\b)|"
    r"(?:i (?:still |also |just |now |first )*(?:need to|should|have to)|(?:still |also |just )*need to) "
    rf"(?:\w+ly |also |first |now )*{_DOING}|"
    rf"(?:still )?{_GOING_ON}|"
    rf"(?:[\w/`@.-]+ ){{1,5}}(?:is|are) (?:still |now |currently |almost )*{_GOING_ON}|"
    r"(?!.{0,160} - )(?:[^.!?。！？]|[.!?](?=\S)){1,160}[:：]$|"
    r"(?:好的?[，,。]?)?(?:现在(?:更新|添加|修改|运行|编写|写|检查|修复|创建|提交)|等待|"
    r"我(?:还|得)?(?:需要|要|应该)(?:先|再)?(?:看|查|读|检查|更新|修改|添加|运行|确认)|"
    r"(?:还在|仍在)(?:编译|运行|安装|等待|构建|下载)))"
)
"""More kinds of narration: an order to oneself, an intention, waiting, a lead-in on its own."""
POINTS_ON: Final = compiled(
    r"\b(?:following|these|those|this|that|because|since|are|is|was|follows?|either|both|options?|ways?|"
    r"reasons?|things?|steps?|files?|changes?|like|with|to|and|so|for)\s?[:：]\W{0,4}$|"
    r"(?:如下|因为|原因|以下|包括|方案|步骤)[:：]$"
)
"""The end of a lead-in whose content comes only after it."""
NO_STEP: Final = compiled(
    r"\W*(?:no|none|nothing|not(?! (?:yet|implemented|tested|covered|done|started))|n/a|无|没有|暂无|"
    r"不需要)(?![a-z-])"
)
"""The beginning of an item that says there is nothing to do."""

_CHECKS: Final = (
    r"(?:(?:all|both|the|of|these|those|unit|integration|browser|existing|new|full|whole|now|also|still|"
    r"\d[\d,]*|tests?|doctests?|specs?|suites?|checks?|lint(?:er|ing|s)?|formatting|builds?|compil(?:e|ation)|"
    r"type[- ]?check(?:s|ing|er)?|types|ci|mypy|pyright|ruff|eslint|tsc|credo|clippy|and|with|is|are|comes?|"
    r"runs?|pass|passes|passed|passing|green|clean|cleanly|successful(?:ly)?|succeeds?|succeeded|good|great|"
    r"perfect|ok|okay|everything|failures?|errors?|warnings?|issues?|no|again|out|in|total)\b\W{0,6}){1,24}"
)
CHECK: Final = compiled(
    rf"\W{{0,6}}{_CHECKS}|\W{{0,4}}(?:现在|已经?|都|均|全部|所有|单元|集成){{0,4}}"
    r"(?:测试|构建|编译|检查)(?:现在|已经?|都|均|全部){0,3}(?:通过|成功)了?\W{0,4}"
)
"""A sentence that only reports the result of checks: "All 12 tests pass, lint is clean.\""""

FAILING: Final = compiled(
    r"\b(?:is|are|'s|'re)(?: \w+){0,2} (?:failing|broken|crashing|hanging)\b|\b(?:fails|crashes|hangs|breaks|"
    r"times out|errors out)\b|\bstill (?:fail\w*|broken|crash\w*|hang\w*)|仍然?|还是|依然|目前|现在"
)
"""Words for a current failure, which the next statement may report as fixed."""
ATTEMPT: Final = compiled(
    r"\b(?:tried|attempted|didn't|did not|couldn't|could not|failed|crashed|hung|timed out|broke|reverted|"
    r"rolled back|backed out|ruled out|dead end|no luck)\b|试过|尝试了"
)
"""Words for an attempt that failed, which stays true."""


def says_nothing(text: str) -> bool:
    """Whether an answer only says that there is nothing to store."""
    return _NO_REPLY.fullmatch(text) is not None


_NO_REPLY: Final = re.compile(r"\W*NO_REPLY\W*")


def asks_user(question: str) -> bool:
    """Whether a folded sentence is a question to the user, and more than a courtesy."""
    return question[-1] in "?？" and _ASKED_OF_USER.search(question) is not None and not is_idle(question)


def is_idle(question: str) -> bool:
    """Whether a folded question expects no answer."""
    return _IDLE_QUESTION.search(question) is not None


def states_measure(sentence: str) -> bool:
    """Whether a sentence states a measured number, outside code and quotations."""
    if not _DIGIT.search(sentence):
        return False
    words = _QUOTED.sub("`", sentence)
    if not _COUNT_CHANGED.search(words):
        words = _LINES.sub("", words)
    measure = _MEASURE.search(words) or _PERCENTILE.search(words)
    return measure is not None and not _NOT_MEASURED.search(words.lower().replace("’", "'"))
