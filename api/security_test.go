package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/errata-log/errata/signin"
	"github.com/errata-log/errata/signin/service"
)

// securitySettings are those of the service over settings in memory.
type securitySettings struct {
	service.Security
	kept *keptSettings
}

// keptSettings keeps them in memory, or fails.
type keptSettings struct {
	mu     sync.Mutex
	now    signin.Settings
	err    error
	writes int
}

// everyModule has every sort of module: e-mail, a method of a plug-in, one that
// cannot send codes, and location modules that tell much and little.
func everyModule() signin.Modules {
	m := signin.BuiltIn(true,
		signin.LocationModule{Key: "mmdb", Country: true, Region: true, City: true},
		signin.LocationModule{Key: "coarse", Country: true})
	m.Methods = append(m.Methods, signin.Method{Key: "sms", Name: "Text message", CanSendCode: true})
	return m
}

func newSecuritySettings() *securitySettings {
	kept := &keptSettings{now: signin.Standard()}
	return &securitySettings{service.Security{Settings: kept, Modules: everyModule()}, kept}
}

func readSetting[T any](s *keptSettings, of *T) (T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *of, s.err
}

func updateSetting[T any](s *keptSettings, of *T, change func(T) (T, error)) (value T, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return value, s.err
	}
	if value, err = change(*of); err != nil {
		return value, err
	}
	*of = value
	s.writes++
	return value, nil
}

func (s *keptSettings) ReadTwoFactor(context.Context) (signin.TwoFactor, error) {
	return readSetting(s, &s.now.TwoFactor)
}

func (s *keptSettings) UpdateTwoFactor(_ context.Context, change func(signin.TwoFactor) (signin.TwoFactor, error)) (signin.TwoFactor, error) {
	return updateSetting(s, &s.now.TwoFactor, change)
}

func (s *keptSettings) ReadLocation(context.Context) (signin.Location, error) {
	return readSetting(s, &s.now.Location)
}

func (s *keptSettings) UpdateLocation(_ context.Context, change func(signin.Location) (signin.Location, error)) (signin.Location, error) {
	return updateSetting(s, &s.now.Location, change)
}

func (s *keptSettings) ReadAddresses(context.Context) (signin.Addresses, error) {
	return readSetting(s, &s.now.Addresses)
}

func (s *keptSettings) UpdateAddresses(_ context.Context, change func(signin.Addresses) (signin.Addresses, error)) (signin.Addresses, error) {
	return updateSetting(s, &s.now.Addresses, change)
}

func (s *keptSettings) ReadLocalization(context.Context) (signin.Localization, error) {
	return readSetting(s, &s.now.Localization)
}

func (s *keptSettings) UpdateLocalization(_ context.Context, change func(signin.Localization) (signin.Localization, error)) (signin.Localization, error) {
	return updateSetting(s, &s.now.Localization, change)
}

const (
	twoFactorPath    = "/api/v1/admin/settings/security/two-factor"
	methodsPath      = twoFactorPath + "/methods"
	locationPath     = "/api/v1/admin/settings/security/location-verification"
	addressPath      = "/api/v1/admin/settings/security/ip-verification"
	localizationPath = "/api/v1/admin/settings/localization"
)

// answered is the answer of a setting: its data as in the body, and the codes
// and texts of the warnings.
type answered struct {
	data     string
	codes    []string
	messages []string
}

// ask sends a request that has to succeed.
func (b *bench) ask(t *testing.T, r request) answered {
	t.Helper()
	w := b.do(r)
	var envelope struct {
		Data json.RawMessage
		Meta *struct{ Warnings []signin.Warning }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &envelope); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%s %s %.200s: %d %s", r.method, r.target, r.body, w.Code, w.Body)
	}
	a := answered{data: string(envelope.Data)}
	if envelope.Meta != nil {
		for _, warning := range envelope.Meta.Warnings {
			a.codes, a.messages = append(a.codes, warning.Code), append(a.messages, warning.Message)
		}
	}
	return a
}

// write is one row of a table: read, write, read.
type write struct {
	sentence string
	body     string
	want     string   // of data; "" for as it was
	warns    []string // codes
}

// story makes the writes in turn on one setting. The answer of each write and
// the read after it have the same data.
func story(t *testing.T, b *bench, key, path string, writes []write) {
	t.Helper()
	for _, c := range writes {
		t.Run(c.sentence, func(t *testing.T) {
			before := b.ask(t, request{method: "GET", target: path, key: key})
			want := c.want
			if want == "" {
				want = before.data
			}
			wrote := b.ask(t, request{method: "PUT", target: path, key: key, body: c.body})
			after := b.ask(t, request{method: "GET", target: path, key: key})
			if diff := cmp.Diff(want, wrote.data); diff != "" {
				t.Errorf("PUT %.200s (-want +got):\n%s", c.body, diff)
			}
			if diff := cmp.Diff(want, after.data); diff != "" {
				t.Errorf("GET after %.200s (-want +got):\n%s", c.body, diff)
			}
			if diff := cmp.Diff(c.warns, wrote.codes); diff != "" {
				t.Errorf("PUT %.200s warns (-want +got):\n%s", c.body, diff)
			}
		})
	}
}

// refusal is a body that is refused.
type refusal struct {
	sent         string
	status       int
	code, naming string
}

func refused(t *testing.T, b *bench, key, path string, refusals []refusal) {
	t.Helper()
	before, writes := b.ask(t, request{method: "GET", target: path, key: key}), b.security.kept.writes
	for _, c := range refusals {
		w := b.do(request{method: "PUT", target: path, key: key, body: c.sent})
		var got struct {
			Error struct{ Message string }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if w.Code != c.status || code(t, w) != c.code || !containsFold(got.Error.Message, c.naming) || w.Body.Len() > 1000 {
			t.Errorf("%.100s: got %d %.1000s, want %d %s naming %q", c.sent, w.Code, w.Body, c.status, c.code, c.naming)
		}
	}
	if after := b.ask(t, request{method: "GET", target: path, key: key}); after.data != before.data || b.security.kept.writes != writes {
		t.Errorf("a refused request changed %s into %s", before.data, after.data)
	}
}
