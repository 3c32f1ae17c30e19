package settings_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/settings"
	"github.com/errata-log/errata/signin"
	"github.com/errata-log/errata/test/testenv"
)

// security is all settings of sign-ins as the log has them.
func security(t *testing.T, s *settings.Store) (all signin.Settings) {
	t.Helper()
	var err error
	for _, step := range []func() error{
		func() error { all.TwoFactor, err = s.ReadTwoFactor(t.Context()); return err },
		func() error { all.Location, err = s.ReadLocation(t.Context()); return err },
		func() error { all.Addresses, err = s.ReadAddresses(t.Context()); return err },
		func() error { all.Localization, err = s.ReadLocalization(t.Context()); return err },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func checkSecurity(t *testing.T, what string, got, want signin.Settings) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.Comparer(signin.Whitelist.Equal)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func must[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Error(err) // also of other goroutines
		}
		return value
	}
}

func setTwoFactor(t *testing.T, s *settings.Store, change func(*signin.TwoFactor)) signin.TwoFactor {
	t.Helper()
	return must[signin.TwoFactor](t)(s.UpdateTwoFactor(t.Context(), func(v signin.TwoFactor) (signin.TwoFactor, error) { change(&v); return v, nil }))
}

func setLocation(t *testing.T, s *settings.Store, change func(*signin.Location)) signin.Location {
	t.Helper()
	return must[signin.Location](t)(s.UpdateLocation(t.Context(), func(v signin.Location) (signin.Location, error) { change(&v); return v, nil }))
}

func setAddresses(t *testing.T, s *settings.Store, change func(*signin.Addresses)) signin.Addresses {
	t.Helper()
	return must[signin.Addresses](t)(s.UpdateAddresses(t.Context(), func(v signin.Addresses) (signin.Addresses, error) { change(&v); return v, nil }))
}

func setLocalization(t *testing.T, s *settings.Store, module string) {
	t.Helper()
	must[signin.Localization](t)(s.UpdateLocalization(t.Context(), func(signin.Localization) (signin.Localization, error) {
		return signin.Localization{IPModule: module}, nil
	}))
}

func whitelist(t *testing.T, text string) signin.Whitelist {
	t.Helper()
	return must[signin.Whitelist](t)(signin.ParseWhitelist(text))
}

func TestSecurityUntilSomebodySetsIt(t *testing.T) {
	env := testenv.NewBroker(t)
	s := open(t, env)
	checkSecurity(t, "read", security(t, s), signin.Standard())
	checkSecurity(t, "snapshot", s.Snapshot().Security, signin.Standard())
	setTwoFactor(t, s, func(*signin.TwoFactor) {})
	setAddresses(t, s, func(a *signin.Addresses) { a.Admin.Whitelist = whitelist(t, "\n") })
	if all := facts(t, env); len(all) != 0 {
		t.Errorf("%d facts were written for nothing", len(all))
	}
}

// TestSecurityFacts pins the facts that the audit trail and other versions
// read.
func TestSecurityFacts(t *testing.T) {
	env := testenv.NewBroker(t)
	s := open(t, env)
	setTwoFactor(t, s, func(v *signin.TwoFactor) { v.Authentications, v.Admin = []string{"totp"}, true })
	setLocation(t, s, func(v *signin.Location) { v.Client.Status = true })
	setAddresses(t, s, func(v *signin.Addresses) { v.Admin.Whitelist = whitelist(t, "10.0.0.0/8\n::1") })
	setLocalization(t, s, "mmdb")
	const place = `{"status":%d,"method":"Email","type":"country"}`
	off, on := fmt.Sprintf(place, 0), fmt.Sprintf(place, 1)
	want := map[string]string{
		"security.two_factor": `"before":{"authentications":[],"admin":0,"client":0,"show_popup":0},"after":{"authentications":["totp"],"admin":1,"client":0,"show_popup":0}}`,
		"security.location":   `"before":{"admin":` + off + `,"client":` + off + `},"after":{"admin":` + off + `,"client":` + on + `}}`,
		"security.ip":         `"before":{"admin":{"status":0,"whitelist":""},"client":{"status":0,"whitelist":""}},"after":{"admin":{"status":0,"whitelist":"10.0.0.0/8\n::1"},"client":{"status":0,"whitelist":""}}}`,
		"localization":        `"before":{"ip_module":""},"after":{"ip_module":"mmdb"}}`,
	}
	got := map[string]string{}
	for _, f := range facts(t, env) {
		got[f.Name] = strings.TrimPrefix(string(f.Data), `{"v":1,`)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestTwoAdminsLoseNothing: writers on two nodes set one side or one field
// each, all at once, and a restart keeps it.
func TestTwoAdminsLoseNothing(t *testing.T) {
	env := testenv.NewBroker(t)
	nodes := []*settings.Store{open(t, env), open(t, env)}
	var writers sync.WaitGroup
	for i, change := range []func(s *settings.Store){
		func(s *settings.Store) {
			setTwoFactor(t, s, func(v *signin.TwoFactor) { v.Authentications = []string{"totp", "email"} })
		},
		func(s *settings.Store) { setTwoFactor(t, s, func(v *signin.TwoFactor) { v.Admin = true }) },
		func(s *settings.Store) { setTwoFactor(t, s, func(v *signin.TwoFactor) { v.Client = true }) },
		func(s *settings.Store) { setTwoFactor(t, s, func(v *signin.TwoFactor) { v.ShowPopup = true }) },
		func(s *settings.Store) { setLocation(t, s, func(v *signin.Location) { v.Admin.Status = true }) },
		func(s *settings.Store) { setLocation(t, s, func(v *signin.Location) { v.Client.Type = "city" }) },
		func(s *settings.Store) { setLocation(t, s, func(v *signin.Location) { v.Client.Method = "sms" }) },
		func(s *settings.Store) { setAddresses(t, s, func(v *signin.Addresses) { v.Admin.Status = true }) },
		func(s *settings.Store) {
			setAddresses(t, s, func(v *signin.Addresses) { v.Client.Whitelist = whitelist(t, "10.0.0.0/8") })
		},
		func(s *settings.Store) { setLocalization(t, s, "mmdb") },
		func(s *settings.Store) { set(t, s, func(l *errata.Logging) { l.Development = true }) },
	} {
		writers.Go(func() { change(nodes[i%2]) })
	}
	writers.Wait()
	want := signin.Settings{
		TwoFactor: signin.TwoFactor{Authentications: []string{"totp", "email"}, Admin: true, Client: true, ShowPopup: true},
		Location: signin.Location{
			Admin:  signin.LocationSide{Status: true, Method: "Email", Type: "country"},
			Client: signin.LocationSide{Method: "sms", Type: "city"},
		},
		Addresses: signin.Addresses{
			Admin:  signin.AddressSide{Status: true},
			Client: signin.AddressSide{Whitelist: whitelist(t, "10.0.0.0/8")},
		},
		Localization: signin.Localization{IPModule: "mmdb"},
	}
	for i, s := range nodes {
		checkSecurity(t, fmt.Sprint("node ", i), security(t, s), want)
		checkSecurity(t, fmt.Sprint("snapshot of node ", i), s.Snapshot().Security, want)
		s.Close()
	}
	if env.Embedded() {
		env.RestartNATS()
	}
	checkSecurity(t, "snapshot after a restart", open(t, env).Snapshot().Security, want)
}

// TestLongestWhitelists: the longest lists of both sides with the longest
// addresses, before and after, fit into one message of the log.
func TestLongestWhitelists(t *testing.T) {
	env := testenv.NewBroker(t)
	s := open(t, env)
	longest := func(head byte) signin.Whitelist {
		prefixes := make([]netip.Prefix, signin.MaxWhitelist)
		for i := range prefixes {
			raw := [16]byte{0: head, 1: byte(i), 2: byte(i >> 8)}
			for j := 3; j < len(raw); j++ {
				raw[j] = byte(17*i + 31*j)
			}
			prefixes[i] = netip.PrefixFrom(netip.AddrFrom16(raw), 128)
		}
		return must[signin.Whitelist](t)(signin.NewWhitelist(prefixes))
	}
	var want signin.Addresses
	for i := range 2 {
		want = signin.Addresses{
			Admin:  signin.AddressSide{Status: true, Whitelist: longest(byte(0x20 + 2*i))},
			Client: signin.AddressSide{Whitelist: longest(byte(0x21 + 2*i))},
		}
		began := time.Now()
		setAddresses(t, s, func(v *signin.Addresses) { *v = want })
		t.Logf("set in %v", time.Since(began))
	}
	all := facts(t, env)
	t.Logf("%d bytes", len(all[len(all)-1].Data))
	began := time.Now()
	if got := must[signin.Addresses](t)(s.ReadAddresses(t.Context())); !got.Equal(want) {
		t.Error("what was read is not what was set")
	}
	t.Logf("read in %v", time.Since(began))
	if again := open(t, env); !again.Snapshot().Security.Addresses.Equal(want) {
		t.Error("a node that starts now has other lists")
	}
	// Mixed lists, short and long, keep their order.
	mixed := strings.Repeat("10.0.0.0/8\n2001:db8::/32\n192.0.2.1\n::1\n0.0.0.0/0\n::/0\n", 100)
	setAddresses(t, s, func(v *signin.Addresses) {
		v.Admin.Whitelist, v.Client.Whitelist = whitelist(t, mixed), whitelist(t, "::/0")
	})
	got := must[signin.Addresses](t)(s.ReadAddresses(t.Context()))
	if got.Admin.Whitelist.String() != strings.TrimSuffix(mixed, "\n") || got.Client.Whitelist.String() != "::/0" || !bool(got.Admin.Status) {
		t.Errorf("got %.100q and %q", got.Admin.Whitelist, got.Client.Whitelist)
	}
}

// TestBrokenWhitelists: a list that no version has written is refused; the
// lists before it stay in force.
func TestBrokenWhitelists(t *testing.T) {
	env := testenv.NewBroker(t)
	s := open(t, env)
	setAddresses(t, s, func(v *signin.Addresses) { v.Client.Whitelist = whitelist(t, "192.0.2.0/24") })
	before, _, err := eventlog.LastSetting(t.Context(), logOf(env), "security.ip")
	if err != nil {
		t.Fatal(err)
	}
	last := before.Sequence
	for _, after := range []string{
		`{"admin":{"whitelist":"x"}}`, `{"admin":{"whitelist_packed":"CA=="}}`, `{"client":{"whitelist_packed":"yAAAAAAAAAAAAAAAAAAAAAA="}}`,
		`{"client":{"whitelist_packed":"CAoAAAE="}}`, `{"client":{"status":2}}`, `{"admin":1}`,
	} {
		if !json.Valid([]byte(after)) {
			t.Fatal(after)
		}
		if last, err = eventlog.AppendSetting(t.Context(), logOf(env), "security.ip", []byte(`{"v":1,"after":`+after+`}`), last); err != nil {
			t.Fatal(err)
		}
		if got, err := s.ReadAddresses(t.Context()); err != nil || got.Client.Whitelist.String() != "192.0.2.0/24" || got.Admin.Whitelist.Len() != 0 {
			t.Errorf("%s: %+v, error %v, want the lists before", after, got, err)
		}
	}
	// A field that an old fact does not have keeps its standard value.
	if _, err := eventlog.AppendSetting(t.Context(), logOf(env), "security.ip", []byte(`{"v":1,"after":{"admin":{"status":1}}}`), last); err != nil {
		t.Fatal(err)
	}
	if got := must[signin.Addresses](t)(s.ReadAddresses(t.Context())); !bool(got.Admin.Status) || got.Admin.Whitelist.Len() != 0 {
		t.Errorf("an old fact: %+v", got)
	}
}
