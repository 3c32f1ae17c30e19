package settings

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"

	"github.com/errata-log/errata/signin"
)

// The settings of the package signin. Each is a setting of its own, so that a
// change of one never conflicts with a change of another.
var (
	twoFactor = setting[signin.TwoFactor]{
		name:     "security.two_factor",
		standard: signin.Standard().TwoFactor,
		in:       func(s *Snapshot) *signin.TwoFactor { return &s.Security.TwoFactor },
		equal:    signin.TwoFactor.Equal,
	}
	location = setting[signin.Location]{
		name:     "security.location",
		standard: signin.Standard().Location,
		in:       func(s *Snapshot) *signin.Location { return &s.Security.Location },
		equal:    func(a, b signin.Location) bool { return a == b },
	}
	addressBook = setting[addresses]{
		name:     "security.ip",
		standard: addresses(signin.Standard().Addresses),
		in:       func(s *Snapshot) *addresses { return (*addresses)(&s.Security.Addresses) },
		equal:    func(a, b addresses) bool { return signin.Addresses(a).Equal(signin.Addresses(b)) },
	}
	localization = setting[signin.Localization]{
		name:     "localization",
		standard: signin.Standard().Localization,
		in:       func(s *Snapshot) *signin.Localization { return &s.Security.Localization },
		equal:    func(a, b signin.Localization) bool { return a == b },
	}
)

// ReadTwoFactor and UpdateTwoFactor, like the functions below, work as
// ReadLogging and UpdateLogging do.
func (s *Store) ReadTwoFactor(ctx context.Context) (signin.TwoFactor, error) {
	return read(ctx, s, twoFactor)
}

// UpdateTwoFactor sets the second step.
func (s *Store) UpdateTwoFactor(ctx context.Context, change func(signin.TwoFactor) (signin.TwoFactor, error)) (signin.TwoFactor, error) {
	return update(ctx, s, twoFactor, change)
}

// ReadLocation asks the log for the check of places.
func (s *Store) ReadLocation(ctx context.Context) (signin.Location, error) {
	return read(ctx, s, location)
}

// UpdateLocation sets the check of places.
func (s *Store) UpdateLocation(ctx context.Context, change func(signin.Location) (signin.Location, error)) (signin.Location, error) {
	return update(ctx, s, location, change)
}

// ReadAddresses asks the log for the check of addresses.
func (s *Store) ReadAddresses(ctx context.Context) (signin.Addresses, error) {
	value, err := read(ctx, s, addressBook)
	return signin.Addresses(value), err
}

// UpdateAddresses sets the check of addresses.
func (s *Store) UpdateAddresses(ctx context.Context, change func(signin.Addresses) (signin.Addresses, error)) (signin.Addresses, error) {
	value, err := update(ctx, s, addressBook, func(a addresses) (addresses, error) {
		after, err := change(signin.Addresses(a))
		return addresses(after), err
	})
	return signin.Addresses(value), err
}

// ReadLocalization asks the log for the choice of the location module.
func (s *Store) ReadLocalization(ctx context.Context) (signin.Localization, error) {
	return read(ctx, s, localization)
}

// UpdateLocalization sets the choice of the location module.
func (s *Store) UpdateLocalization(ctx context.Context, change func(signin.Localization) (signin.Localization, error)) (signin.Localization, error) {
	return update(ctx, s, localization, change)
}

// addresses are signin.Addresses as they stand on the log.
type addresses signin.Addresses

// readableWhitelist is how many entries of a whitelist stand on the log as
// text, for the audit trail. A longer one is packed: the longest two, before
// and after, would not fit into a message of 1 MiB as text.
const readableWhitelist = 500

type addressFact struct {
	Admin  addressSideFact `json:"admin"`
	Client addressSideFact `json:"client"`
}

// addressSideFact has one of the lists, or none where it keeps its standard.
type addressSideFact struct {
	Status    *signin.Flag      `json:"status,omitempty"`
	Whitelist *signin.Whitelist `json:"whitelist,omitempty"`
	Packed    []byte            `json:"whitelist_packed,omitempty"`
}

// MarshalJSON writes the form on the log.
func (a addresses) MarshalJSON() ([]byte, error) {
	side := func(s signin.AddressSide) addressSideFact {
		if s.Whitelist.Len() > readableWhitelist {
			return addressSideFact{Status: &s.Status, Packed: pack(s.Whitelist)}
		}
		return addressSideFact{Status: &s.Status, Whitelist: &s.Whitelist}
	}
	return json.Marshal(addressFact{side(a.Admin), side(a.Client)})
}

// UnmarshalJSON reads the form on the log; a member that is missing changes
// nothing.
func (a *addresses) UnmarshalJSON(data []byte) error {
	var f addressFact
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	for _, side := range []struct {
		to   *signin.AddressSide
		from addressSideFact
	}{{&a.Admin, f.Admin}, {&a.Client, f.Client}} {
		if side.from.Status != nil {
			side.to.Status = *side.from.Status
		}
		if side.from.Whitelist != nil {
			side.to.Whitelist = *side.from.Whitelist
		}
		if side.from.Packed == nil {
			continue
		}
		list, err := unpack(side.from.Packed)
		if err != nil {
			return fmt.Errorf("whitelist: %w", err)
		}
		side.to.Whitelist = list
	}
	return nil
}

// packedV6 is added to the length of an IPv6 prefix.
const packedV6 = 64

// pack is each prefix as a byte, its length, and its address in 4 or 16 bytes.
func pack(w signin.Whitelist) []byte {
	const longest = 1 + 16
	packed := make([]byte, 0, w.Len()*longest)
	for _, p := range w.Prefixes() {
		length := p.Bits()
		if p.Addr().Is6() {
			length += packedV6
		}
		packed = append(packed, byte(length))
		packed = append(packed, p.Addr().AsSlice()...)
	}
	return packed
}

func unpack(packed []byte) (signin.Whitelist, error) {
	var prefixes []netip.Prefix
	for len(packed) > 0 {
		length, size := int(packed[0]), 4
		if length >= packedV6 {
			length, size = length-packedV6, 16
		}
		if len(packed) < 1+size {
			return signin.Whitelist{}, fmt.Errorf("the packed list breaks off in entry %d", len(prefixes)+1)
		}
		addr, _ := netip.AddrFromSlice(packed[1 : 1+size])
		prefixes = append(prefixes, netip.PrefixFrom(addr, length))
		packed = packed[1+size:]
	}
	return signin.NewWhitelist(prefixes)
}
