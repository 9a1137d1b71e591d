"""Names: which of them announce a secret, of what kind, and how much its value must then show for itself."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum, auto
from typing import Final

from holdfast.lazy_dataclass import dataclass

PROVIDERS: Final = frozenset(
    """abstractapi abuseipdb adafruit adobe adyen aha airbrake airship airtable aiven alchemy algolia
    alibaba aliyun alphavantage amadeus amplitude anthropic anyscale apify apilayer apollo appcenter
    appdynamics appsflyer appwrite artifactory asana assemblyai auth0 authress autodesk aviationstack
    aws axiom azure azuread backblaze baidu basecamp baseten beamer betterstack bigcommerce binance
    bitbucket bitfinex bitly bitrise bittrex blockfrost blynk box braintree branch braze browserless
    browserstack bscscan bugsnag buildkite bunnycdn buttercms calendly canva censys cerebras chargebee
    chartmogul chatwoot checkmarx checkout checkr circleci cisco clarifai clearbit clerk clickhouse
    clickup clockify clojars cloudant cloudconvert cloudflare cloudinary cloudsmith cloudways codacy
    codeclimate codecov codeship cohere coinapi coinbase coingecko coinmarketcap configcat confluent
    contentful convertkit couchbase coveralls crowdin currencylayer customerio databento databricks
    datadog datagov datarobot deepgram deepinfra deepl deepseek deno devcycle dialpad digitalocean
    discord disqus dnsimple docker dockerhub docusign doppler droneci dropbox duffel dwolla dynatrace
    easypost ebay elastic elasticemail elevenlabs etherscan etsy eventbrite everhour exchangerate
    exoscale expo facebook fal fastly fastspring figma finicity finnhub firebase fireworks fixer flickr
    flightaware flutterwave fly formspree foursquare freshbooks freshdesk freshservice fullstory
    geoapify geocodio getresponse ghost giphy gitea gitguardian github gitlab gitter gocardless google
    grafana graphhopper greptile groq gumroad hashicorp helpscout heroku honeybadger honeycomb hubspot
    huggingface ibm ibmcloud iex influx influxdb infobip infomaniak infura instagram instamojo intercom
    ipapi ipdata ipgeolocation ipify ipinfo ipstack iterable jenkins jfrog jira jotform jumpcloud kagi
    keycdn kickbox klaviyo kraken kucoin langfuse langsmith lark lastfm launchdarkly lemlist line linear
    linkedin linode livekit lob locationiq logdna loggly logzio lokalise looker luno mailboxlayer
    mailchimp mailerlite mailersend mailgun mailjet mailmodo mailtrap mandrill mapbox mapquest
    marketstack mattermost maxmind mediastack meilisearch meraki messagebird midtrans miro mistral
    mixpanel monday mongodb moonshot moralis mux namecheap nasa neon netlify newrelic newsapi nexmo
    ngrok notion npm numverify nvidia nylas nytimes octopus okta ollama omise onesignal openai opencage
    openrouter openweather opsgenie optimizely ovh oxylabs paddle pagerduty pandadoc papertrail paypal
    paystack payu pendo percy perplexity pexels photoroom pinata pinecone pingdom pinterest pipedrive
    pixabay plaid planetscale plivo polymarket positionstack postgres posthog postman postmark prefect
    pulumi pushbullet pusher pushover qdrant quay quickbooks quicknode rapidapi rawg razorpay readme
    rebrandly recaptcha reddit render replicate resend ringcentral roboflow rocketreach rollbar rubygems
    runpod runway salesforce samsara sauce saucelabs scaleway scraperapi scrapfly scrapingbee scw
    securitytrails segment sendbird sendgrid sendinblue sendpulse sentry serpapi serper serpstack shippo
    shodan shopify signalfx slack smartsheet smtp2go snipcart snowflake snyk sonar sonarcloud sonarqube
    sonatype sourcegraph sparkpost speechmatics splunk spoonacular sportradar spotify square squarespace
    sslmate stability stackhawk statuspage strava stripe stytch sumo sumologic supabase surveymonkey
    tableau tailscale tatum tavily telegram telnyx tencent textmagic thingsboard ticketmaster tiingo
    tiktok tmdb todoist together tomtom transifex travis trello truenas twelvedata twilio twitch twitter
    typeform uber unsplash upcloud upstage upstash uptimerobot userstack vapi vercel vimeo virustotal
    vonage voyage vultr wakatime wandb weatherapi weatherbit weatherstack webex webflow wix woo
    woocommerce workato workos wrike wunderground xai xendit xero yandex yelp yousign youtube zai zapier
    zendesk zenhub zeplin zerobounce zerotier zoho zoom zuplo""".split()
)


class Proof(Enum):
    """How much a value must show for itself, which depends on how clearly its name announces a secret."""

    NONE = auto()
    DIGITS = auto()
    RANDOMNESS = auto()
    MACHINE_MADE = auto()


@dataclass(frozen=True, slots=True)
class NameMeaning:
    """What a name says of its value."""

    kind: str
    proof: Proof

    @property
    def opens(self) -> bool:
        """Whether it is said of something that opens a door, not of any key or any sort of auth."""
        return self.proof in (Proof.NONE, Proof.DIGITS)


# These are looked for in lower case; `announced_by` judges the whole name. Each with what, right after it,
# makes it another word (`author`, `passing`, `keyboard`, `credit`), a count (`"tokens": 12,`), or a mere key.
NAME_ANCHORS: Final = (
    (b"pass", rb"[aiotu]|e(?!\W)|\)[ ]"),
    (b"pw", rb"[abce-z]"),
    (b"secret", rb"[ai]"),
    (b"token", rb"""i|s?_?(?:usage|count|limit)|s?\\{0,3}["']?:[ ]?(?:\d{1,15}[,}\]]|\{)"""),
    (b"key", rb"""[a-oqrt-z] | (?<![\w.?&{(-]key)(?<!\w[ ]key)(?<![{(][ "']key)(?<![{(][ ]["']key)"""),
    (b"auth", rb"or(?!i)"),
    (b"cred", rb"[iou]"),
    (b"salt", rb"y"),
    (b"psk", rb"[a-z]"),
    (b"psw", rb"[a-z]"),
)
# The word for a password in other languages, where ASCII spells it.
FOREIGN_ANCHORS: Final = tuple(
    b"senha clave contrasena kennwort wachtwoord adgangskode parola haslo heslo".split()
)

_PASSWORD: Final = NameMeaning("password", Proof.NONE)
_SECRET: Final = NameMeaning("secret", Proof.NONE)
_TOKEN: Final = NameMeaning("token", Proof.DIGITS)
_KEY: Final = NameMeaning("key", Proof.DIGITS)
_CREDENTIAL: Final = NameMeaning("credential", Proof.DIGITS)
_AUTH: Final = NameMeaning("auth", Proof.RANDOMNESS)
_SALT: Final = NameMeaning("salt", Proof.DIGITS)
ANY_KEY: Final = NameMeaning("key", Proof.RANDOMNESS)
_OF_SERVICE: Final = NameMeaning("api-key", Proof.RANDOMNESS)

_WORD: Final = re.compile(r"[A-Z]{1,99}(?![a-z])|[A-Z]?[a-z]++", re.ASCII)
# What a word says, and what one says that only ends so (`dbpassword`, `githubtoken`).
_WHOLE: Final = (
    (_PASSWORD, "passwords passcode masterauth psw"),
    (_PASSWORD, "senha clave contrasena kennwort wachtwoord adgangskode parola haslo heslo"),
    (_SECRET, "secrets"),
    (_TOKEN, "tokens pat"),
    (_KEY, "apikeys"),
    (_CREDENTIAL, "cred creds credential credentials"),
    (_AUTH, "auth oauth authorization authentication"),
    (_SALT, "salt"),
    (_OF_SERVICE, "api"),
    (ANY_KEY, "key keys"),
)
_ENDINGS: Final = (
    (_PASSWORD, "password passwd passphrase passwort passe pwd pw pass authtok psk"),
    (_SECRET, "secret"),
    (_TOKEN, "token"),
    (_KEY, """apikey accesskey secretkey privatekey accountkey authkey masterkey sharedkey presharedkey
              signingkey encryptionkey licensekey webhookkey subscriptionkey deploykey passkey"""),
)  # fmt: skip
_BY_ENDING: Final = {word: announced for announced, words in _ENDINGS for word in words.split()}
_BY_WORD: Final = _BY_ENDING | {word: announced for announced, words in _WHOLE for word in words.split()}
_ANY_ENDING: Final = tuple(_BY_ENDING)
OF_PASSWORDS: Final = frozenset(word for word, announced in _BY_WORD.items() if announced is _PASSWORD)
_NO_PASSWORD: Final = frozenset(
    "bypass compass encompass minipass multipass overpass surpass trespass underpass".split()
)
# What follows the word and makes it the name of something that is not the secret itself.
_OTHER_THINGS: Final = frozenset(
    """age algorithm alias arn at attempt attempts attribute auth based body box budget bytes cache callback
    check class code column component config confirmation cost count counter counts data date dialog dir
    directory domain edit element email enabled encryption endpoint error errors event exists expiration
    expired expires expiry field file filename flow form format generator group handler hasher hashers
    hashing header headers hint hook id identifier ids index info input invalid is kind label len length
    level limit limits link list location manager map max message method min missing mode model module
    name names new not number only option options order page param parameter params parser path pattern
    plugin policy position prefix prompt provider ref reference regex required requirements reset response
    role rotation rule rules schema scheme scope screen sent server service set settings size source spec
    start state status step store strategy strength style system table target template test tests text
    time timeout title total ttl type types uri url usage used user username valid validation validator
    version visible width window""".split()
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
    """access account activation admin aes api app application auth authentication backend bot client
    connection consumer decryption deploy developer device encryption hmac ingest ingestion instrumentation
    integration jwt license management master merchant partner platform private product publish secret
    security serial server service session shared signing ssh storage subscription tenant unseal vendor
    webhook write""".split()
)


def announced_by(name: str) -> NameMeaning | None:
    """What the name says of its value; None where it names no secret (`max_tokens`, `password_field`)."""
    words = [word.lower() for word in _WORD.findall(name)]
    for position in reversed(range(len(words))):
        announced = _announced_by_word(words[position])
        if announced and words[position + 1 :] == ["name"] and name.isupper():
            # `SECRET_NAME=…` names a secret or holds one; the value tells.
            return NameMeaning(announced.kind, Proof.DIGITS)
        if announced:
            return _in_company(announced, words[:position], words[position + 1 :])
    return None


def may_be_phrase(name: str) -> bool:
    """Whether the secret of this name may consist of several words."""
    return name.lower().endswith(("passphrase", "phrase"))


def _announced_by_word(word: str) -> NameMeaning | None:
    if announced := _BY_WORD.get(word):
        return announced
    if not word.endswith(_ANY_ENDING) or word in _NO_PASSWORD:
        return None
    return next((announced for ending, announced in _BY_ENDING.items() if word.endswith(ending)), None)


def _in_company(announced: NameMeaning, before: list[str], after: list[str]) -> NameMeaning | None:
    if not before and not after:
        return None if announced is ANY_KEY else announced
    if not _HARMLESS.isdisjoint(before) or not _OTHER_KEYS.isdisjoint(after):
        return None
    if not _OTHER_THINGS.isdisjoint(after):
        return NameMeaning(announced.kind, Proof.MACHINE_MADE)
    if announced is _TOKEN and not _COUNTED.isdisjoint(before):
        return None
    if announced is _PASSWORD and not _STEPS.isdisjoint(before):
        return None
    if announced is ANY_KEY:
        if not before:
            return None
        return _KEY if before[-1] in OPENING or before[-1] in PROVIDERS else announced
    return announced


# Other names whose value is a secret if it looks random.
_RANDOM_SECRETS: Final = frozenset(
    """api sid dsn cookie crumb license login mnemonic otp totp wpa sas jwt bearer pat session sessionid
    wallet""".split()
)


def announces_if_random(name: str) -> str | None:
    """The kind of a long random value under this name: a service's, or one of few other names."""
    words = [word.lower() for word in _WORD.findall(name.removeprefix("-D"))]
    if not words or not _OTHER_THINGS.isdisjoint(words) or not _HARMLESS.isdisjoint(words):
        return None
    if is_service(words):
        return "api-key"
    return "secret" if not _RANDOM_SECRETS.isdisjoint(words) else None


def is_service(words: Iterable[str]) -> bool:
    """Whether one of these words names a service that gives out keys."""
    return not PROVIDERS.isdisjoint(words)
