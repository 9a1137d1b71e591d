"""Names: which of them announce a secret, of what kind, and how much its value must then show for itself.

Judges a name alone, as code, settings and headers spell it (`DB_PASSWORD`, `apiKey`, `x-auth-token`). Where a
name and a value stand in a text is `core.redact_assignments`'s work.
"""

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final


class Proof(Enum):
    """How much a value must show for itself, which depends on how clearly its name announces a secret."""

    NONE = auto()
    DIGITS = auto()
    RANDOMNESS = auto()
    MACHINE_MADE = auto()


@dataclass(frozen=True, slots=True)
class Announced:
    """What a name says of its value."""

    kind: str
    proof: Proof


# These are looked for in lower case; `announced_by` judges the whole name. Each with what, right after it,
# makes it another word (`author`, `passing`, `keyboard`, `credit`) or a count (`"tokens": 12,`).
NAME_ANCHORS: Final = (
    (b"pass", re.compile(rb"[aeiotu]|\) ")),
    (b"pw", re.compile(rb"[abce-z]")),
    (b"secret", re.compile(rb"[ai]")),
    (b"token", re.compile(rb"i|(?:s|_count|_usage)?\\{0,3}[\"']?: ?(?:\d{1,15}[,}\]]|\{)")),
    (b"key", re.compile(rb"[a-oqrt-z]")),
    (b"auth", re.compile(rb"or(?!i)")),
    (b"cred", re.compile(rb"[iou]")),
    (b"salt", re.compile(rb"y")),
)

# The word for a password in scripts that have no ASCII letters, where a person keeps notes of them.
FOREIGN_PASSWORDS: Final = frozenset(
    "비밀번호 패스워드 암호 비번 パスワード 暗証番号 密码 密碼 口令 пароль סיסמה".split()
)

_PASSWORD: Final = Announced("password", Proof.NONE)
_SECRET: Final = Announced("secret", Proof.NONE)
_TOKEN: Final = Announced("token", Proof.DIGITS)
_KEY: Final = Announced("key", Proof.DIGITS)
_CREDENTIAL: Final = Announced("credential", Proof.DIGITS)
_AUTH: Final = Announced("auth", Proof.RANDOMNESS)
_SALT: Final = Announced("salt", Proof.DIGITS)
_ANY_KEY: Final = Announced("key", Proof.RANDOMNESS)

_WORD: Final = re.compile(r"[A-Z]{1,99}(?![a-z])|[A-Z]?[a-z]++", re.ASCII)
_WHOLE: Final = {
    "pass": _PASSWORD, "pw": _PASSWORD, "secrets": _SECRET, "passwords": _PASSWORD, "passcode": _PASSWORD,
    "cred": _CREDENTIAL, "creds": _CREDENTIAL, "credential": _CREDENTIAL, "credentials": _CREDENTIAL,
    "auth": _AUTH, "oauth": _AUTH, "authorization": _AUTH, "authentication": _AUTH, "key": _ANY_KEY,
    "keys": _ANY_KEY, "salt": _SALT, "tokens": _TOKEN, "apikeys": _KEY,
}  # fmt: skip
_ENDINGS: Final = {
    "password": _PASSWORD, "passwd": _PASSWORD, "passphrase": _PASSWORD, "passwort": _PASSWORD,
    "pwd": _PASSWORD, "pass": _PASSWORD, "secret": _SECRET, "token": _TOKEN, "apikey": _KEY,
    "accesskey": _KEY, "secretkey": _KEY, "privatekey": _KEY, "accountkey": _KEY, "authkey": _KEY,
    "masterkey": _KEY, "sharedkey": _KEY, "signingkey": _KEY, "encryptionkey": _KEY, "licensekey": _KEY,
    "webhookkey": _KEY, "subscriptionkey": _KEY,
}  # fmt: skip
_ANY_ENDING: Final = tuple(_ENDINGS)
_NO_PASSWORD: Final = frozenset(
    "bypass compass encompass surpass trespass overpass underpass multipass".split()
)
# What follows the word and makes it the name of something that is not the secret itself.
_OTHER_THINGS: Final = frozenset(
    """age algorithm alias arn at attempt attempts attribute auth based body box budget bytes cache
    callback check class code column component config confirmation cost count counter counts data date
    dialog dir directory domain edit element email enabled endpoint error errors event exists expiration
    expired expires expiry field file filename flow form format generator group handler header headers
    hint hook id identifier ids index info input invalid is kind label len length level limit limits link
    list location manager map max message method min missing mode model module name names new not number
    only option options order page param parameter params parser path pattern plugin policy position
    prefix prompt provider ref reference regex required requirements reset response role rotation rule
    rules schema scheme scope screen sent server service set settings size source spec start state status
    step store strategy strength style system table target template test tests text time timeout title
    total ttl type types uri url usage used user username valid validation validator version visible width
    window""".split()
)
# The same, where even a random value is none.
_OTHER_KEYS: Final = frozenset(
    """algorithm arn checksum class digest etag file filename hash id identifier ids index key keys name
    names number pattern ref reference regex sha state type types uid uri url usage user username uuid
    version""".split()
)
# What stands before `token` where it is counted or paged through, not owned.
_COUNTED: Final = frozenset(
    """bos budget cache cached color completion context continuation count creation css design eos input
    limit max min next num output pad page per prompt read reasoning remaining special stop sync thinking
    total used""".split()
)
# What stands before a word that then names nothing secret.
_HARMLESS: Final = frozenset(
    "public pub idempotency cache primary foreign sort partition object row group hot arrow".split()
)
# What stands before `pass` where it is a step or a success.
_STEPS: Final = frozenset(
    """backward by compute depth did first forward last main multi must next num one post pre prev proxy
    render second shadow single test tests third two will would""".split()
)
# What stands before `key` where it opens a door. Another key is taken for a secret only if it looks random.
OPENING: Final = frozenset(
    """access account activation admin aes api app application auth authentication client connection
    consumer decryption deploy encryption hmac jwt license management master private product secret serial
    service session shared signing ssh storage subscription unseal webhook write""".split()
)


def announced_by(name: str) -> Announced | None:
    """What the name says of its value; None where it names no secret (`max_tokens`, `password_field`)."""
    words = [word.lower() for word in _WORD.findall(name)]
    for position in reversed(range(len(words))):
        announced = _announced_by_word(words[position])
        if announced and words[position + 1 :] == ["name"] and name.isupper():
            # `SECRET_NAME=…` names a secret or holds one; the value tells.
            return Announced(announced.kind, Proof.DIGITS)
        if announced:
            return _in_company(announced, words[:position], words[position + 1 :])
    return None


def may_be_phrase(name: str) -> bool:
    """Whether the secret of this name may consist of several words."""
    return name.lower().endswith(("passphrase", "phrase"))


def _announced_by_word(word: str) -> Announced | None:
    if word in _WHOLE:
        return _WHOLE[word]
    if not word.endswith(_ANY_ENDING) or word in _NO_PASSWORD:
        return None
    return next((announced for ending, announced in _ENDINGS.items() if word.endswith(ending)), None)


def _in_company(announced: Announced, before: list[str], after: list[str]) -> Announced | None:
    if not _HARMLESS.isdisjoint(before) or not _OTHER_KEYS.isdisjoint(after):
        return None
    if not _OTHER_THINGS.isdisjoint(after):
        return Announced(announced.kind, Proof.MACHINE_MADE)
    if announced is _TOKEN and not _COUNTED.isdisjoint(before):
        return None
    if announced is _PASSWORD and not _STEPS.isdisjoint(before):
        return None
    if announced is _ANY_KEY:
        return _KEY if before and before[-1] in OPENING else announced if before else None
    return announced


# Names of services whose keys look like any other random string, so that only the service's name tells.
PROVIDERS: Final = frozenset(
    """abuseipdb adafruit adobe airtable aiven algolia alibaba aliyun amplitude anthropic apify apollo
    appdynamics appsflyer artifactory asana assemblyai authress aws azure azuread baidu beamer
    bitbucket bitly bitrise bittrex box braintree branch braze browserstack bugsnag buildkite calendly
    canva censys cerebras checkmarx checkout circleci cisco clarifai clearbit clerk clickhouse clickup
    clojars cloudant cloudflare cloudinary cloudsmith codacy codeclimate codecov cohere coinbase configcat
    confluent contentful couchbase coveralls databento databricks datadog datagov deepgram deepl deepseek
    deno devcycle digitalocean discord disqus docker dockerhub docusign doppler dropbox duffel dynatrace
    easypost ebay elastic elevenlabs eventbrite exoscale facebook fal fastly figma finicity finnhub
    firebase fireworks flickr flutterwave fly foursquare freshbooks freshdesk fullstory gitea gitlab
    gitter gocardless google grafana greptile groq gumroad hashicorp helpscout heroku honeybadger
    honeycomb hubspot huggingface ibm ibmcloud iex influx influxdb infura instagram intercom ipstack
    jenkins jfrog jumpcloud kagi klaviyo kraken kucoin lark launchdarkly line linear linkedin livekit lob
    logdna loggly logzio looker mailchimp mailersend mailgun mailjet mandrill mapbox mapquest mattermost
    maxmind meraki messagebird midtrans miro mistral mixpanel monday mongodb mux nasa neon netlify
    newrelic nexmo ngrok notion nvidia nylas nytimes octopus okta ollama onesignal openai openrouter
    openweather opsgenie ovh paddle pagerduty papertrail paypal perplexity pinecone pingdom pinterest
    pipedrive plaid planetscale plivo postgres posthog postman postmark prefect pulumi pusher quay
    quickbooks rapidapi razorpay readme recaptcha reddit render replicate resend rollbar rubygems
    salesforce samsara sauce saucelabs scaleway scw segment sendbird sendgrid sendinblue sentry shippo
    shodan shopify signalfx slack snowflake snyk sonar sonarcloud sonarqube sourcegraph splunk spotify
    square squarespace stability stackhawk statuspage strava stripe sumo sumologic supabase tableau
    tailscale tatum tavily telegram telnyx tencent thingsboard tiktok together travis trello truenas
    twilio twitch twitter typeform uber unsplash upcloud upstage upstash uptimerobot vercel vimeo
    virustotal voyage vultr wakatime wandb weatherstack webex webflow wix woo woocommerce workato workos
    wrike xai xendit yandex yelp youtube zai zapier zendesk zenhub zeplin zoho zoom zuplo""".split()
)
# Other names whose value is a secret if it looks random.
_RANDOM_SECRETS: Final = frozenset(
    "sid dsn cookie crumb license mnemonic otp totp psk wpa sas jwt bearer pat".split()
)


def announces_if_random(name: str) -> str | None:
    """The kind of a long random value under this name: a service's, or one of few other names."""
    words = [word.lower() for word in _WORD.findall(name.removeprefix("-D"))]
    if not words or not _OTHER_THINGS.isdisjoint(words) or not _HARMLESS.isdisjoint(words):
        return None
    if not PROVIDERS.isdisjoint(words):
        return "api-key"
    return "secret" if not _RANDOM_SECRETS.isdisjoint(words) else None
