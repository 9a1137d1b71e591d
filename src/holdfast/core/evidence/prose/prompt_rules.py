"""Prompt rules: which words of a user are a constraint, a request, an answer or a remark.

Patterns for folded text, like those of `statement_rules`.
"""

from __future__ import annotations

import re
from typing import Final

from holdfast.core.evidence.prose.statement_rules import rule, sign

_CLAUSE: Final = (
    r"(?:^\W*|[,;:!(—–]\s*|\s-\s|(?<!\bi )(?<!\bwe )(?<!\bit )\b(?:and|but|so|please|then|also|just|ok|okay|"
    r"no|yes|yeah|wait|well|btw|hey|again|you can|you must)[,:!]?\s+)"
)
"""Where an order may begin: a clause without a subject."""
_VERB: Final = (
    r"(?:add|allow|apply|build|call|change|check|choose|commit|convert|copy|create|delete|deploy|do|edit|"
    r"export|fix|format|generate|give|go|implement|import|include|install|limit|list|load|log|make|migrate|"
    r"modify|move|name|open|pass|pin|print|push|put|raise|read|refactor|release|remove|rename|render|replace|"
    r"report|restrict|return|rewrite|run|save|search|send|set|ship|show|start|store|support|switch|target|"
    r"test|touch|treat|update|use|work|wrap|write)\b"
)
_REQUEST: Final = (
    r"\b(?:(?:can|could|would|will) (?:you|we)|let'?s|i(?:'d| would)? (?:want|like|need|love|prefer)|"
    r"how about|please|you should|we should|we need|we want)\b"
)
_POLITE: Final = (
    rf"^(?=.*\?)(?!.*\b(?:explain|why|what|show me|how does|tell me|"
    rf"understand)\b).{{0,80}}{_REQUEST}.{{0,200}}\b(?:instead|make sure|rather than|avoid|keep|never|don't|"
    rf"only use|without (?:touch|chang|break|us|add)ing)\b"
)
"""A polite order in the form of a question."""
_AGREES: Final = (
    r"(?<![a-z]s )(?<!\bi )(?<!\bwe )(?<!\byou )(?<!\bthey )(?<!\bwho )(?<!\bthat )(?<!\bwhich )(?<!\bwhy )"
    r"(?<!people )(?<!ly )(?<!also )(?<!just )(?<!still )(?<!even )"
)
"""After a singular noun, "don't" begins an order without a comma; a statement would use "doesn't"."""
_NOT_AN_ORDER: Final = (
    r"(?!know|think|understand|remember|recall|believe|worry|mind\b|have\b|see (?:why|how|any|the|it)|"
    r"get (?:it|why|what|how)|seem|work|we\b|you (?:think|want|see|have|know)|i\b|like\b)"
)
_IDLE_NO: Final = (
    r"(?!one\b|idea|problem|worries|matter|longer|luck|way\b|doubt|clue|thanks|errors?\b|issues?\b|output|"
    r"results?\b|changes?\b|reason|response|success|this\b|that\b|such\b|difference|its\b|yes\b|"
    r".{0,40}\b(?:are|is|was|were|has|have|found|ran)\b)"
)
_IDLE_SHOULD: Final = (
    r"(?!(?:probably |also |then |now |already )?(?:be )?(?:fine|ok|okay|good|enough|done|fixed|gone|"
    r"possible|easy|simple|able|better (?:now|again)|back (?:now|again)|"
    r"working|work|do (?:it|the)|suffice|help|mean|have|hopefully|i\b|we\b|you\b|"
    r"it\b|this\b|that\b|they\b|the\b|there\b|already|now))"
)

_CODE: Final = r"(?:`[^`]{1,80}`(?:\(\))?|[\w/]+(?:\.\w+)+(?:\(\))?|[a-z]+_\w+(?:\(\))?)"
_OF_CODE: Final = (
    rf"^\W*(?:the |our |this )?{_CODE}(?:[ ,/]{{1,3}}(?:and )?{_CODE}){{0,3}}"
    r"(?: (?:hook|function|method|command|test|class|struct|type|file|field|helper|package|module))?"
    r"(?: \([^()]{1,60}\))?(?: [—–-])?(?: (?:now|currently|also|still|then|already|simply|\w+ly))*"
    r" (?:is|are|was|were|has|does|[a-z]{2,}[a-rt-z]s)\b(?! (?:\w+ )?(?:never|always|only)\b)"
)
"""Says of code what it does: "`save` walks the tree, which is only sorted later"."""
_ORDER: Final = (
    r"[,;.:(—–]\s*(?:(?:but|so|and|please|then|also) )*(?:never|always|avoid|use|keep|do|don'?t|make|ensure|"
    r"only (?!\w+(?:s|ed)\b))\b"
)
_RULE_WORD: Final = r"\b(?:must|never|always|don'?t|do not|only|instead)\b"
_RULING_WORD: Final = (
    r"\b(?:should(?:n't)?|shall|must(?:n't)?|may|needs?|ha(?:s|ve) to|had better|allowed|supposed|want|"
    r"prefer|rather|make sure|ensure)\b"
)

CONSTRAINT: Final = rule(
    sign("must mustn't", r"\bmust(?:n't| not)?\b(?! have (?:been|\w+ed)\b|'ve)"),
    sign("don't dont not", rf"(?:{_CLAUSE}|{_AGREES}\b)(?:do not|don'?t)\b {_NOT_AN_ORDER}"),
    sign(
        "never",
        rf"{_CLAUSE}never,? (?!mind|work|happen|got\b|did\b|had\b|was\b|were\b|been\b|again\b|\w+[^e]ed\b)",
    ),
    sign("always", rf"{_CLAUSE}always (?!\w+(?:[^e]ed|[^su]s)\b|the (?:same|case))"),
    sign(
        "avoid refrain stick prefer be remember stop make ensure keep",
        rf"{_CLAUSE}(?:avoid|refrain from|stick (?:to|with)|prefer|be sure to|be careful|remember to|"
        rf"stop \w+ing|make sure|ensure|keep(?! (?:getting|seeing|going|hitting|running|having|on|"
        rf"working)\b))\b",
    ),
    sign("leave", rf"{_CLAUSE}leave\b.{{0,60}}\b(?:alone|as[- ]is|untouched|unchanged|out|in place|where)\b"),
    sign("only", rf"{_CLAUSE}only (?:ever )?{_VERB}"),
    sign(
        "only never always",
        r"\b(?:should|must|may|shall|needs? to|has to|have to|want to|want you to) (?:only|never|always)\b|"
        r"\b(?:i|we)(?:'d| would)? (?:only|never|always) (?:ever )?(?:want|use|commit|push|deploy|support|"
        r"ship|allow|accept|merge|target|write|need)\b",
    ),
    sign(
        "only instead without rather most more",
        rf"{_CLAUSE}{_VERB}.{{0,200}}(?:\b(?:instead|without|rather than|at most|no more than)\b|"
        rf"(?<!\bthat )(?<!\bwhich )(?<!\bit )(?<! is )(?<! are )(?<! was )(?<!'s )\bonly\b)|"
        r"^\W*instead of\b(?!.{0,80}\b(?:it|this|that) \w+(?:ed|s)\b)",
    ),
    sign(
        "not",
        rf"{_CLAUSE}{_VERB}.{{0,120}}, (?:and )?not (?:the |in |with |via |from |on |to |an? |by )?[\w`@./]|"
        rf"{_CLAUSE}use \S{{1,60}}(?: \S{{1,60}}){{0,4}} not [\w`@./]",
    ),
    sign(
        "instead without rather sure never always",
        rf"^(?!.*\?){_REQUEST}.{{0,200}}\b(?:instead|without|rather than|make sure|never|always)\b|"
        rf"^(?!.*\?).{{0,200}}{_REQUEST}.{{0,200}}\b(?:instead|rather than|make sure|never|always)\b",
    ),
    sign(
        "don't dont not", r"\b(?:i|we) (?:really |also |still |actually )?(?:don'?t|do not) (?:want|need)\b"
    ),
    sign("don't not", r"\byou (?:don'?t|do not) (?:need|have) to\b"),
    sign(
        "shouldn't should mustn't can't cannot may",
        r"\byou (?:shouldn't|should not|should|mustn't|can't|cannot|may not)\b(?! (?:be able|see|have|get|"
        r"find|notice|now))|\bwe (?:should|shall)(?: not|n't| never| always| only| keep| also keep| use|"
        r" avoid) ",
    ),
    sign("should shouldn't", rf"(?<!\bwe )(?<!\bi )(?<!\byou )\bshould(?:n't| not)?\b {_IDLE_SHOULD}"),
    sign(
        "need needs has have",
        r"\b(?:it|this|that|they|everything|the [\w-]+(?: (?!you\b|we\b|i\b)[\w-]+)?|all [\w-]+) (?:needs?|"
        r"has|have) to (?:be|stay|remain|work|support|run|fit|pass|match|return|handle|keep|cover|compile)\b",
    ),
    sign(
        "allowed forbidden prohibited limits mandatory circumstances costs required important prefer rather",
        r"\b(?:not allowed|only allowed|important that|i(?:'d| would) (?:prefer|rather)|forbidden|"
        r"prohibited|off[- ]limits|mandatory|under no circumstances|at all costs|(?:is|are) required)\b",
    ),
    sign("from forward need", r"\b(?:from now on|going forward|no need (?:to|for))\b"),
    sign(
        "rule rules constraint constraints requirement requirements important critical convention",
        r"^\W*(?:hard )?(?:rules?|constraints?|requirements?|important|critical|convention)\s*[:：]\s*\S",
    ),
    sign(
        "no",
        rf"(?:^\W*|[,;:(!]\s*|\b(?:please|and) )no {_IDLE_NO}(?:(?:new|more|extra|external|additional|other|"
        rf"unnecessary|hard-?coded|inline|global|silent|magic|third-party|breaking|direct|raw|custom|"
        r"console) [a-z-]+|[a-z-]*[a-z]{2}s\b|mocking|logging|emoji|sql|force[- ]push\w*)|"
        r"^\W*no (?!\w+ing\b)\w+(?: \w+){0,3}!",
    ),
    sign("instead sure rather avoid keep never don't only without", _POLITE),
    sign(
        "必 务 不 禁 严 切 请 千 一 只 别 绝 应 避 确 而 始 尽 都",
        r"必须|务必|不得(?!不|而知|已|了)|禁止|严禁|不准|不许|不允许|切勿|请勿|千万别|千万不|一定要|一律|"
        r"只能(?!说)|不要(?!紧)|(?:^|[，,。；;：:\s])"
        r"(?:请|你)?别(?!的|人|名|处|说|墅|扭)|只(?:需|允许|改|修改|用|使用|准|保留|在)|绝不|绝对不|不应|"
        r"应当|避免|请?确保|而不是|始终|尽量|(?:请|都|应该?)"
        r"(?:保持|使用)|不能(?:再|有|改|修改|使用|用|动|删|提交|引入|超过|出现|直接)",
    ),
    unless=rf"^(?!{_POLITE[1:]}).*[?？]\W*$|吗[。！]?$|为什么|是不是|是否|怎么|不明白|不知道|"
    r"\b(?:it|this|that|there|something|i) must (?:be|have) (?:an?|the|some|something|because|due|related|"
    r"been|in|on|missed|done)\b|\b(?:i|we) (?:must|should) (?:say|admit)\b|"
    r"\b(?:what|why|how|whether|where|which|wondering if|not sure if)\b[^,;.]{0,60}\b(?:should|must)\b|"
    r"\bnot only\b.{0,100}\bbut\b|\"[:}\]],?\"|\bhave the correct access rights\b|"
    r"^\W*(?:i )?(?:don'?t|do not) (?:worry|mind|know|understand|think)\b|"
    rf"(?!.*{_RULING_WORD}){_OF_CODE}.*\(no\b[^()!]*\)\W*$",
    headings="rules|the rules|hard rules|my rules|constraints|requirements|guidelines|conventions|"
    "project rules|make sure|please make sure|make sure that|please make sure that|ensure|ensure that|"
    "it must|keep in mind|要求|约束|规则|注意|注意事项",
)

_RULING: Final = (
    r"(?!,? (?:also |just |really |please |to )*(?:do not|don'?t|not|never|always|only|avoid|stop|keep|use|"
    r"prefer|be (?:careful|sure)|make sure|ensure|remember)\b)"
)
"""A request that continues like this says how to work, not what to do: "please never push"."""
ASKING: Final = (
    rf"[?？]|{_REQUEST}{_RULING}|"
    r"^\W*(?:(?:ok(?:ay)?|alright|now|then|so|also|yes|no|first|next|please)[,.!:]*\s+){0,3}(?:build|"
    r"convert|create|draft|extract|fix|implement|improve|investigate|merge|migrate|open|port|redesign|"
    r"refactor|rename|replace|review|rewrite|speed up|split|start|turn)\s+(?!with\b|by\b|every\b|each\b)\S|"
    r"请(?!勿|不|别|只|务必|确保|始终|尽量|避免|保持|使用|一律|先不)|帮我|帮忙|麻烦你?|能不能|可不可以|"
    r"吗[。！]?$|^(?:修复|实现|创建|重构|重写|迁移|添加|增加|新建|替换|编写)"
)
"""A sentence that asks for work or an answer, even if it also contains a rule."""

_OUGHT: Final = (
    r"\b(?:should(?:n't)?|shall|must(?:n't)?|may|needs?|ha(?:s|ve) to|had better|allowed|supposed|want|"
    r"prefer|rather|let'?s|please|make sure|ensure|(?:can|could|would|will) (?:you|we)|how about|what about|"
    r"what if|why not|why don'?t (?:you|we)|instead of)\b|"
    r",? (?:ok(?:ay)?|got it|understood|alright)\?\W{0,8}$"
)
"""Words that ask for something or say how it should be."""
_OF_A_FACT: Final = (
    r"\b(?:i|we|you|they|it) (?:\w+ly |also |still |just )?(?:don'?t|do not) (?:actually |really |even )?"
    r"(?:know|understand|undestand|remember|recall|see|have|look|seem)\b|"
    r"\b(?:there|that|it|this|here)(?:'s| is| are| was| were|s) (?:the |just the )?only\b"
)
REMARK: Final = (
    rf"^(?!.*(?:{_OUGHT})).*[?？]\W{{0,8}}$|"
    r"^\W*(?:(?:ok(?:ay)?|now|so|and|also|then|first|next)[,:]? ){0,3}(?:(?:can|could|would|will) you )?"
    r"(?:please )?(?:explain|clarify|describe|remind me|tell me (?:what|how|why|whether|if))\b"
    r"(?!.*(?:[,;.]|\band|\bbut) (?:please )?(?:do not|don'?t|never|always|only|use|keep|make)\b)|"
    rf"^(?!.*{_RULE_WORD}.*{_RULE_WORD})(?!.*{_RULING_WORD}).*(?:{_OF_A_FACT})|"
    rf"(?!.*{_RULING_WORD})(?!.*(?:{_ORDER})){_OF_CODE}"
)
"""A sentence worded like a rule that is only a question or a report."""

ANSWERING: Final = (
    r"\W*(?:yes|yep|yeah|yup|no|nope|nah|sure|both|neither|(?:option|number|variant) \w{1,2}|#?\d{1,2}|[a-d])"
    r"(?![\w'-])(?!.*[?？])|(?:不|不要|不用|是的?|对|好的?|可以|要)[，,。！!]"
)
"""The beginning of a prompt that answers the agent's question."""
AGREEING: Final = (
    r"(?<![\w'])(?:yes|yep|yeah|yup|y|no|nope|sure|ok(?:ay)?|agreed?|please|go|do|continue|proceed|start|begin|"
    r"leave|skip|keep|drop|fix|implement|apply|commit|push|ship|merge|option|\d{1,2}|[a-d])(?![\w'])|"
    r"[好行是对嗯]|可以|继续|开始|执行|同意|确认|没问题|做吧"
)
"""Words of a generic prompt that agree or disagree."""
LONGEST_GENERIC: Final = 80
_MANNERS: Final = (
    r"(?:(?:ok(?:ay)?|k|yes|yep|yeah|yup|y|sure|please|pls|thanks?(?: you)?|thx|great|good|perfect|alright|"
    r"all right|right|fine|now|then|so|and|just|cool|nice|no|nope|hi|hello|hey|awesome|excellent|lgtm|"
    r"looks? good|sounds? good|agreed?|correct|exactly|hmm+|well|again|too|done|next|also|let'?s|to me|"
    r"as well|for me|wow|amazing|beautiful|(?:it|this|that|everything) works|(?:good|great|nice) (?:job|"
    r"work))(?![\w'])[\s,.!;:…]*)"
)
_IT: Final = (
    r"(?:(?:it|this|that|these|those|them)(?: all| both)?|both|all(?: of (?:it|them|these|those))?|"
    r"everything|so|(?:the )?rest|the same)"
)
GENERIC: Final = (
    rf"\W*|"
    rf"\W*{_MANNERS}{{0,8}}(?:(?:(?:can|could|would|will) you (?:please )?(?:just )?|"
    rf"(?:(?:you|we|i) )?can |i want you to )?(?:continue|go|go on|go ahead|go for it|proceed|carry on|"
    rf"keep (?:going|working)|resume|retry|start|begin|continue (?:with )?(?:{_IT}|"
    rf"your work|the work|working|the task|"
    rf"(?:from )?where you left off|on)|"
    rf"(?:continue|go on|carry on|proceed) with what(?:'s| is) (?:open|left)|"
    rf"(?:continue|keep going|go on) (?:until|till) .{{0,12}}(?:done|"
    rf"finished|complete|works?)|(?:do|fix|try|implement|apply|check|test|run|finish|handle|look into|"
    rf"look at|take care of|take a look(?: at)?|investigate|commit|push|ship|merge|review|verify|use|make|"
    rf"build|add|leave|skip|keep|drop|help(?: me)?(?: with)?|address|resolve|explain|revert|undo)"
    rf"(?: {_IT})?|(?:run|re-?run|do) (?:the |all |all the )?"
    rf"(?:checks?|tests?|lint(?:er|ing)?|build|test suite)|commit and push|"
    rf"try again|one more time|what(?:'s| is) next|next(?: one| step)?|(?:option |number |#)?(?:\d{{1,2}}|"
    rf"[a-d]))(?!\w)[\s,.!;]*)?{_MANNERS}{{0,4}}[\s.!?。！？]*|"
    rf"(?:(?:好的?|行|可以|是的?|对|嗯+|没问题|谢谢|请|那么?|ok)[，,。！!\s]*)?(?:继续(?:吧|做|下去|执行|工作)?|好[的吧]?|行|可以的?|是的?|对的?|嗯|"
    rf"开始吧?|执行吧?|下一步|再试(?:一次|试|一下)?|再(?:检查|看|跑)(?:一下|一遍|一次)?|(?:运行|跑)"
    rf"(?:一下)?(?:测试|检查)|看一下|你?看看|检查一下|谢谢|没问题|"
    rf"确认|同意|做吧|修复它)[吧了啊吗]?[，,。！!？?\s]*"
)
"""A prompt that only says to continue: polite words around a verb and a pronoun."""

_STILL: Final = r"(?:(?:all|already|now|really|still|just|fully|completely|actually|also|even|last) )*"
_WHEN: Final = r"(?: (?:now|yet|already|again|then|so far|just now|for real|right|last|before|here))*"
_THAT: Final = (
    r"(?:it|this|that|these|those|they|them|everything|all|all of (?:it|this|that|them)|"
    r"(?:all )?the (?:tests|work|changes|task|build|checks))"
)
_DONE: Final = (
    r"(?:done|finished|complete|completed|com+it+ed|pushed|merged|fixed|working|saved|deployed|released|"
    r"shipped|tested|passing|clean|green|good|ok|okay|correct|right|there|(?:ready|good)(?: to (?:go|merge|"
    r"ship|release|commit|push|test))?)"
)
_DID: Final = (
    r"(?:do|done|push|pushed|com+it|com+it+ed|finish|finished|fix|fixed|merge|merged|save|saved|test|"
    r"tested|run|ran|execute|executed|executing|say|said|change|changed|doing|deploy|deployed|release|"
    r"released|start|started|stop|stopped|work|pass|build|compile|get (?:it|that|this|done))"
)
_SESSION: Final = r"(?:for|in|during) (?:(?:the )?rest of )?(?:this|the) session"
PASSING: Final = (
    rf"\W*{_MANNERS}{{0,4}}(?:"
    rf"(?:is|are|was|were) (?:{_THAT}|we|you|i) {_STILL}{_DONE}{_WHEN}|"
    rf"(?:did|have|has|do|does) (?:{_THAT}|we|you|i) {_STILL}{_DID}(?: {_THAT})?(?: to (?:main|master|"
    rf"origin|the (?:remote|branch)|github|gitlab))?{_WHEN}|"
    rf"what (?:did|have|had|were|are|do) (?:i|you|we) {_STILL}{_DID}{_WHEN}|"
    rf"what(?:'s| is| was| are) (?:{_THAT}|left|missing|the (?:status|state|plan|progress)|happening|"
    rf"going on){_WHEN}|what (?:happened|does {_THAT} mean){_WHEN}|"
    rf"(?:where|how far) (?:were|are) (?:we|you){_WHEN}|how (?:is|'s) it going|"
    rf"(?:are )?you {_STILL}(?:there|sure|alive|stuck|ready|working|running){_WHEN}|"
    rf"(?:which|what) model (?:are you|is this)|how much (?:of (?:your|the) )?context(?: window)? "
    rf"(?:is|do you have|have you)(?: \w+){{0,2}}|are you in \w+ mode{_WHEN}|"
    rf"(?:(?:can|could|will|would) you )?(?:please )?(?:just )?(?:auto[- ]?)?(?:accept|approve|allow)"
    rf"(?: (?:all|every|any|your|my|the|these|own)){{0,3}}(?: (?:changes?|edits?|tools?|commands?|"
    rf"permissions?|requests?|everything))?(?: (?:automatically|from now on|{_SESSION}))?|"
    rf"(?:(?:can|could|will|would) you )?(?:please )?(?:stop asking|don'?t ask)(?: me)?(?: again)?"
    rf"(?: for (?:permissions?|approval|confirmation))?(?: again| every time| from now on| {_SESSION})?|"
    rf"(?:switch|go|change)(?: back)? (?:in)?to \w+ mode{_WHEN}|"
    rf"(?:you can |you may )?(?:use )?(?:ultra ?think|think (?:very |really )?(?:hard|harder|deeply)|"
    rf"take your time)(?: (?:about|on|with) {_THAT})?"
    rf")[\s,.!;]*{_MANNERS}{{0,2}}[\s.!?]*|"
    r"(?:好的?[，,。\s]*)?(?:这个?|都|全部|现在|你|我们|已经|测试|代码|刚才|刚刚){0,4}"
    r"(?:(?:完成|做完|做好|提交|推送|搞定|改好|修好|合并|发布|好|通过)了吗|"
    r"是什么(?:意思)?|(?:执行|运行|做|改|说)了(?:些)?什么|(?:做|说|进行)?到哪(?:里|儿|一步)?了?|还在吗|"
    r"自动(?:接受|批准|同意)(?:所有|全部)?的?(?:修改|更改|改动|操作|权限)?)[吧啊呢]?[，,。！!？?\s]*"
)
"""A prompt that only asks about progress, or is about the harness: it says nothing about the work."""

BARE_COMMAND: Final = re.compile(r"/[a-zA-Z][\w:-]*")
"""A command of the harness without arguments; a path has further slashes or a dot."""
WRAPPED: Final = re.compile(
    r"^[ ]{0,3}\#{1,6}[ ]*(?:the )?user(?:['’]s)? (?:request|message|prompt|query|task|input)[ ]*:?[ ]*$"
    r"|<(?P<tag>user_(?:request|message|prompt|query|task|input))>(?P<inside>.+?)</(?P=tag)>",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
"""Where the user's words begin in a prompt written by a program, or the tags around them."""
