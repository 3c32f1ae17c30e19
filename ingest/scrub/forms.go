package scrub

import "strings"

// This file is the table of credentials that are known by their form, as their
// vendors publish it. A new one is a line here and one in planted_tokens_test.go.

// form is how a kind of credential looks: a prefix at the beginning of a word,
// and behind it letters, digits and some other bytes. A row of the tables may
// have several prefixes with blanks between them.
type form struct {
	prefix, bytes string // bytes that are allowed besides letters and digits
	min           int    // the least number of bytes behind the prefix
	looks         looks
}

// looks is what the bytes behind a prefix must hold: ordinary words and names can
// begin like a credential.
type looks uint8

const (
	anyhow   looks = iota
	numbered       // at least one digit
	mixed          // a digit, a capital and a small letter
	hexed          // hex digits
	exact          // hex digits in small letters, min of them and no more
)

// The bytes that are usual in credentials besides letters and digits.
const (
	urlSafe = "_-"
	base64s = "+/="
	hashed  = "$./,=+-_" // of the modular crypt format
)

var forms = onePerPrefix([]form{
	{"eik_", "_", 8, anyhow},                     // Errata's own keys
	{"eyJ", "_-+/=.", 14, anyhow},                // JWT and other base64 of a JSON object
	{"LS0tLS1CRUdJTi", base64s, 16, anyhow},      // base64 of a PEM block
	{"AGE-SECRET-KEY-", "", 16, anyhow},          // age
	{"AKIA", "", 12, anyhow},                     // AWS
	{"ASIA", "", 12, numbered},                   //
	{"ABIA ACCA", "", 16, numbered},              //
	{"LTAI", "", 12, mixed},                      // Alibaba
	{"ATATT ATCTT", "_-=", 24, mixed},            // Atlassian
	{"ATBB", "", 24, mixed},                      // Bitbucket
	{"sk-", urlSafe, 20, numbered},               // OpenAI, Anthropic, OpenRouter and others
	{"gsk_", "", 20, mixed},                      // Groq
	{"pplx-", "", 32, mixed},                     // Perplexity
	{"r8_", "", 30, mixed},                       // Replicate
	{"xai-", "", 40, mixed},                      // xAI
	{"nvapi-", urlSafe, 40, mixed},               // NVIDIA
	{"hf_ api_org_", "", 30, mixed},              // Hugging Face
	{"lsv2_pt_", "_", 32, numbered},              // LangSmith
	{"AIza", urlSafe, 30, anyhow},                // Google
	{"ya29.", "._-", 20, anyhow},                 //
	{"GOCSPX-", urlSafe, 20, anyhow},             //
	{"1//0", urlSafe, 30, mixed},                 //
	{"ghp_ gho_ ghu_ ghs_ ghr_", "", 16, anyhow}, // GitHub
	{"github_pat_", "_", 16, anyhow},             //
	{"glpat- glrt-", "._-", 16, anyhow},          // GitLab
	{"gldt- glft- glptt- glcbt- glimt- gloas- glsoat- glffct- glagent-", urlSafe, 16, anyhow}, //
	{"xoxa- xoxb- xoxc- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs-", "-", 8, numbered},               // Slack
	{"xoxd-", "-%+/=", 8, numbered},                               //
	{"xapp-", "-", 16, numbered},                                  //
	{"hooks.slack.com/", "/", 20, numbered},                       //
	{"services/T workflows/T", "/", 30, numbered},                 //
	{"api/webhooks/", "/_-", 40, mixed},                           // Discord
	{"webhookb2/", "/@-", 40, numbered},                           // Teams
	{"hooks/catch/", "/", 12, numbered},                           // Zapier
	{"with/key/", urlSafe, 16, numbered},                          // IFTTT
	{"bot/v2/hook/", urlSafe, 16, numbered},                       // Feishu
	{"sk_ rk_", "_", 16, numbered},                                // Stripe
	{"whsec_", "_+/=", 16, numbered},                              //
	{"rzp_live_", "", 12, anyhow},                                 // Razorpay
	{"sq0csp- sq0atp- sq0idp-", urlSafe, 20, anyhow},              // Square
	{"EAA", urlSafe, 50, mixed},                                   // Square, Facebook
	{"access-production- access-sandbox-", "-", 32, anyhow},       // Plaid
	{"access_token$production$", "$", 32, anyhow},                 // PayPal
	{"FLWSECK-", "-", 16, anyhow},                                 // Flutterwave
	{"EZAK EZTK", "", 40, mixed},                                  // EasyPost
	{"shippo_live_", "", 16, anyhow},                              // Shippo
	{"live_", urlSafe, 40, mixed},                                 // GoCardless
	{"AQE", "_-+/=", 80, mixed},                                   // Adyen
	{"duffel_live_", urlSafe, 16, anyhow},                         // Duffel
	{"SG.", "._-", 32, numbered},                                  // SendGrid
	{"xkeysib-", "-", 32, anyhow},                                 // Brevo
	{"key-", "", 32, exact},                                       // Mailgun
	{"AC SK", "", 32, exact},                                      // Twilio
	{"npm_", "", 30, numbered},                                    // npm
	{"pypi-AgE", urlSafe, 16, anyhow},                             // PyPI
	{"rubygems_", "", 32, hexed},                                  // RubyGems
	{"CLOJARS_", "", 40, hexed},                                   // Clojars
	{"dckr_pat_ dckr_oat_", urlSafe, 16, anyhow},                  // Docker
	{"AKCp", "", 50, mixed},                                       // Artifactory
	{"hvs. hvb. hvr.", urlSafe, 20, anyhow},                       // Vault
	{"dop_v1_ doo_v1_ dor_v1_", "", 32, hexed},                    // DigitalOcean
	{"HRKU-", urlSafe, 30, anyhow},                                // Heroku
	{"v1.0-", "-", 100, numbered},                                 // Cloudflare
	{"cfut_ cfat_", "", 32, anyhow},                               //
	{"dp.pt. dp.ct. dp.sa. dp.scim. dp.audit.", "", 32, anyhow},   // Doppler
	{"dp.st.", "._-", 32, anyhow},                                 //
	{"pul-", "", 40, hexed},                                       // Pulumi
	{"pnu_", "", 30, numbered},                                    // Prefect
	{"fo1_", urlSafe, 32, anyhow},                                 // Fly
	{"fm1_ fm2_", "+/=,_", 32, mixed},                             //
	{"nfp_", "", 30, mixed},                                       // Netlify
	{"vcp_", "", 30, mixed},                                       // Vercel
	{"sbp_", "", 32, hexed},                                       // Supabase
	{"sb_secret_", urlSafe, 20, anyhow},                           //
	{"pscale_tkn_ pscale_pw_ pscale_oauth_", urlSafe, 30, anyhow}, // PlanetScale
	{"napi_", "", 40, numbered},                                   // Neon
	{"dapi", "-", 32, hexed},                                      // Databricks
	{"dt0c01.", ".", 60, anyhow},                                  // Dynatrace
	{"tskey-", "-", 24, anyhow},                                   // Tailscale
	{"bkua_", "", 32, hexed},                                      // Buildkite
	{"CCIPAT_", "_", 40, anyhow},                                  // CircleCI
	{"glsa_", "_", 24, anyhow},                                    // Grafana
	{"glc_", base64s, 24, anyhow},                                 //
	{"NRAK-", "", 20, anyhow},                                     // New Relic
	{"NRII- NRIQ-", urlSafe, 20, anyhow},                          //
	{"NRJS-", urlSafe, 16, anyhow},                                //
	{"sntrys_", "_+/=", 24, anyhow},                               // Sentry
	{"sntryu_ sntrya_", "", 32, hexed},                            //
	{"phx_", "", 30, mixed},                                       // PostHog
	{"sgp_", "_", 32, hexed},                                      // Sourcegraph
	{"lin_api_ lin_oauth_", "", 30, anyhow},                       // Linear
	{"ntn_ secret_", "", 40, mixed},                               // Notion
	{"figd_ figdr_ figu_", urlSafe, 30, anyhow},                   // Figma
	{"PMAK-", "-", 48, anyhow},                                    // Postman
	{"CFPAT-", urlSafe, 30, anyhow},                               // Contentful
	{"tfp_", urlSafe, 40, mixed},                                  // Typeform
	{"rdme_", "", 50, numbered},                                   // ReadMe
	{"apify_api_", "", 30, anyhow},                                // Apify
	{"ico-", "", 30, mixed},                                       // Infracost
	{"fio-u-", urlSafe, 40, mixed},                                // Frame.io
	{"shpat_ shpss_ shpca_ shppa_", "", 24, hexed},                // Shopify
	{"y0_", urlSafe, 40, mixed},                                   // Yandex
	{"AQVN", urlSafe, 30, mixed},                                  //
	{"pbkdf2_sha", "$_+/=", 40, numbered},                         // hashes of passwords, of Django
	{"bcrypt_sha256$ bcrypt$ argon2$", hashed, 40, numbered},      //
	{"pbkdf2: scrypt:", hashed + ":", 40, numbered},               // of Werkzeug
	{"SCRAM-SHA-256$", hashed + ":", 40, numbered},                // of PostgreSQL
	{"openssh-key-v1", base64s, 16, anyhow},                       // an SSH private key
	{"b3BlbnNzaC1rZXktdjE", base64s, 16, anyhow},                  // the same in base64, without its frame
	{"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", base64s, 8, mixed},       // an RSA private key without its frame
	{"MIIEpAIBAAKCAQEA", base64s, 16, mixed},                      //
})

// hashForms are the hashes of passwords that begin with a $ (PHC strings and
// modular crypt format), by what follows it.
var hashForms = onePerPrefix([]form{
	{"2a$ 2b$ 2x$ 2y$ 1$ 5$ 6$ 7$ y$ gy$ apr1$ argon2 scrypt$ pbkdf2 bcrypt sha1$", hashed, 20, anyhow},
	{"P$ H$ S$", hashed, 20, mixed},
})

// onePerPrefix makes a form for each prefix of the rows.
func onePerPrefix(rows []form) (all []form) {
	for _, row := range rows {
		for prefix := range strings.FieldsSeq(row.prefix) {
			all = append(all, form{prefix, row.bytes, row.min, row.looks})
		}
	}
	return all
}
