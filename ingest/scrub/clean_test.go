package scrub_test

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/errata-log/errata/ingest/scrub"
)

// cleanTemplates are messages as applications write them, with places for
// values that are no secrets: %d numbers, %x hex, %u UUIDs, %t times, %w
// words, %i addresses, %p paths, %s large ids, %f decimals.
var cleanTemplates = strings.Split(strings.TrimSpace(`
order %d failed after %dms
user %d not found in %w
SQLSTATE[42S02]: Base table or view not found: 1146 Table 'shop.%w' doesn't exist
SQLSTATE[23000]: Integrity constraint violation: 1062 Duplicate entry '%d' for key '%w.%w'
dial tcp %i:%d: connect: connection refused
read tcp %i:%d->%i:443: i/o timeout
GET https://api.example.com/%w/%d?page=%d&limit=25: 502 Bad Gateway
open /srv/app/%w/%w.yml: no such file or directory
Undefined array key "%w" in /srv/app/src/%w.php on line %d
Call to undefined method App\Models\User::%w()
Cannot read properties of undefined (reading '%w')
panic: runtime error: index out of range [%d] with length %d
goroutine %d [running]: main.%w(0x%x, 0x%x) /srv/app/main.go:%d +0x%x
java.lang.NullPointerException: Cannot invoke "String.length()" because "%w" is null at com.acme.%w(%w.java:%d)
KeyError: '%w'
invalid literal for int() with base 10: '%w'
request %u took %f s, trace %x%x
commit %x%x%x does not exist
event %s of shard %d is late; last seen %t
%t ERROR [%w-%d] %w.%w: job %u failed: exit status %d
Allowed memory size of %s bytes exhausted (tried to allocate %d bytes)
payment %s of %f EUR declined by %w (code %d)
snowflake %s is older than %s
timestamp %s is in the future
retrying in %d ms (attempt %d of %d), request id %x%x
<%w id="%d"> is not closed at line %d, column %d
{"level":"error","msg":"%w %w","count":%d,"took":%f,"at":"%t"}
%w: %w: %w %w
level=error msg="%w %w" user_id=%d order=%s path=/%w/%d
Unexpected token '%w' at position %d
Unexpected token: %w (%w)
invalid token: unexpected end of %w
The session has expired; sign in again (%d minutes)
Session not started: headers already sent by %w.php:%d
password must have at least %d characters
Authentication failed for %w: account is locked
Auth::guard(%w) is not defined in %w.php:%d
CSRF token mismatch on /%w/%d
Could not decrypt the payload: the MAC is invalid (%w)
certificate of %w.example.com expired on %t
x509: certificate signed by unknown authority (%w)
could not parse %t as a date: month out of range
Connection to tcp://%i:%d refused; broker %d, partition %d, offset %s
phone +1 555 %d is not valid, zip code %d
ISBN 978-%d-%d-%d-1 is unknown
version %d.%d.%d is not supported, want %d.%d
colour #%x%x is not known; used rgb(%d, %d, %d)
row %d of %w.csv: %d fields, want %d: "%d;%s;%f"
max_tokens=%d exceeds the limit of the model %w-%d
PHP Warning: Undefined variable $%w in /srv/app/src/%w.php on line %d
TypeError: App\Cart::%w(): Argument #%d ($%w) must be of type int, string given
Class "App\Services\%w" not found
panic: interface conversion: interface {} is nil, not *%w.%w
runtime error: slice bounds out of range [:%d] with capacity %d
json: cannot unmarshal string into Go struct field %w.%w of type int64
rpc error: code = Unavailable desc = connection to %i:%d refused
TypeError: %w.%w is not a function at %w (app.%x.js:1:%d)
AxiosError: Request failed with status code %d
ReferenceError: %w is not defined
E11000 duplicate key error collection: shop.%w index: %w_1 dup key: { %w: %d }
Traceback (most recent call last): File "/srv/app/%w.py", line %d, in %w
AttributeError: 'NoneType' object has no attribute '%w'
requests.exceptions.ReadTimeout: HTTPSConnectionPool(host='%w.example.com', port=443): Read timed out. (read timeout=%d)
django.db.utils.OperationalError: could not connect to server at %i port %d
java.lang.IllegalStateException: com.acme.%w@%x is closed
org.hibernate.LazyInitializationException: could not initialize proxy [com.acme.%w#%d] - no Session
HikariPool-%d - Connection is not available, request timed out after %dms
System.NullReferenceException: Object reference not set to an instance of an object. at Shop.%w.%w() in /src/%w.cs:line %d
Microsoft.Data.SqlClient.SqlException: Invalid column name '%w'. ClientConnectionId:%u
System.IO.FileNotFoundException: Could not find file '/srv/data/%w-%d.xml'.
key %w-%d is locked by %u`), "\n")

var cleanWords = strings.Fields(`order cart user payment invoice shipping product catalog render fetch parse worker queue topic index shard cache page
	checkout address customer report export import template session token author keyboard account email monitor signal primary secretary passenger
	Timeout Connection HttpClient OrderService PaymentGateway userId itemCount created_at updated_at first_name handleRequest onError main utf8mb4 int64`)

// moreClean are further templates, with \n for a line feed and %% for a percent
// sign: %k is a name that is no secret key, %h a hash of 40 hex digits, %B base64 of
// an image or a checksum.
//
//go:embed testdata/clean.txt
var moreClean string

// TestCleanMessagesStay is the gate against false positives: of 20,000 clean
// messages fewer than one in a thousand may be changed.
func TestCleanMessagesStay(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	const messages, allowed = 20000, 19
	templates := slices.Concat(cleanTemplates, cleanLines())
	changed, seen, filled, hit := 0, map[string]bool{}, map[string]int{}, map[string]int{}
	for len(seen) < messages {
		template := templates[r.IntN(len(templates))]
		text := fill(template, r)
		filled[template]++
		if seen[text] {
			continue
		}
		seen[text] = true
		if got := scrub.Text(text); got != text {
			changed++
			hit[template]++
			t.Logf("changed %q\n     to %q", text, got)
		}
	}
	for template, n := range hit {
		if 4*n > filled[template] { // good templates must not hide a bad one
			t.Errorf("%d of %d messages of %q were changed", n, filled[template], template)
		}
	}
	t.Logf("%d of %d clean messages of %d templates were changed", changed, messages, len(templates))
	if changed > allowed {
		t.Errorf("%d of %d clean messages were changed, at most %d may be", changed, messages, allowed)
	}
}

func cleanLines() []string {
	lines := strings.Split(strings.TrimSpace(moreClean), "\n")
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(line, `\n`, "\n")
	}
	return lines
}

//go:embed testdata/tricky.txt
var trickyList string

// TestTrickyCleanMessagesStay has texts that look like secrets and are none:
// sentences about tokens and passwords, code, hashes and ids.
func TestTrickyCleanMessagesStay(t *testing.T) {
	const least = 200
	lines := strings.Split(strings.TrimSpace(trickyList), "\n")
	changed := 0
	for _, text := range lines {
		if got := scrub.Text(text); got != text {
			changed++
			t.Errorf("changed %q\n     to %q", text, got)
		}
	}
	if len(lines) < least {
		t.Errorf("%d messages, want at least %d", len(lines), least)
	}
	t.Logf("%d of %d tricky messages were changed", changed, len(lines))
}

func fill(template string, r *rand.Rand) string {
	var out strings.Builder
	for i := 0; i < len(template); i++ {
		if template[i] != '%' || i+1 == len(template) {
			out.WriteByte(template[i])
			continue
		}
		i++
		out.WriteString(cleanValue(template[i], r))
	}
	return out.String()
}

// isEscape says whether a byte behind a % belongs to an address or a format of time in
// the template.
func isEscape(kind byte) bool {
	return kind >= '0' && kind <= '9' || strings.IndexByte("Ym-", kind) >= 0
}

func cleanValue(kind byte, r *rand.Rand) string {
	switch kind {
	case 'd':
		return fmt.Sprint(r.IntN([]int{10, 100, 1000, 70000, 1 << 30}[r.IntN(5)]))
	case 'x':
		return fmt.Sprintf("%08x", r.Uint32())
	case 'u':
		return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", r.Uint32(), r.IntN(1<<16), r.IntN(1<<12), r.IntN(1<<12), r.Int64N(1<<48))
	case 't':
		return fmt.Sprintf("20%02d-%02d-%02dT%02d:%02d:%02d.%03dZ", r.IntN(30), 1+r.IntN(12), 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1000))
	case 'w':
		return cleanWords[r.IntN(len(cleanWords))]
	case 'i':
		return fmt.Sprintf("%d.%d.%d.%d", 1+r.IntN(254), r.IntN(256), r.IntN(256), r.IntN(256))
	case 'f':
		return fmt.Sprintf("%.2f", r.Float64()*1000)
	case 's':
		// Long numbers in messages: times in ms, µs and ns, snowflakes, sizes.
		ms := 1_600_000_000_000 + r.Int64N(300_000_000_000)
		return fmt.Sprint([]int64{ms, ms * 1000, ms * 1_000_000, 1<<60 + r.Int64N(1<<58), r.Int64N(1 << 40), r.Int64N(10_000_000_000_000)}[r.IntN(6)])
	case 'k':
		names := [...]string{"status", "total", "order", "user", "count", "state", "region", "width", "sku", "locale", "amount", "title"}
		return names[r.IntN(len(names))]
	case 'h':
		return fmt.Sprintf("%016x%016x%08x", r.Uint64(), r.Uint64(), r.Uint32())
	case 'B':
		var raw [24]byte
		for i := range raw {
			raw[i] = byte(r.IntN(256))
		}
		return base64.StdEncoding.EncodeToString(raw[:])
	case '%':
		return "%"
	default:
		if isEscape(kind) {
			return "%" + string(kind)
		}
		panic("clean template: no value for %" + string(kind))
	}
}
