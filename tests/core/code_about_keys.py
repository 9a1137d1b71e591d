"""Code about keys, wallets and logins in many languages: full of names that say secret, and without any.

Written for the tests of redaction. `corpus` repeats it with other names, so that false redactions can be
counted per million characters.
"""

from __future__ import annotations

import random
import re

TYPESCRIPT = """
import { Web3AuthVerifierService, type PrivateKeyV2 } from "./web3auth/verifier2";
import type { Secp256k1KeyPair, Ed25519PrivateKey } from "@noble/curves";
export interface FolderKeys {
  folderKey: Uint8Array;
  privateKey: Uint8Array | null;
  publicKey?: Uint8Array;
  sharedSecret: ArrayBuffer | undefined;
  encryptedKey: Base64String[];
  accessToken: Promise<Result2<Token, Error>>;
  refreshToken: OAuth2RefreshToken | null;
  signingKey: Ed25519PrivateKey;
  secret: Base64UrlString;
  password: Argon2Password;
  passphrase: Bip39Passphrase;
  apiKeyHash: Sha256Digest;
  readonly masterKey: Aes256GcmKey;
  sessionKey: CryptoKey & Branded2<"session">;
  keyPair: { publicKey: Uint8Array; privateKey: Uint8Array };
  deriveKey(secret: Uint8Array, salt: Uint8Array, info?: Uint8Array): Promise<CryptoKey>;
}
export class WalletController {
  private web3AuthVerifier: Web3AuthVerifierService;
  private readonly tokenStore: Oauth2TokenStore;
  protected secretKey: Secp256k1SecretKey | undefined = undefined;
  static readonly authProvider: Auth0ProviderV2;
  constructor(private readonly passwordHasher: Argon2idHasher, private authToken: JwtV4Token) {}
  async unlock(password: Utf8String, key: X25519PrivateKey): Promise<void> {
    const privateKey = new Uint8Array(32);
    const secret: Uint8Array = await this.deriveBits2(password, salt16, PBKDF2_ROUNDS);
    const token = this.tokens.get(key.id) ?? (await mintV2Token(key));
    this.privateKey = ed25519PrivateKey;
    if (privateKey.length !== 32) throw new InvalidKeyLengthError2("privateKey: expected 32 bytes");
    return sign2(privateKey, token as JwtV4Token);
  }
}
type Secrets = Record<string, Uint8Array>;
const apiKey: string = config.get<string>("apiKey");
const KEY_TYPES = { privateKey: Ed25519KeyType, secretKey: Secp256k1KeyType };
function verify(token: JwtToken2, secret: KeyLike2): asserts token is VerifiedJwt2 {}
const { privateKey, publicKey } = await generateKeyPair2("ES256K");
export const authToken = createSelector2(selectAuth, (auth) => auth.token);
"""
PYTHON = """
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from auth.oauth2 import OAuth2PasswordBearer, OAuth2PasswordRequestForm2
def login(username: str, password: str, token: str | None = None, key: Ed25519Key | None = None) -> Jwt2: ...
class Wallet:
    secret: bytes
    token: str | None
    private_key: Ed25519PrivateKey
    api_key: Optional[SecretStr] = None
    passphrase: SecretStr | None = field(default=None, repr=False)
    credentials: HTTPBasicCredentials = Depends(http_basic2)
    def derive_key(self, secret: bytes, salt: bytes, info: bytes = b"") -> Aes256Key: ...
    async def sign(self, private_key: Secp256k1PrivateKey, *, token: Oauth2Token) -> Signature64: ...
oauth2_scheme = OAuth2PasswordBearer(tokenUrl="token")
password_hash: Argon2Hash = hasher.hash(password)
auth_token = request.headers.get("Authorization")
key = hkdf_sha256(secret, salt=salt, length=32)
secret_key = load_pem_private_key(data, password=None)
token = jwt.encode(payload, settings.SECRET_KEY, algorithm="HS256")
self.session_key = kdf2(master_key, context=b"session")
assert isinstance(api_key, SecretStr), "api_key: expected SecretStr2"
"""
RUST = """
use ed25519_dalek::{SigningKey, SecretKey, Keypair as Ed25519Keypair};
pub struct Config { pub api_key: Option<String>, pub token: Arc<RwLock<Token2>>, secret: SecretBox<[u8; 32]> }
pub struct Vault<'a> {
    pub master_key: Key256,
    private_key: &'a Secp256k1SecretKey,
    passphrase: Zeroizing<String>,
    pub(crate) auth_token: Option<JwtV4Token>,
    password: SecretString,
    shared_secret: X25519SharedSecret,
}
fn unlock(password: &str, key: &Aes256Key, token: Option<Token64>) -> Result<SigningKey, Error2> {
    let secret_key: SecretKey = SecretKey::from_bytes(&bytes32)?;
    let private_key = Ed25519PrivateKey::generate(&mut OsRng);
    let token: JwtV4Token = issue2(claims)?;
    let key = derive_key_v2(password, &salt16);
    Ok(SigningKey { secret_key, key })
}
impl From<Secp256k1SecretKey> for PrivateKey {}
"""
GO = """
type Credentials struct {
	Token        string
	APIKey       [32]byte
	PrivateKey   ed25519.PrivateKey
	Secret       *SecretV2
	Password     Argon2Password `json:"password,omitempty"`
	RefreshToken *OAuth2Token   `json:"refreshToken"`
	Passphrase   []byte
}
func NewSigner(privateKey *secp256k1.PrivateKey, passphrase []byte, token Oauth2Token) (*SignerV2, error) {
	apiKey := os.Getenv("API_KEY")
	secretKey, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	var authToken JwtV4Token
	key := sha256.Sum256(secret)
	token := jwtv4.NewWithClaims(jwtv4.SigningMethodES256, claims)
	return &SignerV2{privateKey: privateKey, token: token, key: key}, nil
}
"""
JVM = """
import javax.crypto.SecretKey;
import com.example.auth.OAuth2AccessTokenProvider;
public final class KeyVault2 {
    private final SecretKey secretKey;
    private final OAuth2AccessToken accessToken;
    private static final Argon2PasswordEncoder passwordEncoder = new Argon2PasswordEncoder(16, 32, 1);
    public KeyVault2(SecretKey secretKey, char[] password, PrivateKeyV2 privateKey) throws Pkcs12Exception {
        this.secretKey = secretKey;
        Secp256k1PrivateKey key = Secp256k1PrivateKey.fromBytes(bytes32);
    }
    public byte[] sign(PrivateKey privateKey, @NotNull Jwt2Token token) { return signer2.sign(privateKey); }
}
class Session2(val token: String, private val privateKey: Ed25519PrivateKey?, val password: CharArray)
data class Login(val apiKey: ApiKeyV2, val secret: Base64Secret, var refreshToken: OAuth2Token? = null)
fun unlock(password: Utf8Password, key: Aes256Key): Result2<SecretKey> = vault.unlock2(password, key)
lateinit var authToken: Jwt4Token
val secretKey: SecretKey by lazy { generateAes256Key() }
case class Auth(token: Jwt4Token, secret: Array[Byte], passphrase: Option[Utf8String2])
"""
SWIFT_AND_CSHARP = """
let privateKey: Curve25519.Signing.PrivateKey
var accessToken: OAuth2Token?
private let passphrase: Utf8Secret?
func unlock(password: String, with key: SymmetricKey256) throws -> P256.Signing.PrivateKey
init(apiKey: ApiKeyV2, secret: Data, keychain: Keychain2 = .shared)
public string Token { get; set; }
public Aes256Key MasterKey { get; init; } = default!;
private readonly IOAuth2TokenStore _tokenStore;
public async Task<OAuth2Token> RefreshAsync(string refreshToken, SecureString password, X509Key2 key)
SecretKey = new Ed25519SecretKey(bytes32);
password: SecureString, secret: Base64Url, credential: Oauth2Credential
@property (nonatomic, strong) SecKey2 *privateKey;
- (instancetype)initWithToken:(NSString *)token password:(NSData2 *)password;
"""
SCHEMAS = """
type Query { apiKey(id: ID!): ApiKeyV2 token: OAuth2Token! secrets(first: Int = 10): [SecretV2!]! }
input LoginInput { password: String! token: Base64String passphrase: Utf8String2! }
message Credential { string token = 1; bytes private_key = 2; optional Oauth2Token refresh_token = 3; }
message Vault { repeated SecretV2 secrets = 4; map<string, ApiKeyV2> api_keys = 5; string password = 6; }
CREATE TABLE users (id BIGINT PRIMARY KEY, password VARCHAR(255) NOT NULL, token CHAR(64), api_key BYTEA);
ALTER TABLE sessions ADD COLUMN refresh_token VARCHAR2(512), ADD COLUMN secret_key BINARY(32) DEFAULT NULL;
"password": { "type": "string", "format": "password", "minLength": 12 },
"apiKey": { "$ref": "#/components/schemas/ApiKeyV2" }, "token": { "type": ["string", "null"] },
"required": ["username", "password", "token", "apiKey2"],
  password: { type: String, required: true, minlength: 8 },
  api_key: { type: DataTypes.STRING(64), allowNull: true },
  private_key: Mapped[LargeBinary2] = mapped_column(nullable=False)
  token: z.string().min(32), secret: Schema2.String, apiKey: t.Optional(t.String())
  t.string :password_digest, null: false; t.binary :private_key, limit: 32
  securitySchemes: { apiKey: { type: apiKey, name: X-Api-Key, in: header } }
"""
OTHER_CODE = """
uint8_t private_key[32]; const uint8_t *secret_key; size_t key_len = 32; char password[PASSWORD_MAX2];
static int derive_key(const char *passphrase, struct aes256_key *key, ecdsa_secp256k1_t *private_key);
std::unique_ptr<Secp256k1PrivateKey> private_key; std::optional<Oauth2Token> token; SecureString2 password;
auto key = Botan2::PrivateKey::load(source2); token_t token = next_token2(lexer); Token kind = TokenKind2;
-spec sign(private_key(), Token :: binary(), secret2()) -> signature64().
@spec unlock(password :: String.t(), key :: Aes256.t()) :: {:ok, SecretV2.t()} | {:error, atom()}
data Wallet = Wallet { privateKey :: PrivateKey256, secret :: ByteString, token :: Maybe Jwt2Token }
unlock :: Passphrase2 -> SecretKey -> Either AuthError2 Token
let unlock (password : string) (key : Aes256Key) (token : Jwt2.Token option) : Result2<SecretKey, string> =
def unlock(password: Utf8String2, key: Aes256Key): IO[Token2] = IO(vault2.unlock(password, key))
function unlock(string $password, Ed25519Key $privateKey, ?OAuth2Token $token = null): SecretV2
final String password; late Ed25519PrivateKey privateKey; Future<OAuth2Token?> token; required this.apiKey,
param([SecureString]$Password, [Oauth2Token]$Token, [ValidateNotNull()][ApiKeyV2]$ApiKey)
mapping(address => bytes32) private secretKeys; bytes32 public immutable passwordHash; uint256 tokenId;
function transfer(address token, uint256 tokenId, bytes32 key) external returns (TokenV2 memory);
(defn unlock [password ^SecretKey2 key token] (let [secret (derive2 password key)] secret))
variable "api_key" { type = string, sensitive = true }
output "token" { value = random_password2.token.result }
"""
TEXT_ABOUT_KEYS = """
The access token is a JWT signed with ES256K; the refresh token is opaque and 256 bits long.
The passphrase is stretched with Argon2id. The password is never stored.
The secret is wrapped by the master key.
Your password is too short. The password is case sensitive. The passphrase is required to unlock the wallet.
The PIN is checked by the secure element. The recovery code is shown once. Backup codes are hashed.
Log in as admin with your SSO account. Sign in as root with the key. Log in as user with two factors.
- `privateKey`: the Ed25519 private key, 32 bytes. - `token`: OAuth2 bearer token.
- `secret`: base64url string.
| Name | Type | Description |
|---|---|---|
| apiKey | string | The API key of the project |
| password | string | At least 12 characters |
| privateKey | Uint8Array | 32 bytes, never logged |
| Key | Action | Token |
|---|---|---|
| Ctrl+K | Opens the palette | punctuation.definition2 |
| Method | Password | Token | Passkey |
|---|---|---|---|
| Phishing resistant | no | no | yes |
| Rotated by | user | service | device |
test_unlock_with_wrong_password_v2 PASSED; test_token_refresh_rotates_key2 PASSED
error[E0308]: mismatched types: expected `SecretKey`, found `Secp256k1SecretKey`
error TS2322: Type 'Uint8Array | null' is not assignable to type 'privateKey: CryptoKey2'.
AssertionError: private_key: expected Ed25519PrivateKey, got X25519PrivateKey
"""
TEXTS = {
    "typescript": TYPESCRIPT,
    "python": PYTHON,
    "rust": RUST,
    "go": GO,
    "jvm": JVM,
    "swift and c#": SWIFT_AND_CSHARP,
    "schemas": SCHEMAS,
    "other languages": OTHER_CODE,
    "text about keys": TEXT_ABOUT_KEYS,
}
LINES = [(name, line) for name, text in TEXTS.items() for line in text.strip("\n").split("\n")]

_OWNER = re.compile(
    r"\b(?:private|folder|session|master|signing|api|auth|access|refresh)(?=[A-Z_][A-Za-z]*\b)"
)
_OWNERS = (
    "wallet device vault relay shard tenant ledger guardian custody backup agent channel mint bridge".split()
)


def corpus(characters: int) -> str:
    """So many characters of this code, with other owners of the keys every time, the same on every run."""
    draw = random.Random(20)
    pieces: list[str] = []
    size = 0
    while size < characters:
        text = draw.choice(list(TEXTS.values()))
        pieces.append(_OWNER.sub(lambda found: draw.choice([found[0], *_OWNERS]), text))
        size += len(pieces[-1])
    return "".join(pieces)
