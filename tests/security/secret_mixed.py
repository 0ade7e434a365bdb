# ruff: noqa: E501 - one shape per line, in many languages
"""Shapes of secrets and of innocent text as they occur in prompts, output of tools, settings and code.

The grammar is that of `secret_shapes`. Each set was written before the rules were changed for it, and measured
once before; the rules of then had not seen it:

| Set | Secrets redacted | Innocent texts touched |
| --- | ---: | ---: |
| FIRST, and the half of HARD that is not held out: written before the rules were read | 92.8 % of 130 | 0.5 % of 185 |
| SECOND, and the other half of HARD: read after the rules were changed for the first half | 94.5 % of 129 | 2.3 % of 174 |
| LAST: written with the rules in mind | 90.0 % of 50 | 0 % of 80 |
| UNREAD: the same, after the rules were changed for LAST | 90.0 % of 40 | 0 % of 51 |

Since then the rules were changed for all of them, so what the tests measure here is in sample.
"""

FIRST_SECRETS = r"""
POSTGRES_PASSWORD={{pw}}
  postgres:⏎    environment:⏎      - POSTGRES_USER=shop⏎      - POSTGRES_PASSWORD={{pw}}
spring.datasource.username=app⏎spring.datasource.password={{pw}}⏎spring.jpa.hibernate.ddl-auto=none
<connectionStrings><add name="Main" connectionString="Server=db1;Database=shop;User Id=sa;Password={{pw}};" /></connectionStrings>
machine api.heroku.com⏎  login anna@example.com⏎  password {{hex 8}}-{{hex 4}}-4{{hex 3}}-9{{hex 3}}-{{hex 12}}
db.internal:5432:shop:shop_rw:{{pw}}
admin:$apr1${{alnum 8}}${{alnum 22}}
users:⏎- name: dev⏎  user:⏎    token: {{url 43}}
    client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQ{{b64 400}}
{"auths":{"ghcr.io":{"auth":"{{b64 44}}"}},"credsStore":""}
//registry.npmjs.org/:_authToken=npm_{{alnum 36}}
[global]⏎index-url = https://build:{{alnum 20}}@pypi.acme.io/simple
origin	https://anna:{{pw}}@git.acme.io/shop/web.git (push)
jdbc:oracle:thin:scott/{{pw}}@db.acme.io:1521/ORCL
jdbc:sqlserver://db.acme.io:1433;databaseName=shop;user=sa;password={{pw}};encrypt=true
Driver={ODBC Driver 18 for SQL Server};Server=tcp:shop.database.windows.net;Uid=app;Pwd={{pw}};
amqps://shop:{{alnum 24}}@rabbit.acme.io:5671/prod
redis://:{{alnum 32}}@cache.acme.io:6379/0
mongodb+srv://app:{{alnum 18}}@cluster0.ab1cd.mongodb.net/shop?retryWrites=true
mysql -h db1 -u root -p{{=Sommer2024!}} shop < dump.sql
sshpass -p '{{pw}}' ssh deploy@10.0.0.5 uptime
curl -u anna:{{pw}} https://jira.acme.io/rest/api/2/myself
curl -sS --user "ci-bot:{{alnum 22}}" -X POST https://nexus.acme.io/service/rest/v1/components
> Authorization: Basic {{b64 32}}
-H 'X-Api-Key: {{alnum 32}}'
Cookie: sessionid={{lower 32}}; csrftoken={{alnum 64}}
Set-Cookie: connect.sid=s%3A{{url 32}}.{{alnum 43}}; Path=/; HttpOnly
Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI{{url 40}}.{{url 43}}
-----BEGIN OPENSSH PRIVATE KEY-----⏎{{b64 70}}⏎{{b64 70}}⏎{{b64 40}}⏎-----END OPENSSH PRIVATE KEY-----
AGE-SECRET-KEY-1{{bech 58}}
-----BEGIN PGP PRIVATE KEY BLOCK-----⏎⏎lQVYBGV{{b64 57}}⏎{{b64 64}}⏎-----END PGP PRIVATE KEY BLOCK-----
https://acmestore.blob.core.windows.net/backups?sv=2023-01-03&ss=b&srt=co&sp=rl&se=2026-12-01T00:00:00Z&sig={{b64 43}}%3D
https://s3.eu-central-1.amazonaws.com/acme/a.zip?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=((upper 20))%2F20261118&X-Amz-Signature={{hex 64}}
post to https://hooks.slack.com/services/T0{{upper 9}}/B0{{upper 9}}/{{alnum 24}} please
https://discord.com/api/webhooks/((digits 19))/{{url 68}}
https://prod-12.westeurope.logic.azure.com:443/workflows/((hex 32))/triggers/manual/paths/invoke?api-version=2016-10-01&sp=%2Ftriggers&sv=1.0&sig={{url 43}}
            "password": "{{alnum 20}}",⏎            "username": "rdsadmin",
db_password = "{{pw}}"⏎instance_class = "db.t3.micro"
[12:44:01] + export NPM_TOKEN={{hex 36}}
const client = new Client({ host: 'db1', user: 'app', password: '{{pw}}' });
conn = psycopg2.connect(host="db1", dbname="shop", user="app", password="{{pw}}")
cfg.Passwd = "{{pw}}"
private static final String API_SECRET = "{{b64 40}}";
ENV['SECRET_KEY_BASE'] = '{{hex 128}}'
cat > .pgpass <<EOF⏎db1:5432:*:app:{{pw}}⏎EOF
The password is {{=hunter2}}, please don't share it.
you can log in as admin with password {{pw}}
Das Passwort für den Testserver lautet {{pw}}
Kennwort: {{pw}}
le mot de passe est {{pw}}
La contraseña del servidor es {{pw}}
seed phrase: {{=ripple scissors kick mammal hire column oak again sun offer wealth tomorrow}}
TOTP secret: {{base32 32}}
otpauth://totp/Acme:anna@example.com?secret={{base32 16}}&issuer=Acme
SENTRY_AUTH_TOKEN=sntrys_{{b64 120}}
glpat-{{url 20}} works, I tried it
$env:ARM_CLIENT_SECRET = "{{alnum 3}}8Q~{{alnum 34}}"
vault login hvs.{{url 90}}
kubectl create secret generic db --from-literal=password='{{pw}}'
my.cnf:⏎[client]⏎user=root⏎password="{{pw}}"
"""

FIRST_INNOCENT = r"""
commit ((hex 40))⏎Author: Anna <anna@example.com>⏎Date:   Tue Nov 17 10:11:12 2026 +0100
[main ((hex 7))] Rotate the signing secret
Deployment id: ((hex 8))-((hex 4))-4((hex 3))-a((hex 3))-((hex 12))
sha256:((hex 64))
nginx@sha256:((hex 64)): Pulling from library/nginx
"integrity": "sha512-((b64 86))==",
requests==2.32.3 --hash=sha256:((hex 64))
h1:((b64 43))= golang.org/x/crypto v0.31.0
((hex 64))  release.tar.gz
background: url(data:image/png;base64,iVBORw0KGgo((b64 200))==);
!function(e,t){"object"==typeof exports?module.exports=t():e.token=t()}(this,function(){return function(e){var t={};return e.m=t,e}});
-----BEGIN CERTIFICATE-----⏎MIID((b64 60))⏎((b64 64))⏎-----END CERTIFICATE-----
-----BEGIN PUBLIC KEY-----⏎MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A((b64 32))⏎-----END PUBLIC KEY-----
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI((b64 43)) anna@laptop
SHA256:((b64 43)) anna@laptop (ED25519)
CONTAINER ID   IMAGE     COMMAND⏎((hex 12))   redis:7   "docker-entrypoint.s…"
def reset_password(user: User, token: str) -> None:
class PasswordResetTokenGenerator:
const [password, setPassword] = useState('');
if (!token) throw new Error('Missing token');
token = request.headers.get("Authorization")
password = getpass.getpass("Password: ")
api_key = os.environ["OPENAI_API_KEY"]
apiKey: process.env.STRIPE_SECRET_KEY,
password: ${{ secrets.DEPLOY_PASSWORD }}
export TOKEN="$(gcloud auth print-access-token)"
PASSWORD=<your-password>
API_KEY=your_api_key_here
SECRET_KEY=changeme
DB_PASSWORD=********
client_secret: "{{ vault_client_secret }}"
password = var.db_password
secretKeyRef:⏎  name: shop-db⏎  key: password
Set the environment variable `GITHUB_TOKEN` to a personal access token.
The password must have at least 12 characters and one digit.
test_login_with_wrong_password_is_rejected PASSED
tests/auth/test_token_refresh.py::test_expired_token_returns_401 PASSED
src/components/PasswordInput/PasswordInput.module.css
.password-strength { color: #d73a49; width: 100%; }
password VARCHAR(255) NOT NULL,⏎token_hash CHAR(64) NOT NULL UNIQUE,
ALTER TABLE users ADD COLUMN api_token text;
Error: token expired at 2026-11-18T10:00:00Z
SyntaxError: Unexpected token '<', "<!DOCTYPE "... is not valid JSON
max_tokens=4096, temperature=0.2
usage: {"input_tokens": 51234, "output_tokens": 812, "cache_read_input_tokens": 49152}
https://medium.com/@anna/how-we-cut-our-build-time-in-half-((hex 12))
https://docs.google.com/document/d/((url 44))/edit
https://www.figma.com/file/((alnum 22))/Checkout?node-id=1-2
Merge pull request #418 from acme/fix/secret-rotation
"version": "18.3.1", "resolved": "https://registry.npmjs.org/react/-/react-18.3.1.tgz"
etag: W/"((hex 32))"
x-request-id: ((hex 8))-((hex 4))-4((hex 3))-b((hex 3))-((hex 12))
trace_id=((hex 32)) span_id=((hex 16))
arn:aws:iam::((digits 12)):role/deploy
aws_region = eu-central-1
build/static/js/main.((hex 8)).chunk.js
<link rel="preload" href="/assets/index-((alnum 8)).css">
<input type="password" name="password" autocomplete="current-password">
<label for="password">Passwort</label>
Passwort vergessen? Klicken Sie auf den Link in der E-Mail.
Il token di accesso è scaduto.
le mot de passe est trop court
I forgot the password, can you reset it?
Where is the token stored? In the keychain.
The secret is stored in Vault under kv/shop/db.
password: string;⏎  token?: string;⏎  apiKey: string | null;
func (c *Client) SetToken(token string) { c.token = token }
type Token = { kind: "ident"; value: string }
let tokens = tokenizer.encode(text);
  tokens: 3812 / 8192
--password-stdin
docker login --username anna --password-stdin ghcr.io
psql -h db1 -U app -W shop
mkdir -p build && cp -p a b && ssh -p 2222 host
git push -u origin main
KeyError: 'password'
raise ValueError("secret must not be empty")
keyboard: "ctrl+shift+p" key: workbench.action.showCommands
{"key": "ctrl+k ctrl+s", "command": "workbench.action.openGlobalKeybindings"}
primary_key=True, foreign_key="users.id"
cache-key: node-modules-((hex 64))
key: ${{ runner.os }}-pip-((hex 64))
publicKey: 'BEl62iUYgUivxIkv69yViEuiBIa-Ib9-SkvMeAtA3LFgDzkrxZJjSgSnfckjBJuBkr3qBUYIHBQFLXYPsU7LQ1E'.slice(0, 4)
monkey = "banana"; turkey = "stuffed"
author: Keyes, Mary; passage: 12; compass = north
xpath=//div[@id="token"]/span[2]
at TokenStream.next (/app/node_modules/parse/lib/token-stream.js:118:24)
2026-11-18 10:11:12 INFO  auth.token_service Issued access token for user 4711 (ttl=3600)
Warning: Using a password on the command line interface can be insecure.
- [ ] Rotate API keys⏎- [x] Move secrets to Vault
"scripts": {"test:secrets": "gitleaks detect --no-banner"}
"""

SECOND_SECRETS = r"""
DJANGO_SECRET_KEY='django-insecure-{{=k4^x_2u!p0w&z7m)q9t3v#e8r1y6(n5b}}'
REDIS_PASS="{{pw}}"
services.AddDbContext<Shop>(o => o.UseNpgsql("Host=db1;Username=app;Password={{pw}}"));
app.jwt.secret: {{b64 44}}
[credentials]⏎user = backup⏎secret = {{pw}}
<server><id>nexus</id><username>ci</username><password>{{pw}}</password></server>
<property name="hibernate.connection.password">{{pw}}</property>
machine github.com login anna password ghp_{{alnum 36}}
root:$6${{alnum 16}}${{alnum 86}}:19700:0:99999:7:::
anna:$2y$10${{alnum 53}}
ansible_become_pass: {{pw}}
  TLS_KEY: |⏎    -----BEGIN EC PRIVATE KEY-----⏎    MHcCAQEEI{{b64 55}}⏎    {{b64 64}}⏎    -----END EC PRIVATE KEY-----
data:⏎  password: {{b64 24}}⏎kind: Secret
"auth": "{{b64 36}}==",⏎"email": "ci@acme.io"
always-auth=true⏎_password={{b64 24}}==⏎username=ci
machine-id: 7⏎extra-index-url = https://__token__:pypi-AgEIcHlwaS5vcmc{{url 120}}@pypi.acme.io/simple/
git clone https://x-access-token:{{alnum 40}}@github.com/acme/web
https://{{alnum 52}}@dev.azure.com/acme/shop/_git/web
postgres://app:{{pw}}@/shop?host=/cloudsql/acme:europe:db
clickhouse://default:{{alnum 16}}@ch1:9000/metrics
Data Source=shop.db;Password={{pw}};Version=3;
Server=myServer;Port=3306;Uid=app;Pwd={{alnum 14}};Database=shop
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="app" password="{{pw}}";
mqtt://sensor:{{pw}}@broker.acme.io:1883
ldapsearch -x -D cn=admin,dc=acme -w {{pw}} -b dc=acme
PGPASSWORD={{pw}} pg_dump -h db1 shop > dump.sql
mongo --username root --password {{pw}} --authenticationDatabase admin
redis-cli -h cache -a {{alnum 24}} ping
snmpwalk -v3 -u ops -A {{pw}} -X {{pw}} 10.0.0.9
net use Z: \\files\shop /user:ACME\anna {{pw}}
wget --user=anna --password={{pw}} https://files.acme.io/a.zip
http -a anna:{{pw}} GET https://api.acme.io/v1/orders
helm upgrade shop ./chart --set db.password={{pw}} --set replicas=2
az login --service-principal -u ((hex 8))-((hex 4))-((hex 4))-((hex 4))-((hex 12)) -p {{alnum 3}}8Q~{{alnum 34}} --tenant acme
openssl enc -d -aes-256-cbc -in a.enc -pass pass:{{pw}}
headers = {"Authorization": "Token {{hex 40}}"}
req.Header.Set("X-Auth-Token", "{{alnum 32}}")
authorization: ApiKey {{b64 60}}==
Proxy-Authorization: Basic {{b64 28}}
session cookie: JSESSIONID={{HEX 32}}
access_token={{url 64}}&token_type=bearer&expires_in=3600
https://acme.io/reset?token={{url 43}}
https://outlook.office.com/webhook/{{hex 8}}-((hex 4))-((hex 4))-((hex 4))-((hex 12))@((hex 8))/IncomingWebhook/{{hex 32}}/((hex 8))
https://storage.googleapis.com/acme/a.csv?X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Signature={{hex 128}}
"master_password": "{{alnum 18}}",⏎"engine": "aurora-postgresql",
##[debug]Evaluating: AZURE_DEVOPS_EXT_PAT={{lower 52}}
password := "{{pw}}"⏎db, err := sql.Open("postgres", dsn)
let apiToken: &str = "{{alnum 40}}";
$dbPassword = '{{pw}}';
define('AUTH_KEY', '{{=v8J2|x+Q;k0[Zr4%tW9.n:Lp6@sYf3}}');
setenv("SMTP_PASSWORD", "{{pw}}", 1);
export SMTP_PASS={{pw}}; ./send
pw for the staging box: {{pw}}
login is anna / {{pw}}
the wifi password is {{=blue-Tiger-77}}
Zugangsdaten: Benutzer anna, Passwort {{pw}}
Mot de passe : {{pw}}
usuario: anna, contraseña: {{pw}}
mnemonic = "{{=legal winner thank year wave sausage worth useful legal winner thank yellow}}"
2FA key {{=JBSW Y3DP EHPK 3PXP K4TB WZ2N}}
OPENROUTER_API_KEY=sk-or-v1-{{hex 64}}
"""

SECOND_INNOCENT = r"""
* ((hex 8)) (HEAD -> main, tag: v2.1.0) Hide tokens in logs
index ((hex 7))..((hex 7)) 100644⏎--- a/src/token.go⏎+++ b/src/token.go
checksum = "((hex 64))"
resolution: {integrity: sha512-((b64 86))==}
"shasum": "((hex 40))",
md5:((hex 32))  debian-12.iso
Digest: sha256:((hex 64))⏎Status: Downloaded newer image for python:3.12
pod/shop-((lower 10))-((lower 5))   1/1   Running   0   4d
dpl_((alnum 28)) is ready in 31s
run https://github.com/acme/shop/actions/runs/((digits 11))/job/((digits 11))
src="data:font/woff2;base64,d09GMgABAAAAA((b64 300))"
(()=>{"use strict";var e={418:(e,t,n)=>{t.password=n(12),t.secret=function(){return 1}}}})();
"x5c": ["MIIC((b64 400))"], "kty": "RSA", "n": "((url 342))", "e": "AQAB"
certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t((b64 400))
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ((b64 360)) deploy@ci
-----BEGIN PGP PUBLIC KEY BLOCK-----⏎⏎mQENBF((b64 58))⏎-----END PGP PUBLIC KEY BLOCK-----
age1((lower 58))
pk_live_((alnum 24))
public void setPassword(String password) { this.password = password; }
private final PasswordEncoder passwordEncoder;
fn verify_token(token: &str) -> Result<Claims, TokenError> {
export interface Credentials { username: string; password: string }
$password = $_POST['password'] ?? '';
password = params[:password]
token := os.Getenv("VAULT_TOKEN")
val apiKey = System.getenv("API_KEY")
secret = config.get("secret")
const secret = await getSecret('shop/db');
password=%s
PASSWORD="${DB_PASSWORD:-}"
token: "{{ lookup('env', 'TOKEN') }}"
TOKEN=xxxxxxxxxxxxxxxx
api_key: "REPLACE_ME"
apikey=YOUR-API-KEY
password: "<redacted>"
Password: [hidden]
"password": null, "token": "",
"password": "***", "user": "anna"
secret_name = "prod/shop/db"
secretName: shop-tls
tokenUrl: https://auth.acme.io/oauth2/token
password_file: /run/secrets/db_password
--token-file ~/.config/shop/token
aws_secret_access_key is missing from ~/.aws/credentials
Passwords are hashed with argon2id and a random salt.
A secret key is generated when the container starts.
Use a strong password.
Is the API key valid?
The token has been revoked.
does the token bucket refill per second?
Das Passwort ist abgelaufen, bitte ändern.
Das Passwort muss mindestens acht Zeichen lang sein.
la contraseña es obligatoria
El token no es válido
def test_secret_is_not_logged(caplog):
it('rejects an expired refresh token', async () => {
FAILED tests/test_password.py::test_hash[bcrypt] - AssertionError: assert 401 == 200
node_modules/@babel/parser/lib/tokenizer/index.js:1422
/usr/share/keyrings/docker-archive-keyring.gpg
--color-token-primary: #0a7ea4;
.token.keyword { color: #07a; font-weight: 700; }
CREATE TABLE sessions (id uuid PRIMARY KEY, token bytea NOT NULL, secret_ref text);
SELECT password_hash FROM users WHERE email = $1;
invalid_grant: Token has been expired or revoked.
403 Forbidden: the provided API key does not have permission
JSON.parse: unexpected token at line 1 column 2
"stop_reason": "max_tokens", "total_tokens": 12345
tokens per second: 48.7 (prompt 512, completion 128)
https://stackoverflow.com/questions/((digits 8))/how-to-store-a-password-securely-in-python
https://www.youtube.com/watch?v=((url 11))
https://cdn.acme.io/img/((hex 32))_640x480.webp
https://acme.atlassian.net/browse/SHOP-1234?focusedCommentId=((digits 6))
https://app.acme.io/orders/((hex 24))/items?page=2&sort=created
Use https://user:password@host/path to pass credentials
DATABASE_URL=postgresql://user:pass@localhost:5432/db
traceparent: 00-((hex 32))-((hex 16))-01
nonce-((b64 22))==
"kid": "((url 27))", "alg": "RS256", "use": "sig"
ObjectId("((hex 24))")
sessionId: ((hex 8))-((hex 4))-4((hex 3))-9((hex 3))-((hex 12)) started
"client_id": "((digits 12))-((lower 32)).apps.googleusercontent.com",
sku=AB-((digits 6))-XL, lot=((upper 8))
Keycloak realm "shop" imported; client secret left unchanged
Enter passphrase for key '/home/anna/.ssh/id_ed25519':
[sudo] password for anna:
sudo: a password is required
-p, --password PASSWORD  the password to use (default: prompt)
  --api-key TEXT         API key; read from ACME_API_KEY  [env var: ACME_API_KEY]
usage: login.py [-h] [--user USER] [--password PASSWORD]
cp -a a b; tar -p -xf a.tar; docker run -p 8080:80 nginx
keyPath: "id", keyCode: 13, keyword: "secret"
"""

HARD_SECRETS = r"""
{\"username\": \"app\", \"password\": \"{{pw}}\", \"host\": \"db1\"}
"SecretString": "{\"user\":\"app\",\"pass\":\"{{alnum 20}}\"}",
| Setting | Value |⏎|---|---|⏎| DB password | {{pw}} |
Key              Value⏎---              -----⏎password         {{pw}}⏎username         app
username,password⏎anna,{{pw}}
"Env": ["PATH=/usr/bin", "DB_PASSWORD={{pw}}", "PORT=8080"]
- name: SMTP_PASSWORD⏎  value: "{{pw}}"
  {"name": "API_TOKEN", "value": "{{alnum 32}}"},
+DB_PASSWORD={{pw}}
-    password: '{{pw}}'
config/database.yml:12:  password: {{pw}}
./deploy.sh:4:PASS={{pw}}
2026-11-18T10:11:12Z INFO connecting user=app password={{pw}} host=db1
{'user': 'app', 'password': '{{pw}}', 'port': 5432}
Config{User: "app", Password: "{{pw}}", Port: 5432}
User(name='anna', password='{{pw}}')
val password = "{{pw}}"
my $password = '{{pw}}';
  "password" => "{{pw}}",
config :shop, Shop.Repo, password: "{{pw}}"
(def db {:user "app" :password "{{pw}}"})
$cred = ConvertTo-SecureString "{{pw}}" -AsPlainText -Force
CREATE USER shop WITH ENCRYPTED PASSWORD '{{pw}}';
ALTER USER 'shop'@'%' IDENTIFIED BY '{{pw}}';
requirepass {{alnum 24}}
AUTH default {{alnum 24}}
http_proxy=http://anna:{{pw}}@proxy.acme.io:3128
[remote]⏎type = webdav⏎pass = {{url 32}}
network={⏎  ssid="office"⏎  psk="{{pw}}"⏎}
[Interface]⏎PrivateKey = {{b64 43}}=⏎Address = 10.0.0.2/32
PresharedKey = {{b64 43}}=
ssh-keygen -t ed25519 -N '{{pw}}' -f id
gpg --batch --passphrase '{{pw}}' -c backup.tar
keytool -list -keystore app.jks -storepass {{pw}}
storePassword "{{pw}}"⏎keyAlias "release"⏎keyPassword "{{pw}}"
zip -P {{pw}} backup.zip dump.sql
7z x backup.7z -p{{pw}}
htpasswd -b .htpasswd anna {{pw}}
echo "anna:{{pw}}" | chpasswd
docker run -e MYSQL_ROOT_PASSWORD={{pw}} -d mysql:8
java -Dspring.datasource.password={{pw}} -jar app.jar
RAILS_MASTER_KEY={{hex 32}}
APP_KEY=base64:{{b64 43}}=
NEXTAUTH_SECRET={{b64 43}}=
JWT_SECRET: {{alnum 40}}
SESSION_SECRET={{word 7}}{{digits 5}}
ENCRYPTION_KEY={{hex 64}}
FCM server key: AAAA{{url 7}}:APA91b{{url 134}}
shpat_{{hex 32}}
ATATT3xFfGF0{{url 180}}
HRKU-{{hex 8}}-{{hex 4}}-{{hex 4}}-{{hex 4}}-{{hex 12}}
DD_API_KEY={{hex 32}}
key-{{hex 32}} is the Mailgun key
MAILCHIMP_KEY={{hex 32}}-us12
xkeysib-{{hex 64}}-{{alnum 16}}
<add key="ClearTextPassword" value="{{pw}}" />
:rubygems_api_key: rubygems_{{hex 48}}
{"http-basic": {"repo.acme.io": {"username": "ci", "password": "{{alnum 24}}"}}}
github.com:⏎    user: anna⏎    oauth_token: gho_{{alnum 36}}⏎    git_protocol: https
kubeadm join 10.0.0.1:6443 --token {{lower 6}}.{{lower 16}} --discovery-token-ca-cert-hash sha256:((hex 64))
rabbitmqctl add_user shop {{pw}}
sqlplus scott/{{pw}}@orcl
sqlcmd -S db1 -U sa -P {{pw}} -Q "select 1"
cqlsh -u cassandra -p {{pw}} node1
influx write --token {{url 86}}== --bucket shop
mc alias set store https://minio.acme.io {{upper 20}} {{alnum 40}}
AWS Secret Access Key [None]: {{b64 40}}
Password for 'https://anna@github.com': {{pw}}
use {{pw}} as the password
Here's the token: {{alnum 40}}
my API key is {{alnum 32}}
credentials: admin / {{pw}}
user: anna, pass: {{pw}}
pwd={{pw}}
The new password for root is "{{pw}}".
I changed the password to {{pw}} yesterday.
Login: anna Password: {{pw}}
senha: {{pw}}
wachtwoord: {{pw}}
hasło: {{pw}}
lösenord: {{pw}}
пароль: {{pw}}
密码：{{pw}}
パスワード: {{pw}}
la password è {{pw}}
A senha do banco é {{pw}}
{'Authorization': 'Bearer {{url 43}}'}
"headers": [{"name": "Authorization", "value": "Bearer {{url 43}}"}]
<wsse:Password Type="PasswordText">{{pw}}</wsse:Password>
https://app.acme.io/#access_token={{url 60}}&state=((alnum 8))
client_id=shop&client_secret={{alnum 40}}&grant_type=client_credentials
grant_type=password&username=anna&password={{pw}}
{"kty":"OKP","crv":"Ed25519","d":"{{url 43}}","x":"((url 43))"}
ETH_PRIVATE_KEY=0x{{hex 64}}
wallet private key 0x{{hex 64}}
cast send --private-key {{hex 64}} 0x((hex 40))
Recovery code: {{lower 5}}-{{lower 5}}
backup codes:⏎{{digits 4}} {{digits 4}}⏎{{digits 4}} {{digits 4}}
The PIN is {{=481516}}
ADMIN_PW="{{pw}}"
adminPassword: {{pw}}
rootPassword = "{{pw}}"
db.auth.pass={{pw}}
spring.rabbitmq.password: {{pw}}
  key: "{{hex 40}}"  # license
api-key: {{alnum 32}}
X-Vault-Token: hvs.{{url 90}}
PRIVATE-TOKEN: {{alnum 20}}
x-functions-key: {{url 54}}==
Ocp-Apim-Subscription-Key: {{hex 32}}
https://api.acme.io/v1/items?api_key={{alnum 32}}&page=2
https://api.acme.io/v1/items?key={{alnum 39}}
wss://stream.acme.io/?token={{alnum 40}}
ftp://anna:{{pw}}@ftp.acme.io/in
smtp://mailer:{{pw}}@mail.acme.io:587
ldap bind_dn=cn=app bind_password={{pw}}
snowflake://app:{{pw}}@ab12345/shop
mssql+pyodbc://sa:{{pw}}@db1/shop?driver=x
telegram bot ((digits 10)):AA{{url 33}}
twitch: oauth:{{lower 30}}
SECRET_TOKEN = "{{hex 128}}"
hmac_key: !!binary {{b64 43}}=
"consumerSecret": "{{alnum 50}}", "consumerKey": "((alnum 25))"
pass: {{pw}}
passphrase: {{=correct horse battery staple}}
PASSPHRASE='{{=tired-otters-sing-9}}'
const SECRET = Buffer.from('{{hex 64}}', 'hex');
TOKEN = b"{{alnum 40}}"
os.environ["OPENAI_API_KEY"] = "sk-proj-{{url 120}}"
System.setProperty("db.password", "{{pw}}");
setPassword("{{pw}}")
login("anna", "{{pw}}")
auth=("anna", "{{pw}}")
HTTPBasicAuth('anna', '{{pw}}')
export const token = `{{alnum 40}}`;
#define WIFI_PASSWORD "{{pw}}"
WiFi.begin("office", "{{pw}}");
PuTTY-User-Key-File-3: ssh-ed25519⏎Private-Lines: 1⏎{{b64 64}}
"""

HARD_INNOCENT = r"""
"password": "Passwort", "login": "Anmelden", "forgot": "Passwort vergessen?"
"token_expired": "Your token has expired, please sign in again."
"password": {"type": "string", "minLength": 12, "format": "password"}
"type": "password", "placeholder": "Password"
"grant_type": "password", "token_type": "Bearer", "expires_in": 3600
Token(type=IDENT, value='foo', line=3)
tokens: [{"kind": "word", "text": "banana"}]
  + password = (sensitive value)
  ~ secret_string = (sensitive value)
DB_PASSWORD:  <set to the key 'password' in secret 'shop-db'>  Optional: false
PWD=/home/anna/shop⏎OLDPWD=/home/anna
SSH_AUTH_SOCK=/tmp/ssh-((alnum 12))/agent.2211
XAUTHORITY=/run/user/1000/gdm/Xauthority
LS_COLORS=rs=0:di=01;34:ln=01;36:mh=00:pi=40;33
passed: 118, failed: 2, skipped: 4
PASS src/auth/token.test.ts (4.2 s)
bypass=true passthrough=on compass=north
author: Anna Schmidt <anna@example.com>
sort_key=created_at partition_key=user_id
idempotency_key = f"{task}-{step}"
token_count: 1234⏎password_min_length = 12⏎token_ttl=3600
secret_rotation_days = 90
auth: true⏎auth_type: basic
keys = ["id", "name", "token"]
for token in tokens:
if password == confirm:
password != user.password
assert response.json()["detail"] == "Invalid token"
self.password = password
this.token = token;
token = next(tokens)
password = hash_password(password)
secret = secrets.token_urlsafe(32)
key = cv2.waitKey(1) & 0xFF
api_key=settings.api_key,
password=self._password,
passwd = pwd.getpwnam("anna").pw_dir
token=token or default_token()
let secret = match env::var("SECRET") { Ok(s) => s, Err(_) => return };
headers={"Authorization": f"Bearer {token}"}
-H "Authorization: Bearer $TOKEN"
Authorization: Bearer <token>
curl -u "$USER:$PASS" https://api.acme.io
curl -u user:password https://example.com
mysql -u root -p shop < dump.sql
psql postgresql://localhost/shop
redis://localhost:6379/0
mongodb://mongo:27017,mongo2:27017/shop?replicaSet=rs0
git@github.com:acme/shop.git
ssh://git@gitlab.com:2222/acme/shop.git
https://anna@github.com/acme/shop.git
s3://acme-backups/2026/11/18/shop.dump.gz
postgres://$DB_USER:$DB_PASS@$DB_HOST/shop
amqp://guest:guest@localhost:5672/
password: 'password'
The default password is "admin", change it after the first login.
The password is required.
password is too short (minimum is 8 characters)
The password is stored hashed.
The token is valid for one hour.
The secret is safe with me.
The key is to keep it simple.
Your password has been reset.
password: required, at least 12 characters
token: the token that was issued by /login
secret: name of the Kubernetes secret
Passwords must match
password must contain a digit
The API key is read from the environment variable ACME_API_KEY.
pass the token as a header
Pass: the tests; fail: the linter
--password: prompt for the password
Options:⏎  -p, --password TEXT  Password.⏎  -t, --token TEXT     Token.
@param password the plain-text password
:param token: the token to verify
* `secret` – the shared secret (string, required)
| `token` | string | The access token. |
| password | varchar(255) | NO | | NULL | |
1 | anna | anna@example.com | 2026-11-18
##### Token endpoint
password reset flow works now
feat(auth): add refresh token rotation (#412)
fix: do not log secret values
rename apiKey to accessToken in client.ts
Modified: src/auth/secret_store.py
import { TokenService } from './token.service';
from ringbolt.model.redaction import Redactor
@pytest.fixture⏎def token():⏎    return make_token()
describe('PasswordField', () => {
expect(screen.getByLabelText('Password')).toBeInTheDocument()
await page.fill('#password', password);
cy.get('input[name=password]').type(Cypress.env('password'))
await page.locator('[data-testid="token-input"]').click()
data-token-id="row-12" class="token token--active"
var(--token-color-bg), $token-spacing-md
{"color": {"token": {"value": "{palette.blue.500}"}}}
passport.use(new LocalStrategy(verify));
keychain.get_password("shop", "anna")
kubectl get secret shop-db -o jsonpath='{.data.password}' | base64 -d
vault kv get -field=password secret/shop/db
aws secretsmanager get-secret-value --secret-id prod/shop/db
gh secret set NPM_TOKEN < token.txt
op read "op://Private/GitHub/token"
op://prod/db/password
$(cat /run/secrets/db_password)
password = file("${path.module}/password.txt")
password = random_password.db.result
password: !vault |
password: ENC[AES256_GCM,data:((b64 20)),iv:((b64 44)),tag:((b64 24)),type:str]
{"alg":"HS256","typ":"JWT"}
eyJhbGciOiJIUzI1NiJ9 is the header of a JWT
0x((hex 40)) is the contract
tx 0x((hex 64)) confirmed in block 19234567
balanceOf(0x((hex 40))) = 1200000000
image: ghcr.io/acme/shop:sha-((hex 40))
Build ((hex 12)) finished in 41s
revision ((hex 40)) synced to cluster
artifact-((digits 10))-((hex 8)).zip
job ((digits 10)) queued, runner-((alnum 8))-project-((digits 8))
fingerprint: ((hex 2)):((hex 2)):((hex 2)):((hex 2)):((hex 2)):((hex 2)):((hex 2)):((hex 2))
SHA1: ((HEX 40))
serial ((HEX 16)) issued by Acme CA
00000010  ((hex 2)) ((hex 2)) ((hex 2)) ((hex 2)) ((hex 2)) ((hex 2)) ((hex 2)) ((hex 2))  |........|
blake2b=((hex 64)) size=12034
uuid = ((hex 8))-((hex 4))-((hex 4))-((hex 4))-((hex 12))
session ((hex 8))-((hex 4))-((hex 4))-((hex 4))-((hex 12)) resumed
cursor: eyJpZCI6MTIzNDV9
next_page_token is empty
nextPageToken: CAUQAA
continuation_token=null
"id": "toolu_((alnum 24))", "type": "tool_use"
"id": "msg_((alnum 24))", "model": "claude-opus"
"id": "call_((alnum 24))"
"id": "chatcmpl-((alnum 29))"
req_((alnum 24)) took 812 ms
price_((alnum 24)) is archived
cus_((alnum 14)) has no card
thread_((alnum 24)), run_((alnum 24))
s.key(), s.value()
<Trans key="auth.password.label" />
t('auth.token.invalid')
i18n.auth.password.hint: "At least 12 characters"
keywords = ["secret", "token", "password"]
SENSITIVE = re.compile(r"password|token|secret|api[_-]?key", re.I)
REDACTED_KEYS = {"password", "token", "authorization"}
mask(password)  # -> '********'
logging.info("token refreshed for %s", user)
print("Password:", end=" ")
read -s -p "Password: " PASSWORD
stty -echo; read password; stty echo
echo "$PASSWORD" | docker login -u anna --password-stdin
: "${TOKEN:?TOKEN is not set}"
if [ -z "$API_KEY" ]; then echo "API_KEY missing"; fi
unset AWS_SECRET_ACCESS_KEY
env | grep -i token
grep -rn "password" src | head
sed -i "s/password=.*/password=$NEW/" app.conf
ERROR 1045 (28000): Access denied for user 'root'@'localhost' (using password: YES)
FATAL:  password authentication failed for user "shop"
remote: Invalid username or password.
401 Unauthorized: token signature verification failed
npm ERR! code E401 - need auth token
Error: Cannot find module './token'
AttributeError: 'NoneType' object has no attribute 'token'
TypeError: login() missing 1 required positional argument: 'password'
error[E0425]: cannot find value `token` in this scope
src/auth.ts(12,7): error TS2322: Type 'string' is not assignable to type 'Token'.
warning: unused variable: `secret`
"private": true, "publishConfig": {"access": "public"}
privateKeyPath: ./certs/server.key
ssl_certificate_key /etc/nginx/ssl/shop.key;
IdentityFile ~/.ssh/id_ed25519
AuthorizedKeysFile .ssh/authorized_keys
PasswordAuthentication no
auth_pass_through = false
pam_unix(sshd:session): session opened for user anna
user anna, role admin, password never expires
"""

LAST_SECRETS = r"""
Successfully created API token: acme_{{alnum 40}}. Copy it now, you won't see it again.
Username: postgres⏎Password: {{alnum 16}}⏎Host: shop-db.internal
grafana admin password reset to {{pw}}
[ec2-user@ip-10-0-0-5 ~]$ export DB_PASS='{{pw}}'
ENV MINIO_ROOT_PASSWORD {{pw}}
ARG GITHUB_TOKEN=ghp_{{alnum 36}}
      args: ["--redis-password", "{{pw}}"]
x-amz-security-token: {{b64 200}}
aws_session_token = {{b64 300}}
{"access_token":"{{url 80}}","refresh_token":"{{url 60}}","expires_in":3600}
Set-Cookie: auth_token={{url 64}}; HttpOnly; Secure
curl -H "Authorization: token {{hex 40}}" https://git.acme.io/api/v1/user
curl -d '{"user":"anna","password":"{{pw}}"}' https://acme.io/login
curl -F token={{alnum 32}} https://acme.io/upload
fetch(url, { headers: { 'x-api-key': '{{alnum 36}}' } })
axios.defaults.headers.common['Authorization'] = 'Bearer {{url 48}}';
requests.post(url, auth=('anna', '{{pw}}'))
client = boto3.client('s3', aws_access_key_id='AKIA{{base32 16}}', aws_secret_access_key='{{b64 40}}')
engine = create_engine('postgresql+psycopg://app:{{pw}}@db1/shop')
$client->setAccessToken('{{alnum 44}}');
DB::connect('mysql:host=db1', 'app', '{{pw}}');
new SqlConnection("Server=db1;User ID=sa;Password={{pw}}")
options.ClientSecret = "{{alnum 40}}";
String pwd = "{{pw}}";
var jwtSecret = []byte("{{alnum 32}}")
Rails.application.credentials.secret_key_base # => "{{hex 128}}"
config.encryption_key = '{{hex 32}}'
variable "db_password" {⏎  default = "{{pw}}"⏎}
  "admin_password": {⏎    "value": "{{pw}}"⏎  }
ansible-playbook site.yml -e "db_password={{pw}}"
helm install --set-string auth.rootPassword={{pw}} db bitnami/mysql
docker service create --env POSTGRES_PASSWORD={{pw}} postgres
echo '{{pw}}' | gpg --batch --passphrase-fd 0 -d a.gpg
mount -t cifs //nas/share /mnt -o username=anna,password={{pw}}
//nas/share /mnt cifs user=anna,pass={{pw}},uid=1000 0 0
smbclient //nas/share -U 'anna%{{pw}}'
ldapwhoami -x -D uid=anna,dc=acme -w '{{pw}}'
openssl rsa -in key.pem -passin pass:{{pw}}
nmcli connection modify office wifi-sec.psk "{{pw}}"
wpa_passphrase office {{pw}}
The staging admin account uses {{pw}} as its password.
Heads up: I set the DB password to `{{pw}}` for now.
creds for the demo tenant: demo@acme.io / {{pw}}
Hier das Root-Passwort: {{pw}}
mein Passwort ist {{pw}} bitte einloggen
voici le mot de passe: {{pw}}
la clave es {{pw}}
You can use the token {{alnum 40}} to call the API.
my openai key: sk-proj-{{url 100}}
private key: {{hex 64}}
"""

LAST_INNOCENT = r"""
Successfully created API token, copy it from the dialog.
Username: postgres⏎Password:⏎Host: shop-db.internal
Resetting the Grafana admin password failed: user not found
[anna@laptop ~]$ export DB_PASS=$(pass show shop/db)
ENV PASSWORD_FILE=/run/secrets/password
ARG GITHUB_TOKEN
      args: ["--redis-password", "$(REDIS_PASSWORD)"]
The refresh token expires in 30 days; the access token after one hour.
{"error":"invalid_token","error_description":"The access token expired"}
Set-Cookie: lang=de; Max-Age=31536000
const headers = { Authorization: `Bearer ${token}` };
axios.defaults.headers.common['Authorization'] = token;
requests.post(url, auth=(user, password))
client = boto3.client('s3', aws_access_key_id=key_id, aws_secret_access_key=secret)
engine = create_engine(settings.database_url)
$client->setAccessToken($token);
options.ClientSecret = Configuration["Auth:ClientSecret"];
String pwd = System.console().readPassword();
var jwtSecret = []byte(os.Getenv("JWT_SECRET"))
variable "db_password" {⏎  type      = string⏎  sensitive = true⏎}
output "db_password" {⏎  value = <sensitive>⏎}
ansible-playbook site.yml --ask-become-pass
helm show values bitnami/mysql | grep -i password
auth:⏎  existingSecret: shop-db⏎  secretKeys:⏎    adminPasswordKey: postgres-password
ldapsearch -x -W -D uid=anna,dc=acme
gpg --batch --passphrase-file pass.txt -d a.gpg
mount -t cifs //nas/share /mnt -o credentials=/etc/smb.cred
Compiling tokio v1.42.0⏎Compiling token-parser v0.3.1
Downloading keyring-25.5.0-py3-none-any.whl (39 kB)
Requirement already satisfied: python-jose[cryptography]>=3.3
+ passlib 1.7.4⏎+ secretstorage 3.3.3
added 418 packages, and audited 419 packages in 9s
go: downloading github.com/golang-jwt/jwt/v5 v5.2.1
  File "/app/auth/tokens.py", line 41, in decode_token
jwt.exceptions.ExpiredSignatureError: Signature has expired
PasswordHasher(time_cost=3, memory_cost=65536, parallelism=4)
assert verify_password("wrong", stored) is False
expect(await verifyToken('abc')).toBe(false)
user = User(email="anna@example.com", password="password")
login(client, "anna", "secret")
cy.login('anna', 'password')
INSERT INTO tokens (id, user_id, expires_at) VALUES (1, 42, '2026-12-01');
GRANT SELECT ON secrets TO reporting;
kubectl create secret generic shop --from-env-file=.env
secret/shop created
NAME                 TYPE                DATA   AGE⏎sh.helm.release.v1   helm.sh/release.v1  1      3d
Vault is sealed. Unseal Key (will be hidden):
vault token lookup -format=json
Key                  Value⏎---                  -----⏎Seal Type            shamir⏎Sealed               false
aws iam create-access-key --user-name ci
aws kms describe-key --key-id alias/shop
arn:aws:kms:eu-central-1:((digits 12)):key/((hex 8))-((hex 4))-((hex 4))-((hex 4))-((hex 12))
projects/shop/secrets/db-password/versions/latest
az keyvault secret show --name db --vault-name shop --query value
Azure subscription ((hex 8))-((hex 4))-((hex 4))-((hex 4))-((hex 12)) is enabled
X-Request-Id: ((hex 32))
ETag: "((hex 40))"
Content-MD5: ((b64 22))==
Last-Event-ID: ((digits 19))
git show ((hex 40)):src/secret.ts
git log --grep=password --oneline
((hex 40)) refs/heads/fix-token-leak
sha384-((b64 64))
<script src="https://cdn.acme.io/app.js" integrity="sha384-((b64 64))" crossorigin="anonymous"></script>
"lockfileVersion": 3, "resolved": "https://registry.npmjs.org/jsonwebtoken/-/jsonwebtoken-9.0.2.tgz"
color: var(--password-hint); content: "\f023";
<i class="fa fa-key"></i> <span>Passwort ändern</span>
Enter your API key in Settings > Integrations.
Tokens are billed per million: $3 in, $15 out.
The model used 12,345 tokens and 3 tool calls.
The password field is disabled when SSO is on.
Did you mean `token` instead of `tokens`?
TODO: rotate the signing key before 2026-12-01
- fix: password reset link was valid twice (#1412)
Die Passwortregeln: mindestens 12 Zeichen, eine Ziffer.
Le jeton a expiré, reconnectez-vous.
La clave primaria es user_id.
the key is in the second drawer
a key insight is 3x faster tokenization
turn the key 90 degrees, then press reset
"""

UNREAD_SECRETS = r"""
export PGPASSWORD="{{pw}}" && psql -h db1
Creating user anna with password {{pw}} ... done
Temporary password for anna@acme.io: {{alnum 14}}
    "DATABASE_PASSWORD": "{{pw}}",
DATABASE_URL=mysql://app:{{pw}}@127.0.0.1:3306/shop
set PASSWORD={{pw}}
$Env:API_KEY='{{alnum 36}}'
"BROKER_URL": "redis://default:{{alnum 28}}@cache:6379/1"
<password>{{pw}}</password>
<entry key="mail.password">{{pw}}</entry>
mail.smtp.password={{pw}}
SMTP_PASSWORD: !!str {{pw}}
:password: {{pw}}
password {{pw}}
identity token: {{url 50}}
Use token `{{hex 40}}` when calling the gateway.
Authorization: Digest username="anna", realm="x", nonce="((hex 16))", response="{{hex 32}}"
X-Gitlab-Token: {{alnum 24}}
https://api.telegram.org/bot((digits 10)):AA{{url 33}}/getMe
https://hooks.zapier.com/hooks/catch/{{digits 7}}/{{lower 7}}xq9k2/
sentry auth: sntrys_{{b64 80}}
docker run -e "POSTGRES_PASSWORD={{pw}}" -p 5432:5432 postgres
flutter build --dart-define=API_KEY={{alnum 32}}
terraform apply -var 'db_password={{pw}}'
pulumi config set --secret dbPassword {{pw}}
az storage account keys list⏎[{"keyName": "key1", "value": "{{b64 86}}=="}]
gcloud auth print-access-token⏎ya29.{{url 120}}
vault kv get secret/db⏎password    {{pw}}
op item get db --fields password⏎{{pw}}
heroku config:get SECRET_KEY⏎{{hex 40}}
"client_secret_post": "{{alnum 40}}"
auth_key="{{url 43}}"
cookie: remember_token={{url 60}}
ssh anna@10.0.0.5 # pw: {{pw}}
root / {{pw}} on 10.0.0.5
mot de passe administrateur = {{pw}}
Passwort (neu): {{pw}}
le token d'API est {{alnum 40}}
i accidentally committed the stripe key sk_live_{{alnum 24}}
change password from old to {{pw}}
"""

UNREAD_INNOCENT = r"""
Creating user anna with a random password ... done
Temporary password sent to anna@acme.io
"DATABASE_PASSWORD": "${DATABASE_PASSWORD}",
set /p PASSWORD=Enter the password:
$Env:API_KEY
<password></password>
<password>${db.password}</password>
mail.smtp.auth=true
:password: ask
password optional
identity token: missing
X-Gitlab-Event: Push Hook
flutter build --dart-define=FLAVOR=prod
terraform apply -var-file=prod.tfvars
pulumi config get dbPassword
op item get db --fields password
heroku config:get SECRET_KEY
ssh anna@10.0.0.5 -p 2222
anna / admin on the org chart
Passwort (neu):
le token d'API est invalide
change password from the profile page
password -> PasswordHash
token -> user id
secrets: inherit
permissions:⏎  id-token: write⏎  contents: read
uses: actions/create-github-app-token@v1
with:⏎  token: ${{ github.token }}
on: [push]⏎concurrency: deploy-${{ github.ref }}
RUN --mount=type=secret,id=npmrc npm ci
secretmanager.googleapis.com enabled
keyFile: /etc/mongo/keyfile
sslKey=client.key sslCert=client.crt
sasl.mechanism=SCRAM-SHA-512
security.protocol=SASL_SSL
tokenizer.json: 2.1 MB, vocab.txt: 0.2 MB
pad_token_id=0, eos_token_id=2, bos_token="<s>"
special_tokens_map = {"unk_token": "[UNK]"}
huggingface_hub login required
num_key_value_heads: 8, hidden_size: 4096
--api-key-env OPENAI_API_KEY
keybindings.json: {"key": "cmd+k", "command": "clear"}
((hex 64)) *dist/app-1.4.2.tar.gz
layer ((hex 12)): Pull complete
digest = "sha256:((hex 64))"
objectKey=uploads/2026/11/((hex 32)).png
sort key: (tenant, created_at desc)
foreign key (token_id) references tokens(id)
unique key violation on users.email
Keys: 12, misses: 3, hit rate 80.0%
auth.log: Accepted publickey for anna from 10.0.0.7 port 51122 ssh2: ED25519 SHA256:((b64 43))
"""
