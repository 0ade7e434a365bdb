"""Shapes of secrets and of innocent text, with bodies made at run time: no line here holds a credential.

`{{kind n}}` becomes n random characters of a kind and counts as the secret; `((kind n))` is random too, but
innocent. `⏎` is a line break. Half of the shapes (by a digest of the text) were used while the rules were
written; the other half is held out and only reported.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from hashlib import blake2b
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits

_ALPHABETS = {
    "alnum": ascii_letters + digits,
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "upper": ascii_uppercase + digits,
    "base32": ascii_uppercase + "234567",
    "lower": ascii_lowercase + digits,
    "letters": ascii_letters,
    "word": ascii_lowercase,
    "digits": digits,
    "b64": ascii_letters + digits + "+/",
    "url": ascii_letters + digits + "-_",
    "bech": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
}
_PASSWORDS = (
    "{word5}{d2}!", "{Word5}-{d4}", "{word4}{Word4}{d2}", "{Word4}#{word3}{d3}", "{alnum12}", "{Word6}${d3}x",
    "{word3}.{Word4}_{d2}", "{alnum9}%{d1}", "{Word5}@{d4}", "{alnum16}", "{Word4}/{word4}{d2}",
    "{d3}{Word6}*",
)  # fmt: skip

SECRETS = r"""
git clone https://ghp_{{alnum 36}}@github.com/acme/shop.git
remote: https://oauth2:glpat-{{url 20}}@gitlab.com/acme/shop.git
origin	https://{{hex 40}}@github.com/acme/shop.git (fetch)
export GITHUB_TOKEN=ghp_{{alnum 36}}
gh auth login --with-token <<< github_pat_{{alnum 22}}_{{alnum 59}}
The job printed gho_{{alnum 36}} once.
token ghs_{{alnum 36}} expires in an hour
\u001b[32mghr_{{alnum 36}}\u001b[0m
glrt-t1_{{url 27}}.0w{{lower 7}}
CI_JOB_TOKEN=glcbt-64_{{url 20}}
gldt-{{url 20}} was created for the deploy
aws_access_key_id = AKIA{{base32 16}}
aws_secret_access_key = {{b64 40}}
AWS_SECRET_ACCESS_KEY={{b64 40}}
export AWS_SESSION_TOKEN="IQoJb3JpZ2lu{{b64 300}}"
"SecretAccessKey": "{{b64 40}}",
"AccessKeyId": "ASIA{{base32 16}}"
aws configure set aws_secret_access_key {{b64 40}}
AIza{{url 35}} is the browser key
https://maps.googleapis.com/maps/api/js?key=AIza{{url 35}}&callback=init
GOCSPX-{{url 28}}
ya29.{{url 120}}
"private_key": "-----BEGIN PRIVATE KEY-----\nMIIEvQ{{b64 58}}\n{{b64 64}}\n-----END PRIVATE KEY-----\n",
"refresh_token": "1//0{{url 60}}"
AccountKey={{b64 86}}==;EndpointSuffix=core.windows.net
DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={{b64 86}}==
SharedAccessKeyName=Root;SharedAccessKey={{b64 43}}=
https://shop.blob.core.windows.net/a/b.csv?sv=2022-11-02&se=2026-01-01&sr=b&sp=r&sig={{alnum 43}}%3D
AZURE_CLIENT_SECRET=abc8Q~{{alnum 34}}
client_secret: "{{alnum 3}}8Q~{{alnum 34}}"
xoxb-((digits 12))-((digits 12))-{{alnum 24}}
SLACK_TOKEN=xoxp-((digits 11))-((digits 11))-{{hex 32}}
xapp-1-A{{upper 10}}-((digits 13))-{{hex 64}}
curl -X POST https://hooks.slack.com/services/T{{upper 8}}/B{{upper 8}}/{{alnum 24}}
https://discord.com/api/webhooks/((digits 18))/{{url 68}}
https://acme.webhook.office.com/webhookb2/{{hex 8}}-((hex 4))/IncomingWebhook/{{hex 32}}/((hex 8))
https://api.telegram.org/bot((digits 10)):AA{{url 33}}/sendMessage
TELEGRAM_BOT_TOKEN=((digits 10)):AAF{{url 32}}
discord token M{{alnum 23}}.{{alnum 6}}.{{url 38}}
DISCORD_TOKEN="N{{alnum 23}}.{{alnum 6}}.{{url 27}}"
sk_live_{{alnum 24}}
STRIPE_KEY=rk_test_{{alnum 40}}
whsec_{{alnum 32}}
OPENAI_API_KEY=sk-{{alnum 20}}T3BlbkFJ{{alnum 20}}
sk-proj-{{url 74}}T3BlbkFJ{{url 74}}
ANTHROPIC_API_KEY=sk-ant-api03-{{url 93}}AA
login(token="hf_{{letters 34}}")
//registry.example.org/:_authToken=npm_{{alnum 36}}
//npm.acme.io/:_authToken={{hex 8}}-{{hex 4}}-4{{hex 3}}-a{{hex 3}}-{{hex 12}}
_auth={{b64 32}}
password = pypi-AgEIcHlwaS5vcmc{{url 120}}
docker login -u acme -p dckr_pat_{{url 27}}
{"auths": {"https://index.docker.io/v1/": {"auth": "{{b64 40}}="}}}
TWILIO_AUTH_TOKEN={{hex 32}}
twilio api key SK{{hex 32}}
SG.{{url 22}}.{{url 43}}
dop_v1_{{hex 64}}
VERCEL_TOKEN={{alnum 24}}
vercel deploy --token {{alnum 24}}
shpat_{{hex 32}}
shpss_{{hex 32}}
JIRA_API_TOKEN=ATATT3xFfGF0{{url 180}}={{HEX 8}}
confluence: {"apiToken": "{{alnum 24}}"}
Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIi{{url 40}}.{{url 43}}
set-cookie: jwt=eyJhbGciOiJSUzI1NiJ9.eyJp{{url 60}}.{{url 86}}; HttpOnly
-----BEGIN RSA PRIVATE KEY-----⏎MIIEpA{{b64 58}}⏎{{b64 64}}⏎-----END RSA PRIVATE KEY-----
-----BEGIN OPENSSH PRIVATE KEY-----⏎b3BlbnNzaC1rZXktdjE{{b64 51}}⏎{{b64 70}}⏎-----END OPENSSH PRIVATE KEY-----
-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE{{b64 56}}\n{{b64 64}}\n-----END EC PRIVATE KEY-----
-----BEGIN PGP PRIVATE KEY BLOCK-----⏎⏎lQOYBF{{b64 58}}⏎{{b64 64}}⏎-----END PGP PRIVATE KEY BLOCK-----
-----BEGIN ENCRYPTED PRIVATE KEY-----⏎MIIFDj{{b64 58}}⏎{{b64 64}}
PuTTY-User-Key-File-2: ssh-rsa⏎Private-Lines: 2⏎{{b64 64}}⏎{{b64 64}}⏎Private-MAC: {{hex 40}}
AGE-SECRET-KEY-1{{bech 58}}
    client-key-data: LS0tLS1CRUdJTiBSU0Eg{{b64 120}}=
    user:⏎      token: {{url 60}}
machine api.acme.io login deploy password {{pw}}
machine api.acme.io⏎  login deploy⏎  password {{pw}}
db.acme.io:5432:shop:app:{{pw}}
admin:$apr1${{alnum 8}}${{alnum 22}}
deploy:$2y$05${{alnum 53}}
root:$6${{alnum 16}}${{alnum 86}}:19700:0:99999:7:::
alice:$y$j9T${{alnum 22}}${{alnum 43}}:19700:0:99999:7:::
password_hash = 'pbkdf2_sha256$600000${{alnum 22}}${{b64 43}}='
$argon2id$v=19$m=65536,t=3,p=4${{alnum 22}}${{b64 43}}
postgres://shop:{{pw}}@db.acme.io:5432/shop
DATABASE_URL="postgresql+psycopg://app:{{alnum 16}}@10.0.0.5/app?sslmode=require"
mongodb+srv://admin:{{alnum 14}}@cluster0.mongodb.net/test
redis://:{{alnum 20}}@cache.acme.io:6379/0
amqp://rabbit:{{pw}}@mq:5672/%2f
https://{{alnum 32}}@sentry.acme.io/3
Server=db.acme.io;Database=shop;User Id=sa;Password={{pw}};
Data Source=tcp:sql.acme.io;Uid=shop;Pwd={{pw}};Encrypt=yes
host=db user=app password={{pw}} dbname=shop
jdbc:mysql://db:3306/shop?user=root&password={{alnum 12}}
jdbc:oracle:thin:scott/{{alnum 10}}@db:1521/orcl
DB_PASS={{pw}}
DB_PASSWORD={{pw}}
db.password={{pw}}
spring.datasource.password={{pw}}
MYSQL_ROOT_PASSWORD: {{pw}}
POSTGRES_PASSWORD: "{{pw}}"
PGPASSWORD={{pw}} psql -h db -U app
PGPASSWORD='{{pw}}' pg_dump shop
mysql -u root -p{{alnum 12}} shop
mysqldump -uroot -p'{{pw}}' shop > dump.sql
mysql --user=root --password={{alnum 12}}
sshpass -p {{alnum 12}} ssh deploy@10.0.0.7
sshpass -p '{{pw}}' scp a b:
curl -u admin:{{pw}} https://api.acme.io/health
curl --user "admin:{{pw}}" https://api.acme.io
curl -H "X-Api-Key: {{alnum 32}}" https://api.acme.io
curl -H 'Authorization: Basic {{b64 32}}=' https://api.acme.io
curl -H "Authorization: token {{hex 40}}" https://api.github.com/user
curl -H "PRIVATE-TOKEN: {{alnum 20}}" https://gitlab.acme.io/api/v4
curl -b "sessionid={{lower 32}}" https://acme.io/account
wget --http-user=ci --http-password={{alnum 12}} https://acme.io/a.zip
redis-cli -h cache -a {{alnum 16}} ping
mongosh --username admin --password {{alnum 12}}
docker login --username ci --password {{alnum 16}} registry.acme.io
echo '{{pw}}' | docker login -u ci --password-stdin
echo {{alnum 12}} | sudo -S systemctl restart app
openssl rsa -in key.pem -passin pass:{{alnum 12}}
gpg --batch --passphrase {{alnum 14}} -d a.gpg
zip -P {{alnum 10}} a.zip a.txt
7z x -p{{alnum 10}} a.7z
keytool -list -keystore a.jks -storepass {{alnum 10}}
ldapsearch -x -D cn=admin,dc=acme -w {{alnum 12}} -b dc=acme
smbclient //nas/share -U alice%{{alnum 12}}
sqlcmd -S db -U sa -P {{pw}}
vault login hvs.{{url 90}}
VAULT_TOKEN=s.{{alnum 24}}
kubectl create secret generic db --from-literal=password={{alnum 14}}
helm upgrade app . --set db.password={{alnum 14}}
heroku config:set SECRET_KEY_BASE={{hex 128}}
htpasswd -b .htpasswd alice {{alnum 12}}
lftp -u deploy,{{alnum 12}} ftp.acme.io
xfreerdp /u:admin /p:{{alnum 12}} /v:10.0.0.9
Proxy-Authorization: Basic {{b64 28}}==
Authorization: Digest username="bob", realm="a", response="{{hex 32}}"
Authorization: ApiKey {{b64 40}}==
Cookie: theme=dark; sessionid={{lower 32}}; csrftoken={{alnum 64}}
Set-Cookie: PHPSESSID={{lower 26}}; path=/; HttpOnly
Cookie: connect.sid=s%3A{{url 32}}.{{alnum 43}}
X-Vault-Token: {{alnum 26}}
X-Auth-Token: {{hex 32}}
x-amz-security-token: {{b64 200}}
https://bucket.s3.amazonaws.com/a?X-Amz-Credential=AKIA{{base32 16}}%2F20260101&X-Amz-Signature={{hex 64}}
https://storage.googleapis.com/b/a?X-Goog-Algorithm=GOOG4&X-Goog-Signature={{hex 128}}
https://d111.cloudfront.net/a?Expires=1767225600&Signature={{url 172}}&Key-Pair-Id=K2
https://acme.io/reset?token={{alnum 40}}
https://api.acme.io/v1/items?api_key={{alnum 32}}&page=2
GET /callback?code=abc&access_token={{url 64}} HTTP/1.1
grant_type=password&username=bob&password={{alnum 12}}
client_id=shop&client_secret={{alnum 32}}&grant_type=client_credentials
otpauth://totp/Acme:bob?secret={{base32 32}}&issuer=Acme
{"password": "{{pw}}", "user": "bob"}
{"user":"bob","passwd":"{{pw}}"}
{\"accessToken\":\"{{url 48}}\",\"expires\":3600}
"{\"db\":{\"password\":\"{{alnum 14}}\"}}"
'secretKey': '{{alnum 32}}',
privateKey: "0x{{hex 64}}"
accessKey={{alnum 32}}
apiSecret = "{{alnum 40}}"
encryptionKey: {{b64 43}}=
"signingSecret": "{{hex 32}}"
const clientSecret = '{{alnum 32}}';
String apiKey = "{{alnum 32}}";
var dbPassword = "{{pw}}";
password := "{{pw}}"
config['password'] = '{{pw}}'
os.environ["API_KEY"] = "{{alnum 32}}"
define('DB_PASSWORD', '{{pw}}');
$cfg['blowfish_secret'] = '{{alnum 32}}';
SECRET_KEY = 'django-insecure-{{alnum 50}}'
secret_key_base: {{hex 128}}
APP_KEY=base64:{{b64 43}}=
jwt_secret: {{hex 64}}
JWT_SECRET={{alnum 24}}
api-key: {{alnum 32}}
<password>{{pw}}</password>
<add key="Password" value="{{pw}}" />
<server><username>ci</username><password>{{alnum 14}}</password></server>
password = "{{pw}}"  # toml
[db]⏎user = app⏎pass = {{pw}}
PrivateKey = {{b64 43}}=
PresharedKey = {{b64 43}}=
psk="{{alnum 14}}"
- name: DB_PASSWORD⏎  value: {{pw}}
{"name": "API_TOKEN", "value": "{{alnum 32}}"}
token: |⏎  {{alnum 40}}
--api-key {{alnum 32}}
--auth-token={{alnum 32}}
["--password", "{{alnum 14}}"]
ENV NPM_TOKEN {{alnum 36}}
CREATE USER shop WITH PASSWORD '{{pw}}';
CREATE USER 'shop'@'%' IDENTIFIED BY '{{pw}}';
The password is {{alnum 12}}.
the API key is `{{alnum 32}}`
Passwort: {{pw}}
kennwort={{alnum 12}}
mot de passe : {{alnum 12}}
contraseña: "{{pw}}"
credentials: bob / {{alnum 12}}
passphrase: "{{word 6}} {{word 7}} {{word 5}} {{word 8}}"
Zugangsdaten: Benutzer bob, Passwort {{alnum 12}}
NRAK-{{upper 27}}
lin_api_{{alnum 40}}
pul-{{hex 40}}
dapi{{hex 32}}
ntn_{{digits 11}}{{alnum 35}}
sq0atp-{{url 22}}
EAACEdEose0cBA{{alnum 120}}
FIGMA_TOKEN=figd_{{url 40}}
DD_API_KEY={{hex 32}}
datadog_app_key: {{hex 40}}
CLOUDFLARE_API_TOKEN={{url 40}}
HEROKU_API_KEY={{hex 8}}-{{hex 4}}-{{hex 4}}-{{hex 4}}-{{hex 12}}
NETLIFY_AUTH_TOKEN={{url 43}}
SENTRY_AUTH_TOKEN=sntrys_{{b64 80}}_{{b64 43}}
algolia_admin_key = '{{hex 32}}'
MAILCHIMP_KEY={{hex 32}}-us12
MAILGUN_API_KEY=key-{{hex 32}}
"consumer_secret": "{{alnum 50}}"
"access_token_secret": "{{alnum 45}}"
bearer_token = "AAAAAAAAAAAAAAAAAAAAA{{alnum 80}}"
https://user:{{alnum 16}}@proxy.acme.io:3128
HTTP_PROXY=http://svc:{{alnum 10}}@10.1.1.1:8080
ftp://deploy:{{pw}}@ftp.acme.io/www
git config --global url."https://{{hex 40}}:x-oauth-basic@github.com/".insteadOf https://github.com/
"""

INNOCENT = r"""
commit ((hex 40))
Merge ((hex 7)) into ((hex 7))
((hex 8))-((hex 4))-4((hex 3))-a((hex 3))-((hex 12))
sha256:((hex 64))
"integrity": "sha512-((b64 86))=="
resolved "https://registry.yarnpkg.com/lodash/-/lodash-4.17.21.tgz#((hex 40))"
--hash=sha256:((hex 64))
md5sum ((hex 32))  dist/app.tar.gz
data:image/png;base64,iVBORw0KGgo((b64 200))
![logo](data:image/gif;base64,R0lGOD((b64 80)))
ssh-rsa AAAAB3NzaC1yc2E((b64 300)) bob@laptop
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5((b64 44)) bob@laptop
-----BEGIN CERTIFICATE-----⏎MIID((b64 60))⏎-----END CERTIFICATE-----
-----BEGIN PUBLIC KEY-----⏎MIIB((b64 60))⏎-----END PUBLIC KEY-----
SHA256:((b64 43)) bob@laptop (ED25519)
token = get_token()
token = self.tokens.pop()
password: str
password: Optional[str] = None
def login(user: str, password: str) -> Token:
password = os.environ["DB_PASSWORD"]
password = os.getenv('DB_PASSWORD', '')
password=$DB_PASSWORD
password: ${DB_PASSWORD}
password: ${{ secrets.DB_PASSWORD }}
DB_PASSWORD={{ vault_db_password }}
token: <token>
API_KEY=<your-api-key>
API_KEY=your_api_key_here
api_key = "YOUR_API_KEY"
password=********
password: xxxxxxxx
secret: "..."
password = getpass.getpass("Password: ")
password = input("Enter your password: ")
max_tokens=4096
max_tokens: 200000
"prompt_tokens": 15321, "completion_tokens": 204
tokens used: 48213 of 200000
token count: 1532
tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer=cl100k_base
SyntaxError: Unexpected token '<', "<!DOCTYPE "... is not valid JSON
Unexpected token } in JSON at position 42
error: expected one of `,` or `}`, found token `ident`
invalid token: unexpected end of input
PASSED tests/test_auth.py::test_password_reset_token[expired-token-2]
FAILED tests/test_api_key.py::test_secret_is_hidden - AssertionError
tests/security/test_secret_key_rotation.py
src/auth/password_policy.py:42: error: missing return
password_reset_url = reverse("password_reset")
password_min_length = 12
token_type: bearer
"token_type": "Bearer",
"expires_in": 3600
secretName: shop-tls
secretKeyRef:⏎  name: shop-db⏎  key: password
key: password
primary_key=True
foreign_key: users.id
cache_key = f"user:{user_id}"
sort_key: created_at
Idempotency-Key: ((hex 8))-((hex 4))-4((hex 3))-a((hex 3))-((hex 12))
public_key: ((b64 43))=
ssh_key_path: ~/.ssh/id_ed25519
key_file = /etc/ssl/private/server.key
SSL_KEY_FILE=/etc/ssl/private/server.key
token_file: /var/run/secrets/kubernetes.io/serviceaccount/token
--token-file /run/secrets/token
--password-stdin
docker login --username ci --password-stdin registry.acme.io
password-manager@2.1.0
"keywords": ["password", "token", "secret"]
fields = ["username", "password", "token"]
<input type="password" name="password" placeholder="Password">
<label for="password">Password</label>
The password must have at least 12 characters.
Forgot your password? Click here.
Reset the token and the password, then log in again.
Basic authentication is disabled.
Use basic auth or a bearer token.
Authorization: Bearer <token>
Authorization: Bearer $TOKEN
headers = {"Authorization": f"Bearer {token}"}
-H "Authorization: Bearer ${GITHUB_TOKEN}"
Authorization: Bearer {access_token}
curl -u "$USER:$PASS" https://api.acme.io
curl -u user:password https://api.example.com
curl https://api.acme.io/v1/items?page=2&sort=name
https://user:password@example.com/
postgres://user:pass@localhost/db
postgres://localhost:5432/shop
redis://cache.acme.io:6379/0
git@github.com:acme/shop.git
https://github.com/acme/shop/commit/((hex 40))
https://github.com/acme/shop/blob/((hex 40))/src/auth/token.py#L42
mailto:bob@acme.io
ssh -p 2222 deploy@10.0.0.7
mkdir -p src/tokens/password
docker run -p 8080:80 -u 1000:1000 nginx
cp -p secret.txt backup/
tar -xzpf archive.tar.gz
mysql -h db -u app -p shop
mysql -P 3306 -h db
psql -U app -d shop -p 5432
python -u train.py --tokens 4096
rsync -avP src/ dest/
nmap -p 1-65535 10.0.0.1
pytest -p no:cacheprovider
lsof -p 12345
npm install --save-dev password-generator
pip install secretstorage==3.3.3 keyring==24.3.0
git commit -m "Rotate the API key and the token"
grep -rn "password" src/
rg 'api[_-]?key\s*=' --type py
re.compile(r"password\s*=\s*(\S+)")
if token is None: raise ValueError("token is required")
if password == "": return False
assert token == expected_token
token: Token
secret: SecretStr
apiKey: string;
password?: string
private readonly token: string;
const { token, password } = req.body;
const token = await getToken(user);
let secret = config.get("secret");
this.password = password;
password=password,
api_key=api_key or settings.api_key
PasswordField(label="Password")
token = request.headers["X-Auth-Token"]
token = "".join(parts)
secrets.token_hex(32)
key = lambda item: item.name
sorted(items, key=len)
hotkey: ctrl+shift+p
keyboard_layout=us
monkey_patch = True
author: Jane Doe <jane@acme.io>
Co-authored-by: Bob <bob@acme.io>
authority=https://login.acme.io
bypass=true
compass: north
passenger_count=3
tests pass: 412, fail: 0
pass: 48 skip: 2
12 passed, 1 failed in 3.41s
build ((hex 12)) passed
cookie_policy: strict
cookies = 3
session_id: ((hex 8))-((hex 4))-4((hex 3))-a((hex 3))-((hex 12))
request-id: ((hex 32))
trace_id=((hex 32)) span_id=((hex 16))
traceparent: 00-((hex 32))-((hex 16))-01
ETag: "((hex 32))"
x-amz-request-id: ((upper 16))
nextPageToken: "CAUQAA"
"next_token": null
"password": null
"password": ""
"password": true
"password": "[redacted]"
password: changeme
POSTGRES_PASSWORD=example
image: registry.acme.io/shop@sha256:((hex 64))
docker.io/library/postgres:16.3
FROM node:20-alpine@sha256:((hex 64))
layer ((hex 12)): Pull complete
build-((hex 12)).js  142.31 kB
main.((hex 8)).chunk.js
v1.2.3-rc.1+build.((digits 4))
20260101T120000Z-((hex 8))
AssertionError: assert '((alnum 32))' == '((alnum 32))'
object at 0x((hex 12))
Elapsed 12.34 s, 4096 tokens per second
arn:aws:secretsmanager:eu-west-1:((digits 12)):secret:shop-db-AbCdEf
arn:aws:iam::((digits 12)):role/deploy
secret_arn = aws_secretsmanager_secret.db.arn
resource "aws_secretsmanager_secret" "db" {
vault kv get -field=password secret/shop/db
kubectl get secret shop-db -o jsonpath='{.data.password}'
op read "op://Private/shop/password"
gh secret set API_TOKEN
token=$(cat token.txt)
TOKEN=`vault read -field=token auth/x`
export API_KEY
unset AWS_SECRET_ACCESS_KEY
password: !vault |
password_hash = bcrypt.hashpw(password, salt)
hash_password(password)
csrf_token = generate_csrf()
{% csrf_token %}
@password_required
user.set_password(password)
TokenType.IDENTIFIER
Token(type=NAME, value='x')
NAME token at line 3
enum Token { Plus, Minus }
access_token_expire_minutes: 30
refresh_token_ttl=604800
secret_length: 32
token_budget: 1500
api_key_header = "X-API-Key"
api_key_name: x-api-key
"auth": {"type": "oauth2"}
auth_type=basic
auth: required
credentials: include
credential_process = aws-vault exec shop
username: bob
user = deploy
passport number field
Die Passwörter werden gehasht.
Le mot de passe est obligatoire.
Lies die Datei token.md und ändere den Schlüssel der Tabelle.
base64 -d <<< SGVsbG8gd29ybGQ=
const sk = document.querySelector('.sk-circle')
class="sk-fading-circle-12 sk-child"
https://acme.io/a/b?utm_source=mail&utm_campaign=spring-2026-launch
file:///home/bob/src/shop/token.py
C:\Users\bob\AppData\Local\token.json
1Password is installed; Bitwarden is not.
Step 3: add the token to the vault, then rotate the password
"""


def made(shape: str, rng: random.Random) -> tuple[str, list[str]]:
    """A text of this shape, and the secrets in it."""
    secrets: list[str] = []

    def fill(match: re.Match[str]) -> str:
        kind, _, size = match[2].partition(" ")
        if kind.startswith("="):
            body = match[2][1:]
        else:
            body = password(rng) if kind == "pw" else _body(kind, int(size), rng)
        if match[1] == "{{":
            secrets.append(body)
        return body

    known = "|".join(["pw", "=[^{}]+", *(rf"{kind} \d+" for kind in _ALPHABETS)])
    text = re.sub(rf"(\{{\{{|\(\()({known})(?:\}}\}}|\)\))", fill, shape.replace("⏎", "\n"))
    return text, secrets


def _body(kind: str, size: int, rng: random.Random) -> str:
    while True:
        body = "".join(rng.choices(_ALPHABETS[kind], k=size))
        # What no generator of credentials makes: a long code without any digit, where digits are possible.
        if size < 12 or kind in ("letters", "word") or any(letter.isdigit() for letter in body):
            return body


def password(rng: random.Random) -> str:
    """A password as a person makes it."""

    def fill(match: re.Match[str]) -> str:
        kinds = {"word": "word", "Word": "word", "d": "digits", "alnum": "alnum"}
        body = _body(kinds[match[1]], int(match[2]), rng)
        return body.capitalize() if match[1] == "Word" else body

    return re.sub(r"\{(word|Word|alnum|d)(\d+)\}", fill, rng.choice(_PASSWORDS))


def shapes(lines: str, *, held_out: bool) -> Iterator[str]:
    """One half of the shapes."""
    for line in lines.strip().splitlines():
        if (blake2b(line.encode(), digest_size=1).digest()[0] % 2 == 1) == held_out:
            yield line
