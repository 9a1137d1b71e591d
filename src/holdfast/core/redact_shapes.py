"""Shapes: keys that show by their own form whose they are.

A table of forms that providers have published, and two general ones for the providers that follow the custom
of a short prefix before random characters. Every repetition is bounded.
"""

import re
import string
from dataclasses import dataclass
from functools import cache
from typing import Final

from holdfast.core.redact_spans import Rank, Span

# A key is a run of token characters (letters, digits, `_`, `-`, `.`, `~`) of at least this length, followed
# by what base64 adds.
SHORTEST_RUN: Final = 20
TOKEN_CHARACTERS: Final = string.ascii_letters + string.digits + "_-.~"

# What follows a prefix that words have too: a digit tells that it is none.
_NO_WORDS: Final = r"(?=[a-zA-Z_-]{0,99}\d)[\w-]{24,140}"
_BASE64_LINES: Final = (
    r"[A-Za-z0-9+/=]{20,5000}(?:[ \t]{0,40}(?:\r?\n|\\n)[ \t]{0,40}[A-Za-z0-9+/=]{16,200}+){0,400}+"
)
# (kind, how it begins, its form). The beginnings, cut to three characters, sift the runs: a set is faster
# than any pattern.
_FORMS: Final = (
    # models
    ("anthropic-key", "sk-", r"(?i:sk-ant)-[\w-]{20,200}"),
    ("openrouter-key", "sk-", r"sk-or-v\d{1,9}-[\w-]{20,100}"),
    ("openai-key", "sk-", r"sk-(?:proj|svcacct|admin|None)-[\w-]{20,240}"),
    ("openai-key", "sk- Sk- SK-", r"(?i:sk)-(?=[a-zA-Z_-]{0,60}\d)[A-Za-z0-9][\w-]{18,240}(?![\w-])"),
    ("openai-key", "sk-", r"sk-[\w-]{10,120}T3BlbkFJ[\w-]{10,120}"),
    ("huggingface-token", "hf_ api", r"(?:hf|api_org)_[A-Za-z0-9]{30,40}(?![A-Za-z0-9])"),
    ("model-key", "gsk jin tgp ppl xai tvl", rf"(?:gsk_|jina_|tgp_v1_|pplx-|xai-|tvly-){_NO_WORDS}"),
    ("model-key", "nva cos csk llx pcs nyk", rf"(?:nvapi-|cosmo_|csk-|llx-|pcsk_|nyk_){_NO_WORDS}"),
    ("model-key", "fc- fw_", rf"(?:fc-|fw_){_NO_WORDS}"),
    ("model-key", "al- pa-", r"(?:al|pa)-(?=[a-zA-Z_-]{0,42}\d)[\w-]{43}(?![\w-])"),
    ("replicate-token", "r8_", r"r8_[A-Za-z0-9]{37}(?![\w-])"),
    ("langsmith-key", "lsv", r"lsv2_(?:pt|sk)_[0-9a-fA-F_]{32,80}"),
    ("langfuse-key", "sk- pk-", r"[sp]k-lf-[0-9a-f-]{36}"),
    # code hosts and their pipelines
    ("github-token", "ghp gho ghu ghs ghr", r"gh[pousr]_[A-Za-z0-9]{30,255}"),
    ("github-token", "git", r"github_pat_\w{22,255}"),
    ("gitlab-token", "glp gld glr glc glf gli gla glo gls glw",
     r"gl(?:pat|dt|rtr|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct|wt)-[\w.-]{16,320}"),
    ("gitlab-token", "glp gld glr glc glf gli gla glo gls glw",
     r"gl[a-z]{2,8}-(?=[\w.-]{0,30}\d)(?=[\w.-]{0,30}[A-Z])[\w.-]{20,320}"),
    ("gitlab-token", "GR1", r"GR1348941[\w-]{20,50}"),
    ("bitbucket-token", "ATB BBD", r"ATBB[A-Za-z0-9]{24,40}|BBDC-[\w+/@=-]{30,60}"),
    ("atlassian-token", "ATA ATC", r"AT[AC]T[A-Za-z0-9_-]{60,400}(?:=[0-9A-Fa-f]{8})?"),
    ("circleci-token", "CCI", r"CCI(?:PAT|PRJ)_[A-Za-z0-9]{20,30}_[0-9a-z]{40}"),
    ("buildkite-token", "bku bka bkc bkp", r"bk(?:ua|aa|aj|ar|ct|pt|pat|ps)_[\w-]{40,400}"),
    ("sonarqube-token", "sqa sqp squ", r"sq[apu]_[0-9a-f]{40}"),
    ("sourcegraph-token", "sgp", r"sgp_(?:[0-9a-fA-F]{16}_|local_)?[0-9A-Za-z]{40,64}"),
    ("artifactory-token", "AKC cmV", r"AKCp[A-Za-z0-9]{66,72}|cmVmd[A-Za-z0-9]{55,90}"),
    ("harness-token", "pat sat", r"[ps]at\.[\w-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}"),
    # packages
    ("npm-token", "npm", r"npm_[A-Za-z0-9]{32,64}"),
    ("pypi-token", "pyp", r"pypi-[\w-]{50,1000}"),
    ("rubygems-token", "rub", r"rubygems_[0-9a-f]{48}"),
    ("nuget-key", "oy2", r"oy2[a-z0-9]{43}(?![a-z0-9])"),
    ("crates-token", "cio", r"cio[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    ("clojars-token", "CLO", r"CLOJARS_[0-9a-z]{60}"),
    ("packagist-token", "pac", r"packagist_[a-z]{3}_[0-9a-f]{28,100}"),
    ("docker-token", "dck SWM", r"dckr_(?:pat|oat)_[\w-]{27,40}|SWM(?:TKN|KEY)-1-[\w+/-]{40,100}"),
    # clouds
    ("aws-access-key", "A3T AKI ASI ABI ACC",
     r"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("aws-key", "bed ABS", r"bedrock-api-key-[A-Za-z0-9+/=]{20,2000}|ABSK[A-Za-z0-9+/]{80,300}={0,2}"),
    ("aws-key", "amz da2", r"amzn\.mws\.[0-9a-z-]{36}|da2-[a-z0-9]{26}(?![a-z0-9])"),
    ("google-key", "AIz AQ.", r"AIza[\w-]{35}(?!\w)|AQ\.Ab[\w-]{40,80}"),
    ("google-secret", "GOC", r"GOCSPX-[\w-]{20,40}"),
    ("google-token", "ya2", r"ya29\.[\w-]{20,1000}"),
    ("alibaba-key", "LTA STS", r"(?:LTAI[A-Za-z0-9]{16,26}|STS\.[A-Za-z0-9]{16,64})(?![A-Za-z0-9])"),
    ("tencent-key", "AKI", r"AKID[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    ("yandex-key", "AQV y0_", r"(?:AQVN[\w-]{35,38}|y0_[\w-]{50,60})(?![\w-])"),
    ("digitalocean-token", "doo dop dor", r"do[opr]_v1_[0-9a-f]{64}"),
    ("heroku-key", "HRK", r"HRKU-[\w-]{36,64}"),
    ("fly-token", "fm1 fm2 fo1", r"(?:fm[12][ar]?|fo1)_[\w+/=,-]{40,1000}"),
    ("vercel-token", "vck vca vcr vci vcp", r"vc[karip]_[\w-]{24,80}"),
    ("netlify-token", "nfp nfc nfo nfu nfb", r"nf[pcoub]_[A-Za-z0-9]{36,50}"),
    ("cloudflare-key", "cfa cfu cfk v1.",
     r"cf(?:at|ut|k)_[A-Za-z0-9]{40,60}|v1\.0-[0-9a-f]{24}-[0-9a-f]{146}"),
    ("supabase-key", "sbp sb_", r"sbp_(?:v\d_|oauth_)?[0-9a-z_-]{40}|sb_secret_[\w-]{20,60}"),
    ("planetscale-token", "psc", r"pscale_(?:tkn|oauth|pw)_[\w.=-]{32,64}"),
    ("databricks-token", "dap", r"dapi[0-9a-f]{32}(?:-\d{1,3})?(?![0-9a-f])"),
    ("clickhouse-key", "4b1", r"4b1d[A-Za-z0-9]{38}(?![A-Za-z0-9])"),
    ("openshift-token", "sha", r"sha256~[\w-]{43}(?![\w-])"),
    ("pulumi-token", "pul", r"pul-[0-9a-f]{40}"),
    ("vault-token", "hvs hvb hvr", r"hv[sbr]\.[\w-]{20,300}"),
    ("vault-token", "s.", r"s\.(?=[A-Za-z]{0,23}\d)[A-Za-z0-9]{24}(?![\w.-])"),
    ("doppler-token", "dp.", r"dp\.(?:pt|ct|st|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}"),
    ("1password-token", "ops A3-", r"ops_eyJ[\w+/-]{100,2000}|A3-[A-Z0-9]{6}-[A-Z0-9-]{26,32}(?![A-Z0-9-])"),
    ("network-key", "dnk tsk", r"(?:dnkey|tskey)-[\w-]{24,120}"),
    # messages and mail
    ("slack-token", "xox xap", r"xox[a-eoprs][.-][\w./%-]{10,400}|xapp-\d{1,10}-[\w-]{20,200}"),
    ("discord-token", "MT Mj Mz ND NT Nj Nz OD OT",
     r"[MNO][A-Za-z\d]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])"),
    ("discord-token", "mfa", r"mfa\.[\w-]{80,100}"),
    ("twilio-key", "SK", r"SK[0-9a-fA-F]{32}(?![0-9a-fA-F])"),
    ("sendgrid-key", "SG.", r"SG\.[\w=.-]{40,90}"),
    ("mailgun-key", "key pub", r"(?:pub)?key-[0-9a-f]{32}(?![0-9a-f])"),
    ("mailersend-key", "mls", r"mlsn\.[A-Za-z0-9]{30,100}"),
    ("brevo-key", "xke xsm", r"x(?:keysib|smtpsib)-[0-9a-fA-F]{64}-[A-Za-z0-9]{16}"),
    ("facebook-token", "EAA", r"EAA[A-Z][A-Za-z0-9]{60,300}"),
    ("instagram-token", "IGQ IGA", r"IG[QA][A-Z]{1,3}[\w-]{60,300}"),
    ("twitter-token", "AAA", r"A{19,24}[A-Za-z0-9%]{50,120}"),
    # money and shops
    ("stripe-key", "sk_ rk_ pk_", r"[srp]k_(?:live|test|prod)_[A-Za-z0-9]{10,250}"),
    ("webhook-secret", "whs", r"whsec_[A-Za-z0-9+/=]{20,100}"),
    ("square-token", "sq0 EAA", r"sq0[a-z]{3}-[\w-]{22,43}|EAAA[\w-]{22,60}(?![\w-])"),
    ("shopify-token", "shp", r"shp(?:at|ca|pa|ss|ua|tka)_[0-9a-fA-F]{32}"),
    ("flutterwave-key", "FLW", r"FLW(?:SECK|PUBK)(?:_TEST)?-[0-9A-Za-z-]{12,50}"),
    ("shippo-token", "shi", r"shippo_(?:live|test)_[0-9a-fA-F]{40}"),
    ("easypost-key", "EZA EZT", r"EZ[AT]K[A-Za-z0-9]{54}"),
    # watching
    ("grafana-token", "eyJ glc gls",
     r"eyJrIjoi[\w+/=]{20,400}|glc_[A-Za-z0-9+/=]{30,400}|glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}"),
    ("newrelic-key", "NRA NRI NRJ NRR NRB", r"NR(?:AK|II|IQ|RA|JS|AA|BR)[A-Z]?-[\w-]{19,40}"),
    ("sentry-token", "snt", r"sntry[su]_[\w+/=]{40,600}"),
    ("dynatrace-token", "dt0", r"dt0[a-z]\d\d\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}"),
    ("posthog-key", "phx phc phs", r"ph[xcs]_[\w-]{38,50}"),
    # work
    ("linear-key", "lin", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}"),
    ("postman-key", "PMA", r"PMA[KT]-[0-9A-Za-z-]{26,64}"),
    ("figma-token", "fig", r"fig[dour]h?_[\w-]{38,60}"),
    ("notion-token", "sec ntn", r"(?:secret|ntn)_[A-Za-z0-9]{40,50}(?!\w)"),
    ("airtable-token", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("typeform-token", "tfp", r"tfp_[\w.=-]{40,62}"),
    ("octopus-key", "API", r"API-(?=[A-Z]{0,29}\d)[A-Z0-9]{25,30}(?![A-Z0-9])"),
    ("readme-key", "rdm", r"rdme_[a-z0-9]{70}"),
    ("dropbox-token", "sl.", r"sl\.(?:u\.)?[\w=-]{100,1400}"),
    ("adobe-secret", "p8e", r"p8e-[\w-]{32}"),
    ("twitch-key", "liv", r"live_\d{6,12}_[A-Za-z0-9]{30}"),
    ("iot-token", "aio odt", r"aio_[A-Za-z0-9]{28}|odt_[A-Za-z0-9]{32,255}"),
    ("devcycle-key", "dvc", r"dvc_(?:client|mobile|server)_[\w-]{8,60}"),
    ("salesforce-key", "3MV", r"3MV[A-Z0-9][\w.]{60,120}"),
    ("okta-token", "00", r"00(?=[\w-]{0,39}[A-Z])(?=[\w-]{0,39}[a-z])(?=[\w-]{0,39}\d)[\w-]{40}(?![\w-])"),
    ("resend-key", "re_", r"re_[1-9A-HJ-NP-Za-km-z]{8}_[1-9A-HJ-NP-Za-km-z]{24}"),
    ("api-key", "BSA EXO", r"(?:BSA|EXO)(?=[A-Za-z_-]{0,29}\d)[\w-]{24,40}(?![\w-])"),
    ("api-key", "cnv CCD sm_", r"cnvca[\w-]{51}|CCDB1_\w{60,70}|sm_[aps]at_[A-Za-z0-9]{16}"),
    ("api-key", "s-s roo", r"(?:s-s4t2(?:ud|af)-|rootly_)[0-9a-f]{64}"),
    ("api-key", "lip pin rnd unk uca vtw tss prf rpa",
     r"(?:lip|pina|rnd|unkey|ucat|vtwn|tss|prf(?:_cli)?|rpa)_(?=[A-Za-z_-]{0,60}\d)[\w-]{20,200}(?![\w-])"),
    # keys of no one in particular
    ("private-key", "AGE", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    ("private-key", "SU SA SO SN SC", r"S[UAONC][A-Z2-7]{56}(?![A-Z2-7])"),
    # Private keys without their BEGIN line (PKCS#1 and #8, SEC 1, Ed25519, OpenSSH), and with it in base64.
    ("private-key", "MII", r"MII[A-Za-z0-9+/]{1,3}(?:IBA[ADE]|AgEA|gIBA)" + _BASE64_LINES),
    ("private-key", "MIG MIH", r"MI[GH][A-Za-z0-9+/]{1,2}(?:AgEAM|CAQAw|IBADA|CAQEE)" + _BASE64_LINES),
    ("private-key", "MHc MHQ MC4", r"(?:MH[cQ]CAQEE|MC4CAQAwBQYDK2Vw)" + _BASE64_LINES),
    ("private-key", "b3B", r"b3BlbnNzaC1rZXktdjE" + _BASE64_LINES),
    ("private-key", "LS0", r"LS0tLS1CRUdJTi[A-Za-z0-9+/=]{40,20000}"),
    ("jwt", "eyJ sk. pk. ewo", r"(?:[sp]k\.)?e(?:yJ|wo)[\w-]{10,8000}(?:\.[\w-]{10,8000}+){1,4}+"),
    ("jwt", "eyJ", r"eyJ[\w-]{20,8000}\.(?=[^\w-]|\Z)"),
    ("jwt", "ZXl", r"ZXlK[A-Za-z0-9+/]{40,8000}={0,2}"),
    ("miro-token", "eyJ", r"eyJtaXJv[\w-]{30,140}"),
)  # fmt: skip
# The same for keys that begin like anything else: what must stand somewhere in them.
_MARKED: Final = (
    ("azure-key", "JQQJ99", r"[A-Za-z0-9]{20,80}JQQJ99[A-Za-z0-9]{20,60}={0,2}"),
    ("azure-secret", "Q~", r"[A-Za-z0-9_~.]{3}\dQ~[\w.~-]{31,34}"),
    ("azure-key", "AZDO", r"[A-Za-z0-9]{52,76}AZDO[A-Za-z0-9]{4}"),
    ("terraform-token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,80}"),
    ("newrelic-key", "NRAL", r"[0-9a-z]{30,40}(?:FFFF)?NRAL"),
    ("mailchimp-key", "-us", r"[0-9a-f]{32}-us\d{1,2}(?!\w)"),
    ("maxmind-key", "_mmk", r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
    ("private-key", "VkFURSBLRV", r"VkFURSBLRV[A-Za-z0-9+/=]{40,20000}"),
    ("private-key", "ZBVEUgS0VZ", r"ZBVEUgS0VZ[A-Za-z0-9+/=]{40,20000}"),
    ("private-key", "lWQVRFIEtFW", r"lWQVRFIEtFW[A-Za-z0-9+/=]{40,20000}"),
    # `"kty"` of a JSON Web Key in base64.
    ("private-key", "Imt0eSI", r"Imt0eSI[A-Za-z0-9+/=]{40,20000}"),
    ("private-key", "JrdHkiO", r"JrdHkiO[A-Za-z0-9+/=]{40,20000}"),
    ("private-key", "ia3R5Ij", r"ia3R5Ij[A-Za-z0-9+/=]{40,20000}"),
    ("dropbox-token", "AAAAAAAAAA", r"[A-Za-z0-9]{11}A{9,12}[\w-]{40,46}(?![\w-])"),
)

# The same for keys that are known by what stands right before them.
LED: Final = (
    ("google-token", r"(?<=1//)0[\w-]{35,120}"),
    ("telegram-token", r"(?<=\d:)A[A-H][\w-]{32,34}(?![\w-])"),
    ("salesforce-token", r"(?<=\w!)[A-Za-z0-9_.-]{80,260}"),
    ("facebook-token", r"(?<=\d{15}\|)[\w-]{27,40}(?![\w-])"),
    ("paypal-token", r"(?<=[nx]\$[0-9a-z]{16}\$)[0-9a-f]{32}"),
    ("datastax-token", r"(?<=AstraCS:)[A-Za-z0-9]{20,40}(?::[0-9a-f]{64})?"),
    ("configcat-key", r"(?<=configcat-sdk-1/)[\w-]{22}/[\w-]{22}"),
    ("mailgun-key", r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![\w-])"),
    ("tableau-token", r"(?<===:)[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
)


@dataclass(frozen=True, slots=True)
class Forms:
    """What may stand at a place: one pattern for several forms, and the kind of each."""

    pattern: re.Pattern[str]
    kinds: tuple[str, ...]

    def match(self, text: str, place: int) -> Span | None:
        """The key that begins at this place."""
        return self._span(self.pattern.match(text, place))

    def search(self, text: str, start: int, end: int) -> Span | None:
        """The first key between these places."""
        return self._span(self.pattern.search(text, start, end))

    def _span(self, found: re.Match[str] | None) -> Span | None:
        return Span(*found.span(), self.kinds[(found.lastindex or 0) - 1], Rank.FORM) if found else None


@cache
def forms(of: tuple[tuple[str, str], ...]) -> Forms:
    """Some forms and their kinds, ready to be looked for; most are never needed, so none is made before."""
    return Forms(re.compile("|".join(f"({form})" for _, form in of), re.ASCII), tuple(kind for kind, _ in of))


def _by_beginning() -> dict[str, tuple[tuple[str, str], ...]]:
    groups: dict[str, tuple[tuple[str, str], ...]] = {}
    for kind, beginnings, form in _FORMS:
        for beginning in beginnings.split():
            lasts = "" if len(beginning) == LENGTH_OF_BEGINNING else TOKEN_CHARACTERS
            for key in [beginning + last for last in lasts] or [beginning]:
                groups[key] = (*groups.get(key, ()), (kind, form))
    return groups


LENGTH_OF_BEGINNING: Final = 3
BY_BEGINNING: Final = _by_beginning()
MARKS: Final = tuple(mark for _, mark, _ in _MARKED)
LONG_MARKS: Final = tuple(mark for kind, mark, _ in _MARKED if kind == "private-key")
MARKED: Final = tuple((kind, form) for kind, _, form in _MARKED)
SHORTEST_MARKED: Final = 33
# The last two characters before such a key.
LEADS: Final = frozenset(
    [digit + sign for digit in string.digits for sign in ":|"]
    + [word + sign for word in string.ascii_letters + string.digits for sign in "!$"]
    + ["//", "=:", "S:", "1/"]
)

# Words in a prefix that say of what follows them that it is a key: `acme_live_…`, `acme-pat-…`.
KEY_WORDS: Final = frozenset("sk rk pat oat sat apikey secret sec live prod production priv private".split())
RANDOM_KEY_WORDS: Final = KEY_WORDS | frozenset(
    """access admin api app at auth bot ci cli deploy hook key master oauth org pk refresh root rt sandbox
    server srv staging svc team test tok token user webhook""".split()
)
# Beginnings of ids that services give to messages, calls, customers and the like: open to anyone.
IDS: Final = frozenset(
    """toolu srvtoolu tool msg message req request call chatcmpl cmpl resp response rs fc ws item run
    thread step asst file batch sess session evt event user org team proj project task job build deploy
    agent chunk page conv conversation vs ft id uid cus sub acct price prod inv pi ch cs in txn usr wf
    node span trace sha sha1 sha256 sha384 sha512 md5 hash commit tree blob layer img image tmp temp cache
    bundle index main vendor urn uuid guid ref rev etag nonce""".split()
)
SEPARATORS: Final = re.compile(r"[_.-]")
