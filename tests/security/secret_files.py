"""More shapes of secrets and of innocent text: other vendors, files of settings, output of tools.

The grammar and the split into halves are those of `secret_shapes`. This set was measured once before the rules
were changed for it: 0 of 0.
"""

SECRETS = r"""
pscale auth check⏎PLANETSCALE: pscale_tkn_{{url 43}}
curl -H "Authorization: lin_api_{{alnum 40}}" https://api.linear.app/graphql
const notion = new Client({ auth: "ntn_{{alnum 46}}" })
supabase login --token sbp_{{hex 40}}
Grafana said glsa_{{alnum 32}}_{{hex 8}} was created
doppler run --token dp.pt.{{alnum 43}} -- npm start
databricks configure: host https://acme.cloud.databricks.com token dapi{{hex 32}}
FLY_API_TOKEN="FlyV1 fm2_{{b64 120}}"
replicate: r8_{{alnum 37}}
client = Groq(api_key="gsk_{{alnum 52}}")
xai-{{alnum 80}}
tailscale up --authkey tskey-auth-{{alnum 12}}CNTRL-{{alnum 32}}
PUT /api/v1/rubygems⏎Authorization: rubygems_{{hex 48}}
cargo login cio{{alnum 32}}
jfrog rt ping --access-token cmVmdGtuOjAxOj{{alnum 50}}
credentials "app.terraform.io" {⏎  token = "{{alnum 14}}.atlasv1.{{url 64}}"⏎}
airtable key pat{{alnum 14}}.{{hex 64}} works
Square: EAAA{{url 60}}
mapboxgl.accessToken = 'sk.eyJ1Ijoi{{alnum 60}}.{{url 22}}';
newrelic profile add --apiKey NRAK-{{upper 27}}
pulumi login: pul-{{hex 40}}
POSTMAN: PMAK-{{hex 24}}-{{hex 34}}
buildkite-agent start --token bkua_{{hex 40}}
op service account: ops_eyJ{{url 200}}
avnadmin:AVNS_{{url 19}}@pg-acme.aivencloud.com:12691
{"plaid": {"access_token": "access-production-{{hex 8}}-{{hex 4}}-{{hex 4}}-{{hex 4}}-{{hex 12}}"}}
clickhouse-client --host ch.acme.io --user default --password {{pw}}
snowsql -a acme -u loader -o password={{pw}}
cassandra:⏎  username: app⏎  password: {{pw}}⏎  port: 9042
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="svc" password="{{pw}}";
spring.datasource.password={{pw}}⏎spring.datasource.username=app
mssql+pyodbc://sa:{{alnum 12}}@sql.acme.io/shop?driver=ODBC+Driver+18
neo4j+s://neo4j:{{alnum 22}}@1a2b3c.databases.neo4j.io
cockroachdb: postgresql://maxine:{{alnum 22}}@free-tier.gcp.cockroachlabs.cloud:26257/bank?sslmode=verify-full
[remote]⏎type = s3⏎access_key_id = AKIA{{base32 16}}⏎secret_access_key = {{b64 40}}
[Interface]⏎PrivateKey = {{b64 43}}=⏎Address = 10.0.0.2/32
network={⏎  ssid="office"⏎  psk="{{pw}}"⏎}
[client]⏎user=root⏎password="{{pw}}"⏎host=localhost
<server>⏎  <id>nexus</id>⏎  <username>deploy</username>⏎  <password>{{pw}}</password>⏎</server>
signingConfigs { release { storePassword '{{pw}}'⏎ keyPassword '{{pw}}' } }
java -Djavax.net.ssl.keyStorePassword={{pw}} -jar app.jar
    environment:⏎      - REDIS_HOST=redis⏎      - REDIS_PASSWORD={{pw}}
      - uses: docker/login-action@v3⏎        with:⏎          username: acme⏎          password: {{alnum 20}}
variables:⏎  DEPLOY_ENV: prod⏎  SONAR_TOKEN: sqp_{{hex 40}}
"attributes": {"id": "db-1", "username": "app", "password": "{{pw}}", "port": 5432}
apiVersion: v1⏎kind: Secret⏎metadata:⏎  name: db⏎type: Opaque⏎data:⏎  password: {{b64 24}}
kubectl create secret generic db --from-literal=password={{pw}}
https://shop.s3.amazonaws.com/a.zip?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date=20260101T000000Z&X-Amz-Signature={{hex 64}}
https://storage.googleapis.com/b/o?X-Goog-Expires=900&X-Goog-Signature={{hex 256}}
https://d111.cloudfront.net/v.mp4?Expires=1767225600&Signature={{url 86}}&Key-Pair-Id=K2JCJMDEHXQW5F
otpauth://totp/Acme:bob@acme.io?secret={{base32 32}}&issuer=Acme
openssl pkcs12 -in a.p12 -passin pass:{{pw}} -nodes
ldapsearch -x -D cn=admin,dc=acme,dc=io -w {{alnum 12}} -b dc=acme,dc=io
sshpass -p '{{pw}}' ssh root@10.0.0.5
Proxy-Authorization: Basic {{b64 28}}
{⏎  "accessToken": "eyJ0eXAiOiJKV1QiLCJhbGciOi{{url 200}}",⏎  "expiresOn": "2026-01-01 10:00:00",⏎  "tokenType": "Bearer"⏎}
ws connect wss://push.acme.io/socket?access_token={{url 40}}&v=2
define('AUTH_KEY', '{{alnum 64}}');
protocol=https⏎host=github.com⏎username=bob⏎password={{alnum 24}}
deployer private key 0x{{hex 64}} (sepolia only)
"""

INNOCENT = r"""
commit ((hex 40))⏎Author: Bob <bob@acme.io>⏎Date:   Mon Jan 5 10:00:00 2026 +0000
index ((hex 7))..((hex 7)) 100644
((hex 8))-((hex 4))-((hex 4))-((hex 4))-((hex 12))
request_id=((hex 8))-((hex 4))-((hex 4))-((hex 4))-((hex 12)) status=200
((hex 64))  ringbolt-1.0.tar.gz
"integrity": "sha512-((b64 86))==",
    "resolved": "https://registry.npmjs.org/lodash/-/lodash-4.17.21.tgz#((hex 40))",
<img src="data:image/png;base64,iVBORw0KGgo((b64 200))=">
background: url(data:font/woff2;base64,d09GMgAB((b64 160)));
The password must be at least 12 characters long.
Users forget their password; send them a reset link.
If the token is expired, refresh it and retry the request.
token = get_token()
const token = await fetchToken(user.id);
self.password = hashlib.sha256(raw).hexdigest()
password: str = Field(min_length=12)
let secret = env::var("SECRET").expect("SECRET not set");
api_key = os.environ["API_KEY"]
if (req.headers.authorization !== expected) return res.status(401).end();
Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore.
src/auth/token_store/password_reset_controller.py
/usr/lib/python3.11/site-packages/keyring/backends/SecretService.py
node_modules/.pnpm/jsonwebtoken@9.0.2/node_modules/jsonwebtoken/sign.js
!function(e,t){"object"==typeof exports?module.exports=t():e.Token=t()}(this,function(){return function(e){var t={}}});
var a=b.password||"",c=d.token?e(d.token):null;return a.length>8&&c
alembic upgrade ((hex 12)) -> ((hex 12)), add password column
20260105103045_create_access_tokens.rb
image: ghcr.io/acme/shop@sha256:((hex 64))
Digest: sha256:((hex 64))⏎Status: Downloaded newer image for redis:7
layer ((hex 12)): Pull complete
etag: W/"((hex 32))"
x-request-id: ((hex 32))
traceparent: 00-((hex 32))-((hex 16))-01
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI((b64 43)) bob@laptop
SHA256:((b64 43)) bob@laptop (ED25519)
-----BEGIN CERTIFICATE-----⏎MIID((b64 60))⏎((b64 64))⏎-----END CERTIFICATE-----
-----BEGIN PUBLIC KEY-----⏎MIIB((b64 60))⏎-----END PUBLIC KEY-----
max_tokens: 4096
usage: {"prompt_tokens": 1532, "completion_tokens": 211, "total_tokens": 1743}
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
password_hash = Column(String(255), nullable=False)
ALTER TABLE users ADD COLUMN api_token VARCHAR(64) UNIQUE;
SELECT id, password FROM users WHERE email = $1
<input type="password" name="password" autocomplete="current-password" required>
<label for="token">Access token</label>
FAILED tests/test_auth.py::test_password_is_hashed - AssertionError: assert False
E       assert token == expected_token
secretKeyRef:⏎  name: db-credentials⏎  key: password
password: ${{ secrets.DOCKER_PASSWORD }}
token: $CI_JOB_TOKEN
PASSWORD=$(openssl rand -hex 16)
variable "db_password" {⏎  type      = string⏎  sensitive = true⏎}
"password": (sensitive value)
api_token = (known after apply)
gpg: key ((HEX 16)): public key "Bob <bob@acme.io>" imported
arn:aws:iam::((digits 12)):role/deploy
h1:((b64 43))= 
golang.org/x/crypto v0.21.0/go.mod h1:((b64 43))=
  --hash=sha256:((hex 64)) \
GET /assets/index-((url 8)).js?v=((hex 8)) 200 12ms
"""
