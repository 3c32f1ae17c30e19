package packed_test

import (
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/internal/packed"
	"github.com/errata-log/errata/test/testenv"
)

// extremes are records with the least and the greatest value of each column. Times
// are those that the driver can write, which counts nanoseconds.
func extremes() []errata.Record {
	most := errata.Record{
		Book: errata.BookDatabase, ID: math.MaxUint64, Version: math.MaxUint64, Count: math.MaxUint64,
		FirstSeen: time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC), LastSeen: time.Date(2262, 1, 1, 23, 59, 59, 999e6, time.UTC),
		Level: errata.LevelFatal, File: strings.Repeat("f", 70_000), Line: math.MaxUint32,
		Message: "a\x00b\nc \xff\xfe ü", Class: "Größe\x00", URI: "/?q=\x00", Method: "POST",
		UserID: math.MinInt64, IP: netip.MustParseAddr("2001:db8::ffff"), Status: errata.StatusMuted, Regressed: true,
		Noise: true, Project: math.MaxUint64, Environments: []string{"", "prod\x00ü", strings.Repeat("e", 300)}, Releases: slices.Repeat([]string{"shop@1.2"}, 200),
	}
	for i := range most.Signature {
		most.Signature[i] = byte(0xff - i)
	}
	least := errata.Record{Book: errata.BookSystem, ID: 1, Version: 2, FirstSeen: time.UnixMilli(0).UTC(), LastSeen: time.UnixMilli(-1).UTC(), Status: errata.StatusOpen}
	plain := most
	plain.Signature[0], plain.IP, plain.Status, plain.Regressed = 1, netip.MustParseAddr("203.0.113.9"), errata.StatusResolved, false
	plain.Noise, plain.Environments, plain.Releases = false, nil, []string{""}
	plain.UserID, plain.Message, plain.Method = math.MaxInt64, "", ""
	return []errata.Record{least, most, plain}
}

// written reads the column as ClickHouse makes it, of the rows of the records and
// one row that cancels the first.
func written(t *testing.T, records []errata.Record) (columns map[errata.Signature]string, cancelled string) {
	t.Helper()
	env := testenv.New(t)
	batch, err := testenv.NewRecordBatch(t.Context(), env.ClickHouse)
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Close()
	add := func(r errata.Record, sign int8) {
		if err := batch.Add(r.Book.String(), r, "", sign); err != nil {
			t.Fatal(err)
		}
	}
	gone := records[0]
	gone.Signature[3] = 7
	add(gone, -1)
	for _, r := range records {
		add(r, 1)
	}
	if err := batch.Send(); err != nil {
		t.Fatal(err)
	}
	rows, err := env.ClickHouse.Query(t.Context(), "SELECT signature, sign, whole FROM records")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns = map[errata.Signature]string{}
	for rows.Next() {
		var signature, column string
		var sign int8
		if err := rows.Scan(&signature, &sign, &column); err != nil {
			t.Fatal(err)
		}
		if sign < 0 {
			cancelled = column
			continue
		}
		columns[errata.Signature([]byte(signature))] = column
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return columns, cancelled
}

func TestDecodeIsTheInverseOfTheColumn(t *testing.T) {
	records := extremes()
	columns, cancelled := written(t, records)
	if len(columns) != len(records) || cancelled != "" {
		t.Fatalf("%d columns for %d records, %d bytes in a row that cancels another", len(columns), len(records), len(cancelled))
	}
	for _, want := range records {
		column := columns[want.Signature]
		got, err := packed.Decode(column)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
			t.Errorf("record (-want +got):\n%s", diff)
		}
		if appended := packed.Append(nil, &want); string(appended) != column {
			t.Errorf("appended is\n%.300q\nthe column\n%.300q", appended, column)
		}
	}
}

// golden is a column that migration 00018 has made; the comment of the package has
// its layout.
const golden = "\x01" + "\x0f\x0e\x0d\x0c\x0b\x0a\x09\x08\x07\x06\x05\x04\x03\x02\x01\x00" +
	"\x10\x00\x00\x00\x00\x00\x00\x00" + "\x11\x00\x00\x00\x00\x00\x00\x00" + "\x03\x00\x00\x00\x00\x00\x00\x00" +
	"\xe8\x03\x00\x00\x00\x00\x00\x00" + "\xd0\x07\x00\x00\x00\x00\x00\x00" + "\x09\x00\x00\x00\x00\x00\x00\x00" + "\x05" + "\x2a\x00\x00\x00" +
	"\xb4\x04\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xcb\x00\x71\x09" + "\x01" + "\x01" + "\x00" +
	"\x05\x00\x00\x00" + "\x06\x00\x00\x00" + "\x09\x00\x00\x00" + "\x02\x00\x00\x00" + "\x03\x00\x00\x00" +
	"a.php" + "failed" + "TypeError" + "/x" + "GET" +
	"\x02\x00\x00\x00" + "\x04\x00\x00\x00" + "prod" + "\x03\x00\x00\x00" + "dev" +
	"\x01\x00\x00\x00" + "\x02\x00\x00\x00" + "r1"

func goldenRecord() errata.Record {
	r := errata.Record{
		Book: errata.BookSystem, ID: 16, Version: 17, Count: 3, FirstSeen: time.UnixMilli(1000).UTC(), LastSeen: time.UnixMilli(2000).UTC(),
		Level: errata.LevelError, File: "a.php", Line: 42, Message: "failed", Class: "TypeError", URI: "/x", Method: "GET",
		UserID: 1204, IP: netip.MustParseAddr("203.0.113.9"), Status: errata.StatusResolved, Regressed: true,
		Project: 9, Environments: []string{"prod", "dev"}, Releases: []string{"r1"},
	}
	for i := range r.Signature {
		r.Signature[i] = byte(15 - i)
	}
	return r
}

// The columns in the tables of today must stay readable for ever.
func TestLayout(t *testing.T) {
	want := goldenRecord()
	got, err := packed.Decode(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	if appended := packed.Append([]byte("before"), &want); string(appended) != "before"+golden {
		t.Errorf("appended is\n%q\nwant\n%q", appended, golden)
	}
	columns, _ := written(t, []errata.Record{want})
	if column := columns[want.Signature]; column != golden {
		t.Errorf("the column is\n%q\nwant\n%q", column, golden)
	}
}

func TestDecodeRefusesWhatIsNotWhole(t *testing.T) {
	for n := range len(golden) {
		if r, err := packed.Decode(golden[:n]); err == nil {
			t.Errorf("the first %d of %d bytes are read as %+v", n, len(golden), r)
		}
	}
	if _, err := packed.Decode(golden + "x"); err == nil {
		t.Error("a byte too many is taken")
	}
	const status = 94
	if _, err := packed.Decode(golden[:status] + "\x03" + golden[status+1:]); err == nil {
		t.Error("a status that there is not is taken")
	}
}

// FuzzDecode: for any column there is an error, or a record whose texts are as long
// as the column says.
func FuzzDecode(f *testing.F) {
	f.Add(golden)
	f.Add("")
	f.Add(golden[:117] + "\xff\xff\xff\xff")
	f.Fuzz(func(t *testing.T, column string) {
		r, err := packed.Decode(column)
		if err != nil {
			return
		}
		const numbers = 117
		texts := len(r.File) + len(r.Message) + len(r.Class) + len(r.URI) + len(r.Method)
		const length = 4
		texts += length + length
		for _, name := range slices.Concat(r.Environments, r.Releases) {
			texts += length + len(name)
		}
		if texts != len(column)-numbers {
			t.Errorf("%d bytes of texts in a column of %d", texts, len(column))
		}
		again, err := packed.Decode(string(packed.Append(nil, &r)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, again, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
			t.Errorf("appended and decoded again (-before +after):\n%s", diff)
		}
	})
}
