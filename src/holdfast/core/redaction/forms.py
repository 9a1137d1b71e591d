"""Forms: how the keys of providers look, and which other strings are keys by their prefix or randomness."""

from __future__ import annotations

import re
import string
from functools import cache
from typing import Final

from holdfast.core.redaction.spans import Rank, Span
from holdfast.core.redaction.values import (
    is_code_name,
    is_drawn,
    is_hex,
    is_mixed,
    is_scrambled,
    reads_like_words,
)
from holdfast.core.text.lazy_patterns import compiled
from holdfast.lazy_dataclass import dataclass

# What follows a prefix that words have too: a digit tells that it is none.
_NO_WORDS: Final = r"(?=[a-zA-Z_-]{0,99}\d)[\w-]{24,140}"
_UUID: Final = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![\w-])"
_BASE64_LINES: Final = (
    r"[A-Za-z0-9+/=]{20,5000}(?:[ \t]{0,40}(?:\r?\n|\\n)[ \t]{0,40}[A-Za-z0-9+/=]{16,200}+){0,400}+"
)
# (kind, how it begins, its form). The beginnings, cut to three characters, sift the runs: a set is faster
# than any pattern.
FORMS: Final = (
    # models
    ("anthropic-key", "sk-", r"(?i:sk-ant)-[\w-]{20,200}"),
    ("openrouter-key", "sk-", r"sk-or-v\d{1,9}-[\w-]{20,100}"),
    ("openai-key", "sk-", r"sk-(?:proj|svcacct|admin|None)-[\w-]{20,240}"),
    ("openai-key", "sk- Sk- SK-", r"(?i:sk)-(?=[a-zA-Z_-]{0,60}\d)[A-Za-z0-9][\w-]{18,240}(?![\w-])"),
    ("openai-key", "sk-", r"sk-[\w-]{10,120}T3BlbkFJ[\w-]{10,120}"),
    ("huggingface-token", "hf_ api", r"(?:hf|api_org)_[A-Za-z0-9]{30,40}(?![A-Za-z0-9])"),
    ("model-key", "gsk jin tgp ppl xai tvl", rf"(?:gsk_|jina_|tgp_v1_|pplx-|xai-|tvly-){_NO_WORDS}"),
    ("model-key", "nva cos csk llx pcs nyk", rf"(?:nvapi-|cosmo_|csk-|llx-|pcsk_|nyk_){_NO_WORDS}"),
    ("model-key", "fc- fw_ e2b flp bb_", rf"(?:fc-|fw_|e2b_|flp_|bb_live_){_NO_WORDS}"),
    ("model-key", "ese pyl wan m0-", rf"(?:esecret_|pylf_v\d_|wandb_v\d_|m0-){_NO_WORDS}"),
    ("model-key", "al- pa-", r"(?:al|pa)-(?=[a-zA-Z_-]{0,42}\d)[\w-]{43}(?![\w-])"),
    ("model-key", "app dat",
     r"(?:app|dataset)-(?=[A-Z]{0,24}[a-z])(?=[A-Za-z]{0,24}\d)[A-Za-z0-9]{24}(?![\w-])"),
    ("replicate-token", "r8_", r"r8_[A-Za-z0-9]{37}(?![\w-])"),
    ("langsmith-key", "lsv", r"lsv2_(?:pt|sk)_[0-9a-fA-F_]{32,80}"),
    ("langfuse-key", "sk- pk-", rf"[sp]k-lf-{_UUID}"),
    ("cursor-key", "key crs", r"(?:key|crsr)_[0-9a-f]{64}(?![0-9a-f])"),
    # code hosts and their pipelines
    ("github-token", "ghp gho ghu ghs ghr", r"gh[pousr]_[A-Za-z0-9]{30,255}"),
    ("github-token", "git", r"github_pat_\w{22,255}"),
    ("gitlab-token", "glp gld glr glc glf gli gla glo gls glw",
     r"gl(?:pat|dt|rtr|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct|wt)-[\w.-]{16,320}"),
    ("gitlab-token", "glp gld glr glc glf gli gla glo gls glw",
     r"gl[a-z]{2,8}-(?=[\w.-]{0,30}\d)(?=[\w.-]{0,30}[A-Z])[\w.-]{20,320}"),
    ("gitlab-token", "GR1", r"GR1348941[\w-]{20,50}"),
    ("bitbucket-token", "ATB BBD", r"ATBB[A-Za-z0-9]{24,40}|BBDC-[\w+/@=-]{30,60}"),
    ("atlassian-token", "ATA ATC ATT",
     r"AT[ACT]T[A-Za-z0-9_-]{60,400}(?:=[0-9A-Fa-f]{8})?|ATTA[0-9a-fA-F]{64,80}"),
    ("circleci-token", "CCI", r"CCI(?:PAT|PRJ)_[A-Za-z0-9]{20,30}_[0-9a-z]{40}"),
    ("buildkite-token", "bku bka bkc bkp", r"bk(?:ua|aa|aj|ar|ct|pt|pat|ps)_[\w-]{40,400}"),
    ("sonarqube-token", "sqa sqp squ", r"sq[apu]_[0-9a-f]{40}"),
    ("sourcegraph-token", "sgp slk", r"sgp_(?:[0-9a-fA-F]{16}_|local_)?[0-9A-Za-z]{40,64}|slk_[0-9a-f]{64}"),
    ("artifactory-token", "AKC cmV", r"AKCp[A-Za-z0-9]{66,72}|cmVmd[A-Za-z0-9]{55,90}"),
    ("harness-token", "pat sat", r"[ps]at\.[\w-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}"),
    ("snyk-token", "sny", r"snyk_[a-z]{2,4}\.[0-9a-f]{8}\.[\w.-]{40,200}"),
    ("portainer-token", "ptr", r"ptr_[A-Za-z0-9+/=]{40,60}"),
    ("infracost-key", "ico", r"ico-[A-Za-z0-9]{32}(?!\w)"),
    ("aikido-token", "AIK", r"AIK_(?:CLIENT|SECRET|CI)_[A-Za-z0-9_-]{20,100}"),
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
    ("google-key", "6L", r"6L[\w-]{6}A{4,6}[\w-]{26,29}(?![\w-])"),
    ("alibaba-key", "LTA STS", r"(?:LTAI[A-Za-z0-9]{16,26}|STS\.[A-Za-z0-9]{16,64})(?![A-Za-z0-9])"),
    ("tencent-key", "AKI", r"AKID[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    ("volcengine-key", "AKL", r"AKLT(?=[A-Za-z]{0,42}\d)[\w-]{40,48}(?![\w-])"),
    ("baidu-key", "bce ALT", r"(?:bce-v3/)?ALTAK-[A-Za-z0-9]{21}(?:/[0-9a-f]{40})?"),
    ("yandex-key", "AQV y0_ YC",
     r"(?:AQVN[\w-]{35,38}|y0_[\w-]{50,60}|YC[\w-]{38})(?![\w-])"),
    ("yandex-token", "t1.", r"t1\.[A-Z0-9a-z_-]{20,400}={0,2}\.[\w-]{80,90}={0,2}"),
    ("digitalocean-token", "doo dop dor", r"do[opr]_v1_[0-9a-f]{64}"),
    ("heroku-key", "HRK", r"HRKU-[\w-]{36,64}"),
    ("fly-token", "fm1 fm2 fo1", r"(?:fm[12][ar]?|fo1)_[\w+/=,-]{40,1000}"),
    ("vercel-token", "vck vca vcr vci vcp", r"vc[karip]_[\w-]{24,80}"),
    ("netlify-token", "nfp nfc nfo nfu nfb", r"nf[pcoub]_[A-Za-z0-9]{36,50}"),
    ("cloudflare-key", "cfa cfu cfk v1.",
     r"cf(?:at|ut|k)_[A-Za-z0-9]{40,60}|v1\.0-[0-9a-f]{24}-[0-9a-f]{146}"),
    ("supabase-key", "sbp sb_", r"sbp_(?:v\d_|oauth_)?[0-9a-z_-]{40}|sb_secret_[\w-]{20,60}"),
    ("planetscale-token", "psc", r"pscale_(?:tkn|oauth|pw)_[\w.=-]{32,64}"),
    ("database-password", "AVN nap mdb", r"AVNS_[\w-]{19}(?![\w-])|napi_[a-z0-9]{64}|mdb_sa_sk_[\w-]{36,60}"),
    ("databricks-token", "dap dos", r"(?:dapi|dose|dkea|dsapi)[0-9a-f]{32}(?:-\d{1,3})?(?![0-9a-f])"),
    ("clickhouse-key", "4b1", r"4b1d[A-Za-z0-9]{38}(?![A-Za-z0-9])"),
    ("openshift-token", "sha", r"sha256~[\w-]{43}(?![\w-])"),
    ("scalingo-token", "tk-", r"tk-us-[\w-]{48}(?![\w-])"),
    ("nebius-token", "v1.", r"v1\.C[\w-]{60,400}"),
    ("pulumi-token", "pul", r"pul-[0-9a-f]{40}"),
    ("vault-token", "hvs hvb hvr", r"hv[sbr]\.[\w-]{20,300}"),
    ("vault-token", "s.", r"s\.(?=[A-Za-z]{0,23}\d)[A-Za-z0-9]{24}(?![\w.-])"),
    ("doppler-token", "dp.", r"dp\.(?:pt|ct|st|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}"),
    ("infisical-token", "st.", r"st\.[0-9a-f]{24}\.[0-9a-f]{32}\.[0-9a-f]{32}"),
    ("1password-token", "ops A3-", r"ops_eyJ[\w+/-]{100,2000}|A3-[A-Z0-9]{6}-[A-Z0-9-]{26,32}(?![A-Z0-9-])"),
    ("network-key", "dnk tsk", r"(?:dnkey|tskey)-[\w-]{24,120}"),
    # messages and mail
    ("slack-token", "xox xap xwf",
     r"xox[a-eoprs][.-][\w./%-]{10,400}|xapp-\d{1,10}-[\w-]{20,200}|xwfp-[\w-]{20,100}"),
    ("discord-token", "MT Mj Mz ND NT Nj Nz OD OT",
     r"[MNO][A-Za-z\d]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])"),
    ("discord-token", "mfa", r"mfa\.[\w-]{80,100}"),
    ("twilio-key", "SK", r"SK[0-9a-fA-F]{32}(?![0-9a-fA-F])"),
    ("sendgrid-key", "SG.", r"SG\.[\w=.-]{40,90}"),
    ("mailgun-key", "key pub", r"(?:pub)?key-[0-9a-f]{32}(?![0-9a-f])"),
    ("mailersend-key", "mls", r"mlsn\.[A-Za-z0-9]{30,100}"),
    ("brevo-key", "xke xsm", r"x(?:keysib|smtpsib)-[0-9a-fA-F]{64}-[A-Za-z0-9]{16}"),
    ("onesignal-key", "os_", r"os_v2_(?:app|org)_[a-z0-9]{50,120}"),
    ("telnyx-key", "KEY", r"KEY[A-Za-z0-9]{20,30}_[A-Za-z0-9]{20,30}"),
    ("voiceflow-key", "VF.", r"VF\.[A-Z]{2,10}\.[0-9a-f]{24}\.[A-Za-z0-9]{14,20}"),
    ("facebook-token", "EAA", r"EAA[A-Z][A-Za-z0-9]{60,300}"),
    ("instagram-token", "IGQ IGA", r"IG[QA][A-Z]{1,3}[\w-]{60,300}"),
    ("twitter-token", "AAA", r"A{19,24}[A-Za-z0-9%]{50,120}"),
    ("tiktok-token", "act clt", r"(?:act|clt)\.[A-Za-z0-9]{30,100}(?:![0-9a-z.]{2,10})?"),
    # money and shops
    ("stripe-key", "sk_ rk_ pk_", r"[srp]k_(?:live|test|prod|sbox)_[A-Za-z0-9+/]{10,250}={0,2}"),
    ("api-key", "sk_", r"sk_(?:car_)?[0-9a-f]{40,64}(?![0-9a-f])"),
    ("webhook-secret", "whs", r"whsec_[A-Za-z0-9+/=]{20,100}"),
    ("square-token", "sq0 EAA", r"sq0[a-z]{3}-[\w-]{22,43}|EAAA[\w-]{22,80}(?![\w-])"),
    ("shopify-token", "shp", r"shp(?:at|ca|pa|ss|ua|tka)_[0-9a-fA-F]{32}"),
    ("flutterwave-key", "FLW", r"FLW(?:SECK|PUBK)(?:_TEST)?-[0-9A-Za-z-]{12,50}"),
    ("shippo-token", "shi", r"shippo_(?:live|test)_[0-9a-fA-F]{40}"),
    ("easypost-key", "EZA EZT", r"EZ[AT]K[A-Za-z0-9]{54}"),
    ("razorpay-key", "rzp", r"rzp_(?:live|test)_[A-Za-z0-9]{14,24}(?!\w)"),
    ("mercadopago-token", "APP TES", r"(?:APP_USR|TEST)-\d{12,20}-\d{6}-[0-9a-f]{32}-\d{6,12}"),
    ("midtrans-key", "Mid SB-", r"(?:SB-)?Mid-server-[\w-]{20,40}"),
    ("paddle-key", "pdl", r"pdl_(?:live|sdbx)_apikey_[0-9a-z]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}"),
    ("polar-token", "pol", r"polar_[a-z]{2,4}_[\w-]{30,80}"),
    ("plaid-token", "acc", rf"access-(?:sandbox|development|production)-{_UUID}"),
    ("adyen-key", "AQE", r"AQE[\w+/=-]{60,400}"),
    ("ebay-key", "PRD SBX",
     r"(?:PRD|SBX)-[0-9a-f]{8}(?:[0-9a-f]{4}-|-[0-9a-f]{4}){2,4}-?[0-9a-f]{4,12}(?![\w-])"),
    ("asaas-token", "aac", r"aact_[\w:=]{30,300}"),
    # watching
    ("grafana-token", "eyJ glc gls",
     r"eyJrIjoi[\w+/=]{20,400}|glc_[A-Za-z0-9+/=]{30,400}|glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}"),
    ("newrelic-key", "NRA NRI NRJ NRR NRB", r"NR(?:AK|II|IQ|RA|JS|AA|BR)[A-Z]?-[\w-]{19,40}"),
    ("sentry-token", "snt", r"sntry[su]_[\w+/=]{40,600}"),
    ("dynatrace-token", "dt0", r"dt0[a-z]\d\d\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}"),
    ("posthog-key", "phx phc phs", r"ph[xcs]_[\w-]{38,50}"),
    ("honeycomb-key", "hca hcx hcb hci hcl hcm", r"hc[a-z][a-z]{2}_[0-9a-z]{40,64}"),
    ("datadog-key", "dda ddp", r"dd(?:app|api|pat)_[A-Za-z0-9]{30,60}"),
    ("wakatime-key", "wak", rf"waka_(?:tok_|sec_)?(?:{_UUID}|[A-Za-z0-9]{{60,90}})"),
    # work
    ("linear-key", "lin", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}"),
    ("postman-key", "PMA", r"PMA[KT]-[0-9A-Za-z-]{26,64}"),
    ("figma-token", "fig", r"fig[dour]h?_[\w-]{38,60}"),
    ("notion-token", "sec ntn", r"(?:secret|ntn)_[A-Za-z0-9]{40,50}(?!\w)"),
    ("airtable-token", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("typeform-token", "tfp", r"tfp_[\w.=-]{40,62}"),
    ("octopus-key", "API", r"API-(?=[A-Z]{0,29}\d)[A-Z0-9]{25,30}(?![A-Z0-9])"),
    ("readme-key", "rdm", r"rdme_[a-z0-9]{70}"),
    ("launchdarkly-key", "api sdk mob", rf"(?:api|sdk|mob)-{_UUID}"),
    ("hubspot-token", "pat", rf"pat-[a-z]{{2}}\d-{_UUID}"),
    ("contentful-token", "CFP", r"CFPAT-[\w-]{43}(?![\w-])"),
    ("intercom-token", "dG9", r"dG9rO[A-Za-z0-9+/]{50,56}={0,2}"),
    ("frameio-token", "fio", r"fio-[a-z]-[\w=-]{60,68}"),
    ("close-key", "api", r"api_[A-Za-z0-9]{20,24}\.[A-Za-z0-9]{20,24}(?!\w)"),
    ("dropbox-token", "sl.", r"sl\.(?:u\.)?[\w=-]{100,1400}"),
    ("adobe-secret", "p8e", r"p8e-[\w-]{32}"),
    ("twitch-key", "liv", r"live_\d{6,12}_[A-Za-z0-9]{30}"),
    ("iot-token", "aio odt", r"aio_[A-Za-z0-9]{28}|odt_[A-Za-z0-9]{32,255}"),
    ("devcycle-key", "dvc", r"dvc_(?:client|mobile|server)_[\w-]{8,60}"),
    ("devin-key", "apk", r"apk_(?:user_)?[A-Za-z0-9+/]{60,300}={0,2}"),
    ("salesforce-key", "3MV", r"3MV[A-Z0-9][\w.]{60,120}"),
    ("okta-token", "00", r"00(?=[\w-]{0,39}[A-Z])(?=[\w-]{0,39}[a-z])(?=[\w-]{0,39}\d)[\w-]{40}(?![\w-])"),
    ("authress-key", "sc_ ext sca aut",
     r"(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[\w+/=-]{30,120}"),
    ("resend-key", "re_", r"re_[1-9A-HJ-NP-Za-km-z]{8}_[1-9A-HJ-NP-Za-km-z]{24}"),
    ("zuplo-key", "zpk", r"zpka_[0-9a-z]{32}_[0-9a-z]{8}"),
    ("api-key", "BSA EXO", r"(?:BSA|EXO)(?=[A-Za-z_-]{0,29}\d)[\w-]{24,40}(?![\w-])"),
    ("api-key", "cnv CCD sm_", r"cnvca[\w-]{51}|CCDB1_\w{60,70}|sm_[aps]at_[A-Za-z0-9]{16}"),
    ("api-key", "s-s roo", r"(?:s-s4t2(?:ud|af)-|rootly_)[0-9a-f]{64}"),
    ("api-key", "lip pin rnd unk uca vtw tss prf rpa",
     r"(?:lip|pina|rnd|unkey|ucat|vtwn|tss|prf(?:_cli)?|rpa)_(?=[A-Za-z_-]{0,60}\d)[\w-]{20,200}(?![\w-])"),
    ("api-key", "aiv", r"aivenv1[\w+/=]{100,400}|aivenat[\w+/=]{100,400}"),
    # keys of no one in particular
    ("private-key", "AGE", r"AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{58}"),
    ("private-key", "SU SA SO SN SC", r"S[UAONC][A-Z2-7]{56}(?![A-Z2-7])"),
    ("private-key", "xpr ypr zpr tpr nse",
     r"[tuvxyz]prv[1-9A-HJ-NP-Za-km-z]{100,112}|nsec1[02-9ac-hj-np-z]{58}"),
    # Private keys without their BEGIN line (PKCS#1 and #8, SEC 1, Ed25519, OpenSSH), and with it in base64.
    ("private-key", "MII", r"MII[A-Za-z0-9+/]{1,3}(?:IBA[ADE]|AgEA|gIBA)" + _BASE64_LINES),
    ("private-key", "MIG MIH", r"MI[GH][A-Za-z0-9+/]{1,2}(?:AgEAM|CAQAw|IBADA|CAQEE)" + _BASE64_LINES),
    ("private-key", "MHc MHQ MC4", r"(?:MH[cQ]CAQEE|MC4CAQAwBQYDK2Vw)" + _BASE64_LINES),
    ("private-key", "b3B RWR", r"(?:b3BlbnNzaC1rZXktdjE|RWRTY0Iy)" + _BASE64_LINES),
    ("private-key", "LS0", r"LS0tLS1CRUdJTi[A-Za-z0-9+/=]{40,20000}"),
    ("jwt", "eyJ sk. pk. ewo", r"(?:[sp]k\.)?e(?:yJ|wo)[\w-]{10,8000}(?:\.[\w-]{10,8000}+){1,4}+"),
    ("jwt", "eyJ", r"eyJ[\w-]{20,8000}\.(?=[^\w-]|\Z)"),
    ("jwt", "ZXl", r"ZXlK[A-Za-z0-9+/]{40,8000}={0,2}"),
    ("miro-token", "eyJ", r"eyJtaXJv[\w-]{30,140}"),
)  # fmt: skip
# The same for keys that begin like anything else: what must stand somewhere in them.
MARKED: Final = (
    ("azure-key", "JQQJ99", r"[A-Za-z0-9]{20,80}JQQJ99[A-Za-z0-9]{20,60}={0,2}"),
    ("azure-secret", "Q~", r"[A-Za-z0-9_~.]{3}\dQ~[\w.~-]{31,34}"),
    ("azure-key", "AZDO", r"[A-Za-z0-9]{52,76}AZDO[A-Za-z0-9]{4}"),
    ("azure-key", "AzSe", r"[A-Za-z0-9]{42}AzSe[A-D][A-Za-z0-9]{5}"),
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
    ("facebook-token", r"(?:(?<=\d{15}\|)|(?<=\d{15}%7C))[\w-]{27,40}(?![\w-])"),
    ("paypal-token", r"(?<=[nx]\$[0-9a-z]{16}\$)[0-9a-f]{32}"),
    ("datastax-token", r"(?<=AstraCS:)[A-Za-z0-9]{20,40}(?::[0-9a-f]{64})?"),
    ("configcat-key", r"(?<=configcat-sdk-1/)[\w-]{22}/[\w-]{22}"),
    ("mailgun-key", r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![\w-])"),
    ("tableau-token", r"(?<===:)[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    ("asana-token", r"(?<=\d{16}:)[0-9a-f]{32}(?![0-9a-f])"),
    ("password-hash", r"(?<=SHA\})[A-Za-z0-9+/]{27,90}={0,2}"),
)
# Keys of base64, known by letters that their maker signs them with near their end.
SIGNED: Final = (
    ("azure-key", r"[A-Za-z0-9+/]{76}(?:APIM|ACDb|\+(?:ABa|AMC|ASt))[A-Za-z0-9+/]{5}[AQgw]=="),
    ("azure-key", r"[A-Za-z0-9+/]{33}(?:AIoT|AzCa|\+(?:ASb|AEh|ARm))[A-P][A-Za-z0-9+/]{5}="),
    ("azure-key", r"[A-Za-z0-9+/]{44}AzFu[A-Za-z0-9+/]{5}[AQgw]=="),
    ("azure-key", r"[A-Za-z0-9+/]{42}\+ACR[A-D][A-Za-z0-9+/]{5}"),
)


# A key is a run of token characters (letters, digits, `_`, `-`, `.`, `~`) of at least this length, followed
# by what base64 adds.
SHORTEST_RUN: Final = 20
TOKEN_CHARACTERS: Final = string.ascii_letters + string.digits + "_-.~"
LENGTH_OF_BEGINNING: Final = 3


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

    def _span(self, match: re.Match[str] | None) -> Span | None:
        return Span(*match.span(), self.kinds[(match.lastindex or 0) - 1], Rank.FORM) if match else None


@cache
def forms(of: tuple[tuple[str, str], ...]) -> Forms:
    """Some forms and their kinds, ready to be looked for; most are never needed, so none is made before."""
    return Forms(compiled("|".join(f"({form})" for _, form in of), re.ASCII), tuple(kind for kind, _ in of))


def known_at(text: str, place: int) -> Span | None:
    """The key of a published form that begins at this place."""
    of = BY_BEGINNING.get(text[place : place + LENGTH_OF_BEGINNING])
    return forms(of).match(text, place) if of else None


def _by_beginning() -> dict[str, tuple[tuple[str, str], ...]]:
    groups: dict[str, tuple[tuple[str, str], ...]] = {}
    for kind, beginnings, form in FORMS:
        for beginning in beginnings.split():
            lasts = "" if len(beginning) == LENGTH_OF_BEGINNING else TOKEN_CHARACTERS
            for key in [beginning + last for last in lasts] or [beginning]:
                groups[key] = (*groups.get(key, ()), (kind, form))
    return groups


BY_BEGINNING: Final = _by_beginning()
# Beginnings that words have too: there, a run without a digit is a name.
_OF_WORDS: Final = frozenset(
    "acc act api app aut dat ext git glo key lin nap npm pac pat pol pub pyp roo sca sec sha".split()
)
WITHOUT_DIGITS: Final = frozenset(each for each in BY_BEGINNING if each not in _OF_WORDS and each[:2] != "s.")
MARKS: Final = tuple(mark for _, mark, _ in MARKED)
LONG_MARKS: Final = tuple(mark for kind, mark, _ in MARKED if kind == "private-key")
MARKED_FORMS: Final = tuple((kind, form) for kind, _, form in MARKED)
SHORTEST_MARKED: Final = 33
# The last two characters before a key that is known by what leads to it.
LEADS: Final = frozenset(
    [digit + sign for digit in string.digits for sign in ":|"]
    + [word + sign for word in string.ascii_letters + string.digits for sign in "!$"]
    + ["//", "=:", "S:", "1/", "A}", "7C"]
)

# Words in a prefix that say of what follows them that it is a key: `acme_live_…`, `acme-pat-…`.
SURE_KEY_WORDS: Final = frozenset("sk rk pat apikey".split())
KEY_WORDS: Final = frozenset("sk rk pat oat sat apikey secret sec live prod production priv private".split())
RANDOM_KEY_WORDS: Final = KEY_WORDS | frozenset(
    """access admin ak api app at auth bot ci cli deploy hook key master oauth org pk refresh root rt sandbox
    server srv staging svc team test tok token user webhook""".split()
)
# Beginnings of ids that services give to messages, calls, customers and the like: open to anyone.
IDS: Final = frozenset(
    """toolu srvtoolu tool msg message req request call chatcmpl cmpl resp response rs fc ws item run
    thread step asst file batch sess session evt event user org team proj project task job build deploy
    agent chunk page conv conversation vs ft id uid cus sub acct price prod inv pi ch cs in txn usr wf
    node span trace sha sha1 sha256 sha384 sha512 md5 hash commit tree blob layer img image tmp temp cache
    bundle index main vendor urn uuid guid ref rev etag nonce ses prt doc ctx mem obs log test obj res lib
    pkg git gen dir dev cmp prj dpl inst env pm seti setup src card po plink il si ba acc bld part prompt
    wrkspc workspace rlg release tag branch pr issue comment snap snapshot vol eni subnet vpc ami
    pod rg cluster arn doi""".split()
)
# Ids have the words that keys have, but for these.
_KEY_AMONG_IDS: Final = compiled(
    r"[_.-](?:sk|rk|pat|apikey|secret|live|prod|priv|private|token|key)[_.-]", re.ASCII
)
SEPARATORS: Final = compiled(r"[_.-]")
# A prefix of one to four short words before what may be random characters.
_PREFIXED: Final = compiled(
    r"""(?P<first>[A-Za-z][A-Za-z0-9]{1,15})(?P<more>(?:[_.-][A-Za-z0-9]{1,11}(?![A-Za-z0-9])){0,3}+)
        [_.-](?P<rest>[\w=-]{16,400})\Z""",
    re.ASCII | re.VERBOSE,
)
# Two or three parts with dots between them, and a prefix before the first.
_HALVES: Final = compiled(
    r"""(?:[A-Za-z0-9]{1,12}[_-]){0,2}(?P<first>[A-Za-z0-9-]{16,48})[._](?:[\w-]{4,48}\.)?
        (?P<second>[\w-]{16,60})\Z""",
    re.ASCII | re.VERBOSE,
)


def is_id(run: str) -> bool:
    """Whether it begins as the ids of messages, calls and customers do, and does not say key."""
    if _NODE.match(run):
        return True
    first = SEPARATORS.split(run, maxsplit=1)[0]
    if first not in IDS or (len(first) < _SHORTEST_WORD and run[len(first) : len(first) + 1] != "_"):
        return False
    return not _KEY_AMONG_IDS.search(run)


# How a code host numbers what it keeps.
_NODE: Final = compiled(r"[A-Z]{1,6}_k[wg][DL]", re.ASCII)
# Fewer letters name what is identified only before an underscore.
_SHORTEST_WORD: Final = 3


def is_prefixed_key(run: str) -> bool:
    """Whether it is a prefix of short words before random characters: `acme_live_…`, `acmepat-…`."""
    match = _PREFIXED.match(run)
    if not match or is_id(run):
        return False
    words = {match["first"].lower(), *SEPARATORS.split(match["more"].lower())}
    rest = match["rest"]
    longest = max(SEPARATORS.split(rest), key=len)
    if len(longest) >= 20 and not longest.isalpha() and not longest.isdigit() and words & SURE_KEY_WORDS:
        return True
    if len(longest) < 12 or not is_scrambled(longest):
        return False
    if is_hex(longest):
        # Ids and hashes have the same form; behind a word they are named after what they identify.
        return len(rest) >= 20 and bool(words & KEY_WORDS or _HEX_BEHIND_PREFIX.match(run))
    if longest.isupper() and match["first"].isupper():
        return len(longest) >= 20
    if is_mixed(longest):
        # Ids have the same form, but none of those in use is as long as thirty characters.
        return len(rest) >= 30 or bool(words & RANDOM_KEY_WORDS)
    return len(longest) >= 32 or (len(rest) >= 20 and bool(words & RANDOM_KEY_WORDS))


def may_be_prefixed_key(run: str) -> bool:
    """The same of fewer or plainer characters; ids look so too, and what stands before it must tell."""
    match = None if run.isalnum() else _PREFIXED.match(run)
    if not match or is_id(run):
        return False
    rest = match["rest"]
    longest = max(SEPARATORS.split(rest), key=len)
    if len(longest) < _SHORTEST_REST:
        return _is_drawn_in_parts(rest)
    if len(longest) < 0.6 * len(rest):
        return False
    if is_hex(longest):
        return len(longest) in _LENGTHS_OF_HEX and _BEFORE_HEX.match(run) is not None
    if not is_mixed(longest) and len(longest) < SHORTEST_RUN:
        return False
    if len(_NUMBERS.findall(longest)) >= _MANY_NUMBERS:
        return not is_code_name(longest)
    return (is_scrambled(longest) or is_drawn(longest)) and not reads_like_words(longest)


def _is_drawn_in_parts(rest: str) -> bool:
    """Whether separators stand by chance among characters that a machine drew."""
    joined = SEPARATORS.sub("", rest)
    return (
        len(joined) >= SHORTEST_RUN
        and is_mixed(joined)
        and is_scrambled(joined)
        and not reads_like_words(joined)
        and len(_NUMBERS.findall(joined)) >= _MANY_NUMBERS
    )


_NUMBERS: Final = compiled(r"[0-9]+")
_MANY_NUMBERS: Final = 3
_SHORTEST_REST: Final = 18
_LENGTHS_OF_HEX: Final = frozenset((32, 40, 48, 64))
# Before a hash there may be the name of a file or a project; before a key stand few letters, or the word.
_BEFORE_HEX: Final = compiled(
    r"""[A-Za-z0-9]{1,6}_ | [A-Za-z0-9]{1,4}[.-]
      | [A-Za-z0-9]{0,12}?(?:key|tok|token|pat|prod|live|secret)[_.-]""",
    re.ASCII | re.VERBOSE | re.IGNORECASE,
)
# `squ_5f62…`, `doo_v1_c46d…`: a hash or an id has no such prefix but those that are listed, or a word.
_HEX_BEHIND_PREFIX: Final = compiled(
    r"[A-Za-z0-9]{2,10}_(?:v\d{1,2}_)?(?:[0-9a-f]{32}|[0-9a-f]{40,64})\Z", re.ASCII
)
# `dapi5f62…`, `SK6e84…`: where the hexadecimal number begins is plain to see.
_HEX_BEHIND_LETTERS: Final = compiled(
    r"[A-Za-z]{1,5}[g-zG-Z](?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})\Z", re.ASCII
)
SHORTEST_ALONE: Final = 24
_LONGEST_ALONE: Final = 400
# Of small letters alone a key is longer, and has a digit that base32, the writing of addresses, has not.
# and a letter that ids of 32 characters have not.
_SMALL: Final = compiled(r"(?=[a-z2-7]{0,99}[0189])(?=[0-9a-v]{0,99}[w-z])[a-z0-9]{32,100}\Z", re.ASCII)
_CAPITALS: Final = compiled(
    r"(?=[0-9A-F]{0,99}[G-Z])(?=(?:[A-Z]{0,99}+[0-9]){2})[A-Z0-9]{20,100}\Z", re.ASCII
)
# As random, and public: addresses on a chain and of a file in a network of peers, numbers in hexadecimal, ids
# that sort by time, and the open half of a pair of keys.
_PUBLIC: Final = compiled(
    r"""(?: [1-9A-HJ-NP-Za-km-z]{43,44} | [13DLTXr][1-9A-HJ-NP-Za-km-z]{32,33} | Qm[1-9A-HJ-NP-Za-km-z]{44}
          | 0[xX][0-9a-fA-F]{16,400} | 0[0-9A-HJKMNP-TV-Z]{25} | (?:bc|tb|ltc)1[a-z0-9]{20,90}
          | AAAA[BCE][23][A-Za-z0-9+/]{20,900}={0,2} )\Z""",
    re.ASCII | re.VERBOSE,
)
_ALPHABET: Final = compiled(r"456789|(?i:abcdefg|qwertyu)")


def is_key_alone(run: str) -> bool:
    """Whether a run that nothing announces is a key: long, of three sorts of characters, and drawn."""
    if run.isalnum() and _HEX_BEHIND_LETTERS.match(run):
        return True
    # What costs most is asked last.
    return (_CAPITALS.match(run) is not None or _is_drawn_alone(run)) and not (
        is_id(run) or _PUBLIC.match(run) or _ALPHABET.search(run)
    )


def _is_drawn_alone(run: str) -> bool:
    if not SHORTEST_ALONE <= len(run) <= _LONGEST_ALONE:
        return False
    if "." in run:
        return _is_key_with_dots(run)
    if len(run) < _SHORTEST_PLAIN and (not run.isalnum() or len(_NUMBERS.findall(run)) < _MANY_NUMBERS):
        return False
    return bool(is_mixed(run) or _SMALL.match(run)) and is_scrambled(run) and not reads_like_words(run)


def _is_key_with_dots(run: str) -> bool:
    """Whether dots stand in it by chance: no part is a word, an extension or a member of something."""
    parts = run.split(".")
    longest = max(parts, key=len)
    return (
        len(longest) >= SHORTEST_ALONE
        and min(map(len, parts)) >= _SHORTEST_PART
        and is_mixed(longest)
        and is_scrambled(longest)
        and not any(map(reads_like_words, parts))
        and not any(map(is_code_name, parts))
    )


_SHORTEST_PLAIN: Final = 32
_SHORTEST_PART: Final = 6


def is_key_of_base64(run: str) -> bool:
    """The same of base64 with its signs: each stretch between slashes is drawn, so it is no path."""
    if _PUBLIC.match(run):
        return False
    run = run.rstrip("=")
    if (
        is_id(run)
        or not _OF_BASE64.match(run)
        or not is_mixed(run)
        or not is_scrambled(run)
        or _ALPHABET.search(run)
    ):
        return False
    return not any(map(reads_like_words, run.split("/"))) and not reads_like_words(run)


_OF_BASE64: Final = compiled(r"(?:[A-Za-z0-9]{1,10}[_.-]){0,2}+[A-Za-z0-9+][A-Za-z0-9+/]{31,127}\Z", re.ASCII)


def has_two_random_halves(run: str) -> bool:
    """Whether it is a key of two parts, each drawn by a machine: an id, and its secret behind a dot."""
    match = _HALVES.match(run)
    return bool(
        match
        and (is_scrambled(match["first"]) or is_drawn(match["first"]))
        and is_scrambled(match["second"])
        and is_mixed(match["second"])
        and not reads_like_words(match["second"])
    )
