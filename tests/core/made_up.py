"""Secrets that are made up while the tests run, from a beginning and a seed: none stands in a file.

And what only looks like one.
"""

from __future__ import annotations

import hashlib
import string

ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
LOWER = string.ascii_lowercase + string.digits
HEX = "0123456789abcdef"


def made_up(length: int, alphabet: str = ALNUM, seed: str = "holdfast") -> str:
    """Characters that look random and are always the same; letters and digits begin with one of each sort."""
    stream = hashlib.shake_256(seed.encode()).digest(length)
    start = "7Rq" if alphabet == ALNUM else ""
    return (start + "".join(alphabet[byte % len(alphabet)] for byte in stream))[:length]


PLAIN = made_up(22)
B64 = made_up(64, ALNUM + "+/")
HEX32 = made_up(32, HEX)
HUNTER = "hunter" + "2!x"

BEGIN, END = ("-----" + edge + " RSA PRIVATE" + " KEY-----" for edge in ("BEGIN", "END"))
PEM_LINES = [B64, B64[::-1], B64[7:50] + "=="]

PROVIDER_KEYS = [
    ("anthropic-key", "sk-ant-" + "api03-" + made_up(93) + "AA"),
    ("openai-key", "sk-" + made_up(48)),
    ("openai-key", "sk-" + "proj-" + made_up(80)),
    ("openai-key", "sk-" + "svcacct-" + made_up(80)),
    ("openrouter-key", "sk-" + "or-v1-" + made_up(64, HEX)),
    ("huggingface-token", "h" + "f_" + made_up(34, string.ascii_letters)),
    ("replicate-token", "r" + "8_" + made_up(37)),
    ("model-key", "gs" + "k_" + made_up(52)),
    ("model-key", "xa" + "i-" + made_up(80)),
    ("model-key", "ppl" + "x-" + made_up(48)),
    ("langsmith-key", "lsv" + "2_pt_" + HEX32 + "_" + made_up(10, HEX)),
    ("github-token", "gh" + "p_" + made_up(36)),
    ("github-token", "gh" + "o_" + made_up(36)),
    ("github-token", "gh" + "u_" + made_up(36)),
    ("github-token", "gh" + "s_" + made_up(36)),
    ("github-token", "gh" + "r_" + made_up(36)),
    ("github-token", "github" + "_pat_" + made_up(22) + "_" + made_up(59)),
    ("gitlab-token", "gl" + "pat-" + made_up(20)),
    ("gitlab-token", "gl" + "rt-" + made_up(20)),
    ("gitlab-token", "gl" + "oas-" + made_up(64)),
    ("atlassian-token", "ATA" + "TT3" + made_up(180) + "=" + made_up(8, UPPER[:6] + "0123")),
    ("bitbucket-token", "ATB" + "B" + made_up(32)),
    ("circleci-token", "CCI" + "PAT_" + made_up(22) + "_" + made_up(40, HEX)),
    ("npm-token", "np" + "m_" + made_up(36)),
    ("pypi-token", "py" + "pi-AgEIcHlwaS5vcmc" + made_up(60)),
    ("rubygems-token", "ruby" + "gems_" + made_up(48, HEX)),
    ("docker-token", "dckr" + "_pat_" + made_up(27)),
    ("aws-access-key", "AK" + "IA" + made_up(16, UPPER)),
    ("aws-access-key", "AS" + "IA" + made_up(16, UPPER)),
    ("google-key", "AI" + "za" + made_up(35)),
    ("google-secret", "GOC" + "SPX-" + made_up(28)),
    ("google-token", "ya" + "29." + made_up(60)),
    ("azure-secret", "a1b" + "8Q~" + made_up(34)),
    ("digitalocean-token", "do" + "p_v1_" + made_up(64, HEX)),
    ("heroku-key", "HR" + "KU-AA" + made_up(58)),
    ("netlify-token", "nf" + "p_" + made_up(40)),
    ("vercel-token", "vc" + "p_" + made_up(56)),
    ("cloudflare-key", "v1" + ".0-" + made_up(24, HEX) + "-" + made_up(146, HEX)),
    ("fly-token", "fm" + "2_" + made_up(120)),
    ("supabase-key", "sb" + "p_" + made_up(40, HEX)),
    ("planetscale-token", "psc" + "ale_tkn_" + made_up(43)),
    ("databricks-token", "da" + "pi" + HEX32),
    ("pulumi-token", "pu" + "l-" + made_up(40, HEX)),
    ("terraform-token", made_up(14) + ".atlas" + "v1." + made_up(67)),
    ("vault-token", "hv" + "s." + made_up(90)),
    ("doppler-token", "dp" + ".pt." + made_up(43)),
    ("slack-token", "xox" + "b-123456789012-123456789012-" + made_up(24)),
    ("slack-token", "xa" + "pp-1-A0123-" + made_up(40, HEX)),
    ("discord-token", "MT" + made_up(22) + "." + made_up(6) + "." + made_up(30)),
    ("twilio-key", "S" + "K" + HEX32),
    ("sendgrid-key", "S" + "G." + made_up(22) + "." + made_up(43)),
    ("mailgun-key", "ke" + "y-" + HEX32),
    ("mailchimp-key", HEX32 + "-" + "us12"),
    ("stripe-key", "sk" + "_live_" + made_up(24)),
    ("stripe-key", "rk" + "_live_" + made_up(24)),
    ("webhook-secret", "wh" + "sec_" + made_up(32)),
    ("square-token", "sq0" + "atp-" + made_up(22)),
    ("shopify-token", "shp" + "at_" + HEX32),
    ("grafana-token", "gl" + "sa_" + made_up(32) + "_" + made_up(8, HEX)),
    ("newrelic-key", "NR" + "AK-" + made_up(27, UPPER)),
    ("sentry-token", "snt" + "ryu_" + made_up(64, HEX)),
    ("linear-key", "lin" + "_api_" + made_up(40)),
    ("notion-token", "nt" + "n_" + made_up(46)),
    ("figma-token", "fig" + "d_" + made_up(40)),
    ("postman-key", "PM" + "AK-" + made_up(24, HEX) + "-" + made_up(34, HEX)),
    ("airtable-token", "pa" + "t" + made_up(14) + "." + made_up(64, HEX)),
    ("private-key", "AGE-" + "SECRET-KEY-1" + made_up(58, UPPER)),
    ("jwt", "ey" + "J" + made_up(30) + "." + "ey" + "J" + made_up(60) + "." + made_up(43)),
    # Providers that nobody told us of.
    ("api-key", "acme" + "_live_" + PLAIN),
    ("api-key", "acme" + "-pat-" + PLAIN),
    ("api-key", "acme" + "_sk_" + made_up(40, HEX)),
    ("api-key", "zq" + "x_" + made_up(40)),
]

SECRETS_BY_NAME_OR_PLACE = [
    # headers
    ("Authorization: Bearer §", PLAIN, "bearer-token"),
    ('curl -H "Authorization: token §" x', PLAIN, "auth"),
    ("Authorization: Basic §", PLAIN + "==", "auth"),
    ("use Basic §", "dXNlcjpodW50ZXIyIXg=", "auth"),
    ("X-Api-Key: §", PLAIN, "key"),
    ("Cookie: theme=dark; sid=§", PLAIN, "cookie"),
    # assignments
    ("DB_PASSWORD=§", "correcthorse", "password"),
    ("export FOO_TOKEN=§", PLAIN, "token"),
    ("$SECRET_NAME=§", HUNTER, "secret"),
    ("$env:API_TOKEN = '§'", PLAIN, "token"),
    ("PASS=${DB_PASS:-§}", HUNTER, "password"),
    ('password = "§"', HUNTER, "password"),
    ("password: str = '§'", HUNTER, "password"),
    ('{"password": "§", "n": 1}', HUNTER, "password"),
    ("  client_secret: §\n", PLAIN, "secret"),
    ("aws_secret_access_key = §", B64[:40], "key"),
    ("apiKey: '§',", PLAIN, "key"),
    ("API key: §.", PLAIN, "key"),
    ("- name: DB_PASSWORD\n  value: §", HUNTER, "password"),
    ("password: |\n  §\n", HUNTER, "password"),
    ("user = me\npassword = §\n", "open_sesame", "password"),
    ("<password>§</password>", HUNTER, "password"),
    ('<add key="Password" value="§"/>', HUNTER, "password"),
    ("?access_token=§&page=2", PLAIN, "token"),
    ('passphrase: "§"', "correct horse battery staple", "password"),
    ("Secret: []byte{§}", "1, 2, 3, " * 9 + "4", "secret"),
    # calls
    ("define('DB_PASSWORD', '§');", HUNTER, "password"),
    ('getenv("API_KEY", "§")', PLAIN, "key"),
    ('t = env.TOKEN || "§"', PLAIN, "token"),
    ('set_password("§")', HUNTER, "password"),
    ('HTTPBasicAuth("me", "§")', "swordfish", "auth"),
    ("get(u, auth=('me', '§'))", HUNTER, "auth"),
    # files of settings
    ("machine h login me password §", HUNTER, "password"),
    ("//r.example/:_authToken=§", PLAIN, "token"),
    ("[pypi]\nusername = x\npassword = §", PLAIN, "password"),
    ('variable "db_password" {\n  default = "§"', HUNTER, "password"),
    ("ENV SECRET_KEY §", PLAIN, "key"),
    # prose
    ("the password is §.", HUNTER, "password"),
    ("my token: §", PLAIN, "token"),
    ("The API key is §.", PLAIN, "key"),
    ("log in with password §", HUNTER, "password"),
    ("비밀번호: §", HUNTER, "password"),
    ("Use this password:\n\n§\n", HEX32, "password"),
    # connection strings and URLs
    ("Server=h;Uid=sa;Password=§;App=d", HUNTER, "password"),
    ("AccountName=a;AccountKey=§;X=y", B64 + "==", "key"),
    ("host=h user=u password=§ dbname=d", HUNTER, "password"),
    ("postgres://me:§@db:5432/x", HUNTER, "url-password"),
    ("redis://:§@cache", HUNTER, "url-password"),
    ("me:§@tcp(db:3306)/x", HUNTER, "url-password"),
    ("https://§@git.example.com/r.git", PLAIN, "url-token"),
    ("https://hooks.slack.com/services/§", "T0123/B0123/" + PLAIN, "slack-webhook"),
    ("https://discord.com/api/webhooks/123456789012345678/§", made_up(68), "discord-webhook"),
    ("https://h/b?sv=1&sig=§", PLAIN + "%3D", "url-signature"),
    ("bot 123456789:§", "AA" + made_up(33), "telegram-token"),
    ("algolia: §", HEX32, "api-key"),
    # command lines
    ("tool --password § run", HUNTER, "password"),
    ("tool --token=§ run", PLAIN, "token"),
    ("mysql -u root -p§ shop", HUNTER, "password"),
    ("curl -u me:§ https://h", HUNTER, "password"),
    ("curl https://h \\\n  --user me:§", HUNTER, "password"),
    ("sshpass -p § ssh h", HUNTER, "password"),
    ("docker login -u me -p §", HUNTER, "password"),
    ("PGPASSWORD=§ psql", HUNTER, "password"),
    ("redis-cli -a § ping", HUNTER, "password"),
    ("aws configure set aws_secret_access_key §", PLAIN, "key"),
    ("kubectl create x --from-literal=password=§", HUNTER, "password"),
    ('ConvertTo-SecureString "§" -AsPlainText', HUNTER, "password"),
    ("CREATE USER me IDENTIFIED BY '§'", HUNTER, "password"),
    # files of a system
    ("root:§:19000:0:99999:7:::", "$6$" + made_up(8) + "$" + made_up(86), "password-hash"),
    ("hash: §", "$2b$12$" + made_up(53), "password-hash"),
    # JSON in JSON
    ('{\\"password\\":\\"§\\"}', HUNTER, "password"),
    ('{\\\\\\"password\\\\\\":\\\\\\"§\\\\\\"}', HUNTER, "password"),
    ('\\"pass\\": \\"§\\"', 'a\\\\\\"b' + HUNTER, "password"),
    ("a\\nDB_PASSWORD=§\\nb", HUNTER, "password"),
    ("password\\u003d§\\u0026b", HUNTER, "password"),
    ("redis:\\/\\/me:§@h\\/0", HUNTER, "url-password"),
    ("password: &quot;§&quot;", HUNTER, "password"),
]
"""A text with § in the place of the secret, the secret, and its kind."""

CLEAN = [
    "src/holdfast/core/redaction/redact.py:12:4: error in password handling",
    "commit 8f3c2a9d4e5b6a7c8d9e0f1a2b3c4d5e6f7a8b9c",
    "id: 550e8400-e29b-41d4-a716-446655440000",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    '"integrity": "sha512-' + B64 + made_up(22) + '==",',
    "h1:" + made_up(43) + "=",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    "!function(e,t){var n=e.key,r=t.token;return n&&r?n(r):t(e)}(a,b);",
    "_next/static/chunks/pages/_app-4f1c2b3a4d5e6f70.js index-DkR93jXaBc12.js",
    f"toolu_01{made_up(22)} msg_01{made_up(22)} req_{made_up(24)} call_{made_up(24)}",
    "max_tokens: 4096, token_count = 12345678",
    '{"input_tokens": 1234567, "cache_read_input_tokens": 99999999}',
    "password_field = forms.CharField(widget=forms.PasswordInput)",
    'api_key = os.environ["API_KEY"]',
    "const token = process.env.TOKEN2;",
    'token: "${GITHUB_TOKEN}"',
    "GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}",
    "PASSWORD=${DB_PASSWORD}",
    'curl -H "Authorization: Bearer ${GITHUB_TOKEN}" -u "$USER:${PASS}" https://h',
    "--token <your-token>",
    'password: "xxxxxxxx"',
    "API_KEY=your-api-key-here1",
    "token = get_token(user1)",
    "self.password = self.config.password1",
    "The token expires after 24h; ask for a new password.",
    "Passwords must have 12 characters and the secret is kept in a vault.",
    "the password is required; your password was changed; API key is invalid",
    "--- PASS: TestLogin/user_1_signs_in (0.00s)",
    "| Login | PASS | `extension` found |",
    "def authenticate(self, password: str, token: Token2) -> None:",
    "password?: string; token: string | null; secret!: Buffer",
    '<input type="password" name="password" id="pw1" autocomplete="current-password">',
    'fields = ("username", "password", "email2024")',
    "grant_type=password&scope=openid",
    "http://localhost:3000/@vite/client",
    "git@github.com:owner/repo.git npm install @scope/pkg@1.2.3",
    '"pgpass": "1.0.5", "tough-cookie": "^4.1.3"',
    'token: "release-2024-v2"',
    "mysql -u root -p shop",
    "ssh -p 2222 host; mkdir -p build/out1; docker run -p 8080:80 img",
    "primary_key: users_2024_id_index_key1",
    "keyboard: qwerty-2024-layout, monkey: 12345678901234567890abc",
    "sorted(d, key=len); for key, value in d.items(): cache_key = f'user:{key}'",
    "secretKeyRef:\n  name: db-secret\n  key: password",
    "-----BEGIN PUBLIC KEY-----\n" + B64 + "\n-----END PUBLIC KEY-----",
    'if text.startswith("-----BEGIN PRIVATE KEY-----"): ...',
    "task-force-one-and-a-very-long-identifier-2024",
    "tokens used: [REDACTED:token] and password=[REDACTED:password:k7] or [REDACTED]",
    "wrap it in `<private>` and `</private>`",
]
