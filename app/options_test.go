package app

import (
	"strings"
	"testing"

	"github.com/errata-log/errata/engine"
)

// The address for analysts opens the embedded ClickHouse, and no other one.
func TestAddressForAnalysts(t *testing.T) {
	for addr, want := range map[string]string{"127.0.0.1": "clickhouse-listen: ", "127.0.0.1:9000": ""} {
		o := DefaultOptions()
		o.ClickHouseListen = addr
		if err := o.Validate(); (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", addr, err)
		}
		o.ClickHouseDSN = "clickhouse://h:9000/d"
		if err := o.Validate(); err == nil || !strings.HasPrefix(err.Error(), "clickhouse-listen: ") {
			t.Errorf("%s beside a server: %v", addr, err)
		}
	}
}

func TestValidate(t *testing.T) {
	if err := DefaultOptions().Validate(); err != nil {
		t.Fatalf("the defaults: %v", err)
	}
	for _, c := range []struct {
		name   string
		change func(*Options)
		field  string // "" for valid
	}{
		{"no data", func(o *Options) { o.Data = " " }, "data"},
		{"listen without port", func(o *Options) { o.Listen = "127.0.0.1" }, "listen"},
		{"listen with empty port", func(o *Options) { o.Listen = "127.0.0.1:" }, "listen"},
		{"listen on all", func(o *Options) { o.Listen = ":0" }, ""},
		{"listen on IPv6", func(o *Options) { o.Listen = "[::1]:80" }, ""},
		{"public URL with path", func(o *Options) { o.PublicURL = "https://example.org/errata" }, ""},
		{"public URL without scheme", func(o *Options) { o.PublicURL = "example.org" }, "public-url"},
		{"one NATS server", func(o *Options) { o.NATSURL = "nats://u:p@h:4222" }, ""},
		{"three NATS servers", func(o *Options) { o.NATSURL = "nats://a,tls://b:1,c:4222" }, ""},
		{"replicas in a cluster", func(o *Options) { o.NATSURL, o.NATSReplicas = "nats://a,b,c", 3 }, ""},
		{"replicas of one server", func(o *Options) { o.NATSReplicas = 3 }, "nats-replicas"},
		{"more replicas than there can be", func(o *Options) { o.NATSURL, o.NATSReplicas = "nats://a", 6 }, "nats-replicas"},
		{"NATS over HTTP", func(o *Options) { o.NATSURL = "nats://a,http://secret@b" }, "nats-url"},
		{"ClickHouse native", func(o *Options) { o.ClickHouseDSN = "clickhouse://h:9000/d?dial_timeout=1s" }, ""},
		{"ClickHouse over HTTP", func(o *Options) { o.ClickHouseDSN = "https://u:secret@h:8443" }, "clickhouse-dsn"},
		{"ClickHouse nonsense", func(o *Options) { o.ClickHouseDSN = "u:secret@h" }, "clickhouse-dsn"},
		{"tiny log", func(o *Options) { o.LogMaxBytes = engine.MinLogMaxBytes - 1 }, "log-max-bytes"},
		{"smallest log", func(o *Options) { o.LogMaxBytes = engine.MinLogMaxBytes }, ""},
		{"negative log", func(o *Options) { o.LogMaxBytes = -1 }, "log-max-bytes"},
		{"no rate limit", func(o *Options) { o.AdminRateLimit = 0 }, ""},
		{"no limit of events", func(o *Options) { o.KeyEventsPerMinute, o.ProjectEventsPerMinute = 0, 0 }, ""},
		{"no budget of new records", func(o *Options) { o.NewRecordsPerHour = 0 }, ""},
		{"negative budget of new records", func(o *Options) { o.NewRecordsPerHour = -1 }, "new-records-per-hour"},
		{"negative limit of a key", func(o *Options) { o.KeyEventsPerMinute = -1 }, "key-events-per-minute"},
		{"negative limit of a project", func(o *Options) { o.ProjectEventsPerMinute = -1 }, "project-events-per-minute"},
		{"negative rate limit", func(o *Options) { o.AdminRateLimit = -1 }, "admin-rate-limit"},
		{"module log for no day", func(o *Options) { o.ModuleLogDays = 0 }, "module-log-days"},
		{"query log for a century", func(o *Options) { o.QueryLogDays = 36500 }, "query-log-days"},
		{"query log for a day", func(o *Options) { o.QueryLogDays = 1 }, ""},
		{"no project for old files", func(o *Options) { o.LegacyProject = 0 }, "legacy-project"},
		{"empty root", func(o *Options) { o.InstallRoots = []string{"/srv", ""} }, "install-roots"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := DefaultOptions()
			c.change(&o)
			err := o.Validate()
			if c.field == "" {
				if err != nil {
					t.Fatalf("got %v, want none", err)
				}
				return
			}
			if err == nil || !strings.HasPrefix(err.Error(), c.field+":") {
				t.Fatalf("got %v, want an error of %s", err, c.field)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error shows a password: %v", err)
			}
		})
	}
}

func TestHostsOfAlertsAreValidated(t *testing.T) {
	o := DefaultOptions()
	o.AlertAllowHosts = []string{"chat.internal", "10.0.0.7:8065", "[fd00::1]:80"}
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
	for _, wrong := range []string{"https://chat.internal", "chat.internal:0", "a b", "10.0.0.0/8"} {
		o.AlertAllowHosts = []string{"chat.internal", wrong}
		if err := o.Validate(); err == nil || !strings.HasPrefix(err.Error(), "alert-allow-hosts: \""+wrong+"\"") {
			t.Errorf("%s: got %v, want an error that names it", wrong, err)
		}
	}
}

func TestScrubbingIsValidated(t *testing.T) {
	for _, c := range []struct {
		change func(*Options)
		want   string
	}{
		{func(o *Options) { o.Scrub.Keys = []string{"id"} }, "scrub-keys: "},
		{func(o *Options) { o.Scrub.Patterns = []string{"[a"} }, "scrub-patterns: "},
		{func(o *Options) { o.Scrub.QueryAllow = []string{"token"} }, "scrub-query-allow: "},
		{func(*Options) {}, ""},
	} {
		o := DefaultOptions()
		c.change(&o)
		if err := o.Validate(); (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
