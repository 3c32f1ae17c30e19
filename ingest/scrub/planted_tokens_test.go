package scrub_test

import "strings"

// tokenForms are the forms of credentials as their vendors publish them. In {a36} a is
// a set of letters (see letters) and 36 their number. The text before ~ is not part of
// the secret.
var tokenForms = strings.Fields(`
xoxb-{d12}-{d12}-{a24} xoxp-{d12}-{d12}-{d12}-{h32} xoxa-2-{d12}-{a24} xoxe.xoxp-1-{a140} xoxe-1-{a140} xoxc-{d12}-{d12}-{h64} xoxd-{a60} xapp-1-A{U10}-{d13}-{h64}
https://hooks.slack.com/~services/T{U10}/B{U10}/{a24} https://hooks.slack.com/~workflows/T{U10}/A{U10}/{d18}/{a24}
M{a23}.{b6}.{b27} N{a25}.{b6}.{b38} https://discord.com/~api/webhooks/{d18}/{b68} https://discordapp.com/~api/webhooks/{d19}/{b68}
{d10}:AA{b33} {d9}:AA{b33} https://api.telegram.org/~bot{d10}:AA{b33}/getMe
ya29.{b120} ya29.a0{b150} GOCSPX-{b28} AIza{b35} 1//0{b60} npm_{a36} pypi-AgEIcHlwaS5vcmc{b80} pypi-AgENdGVzdC5weXBpLm9yZw{b80} dckr_pat_{b27} dckr_oat_{b32}
hvs.{b24} hvs.CAES{b90} hvb.AAAA{b130} hvr.{b24} dop_v1_{h64} doo_v1_{h64} dor_v1_{h64} shpat_{h32} shpss_{h32} shpca_{h32} shppa_{h32}
hf_{a34} api_org_{a34} lin_api_{a40} lin_oauth_{h64} dapi{h32} dapi{h32}-2 glsa_{a32}_{h8} glc_eyJ{+80}= glpat-{b20} gldt-{b20} glrt-{b20} glcbt-{h2}_{b20} glptt-{h40} glsoat-{b20} glft-{b20} glimt-{b25} glagent-{b50}
NRAK-{U27} NRII-{b32} NRJS-{h19} NRIQ-{b32} sq0csp-{b43} sq0atp-{b22} sq0idp-{b22} EAAA{b60} gsk_{a52} EAACEdEose0cBA{a120} EAAB{a160} EAAG{a180}
sk-{a48} sk-ant-api03-{b93}AA sk-ant-admin01-{b93}AA sk-proj-{b74} sk-svcacct-{b74} sk-or-v1-{h64} sk_live_{a24} rk_live_{a24} sk_test_{a99} whsec_{a32} pplx-{a48} r8_{a37} xai-{a80} nvapi-{b64}
SG.{b22}.{b43} key-{h32} {h32}-us{d2} xkeysib-{h64}-{a16} AC{h32} SK{h32} AKIA{216} ASIA{216} ABIA{216} ACCA{216} LTAI{a20}
ghp_{a36} gho_{a36} ghu_{a36} ghs_{a36} ghr_{a36} github_pat_{a22}_{a59} eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI{b30}.{b43} eyJ{b80}.eyJ{b90}.{b86}
AGE-SECRET-KEY-1{U58} ATATT3xFfGF0{b160}={H8} ATCTT3xFfGN0{b160}={H8} ATBB{a32} ntn_{d11}{a35} secret_{a43} figd_{b40} figdr_{b40} dp.pt.{a43} dp.st.prd.{a43} dp.ct.{a43} dp.sa.{a43} dp.scim.{a43}
{a14}.atlasv1.{b64} sntrys_eyJ{+90}={h12}_{+43} sntryu_{h64} sntrya_{h64} eik_ing_{d12}_{a43}_{a6} eik_adm_{d12}_{a43}_{a6}
HRKU-{h8}-{h4}-{h4}-{h4}-{h12} HRKU-AA{b58} v1.0-{h24}-{h146} cfut_{a40}{h8} sbp_{h40} sb_secret_{b31} pscale_tkn_{b43} pscale_pw_{b43} pscale_oauth_{b43} PMAK-{h24}-{h34} pul-{h40} rubygems_{h48}
tskey-auth-{a16}-{a32} tskey-api-{a16}-{a32} dt0c01.{224}.{U64} CFPAT-{b43} CCIPAT_{a22}_{h40} bkua_{h40} fo1_{b43} fm2_{+120} phx_{a43} rdme_{l70} sgp_{h40} shippo_live_{h40} EZAK{a54} FLWSECK-{h32}-X rzp_live_{a14}
pat{a14}.{h64} AKCp{a69} nfp_{a36} napi_{l60} lsv2_pt_{h32}_{h10} PRIVATE-TOKEN:~{a20} CLOJARS_{h60} tfp_{b44}_{a14} pnu_{l36} duffel_live_{b43} ico-{a32} fio-u-{b64} y0_{b55} AQVN{b35}
access-production-{h8}-{h4}-{h4}-{h4}-{h12} access_token$production${l16}${h32} vcp_{a56} apify_api_{a36} live_{b40} AQE{b150} ops_eyJ{b250}
$2y$10${a53} $2a$12${a53} $2b$12${a53} $6${a16}${a86} $6$rounds=5000${a16}${a86} $5${a16}${a43} $1${a8}${a22} $apr1${a8}${a22} $y$j9T${a22}${a43} $7$CU..../....{a22}${a43} $P$B{a30} $S$D{a51} $H$9{a30}
$argon2id$v=19$m=65536,t=4,p=1${+22}${+43} $argon2i$v=19$m=65536,t=4,p=1${+22}${+43} $scrypt$ln=16,r=8,p=1${+22}${+43} $pbkdf2-sha256$29000${+22}${+43} $bcrypt-sha256$v=2,t=2b,r=12${a22}${a31}
pbkdf2_sha256$260000${a22}${+43}= pbkdf2_sha1$260000${a22}${+27}= bcrypt_sha256$$2b$12${a53} argon2$argon2id$v=19$m=102400,t=2,p=8${+22}${+43} scrypt:32768:8:1${a16}${h128} pbkdf2:sha256:600000${a16}${h64} {SSHA}{+32} {SSHA512}{+96}== {CRYPT}$6${a16}${a86} *{H40}
`)

// tokenContexts are texts with a credential T that they do not name.
var tokenContexts = []string{
	"request with T was refused", "got T", "T: 401 Unauthorized", "could not use 'T' any more", `{"note":"T","n":1}`, "client.go:42: unexpected status 403 for T.",
	"App\\Http\\Client->send('T', 7)\n#1 {main}", "line one\n  T\nline three", "tried [T] twice", "x=T&y=2", "ERROR 1045 (28000): T", "- T", "cmd T --verbose", "<note>T</note>",
}

func plantedTokens(d drawer) (plants []plant) {
	for i, form := range tokenForms {
		before, secret, has := strings.Cut(form, "~")
		if !has {
			before, secret = "", form
		}
		secret = d.form(secret)
		text := before + secret
		drawn := secret
		for _, known := range []string{"services/", "workflows/", "api/webhooks/", "access-production-", "access_token$production$"} {
			drawn = strings.TrimPrefix(drawn, known)
		}
		drawn = strings.TrimSuffix(drawn, "/getMe")
		// Only the random part is secret: the prefix may stay.
		if k := strings.IndexAny(form, "{"); k > 0 && before == "" && k < len(drawn) && !strings.HasPrefix(form, "{") {
			drawn = drawn[k:]
		}
		context := tokenContexts[i%len(tokenContexts)]
		plants = append(plants, plant{"token " + form, strings.ReplaceAll(context, "T", text), []string{drawn}})
	}
	return plants
}
