"""What only resembles a secret is left alone: hashes, ids, names, code, documentation, placeholders."""

from __future__ import annotations

import base64
import random

from holdfast.core.redaction.redact import redact
from tests.core.drawn import UUID, drawn
from tests.tables import every_row

SHA1, SHA256, MD5 = (drawn(form, "clean") for form in ("<h40>", "<h64>", "<h32>"))
INTEGRITY = drawn("<b86>==", "clean")
IMAGE = base64.b64encode(random.Random(7).randbytes(3_000)).decode()

HASHES_AND_IDS = [
    f"commit {SHA1}",
    f"index {SHA1[:7]}..{SHA1[8:15]} 100644",
    f"FROM nginx:1.25@sha256:{SHA256}",
    f"{SHA256}  release.tar.gz",
    f'"integrity": "sha512-{INTEGRITY}"',
    f"golang.org/x/crypto v0.1.0 h1:{drawn('<b43>=', 'go')}",
    f'checksum = "{SHA256}"',
    f'etag: W/"{MD5}"',
    f"cache key {SHA256}",
    f"key: {MD5}",
    f"session {drawn(UUID, 'a')} ended",
    f"urn:uuid:{drawn(UUID, 'b')}",
    f"token_type_id: {drawn(UUID, 'c')}",
    f"app.{MD5[:8]}.chunk.js main-{MD5[:16]}.css",
    f"data:image/png;base64,{IMAGE}",
    f"toolu_01{drawn('<A22>', 'd')} req_{drawn('<A24>', 'e')} cmp_{drawn('<h50>', 'f')}",
    f"X-Request-Id: {drawn(UUID, 'g')}",
    f"arn:aws:iam::123456789012:role/{drawn('<A20>', 'h')}",
]
CODE = [
    "password = get_password()",
    "password = os.environ['DB_PASSWORD']",
    "const token = await getToken(user.id);",
    "token: string",
    "password?: string | undefined;",
    "def login(username: str, password: str, token: Token | None = None) -> None: ...",
    "self.password = password",
    "user = parts['user'],\npassword = parts['password'],",
    'api_key=os.getenv("OPENAI_API_KEY")',
    "connect(\n    user=parts['user'],\n    password=parts['password'],\n)",
    'connect(\n    password=os.environ.get(\n        "DB_PASSWORD"\n    ),\n)',
    "F.Minipass=F.isWritable=F.isReadable=void 0",
    "apiKey: process.env.STRIPE_SECRET_KEY!,",
    "secret_key = settings.SECRET_KEY",
    "Authorization: `Bearer ${token}`",
    'headers["Authorization"] = f"Bearer {token}"',
    "tokens = tokenizer.encode(text, max_tokens=4096)",
    "for key, value in sorted(pairs, key=lambda pair: pair.key):",
    "assert response.json()['token_type'] == 'bearer'",
    "#define UI_INPUT_FLAG_DEFAULT_PWD 0x02",
    "PRIMARY KEY (id), FOREIGN KEY (user_id) REFERENCES users (id)",
    "password_hasher = PasswordHasher(time_cost=3)",
    "class PasswordResetTokenGenerator(BaseTokenGenerator):",
    "test_a_token_is_rejected_after_3_attempts PASSED",
    "--- PASS: TestTokenRefresh/expired_token_2 (0.00s)",
    "<input type='password' name='password' autocomplete='new-password' required>",
    '<option value="pass">Passed</option>',
    "var a=e.key,b=t.token;return a&&b?n(a):r(b)}function s(e){return e.password}",
    "jwt.sign(payload, process.env.JWT_SECRET)",
    "createHmac('sha256', secret)",
    "connect(host, user, password)",
    "git clone git@github.com:me/repo.git && npm install @scope/pkg@1.2.3",
    "grep -c password <<< $output; wc -w <<< 'some words here'",
    "page.fill('#name', 'Ada'); page.fill('#password', password)",
    "app.get('/login', limiter); auth.login(user, 'admin')",
    "mysql -u root -p shop; ssh -p 2222 host; docker run -p 8080:80 img; mkdir -p a/b",
    "echo done | sudo tee /etc/motd",
]
PROSE = [
    "The password must have twelve characters and is never logged.",
    "A token expires after 15 minutes; ask for a new one.",
    "Pass `force=True` to skip the check, and pass the token as a header.",
    "We count 12k input tokens and 3k output tokens per request.",
    "The secret is kept in a vault; the API key is read from the environment.",
    "If the password is wrong, the request is rejected with 401.",
    "Set `API_KEY` in your `.env` file, or pass `--api-key`.",
    "Provide credentials via the --username and --password options.",
    "The password for the box: see the vault. The token for step 2 is in the mail.",
    "Hash the password with pbkdf2_sha256 or argon2id, see the password rfc2898 and the password level10.",
    "закритий ключ PKCS#8 和令牌 OAuth2 的说明，密钥 RSA2048",
    "登录后令牌会过期，请修改密码 (password) 再试",
    "The key is to keep it simple, and the secret is patience.",
    "Your password was changed. Your token has expired. The key is missing.",
    "| password | string | required | The user's password |",
    "The mnemonic for the order of the planets is taught in every school and known by many people there",
]
PLACEHOLDERS = [
    "API_KEY=<your-api-key>",
    "API_KEY=your-api-key-here",
    "PASSWORD=changeme",
    "PASSWORD=xxxxxxxx",
    "token: ********",
    'token: "${TOKEN}"',
    "token: {{ vault_token }}",
    "TOKEN=...",
    "password: [hidden]",
    "--token TOKEN",
    "--password <password>",
    "curl -u <user>:<password> https://h",
    "postgres://<username>:<password>@db.internal/app",
    "https://$USER:${PASS}@h/",
    "password: null",
    "API_KEY=",
    "kind: Secret\ndata:\n  password: <base64>\n",
]


@every_row("text", [*HASHES_AND_IDS, *CODE, *PROSE, *PLACEHOLDERS])
def test_what_only_resembles_a_secret_is_left_alone(text: str) -> None:
    assert redact(text) == text
    assert redact(f"before\n{text}\nafter\n") == f"before\n{text}\nafter\n"
