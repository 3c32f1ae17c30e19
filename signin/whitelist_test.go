package signin_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/signin"
)

func TestWhitelistForm(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "",
		"\n\r\n \t\n":                      "",
		"10.0.0.1":                         "10.0.0.1",
		"10.0.0.1\r\n10.0.0.2\r\n":         "10.0.0.1\n10.0.0.2",
		" 10.0.0.2\t\n\n10.0.0.1":          "10.0.0.2\n10.0.0.1",
		"10.0.0.1\n10.0.0.1":               "10.0.0.1\n10.0.0.1",
		"10.1.2.3/8\n2001:DB8:0:0::1/32":   "10.0.0.0/8\n2001:db8::/32",
		"::ffff:10.0.0.1\n192.0.2.1/32":    "10.0.0.1\n192.0.2.1",
		"::ffff:10.9.9.9/104\n::ffff:0/96": "10.0.0.0/8\n::/96", // ::ffff:0 is of IPv6
	} {
		w, err := signin.ParseWhitelist(text)
		if err != nil || w.String() != want {
			t.Errorf("%q: %q, %v, want %q", text, w.String(), err, want)
		}
	}
}

func TestWhitelistNamesTheLine(t *testing.T) {
	for _, c := range []struct {
		text string
		line int
		says string
	}{
		{"x", 1, `"x"`},
		{"\n\r\n10.0.0.1\n\nlocalhost\ny", 5, `"localhost"`},
		{"10.0.0.01", 1, "10.0.0.01"},
		{"10.0.0.1/08", 1, "/08"},
		{"10.0.0.1/", 1, "10.0.0.1/"},
		{"fe80::1%1", 1, "%1"},
		{"10.0.0.1\r10.0.0.2", 1, `10.0.0.1\r10.0.0.2`},
		{"10.0.0.1\v", 1, `\v`},
		{strings.Repeat("::1\n", signin.MaxWhitelist) + "\n::2", signin.MaxWhitelist + 2, "10000"},
	} {
		_, err := signin.ParseWhitelist(c.text)
		e, ok := errors.AsType[*errata.Error](err)
		if !ok || e.Kind != errata.KindInvalidWhitelist || !strings.Contains(e.Message, c.says) ||
			e.Details.(map[string]any)["line"] != c.line || !strings.Contains(e.Message, fmt.Sprint("Line ", c.line)) {
			t.Errorf("%.40q: %v, want line %d and %q", c.text, err, c.line, c.says)
		}
	}
	if _, err := signin.ParseWhitelist(strings.Repeat("::1\n\n", signin.MaxWhitelist)); err != nil {
		t.Errorf("empty lines count: %v", err)
	}
}

// anyPrefix draws prefixes that often overlap.
func anyPrefix(t *rapid.T) netip.Prefix {
	addr := anyAddr(t, "prefix")
	bits := rapid.IntRange(0, addr.BitLen()).Draw(t, "bits")
	return netip.PrefixFrom(addr, bits).Masked()
}

func anyAddr(t *rapid.T, name string) netip.Addr {
	low := rapid.SampledFrom([]uint32{0, 1, 2, 255, 256, 1 << 31, 1<<32 - 1}).Draw(t, name)
	if rapid.Bool().Draw(t, name+" of IPv4") {
		return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, low)))
	}
	var raw [16]byte
	raw[0] = rapid.SampledFrom([]byte{0, 0x20, 0xff}).Draw(t, name+" head")
	binary.BigEndian.PutUint32(raw[12:], low)
	return netip.AddrFrom16(raw)
}

// TestWhitelistContains: the whitelist contains the addresses of its prefixes,
// and its text can be read back.
func TestWhitelistContains(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prefixes := rapid.SliceOfN(rapid.Custom(anyPrefix), 0, 12).Draw(t, "prefixes")
		w, err := signin.NewWhitelist(prefixes)
		if err != nil {
			t.Fatal(err)
		}
		for range 8 {
			addr := anyAddr(t, "addr")
			want := slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(addr) })
			if w.Contains(addr) != want {
				t.Fatalf("%v in %v: %v, want %v", addr, prefixes, !want, want)
			}
		}
		again, err := signin.ParseWhitelist(strings.ReplaceAll(w.String(), "\n", "\r\n"))
		if err != nil || !again.Equal(w) || again.Len() != len(prefixes) {
			t.Fatalf("%q was read as %q, %v", w, again, err)
		}
		data, err := json.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		var decoded signin.Whitelist
		if err := json.Unmarshal(data, &decoded); err != nil || !decoded.Equal(w) {
			t.Fatalf("%s was read as %v, %v", data, decoded, err)
		}
	})
}

func TestWhitelistOfStrangeAddresses(t *testing.T) {
	all := list(t, "0.0.0.0/0\n::/0")
	for _, text := range []string{"0.0.0.0", "255.255.255.255", "::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "::ffff:1.2.3.4", "fe80::1%eth0"} {
		if !all.Contains(netip.MustParseAddr(text)) {
			t.Errorf("%s is not in everything", text)
		}
	}
	if all.Contains(netip.Addr{}) || (signin.Whitelist{}).Contains(netip.Addr{}) {
		t.Error("an address that nobody knows is on a list")
	}
	if list(t, "10.0.0.0/8").Contains(netip.MustParseAddr("a00::1")) {
		t.Error("an IPv6 address is in an IPv4 prefix")
	}
	for _, p := range []netip.Prefix{{}, netip.MustParsePrefix("10.0.0.1/8"), netip.MustParsePrefix("::ffff:10.0.0.0/104")} {
		if _, err := signin.NewWhitelist([]netip.Prefix{p}); err == nil {
			t.Errorf("%v was taken", p)
		}
	}
	if _, err := signin.NewWhitelist(make([]netip.Prefix, signin.MaxWhitelist+1)); err == nil {
		t.Error("too many were taken")
	}
}

func FuzzWhitelist(f *testing.F) {
	for _, seed := range []string{"", "10.0.0.1\r\n\n::1/64", "::ffff:10.0.0.0/104", "10.0.0.01", "fe80::1%eth0", "1.2.3.4/33", "\r", "0.0.0.0/0\n::/0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		w, err := signin.ParseWhitelist(text)
		if err != nil {
			e, ok := errors.AsType[*errata.Error](err)
			if !ok || e.Kind != errata.KindInvalidWhitelist || len(e.Message) > 1000 {
				t.Fatalf("%q: %v", text, err)
			}
			line := e.Details.(map[string]any)["line"].(int)
			lines := strings.Split(text, "\n")
			if line < 1 || line > len(lines) {
				t.Fatalf("%q: line %d of %d", text, line, len(lines))
			}
			if _, err := signin.ParseWhitelist(strings.Join(lines[:line-1], "\n")); err != nil {
				t.Fatalf("%q: what comes before line %d is wrong too: %v", text, line, err)
			}
			return
		}
		again, err := signin.ParseWhitelist(w.String())
		if err != nil || !again.Equal(w) {
			t.Fatalf("%q: %q is read as %q, %v", text, w, again, err)
		}
		for _, p := range w.Prefixes() {
			if !w.Contains(p.Addr()) {
				t.Fatalf("%q does not contain its own %v", text, p)
			}
		}
	})
}

func longest() string {
	var lines []string
	for i := range signin.MaxWhitelist {
		lines = append(lines, netip.AddrFrom16([16]byte{0: 0x20, 7: byte(i), 9: byte(i >> 8), 15: 1}).String())
	}
	return strings.Join(lines, "\n")
}

func BenchmarkParseWhitelist(b *testing.B) {
	text := longest()
	for b.Loop() {
		if _, err := signin.ParseWhitelist(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkContains(b *testing.B) {
	w, err := signin.ParseWhitelist(longest())
	if err != nil {
		b.Fatal(err)
	}
	addr := netip.MustParseAddr("2000:0:0:7f::2")
	for b.Loop() {
		if w.Contains(addr) {
			b.Fatal("it is not on the list")
		}
	}
}
