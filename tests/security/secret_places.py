# ruff: noqa: E501 - one shape per line
"""Two further sets: places in which secrets occur in what a host's hooks report, and innocent text from there.

The grammar is that of `secret_shapes`; `{{=text}}` is a secret with this text, as people choose them. Both sets were
written before the rules were read. `PLACES` was measured, then used to mend the rules; `FRESH` was measured once, at
the end (the figures are in ADR 0024).
"""

from __future__ import annotations

PLACES_SECRETS = r"""
PGPASSWORD={{pw}} psql -h db.internal -U app -c 'select 1'
mysql -u root -p{{pw}} -h 10.0.0.4 shop < dump.sql
mysqldump --user=backup --password={{pw}} --all-databases > all.sql
curl -u deploy:{{pw}} https://nexus.acme.dev/repository/raw/build.zip -O
curl -s -H "Authorization: Bearer {{url 43}}" https://api.acme.dev/v2/orders
curl -H 'X-Api-Key: {{alnum 32}}' https://api.acme.dev/health
http POST api.acme.dev/login username=lea password={{pw}}
docker login registry.acme.dev -u ci -p {{pw}}
echo {{pw}} | docker login --username ci --password-stdin registry.acme.dev
echo '{{pw}}' | sudo -S apt-get update
sshpass -p '{{pw}}' ssh root@10.1.2.3 uptime
redis-cli -h cache -a {{alnum 24}} ping
kubectl create secret generic db --from-literal=password={{pw}} -n prod
helm upgrade shop ./chart --set postgresql.auth.password={{pw}} --set replicas=3
vault kv put secret/shop api_key={{alnum 40}} env=prod
vault login {{=hvs.}}{{url 90}}
aws configure set aws_secret_access_key {{b64 40}}
gh auth login --with-token <<< ghp_{{alnum 36}}
npm config set //registry.npmjs.org/:_authToken npm_{{alnum 36}}
openssl enc -aes-256-cbc -in a.txt -out a.enc -pass pass:{{pw}}
smbclient //nas/share -U 'lea%{{pw}}'
ldapsearch -x -D cn=admin,dc=acme -w {{pw}} -b dc=acme
net use Z: \\nas\share /user:acme\lea {{pw}}
7z x backup.7z -p{{pw}}
ansible-playbook site.yml -e "ansible_become_pass={{pw}}"
$env:AZURE_CLIENT_SECRET = "{{alnum 3}}8Q~{{url 34}}"
setx OPENAI_API_KEY sk-proj-{{url 48}}
# .env⏎APP_NAME=shop⏎DB_PASS={{pw}}⏎DEBUG=true
STRIPE_SECRET=sk_live_{{alnum 24}}⏎STRIPE_PUBLIC=pk_live_((alnum 24))
SECRET_KEY_BASE={{hex 128}}
export HF_TOKEN=hf_{{letters 34}}
spring.datasource.password={{pw}}
jdbc.url=jdbc:postgresql://db:5432/shop?user=app&password={{pw}}&ssl=true
keystore.storepass : {{pw}}
database:⏎  host: db⏎  username: app⏎  password: {{pw}}⏎  pool: 5
auth:⏎  client_secret: >-⏎    {{alnum 40}}⏎  scope: read
env:⏎  - name: SMTP_PASSWORD⏎    value: "{{pw}}"⏎  - name: SMTP_HOST⏎    value: mail.acme.dev
apiVersion: v1⏎kind: Secret⏎data:⏎  password: {{b64 24}}==⏎  username: YWRtaW4=
[database]⏎user = "app"⏎passwd = "{{pw}}"
[default]⏎aws_access_key_id = AKIA{{base32 16}}⏎aws_secret_access_key = {{b64 40}}
machine api.heroku.com login lea@acme.dev password {{hex 36}}
[client]⏎user=root⏎password="{{pw}}"⏎host=localhost
{"type":"service_account","private_key_id":"((hex 40))","private_key":"-----BEGIN PRIVATE KEY-----\n{{b64 64}}\n{{b64 64}}\n-----END PRIVATE KEY-----\n"}
{"auths":{"ghcr.io":{"auth":"{{b64 44}}"}}}
{"body":"{\"user\":\"lea\",\"password\":\"{{pw}}\"}","status":200}
{"config": "{\\\"apiToken\\\": \\\"{{alnum 32}}\\\"}"}
{"access_token":"{{url 60}}","token_type":"Bearer","expires_in":3600,"refresh_token":"{{url 60}}"}
{"kty":"RSA","n":"((url 80))","e":"AQAB","d":"{{url 86}}"}
<server><id>nexus</id><username>ci</username><password>{{pw}}</password></server>
<add key="SmtpPassword" value="{{pw}}" />
<property name="hibernate.connection.password">{{pw}}</property>
<connectionStrings><add name="Main" connectionString="Server=db;Database=shop;User Id=sa;Password={{pw}};" /></connectionStrings>
variable "db_password" {⏎  type    = string⏎  default = "{{pw}}"⏎}
  master_password = "{{pw}}"⏎  instance_class  = "db.t3.micro"
postgres://app:{{pw}}@db.internal:5432/shop
mongodb+srv://admin:{{alnum 18}}@cluster0.ab1cd.mongodb.net/test?retryWrites=true
amqps://worker:{{alnum 32}}@rabbit.acme.dev:5671/prod
redis://:{{alnum 20}}@cache:6379/0
DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={{b64 86}}==;EndpointSuffix=core.windows.net
Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={{b64 43}}=
https://acme.blob.core.windows.net/c/f.zip?sv=2022-11-02&sr=b&sig={{alnum 43}}%3D&se=2026-01-01
https://bucket.s3.amazonaws.com/k?X-Amz-Credential=ASIA((base32 16))%2F20260101&X-Amz-Signature={{hex 64}}
https://app.acme.dev/callback#access_token={{url 50}}&state=1
https://api.acme.dev/v1/geo?city=Bern&apikey={{hex 32}}
https://hooks.slack.com/services/T((upper 8))/B((upper 10))/{{alnum 24}}
https://discord.com/api/webhooks/((digits 18))/{{url 68}}
https://acme.webhook.office.com/webhookb2/((hex 8))-1111-4222-8333-((hex 12))@((hex 8))-1111-4222-8333-((hex 12))/IncomingWebhook/{{hex 32}}/((hex 8))-1111-4222-8333-((hex 12))
https://api.telegram.org/bot{{digits 10}}:{{=AA}}{{url 33}}/getMe
CREATE USER app IDENTIFIED BY '{{pw}}';
ALTER ROLE app WITH LOGIN PASSWORD '{{pw}}';
SET PASSWORD FOR 'app'@'%' = PASSWORD('{{pw}}');
INSERT INTO users (name, password) VALUES ('lea', '{{pw}}');
Your new token is: {{alnum 40}}⏎Store it now, it will not be shown again.
Generated password: {{pw}}
Initial admin password has been set to {{alnum 16}}
Please use the following password to log in:⏎⏎{{hex 32}}⏎⏎This may also be found at /var/jenkins_home/secrets/initialAdminPassword
Key                  Value⏎---                  -----⏎token                hvs.{{url 24}}⏎token_accessor       ((alnum 24))⏎token_duration       768h
Unseal Key 1: {{b64 43}}=⏎Initial Root Token: hvs.{{alnum 24}}
{⏎    "AccessKey": {⏎        "UserName": "ci",⏎        "AccessKeyId": "AKIA((base32 16))",⏎        "SecretAccessKey": "{{b64 40}}"⏎    }⏎}
{⏎  "appId": "((hex 8))-1111-4222-8333-((hex 12))",⏎  "displayName": "ci",⏎  "password": "{{alnum 3}}8Q~{{url 34}}",⏎  "tenant": "((hex 8))-1111-4222-8333-((hex 12))"⏎}
| username | password | role |⏎|----------|----------|------|⏎| lea      | {{pw}} | admin |
private static final String API_KEY = "{{alnum 39}}";
const client = new Client({ clientId: 'web', clientSecret: '{{alnum 32}}' });
conn = psycopg.connect(host="db", user="app", password="{{pw}}")
$password = '{{pw}}';
let dbPassword: String = "{{pw}}".to_string();
os.Setenv("GITHUB_TOKEN", "gho_{{alnum 36}}")
config.Auth{Username: "lea", Password: "{{pw}}"}
requests.get(url, auth=("lea", "{{pw}}"))
+  jwt_secret: "{{alnum 48}}"⏎-  jwt_secret: "{{alnum 48}}"
2026-01-04T10:00:00Z DEBUG auth login user=lea password={{pw}} ip=10.0.0.1
the password is {{=hunter2}}, please don't commit it
Das Passwort für den Server lautet {{pw}}
le mot de passe est {{pw}} pour le compte admin
la contraseña es {{pw}}
数据库密码是 {{pw}}，别提交到仓库
Authorization: Basic {{b64 32}}
Set-Cookie: sessionid={{lower 32}}; HttpOnly; Path=/
Cookie: theme=dark; connect.sid=s%3A{{url 32}}.{{alnum 40}}
eyJhbGciOiJIUzI1NiJ9.{{=eyJzdWIiOiIx}}{{url 20}}.{{url 43}}
-----BEGIN OPENSSH PRIVATE KEY-----⏎{{b64 70}}⏎{{b64 70}}⏎-----END OPENSSH PRIVATE KEY-----
-----BEGIN PGP PRIVATE KEY BLOCK-----⏎⏎{{b64 64}}⏎{{b64 64}}⏎=((b64 4))⏎-----END PGP PRIVATE KEY BLOCK-----
seed phrase: {{=legal winner thank year wave sausage worth useful legal winner thank yellow}}
otpauth://totp/Acme:lea?secret={{base32 32}}&issuer=Acme
AGE-SECRET-KEY-1{{bech 58}}
"""

PLACES_INNOCENT = r"""
sha256:((hex 64))
"integrity": "sha512-((b64 86))=="
commit ((hex 40))⏎Author: Lea <lea@acme.dev>
docker pull ghcr.io/acme/shop@sha256:((hex 64))
id: ((hex 8))-((hex 4))-4((hex 3))-8((hex 3))-((hex 12))
arn:aws:iam::((digits 12)):role/deploy-((lower 8))
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI((b64 43)) lea@laptop
256 SHA256:((b64 43)) root@host (ED25519)
-----BEGIN CERTIFICATE-----⏎((b64 64))⏎((b64 64))⏎-----END CERTIFICATE-----
-----BEGIN PUBLIC KEY-----⏎((b64 64))⏎-----END PUBLIC KEY-----
<img src="data:image/png;base64,iVBORw0KGgo((b64 120))">
requests==2.31.0 --hash=sha256:((hex 64))
github.com/pkg/errors v0.9.1 h1:((b64 43))=
checksum = "((hex 64))"
resolved "https://registry.yarnpkg.com/lodash/-/lodash-4.17.21.tgz#((hex 40))"
"etag": "W/\"((hex 32))\""
X-Request-Id: ((hex 32))
traceparent: 00-((hex 32))-((hex 16))-01
{"build_id": "((digits 9))", "run_id": ((digits 10)), "node_id": "MDEwOlJlcG9zaXRvcnk((digits 8))"}
Created instance i-((hex 17)) in vpc-((hex 17))
projects/acme-prod/serviceAccounts/((digits 21))
"private_key_id": "((hex 40))"
client_id=((digits 12))-((lower 32)).apps.googleusercontent.com
{"tenant":"((hex 8))-1111-4222-8333-((hex 12))","subscriptionId":"((hex 8))-1111-4222-8333-((hex 12))"}
"kid": "((url 27))", "alg": "RS256"
export API_TOKEN=<your-token>
API_KEY=xxxxxxxxxxxxxxxx
PASSWORD=
TOKEN=${TOKEN}
token = os.environ["API_TOKEN"]
password: ${{ secrets.DB_PASSWORD }}
password: {{ .Values.db.password }}
const token = await getToken();
secret = config.get("secret")
let password = prompt("Password: ");
apiKey: process.env.API_KEY,
PASSWORD=$(openssl rand -base64 24)
db_password = var.db_password
password = data.aws_secretsmanager_secret_version.db.secret_string
secretKeyRef:⏎  name: db-credentials⏎  key: password
password: str = Field(min_length=8)
def reset_password(token: str, password: str) -> bool:
type Credentials struct {⏎	Username string⏎	Password string `json:"password"`⏎}
password: string;⏎  token?: string | null;
public string Password { get; set; }
private final TokenStore tokenStore;
if (password.length < 8) throw new Error("password too short");
assert password != old_password
test_password_is_rejected_when_too_short PASSED
FAILED tests/test_auth.py::test_token_expires_after_an_hour - AssertionError
The password must be at least 12 characters long and contain a digit.
Passwords are hashed with argon2 before they are stored.
Tokens are rotated every 90 days; the secret is kept in Vault.
Please enter your password:
Password for lea@acme.dev:
Enter passphrase (empty for no passphrase):
error: password authentication failed for user "app"
fatal: Authentication failed for 'https://github.com/acme/shop.git/'
The API key is missing. Set ACME_API_KEY and try again.
Error: invalid token at line 14, unexpected token '}' in JSON
SyntaxError: Unexpected token < in JSON at position 0
max_tokens: 4096, prompt_tokens: 1204, completion_tokens=311
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
token_type: Bearer
password_field: "#login-password"
<input type="password" name="password" placeholder="Your password" required>
<label for="password">Password</label>
SELECT id, password_hash FROM users WHERE token = ?
ALTER TABLE users ADD COLUMN password VARCHAR(255) NOT NULL;
GRANT SELECT ON shop.* TO 'reader'@'%';
--password-file /run/secrets/db_password
docker run -e POSTGRES_PASSWORD_FILE=/run/secrets/pg --secret id=npm,src=.npmrc app
gh secret set DEPLOY_KEY < key.pem
gh secret list⏎NAME        UPDATED⏎NPM_TOKEN   about 2 days ago
kubectl get secrets⏎NAME       TYPE     DATA   AGE⏎db-creds   Opaque   2      14d
aws secretsmanager get-secret-value --secret-id prod/db
password: (sensitive value)
+ password = (sensitive value)
  token: "***"
Authorization: Bearer $TOKEN
curl -H "Authorization: token ${GITHUB_TOKEN}" https://api.github.com/user
curl -u "$USER:$PASS" https://nexus.acme.dev
mysql -u root -p shop
ssh -p 2222 lea@host.acme.dev
mkdir -p build/out && cp -p a.txt build/
docker run -p 8080:80 -u 1000:1000 nginx
git log -p --author=lea src/auth/password_reset.py
rsync -e 'ssh -p 22' user@host:/srv/data .
postgres://localhost:5432/shop
http://user@host:8080/path
https://example.com/article?id=((digits 8))&utm_source=newsletter&page=2
https://youtu.be/((url 11))?t=42
/usr/lib/x86_64-linux-gnu/perl5/5.36/auto/Crypt/OpenSSL/RSA/generate_key_from_password.al
!function(e,t){"object"==typeof exports?module.exports=t():e.Key=t()}(this,function(){return e.token=null});
Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt.
ISBN 978-3-16-148410-0, phone +49 30 12345678, IBAN DE89 3704 0044 0532 0130 00
密码至少需要八个字符，并且不能与用户名相同。
パスワードを忘れた場合は、管理者に連絡してください。
Das Passwort wird nach dem dritten Versuch gesperrt.
Le mot de passe est obligatoire et doit contenir un chiffre.
"""

FRESH_SECRETS = r"""
rclone config create box webdav url=https://dav.acme.dev user=lea pass={{pw}}
wget --http-user=lea --http-passwd={{pw}} https://files.acme.dev/a.iso
psql "host=db port=5432 dbname=shop user=app password={{pw}} sslmode=require"
mongosh --username admin --password {{pw}} --authenticationDatabase admin
kinit lea@ACME.DEV <<< "{{pw}}"
restic -r s3:s3.acme.dev/b init --password-command "echo {{pw}}"
keytool -importkeystore -srcstorepass {{pw}} -deststorepass {{pw}} -srckeystore a.jks
flyctl secrets set SENDGRID_KEY=SG.{{url 22}}.{{url 43}}
heroku config:set SECRET_KEY={{alnum 50}} -a shop
az login --service-principal -u http://ci -p {{alnum 34}} --tenant acme.onmicrosoft.com
gcloud sql users set-password app --instance=main --password={{pw}}
nmcli dev wifi connect HomeNet password {{pw}}
wpa_passphrase: ssid="HomeNet"⏎	psk="{{pw}}"
xfreerdp /u:lea /p:{{pw}} /v:10.0.0.9
sqlcmd -S db -U sa -P {{pw}} -Q "select 1"
snmpwalk -v3 -u ops -A {{alnum 16}} -X {{alnum 16}} -l authPriv 10.0.0.1
twine upload -u __token__ -p pypi-AgEIcHlwaS5vcmc{{url 120}} dist/*
cargo login cio{{alnum 32}}
Proxy-Authorization: Basic {{b64 28}}==
X-Vault-Token: s.{{alnum 24}}
PRIVATE-TOKEN: {{url 20}}
x-amz-security-token: {{b64 180}}
Sec-WebSocket-Protocol: bearer, {{url 64}}
HTTP_PROXY=http://lea:{{pw}}@proxy.acme.dev:3128
Data Source=tcp:db.acme.dev,1433;Initial Catalog=shop;UID=sa;PWD={{pw}};Encrypt=True
sftp://backup:{{alnum 14}}@nas.local/volume1
https://acme.dev/reset-password?uid=MTI&token={{alnum 6}}-{{hex 32}}
https://maps.googleapis.com/maps/api/js?key=AIza{{url 35}}&libraries=places
https://prod-12.westeurope.logic.azure.com/workflows/((hex 32))/triggers/manual/paths/invoke?api-version=2016-10-01&sp=%2Ftriggers&sv=1.0&sig={{url 43}}
https://storage.googleapis.com/b/o?X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Signature={{hex 256}}
GRANT ALL ON shop.* TO 'app'@'%' IDENTIFIED WITH mysql_native_password BY '{{pw}}';
CREATE LOGIN app WITH PASSWORD = N'{{pw}}', CHECK_POLICY = ON;
CREATE SECRET s3 (TYPE S3, KEY_ID 'AKIA((base32 16))', SECRET '{{b64 40}}');
UPDATE accounts SET api_token = '{{hex 40}}' WHERE id = 4;
✔ Service account created. Secret: {{alnum 40}} (shown once)
root password for this VM: {{pw}}
A temporary password is generated for root@localhost: {{=k;Qw}}{{alnum 8}}
Username: elastic⏎Password: {{alnum 20}}⏎HTTP CA certificate fingerprint: ((hex 64))
Bot token ........ {{digits 18}}.{{url 6}}.{{url 38}}
NAME         VALUE⏎DB_HOST      db.internal⏎DB_PASSWORD  {{pw}}
kubeadm join 10.0.0.1:6443 --token {{lower 6}}.{{lower 16}} --discovery-token-ca-cert-hash sha256:((hex 64))
docker swarm join --token SWMTKN-1-{{lower 50}}-{{lower 25}} 10.0.0.1:2377
users:⏎- name: admin⏎  user:⏎    client-key-data: {{b64 160}}==
-   - DB_PWD={{pw}}⏎+   - DB_PWD={{pw}}
ENV NPM_TOKEN {{hex 8}}-{{hex 4}}-4{{hex 3}}-8{{hex 3}}-{{hex 12}}
ActiveRecord::Base.establish_connection(adapter: 'mysql2', username: 'root', :password => '{{pw}}')
mailer.setPassword("{{pw}}");
define('DB_PASSWORD', '{{pw}}');
Sys.setenv(OPENAI_KEY = "{{alnum 48}}")
#define WIFI_PASS "{{pw}}"
(def db {:user "app" :password "{{pw}}"})
my $pw = "{{pw}}"; # legacy box
SecureString pwd = ConvertTo-SecureString "{{pw}}" -AsPlainText -Force
log in as admin / {{pw}} on the staging box
ok use pw {{=Sommer2024!}} for the demo account
Zugangsdaten: Benutzer lea, Kennwort: {{pw}}
a senha do banco é {{pw}}, não compartilhe
パスワードは {{pw}} です
License key: {{upper 5}}-{{upper 5}}-{{upper 5}}-{{upper 5}}-{{upper 5}}
Recovery codes:⏎{{lower 5}}-{{lower 5}}⏎{{lower 5}}-{{lower 5}}⏎{{lower 5}}-{{lower 5}}
"""

FRESH_INNOCENT = r"""
Finished in 3.21s (build ((hex 8)), node v20.11.1)
Successfully built ((hex 12))⏎Successfully tagged shop:latest
index ((hex 7))..((hex 7)) 100644⏎--- a/src/token.py⏎+++ b/src/token.py
From ((hex 40)) Mon Sep 17 00:00:00 2001
RUN echo "((hex 64))  node.tar.gz" | sha256sum -c -
gpg: key ((HEX 16)): public key "Lea <lea@acme.dev>" imported
pub   rsa4096 2024-01-01 [SC]⏎      ((HEX 40))
host.acme.dev ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ((b64 120))
certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t((b64 80))
PublicKey = ((b64 43))=
--discovery-token-ca-cert-hash sha256:((hex 64))
/dns4/node/tcp/4001/p2p/12D3KooW((alnum 44))
0x((hex 40)) sent 0.2 ETH in tx 0x((hex 64))
Deployment dpl_((alnum 28)) is ready: https://shop-((lower 9))-acme.vercel.app
{"object":"charge","id":"ch_((alnum 24))","customer":"cus_((alnum 14))"}
pk_test_((alnum 24))
{"id":"chatcmpl-((alnum 29))","model":"gpt-4o","system_fingerprint":"fp_((hex 10))"}
toolu_01((alnum 22)) finished
arn:aws:secretsmanager:eu-west-1:((digits 12)):secret:prod/db-((alnum 6))
"VersionId": "((hex 8))-((hex 4))-4((hex 3))-8((hex 3))-((hex 12))", "Name": "prod/db/password"
Zone ID: ((hex 32))  Account ID: ((hex 32))
G-((upper 10)) and UA-((digits 8))-1
SENTRY_DSN=https://((hex 32))@o((digits 6)).ingest.sentry.io/((digits 7))
nonce="((b64 22))==" crossorigin="anonymous" integrity="sha384-((b64 64))"
--ignore-scripts --frozen-lockfile --token-ttl=3600s
vault token lookup -format=json
op read "op://prod/db/password"
pass show acme/db
export PASSWORD="$(pass show acme/db)"
password = getpass.getpass()
password := os.Getenv("DB_PASSWORD")
String password = request.getParameter("password");
$password = $_POST['password'];
password: !vault |
password: ENC[AES256_GCM,data:((b64 16)),iv:((b64 43))=,type:str]
DB_PASSWORD: vault:secret/data/db#password
key: "ctrl+shift+p", command: "workbench.action.showCommands"
sort(key=lambda item: item.token_count)
for key, value in tokens.items():
tokens = text.split(" ")
@pytest.mark.parametrize("password", ["", "short"])
it('shows an error when the password is wrong', async () => {
raise ValueError(f"unknown token: {token!r}")
expect(page.getByLabel('Password')).toBeVisible()
msgstr "Kennwort vergessen?"
"forgotPassword": "Forgot your password?", "resetPassword": "Reset password"
password_reset_timeout: 3600
passwordPolicy: { minLength: 12, requireDigits: true }
auth_method: password
Enter host password for user 'lea':
sudo: a password is required
WARN token expired at 2026-01-04T10:00:00Z, refreshing
I forgot where the token is stored; the secret is probably in the vault.
We rotate the key every quarter, and the password is never logged.
TODO: move secrets out of the repository before release
class PasswordResetTokenGenerator(BaseTokenGenerator):
import { useAuthToken } from '@/hooks/useAuthToken'
src/auth/tokens/refresh_token_rotation_policy_test.go:118:14
chr7:((digits 8))-((digits 8)) ACGTTGCAACGTTGACCGTAACGTTGCAACGTTGACCGTA
La contraseña es demasiado corta; el token es válido durante una hora.
"""
