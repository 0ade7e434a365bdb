"""What secrets look like: the tables behind `redaction`. Data only, because the capture hook embeds it.

Written after reading the rules of gitleaks, detect-secrets and trufflehog. A pattern here must take linear
time on any text: `bench/adversarial.py` feeds each one strings made from its own alphabet.
"""

# ruff: noqa: E501 - a pattern is easier to read in one line
from __future__ import annotations

# A code may follow an escape in JSON (`\\nghp_…`), a colour, or a percent-encoded sign, but not a letter:
# long codes contain short prefixes by chance.
_APART = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f][0-9A-Fa-f])|(?<=\[[0-9]m)|(?<=[0-9][0-9]m))"
# Where the body may contain what may stand before it, only the beginning of a run counts.
_ALONE = r"(?:(?<![\w-])|(?<=\\[nrtbf]))"

# Each vendor: the kind, what a text must contain, and the pattern of its codes. Prefixes that
# cannot occur by chance need nothing before them.
VENDORS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("key", ("AKIA", "ASIA"), r"(?:AKIA|ASIA)[0-9A-Z]{16}[\"']?[\s,:;|]{1,5}[\"']?(?P<secret>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])"),
    ("key", ("xprv9",), r"xprv9[A-Za-z0-9]{100,110}"),
    ("aws", ("AKIA", "ASIA", "ABIA", "ACCA"), _APART + r"(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?![0-9A-Za-z])"),
    ("aws", ("ABSK", "bedrock-api-key-"), r"(?:ABSK[A-Za-z0-9+/]{100,300}={0,2}|bedrock-api-key-[\w=-]{20,2000})"),
    ("github", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"), _APART + r"(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_\w{20,255})"),
    (
        "gitlab",
        ("glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-",
         "glffct-", "GR1348941"),
        r"(?:gl(?:pat|dt|rt|ptt|cbt|ft|imt|agent|oas|soat|ffct)-|GR1348941)[\w-]{16,300}(?:\.[0-9a-z]{6,12})?",
    ),
    ("slack", ("xox", "xapp-"), _APART + r"(?:xox[a-eo-s](?:\.xox[bp])?|xapp)-(?=[A-Za-z0-9-]{0,40}[0-9])[A-Za-z0-9-]{10,300}+(?!\.[a-z]{3})"),
    ("anthropic", ("sk-ant-",), r"sk-ant-[\w-]{16,300}"),
    (
        "openai",
        ("sk-",),
        _ALONE + r"sk-(?:(?:proj|svcacct|admin|None|or-v1|lf|kimi)-[\w-]{16,300}|(?=[a-z-]{0,60}+[A-Z0-9])[A-Za-z0-9]{20,200})",
    ),
    ("stripe", ("sk_", "rk_", "whsec_"), r"(?:(?<![a-z])[sr]k_(?:live|test|prod)_|whsec_)[A-Za-z0-9+/=]{10,250}"),
    (
        "google",
        ("AIza", "ya29.", "GOCSPX-", "1//0"),
        r"(?:(?<![A-Za-z0-9])AIza[\w-]{35}|ya29\.[\w.-]{20,500}|GOCSPX-[\w-]{20,100}|(?<![\w/:])1//0[\w-]{40,120})",
    ),
    ("azure", ("Q~",), r"(?<![\w~.])[\w~.]{3}[0-9]Q~[\w~.-]{31,34}"),
    ("npm", ("npm_",), r"npm_[A-Za-z0-9]{30,50}"),
    ("pypi", ("pypi-",), _APART + r"pypi-[\w-]{30,400}"),
    ("docker", ("dckr_",), r"dckr_(?:pat|oat)_[\w-]{20,100}"),
    ("huggingface", ("hf_", "api_org_"), _APART + r"(?:hf|api_org)_[A-Za-z0-9]{30,40}(?!\w)"),
    ("sendgrid", ("SG.",), _APART + r"SG\.[\w-]{10,64}\.[\w-]{16,64}"),
    ("mailgun", ("key-",), _APART + r"(?:pub)?key-[0-9a-f]{32}(?![0-9a-f])"),
    ("twilio", ("SK",), r"SK(?<![A-Za-z0-9]SK)[0-9a-f]{32}(?![0-9A-Za-z])"),
    ("digitalocean", ("_v1_",), r"do[opr]_v1_[0-9a-f]{30,80}"),
    ("shopify", ("shp",), r"shp[a-z]{2,4}_[A-Za-z0-9]{20,64}"),
    ("databricks", ("dapi",), _APART + r"dapi[0-9a-f]{30,40}(?:-[0-9])?"),
    ("vault", ("hvs.", "hvb.", "hvr."), _APART + r"hv[sbr]\.[\w-]{20,300}"),
    ("grafana", ("glsa_", "glc_"), _APART + r"(?:glsa_\w{20,60}|glc_[A-Za-z0-9+/]{30,400}={0,3})"),
    ("atlassian", ("ATATT3", "ATBB"), r"(?<![\w+/])(?:ATATT3[\w=-]{20,400}|ATBB[A-Za-z0-9]{20,60})"),
    ("linear", ("lin_api_", "lin_oauth_"), r"lin_(?:api|oauth)_[A-Za-z0-9]{20,100}"),
    ("groq", ("gsk_",), _APART + r"gsk_[A-Za-z0-9]{20,100}"),
    ("xai", ("xai-",), _APART + r"xai-[A-Za-z0-9]{20,200}"),
    ("perplexity", ("pplx-",), r"pplx-[A-Za-z0-9]{20,100}"),
    ("replicate", ("r8_",), _APART + r"r8_[A-Za-z0-9]{30,60}"),
    ("newrelic", ("NRAK-", "NRII-", "NRJS-"), r"NR(?:AK|II|JS)-[A-Za-z0-9-]{18,60}"),
    ("sentry", ("sntry",), r"sntry[su]_[\w=+/-]{20,400}"),
    ("rubygems", ("rubygems_",), r"rubygems_[0-9a-f]{40,60}"),
    ("postman", ("PMAK-",), r"PMAK-[0-9a-f]{20,40}-[0-9a-f]{20,50}"),
    ("figma", ("figd_", "figo_"), _APART + r"fig[do]_[\w-]{20,100}"),
    ("age", ("AGE-SECRET-KEY-",), r"AGE-SECRET-KEY-1[0-9A-Z]{50,70}"),
    ("twitch", ("oauth:",), r"(?<![A-Za-z0-9])oauth:[a-z0-9]{30}(?![A-Za-z0-9])"),
    ("telegram", (":AA",), r"(?<![0-9])[0-9]{8,10}:AA[\w-]{28,40}"),
    ("pulumi", ("pul-",), _APART + r"pul-[0-9a-f]{30,50}"),
    ("notion", ("ntn_", "secret_"), _APART + r"(?:ntn_[A-Za-z0-9]{36,60}|secret_[A-Za-z0-9]{43}(?![A-Za-z0-9]))"),
    ("square", ("sq0", "EAAA"), _APART + r"(?:sq0[a-z]{3}-[\w-]{20,60}|EAAA[\w-]{60}(?![\w+/=-]))"),
    ("aiven", ("AVNS_",), _APART + r"AVNS_[\w-]{15,40}"),
    ("facebook", ("EAA",), r"(?<![\w+/])EAA[A-Za-z0-9]{60,400}"),
    ("facebook", ("facebook", "Facebook", "FACEBOOK", "fb_", "FB_", "graph."), r"(?<![0-9])[0-9]{15,16}(?:\||%7C)[\w-]{27,40}(?![\w-])"),
    ("intra42", ("s-s4t2",), r"s-s4t2(?:ud|af)-[0-9a-f]{64}"),
    ("brevo", ("xkeysib-", "xsmtpsib-"), r"x(?:key|smtp)sib-[0-9a-f]{60,70}-[A-Za-z0-9]{10,30}"),
    ("planetscale", ("pscale_",), r"pscale_(?:tkn|oauth|pw)_[\w=.-]{30,70}"),
    ("doppler", ("dp.",), _APART + r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}"),
    ("dynatrace", ("dt0",), r"dt0[a-z][0-9]{2}\.[A-Z0-9]{20,30}\.[A-Z0-9]{60,70}"),
    ("flyio", ("fo1_", "fm1", "fm2_"), _APART + r"(?:fo1_[\w-]{40,50}|fm[12][ar]?_[A-Za-z0-9+/=,]{60,1000})"),
    ("supabase", ("sbp_", "sb_secret_"), _APART + r"(?:sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,60})"),
    ("netlify", ("nfp_", "nfc_"), _APART + r"nf[pc]_[A-Za-z0-9]{30,60}"),
    ("vercel", ("vcp_", "vci_", "vca_", "vcr_", "vck_", "vercel_blob_rw_"), _APART + r"(?:vc[piark]_[A-Za-z0-9]{20,80}|vercel_blob_rw_\w{20,80})"),
    ("cloudflare", ("v1.0-",), r"v1\.0-[0-9a-f]{24}-[0-9a-f]{140,150}"),
    ("terraform", (".atlasv1.",), r"(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{50,80}"),
    ("artifactory", ("AKCp", "cmVmd"), _APART + r"(?:AKCp[A-Za-z0-9]{60,80}|cmVmd[A-Za-z0-9]{55,65})"),
    ("easypost", ("EZAK", "EZTK"), r"(?<![A-Za-z0-9+/])EZ[AT]K[A-Za-z0-9]{40,60}"),
    ("shippo", ("shippo_",), r"shippo_(?:live|test)_[0-9a-fA-F]{40}"),
    ("onepassword", ("ops_eyJ", "A3-"), r"(?:ops_eyJ[A-Za-z0-9+/=_-]{100,2000}|(?<![A-Z0-9])A3-[A-Z0-9]{6}-[A-Z0-9-]{20,40})"),
    ("heroku", ("HRKU-",), r"HRKU-[\w-]{30,80}"),
    ("openshift", ("sha256~",), r"sha256~[\w-]{40,50}"),
    ("prefect", ("pnu_", "pnb_"), _APART + r"pn[ub]_[A-Za-z0-9]{36}"),
    ("readme", ("rdme_",), _APART + r"rdme_[a-z0-9]{60,80}"),
    ("sourcegraph", ("sgp_",), _APART + r"sgp_\w{40,80}"),
    ("typeform", ("tfp_",), _APART + r"tfp_[\w.=-]{40,80}"),
    ("airtable", ("irtable", "AIRTABLE"), r"pat(?<![A-Za-z0-9]pat)[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("frameio", ("fio-u-",), r"fio-u-[\w=-]{60,70}"),
    ("infracost", ("ico-",), r"(?<![\w.-])ico-[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    ("clojars", ("clojars_", "CLOJARS_"), r"(?i:CLOJARS_)[a-z0-9]{60}"),
    ("langchain", ("lsv2_", "ls__"), _APART + r"(?:lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}|ls__[0-9a-f]{32})"),
    ("tailscale", ("tskey-",), r"tskey-[a-z]{3,10}-[\w-]{20,80}"),
    ("buildkite", ("bkua_",), r"bkua_[0-9a-f]{40}"),
    ("sonarqube", ("squ_", "sqp_", "sqa_"), _APART + r"sq[upa]_[0-9a-f]{30,50}"),
    ("okta", ("okta", "Okta", "OKTA"), r"(?<![A-Za-z])(?i:okta[\w.-]{0,30}+[\"' :=]{1,5})(?P<secret>00[\w-]{40})(?![\w-])"),
    ("ringbolt", ("rbt_",), _APART + r"rbt_[\w-]{20,100}"),
    (
        "token",
        ("Resend", "RESEND", "resend", "phx_", "pcsk_", "sk_", "tvly-", "fc-", "rnd_", "napi_", "e2b_", "CFPAT-", "LTAI",
         "ATCTT3", "nvapi-", "tgp_v1_", "pat-na", "pat-eu", "access-prod", "access-sand", "access-dev", "sl.B", "sl.u.",
         "v2.local.", "v4.local.", "wandb_v1_", "SWMTKN-", "CCIPAT_"),
        _ALONE + r"(?:re_[A-Za-z0-9]{6,10}_[A-Za-z0-9]{16,40}|(?:phx|pcsk|rnd|napi|e2b|tgp_v1|wandb_v1|CCIPAT)_[\w-]{20,200}|sk_[0-9a-f]{40,64}"
        r"|(?:tvly|fc|nvapi|CFPAT|SWMTKN)-[\w-]{24,200}|LTAI[A-Za-z0-9]{14,26}|ATCTT3[\w=-]{20,400}|pat-[a-z]{2}[0-9]-[0-9a-f-]{36}"
        r"|access-(?:production|sandbox|development)-[0-9a-f-]{36}|sl\.[\w-]{100,200}|v[1-4]\.local\.[\w.-]{40,2000})",
    ),
    ("token", ("sk.eyJ",), r"sk\.eyJ[\w-]{20,400}\.[\w-]{16,60}"),
    ("token", ("-us1", "-us2"), r"(?<![0-9a-f])[0-9a-f]{32}-us[0-9]{1,2}(?![\w-])"),
    ("jwt", ("eyJ",), _ALONE + r"eyJ[\w-]{8,4000}+\.[\w-]{8,8000}+\.[\w-]{0,2000}+"),
    (
        "private-key",
        ("LS0tLS1CRUdJTi",),
        r"LS0tLS1CRUdJTi(?:BSU0Eg|BQUklWQVRF|BPUEVO|BFQyBQ|BFTkNSWVBURUQg|BEU0Eg|BQR1Ag)[A-Za-z0-9+/=]{20,20000}+",
    ),
    (
        "discord",
        ("discord", "Discord", "DISCORD", ".login(", "bot.run("),
        r"(?<![\w.-])[MNO][A-Za-z0-9]{22,27}\.[\w-]{6}\.[\w-]{25,40}(?![\w.-])",
    ),
    (
        "password-hash",
        ("$1$", "$2a$", "$2b$", "$2x$", "$2y$", "$5$", "$6$", "$y$", "$7$", "$gy$", "$apr1$", "$argon2", "$scrypt$",
         "pbkdf2", "PBKDF2", "{SSHA", "{ssha", "$P$", "$md5$", "bcrypt_sha256", "$s2k$"),
        (
            r"(?:pbkdf2[\w:-]{0,20}\$[0-9]{1,8}\$[\w./+=-]{4,100}\$[\w./+=-]{16,200}"
            r"|\$(?:1|5|6|7|y|gy|apr1|2[abxy]?|argon2(?:id|i|d)|scrypt|P|md5)\$[\w./+=,$-]{16,300}"
            r"|\{(?i:ssha)[0-9]{0,3}\}[\w+/=]{20,200})"
        ),
    ),
)  # fmt: skip

# A private key, whole or cut off; line breaks may be escaped. Without an end it goes as far as its lines look
# like base64.
PRIVATE_KEY = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?:[^-]|-(?!----)){0,20000}+-----END[A-Z0-9 ]{0,60}-----|(?:[\w+/=:., \t\r\n\\-]{0,20000}+))"
)
PUTTY_KEY = r"(?<=Private-Lines: )[0-9]{1,3}\s{1,4}(?:[A-Za-z0-9+/=]{4,80}(?:\s{1,2}|$)){1,200}(?:Private-MAC: [0-9a-f]{20,64})?"

# The private part of a key in JSON.
WEB_KEY = r"\"(?:d|p|q|dp|dq|qi|k)\\?\"[ \t]{0,3}:[ \t]{0,3}\\?\"(?P<secret>[\w-]{20,2000}+)"

# Userinfo of URLs: a password, then a token in the place of a user.
URL_LOGIN = r"(?<=://)([^\s/:@\"'<>`\\]{0,100}+):([^\s/\"'<>`\\]{1,200})@"
URL_SLASHED = r"(?<!http)(?<!https)(?<=://)[^\s/:@\"'<>]{1,60}+:([^\s\"'<>@:]{1,100}+)@"
URL_TOKEN = r"(?<=://)([^\s/:@\"'<>`\\]{16,400}+)@(?!o[0-9]{1,12}\.ingest\.)"  # noqa: S105 - a pattern
# `user:code@host.name` without a scheme, and `cargo login CODE`: only if the code is random.
BARE_LOGIN = r"(?<![\w/:@.+-])[\w.+-]{2,40}+:([^\s:@/\"'<>`\\]{12,100}+)@(?=[\w-]{0,60}[A-Za-z][\w-]{0,60}\.)"
LOGIN_CODE = (
    r"(?i)(?:(?<![\w.-])(?:login|auth|authenticate)[ \t]{1,3}|(?<=\.login)=)([a-z0-9][\w.~+/=-]{19,400}+)"
)
JDBC_LOGIN = (
    r"(?i)(?:jdbc:oracle:\w{1,10}:|sqlplus(?: -[A-Za-z]{1,8})* )['\"]?[\w$#.]{1,40}/([^\s@\"'/]{3,80})(?=@)"
)
# Addresses whose path is the secret.
WEBHOOKS = (
    r"(?:hooks\.slack\.com/(?:services|workflows|triggers)/|discord(?:app)?\.com/api(?:/v[0-9]{1,2})?/webhooks/"
    r"|webhook\.office\.com/webhookb2/|outlook\.office(?:365)?\.com/webhook/|hooks\.zapier\.com/hooks/catch/|hooks\.chime\.aws/incomingwebhooks/"
    r"|maker\.ifttt\.com/trigger/[\w-]{1,60}/with/key/|api\.telegram\.org/(?:file/)?bot"
    r"|logic\.azure\.com(?::443)?/workflows/)(?P<secret>[^\s\"'<>?`|)\]}\\]{16,400}+)"
)
HOOK_HINTS = (
    "hooks.slack",
    "hooks.zapier",
    "hooks.chime",
    "/webhooks/",
    "webhook.office",
    "office.com/webhook",
    "office365.com/webhook",
    "maker.ifttt",
    "telegram.org",
    "logic.azure",
)

# `Authorization: Bearer …` and the like, with or without the header's name.
AUTHORIZATION = (
    r"(?i)(?:(?<![A-Za-z])(?:(?:bearer|basic|negotiate)[ \t,]{1,3}|bearer[\"']?[=:][ ]?)"
    r"|authorization\\{0,3}[\"']?\]?[ \t]{0,3}(?::|=>?|,)[ \t]{0,3}\\{0,3}[\"']?"
    r"(?:[A-Za-z][A-Za-z0-9-]{1,20}(?:[ \t]{1,3}|[ \t]?=[ \t]?))?)"
    r"\\{0,3}[\"']?(?P<secret>[\w+/][\w.~+/:=!@#%^*|-]{7,4000}+)"
)
DIGEST_RESPONSE = r"(?i)(?:digest|hmac|aws4|signature)[^\n]{0,300}?(?:response|signature)=[\"']?(?P<secret>[0-9A-Za-z+/=]{16,200})"
COOKIE_HEADER = r"(?i)(?:set-)?cookie2?\\{0,3}[\"']?[ \t]{0,2}[:=][ \t]{0,2}\\{0,3}[\"']?(?P<cookies>[^\r\n\"\\]{4,4000}+)"
COOKIE_FLAG = r"(?:^|\s)(?:-b|--cookie)[ =]?[\"']?(?P<cookies>[\w.-]{1,60}=[^\r\n\"']{4,4000}+)"
COOKIE = r"(?P<name>[\w.-]{1,80})=(?P<value>[^\s;,\"']{1,4000}+)"

# `host:port:database:user:password`, the lines of a .pgpass.
PGPASS = r"(?m)^[\w.*-]{1,100}:(?:[0-9]{4,5}|\*):[^:\s]{1,63}:[^:\s]{1,63}:(?P<secret>[^\s:]{4,200})[ \t]*$"
# `rabbitmqctl add_user shop CODE`
USER_ADDED = (
    r"(?i)(?:add_?user|create_user|change_password|set_password|sp_addlogin|net user|wpa_passphrase)[ \t]{1,3}[\"']?[\w.@-]{1,60}[\"']?,?"
    r"[ \t]{1,3}[\"']?([^\s\"']{6,100}+)"
)
# `… secret set NAME --body …`, `ssm put-parameter … --value …`: an argument of a command that stores a secret.
STORED_ARGUMENT = r"(?:--(?:value|body|secret-string|secret-value|literal)[ =]|[ \t]-b[ ]?|<<<[ \t]?)[\"']?(?P<secret>[^\s\"']{6,200}+)"
STORING_WORDS = ("secret", "credential", "put-parameter", "variable")
# A password that `expect` types.
EXPECT_SEND = r"assword[^\n]{0,40}[\n;][^\n]{0,20}?send[ \t]{1,3}(?:--[ \t]{1,3})?[\"{](?P<secret>[^\"\\$\s{}]{4,100}+)\\[rn]"
# A passphrase of several words.
SAID_PHRASE = (
    r"(?im)pass ?phrase[^\n:=]{0,30}?(?:[:=]|[ \t]is(?=[ \t]))[ \t\"'`]{1,3}"
    r"(?P<secret>[a-z]{2,12}(?:[ -][a-z]{2,12}){2,9})[\"'`.]{0,2}[ \t]*(?:$|[,;.](?=[ \t]))"
)
# A login in a sentence or a call: `credentials: bob / …`, `auth=("bob", "…")`.
SAID_LOGIN = (
    r"(?i)(?:credentials?|creds|user(?:name)?/pass(?:word)?|logins?|log[ -]in|auth|authenticate|sign_?in|begin|zugang(?:sdaten)?|identifiants?)(?!\w)(?:[^\n:=]{0,24}?(?:[:=]|[ \t](?:is|are|was|ist|sind|as|als|with|mit))"
    r"[ \t]{1,3}[`\"']?[\w.@+-]{2,60}[`\"']?[ \t]{0,2}[/:|]|[ \t]{0,2}=?[ \t]{0,2}[(\[][\"'][\w.@+ -]{2,60}[\"'],)[ \t]{0,2}"
    r"[`\"']?(?P<secret>[^\s\"'`]{6,100}+)"
)
# `log in as bob with …`
LOGIN_AS = (
    r"(?i)(?:log(?:s|ged)?[ -]?in|sign(?:ed)?[ -]?in|authenticated?|connect)[^\n]{0,30}?[ \t](?:as|with|using|user)[ \t]{1,3}"
    r"[`\"']?[\w.@+-]{2,60}[`\"']?,?[ \t]{1,3}(?:with|and|using|mit|et)[ \t]{1,3}[`\"']?(?P<secret>[^\s\"'`]{5,100}[^\s\"'`.,;:)])"
)
# `bob / …` in a line that is about logging in, and `admin:…`.
LOGIN_PAIR = (
    r"(?<![^\s\"'`(:])[\w.@+-]{2,60}[`\"']?[ \t]/[ \t][`\"']?(?P<secret>[^\s\"'`]{5,100}[^\s\"'`.,;:*)])"
)
LOGIN_WORDS = ("log in", "login", "log-in", "sign in", "signin", "credential", "creds", "wifi", "wi-fi", "wlan", "ssid", "vpn",
               "account", "zugang", "identifiant", "admin", "root")  # fmt: skip
# `bob@acme.io:…`, `bob@acme.io / …`, `bob@acme.io (…)`
MAIL_PAIR = r"(?<![\w.+-])[\w.+-]{1,60}@[\w-]{1,60}\.[\w.-]{2,40}+[\"'`]?(?::|[ ]?[/|\u2013\u2014-][ ]|[ ]\()[\"'`]?(?P<secret>[^\s\"'`/<>]{5,100}[^\s\"'`/<>.,;:*)])"
DSN_LOGIN = r"(?<![\w/:@.+-])[\w.+-]{2,40}+:([^\s:@/\"'<>`\\]{6,100}+)@(?:(?:tcp|unix|udp)\(|(?=[0-9]{1,3}(?:\.[0-9]{1,3}){3}))"
ADMIN_PAIR = r"(?<![\w/:@.-])(?:admin|administrator|root|sa|postgres|deploy|superuser)(?::|/(?=[^\s/]{0,40}[!#$%^&*?]))(?P<secret>[^\s\"'`]{6,100}+)"
SEED_PHRASE = (
    r"(?i)(?:mnemonic|(?:seed|recovery|wallet|backup|secret)[ _-]?(?:phrase|words))[\"']?(?:[ \t]{0,2}[:=]|[ \t](?:is|are))[ \t\"']{0,4}"
    r"(?P<secret>(?:[a-z]{3,8}[ ,]{1,2}){11,24}[a-z]{3,8})"
)
SESSION_COOKIE = (
    r"(?i)(?:phpsessid|jsessionid|asp\.net_sessionid|_gitlab_session|user_session|laravel_session|connect\.sid|sessionid)"
    r"=(?P<secret>[\w%.+/-]{12,400}+)"
)
# `echo … | sudo -S`: what is piped into a program that reads a password.
PIPED = (
    r"(?:echo|printf|yes)[ \t]{1,3}(?:-[neE]{1,2}[ \t]{1,3})?(?P<quote>[\"']?)(?:%s(?:\\n)?[\"']?[ \t]{1,3}[\"']?)?"
    r"(?P<secret>[^\s\"'`|]{4,200}+)[\"']?[ \t]{0,3}\|[ \t]{0,3}(?=[^\n|]{0,120}(?:sudo[ \t]{1,3}[^\n|]{0,20}-S|stdin|with-token|chpasswd|passwd|passphrase|password|PASSWORD|cryptsetup|unlock|kinit"
    r"|secrets? (?:create|set|put|add)|secret:set|secrets? versions|env add \w{0,40}(?:TOKEN|KEY|SECRET)))"
)

# Arguments of programs that hold a password: each flag with the programs that it belongs to. How the value
# follows: `attached` (-pX), `apart` (-p X), `either`, or after a separator inside it (`user:X`).
PROGRAM_FLAGS = r"(?<=[ \t\n\"',])(?:(-[aANpPuUwkHX]|--user|--proxy-user|--passin|-pass(?:in|out)?|/p:|/pass:)(?:[\"'],)?([ \t=]{0,3}))(?=[^\s-]|-\S)"
FLAG_PROGRAMS: dict[str, tuple[tuple[str, str], ...]] = {
    "-p": (
        ("mysql", "attached"), ("mariadb", "attached"), ("7z", "attached"), ("rar", "attached"),
        ("sshpass", "either"), ("login", "either"), ("mongo", "apart"), ("psexec", "apart"), ("smbmap", "apart"),
        ("crackmapexec", "apart"), ("evil-winrm", "apart"), ("rdesktop", "apart"), ("influx", "apart"),
        ("wp-cli", "apart"), ("cqlsh", "apart"), ("useradd", "apart"), ("usermod", "apart"), ("twine", "apart"),
        ("security", "apart"), ("az", "apart"),
    ),
    "-P": (
        ("zip", "either"), ("sqlcmd", "either"), ("bcp", "either"), ("osql", "either"), ("mosquitto", "apart"),
        ("ipmitool", "apart"), ("security", "apart"),
    ),
    "-N": (("ssh-keygen", "apart"),),
    "-a": (("redis-cli", "apart"), ("http", ":"), ("https", ":"), ("keydb-cli", "apart"), ("valkey-cli", "apart")),
    "-A": (("snmp", "apart"),),
    "-X": (("snmp", "apart"),),
    "-u": (("curl", ":"), ("ftp", ","), ("wget", ":"), ("xh", ":")),
    "-U": (("smbclient", "%"), ("rpcclient", "%"), ("curl", ":"), ("net", "%"), ("smbget", "%")),
    "--user": (("curl", ":"), ("smbclient", "%"), ("lftp", ",")),
    "--proxy-user": (("curl", ":"),),
    "-w": (("ldap", "apart"), ("cqlsh", "apart")),
    "-k": (("openssl", "apart"), ("nuget", "apart")),
    "-pass": (("openssl", "pass:"),),
    "-passin": (("openssl", "pass:"),),
    "-passout": (("openssl", "pass:"),),
    "/p:": (("freerdp", "attached"), ("mstsc", "attached"), ("cmdkey", "attached")),
    "/pass:": (("cmdkey", "attached"),),
}  # fmt: skip
FLAG_HINTS = (
    "mysql", "mariadb", "7z", "rar ", "sshpass", "login", "mongo", "psexec", "smb", "crackmap", "useradd", "usermod", "winrm", "rdesktop",
    "influx", "zip ", "sqlcmd", "bcp ", "osql", "mosquitto", "ipmitool", "-cli", "http ", "snmp", "curl", "ftp",
    "keygen", "twine", "security", "az ", "nuget", "wget", "rpcclient", "ldap", "openssl", "freerdp", "cmdkey", "cqlsh", "net ",
)  # fmt: skip
# The rest of a command after its user, and the arguments there.
USER_ARGUMENT = r"(?<=[ \t])(?:-u[ \t]|--user(?:name)?[ =]|/u(?:ser)?:)[^\n|;&]{4,300}+"
# A command that logs in or stores credentials.
LOGIN_COMMAND = (
    r"(?<=[ \t])(?:alias set|login|auth|configure|(?:add-)?credentials?)(?=[ \t])[^\n|;&]{20,400}+"
)
ARGUMENT = r"(?<=[ \t])(?:-[A-Za-z]|/\w{1,8}:|--?[a-z-]{2,30}=)?[\"']?(?P<secret>(?<![ \t]-)[^\s\"'-][^\s\"']{7,80}+)[\"']?"
# `kinit bob <<< "…"`: a here-string for a program that reads a password.
HERE_STRING = r"(?:kinit|passwd|sudo[ \t]{1,3}-S|cryptsetup|login|stdin|with-token|--batch|pass insert)[^\n<]{0,120}<<<[ \t]{0,3}[\"']?(?P<secret>[^\s\"']{4,200}+)"
# A call with an address, a user and a password: `connect("mysql:host=db1", "app", "…")`.
LOGIN_CALL = (
    r"(?i)(?:connect|connection|pdo|authenticate|log_?[io]n|bind|auth|credentials?|create_?(?:super_?)?user)\w{0,20}\("
    r"(?:(?:[\"'][^\"'\n]{1,100}[\"']|[\w.]{1,40}),[ ]?){1,3}[\"'](?P<secret>[^\s\"']{6,100}+)[\"']"
)
# In a command that prints a secret in its next line.
READING_WORDS = (" get", ":get", " read", " show", " reveal", " print", " fetch", "-field")
HASHING_HINTS = (
    "securestring", "setpass", "set_pass", "hashpass", "hash_pass", "checkpass", "check_pass", "verifypass", "verify_pass",
    "encodepass", "encryptpass", "hashpw", "password_hash", "password_verify", "bcrypt.", "hash::make", "encoder.",
    "encrypt_string", "--plaintext",
)  # fmt: skip
# Functions whose argument is a password.
HASHING_CALL = (
    r"(?i)(?:convertto-securestring(?:[ \t]{1,3}-string)?|(?:set|hash|check|verify|encode|encrypt)_?pass(?:word|wd)|hashpw"
    r"|password_(?:hash|verify)|bcrypt\.\w{4,20}|hash::make|password_?encoder\.\w{4,12}|encrypt_string|--plaintext)"
    r"[ \t]{0,3}\(?[ \t]{0,3}[bN]?[\"'](?P<secret>[^\s\"']{6,200}+)[\"']"
)
# A call whose argument is a key.
KEY_CALL = (
    r"(?i)(?:fernet|aesgcm|aes\.new|hmac\.new|createhmac|cookieparser|jwt\.(?:sign|verify|encode|decode))\((?:[\w.]{1,40},[ ]?|\{[^{}\n]{0,80}\},[ ]?|[\"'][\w-]{1,12}[\"'],[ ]?)?"
    r"b?[\"'](?P<secret>[^\s\"']{8,200}+)[\"']"
)
# `Client("…")`, `search("ID", "…")`
CLIENT_CALL = (
    r"(?:[cC]lient|[sS]earch|init)\((?:[\"'][\w-]{1,40}[\"'],[ ]?)?[\"'](?P<secret>[A-Za-z0-9]{28,100}+)[\"']"
)
WIFI_CODE = r"WIFI:[^\n]{0,80}?P:(?P<secret>[^;\s]{4,63})"
ACL_USER = r"(?i)user [\w-]{1,40} [^\n>]{0,60}>(?P<secret>[^\s]{6,100}+)"
# `U: bob P: …`
USER_P = r"(?i)(?<![a-z])u(?:ser)?[:=][ ]?[\w.@-]{2,40}[\s,;|/]{1,3}p(?:w|wd|ass)?[:=][ ]?(?P<secret>[^\s\"'`]{5,100}+)"
ANNOUNCERS = ("token", "key", "secret", "password", "passphrase", "credential")
HEX_KEY = (
    r"(?i)(?:wallet|private|accounts?|deployer|signer|pk)[^\n]{0,40}?(?P<secret>0x[0-9a-f]{64})(?![0-9a-f])"
)
# What a test types into a field: `getByLabel("Password").fill("…")`, `fill_in "Password", with: "…"`.
TYPED = (
    r"(?i)(?:passw|pwd)[^\n]{0,40}?(?:\.(?:fill|type|send_?keys|set_?value|set|val|press_?sequentially|input)\(|,? with:?)[ ]{0,2}"
    r"[\"'](?P<secret>[^\s\"']{4,100}+)[\"']"
)
# What a command that prints a secret printed, alone on the line after it.
PRINTED = (
    r"(?im)^[^\n]{0,60}?[$] (?=[^\n]{0,300}(?:passw|secret|token|api[._-]?key|credential|\.key|private|psk|passphrase|openssl rand|pwgen|pass show|master))"
    r"(?![^\n]{0,300}(?:git (?!credential)|grep|rg |ls |find |sum\b|digest|fingerprint|which |stat |wc |--help| -h\b))"
    r"[^\n]{3,300}\r?\n[\"']?(?P<secret>[^\s\"']{8,2000}+)[\"']?[ \t]*$"
)
# The same after a sentence: `Copy this token now:`
ANNOUNCED = (
    r"(?im)(?:token|api[ -]?key|secret|password|passphrase|access key|credential)s?(?![\w-])[^\n]{0,120}[:.!]\*{0,2}[ \t]*\n[ \t]*\n?[ \t>]{0,8}"
    r"[\"'`]?(?P<secret>[^\s\"'`]{12,500}+)[\"'`]?[ \t]*$"
)
# The values of a manifest of Kubernetes that holds secrets.
MANIFEST_VALUES = r"(?m)^([ \t]{0,12})(?:string)?[dD]ata:[ \t]*\n((?:\1[ \t]{1,8}[\w.-]{1,80}:[ \t]{1,3}[^\n]{1,4000}+\n?){1,60}+)"
MANIFEST_VALUE = r"(?m)^[ \t]{1,20}(?!(?:[\w.-]{0,40}[_.-])?(?:user|username|host|port|name|email|url|type):)[\w.-]{1,80}:[ \t]{1,3}[\"']?(?P<secret>[^\s\"'|>{<][^\n\"']{3,4000}+)"
# The code in the path of a link that signs somebody in.
LINK_CODE = r"(?i)/(?:magic(?:-?link)?|(?:password-?)?reset(?:[/-]password)?|invite|invitations?|verify|activate|confirm|accept)/(?P<secret>[\w-]{20,300}+)"
HTPASSWD = r"htpasswd[ \t]{1,3}-[A-Za-z]{0,6}b[A-Za-z]{0,6}[ \t]{1,3}(?:-[A-Za-z]{1,6}[ \t]{1,3}){0,3}(?:[^\s-]\S{0,200}[ \t]{1,3}){1,2}?(?P<secret>[^\s\"'$]{4,200}+)(?=[ \t]*(?:$|[\n\"';&|]))"

# --- names and values -------------------------------------------------------------------------------

# Where no spaces stand between words.
IDEOGRAPHS = "\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7af\uff00-\uffef"
# What the name of a secret contains, as it is searched for; in longer words only after a separator or a
# change of case (`_named` in redaction looks).
NAME_STEMS = (
    r"pass(?:w(?:or[dt]|d)|phrase|code)?|pwd|pw|kennwort|mot[ _-]de[ _-]passe|motdepasse|contrase[nñ]a|(?<![a-z])clave|senha|wachtwoord"
    r"|l[öo]senord|adgangskode|salasana|has[łl]o|heslo|jelsz[óo]|parola|[şs]ifre|пароль|密[码碼]|口令|パスワード|비밀번호"
    r"|secret|token|api[ ]?key|key|credential|creds?|auth|psk|sig(?:nature)?|schlüssel|geheimnis|pepper|appid|salt"
    r"|jeton|cl[ée](?: d'| )?api|identified(?: with \w{1,40})? by|令牌|密[钥鑰]|токен|トークン|jwt|pat(?![A-Za-z])"
)
FILE_LINE = r"[\w.-]{0,40}\.[a-z]{1,6}:[0-9]{1,6}[:\s]"
TELLING_STEM = r"(?i)passw|secret|token|cred|api|key|jwt"
# The same in lower case and without what follows: a quick search finds these first.
NAME_BEGINS = (
    r"pass|pwd|pw|kennwort|mot[ _-]?de|contrase|clave|senha|wachtwoord|secret|token|api[ ]?key|key|cred|auth|psk|sig|pepper|appid|salt|schlüssel"
    r"|geheimnis|jeton|cl[ée]|identified|l[öo]senord|adgangskode|salasana|has[łl]o|heslo|jelsz|parola|[şs]ifre|пароль"
    r"|密[码碼钥鑰]|口令|令牌|パスワード|トークン|비밀번호|токен|jwt|pat(?![a-z])"
)
NAME_HINTS = (
    "pass", "pwd", "pw=", "pw:", "pw\"", "pw ", "kennwort", "contrase", "clave", "senha", "wachtwoord", "secret", "token", "key",
    "cred", "auth", "psk", "salt", "pepper", "appid=", "sig=", "signature", "schlüssel", "geheimnis", "jeton", "clé", "cle api", "identified",
    "senord", "adgangskode", "salasana", "haslo", "hasło", "heslo", "jelsz", "parola", "ifre", "пароль", "密", "口令", "令牌",
    "パスワード", "トークン", "비밀번호", "токен", "jwt", "pat=", "_pat:", "_pat ", "_pat\"",
)  # fmt: skip
# Between a name and its value in a sentence.
DESCRIBING_WORDS = frozenset(  # `token id`, `key fingerprint`: what follows is no secret
    "id ids name file path hash hashes digest fingerprint accessor hint policy type length version prefix".split()
)
COPULAS = frozenset(
    "is was are ist war lautet lauten est sera es era será é é: to as auf als à are: is: était sarà è jest on"
    " from actually currently still just simply übrigens aktuell derzeit noch it it's to: now jetzt wie como comme : = является это".split()
)
IDEOGRAPHIC_COPULAS = ("是", "为", "為", "は", "：", "が", "改成", "叫", "는", "은")
# Fields that hold the value of what another field names: `variable "db_password" { default = "…" }`.
NEUTRAL_NAMES = frozenset(
    "value default content text data string plaintext parametervalue secretstring val".split()
)
# Lines of a table, and what separates its cells.
ROW = r"[^\n]{3,400}+"
# `VALUES` begins a row of its own.
SQL_ROW = r"(?i)(?:[^\n)]|\)(?![ \t]{0,3}values)){3,400}+|\)[ \t]{0,3}values[^\n]{1,400}+"
CODE_LETTERS = r"[\w+/=.~:%-]+$"
COLUMN = r"[\w-]{2,40}(?: [\w-]{2,20}){0,2}$"
ALIGNED = "  "  # columns of a table without lines
# A header of such a table has no type, and three columns at least.
ALIGNED_HEADER = r"[ \t]*(?:[A-Za-z][\w-]*(?: [A-Za-z][\w-]*){0,2}(?:[ ]{2,}|$)){3,12}$"
MANIFEST_KIND = r"(?m)^[ \t]*kind: Secret[ \t]*$"
ALIGNED_CELL = r"[^ \t]+(?: [^ \t]+){0,8}"
ROW_EDGES = ("|", "│", "\t", ",", ";", ALIGNED)
# With letters and digits, and yet no password: a path, a file, an address, a version, a date, an amount, a term.
ORDINARY = (
    r"(?i)(?:[/~.@#$<>{(\[-]|\w+://|[\w.+-]+@[\w-]+\.|\S*\.(?-i:[a-z]{1,8})(?::[0-9]+)*$|[\w.-]+@[\w-]+[:~]|v?[0-9]+\.[0-9]|[0-9][0-9.,:/TZtz+-]*(?-i:[a-z%-]{0,12})$"
    r"|[\w.-]+\(|[\w-]+(?:\.[\w-]+)*:[0-9]+$|0x[0-9a-f]+$"
    r"|(?:base|sha-?|md|utf-?|oauth|auth|argon|pbkdf|ed|ecdsa|x|s|k|i|l|v|p|ec|rs|hs|es|ps|aes-?|rsa-?|http/?|ipv|python|py"
    r"|win|secp|curve|crc|node|java|php|ctrl\+|f|mp|h|sql|log4j|web|step|phase|line|chapter|table|issue|pr|user|test|room"
    r"|version|rfc-?|iso-?|level|tier|stage|part|page|utf)[0-9]+(?:$|[^\w!#$%^&*~+?@][\w/-]*$|[a-z]{1,6}$)|(?-i:[a-z_]{2,20})=[^=]|[0-9]{3,4}_[a-z]|b64|!\[|[a-z][\w-]*(?:\.[a-z][\w-]*)+/\w|\w+:[\"']|\S{0,40}</)"
)
# The name's last word decides; these come after it and change nothing.
NAME_TAILS = frozenset(
    "value base data string str b64 base64 dev prod production test testing live old new default staging local main"
    " raw plain text plaintext cleartext current one two secure hash hashed encoded encrypted override".split()
)
PASSWORD_WORDS = frozenset(
    "pass pw psk requirepass masterauth senha clave contrasena storepass keypass dbpass userpass rootpw adminpw rootpass adminpass smtppass mailpass ftppass".split()
)
# Written as one word: `PGPASSWORD`, `authtoken`, `accesskey`.
PASSWORD_ENDS = ("password", "passwords", "passwd", "storepass", "keypass", "passphrase", "passcode", "passwort", "pwd", "kennwort",
                 "motdepasse", "contraseña", "wachtwoord", "lösenord", "losenord", "adgangskode", "salasana", "hasło",
                 "haslo", "heslo", "jelszó", "jelszo", "parola", "şifre", "sifre", "пароль", "密码", "密碼", "口令", "パスワード",
                 "비밀번호")  # fmt: skip
TOKEN_ENDS = ("geheimnis", "jeton", "令牌", "密钥", "密鑰", "токен", "トークン")
SECRET_WORDS = frozenset("credential credentials cred creds otp".split())
SECRET_ENDS = ("apikey", "privkey", "accesskey", "secretkey", "privatekey", "authkey", "accountkey", "masterkey", "signingkey",
               "encryptionkey", "presharedkey", "licensekey")  # fmt: skip
# With `key` after one of these it is a secret …
KEY_WORDS = frozenset(
    "api access secret private priv auth account signing sign encryption encrypt crypto cipher master session shared"
    " storage service client consumer app application admin license licence webhook deploy symmetric aes hmac"
    " preshared subscription server root write functions jwt cookie cookies bot merchant developer dev integration"
    " security token authorization".split()
)
CHOSEN_KEY_WORDS = frozenset(
    "secret master signing encryption session jwt cookie app shared preshared wifi wlan wpa vpn network".split()
)
# … and after one of these it is not, whatever its value.
PLAIN_KEY_WORDS = frozenset(
    "public pub primary foreign cache sort partition idempotency hot row object registry host map dict lookup group"
    " unique composite range natural candidate surrogate routing translation locale json config dedup build job event"
    " state file record search index feature query react list answer short arrow function modifier document message"
    " site publishable recaptcha anon s3 redis log dictionary attribute property field column ordering grouping join"
    " correlation turn storagestate commit content asset etag stable item entry node kms any press no rsa dsa ecdsa eddsa ed25519 gpg pgp openpgp".split()
)
# A name that ends in one of these describes a secret and holds none.
HARMLESS_WORDS = frozenset(
    "file files path paths name names count limit limits type types url uri urls id ids field fields length policy ttl"
    " budget expiry expires expire expiration expired env var variable header headers len size index usage used total"
    " max min per version arn ref refs reference minutes seconds hours days label placeholder prompt hint required"
    " enabled disabled regex pattern format provider manager mgr store service class endpoint host port prefix suffix"
    " status state role roles scope scopes user username mode method methods kind algorithm alg charset help title"
    " description message error errors page policies rotation strength rules rule check checks validator input output"
    " form view template screen button reset change changed cost price counts ring chain pair pairs"
    " bits exchange agreement stretching derivation iterations rounds stdin source target info log logs level handler"
    " middleware func function callback module parser lexer lookup table column row server servers issuer audience"
    " set get reader writer cache tokens secrets keys ref references namespace domain location bucket attempts age"
    " required optional visible hidden shown needed only management vault engine backend by at on in of for to"
    " address email timeout interval delay date time period link history lock locked strategy prompted protected based less free strategy flow grant granted create created update updated"
    " delete deleted revoke revoked generate generated rate rates ratio window fn cb hook hooks".split()
)
# What comes before `token` when no credential is meant.
PLAIN_TOKEN_WORDS = frozenset(
    "public publishable next page continuation cursor pagination sync max min num total unexpected invalid per prompt completion input"
    " output context stop eos bos pad unk mask special cancellation lexer cls sep start end last first current image"
    " syntax parse parsed grammar n line word separator delimiter unknown expected nextpage"
    " cached reasoning thinking budget text string number keyword operator identifier comment".split()
)

# A value that is not a secret, whatever its name: a placeholder, a variable, a template, a type or a word.
PLACEHOLDER = (
    r"(?i)(?:[<`|&]|\$[\w{(]|%\w+%|\{\{?|\[|\(|#\{|:?\*{2,}|\.{2,}|\.[*+]|\\[SWDswd]|…|=|x{3,}\S{0,40}$|0{4,}$|-+$|_+$|\?+$|\\[\"']?$"
    r"|(?:your|my|the|some|any|an?|new|old|enter|insert|put|replace|fake|dummy|sample|example|test|demo|bad|wrong|invalid"
    r"|valid|mock|foo|bar|default|placeholder|temp)?[-_ ]?"
    r"(?:api|access|secret|auth|db|user|admin|root|real|strong|super|own|actual|private|personal|github|openai|aws)?[-_ ]?"
    r"(?:password|passwd|passphrase|passwort|pass|pwd|secret|token|key|keys|credentials?|value|string|here|goes)?"
    r"(?:[-_ ]?(?:here|goes[-_ ]here|value|string|goes|name|placeholder|example))?$"
    r"|your[-_ ]|insert[-_ ]|replace[-_ ]|change[-_]?(?:me|it|this)|todo\b|tbd\b|n/?a$|placeholder|redacted|removed|omitted"
    r"|(?:none|null|nil|true|false|undefined|unset|empty|optional|required|hidden|string|str|text|bytes|int|integer|number"
    r"|bool|boolean|any|object|void|unknown|never|varchar\w{0,10}|char|float|double|symbol|function|async|await|new|return"
    r"|not|is|and|or|if|in|for|lambda|default|disabled|enabled|include|omit|same-origin|basic|bearer|oauth2?|digest|jwt"
    r"|incorrect|invalid|missing|wrong|expired|valid|accepted|rejected|changed|updated|reset|failed|ok|yes|no|on|off)"
    r"(?:$|[\s|;,.)\]}?=\[:])"
    r"|(?:os|process|self|this|config|settings|args|request|req|env|cfg|ctx|opts|options|props|params|secrets|vars|var|local"
    r"|module|event|data|user|form|state|credentials|creds|app|conf|client|session|response|res|result|kwargs|environ"
    r"|import\.meta|Deno|System|Environment|ENV|builder|context|input|output|node|item)(?:\.|\[|->|::|\?\.)[A-Za-z_\"'\[]"
    r"|(?:sha(?:1|224|256|384|512)|md5)[:-]|arn:|https?://[^\s@?]{0,300}$|op://|vault:|ssm:|ref\+|file://|ssh-(?:rsa|ed25519)"
    r"|-----BEGIN (?:PUBLIC|CERT)|[\"'] ?\+|!(?:vault|ref|secret|sub|getatt|env|var)|enc\[|urn:|--|%[sdvq]$|this\.#)"
)
# The same anywhere in a value: `r}=e.parse(String(t.path));t.path=…`.
CODE_WITHIN = r"[\w)\]]\.[A-Za-z_]\w*\(|=>|\)\.[a-z]|[)\]}]=|\w\([\w.]*\)|\?\w+\.\w+"
# No value of a secret, even in quotes: a version, a regular expression, a format.
NO_VALUE = r"[*&][A-Za-z_]\w*\.\w+|v?[0-9]{1,3}(?:\.[0-9]{1,4}){1,3}$|(?=[^\s]{0,200}(?:\[(?:A-Z|a-z|[0-9]-[0-9]|\^)|\(\?[:=!<]|\)s))\S"
# Code: a call, an index, an attribute, a generic type, a template.
CODE = (
    r"(?:(?:await |new |not |&|\*)?[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)*(?:\(|(?:\?\.)?\[(?=[A-Za-z_\"'0-9\[\]:$@]|$)|\{\w*$|<[A-Za-z])"
    r"|[&*][A-Za-z_]\w*(?:\.\w+)+$|[\\A-Za-z_]\w{0,30}(?:\\\w{1,30}){0,6}::\w|[a-z_]\w*(?:[!?]?\.[A-Za-z_]\w*){2,8}!?$|(?:[a-z]+[A-Z_]\w*[!?]?\.[A-Za-z_]\w*|[a-z]\w*[!?]?\.[A-Za-z]\w*(?-i:[a-z][A-Z]|_|assword|oken)\w*)$"
    r"|[A-Za-z_]+(?:(?:\.|::|->)[A-Za-z_]+){1,6}[?!]?$|[A-Z][a-z]+(?:[A-Z][a-z]+)+\??$|[A-Z]{2,}[A-Z0-9]*(?:_[A-Z0-9]+)+$|[\w.$\[\]]+(?:&&|\|\||=>|=!|,\w+&&)|f[\"']|r[\"']|b[\"']\W|\w*\{\w+\})"
)
# Words that a sentence about passwords has, and a passphrase has not.
SENTENCE_WORDS = frozenset(
    "the a an is are be must should may can cannot not your you to for of in at least and or with has have was will this"
    " that it too password passwords token secret key required invalid characters please enter der die das ist und nicht"
    " muss le la les est de un une el es by from into on if when while during before after only also no none never always"
    " requires needs option flag argument parameter via instead now then so as but we i he they its their set using used user".split()
)
# Words of terms joined by hyphens, such as `must-be-changed`, `new-user-password`, `base-url-path`.
TERM_WORDS = frozenset(
    "new old current reset change changed field input text type name file path url key value data base end one case"
    " time user users login auth hash hashed policy strength form label test tests config default example your our my"
    " secret secrets token credential credentials admin db database app env service client server api http https www"
    " com org net html json yaml page list item read write only set get has two three plain same origin include up"
    " down left right manager managers store provider min max length store access account random generated required"
    " optional encrypted decrypted stored cluster local global prod production staging dev stage demo main latest".split()
)
_CODE = r"(?:[0-9]{4,8}(?![\w-])|(?=[a-z-]{0,10}[0-9])[a-z0-9]{4,10}(?:-[a-z0-9]{3,10}){1,4})"
# A short code that a person types, named in words: a PIN, a verification code, a list of recovery codes.
SAID_CODE = (
    r"(?i)(?<![a-z])(?:pin(?:[ -]?(?:code|number))?|(?-i:OTP|TAN|TOTP)|(?:verification|security|recovery|backup|login|otp|2fa|mfa|one-time|sms|tan)[ -]?(?:codes?|pins?))"
    r"(?:[ \t][\w(),'-]{1,16}){0,8}?(?:[ \t]{0,2}[:=]|[ \t](?:is|are|was|lautet|ist|est|es)(?=[ \t])|(?= [0-9]{6}(?![\w.%:/-])))[ \t\"'`\r\n*\u2022-]{1,8}"
    rf"(?P<secret>{_CODE}(?:[\s,*\u2022-]{{1,6}}(?:[0-9]{{1,2}}[.)][ ])?{_CODE}){{0,20}}+)(?![\w.%:/-])"
)
CODE_WORDS = (
    "pin",
    "verification",
    "security",
    "recovery",
    "backup",
    "login",
    "otp",
    "2fa",
    "mfa",
    "one-time",
    "sms",
    "tan",
)
# A seed for one-time passwords in groups of four.
OTP_SEED = (
    r"(?i)(?:2fa|totp|otp|mfa|authenticator)(?:[ _-][a-z]{1,12}){0,2}?[ _-]{0,2}(?:key|secret|seed|code)[\"']?(?:[ \t]is)?[ \t:=\"']{1,4}"
    r"(?P<secret>(?-i:(?:[A-Z2-7]{4}[ -]){3,15}[A-Z2-7]{2,4}))(?![A-Za-z0-9])"
)
# Calls that wrap a value without changing what it is: `SecretStr("…")`, `Buffer.from("…", "hex")`.
WRAPPERS = frozenset(
    "from fromhex decode decodestring b64decode base64decode unhexlify atob frombase64string frombase64 hex2bin bytes str"
    " string secretstr secret secretbytes securestring sensitive some pointer to_string getbytes encode value".split()
)
COPULAS_BEFORE = (
    " as ",
    " is ",
    " was ",
    " als ",
    " ist ",
    " war ",
    " comme ",
    " est ",
    " como ",
    " es ",
    " come ",
    " è ",
)
# The value before its name: `use … as the password`, `… ist das Passwort`.
NAMED_AFTERWARDS = r"(?i)(?<![^\s\"'`])(?P<secret>[^\s\"'`]{6,100}+)[\"'`]?[ \t]{1,2}(?:as|is|was|als|ist|war|comme|est|como|es|come|è)[ \t]{1,2}(?:[\w']{1,12}[ \t]{1,2}){0,3}$"


# --- the shapes of fields ------------------------------------------------------------------------------

# A name and the closest ways to bind a value to it: `password=`, `"apiKey": "`, `pw: String = "`,
# `<password>`, `--token `. The end of the name is possessive (`+`): the separator cannot be part of a name.
NAMED = (
    rf"(?i)(?P<stem>{NAME_STEMS})(?P<rest>(?<![{IDEOGRAPHS}])[\w.-]{{0,40}}+|)"
    r"(?:"
    r"(?P<open>\\{0,3}[\"'`]?\]?\)?|\*{1,2}(?=:))[ \t]{0,8}"
    r"(?P<sign>:[ \t]{0,3}[A-Za-z&*][\w&<>\[\]|?.]{0,40}[ \t]{0,3}=(?![=>])"
    r"|=>|:=|\+=|={1,3}|!==?|:(?:\*{1,2}(?=[ \t]))?|%3[DAda]|\\u003[dD]|(?P<loose>\.{3,100}+|(?<=[ \t])[-\u2013\u2014](?=[ \t])))"
    r"[ \t]{0,8}(?:!!(?:str|binary)[ \t]{1,3})?"
    r"(?P<block>[|>][+-]?[ \t]*\r?\n[ \t]{1,40}|\\?\n[ \t]{1,40}(?=[^\s:=]{8,500}\s*$))?(?:\[\]byte\()?"
    r"|(?P<close>[\"']?[ \t]{0,2}>\s{0,40})(?=[^<>\s]{4,500}+\s{0,40}</)"
    r"|(?P<gap>[ \t]{1,40}+(?:\\\n[ \t]{0,20})?)"
    r"|(?P<other>)"
    r")(?:[NbBu](?=[\"']))?(?P<quote>(?:\\{0,3}[\"'`]|&quot;|%22)?)"
)
# What follows a name whose value is not bound to it as closely, piece by piece.
PIECE = (
    r"(?P<line>\r?\n|\\r?\\n)"
    r"|(?<!\w)\\{0,3}[\"'`](?P<quoted>[^\"'`\n\\]{1,300}+)\\{0,3}[\"'`]"
    r"|(?P<sign>:=|=>|->|→|=|[:：](?![^\s\"'\\]))"
    r"|(?P<edge>[,;(){}\[\]<>|│])"
    rf"|(?P<word>[^\s\"'`=,;(){{}}<>|│\\{IDEOGRAPHS}]{{1,300}}+)"
    rf"|(?P<ideographs>[{IDEOGRAPHS}]{{1,40}}+)"
)
# `password (again): …`, `Secret Access Key [None]: …`
QUALIFIER = r"(?:[ \t]?\([^()\n:=\"']{1,40}\)|[ \t]\[[^\[\]\n:=\"']{1,20}\])"
# The same names with anything after a sign: what is used once a text has too many places to look at each.
COARSE = (
    rf"(?i)((?:{NAME_STEMS})[\w.-]{{0,40}}+\\{{0,3}}[\"'`]?\]?[ \t]{{0,2}}[=:][ \t]{{0,2}}"
    r"\\{0,3}[\"'`]?)"
    r"[^\s\"'`]{4,600}+"
)
# `<private>`, `</private>`, `<private/>`: in a JSON text, `<` and line breaks may be escaped. `<private key>`
# is a placeholder, not a tag.
PRIVATE_TAG = (
    r"(?i)(?:<|\\u003c) ?(?P<closes>/?) ?private"
    r"(?:(?:\s|\\[nrt]){1,10}[\w-]{1,40}=\\?[\"']?[^\s\"'<>]{0,80}\\?[\"']?){0,4}"
    r"(?:\s|\\[nrt]){0,10}(?P<empty>/?)(?:>|\\u003e)"
)
WORD = r"[A-Z]+(?![a-z])|[A-ZÀ-Þ]?[a-zß-ž]+|[0-9]+|[^\W\d_a-zA-ZÀ-ž]+"
PART = r"[^\W_]+"
DIGEST_WORDS = ("commit", "hash", "digest", "revision", "checksum", "sha1", "sha256", "md5", "etag")
HEX = r"[0-9A-Fa-f-]+$"
IDENTIFIER = r"[\w.:/%-]+$"
LETTERS = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+"
# The pairs of letters that make up 94 % of the words in texts about programs: each letter with those that follow it.
LETTER_PAIRS = frozenset(
    first + second
    for first, *others in (
        "abcdgilmnprstuv baeloru caehklmortu daeio eacdefglmnprstvwx faeioru geiorsy haeio iacdefglmnoprstv jes keips"
        " ladeilostuy madeimopu nacdefgiostuv ocdfgiklmnoprstuvw padeloprtu qu raceikmnorstuy sacehikopstu taehiorstuy"
        " uabcdeglmnprst vaei waehior xipt yps"
    ).split()
    for second in others
)
UNQUOTED = r"[^\s\"'`<]{1,600}+"
# Where a value without quotes ends before the next space: at the next field.
NEXT_FIELD = (
    r"[&,;|](?=[\w.-]{1,60}(?:=|:|%3D))|&(?=\w|$)|;(?=$|[A-Z][a-z])|\\[nrt\"']|%26|\\u0026|&(?:amp|quot);"
)


def pattern_sources() -> list[str]:
    """Every pattern here, for the build of the capture hook."""
    others = [value for name, value in globals().items() if name.isupper() and isinstance(value, str)]
    return [*(source for _, _, source in VENDORS), *others]
