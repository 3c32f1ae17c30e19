package scrub_test

import (
	_ "embed"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/errata-log/errata/ingest/door/doortest"
	"github.com/errata-log/errata/ingest/scrub"
)

// The secrets here are invented: none of them is in use.
var textGolden = []struct{ text, want string }{
	// Values behind keys.
	{"password=hunter2", "password=[Filtered]"},
	{"login failed: user=bob&password=hunter2&page=2", "login failed: user=bob&password=[Filtered]&page=2"},
	{"password: hunter2", "password: [Filtered]"},
	{"password: swordfish", "password: [Filtered]"},
	{"Password = S3cret!", "Password = [Filtered]"},
	{`{"user":"bob","password":"hunter2","n":1}`, `{"user":"bob","password":"[Filtered]","n":1}`},
	{`{"apiKey": 12345678, "x": 1}`, `{"apiKey": [Filtered], "x": 1}`},
	{`{"tokens":["a1b2c3","d4"],"x":1}`, `{"tokens":[Filtered],"x":1}`},
	{`{\"password\":\"hunter2\",\"x\":\"y\"}`, `{\"password\":\"[Filtered]\",\"x\":\"y\"}`},
	{"['password' => 'hunter2', 'x' => 'y']", "['password' => '[Filtered]', 'x' => 'y']"},
	{"[password] => hunter2", "[password] => [Filtered]"},
	{"user[password]=hunter2&x=y", "user[password]=[Filtered]&x=y"},
	{"mysqldump --password hunter2 --host db", "mysqldump --password [Filtered] --host db"},
	{"mysqldump --password=hunter2 --host db", "mysqldump --password=[Filtered] --host db"},
	{"<user><pwd>hunter2</pwd></user>", "<user><pwd>[Filtered]</pwd></user>"},
	{"Server=db;User Id=app;Password=hunter2;Database=x", "Server=db;User Id=app;Password=[Filtered];Database=x"},
	{"api key: 9f8e7d6c5b is not valid", "api key: [Filtered] is not valid"},
	{"Authorization: Basic dXNlcjpwYXNz", "Authorization: [Filtered]"},
	{"Authorization: Bearer abc.def-123 was refused", "Authorization: [Filtered] was refused"},
	{"Authorization: Digest username=\"bob\", nonce=\"x1\"", "Authorization: [Filtered]"},
	{"curl -H 'Cookie: a=b; c=d' http://x", "curl -H 'Cookie: [Filtered]' http://x"},
	{"Cookie: sid=abc123; theme=dark\nHost: x", "Cookie: [Filtered]\nHost: x"},
	{"GET /a?token=s3cr3t&page=2 failed", "GET /a?token=[Filtered]&page=2 failed"},
	{"token=[Filtered]&page=2", "token=[Filtered]&page=2"},
	{"token=[Filtered]s3cr3t", "token=[Filtered]"},
	{"password=\"my pass phrase\" x", "password=\"[Filtered]\" x"},
	{"pa\u017f\u017f: x1y2z3 and pa\u200bssword=hunter2", "pa\u017f\u017f: [Filtered] and pa\u200bssword=[Filtered]"},
	// Credentials by their form.
	{"Bearer 0a1b2c3d4e5f refused", "Bearer [Filtered] refused"},
	{"got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl.", "got [Filtered]."},
	{"key AKIAIOSFODNN7EXAMPLE is old", "key [Filtered] is old"},
	{"ghp_0123456789abcdefABCDEF0123456789abcd", "[Filtered]"},
	{"github_pat_11ABCDEFG0123456789_abcdefghij", "[Filtered]"},
	{"xoxb-123456789012-abcdefghijkl", "[Filtered]"},
	{"sk_live_0123456789abcdefABCDEF", "[Filtered]"},
	{"rk_test_0123456789abcdefABCDEF", "[Filtered]"},
	{"AIzaSyA0123456789abcdefghijklmnopqrstuv", "[Filtered]"},
	{"eik_ing_0123456789ab_secretsecret_abcdef leaked", "[Filtered] leaked"},
	{"x -----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY----- y", "x [Filtered] y"},
	{"x -----BEGIN PRIVATE KEY-----\nMIIB", "x [Filtered]"},
	// Statements, calls, command lines, dumps and escapes.
	{"SET PASSWORD = PASSWORD('hunter2')", "SET PASSWORD = PASSWORD('[Filtered]')"},
	{"INSERT INTO u (name, password, n) VALUES ('bob', 'hunter2', 7), ('eve', 'x''y, z', 8)", "INSERT INTO u (name, password, n) VALUES ('bob', '[Filtered]', 7), ('eve', '[Filtered]', 8)"},
	{"CREATE USER bob IDENTIFIED BY 'hunter2' REQUIRE SSL", "CREATE USER bob IDENTIFIED BY '[Filtered]' REQUIRE SSL"},
	{"PDO->__construct('mysql:host=db', 'app', 'hunter2')", "PDO->__construct('mysql:host=db', 'app', '[Filtered]')"},
	{"curl -u bob:hunter2 https://x.example/", "curl -u bob:[Filtered] https://x.example/"},
	{"mysql -uroot -phunter2 shop", "mysql -uroot -p[Filtered] shop"},
	{"[\"password\"]=>\n  string(7) \"hunter2\"", "[\"password\"]=>\n  string(7) \"[Filtered]\""},
	{"a=1&x=user%3Dbob%26password%3Dhunter2%26n%3D1", "a=1&x=user%3Dbob%26password%3D[Filtered]%26n%3D1"},
	{`{\u0022contrase\u00f1a\u0022:\u0022hunter2\u0022}`, `{\u0022contrase\u00f1a\u0022:\u0022[Filtered]\u0022}`},
	{"<Password Type=\"x\">hunter2</Password>", "<Password Type=\"x\">[Filtered]</Password>"},
	{"db.example:5432:shop:app:hunter2", "db.example:5432:shop:app:[Filtered]"},
	{"пароль: hunter2, 密码：hunter2", "пароль: [Filtered], 密码：[Filtered]"},
	{"password=correct horse battery staple", "password=[Filtered]"},
	{"Duplicate entry 'bob@x.example' for key 'users.mail'", "Duplicate entry '[Filtered]' for key 'users.mail'"},
	// URLs and DSNs.
	{"dial postgres://app:hunter2@db:5432/shop?x=1", "dial postgres://[Filtered]@db:5432/shop?x=1"},
	{"https://0123456789abcdef0123456789abcdef@errors.example/7", "https://[Filtered]@errors.example/7"},
	{"redis://:p/w#1@cache:6379/0", "redis://[Filtered]@cache:6379/0"},
	{"app:hunter2@tcp(db:3306)/shop", "[Filtered]@tcp(db:3306)/shop"},
	// Numbers.
	{"card 4111 1111 1111 1111 refused", "card [Filtered] refused"},
	{"card 5555555555554444", "card [Filtered]"},
	{"amex 378282246310005.", "amex [Filtered]."},
	{"iban DE89 3704 0044 0532 0130 00 unknown", "iban [Filtered] unknown"},
	{"iban GB82WEST12345698765432", "iban [Filtered]"},
	{"ssn 123-45-6789", "ssn [Filtered]"},
	// Homes.
	{"open /home/bob/x.txt: denied", "open /home/[Filtered]/x.txt: denied"},
	{"open /Users/bob: denied", "open /Users/[Filtered]: denied"},
	{`C:\Users\Bob Smith\x.txt`, `C:\Users\[Filtered]\x.txt`},
	{`"C:\\Users\\bob\\x.txt"`, `"C:\\Users\\[Filtered]\\x.txt"`},
}

// cleanTexts look as if they had a secret, and have none.
var cleanTexts = []string{
	"", "queue is full", "Unexpected token: punc (})", "invalid token: unexpected end", "Unexpected token '<'", "auth.go:42:7: undefined: x",
	"session.php:123", "Auth::user() is null", "password must not be empty", "Invalid password: must have 8 characters",
	"password: required", "max_tokens=4096", "session_timeout=30", "primary_key=5", "author=bob", "issue=5", "result=ok", "summary: fine",
	"Bearer token missing", "Basic Authentication failed", "http://host:8080/a@b", "https://example.com/home/about", "GET /home/about 404", "/users/bob/x",
	"git@github.com:org/repo.git", "std::token::Kind", "if token == nil {", "token != expected", "a := session", "at Foo.bar(Token.java:12)",
	"1732158245123 is no card", "order 4111111111111112", "id 1234567890123456", "snowflake 1198765432109876543", "0123-45-67", "000-12-3456",
	"DE00 is short", "AKIA is a prefix", "task-1 and sk_buff are fine", "eyJ is a prefix", "ask-me-anything-about-words-and-things",
	"AuthenticationException: Unauthenticated.", "TokenMismatchException: CSRF token mismatch", "keyboard=de", "monkey: 5", "bypass=1x",
	"2026-11-21T03:04:05Z 550e8400-e29b-41d4-a716-446655440000", "duplicate key: 17abc", "Cookie: ", "token=", "password: null",
}

func TestText(t *testing.T) {
	for _, c := range textGolden {
		if got := scrub.Text(c.text); got != c.want {
			t.Errorf("Text(%q)\n got %q\nwant %q", c.text, got, c.want)
		}
	}
	for _, text := range cleanTexts {
		if got := scrub.Text(text); got != text {
			t.Errorf("Text(%q) = %q, want it unchanged", text, got)
		}
	}
}

// TestTextOfPrefixes cuts each text at every byte, as a limit may do.
func TestTextOfPrefixes(t *testing.T) {
	for _, c := range textGolden {
		for n := range len(c.text) {
			checkText(t, c.text[:n])
		}
	}
	checkText(t, "Authorization: Basic ")
}

// secretKeys is the default list.
//
//go:embed testdata/keys.txt
var secretKeyList string

var secretKeys = strings.Fields(secretKeyList)

// plainKeys are not secret, though each has a part of a secret key in it.
var plainKeys = strings.Fields(`author authority authored_by issue result summary keyboard monkey secretary_id classname passenger bypass compass signal design
	assign hotpot option spin primary_key foreign_key cache_key page user name id status sorted resume subject capital apiary basalt lessness`)

func TestSecretKey(t *testing.T) {
	for _, key := range secretKeys {
		for _, spelled := range spellings(key) {
			if !scrub.SecretKey(spelled) {
				t.Errorf("%q is not secret", spelled)
			}
		}
	}
	for _, key := range plainKeys {
		if scrub.SecretKey(key) {
			t.Errorf("%q is secret", key)
		}
	}
	for _, key := range []string{"to\u212aen", "pa\u017f\u017fword", "pass\u200bword", "UserPassword", "user.password", "user[password]", "DB_PASS", "dbpass", "HTTPToken", strings.Repeat("x", 300) + "_token"} {
		if !scrub.SecretKey(key) {
			t.Errorf("%q is not secret", key)
		}
	}
}

// spellings are six ways to write a key.
func spellings(key string) []string {
	words := strings.FieldsFunc(key, func(r rune) bool { return r == '-' || r == '_' || r == '.' })
	camel := words[0]
	for _, w := range words[1:] {
		camel += strings.ToUpper(w[:1]) + w[1:]
	}
	return []string{key, strings.ToUpper(key), strings.ToLower(key), strings.Join(words, "_"), strings.Join(words, "-"), camel}
}

// planted is a value that is found by its key only.
const planted = "plnt7x"

// places are texts with a key K and its value V.
var places = []string{
	"K=V", "a=1&K=V&b=2", "{\"K\":\"V\"}", "{\"a\":{\"b\":{\"K\": \"V\"}}}", "{\\\"K\\\":\\\"V\\\"}", "K: V", "failed with K: V.", "['K' => 'V']",
	"[K] => V", "<K>V</K>", "cmd --K V", "cmd --K=V", "K = V;", "x[K]=V", "`K`=`V`", "{'K': 'V'}", "K=\"V and V\"", "{\"K\":[\"V\",{\"x\":\"V\"}]}", "K=[Filtered]V", "line\nK: V\nline",
}

func TestNoPlantedSecretSurvivesInText(t *testing.T) {
	for _, key := range secretKeys {
		for _, spelled := range spellings(key) {
			for _, place := range places {
				text := strings.NewReplacer("K", spelled, "V", planted).Replace(place)
				if got := scrub.Text(text); strings.Contains(got, planted) {
					t.Errorf("Text(%q) = %q", text, got)
				}
			}
		}
	}
}

// pieces are texts that rules look for, to be put together in any order.
var pieces = append(strings.Split(`password|token|api|key|auth|Cookie|Authorization|Bearer|Basic|Digest|--|-----BEGIN |-----END |-----|PRIVATE KEY|eyJ|eik_|AKIA|sk_|sk-|ghp_|xoxb-|AIza|
|0123456789abcdefABCDEF|abcdefghijklmnop|hunter2|4111111111111111|4111 1111|123-45-6789|DE89370400440532013000|/home/|/Users/|C:\|Users\|bob|/|\|\\|postgres://|://|user:pass|@|@tcp(|localhost|db:5432|
|=|:|: | = |=>| => |==|"|\"|'|<|>|</|<pwd>|</pwd>|[|]|{|}|(|)|,|;|&|?|.|_|-| |  |null|[Filtered]|[Filtered|é|пароль|mot de |passe|contraseña|%3D|%3A|%22|%26|%253D|\u003d|\u0022|\u0026|\u00f1|\u003c|\u003e|&quot;|&gt;|&lt;|：|
|INSERT INTO u (a, password) |VALUES |('x', |create user |identified by |curl |-u |mysql |-p|login |PDO->__construct|string(7) |protected|private|name|key|value|$2y$10$|{SSHA}|*|hooks.slack.com/services/|bob@x.example|123456789|AAF|
|->|s:7:|<![CDATA[|]]>|Private-Lines: 1|Private-MAC: |walrus|x1Y2z3Q4w5|is`, "|"), "|", "\n", "\r\n", "\t", "\xff", "\u200b")

func textGen() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 20).Draw(t, "pieces"), "")
	})
}

func TestTextIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkText(t, textGen().Draw(t, "text")) })
	rapid.Check(t, func(t *rapid.T) { checkText(t, rapid.String().Draw(t, "text")) })
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func checkText(t failer, text string) {
	t.Helper()
	once := scrub.Text(text)
	if twice := scrub.Text(once); twice != once {
		t.Fatalf("not idempotent for %q:\n once %q\ntwice %q", text, once, twice)
	}
	if utf8.ValidString(text) && !utf8.ValidString(once) {
		t.Fatalf("Text(%q) = %q, invalid UTF-8", text, once)
	}
}

// TestTextIsLinear scrubs texts that a bad scanner reads again and again. With
// quadratic time these 256 KiB take minutes of processor time, with linear time
// milliseconds.
func TestTextIsLinear(t *testing.T) {
	bad := []string{"://a:b/", "://:", "sk-a-", "sk-_", "--.", "--a.", "Auser:pass", "password:", "password: ", `C:\token`, "password=\"", "-----BEGIN ", "<pwd>", "a:b", "DE89 ", "4111 ", "/home/a", "--token ",
		"(pin) VALUES ('", "(pin) VALUES (", "curl ", "curl -u a:b ", "mysql -p'", "PDO->__construct(", "a:private", "\\u0061", "\\u0061=", "%3D", "a%3D", "%253D%253D", "\"name\":\"pin\",", "<key>pin</key>", "\"pin\",", "password is ",
		"create identified by ", "password=a b ", "mnemonic: a b c ", "&gt;", "$2y$", "M0123456789012345678901234.", "hooks.slack.com/", "x@", "token x1Y2z3Q4 ", "password:\n", "password\u003d", "：", "contrase\\u00f1a:", "<a b='", "Private-Lines:\n", "a-us1", "s:1:\"", "\";s:1:\""}
	for _, piece := range append(bad, pieces...) {
		if piece == "" {
			continue
		}
		text := strings.Repeat(piece, 1<<18/len(piece))
		began := doortest.CPU()
		scrub.Text(text)
		scrub.URI(text)
		scrub.SecretKey(text)
		if took := doortest.CPU() - began; took > 10*time.Second {
			t.Errorf("256 KiB of %q took %v", piece, took)
		}
	}
}

func FuzzScrub(f *testing.F) {
	for _, c := range textGolden {
		f.Add(c.text)
	}
	for _, text := range cleanTexts {
		f.Add(text)
	}
	f.Add(strings.Join(pieces, ""))
	f.Fuzz(func(t *testing.T, text string) {
		checkText(t, text)
		checkURI(t, text)
		checkJSON(t, []byte(text))
		if name, value, ok := scrub.Header("User-Agent", text); !ok || name != "User-Agent" || value != scrub.Text(text) {
			t.Fatalf("Header: %q %q %v", name, value, ok)
		}
		scrub.SecretKey(text)
	})
}

func BenchmarkText(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"clean200", "could not render the page because the template of the cart was not found in any of the folders that were searched; the last one was views/shop, and the request had been waiting for a while before it gave up"},
		{"typical", "SQLSTATE[23000]: Integrity constraint violation: 1062 Duplicate entry 'x' for key 'users.email' (host: 10.0.0.7, time: 2026-11-21T03:04:05Z) in /srv/app/src/Models/User.php:42"},
		{"secret", "login failed for https://bob:hunter2@shop.example/login?password=hunter2&page=2 with Bearer 0a1b2c3d4e5f6071"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.text)))
			for b.Loop() {
				scrub.Text(c.text)
			}
		})
	}
}
