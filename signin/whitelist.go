package signin

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"go4.org/netipx"

	errata "github.com/errata-log/errata"
)

// MaxWhitelist bounds the lines of a whitelist. The lists of both sides, before
// and after a change, are one message of the log, which has at most 1 MiB.
const MaxWhitelist = 10_000

// Whitelist is a list of addresses and prefixes. The zero value is the empty
// one. It never changes.
type Whitelist struct {
	// prefixes are the lines in the order they were sent. IPv4 is not mapped to
	// IPv6, an address is a prefix of full length, and no bits are set behind
	// the length.
	prefixes []netip.Prefix
	// addresses are what the prefixes hold, nil for the empty list.
	addresses *netipx.IPSet
}

// ParseWhitelist reads one address or prefix a line, IPv4 or IPv6; lines end
// with LF or CRLF, blanks around an entry and empty lines are dropped. An IPv4
// address in an IPv6 one is taken as IPv4. A zone means something on one
// machine only, and some programs read leading zeros as octal, so both are
// refused. Errors: *[errata.Error] invalid_whitelist, which names the line and
// its text.
func ParseWhitelist(text string) (Whitelist, error) {
	var prefixes []netip.Prefix
	number := 0
	for line := range strings.SplitSeq(text, "\n") {
		number++
		entry := strings.Trim(line, " \t\r")
		if entry == "" {
			continue
		}
		prefix, ok := errata.ParsePrefix(entry)
		if !ok {
			return Whitelist{}, errata.Errorf(errata.KindInvalidWhitelist,
				"Line %d, %s, is neither an address, like 203.0.113.9 or 2001:db8::1, nor a prefix, like 10.0.0.0/8.", number, quoted(entry)).
				With(map[string]any{"line": number, "text": shortened(entry)})
		}
		if len(prefixes) == MaxWhitelist {
			return Whitelist{}, errata.Errorf(errata.KindInvalidWhitelist,
				"Line %d, %s, is one more than the %d entries that a whitelist takes; join addresses into prefixes.", number, quoted(entry), MaxWhitelist).
				With(map[string]any{"line": number, "text": shortened(entry), "max": MaxWhitelist})
		}
		prefixes = append(prefixes, prefix)
	}
	return NewWhitelist(prefixes)
}

// NewWhitelist makes a whitelist of prefixes in the form of
// [Whitelist.Prefixes]. The error names a prefix of another form, or says that
// they are too many.
func NewWhitelist(prefixes []netip.Prefix) (Whitelist, error) {
	if len(prefixes) > MaxWhitelist {
		return Whitelist{}, fmt.Errorf("%d prefixes are more than the %d of a whitelist", len(prefixes), MaxWhitelist)
	}
	if len(prefixes) == 0 {
		return Whitelist{}, nil
	}
	var set netipx.IPSetBuilder
	for _, p := range prefixes {
		if !p.IsValid() || p != p.Masked() || p.Addr().Is4In6() {
			return Whitelist{}, fmt.Errorf("%v is no prefix of a whitelist", p)
		}
		set.AddPrefix(p)
	}
	addresses, err := set.IPSet()
	if err != nil {
		return Whitelist{}, fmt.Errorf("join the prefixes of a whitelist: %w", err)
	}
	return Whitelist{prefixes: slices.Clone(prefixes), addresses: addresses}, nil
}

// Contains says whether the address is on the list; the zero Addr never is. Its
// time grows with the logarithm of the length of the list.
func (w Whitelist) Contains(addr netip.Addr) bool {
	return w.addresses != nil && w.addresses.Contains(plain(addr))
}

// plain is the address in the form of lists: IPv4 not mapped to IPv6, no zone.
func plain(addr netip.Addr) netip.Addr { return addr.Unmap().WithZone("") }

// Prefixes are the entries in their order. The slice is read only.
func (w Whitelist) Prefixes() []netip.Prefix { return w.prefixes }

// Len is the number of entries.
func (w Whitelist) Len() int { return len(w.prefixes) }

// String is what ParseWhitelist reads: a line each in normal form, an address
// without a length, no line end behind the last.
func (w Whitelist) String() string {
	lines := make([]string, len(w.prefixes))
	for i, p := range w.prefixes {
		lines[i] = errata.PrefixText(p)
	}
	return strings.Join(lines, "\n")
}

// Equal says whether both have the same entries in the same order.
func (w Whitelist) Equal(other Whitelist) bool { return slices.Equal(w.prefixes, other.prefixes) }

// MarshalJSON writes the list as one text.
func (w Whitelist) MarshalJSON() ([]byte, error) { return json.Marshal(w.String()) }

// UnmarshalJSON reads what MarshalJSON writes.
func (w *Whitelist) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("whitelist: %w", err)
	}
	read, err := ParseWhitelist(text)
	if err != nil {
		// Not wrapped: the text comes from a store, so that no caller can be told.
		return errors.New("whitelist: " + err.Error())
	}
	*w = read
	return nil
}
