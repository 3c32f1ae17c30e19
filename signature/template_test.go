package signature_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/errata-log/errata/signature"
)

// temp is a folder for temporary files.
const temp = "/tmp" + "/"

// templateGolden freezes recipe v1. Lines may be added. To change a line, a new
// recipe is needed.
var templateGolden = []struct{ message, want string }{
	// Numbers and ids.
	{"order 42 failed", "order <num> failed"},
	{"order a1b2c3d4e5f6 failed", "order <num> failed"},
	{"order 01HZX3K5T7Q9W2E4R6Y8U0I1OP failed", "order <num> failed"},
	{"charge ch_3MmlLrLkdIwHu7ix0snN0B15 declined", "charge ch_<num> declined"},
	{"user 550e8400-e29b-41d4-a716-446655440000 not found", "user <uuid> not found"},
	{"/orders/550e8400-e29b-41d4-a716-446655440000/items", "/orders/<uuid>/items"},
	{"balance is -12.50, limit +3", "balance is <num>, limit <num>"},
	{"took 1,234,567 rows", "took <num> row"},
	{"ids [1, 2, 3] are gone", "ids [<num>] are gone"},
	{"x=1.5e-9 y=2E10", "x=<num> y=<num>"},
	{"requires version 1.2.3", "requires version <num>"},
	{"worker-12 lost item7", "worker-<num> lost item<num>"},
	{"pod api-7f8b9c6d5-xkcdq evicted", "pod api-<num>-<num> evicted"},
	{"pod api-7f8b9c6d5-x2k4q evicted", "pod api-<num>-<num> evicted"},
	{"panic at 0xc000123456", "panic at <hex>"},
	{"commit 4f2a9c1 is unknown", "commit <num> is unknown"},
	{"cannot cast com.acme.Cart@1b2c3d to Basket", "cannot cast com.acme.Cart@<num> to Basket"},
	{"Foo$$Lambda$14/0x0000000800c03000@5e2c3d18", "Foo$$Lambda$<num>/<hex>@<num>"},
	// Names with digits and codes stay.
	{"Incorrect string value for utf8mb4 column", "Incorrect string value for utf8mb4 column"},
	{"cannot convert int64 to uint32", "cannot convert int64 to uint32"},
	{"sha256 mismatch in Win32Exception", "sha256 mismatch in Win32Exception"},
	{"SQLSTATE[42S02]: Base table or view not found: 1146 Table 'shop.orders' doesn't exist",
		"SQLSTATE[42S02]: Base table or view not found: <num> Table 'shop.orders' doesn't exist"},
	{"SQLSTATE[HY000] [2002] Connection refused", "SQLSTATE[HY000] [2002] Connection refused"},
	{"SQLSTATE[HY000] [1045] Access denied for user 'app'@'10.0.0.7' (using password: YES)",
		"SQLSTATE[HY000] [1045] Access denied for user <str>@<str> (using password: YES)"},
	{"Error 1062 (23000): Duplicate entry 'bob@example.com' for key 'users.email'",
		"Error 1062 (23000): Duplicate entry <str> for key 'users.email'"},
	{`ERROR: duplicate key value violates unique constraint "users_email_key" (SQLSTATE 23505)`,
		`ERROR: duplicate key value violates unique constraint "users_email_key" (SQLSTATE 23505)`},
	{"ORA-00942: table or view does not exist", "ORA-00942: table or view does not exist"},
	{`E11000 duplicate key error collection: shop.users index: email_1 dup key: { email: "bob" }`,
		"E11000 duplicate key error collection: shop.users index: email_<num> dup key: { email: <str> }"},
	{"Request failed with status code 404", "Request failed with status code 404"},
	{"HTTP/1.1 503 Service Unavailable", "HTTP/1.1 503 Service Unavailable"},
	{"exit status 137", "exit status 137"},
	{"[Errno 13] Permission denied: '/var/log/app.log'", "[Errno 13] Permission denied: <str>"},
	{"Exception from HRESULT: 0x80070005 (E_ACCESSDENIED)", "Exception from HRESULT: 0x80070005 (E_ACCESSDENIED)"},
	{"TS2304 in build 8812", "TS2304 in build <num>"},
	// Times and amounts.
	{"since 2026-11-21T03:04:05.123Z", "since <date>"},
	{"since 2026-11-21 03:04:05 +0000 UTC", "since <date>"},
	{"since Sat, 21 Nov 2026 03:04:05 GMT", "since <date>"},
	{"since Sat Nov 21 03:04:05 2026", "since <date>"},
	{"[21-Nov-2026 03:04:05 UTC] PHP Warning", "[<date>] PHP Warning"},
	{"21/Nov/2026:03:04:05 +0000 GET", "<date> GET"},
	{"expires 21.11.2026", "expires <date>"},
	{"backup 20261121T030405Z failed", "backup <date> failed"},
	{"timeout of 5000ms exceeded", "timeout of <dur> exceeded"},
	{"gave up after 1m3.5s", "gave up after <dur>"},
	{"upload of 128MB refused", "upload of <size> refused"},
	{"Allowed memory size of 134217728 bytes exhausted (tried to allocate 20480 bytes)",
		"Allowed memory size of <num> byte exhausted (tried to allocate <num> byte)"},
	// Addresses.
	{"dial tcp 10.0.0.1:5432: connect: connection refused", "dial tcp <ip>:5432: connect: connection refused"},
	{"read tcp 10.0.0.1:43210->10.0.0.2:6379: i/o timeout", "read tcp <ip>:<num>-><ip>:6379: i/o timeout"},
	{"dial tcp [::1]:5432: refused", "dial tcp [<ip>]:5432: refused"},
	{"blocked 2001:db8::8a2e:370:7334 again", "blocked <ip> again"},
	{"lookup of aa:bb:cc:00:11:22", "lookup of <num>"},
	{"no such mailbox bob.smith+x@mail.example.com", "no such mailbox <email>"},
	{`Get "https://api.example.com/v1/orders/42?token=x": EOF`, `Get "https://api.example.com/v1/orders/<num>": EOF`},
	{"GET https://api.example.com/v1/orders/42?page=2&q=a: 502", "GET https://api.example.com/v1/orders/<num>: 502"},
	{"Abc::add() and std::vector", "Abc::add() and std::vector"},
	// Paths.
	{"open /etc/shop/config.yml: no such file or directory", "open /etc/shop/config.yml: no such file or directory"},
	{"open /srv/releases/20261121030405/a.php", "open /srv/releases/<num>/a.php"},
	{"unlink " + temp + "phpA3x9Zq failed", "unlink " + temp + "<str> failed"},
	{"connect " + temp + "worker.sock", "connect " + temp + "<str>.sock"},
	{"read /proc/1234/fd/7", "read /proc/<num>/fd/<num>"},
	// Quoted: names stay, values go.
	{`Undefined array key "email"`, `Undefined array key "email"`},
	{"Call to undefined method App\\Models\\User::foo()", "Call to undefined method App\\Models\\User::foo()"},
	{`Class "App\Models\User" not found`, `Class "App\Models\User" not found`},
	{"Cannot read properties of undefined (reading 'name')", "Cannot read properties of undefined (reading 'name')"},
	{"Cannot find module './foo'", "Cannot find module './foo'"},
	{"name 'total' is not defined", "name 'total' is not defined"},
	{"'NoneType' object has no attribute 'items'", "'NoneType' object has no attribute 'items'"},
	{"'user_id'", "'user_id'"},
	{"invalid literal for int() with base 10: 'abc'", "invalid literal for int() with base <num>: <str>"},
	{`strconv.Atoi: parsing "12x": invalid syntax`, "strconv.Atoi: parsing <str>: invalid syntax"},
	{`invalid input syntax for type integer: "abc"`, "invalid input syntax for type integer: <str>"},
	{`Cannot invoke "String.length()" because "<local1>" is null`, `Cannot invoke "String.length()" because <str> is null`},
	{`Cannot invoke "com.acme.User.getName()" because "user" is null`, `Cannot invoke "com.acme.User.getName()" because "user" is null`},
	{"Could not find file 'C:\\data\\in\\x.txt'.", "Could not find file <str>."},
	{"can't open user's file 'O''Brien.txt'", "can't open user's file <str>"},
	{"got b'\\x00abc', want u'x'", "got <str>, want <str>"},
	{"token “abc def” and «xyz» refused", "token <str> and <str> refused"},
	{`payload {\"name\":\"Bob\"} refused`, `payload {<str>:<str>} refused`},
	{"relation \"orders_2026_11\" does not exist", "relation \"orders_<num>_<num>\" does not exist"},
	// SQL.
	{"select * from `users` where `id` in (1, 2, 3) and name = 'x'",
		"select * from `users` where `id` in (<num>) and name = <str>"},
	{"insert into t values (?, ?, ?)", "insert into t values (?)"},
	{"where id in ($1, $2, $3)", "where id in ($<num>)"},
	{"no such table (Connection: mysql, SQL: insert into t values (Bob Smith, 12))",
		"no such table (Connection: mysql, SQL: <str>"},
	// Lines and spaces.
	{"\n\n  first\t line \nsecond", "first line"},
	{"\nInvalid `prisma.user.create()` invocation:\n\n\nUnique constraint failed on the fields: (`email`)",
		"Invalid `prisma.user.create()` invocation: Unique constraint failed on the fields: (`email`)"},
	{"2 errors occurred:\n\t* disk 3 is full\n\t* bye", "<num> error occurred: * disk <num> is full"},
	{"", ""},
	{"queue is full", "queue is full"},
	{"Überlauf in Größe 5", "Überlauf in Größe <num>"},
	{"<num> stays <num>", "<num> stay <num>"},
	// What is counted.
	{"37 rows were refused", "<num> row was refused"},
	{"1 entry has failed", "<num> entry has failed"},
	{"12 entries have failed", "<num> entry has failed"},
	{"3 addresses, 2 boxes", "<num> address, <num> box"},
	{"took 1,204ms for 2.00 GiB", "took <dur> for <size>"},
	// Statuses, drivers' codes, quoted URLs and methods.
	{"`GET https://a.example.com/x/7` gave a `404 Not Found` response", "<str> gave a `404 Not Found` response"},
	{"POST https://a.example.com/x 500", "POST https://a.example.com/x 500"},
	{"GET https://a.example.com/x: 512 bytes", "GET https://a.example.com/x: 512 bytes"},
	{"GET https://a.example.com/x: 1502", "GET https://a.example.com/x: <num>"},
	{`(1062, "Duplicate entry 'x' for key 'y'")`, "(1062, <str>)"},
	{`(pymysql.err.OperationalError) (2006, 'gone away')`, "(pymysql.err.OperationalError) (2006, <str>)"},
	{"pool(host='db.example.com', port=5432)", "pool(host='db.example.com', port=<num>)"},
	{"Method not found: 'Void Shop.Lib.Run(Int32, System.String)'.", "Method not found: 'Void Shop.Lib.Run(Int32, System.String)'."},
	{"Invalid column name 'Vat'.", "Invalid column name 'Vat'."},
	{"unsupported operand type(s) for +: 'int' and 'str'", "unsupported operand type(s) for +: 'int' and 'str'"},
	{`exec: "ffmpeg": executable file not found in $PATH`, `exec: "ffmpeg": executable file not found in $PATH`},
	{"Error Number:10060, order number 10060", "Error Number:10060, order number <num>"},
	{"Could not load file or assembly 'A.B, Version=1.0.0.0, Culture=neutral'.", "Could not load file or assembly 'A.B'."},
	{"class@anonymous/srv/a.php:31$1c::x()", "class@anonymous/srv/a.php:<num>$<num>::x()"},
}

func TestTemplateGolden(t *testing.T) {
	for _, c := range templateGolden {
		if got := signature.Template(c.message); got != c.want {
			t.Errorf("Template(%q)\n got %q\nwant %q", c.message, got, c.want)
		}
	}
}

// TestTemplateTellsProblemsApart lists messages that must have different templates.
func TestTemplateTellsProblemsApart(t *testing.T) {
	for _, pair := range [][2]string{
		{"Request failed with status code 404", "Request failed with status code 500"},
		{"Undefined variable $foo", "Undefined variable $bar"},
		{`relation "users" does not exist`, `relation "orders" does not exist`},
		{"SQLSTATE[42S02]: not found", "SQLSTATE[23000]: not found"},
		{"dial tcp 10.0.0.1:5432: refused", "dial tcp 10.0.0.1:6379: refused"},
		{"'user_id'", "'email'"},
		{"GET https://a.example.com/x: EOF", "GET https://b.example.com/x: EOF"},
		{"cannot convert int32", "cannot convert int64"},
		{"open /etc/a.yml: denied", "open /etc/b.yml: denied"},
		{"ORA-00942: x", "ORA-00001: x"},
	} {
		if a, b := signature.Template(pair[0]), signature.Template(pair[1]); a == b {
			t.Errorf("%q and %q have the same template %q", pair[0], pair[1], a)
		}
	}
}

// fragments are texts that the templater treats specially. The test joins them
// in every order.
var fragments = []string{
	" ", "  ", ":", ": ", ", ", ",", ".", "-", "+", "/", "\\", "=", "#", "@", "_", "(", ")", "[", "]", "{", "}", "<", ">", "?", "?, ", "$", "*",
	"'", "\"", "`", `\"`, "‘", "’", "“", "”", "«", "»", "\u00a0", "\n", "\t", "é", "µ", "\xff", "\xe2\x80", "\xc2",
	"0", "7", "42", "404", "2026", "65536", "123456789", "1.5", "1,234", "0x1f", "0x80070005", "a1b2c3d4", "deadbeef", "bcdfg", "xkcdq",
	"abc", "Jan", "Nov", "Sat", "UTC", "GMT", "x", "b", "N", "u", "E11000", "E", "SQL", "SQLSTATE", "HY000", "42S02", "error", "status", "code", "HTTP", "ORA", "http://", "https://h/", "?a=b", "http://h/x?a=1", ": 502", " 404", "404 Not Found", "(1062, ", "rows", " were", "entries", "host=", "exec: ", "'int'", "Error Number:", "Void A.b(c, d)", "column name ", "assembly ", ", Version=", ".php:<num>$", "1a", " GiB",
	"utf8mb4", "int64", "Win32Exception", "5ms", "12MB", "1h2m", "21 Nov 2026", "2026-11-21", "03:04:05", "T", "Z", "+01:00", "10.0.0.1", "::1", "::", "aa:bb:cc:00:11:22", "2001:db8::1",
	"bob@example.com", "example.com", "/tmp/", "tmp", ".sock", "column ", "key ", "reading ", " object", " is not defined", "App\\User", "Foo::bar", "String.length()",
	"550e8400-e29b-41d4-a716-446655440000", "<num>", "<str>", "<date>", "<ip>", "<hex>", "<uuid>", "<email>", "<dur>", "<size>", "(SQL: ", ", SQL: ", "]:", "] [",
}

func TestTemplateIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		message := strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 0, 24).Draw(t, "fragments"), "")
		checkTemplate(t, message)
	})
	rapid.Check(t, func(t *rapid.T) { checkTemplate(t, rapid.String().Draw(t, "message")) })
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func checkTemplate(t failer, message string) {
	t.Helper()
	once := signature.Template(message)
	if twice := signature.Template(once); twice != once {
		t.Fatalf("not idempotent for %q:\n once %q\ntwice %q", message, once, twice)
	}
	if len(once) > 512 {
		t.Fatalf("%d bytes", len(once))
	}
	if strings.ContainsAny(once, "\r\n\t\x00") {
		t.Fatalf("control characters in %q", once)
	}
}

func FuzzTemplate(f *testing.F) {
	for _, c := range templateGolden {
		f.Add(c.message)
	}
	f.Add(strings.Join(fragments, ""))
	f.Fuzz(func(t *testing.T, message string) { checkTemplate(t, message) })
}

// TestTemplateIsLinear uses texts on which a simple scanner takes quadratic time.
// A mebibyte would then take minutes.
func TestTemplateIsLinear(t *testing.T) {
	for _, piece := range []string{"'", "\"a", "a.", "a@", "1:", "::", "<", "\\", "\\\"", "‘", "0", "a1", "1,", "http://", "x:\n", "Jan "} {
		message := strings.Repeat(piece, 1<<20/len(piece))
		if got := signature.Template(message); len(got) > 512 {
			t.Errorf("Template of repeated %q has %d bytes", piece, len(got))
		}
	}
}

func BenchmarkTemplate(b *testing.B) {
	for _, c := range []struct{ name, message string }{
		{"clean", strings.Repeat("the quick brown fox jumps over the lazy dog ", 4)},
		{"typical", "SQLSTATE[23000]: Integrity constraint violation: 1062 Duplicate entry 'bob@example.com' for key 'users.email' at 10.0.0.7:3306 after 35ms in /srv/app/src/User.php"},
		{"8KiB", strings.Repeat("order 42 of bob@example.com failed at 10.0.0.1:5432, ", 155)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.message)))
			for b.Loop() {
				signature.Template(c.message)
			}
		})
	}
}
