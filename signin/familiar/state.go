package familiar

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"slices"
	"time"

	"github.com/errata-log/errata/signin"
)

const (
	// maxPlaces and maxAddresses bound what is kept of an account; the one seen
	// longest ago goes first. People are at home in a few places, and phones
	// change their addresses all the time.
	maxPlaces    = 8
	maxAddresses = 16
	// keyBytes is how much of the hash is used: enough that no two accounts
	// share a key.
	keyBytes = 16
)

// Key names an account: 32 hex digits, of its side and its name as it was sent.
func Key(side signin.Side, account string) string {
	hash := sha256.New()
	for _, part := range []string{string(side), account} {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		hash.Write(length[:])
		hash.Write([]byte(part))
	}
	return hex.EncodeToString(hash.Sum(nil)[:keyBytes])
}

// isKey says whether the text has the form of a Key. No other text becomes a
// key of the bucket.
func isKey(text string) bool {
	raw, err := hex.DecodeString(text)
	return err == nil && len(raw) == keyBytes && text == hex.EncodeToString(raw)
}

// Outcome is how a sign-in ended, as it stands on the log.
type Outcome struct {
	// Account is its Key.
	Account string      `json:"account"`
	Side    signin.Side `json:"side"`
	// At is when it was reported, in milliseconds since 1970.
	At      int64      `json:"at"`
	Address netip.Addr `json:"ip"`
	// Place is where Address was then. A newer database may place it elsewhere,
	// and each reading of the log must give the same.
	Place   signin.Place `json:"place"`
	Success bool         `json:"success"`
	Methods []string     `json:"methods_used,omitempty"`
}

// State is what is known of one account. The zero State knows nothing. Both
// lists are ordered by when an entry was seen, newest first.
type State struct {
	Places    []Seen[signin.Place] `json:"places,omitempty"`
	Addresses []Seen[netip.Addr]   `json:"addrs,omitempty"`
}

// Seen is a place or an address with the newest sign-in from there.
type Seen[T comparable] struct {
	What T `json:"is"`
	// Day is its date in UTC, counted from 1970, and Sequence its place on the
	// log.
	Day      int64  `json:"day"`
	Sequence uint64 `json:"seq"`
}

func dayOf(t time.Time) int64 { return t.Unix() / int64(24*time.Hour/time.Second) }

// Apply is the state after the outcome at the sequence. Entries not seen for
// the days before the newest sign-in are forgotten. The result does not depend
// on the order in which outcomes are applied, nor on how often: for each entry
// the newest sign-in counts, and an entry that was forgotten cannot come back.
func (s State) Apply(sequence uint64, o Outcome, days int) State {
	if !o.Success || !o.Address.IsValid() {
		return s
	}
	day := dayOf(time.UnixMilli(o.At))
	next := State{Places: s.Places, Addresses: see(s.Addresses, o.Address, day, sequence)}
	if o.Place.Country != "" {
		next.Places = see(s.Places, o.Place, day, sequence)
	}
	// Each outcome has an address, so the first address has the newest day.
	from := next.Addresses[0].Day - int64(days)
	next.Addresses = trim(next.Addresses, from, maxAddresses)
	next.Places = trim(next.Places, from, maxPlaces)
	return next
}

// see adds a sign-in to a copy of the list.
func see[T comparable](list []Seen[T], what T, day int64, sequence uint64) []Seen[T] {
	next := append(slices.Clone(list), Seen[T]{what, day, sequence})
	slices.SortFunc(next, func(a, b Seen[T]) int {
		return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(b.Sequence, a.Sequence))
	})
	seen := make(map[T]bool, len(next))
	return slices.DeleteFunc(next, func(s Seen[T]) bool {
		again := seen[s.What]
		seen[s.What] = true
		return again
	})
}

// trim drops what was seen before the day and what is over the limit.
func trim[T comparable](list []Seen[T], from int64, limit int) []Seen[T] {
	kept := min(len(list), limit)
	for kept > 0 && list[kept-1].Day < from {
		kept--
	}
	return list[:kept]
}

// Known is what is familiar of an account.
type Known struct {
	Places    []signin.Place
	Addresses []netip.Addr
}

// At is what of the state is familiar at a time: what was seen within the days
// before.
func (s State) At(now time.Time, days int) (k Known) {
	from := dayOf(now) - int64(days)
	for _, p := range trim(s.Places, from, maxPlaces) {
		k.Places = append(k.Places, p.What)
	}
	for _, a := range trim(s.Addresses, from, maxAddresses) {
		k.Addresses = append(k.Addresses, a.What)
	}
	return k
}

func (s State) equal(t State) bool {
	return slices.Equal(s.Places, t.Places) && slices.Equal(s.Addresses, t.Addresses)
}
