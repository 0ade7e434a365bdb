# ruff: noqa: E501 - one shape per line
"""Shapes for the mechanisms that were added last: each was missed, or touched, by the rules before.

The grammar is that of `secret_shapes`. The innocent ones are like those that were found in the sources of programs.
"""

SECRETS = r"""
set mailgun smtp user postmaster@mg.acme.io / {{=T7rXq9LmW2}} for the staging box
Zugang: admin/{{=Nordsee1984!}}
I logged in with admin@acme.io:{{=Nordsee1984!}} and the page loads
Test account: test@acme.io – {{=Nordsee1984!}}
Test user is test@acme.io ({{=Nordsee1984!}})
nuget push a.nupkg -k {{alnum 20}} -s https://nuget.acme.io
twine upload -u acme -p {{pw}} dist/*
security unlock-keychain -p {{pw}} login.keychain
security import cert.p12 -k build.keychain -P {{pw}} -T /usr/bin/codesign
netsh wlan set ... keyMaterial={{pw}}
<keyMaterial>{{pw}}</keyMaterial>
echo "{{pw}}" | kinit lea@ACME.IO
yes {{pw}} | passwd lea
ansible-vault encrypt_string '{{pw}}' --name db_password
s3cmd --access_key=AKIAX --secret_key={{pw}} ls
az sql server create -n a -u lea -p {{pw}}
echo -n '{{pw}}' | gcloud secrets create db --data-file=-
echo '{{pw}}' | gh secret set DB_PASSWORD
echo {{pw}} | vercel env add DB_PASSWORD production
pass insert -e acme/db <<< {{pw}}
apiVersion: v1⏎kind: Secret⏎metadata:⏎  name: db⏎data:⏎  db: {{alnum 19}}=
credentials += Credentials("Nexus", "n.acme.io", "lea", "{{pw}}")
paramiko.Transport(('h', 22)).connect(None, 'lea', '{{pw}}')
sql.Open("mysql", "lea:{{pw}}@tcp(db1:3306)/shop")
dsn = 'lea:{{pw}}@unix(/tmp/mysql.sock)/shop'
User.create!(email: 'a@b.c', password: '{{pw}}', password_confirmation: '{{pw}}')
User.objects.create_superuser('admin', 'a@b.c', '{{pw}}')
bcrypt.hashSync('{{pw}}', 10)
Hash::make('{{pw}}')
passwordEncoder.encode("{{pw}}")
await page.locator('input[type="password"]').fill('{{pw}}')
find('#user_password').set('{{pw}}')
fill_in 'Password', with: '{{pw}}'
I fill in "Password" with "{{pw}}"
lea:{{pw}}@10.0.0.5
'cipher' => 'AES-256-CBC', 'key' => 'base64:{{b64 43}}='
cipher = Fernet(b'{{b64 43}}=')
new ethers.Wallet('0x{{hex 64}}')
accounts: ['0x{{hex 64}}']
DEPLOYER_PK=0x{{hex 64}}
OTP: {{=492039}}
2FA code {{=492039}}
backup code: {{=ABCD-1234-EFGH}}
https://x.acme.io/magic/{{alnum 40}}?login=1
new Resend('re_{{alnum 8}}_{{alnum 24}}')
posthog phx_{{alnum 43}}
Pinecone('pcsk_{{alnum 50}}')
elevenlabs sk_{{hex 48}}
TavilyClient("tvly-{{alnum 32}}")
FIRECRAWL fc-{{hex 32}}
render: rnd_{{alnum 28}}
neon napi_{{lower 50}}
contentful CFPAT-{{url 43}}
aliyun LTAI{{alnum 20}}
ATCTT3x_{{url 79}}
nvapi-{{url 64}}
tgp_v1_{{url 43}}
hubspot pat-na1-{{hex 8}}-{{hex 4}}-{{hex 4}}-{{hex 4}}-{{hex 12}}
plaid access-production-{{hex 8}}-{{hex 4}}-{{hex 4}}-{{hex 4}}-{{hex 12}}
paseto v2.local.{{url 100}}
wandb_v1_{{alnum 60}}
gitlab-runner register --registration-token {{letters 20}}
sonar-scanner -Dsonar.login={{hex 40}}
$ cat config/master.key⏎{{hex 32}}
$ cat ~/.config/token⏎{{alnum 40}}
$ cat .vault-token⏎{{alnum 40}}
$ cat /run/secrets/db_password⏎{{pw}}
$ kubectl get secret db -o jsonpath='{.data.password}' | base64 -d⏎{{pw}}
$ gh auth token⏎{{alnum 40}}
$ vault kv get -field=api_key secret/app⏎{{alnum 40}}
$ pass show acme/db⏎{{pw}}
$ aws ssm get-parameter --name /db/password --with-decryption --query Parameter.Value⏎"{{pw}}"
$ echo $DB_PASSWORD⏎{{pw}}
$ op read op://vault/db/password⏎{{pw}}
$ openssl rand -base64 18⏎{{alnum 24}}
$ openssl rand -hex 32⏎{{hex 64}}
WIFI:S:Acme;T:WPA;P:{{=Amber.Kite_93}};;
user lea on >{{=Amber.Kite_93}} ~* +@all
ACL SETUSER lea on >{{=Amber.Kite_93}} ~* +@all
$ sudo cat /var/lib/jenkins/secrets/initialAdminPassword⏎{{hex 32}}
xprv9s21ZrQH143K{{alnum 95}}
bitcoin-cli importprivkey {{alnum 52}}
Environment  User  Password⏎staging      qa    {{pw}}
name;login;passwort⏎Lea;lea;{{pw}}
- **Password:** {{pw}}
* Password - {{pw}}
Password ... {{pw}}
Password⏎  {{pw}}
user/pass is admin/{{pw}}
u: admin p: {{pw}}
U: admin⏎P: {{pw}}
change the password from {{pw}} to something from the vault
Mein Passwort ist übrigens {{pw}}
key={{alnum 20}}
got {"jwt":"{{alnum 32}}"}
Copy this token now; it will not be shown again:⏎{{alnum 32}}
Personal access token generated.⏎{{hex 40}}
AKIAIOSFODNN7ABCDEFG:{{b64 40}}
Access key ID,Secret access key⏎AKIA2E0A8F3B244C9986,{{b64 40}}
co = cohere.Client("{{alnum 39}}")
client = Client("AC0123", "{{hex 32}}")  # twilio
algoliasearch("APPID", "{{hex 32}}")
jwt.sign({id:1}, "{{pw}}", {expiresIn:"1h"})
crypto.createHmac("sha256", "{{alnum 32}}")
aesKey := []byte("{{hex 64}}")
cookieParser("{{alnum 32}}")
"""

INNOCENT = r"""
"license_key": "LicenseRef-scancode-adi-bsd-2011"
private_key: PKCS7PrivateKeyTypes,
if isinstance(private_key, Ed25519PrivateKey | Ed448PrivateKey):
new_password1 != new_password2
fields = ("username", "usable_password", "password1", "password2")
PASSWORD_HASHERS⏎conn["password"] = settings_dict["PASSWORD"]
password: value["syncUsersPassword"],
pwd = *u.EncryptedPassword
passwordBuilder := strings.Builder{}
password: testUser0.password,
const token = s1.data!.session.token;
INVALID_EMAIL_OR_PASSWORD: "Ungültige E-Mail oder falsches Passwort",
INVALID_PASSWORD: "密码无效",
ErrorWeakPasswordReasons = "characters"
<p>Your password was changed</p>
src/auth/password.ts:14:export function hashPassword(password: string) {
help_text="Your new password", widget=EmptyIdForLabelTextInput()
("authentik_stages_password", "0004_auto_20210402_2221"),
SAML11_AM_PASSWORD = "urn:oasis:names:tc:SAML:1.0:am:password"
com-password4j = "1.8.4"
Pass `verbosity=1` to get a table with a row for each file.
_HOST_PORT_PAT = ("^(%s|%s)(?::([0-9]{1,4}))?$")
raise CLIError("--registry-password requires --registry-username")
case "PKIX_RSA_PKCS1V15_2048_SHA256":
subject_token: k8sToken,
func f(clientToken *esv1.OvhClientToken) error {
Token: &esv1.TokenAuth{BearerToken: v1.SecretKeySelector{Name: "tok", Key: "token"}}
(.password_encrypted_base64 | b64dec)
passphraseChars = []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
fmt.Sprintf("postgres://postgres:%s@db:5432/example", secret)
password = this.#auth.loginPassword,
kind: ConfigMap⏎data:⏎  database: shop⏎  port: "5432"
* deep-copy config during configure ([#2368](https://github.com/a/b/issues/2368)) ([5f1a06c](https://github.com/a/b/commit/((hex 40))))
integrity: sha512-((alnum 40))PW+((alnum 40))==
The commit that broke the token check is ((hex 40)).
$ git log -1 --format=%H -- token.py⏎((hex 40))
$ git rev-parse HEAD⏎((hex 40))
$ sha256sum secret.tar⏎((hex 64))
Passwords must have 12 characters and one digit.
Test user is lea@acme.io (Berlin)
NAME  TYPE  DATA  AGE⏎db-token  Opaque  3  12d
"""
