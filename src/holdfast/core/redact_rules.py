"""The rules of redaction: what secrets look like, what only resembles one, and which names announce one.

Tables, patterns and judgements of single names and values. How they are applied to a text is `core.redact`'s
work. Every repetition is bounded or possessive, so that no text can make a pattern backtrack for long.
"""

import re
import string
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

MARKER: Final = re.compile(r"\[REDACTED:[a-z0-9-]{1,40}\]")

# A provider's key is a run of token characters (letters, digits, `_`, `-`, `.`, `~`) of at least this length.
SHORTEST_RUN: Final = 20

# (kind, how it begins, its form). The beginnings, cut to three characters, sift the runs: a set is faster
# than any pattern.
_SHAPES: Final = (
    ("private-key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    ("private-key", "SU SA SO SN SC", r"S[UAONC][A-Z2-7]{56}(?![A-Z2-7])"),
    ("1password-token", "ops_eyJ", r"ops_eyJ[\w-]{100,2000}"),
    ("grafana-token", "eyJrIjoi", r"eyJrIjoi[\w+/=]{20,400}"),
    ("jwt", "eyJ sk.eyJ pk.eyJ", r"(?:[sp]k\.)?eyJ[\w-]{10,8000}(?:\.[\w-]{10,8000}){1,4}"),
    ("anthropic-key", "sk-ant-", r"sk-ant-[\w-]{20,200}"),
    ("openrouter-key", "sk-or-", r"sk-or-v1-[0-9a-f]{40,80}"),
    ("openai-key", "sk-", r"sk-(?:proj|svcacct|admin|None)-[\w-]{20,240}"),
    ("openai-key", "sk-", r"sk-(?=[a-zA-Z-]{0,60}\d)[A-Za-z0-9]{20,64}(?![\w-])"),
    ("openai-key", "sk-", r"sk-[\w-]{10,120}T3BlbkFJ[\w-]{10,120}"),
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{30,255}"),
    ("github-token", "github_pat_", r"github_pat_\w{22,255}"),
    ("gitlab-token", "glpat gldt glrt glcbt glptt glft glimt glagent gloas glsoat glffct glwt",
     r"gl(?:pat|dt|rtr|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct|wt)-[\w.-]{16,320}"),
    ("gitlab-token", "GR1348941", r"GR1348941[\w-]{20,50}"),
    ("bitbucket-token", "ATBB BBDC-", r"ATBB[A-Za-z0-9]{24,40}|BBDC-[\w+/@-]{40,50}"),
    ("atlassian-token", "ATATT3 ATCTT3", r"AT[AC]TT3[\w-]{60,300}(?:=[0-9A-F]{8})?"),
    ("aws-access-key", "A3T AKIA ASIA ABIA ACCA",
     r"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("aws-key", "bedrock-api-key-", r"bedrock-api-key-[A-Za-z0-9+/=]{20,2000}"),
    ("aws-key", "amzn.mws. da2-", r"amzn\.mws\.[0-9a-z-]{36}|da2-[a-z0-9]{26}(?![a-z0-9])"),
    ("google-key", "AIza", r"AIza[\w-]{35}(?!\w)"),
    ("google-secret", "GOCSPX-", r"GOCSPX-[\w-]{20,40}"),
    ("google-token", "ya29.", r"ya29\.[\w-]{20,1000}"),
    ("slack-token", "xox xapp", r"xox[abeoprs][.-][\w.-]{10,400}|xapp-\d-[\w-]{20,200}"),
    ("stripe-key", "sk_ rk_ pk_", r"[srp]k_(?:live|test)_[A-Za-z0-9]{16,250}"),
    ("webhook-secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{20,100}"),
    ("npm-token", "npm_", r"npm_[A-Za-z0-9]{32,64}"),
    ("pypi-token", "pypi-", r"pypi-[\w-]{50,1000}"),
    ("rubygems-token", "rubygems_", r"rubygems_[0-9a-f]{48}"),
    ("nuget-key", "oy2", r"oy2[a-z0-9]{43}(?![a-z0-9])"),
    ("crates-token", "cio", r"cio[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    ("huggingface-token", "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z]{30,40}(?![A-Za-z])"),
    ("twilio-key", "SK", r"SK[0-9a-f]{32}(?![0-9a-f])"),
    ("sendgrid-key", "SG.", r"SG\.[\w-]{16,32}\.[\w-]{16,64}"),
    ("mailgun-key", "key-", r"key-[0-9a-f]{32}(?![0-9a-f])"),
    ("brevo-key", "xkeysib-", r"xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    ("telegram-token", "AA", r"(?<=\d:)AA[\w-]{32,33}(?![\w-])"),
    ("discord-token", "MT Mj Mz ND NT Nj Nz OD OT",
     r"[MNO][A-Za-z\d]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])"),
    ("linear-key", "lin_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}"),
    ("postman-key", "PMAK- PMAT-", r"PMA[KT]-[0-9A-Za-z-]{26,64}"),
    ("databricks-token", "dapi", r"dapi[0-9a-f]{32}(?:-\d{1,3})?(?![0-9a-f])"),
    ("digitalocean-token", "doo_ dop_ dor_", r"do[opr]_v1_[0-9a-f]{64}"),
    ("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{20,300}"),
    ("shopify-token", "shp", r"shp(?:at|ca|pa|ss|ua|tka)_[0-9a-fA-F]{32}"),
    ("square-token", "sq0 EAAA", r"sq0[a-z]{3}-[\w-]{22,43}|EAAA[\w-]{60}"),
    ("facebook-token", "EAA", r"EAA[A-Z][A-Za-z0-9]{80,300}"),
    ("instagram-token", "IGQ", r"IGQ[A-Z]{1,3}[\w-]{90,300}"),
    ("dropbox-token", "sl.", r"sl\.(?:u\.)?[\w-]{100,1400}"),
    ("docker-token", "dckr_ SWM", r"dckr_(?:pat|oat)_[\w-]{27,40}|SWM(?:TKN|KEY)-1-[\w+/-]{40,100}"),
    ("doppler-token", "dp.", r"dp\.(?:pt|ct|st|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}"),
    ("dynatrace-token", "dt0", r"dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    ("grafana-token", "glc_ glsa_", r"glc_[A-Za-z0-9+/=]{30,400}|glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}"),
    ("newrelic-key", "NRA NRI NRJ NRR NRB", r"NR(?:AK|II|IQ|RA|JS|AA|BR)[A-Z]?-[\w-]{19,40}"),
    ("sentry-token", "sntrys_ sntryu_", r"sntry[su]_[\w+/=]{40,400}"),
    ("sonarqube-token", "sqa_ sqp_ squ_", r"sq[apu]_[0-9a-f]{40}"),
    ("figma-token", "figd_ figo_ figu_ figr_", r"fig[dour]h?_[\w-]{40,60}"),
    ("notion-token", "secret_ ntn_", r"(?:secret|ntn)_[A-Za-z0-9]{40,50}(?!\w)"),
    ("airtable-token", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("supabase-key", "sbp_ sb_", r"sbp_(?:v\d_)?[0-9a-f]{40}|sb_secret_[\w-]{20,60}"),
    ("cloudflare-key", "cfat_ cfut_ cfk_ v1.0",
     r"cf(?:at|ut|k)_[A-Za-z0-9]{40,60}|v1\.0-[0-9a-f]{24}-[0-9a-f]{146}"),
    ("heroku-key", "HRKU-", r"HRKU-[\w-]{36,64}"),
    ("pulumi-token", "pul-", r"pul-[0-9a-f]{40}"),
    ("netlify-token", "nfp_ nfc_ nfo_ nfu_ nfb_", r"nf[pcoub]_[A-Za-z0-9]{36,50}"),
    ("planetscale-token", "pscale_", r"pscale_(?:tkn|oauth|pw)_[\w.=-]{32,64}"),
    ("circleci-token", "CCIPAT_ CCIPRJ_", r"CCI(?:PAT|PRJ)_[A-Za-z0-9]{20,30}_[0-9a-f]{40}"),
    ("buildkite-token", "bkua_ bkaa_ bkct_", r"bk(?:ua|aa|ct)_[0-9a-f]{40}"),
    ("artifactory-token", "AKCp cmVmdGtuO", r"AKCp[A-Za-z0-9]{69}|cmVmdGtuO[A-Za-z0-9]{50,80}"),
    ("adobe-secret", "p8e-", r"p8e-[\w-]{32}"),
    ("langsmith-key", "lsv2_", r"lsv2_(?:pt|sk)_[0-9a-f_]{32,80}"),
    ("model-key", "gsk_ jina_ tgp_ pplx- xai- tvly- fc- nvapi- cosmo_ csk- fw_",
     r"(?:gsk_|jina_|tgp_v1_|pplx-|xai-|tvly-|fc-|nvapi-|cosmo_|csk-|fw_)(?=[a-zA-Z_-]{0,100}\d)[\w-]{24,120}"),
    ("replicate-token", "r8_", r"r8_[A-Za-z0-9]{37}(?![\w-])"),
    ("sourcegraph-token", "sgp_", r"sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}"),
    ("twitch-key", "live_", r"live_\d{6,12}_[A-Za-z0-9]{30}"),
    ("iot-token", "aio_ odt_", r"aio_[A-Za-z0-9]{28}|odt_[A-Za-z0-9]{32,255}"),
    ("network-key", "dnkey- tskey-", r"(?:dnkey|tskey)-[\w-]{30,120}"),
    ("alibaba-key", "LTAI", r"LTAI[A-Za-z0-9]{16,26}(?![A-Za-z0-9])"),
    ("flutterwave-key", "FLWSECK", r"FLWSECK(?:_TEST)?-[0-9A-Za-z-]{12,50}"),
    ("shippo-token", "shippo_", r"shippo_(?:live|test)_[0-9a-f]{40}"),
    ("easypost-key", "EZAK EZTK", r"EZ[AT]K[A-Za-z0-9]{54}"),
    ("typeform-token", "tfp_", r"tfp_[\w.-]{40,60}"),
    ("readme-key", "rdme_", r"rdme_[a-z0-9]{70}"),
    ("fly-token", "fm1 fm2", r"fm[12][ar]?_[\w+/=-]{60,1000}"),
    ("yandex-key", "AQVN y0_", r"(?:AQVN[\w-]{35,38}|y0_[\w-]{50,60})(?![\w-])"),
    ("salesforce-token", "AQ AR", r"(?<=!)A[QR][A-Za-z0-9_.]{80,130}"),
)  # fmt: skip
# The same for keys that begin like anything else: what must stand somewhere in them.
_MARKED: Final = (
    ("azure-key", "JQQJ99", r"[A-Za-z0-9]{20,80}JQQJ99[A-Za-z0-9]{20,60}={0,2}"),
    ("azure-secret", "Q~", r"[A-Za-z0-9]{3}\dQ~[\w.~-]{31,34}"),
    ("azure-key", "AZDO", r"[A-Za-z0-9]{52,76}AZDO[A-Za-z0-9]{4}"),
    ("terraform-token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,80}"),
    ("newrelic-key", "NRAL", r"[0-9a-z]{30,40}(?:FFFF)?NRAL"),
    ("mailchimp-key", "-us", r"[0-9a-f]{32}-us\d{1,2}(?!\w)"),
)

MARKED: Final = re.compile("|".join(re.escape(mark) for _, mark, _ in _MARKED))
SHORTEST_MARKED: Final = 33
BEGINNINGS: Final = frozenset(
    (beginning + last)[:3]
    for _, beginnings, _ in _SHAPES
    for beginning in beginnings.split()
    for last in string.ascii_letters + string.digits
)
KINDS: Final = tuple(kind for kind, _, _ in _SHAPES + _MARKED)
# A key may also begin right after an escaped newline, a percent escape or a terminal colour: then the
# escape's own letters stand at the beginning of its run.
ESCAPES: Final = frozenset("\\%[")
SHAPES: Final = re.compile(
    r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-F]{2})|(?<=\[\d{2}m))(?:"
    + "|".join(f"({shape})" for _, _, shape in _SHAPES + _MARKED)
    + ")",
    re.ASCII,
)
# The three characters after each place inside a run where a key could begin.
INNER_BEGINNINGS: Final = re.compile(r"[_.-](?=(...))")

# What may stand in a URL: a password before the host, or a path that is itself the secret.
URL: Final = re.compile(
    r"""://(?:
        [^\s/:@"'`<>]{0,200} (?:@[\w.-]{1,100})? :(?P<url_password>[^\s/"'`<>]{1,300})@(?=[\w\[.-])
      | (?P<url_token>[\w.~-]{20,300})@(?=[\w-]{1,60}\.)
      | hooks\.slack\.com/(?:services|workflows|triggers)/(?P<slack_webhook>[\w/-]{20,120})
      | (?:\w{1,10}\.)?discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/
        (?P<discord_webhook>\d{1,24}/[\w-]{40,120})
      | (?:outlook|[\w-]{1,60}\.webhook)\.office\.com/webhook(?:b2)?/(?P<teams_webhook>[\w@/-]{60,300})
    )""",
    re.ASCII | re.VERBOSE,
)

# Credentials on command lines whose flags do not say that they hold one: the flag, and the commands it is
# a credential for. `-p` of most programs is a port or a path.
FLAG_ANCHOR: Final = re.compile(rb" -(?:p|u|a |w |-user|-proxy-user)")
COMMAND_FLAGS: Final = re.compile(
    r"""[ ](?:
        (?:-u[ ]?|--(?:proxy-)?user[ =])["']?[^\s:"'$]{1,100}:(?P<curl>[^\s"']{3,200})
      | -p[ =]?["']?(?P<p>[^\s"'$<-][^\s"']{2,200})
      | -a[ ]["']?(?P<redis>[^\s"'$<-][^\s"']{2,200})
      | -w[ ]["']?(?P<ldap>[^\s"'$<-][^\s"']{2,200})
    )""",
    re.ASCII | re.VERBOSE,
)
COMMAND_OF_FLAG: Final = {
    "curl": re.compile(r"\b(?:curl|wget|https?|xh) "),
    # A space after mysql's `-p` means that it asks, so only the joined form is a password there.
    "p": re.compile(
        r"\b(?:(?:mysql|mariadb)[\w-]{0,10} (?=.{0,400}-p\S)|(?:sshpass|psexec(?:\.exe)?)\b"
        r"|(?:docker|podman|helm|oc) .{0,40}login\b)",
        re.IGNORECASE,
    ),
    "redis": re.compile(r"\bredis-cli\b"),
    "ldap": re.compile(r"\bldap\w{3,10}\b"),
}

BEARER: Final = re.compile(
    r"""bearer(?:[ \t]{1,4}|%20|\\?["'][ \t]{0,2}[,:=][ \t]{0,2}|[ \t]{0,2}[:=][ \t]{0,2})\\?["']?
        (?P<value>[A-Za-z0-9._~+/%-]{8,8000}={0,2})""",
    re.ASCII | re.VERBOSE | re.IGNORECASE,
)

PEM_EDGE: Final = re.compile(r"-{4,5} ?(?P<edge>BEGIN|END)[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
PEM_LONGEST: Final = 20_000
# A key that was cut off: base64 in lines, with whatever a diff, a log or a string literal puts around a line.
PEM_REST: Final = re.compile(r"""(?:(?:[\s"'`+|>#*,]|\\[nrt"']){0,40}+[A-Za-z0-9+/=]{16,200}){1,400}""")
KEY_MATERIAL: Final = re.compile(r"[A-Za-z0-9+/]{16}")
# The beginning of a PEM block in base64, as Kubernetes and CI variables keep it.
ENCODED_PEM: Final = re.compile(r"LS0tLS1CRUdJTi[A-Za-z0-9+/=]{40,20000}")

# Names that announce a secret. These are looked for in lower case; `announced_by` judges the whole name.
NAME_ANCHORS: Final = (b"pass", b"pw", b"secret", b"token", b"key", b"auth", b"cred")
ASSIGNMENT: Final = re.compile(
    r"""(?!(?-i:PASS):[ ])  # a test that passed
        (?P<name>[\w-]{2,60}+)(?:\\{0,3}["'`])?[\])]?\*{0,2}[ \t]{0,20}
        (?P<bind>
            :[ \t]{0,3}[\w.]{0,20}(?:str|string|char\*?|bytes)\]?
              (?:[ ]?\|[ ]?(?:None|null|undefined))?[ \t]{0,3}=
          | =>|:=|[!=]={1,2}|->|[:=>]|%3[AD]
          | ,?\s{1,40}\\{0,3}["']?value\\{0,3}["']?[ \t]{0,4}[:=]
        )
        (?P<gap>\*{0,2}[ \t]{0,20})
        (?:
            [bru]{0,2}(?P<q>["'`])(?P<quoted>(?:[^\\\r\n"'`]|\\.|(?!(?P=q))["'`]){1,2000})(?P=q)
          | \\{1,3}(?P<e>["'])(?P<escaped>[^\\\r\n"']{1,2000})\\{1,3}(?P=e)
          | ["']?(?P<bare>(?:(?:basic|bearer|token|apikey|api-key|ssws)[ ]{1,3})?[^\s"'`<>\\]{1,200}+)
        )""",
    re.ASCII | re.VERBOSE | re.IGNORECASE,
)
# Two hundred characters are enough to judge an unquoted value; what is redacted is all of it.
LONGEST_JUDGED: Final = 200
UNQUOTED_REST: Final = re.compile(r"""[^\s"'`<>\\,;&]*+""")
# `Authorization: Bearer …`: the scheme stays, so that a reader still sees how the request was made.
SCHEME: Final = re.compile(r"(?:basic|bearer|token|apikey|api-key|ssws)[ ]{1,3}", re.IGNORECASE)
FLAG: Final = re.compile(
    r"""(?P<name>[\w-]{2,60}+)(?:["'],)?[ \t]{1,4}\\{0,3}["']?(?P<value>[^\s"'`<>\\-][^\s"'`<>\\]{1,200}+)""",
    re.ASCII | re.VERBOSE,
)
PROSE: Final = re.compile(
    r"""(?P<name>password|passwd|passphrase|passcode|pwd?)[ ]
        (?:(?:for[ ][\w@.-]{1,40}[ ])?(?:is|was|to)(?:[ ]now)?:?[ ](?P<quote>["'`])?|(?P<argument>["']))
        (?P<value>[^\s"'`<>]{6,200})""",
    re.ASCII | re.VERBOSE | re.IGNORECASE,
)
AFTER_LOGIN: Final = re.compile(r"\blogin\s{1,8}\S{1,100}\s{1,8}\Z", re.ASCII)
# What ends an unquoted value: the next pair of a list, a query or a connection string; punctuation.
TRAILING: Final = re.compile(r"(?:[,;&/][A-Za-z_][\w .-]{0,30}[=:].*|;.*|[,.)\]}:]+)\Z", re.ASCII | re.DOTALL)


class Proof(Enum):
    """How much a value must show for itself, which depends on how clearly its name announces a secret."""

    NONE = auto()
    DIGITS = auto()
    RANDOMNESS = auto()


@dataclass(frozen=True, slots=True)
class Announced:
    """What a name says of its value."""

    kind: str
    proof: Proof


_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", re.ASCII)
_PASSWORD: Final = Announced("password", Proof.NONE)
_SECRET: Final = Announced("secret", Proof.NONE)
_TOKEN: Final = Announced("token", Proof.DIGITS)
_KEY: Final = Announced("key", Proof.DIGITS)
_CREDENTIAL: Final = Announced("credential", Proof.DIGITS)
_AUTH: Final = Announced("auth", Proof.RANDOMNESS)
_ANY_KEY: Final = Announced("key", Proof.RANDOMNESS)
_WHOLE: Final = {
    "pass": _PASSWORD, "pw": _PASSWORD, "secrets": _SECRET, "passwords": _PASSWORD, "passcode": _PASSWORD,
    "cred": _CREDENTIAL, "creds": _CREDENTIAL, "credential": _CREDENTIAL, "credentials": _CREDENTIAL,
    "auth": _AUTH, "oauth": _AUTH, "authorization": _AUTH, "key": _ANY_KEY,
}  # fmt: skip
_ENDINGS: Final = {
    "password": _PASSWORD, "passwd": _PASSWORD, "passphrase": _PASSWORD, "pwd": _PASSWORD, "secret": _SECRET,
    "token": _TOKEN, "apikey": _KEY, "accesskey": _KEY, "secretkey": _KEY, "privatekey": _KEY,
    "accountkey": _KEY,
}  # fmt: skip
# What follows the word and makes it the name of something that is not the secret itself.
_OTHER_THINGS: Final = frozenset(
    """age algorithm alias arn attempt attempts attribute auth based body box budget bytes cache callback
    check class code column component config confirmation count counter counts cost data date dialog dir
    directory domain edit element email enabled endpoint error errors event exists expiration expired
    expires expiry field file filename flow form format generator group handler header headers hint hook
    id identifier ids index info input invalid is kind label len length level limit limits link list
    location manager map max message method min missing mode model module name names new not number only
    option options order page param parameter params parser path pattern plugin policy position prefix
    prompt provider ref reference regex required requirements reset response role rotation rule rules
    schema scheme scope screen sent server service set settings size source spec start state status step
    store strategy strength style system table target template test tests text time timeout title total
    ttl type types uri url usage used user username valid validation validator version visible width
    window""".split()
)
# What stands before `token` where it is counted or paged through, not owned.
_COUNTED: Final = frozenset(
    """max min num total input output prompt completion cache cached creation read count per next page
    continuation stop eos bos pad special reasoning thinking used remaining budget context limit sync
    design css color""".split()
)
# What stands before a word that then names nothing secret.
_HARMLESS: Final = frozenset(
    "public idempotency cache primary foreign sort partition object row group".split()
)
# What stands before `key` where it opens a door. Another key is taken for a secret only if it looks random.
OPENING: Final = frozenset(
    """access account admin aes api app application auth client connection consumer decryption deploy
    encryption hmac jwt license management master private secret service session shared signing ssh
    storage subscription webhook write""".split()
)


def announced_by(name: str) -> Announced | None:
    """What the name says of its value; None where it names no secret (`max_tokens`, `password_field`)."""
    words = [word.lower() for word in _WORD.findall(name)]
    for position in reversed(range(len(words))):
        announced = _announced_by_word(words[position])
        if announced:
            return _in_company(announced, words[:position], words[position + 1 :])
    return None


def _announced_by_word(word: str) -> Announced | None:
    if word in _WHOLE:
        return _WHOLE[word]
    return next((announced for ending, announced in _ENDINGS.items() if word.endswith(ending)), None)


def _in_company(announced: Announced, before: list[str], after: list[str]) -> Announced | None:
    if not _HARMLESS.isdisjoint(before) or not _OTHER_THINGS.isdisjoint(after):
        return None
    if announced is _TOKEN and not _COUNTED.isdisjoint(before):
        return None
    if announced is _ANY_KEY:
        return _KEY if before and before[-1] in OPENING else announced if before else None
    return announced


# A marker of ours, or what another program will replace by a value.
REFERENCE: Final = re.compile(
    r"[<\[{*]|\$[\w{(:]|#\{|(?:%[({A-Za-z_][\w)}%]*|@[\w.]+|&\w+|![A-Za-z]+|#[0-9a-f]{3,8}|x+|\.+)\Z",
    re.ASCII | re.IGNORECASE,
)
_PLACEHOLDER: Final = re.compile(
    r"""(?:
        (?P<same>.)(?P=same){2,}\Z
      | (?:your|my|the|some|an|any|insert|enter|replace|put|paste|add|set|use|get|see)[\W_].*
      | .*(?:x{4,}|\*{3,}|\.{3}|…).*
      | .*(?:change[\W_]?(?:me|it|this)|your[\W_]|place[\W_]?holder|redacted|dummy|goes[\W_]here).*
      | (?:none|null|nil|true|false|yes|no|on|off|undefined|empty|required|optional|string|str|text|number
         |integer|int|boolean|bool|bytes|object|any|unknown|hidden|masked|secret|password|passwd|pass|pwd|token|key|auth|example
         |credentials?|tests?|testing|todo|tbd|foo|bar|baz|foobar|value|default|admin|user|username|root|basic|bearer
         |oauth2?|n/a|void|self|this|new|current|invalid|valid|missing|wrong|custom|inherit|fake|sample|demo
         |fail(?:ed|ure)?|ok|warn(?:ing)?|error|success)\W*\Z
    )""",
    re.ASCII | re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_LOCATION: Final = re.compile(
    r"""(?: \.{0,2}/[\w.@-]*(?:/[\w.@*-]+)+/?\Z | \.{1,2}/.* | ~/.* | [A-Za-z]:[\\/].* | [a-z][a-z0-9+.-]{1,20}://.*
          | [\w.-]+/[\w./-]*\.[a-z]{1,5}(?::\d+)?\W?\Z
          | [\w-]+\.(?:py|js|tsx?|json|ya?ml|toml|md|go|rs|sh|txt|pem|key|env|gz|zip)(?::\d+)?\Z )""",
    re.ASCII | re.VERBOSE | re.DOTALL,
)
# What stands where a secret would, but is code.
_CODE: Final = re.compile(
    r".*[(){}\[\]|]|[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)+\Z|.*(?:=>|&&|::|\?\.)",
    re.ASCII | re.DOTALL,
)
# One word or several joined: the name of a thing, of an environment variable.
_IDENTIFIER: Final = re.compile(
    r"[A-Za-z]+(?:[_./:-][A-Za-z]+)*\d?\Z|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\Z", re.ASCII
)
_LETTERS: Final = frozenset(string.ascii_letters)
_UPPER: Final = frozenset(string.ascii_uppercase)
_LOWER: Final = frozenset(string.ascii_lowercase)
_DIGITS: Final = frozenset(string.digits)


def is_secret(value: str, proof: Proof) -> bool:
    """Whether a quoted or shell value can be the secret that its name announces."""
    if len(value) < 4 or stands_for_another(value) or any(map(str.isspace, value)):
        return False
    match proof:
        case Proof.NONE:
            return value.isalnum() or not _IDENTIFIER.match(value)
        case Proof.DIGITS:
            return len(value) >= 8 and not _DIGITS.isdisjoint(value) and not _LETTERS.isdisjoint(value)
        case Proof.RANDOMNESS:
            return looks_random(value)


def is_secret_unquoted(value: str, proof: Proof) -> bool:
    """The same where a bare word may as well be code or prose: there the value must show more."""
    if len(value) < 6 or _CODE.match(value) or _IDENTIFIER.match(value) or not is_secret(value, proof):
        return False
    if proof is Proof.NONE:
        return not _LETTERS.isdisjoint(value) or value.isdigit()
    return looks_random(value)


def stands_for_another(value: str) -> bool:
    """Whether it is a placeholder, a reference to a variable, or where the secret is kept."""
    return bool(REFERENCE.match(value) or _PLACEHOLDER.match(value) or _LOCATION.match(value))


def looks_random(value: str) -> bool:
    """Whether letters and digits are mixed as in a generated key, not as in a name."""
    if len(value) < 8 or _DIGITS.isdisjoint(value) or _IDENTIFIER.match(value):
        return False
    if _UPPER.isdisjoint(value) or _LOWER.isdisjoint(value):
        return len(value) >= 16 and not _LETTERS.isdisjoint(value)
    return True
