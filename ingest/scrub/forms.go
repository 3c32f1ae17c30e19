package scrub

// This file is the table of credentials that are known by their form, as their
// vendors publish it. A new one is a line here and one in planted_tokens_test.go.

// form is how a kind of credential looks: a prefix that begins a word, and
// letters, digits and some other bytes behind it.
type form struct {
	prefix, bytes string // bytes besides letters and digits
	min           int    // how many follow the prefix at least
	looks         looks
}

// looks is what is asked of the bytes behind a prefix, because there are words
// and names that begin like a credential.
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

var forms = [...]form{
	{"eik_", "_", 8, anyhow},                                // Errata's own keys
	{"eyJ", "_-+/=.", 14, anyhow},                           // JWT and other base64 of a JSON object
	{"LS0tLS1CRUdJTi", base64s, 16, anyhow},                 // base64 of a PEM block
	{"AGE-SECRET-KEY-", "", 16, anyhow},                     // age
	{"AKIA", "", 12, anyhow},                                // AWS
	{"ASIA", "", 12, numbered},                              //
	{"ABIA", "", 16, numbered},                              //
	{"ACCA", "", 16, numbered},                              //
	{"LTAI", "", 12, mixed},                                 // Alibaba
	{"ATATT", "_-=", 24, mixed},                             // Atlassian
	{"ATCTT", "_-=", 24, mixed},                             //
	{"ATBB", "", 24, mixed},                                 // Bitbucket
	{"sk-", urlSafe, 20, numbered},                          // OpenAI, Anthropic, OpenRouter and others
	{"gsk_", "", 20, mixed},                                 // Groq
	{"pplx-", "", 32, mixed},                                // Perplexity
	{"r8_", "", 30, mixed},                                  // Replicate
	{"xai-", "", 40, mixed},                                 // xAI
	{"nvapi-", urlSafe, 40, mixed},                          // NVIDIA
	{"hf_", "", 30, mixed},                                  // Hugging Face
	{"api_org_", "", 30, mixed},                             //
	{"lsv2_pt_", "_", 32, numbered},                         // LangSmith
	{"AIza", urlSafe, 30, anyhow},                           // Google
	{"ya29.", "._-", 20, anyhow},                            //
	{"GOCSPX-", urlSafe, 20, anyhow},                        //
	{"1//0", urlSafe, 30, mixed},                            //
	{"ghp_", "", 16, anyhow},                                // GitHub
	{"gho_", "", 16, anyhow},                                //
	{"ghu_", "", 16, anyhow},                                //
	{"ghs_", "", 16, anyhow},                                //
	{"ghr_", "", 16, anyhow},                                //
	{"github_pat_", "_", 16, anyhow},                        //
	{"glpat-", "._-", 16, anyhow},                           // GitLab
	{"gldt-", urlSafe, 16, anyhow},                          //
	{"glrt-", "._-", 16, anyhow},                            //
	{"glft-", urlSafe, 16, anyhow},                          //
	{"glptt-", urlSafe, 16, anyhow},                         //
	{"glcbt-", urlSafe, 16, anyhow},                         //
	{"glimt-", urlSafe, 16, anyhow},                         //
	{"gloas-", urlSafe, 16, anyhow},                         //
	{"glsoat-", urlSafe, 16, anyhow},                        //
	{"glffct-", urlSafe, 16, anyhow},                        //
	{"glagent-", urlSafe, 16, anyhow},                       //
	{"xoxa-", "-", 8, numbered},                             // Slack
	{"xoxb-", "-", 8, numbered},                             //
	{"xoxc-", "-", 8, numbered},                             //
	{"xoxd-", "-%+/=", 8, numbered},                         //
	{"xoxe-", "-", 8, numbered},                             //
	{"xoxe.", "-", 8, numbered},                             //
	{"xoxo-", "-", 8, numbered},                             //
	{"xoxp-", "-", 8, numbered},                             //
	{"xoxr-", "-", 8, numbered},                             //
	{"xoxs-", "-", 8, numbered},                             //
	{"xapp-", "-", 16, numbered},                            //
	{"hooks.slack.com/", "/", 20, numbered},                 //
	{"services/T", "/", 30, numbered},                       //
	{"workflows/T", "/", 30, numbered},                      //
	{"api/webhooks/", "/_-", 40, mixed},                     // Discord
	{"webhookb2/", "/@-", 40, numbered},                     // Teams
	{"hooks/catch/", "/", 12, numbered},                     // Zapier
	{"with/key/", urlSafe, 16, numbered},                    // IFTTT
	{"bot/v2/hook/", urlSafe, 16, numbered},                 // Feishu
	{"sk_", "_", 16, numbered},                              // Stripe
	{"rk_", "_", 16, numbered},                              //
	{"whsec_", "_+/=", 16, numbered},                        //
	{"rzp_live_", "", 12, anyhow},                           // Razorpay
	{"sq0csp-", urlSafe, 20, anyhow},                        // Square
	{"sq0atp-", urlSafe, 20, anyhow},                        //
	{"sq0idp-", urlSafe, 20, anyhow},                        //
	{"EAA", urlSafe, 50, mixed},                             // Square, Facebook
	{"access-production-", "-", 32, anyhow},                 // Plaid
	{"access-sandbox-", "-", 32, anyhow},                    //
	{"access_token$production$", "$", 32, anyhow},           // PayPal
	{"FLWSECK-", "-", 16, anyhow},                           // Flutterwave
	{"EZAK", "", 40, mixed},                                 // EasyPost
	{"EZTK", "", 40, mixed},                                 //
	{"shippo_live_", "", 16, anyhow},                        // Shippo
	{"live_", urlSafe, 40, mixed},                           // GoCardless
	{"AQE", "_-+/=", 80, mixed},                             // Adyen
	{"duffel_live_", urlSafe, 16, anyhow},                   // Duffel
	{"SG.", "._-", 32, numbered},                            // SendGrid
	{"xkeysib-", "-", 32, anyhow},                           // Brevo
	{"key-", "", 32, exact},                                 // Mailgun
	{"AC", "", 32, exact},                                   // Twilio
	{"SK", "", 32, exact},                                   //
	{"npm_", "", 30, numbered},                              // npm
	{"pypi-AgE", urlSafe, 16, anyhow},                       // PyPI
	{"rubygems_", "", 32, hexed},                            // RubyGems
	{"CLOJARS_", "", 40, hexed},                             // Clojars
	{"dckr_pat_", urlSafe, 16, anyhow},                      // Docker
	{"dckr_oat_", urlSafe, 16, anyhow},                      //
	{"AKCp", "", 50, mixed},                                 // Artifactory
	{"hvs.", urlSafe, 20, anyhow},                           // Vault
	{"hvb.", urlSafe, 20, anyhow},                           //
	{"hvr.", urlSafe, 20, anyhow},                           //
	{"dop_v1_", "", 32, hexed},                              // DigitalOcean
	{"doo_v1_", "", 32, hexed},                              //
	{"dor_v1_", "", 32, hexed},                              //
	{"HRKU-", urlSafe, 30, anyhow},                          // Heroku
	{"v1.0-", "-", 100, numbered},                           // Cloudflare
	{"cfut_", "", 32, anyhow},                               //
	{"cfat_", "", 32, anyhow},                               //
	{"dp.pt.", "", 32, anyhow},                              // Doppler
	{"dp.st.", "._-", 32, anyhow},                           //
	{"dp.ct.", "", 32, anyhow},                              //
	{"dp.sa.", "", 32, anyhow},                              //
	{"dp.scim.", "", 32, anyhow},                            //
	{"dp.audit.", "", 32, anyhow},                           //
	{"pul-", "", 40, hexed},                                 // Pulumi
	{"pnu_", "", 30, numbered},                              // Prefect
	{"fo1_", urlSafe, 32, anyhow},                           // Fly
	{"fm1_", "+/=,_", 32, mixed},                            //
	{"fm2_", "+/=,_", 32, mixed},                            //
	{"nfp_", "", 30, mixed},                                 // Netlify
	{"vcp_", "", 30, mixed},                                 // Vercel
	{"sbp_", "", 32, hexed},                                 // Supabase
	{"sb_secret_", urlSafe, 20, anyhow},                     //
	{"pscale_tkn_", urlSafe, 30, anyhow},                    // PlanetScale
	{"pscale_pw_", urlSafe, 30, anyhow},                     //
	{"pscale_oauth_", urlSafe, 30, anyhow},                  //
	{"napi_", "", 40, numbered},                             // Neon
	{"dapi", "-", 32, hexed},                                // Databricks
	{"dt0c01.", ".", 60, anyhow},                            // Dynatrace
	{"tskey-", "-", 24, anyhow},                             // Tailscale
	{"bkua_", "", 32, hexed},                                // Buildkite
	{"CCIPAT_", "_", 40, anyhow},                            // CircleCI
	{"glsa_", "_", 24, anyhow},                              // Grafana
	{"glc_", base64s, 24, anyhow},                           //
	{"NRAK-", "", 20, anyhow},                               // New Relic
	{"NRII-", urlSafe, 20, anyhow},                          //
	{"NRIQ-", urlSafe, 20, anyhow},                          //
	{"NRJS-", urlSafe, 16, anyhow},                          //
	{"sntrys_", "_+/=", 24, anyhow},                         // Sentry
	{"sntryu_", "", 32, hexed},                              //
	{"sntrya_", "", 32, hexed},                              //
	{"phx_", "", 30, mixed},                                 // PostHog
	{"sgp_", "_", 32, hexed},                                // Sourcegraph
	{"lin_api_", "", 30, anyhow},                            // Linear
	{"lin_oauth_", "", 30, anyhow},                          //
	{"ntn_", "", 40, mixed},                                 // Notion
	{"secret_", "", 40, mixed},                              //
	{"figd_", urlSafe, 30, anyhow},                          // Figma
	{"figdr_", urlSafe, 30, anyhow},                         //
	{"figu_", urlSafe, 30, anyhow},                          //
	{"PMAK-", "-", 48, anyhow},                              // Postman
	{"CFPAT-", urlSafe, 30, anyhow},                         // Contentful
	{"tfp_", urlSafe, 40, mixed},                            // Typeform
	{"rdme_", "", 50, numbered},                             // ReadMe
	{"apify_api_", "", 30, anyhow},                          // Apify
	{"ico-", "", 30, mixed},                                 // Infracost
	{"fio-u-", urlSafe, 40, mixed},                          // Frame.io
	{"shpat_", "", 24, hexed},                               // Shopify
	{"shpss_", "", 24, hexed},                               //
	{"shpca_", "", 24, hexed},                               //
	{"shppa_", "", 24, hexed},                               //
	{"y0_", urlSafe, 40, mixed},                             // Yandex
	{"AQVN", urlSafe, 30, mixed},                            //
	{"pbkdf2_sha", "$_+/=", 40, numbered},                   // hashes of passwords, of Django
	{"bcrypt_sha256$", hashed, 40, numbered},                //
	{"bcrypt$", hashed, 40, numbered},                       //
	{"argon2$", hashed, 40, numbered},                       //
	{"pbkdf2:", hashed + ":", 40, numbered},                 // of Werkzeug
	{"scrypt:", hashed + ":", 40, numbered},                 //
	{"SCRAM-SHA-256$", hashed + ":", 40, numbered},          // of PostgreSQL
	{"openssh-key-v1", base64s, 16, anyhow},                 //
	{"b3BlbnNzaC1rZXktdjE", base64s, 16, anyhow},            // an SSH private key without its frame
	{"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", base64s, 8, mixed}, // an RSA private key without its frame
	{"MIIEpAIBAAKCAQEA", base64s, 16, mixed},                //
}

// hashForms are the hashes of passwords that begin with a $ (PHC strings and
// modular crypt format), by what follows it.
var hashForms = [...]form{
	{"2a$", hashed, 20, anyhow},
	{"2b$", hashed, 20, anyhow},
	{"2x$", hashed, 20, anyhow},
	{"2y$", hashed, 20, anyhow},
	{"1$", hashed, 20, anyhow},
	{"5$", hashed, 20, anyhow},
	{"6$", hashed, 20, anyhow},
	{"7$", hashed, 20, anyhow},
	{"y$", hashed, 20, anyhow},
	{"gy$", hashed, 20, anyhow},
	{"P$", hashed, 20, mixed},
	{"H$", hashed, 20, mixed},
	{"S$", hashed, 20, mixed},
	{"apr1$", hashed, 20, anyhow},
	{"argon2", hashed, 20, anyhow},
	{"scrypt$", hashed, 20, anyhow},
	{"pbkdf2", hashed, 20, anyhow},
	{"bcrypt", hashed, 20, anyhow},
	{"sha1$", hashed, 20, anyhow},
}
