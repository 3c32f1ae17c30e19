package main

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// load reads the settings from a file text ("" for no file), variables and flags.
func loadSettings(t *testing.T, file string, environ, args []string) (*config, string, error) {
	t.Helper()
	path := ""
	if file != "" {
		path = filepath.Join(t.TempDir(), "errata.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		environ = append(slices.Clone(environ), "ERRATA_CONFIG="+path)
	}
	cmd := &cobra.Command{}
	addSettings(cmd)
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatalf("parse %q: %v", args, err)
	}
	c, err := loadConfig(cmd.Flags(), environ)
	return c, path, err
}

// TestPrecedence walks all settings through all layers.
//
// long: a table with a row for each setting.
func TestPrecedence(t *testing.T) {
	// Each setting with a value for the file, the environment and the flag,
	// all different from each other and from the default.
	values := map[string][3]string{
		"data":                 {"/f", "/e", "/g"},
		"listen":               {"127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"},
		"otlp-listen":          {"127.0.0.1:4", "127.0.0.1:5", "127.0.0.1:6"},
		"otlp-span-exceptions": {"on", "off", "dedupe"},
		"public-url":           {"http://f", "http://e", "http://g"},
		"nats-url":             {"nats://f:1", "nats://e:1", "nats://g:1"},
		"clickhouse-dsn":       {"clickhouse://f:1", "clickhouse://e:1", "clickhouse://g:1"},
		"log-max-bytes":        {"1GiB", "2GiB", "3GiB"},
		"lazy-sync":            {"true", "false", "true"},
		"log-gaps":             {"stop", "accept", "stop"},
		"trusted-proxies":      {"10.0.0.0/8", "10.1.0.0/16", "10.2.0.0/16,::1/128"},
		"install-roots":        {"/srv/f", "/srv/e", "/srv/g,/srv/h"},
		"legacy-dir":           {"/f/legacy", "/e/legacy", "/g/legacy"},
		"legacy-project":       {"2", "3", "4"},
		"admin-rate-limit":     {"1", "2", "3"},
		"module-log-days":      {"1", "2", "3"},
		"query-log-days":       {"1", "2", "3"},
		"alert-allow-hosts":    {"f.internal", "10.0.0.7:8065", "g.internal,h.internal:80"},
		"log-level":            {"debug", "warn", "error"},
		"log-format":           {"text", "json", "text"},
		"engine-binary":        {"/f/engine", "/e/engine", "/g/engine"},
		"libchdb":              {"/f/lib", "/e/lib", "/g/lib"},
		"mail-module":          {"", "smtp", ""},
		"smtp-host":            {"f", "e", "g"},
		"smtp-port":            {"1", "2", "3"},
		"smtp-tls":             {"tls", "none", "starttls"},
		"smtp-username":        {"f", "e", "g"},
		"smtp-password":        {"f", "e", "@" + secretFile(t, "g", 0o600)},
		"smtp-from":            {"f@example.com", "e@example.com", "g@example.com"},
		"geo-database":         {"/f/geo", "/e/geo", "/g/geo"},
		"signin-memory-days":   {"1", "2", "3"},
		"scrub-keys":           {"f1x", "e1x", "g1x,=h1x"},
		"scrub-patterns":       {"f[0-9]{2,}", "e[0-9]", `g[0-9]{2,3} h\s+x`},
		"scrub-query-allow":    {"f", "e", "g,h"},
		"nats-listen":          {"127.0.0.1:4", "127.0.0.1:5", "127.0.0.1:6"},
		"clickhouse-listen":    {"127.0.0.1:4", "127.0.0.1:5", "127.0.0.1:6"},
		"nats-replicas":        {"2", "3", "5"},
		"nats-project":         {"2", "3", "4"},
		"nats-leaf-listen":     {"127.0.0.1:7", "127.0.0.1:8", "127.0.0.1:9"},
		"nats-leaf":            {"nats://f:1", "nats://e:1", "nats://g:1"},

		"cluster-name":   {"f", "e", "g"},
		"cluster-listen": {"f:1", "e:1", "g:1"},
		"cluster-peers":  {"f:1,x:1,y:1", "e:1,x:1,y:1", "g:1,x:1,y:1"},
		"cluster-secret": {strings.Repeat("f", 32), strings.Repeat("e", 32), "@" + secretFile(t, strings.Repeat("g", 32), 0o600)},
		"cluster-ack":    {"quorum", "spool", "quorum"},
		"cluster-node":   {"f:1", "e:1", "g:1"},

		"key-events-per-minute":     {"1", "2", "3"},
		"project-events-per-minute": {"1", "2", "3"},
		"new-records-per-hour":      {"1", "2", "3"},

		"tls-cert":           {"/f/cert", "/e/cert", "/g/cert"},
		"tls-key":            {"/f/key", "/e/key", "/g/key"},
		"tls-ca":             {"/f/ca", "/e/ca", "/g/ca"},
		"tls-acme-domains":   {"f.example.com", "e.example.com", "g.example.com,h.example.com"},
		"tls-acme-email":     {"f@example.com", "e@example.com", "g@example.com"},
		"tls-acme-directory": {"https://f/dir", "https://e/dir", "https://g/dir"},
		"nats-tls-cert":      {"/f/cert", "/e/cert", "/g/cert"},
		"nats-tls-key":       {"/f/key", "/e/key", "/g/key"},
		"nats-tls-client-ca": {"/f/ca", "/e/ca", "/g/ca"},

		"clickhouse-tls-cert": {"/f/cert", "/e/cert", "/g/cert"},
		"clickhouse-tls-key":  {"/f/key", "/e/key", "/g/key"},
	}
	node := func(but string) map[string]string {
		all := map[string]string{
			"cluster-name": "c", "cluster-listen": ":1", "cluster-peers": "f:1,e:1,g:1", "cluster-secret": strings.Repeat("s", 32),
		}
		delete(all, but)
		return all
	}
	// What some settings need beside them.
	beside := map[string]map[string]string{
		"cluster-name":       node("cluster-name"),
		"cluster-listen":     node("cluster-listen"),
		"cluster-peers":      node("cluster-peers"),
		"cluster-secret":     node("cluster-secret"),
		"cluster-node":       node(""),
		"mail-module":        {"smtp-host": "h", "smtp-from": "a@example.com"},
		"nats-replicas":      {"nats-url": "nats://a"},
		"tls-cert":           {"tls-key": "k"},
		"tls-key":            {"tls-cert": "c"},
		"tls-acme-email":     {"tls-acme-domains": "errata.example.com"},
		"nats-tls-cert":      {"nats-tls-key": "k", "nats-listen": ":1"},
		"nats-tls-key":       {"nats-tls-cert": "c", "nats-listen": ":1"},
		"nats-tls-client-ca": {"nats-tls-cert": "c", "nats-tls-key": "k", "nats-listen": ":1"},

		"clickhouse-tls-cert": {"clickhouse-tls-key": "k", "clickhouse-listen": ":1"},
		"clickhouse-tls-key":  {"clickhouse-tls-cert": "c", "clickhouse-listen": ":1"},
	}
	value := func(c *config, name string) string {
		for _, s := range settings(c) {
			if s.name == name {
				return s.get()
			}
		}
		t.Fatalf("no setting %q", name)
		return ""
	}
	for _, s := range settings(defaultConfig()) {
		t.Run(s.name, func(t *testing.T) {
			v, ok := values[s.name]
			if !ok {
				t.Fatal("setting without a row in this table")
			}
			file := s.name + ": \"" + v[0] + "\"\n"
			environ := []string{envName(s.name) + "=" + v[1]}
			for name, text := range beside[s.name] {
				environ = append(environ, envName(name)+"="+text)
				file += name + ": \"" + text + "\"\n"
			}
			flags := []string{"--" + s.name + "=" + v[2]}
			for _, c := range []struct {
				what          string
				file          string
				environ, args []string
				want          string
			}{
				{"default", "", nil, nil, s.get()},
				{"file", file, nil, nil, v[0]},
				{"environment over file", file, environ, nil, v[1]},
				{"flag over all", file, environ, flags, v[2]},
				{"flag over environment", "", environ, flags, v[2]},
				{"empty variable is not set", file, []string{envName(s.name) + "="}, nil, v[0]},
			} {
				got, _, err := loadSettings(t, c.file, c.environ, c.args)
				if err != nil {
					t.Fatalf("%s: %v", c.what, err)
				}
				if got := value(got, s.name); got != c.want {
					t.Errorf("%s: got %q, want %q", c.what, got, c.want)
				}
			}
		})
	}
}

// secretFile is a file with a text and a mode.
func secretFile(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPasswordOutOfAFile: the service gets the content of the file, and the setting
// shows its name.
func TestPasswordOutOfAFile(t *testing.T) {
	path := secretFile(t, "hunter2\n", 0o600)
	c, _, err := loadSettings(t, "", []string{"ERRATA_SMTP_PASSWORD=@" + path}, nil)
	if err != nil || c.service.SMTP.Password != "hunter2" {
		t.Fatalf("password %q, error %v", c.service.SMTP.Password, err)
	}
	for _, s := range settings(c) {
		if s.name != "smtp-password" {
			continue
		}
		for given, want := range map[string]string{"": "", "hunter2": hidden, "@/x": "@/x"} {
			if got := s.redacted(given); got != want {
				t.Errorf("%q is shown as %q, want %q", given, got, want)
			}
		}
	}
}

func TestFileForms(t *testing.T) {
	c, _, err := loadSettings(t, `# what this installation chose
listen: :9000
install-roots:
  - /srv/app
  - /var/www
trusted-proxies: [10.0.0.0/8, "::1"]
lazy-sync: yes-is-not-a-bool-in-yaml-1.2
`, []string{"ERRATA_LAZY_SYNC=1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.service.InstallRoots, []string{"/srv/app", "/var/www"}; !slices.Equal(got, want) {
		t.Errorf("install-roots: got %q, want %q", got, want)
	}
	want := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	if got := c.service.TrustedProxies; !slices.Equal(got, want) {
		t.Errorf("trusted-proxies: got %v, want %v", got, want)
	}
	if c.service.Listen != ":9000" || !c.service.LazySync {
		t.Errorf("got listen %q, lazy-sync %v", c.service.Listen, c.service.LazySync)
	}
	for _, empty := range []string{"# nothing but a comment\n", "\n", "data:\n"} {
		if c, _, err := loadSettings(t, empty, nil, nil); err != nil || c.service.Data != "data" {
			t.Errorf("file %q: got data %q, error %v", empty, c.service.Data, err)
		}
	}
}

func TestBadSettings(t *testing.T) {
	for _, c := range []struct {
		name          string
		file          string
		environ, args []string
		want          []string // parts of the error
	}{
		{"unknown key", "listen: :1\nlisten-on: :2\n", nil, nil, []string{"FILE", `"listen-on" is not a setting`, "2 |", "listen-on: :2", "^"}},
		{"config is no key", "config: x\n", nil, nil, []string{`"config" is not a setting`}},
		{"nested", "log:\n  max-bytes: 1\n", nil, nil, []string{`"log" is not a setting`, "1 |"}},
		{"mapping for a value", "listen: :1\ndata:\n  folder: x\n", nil, nil, []string{"single value or a list", "2 |"}},
		{"twice", "data: a\ndata: b\n", nil, nil, []string{"2 |", "data"}},
		{"no YAML", "data: [a\n", nil, nil, []string{"FILE", "1 |"}},
		{"a list", "- data\n", nil, nil, []string{"FILE"}},
		{"bad value in file", "log-max-bytes: lots\n", nil, nil, []string{"FILE: log-max-bytes", `"lots" is not a size`}},
		{"bad value in environment", "", []string{"ERRATA_LOG_MAX_BYTES=1XB"}, nil, []string{"ERRATA_LOG_MAX_BYTES", `"1XB" is not a size`}},
		{"bad value in flag", "", nil, []string{"--log-max-bytes=-1"}, []string{"--log-max-bytes", "not a size"}},
		{"a file's mistake is hidden by a flag only if set there", "log-level: loud\n", nil, nil, []string{`"loud" is none of`}},
		{"log format", "", nil, []string{"--log-format=xml"}, []string{`"xml" is none of auto, text, json`}},
		{"bool", "", []string{"ERRATA_LAZY_SYNC=perhaps"}, nil, []string{"ERRATA_LAZY_SYNC", "neither true nor false"}},
		{"proxy", "", nil, []string{"--trusted-proxies=10.0.0.0/8,proxy.local"}, []string{"--trusted-proxies", `"proxy.local"`}},
		{"rate", "", nil, []string{"--admin-rate-limit=-1"}, []string{"--admin-rate-limit"}},
		{"listen without port", "", nil, []string{"--listen=localhost"}, []string{"listen", "localhost"}},
		{"empty data", "", nil, []string{"--data="}, []string{"data", "want a folder"}},
		{"public url", "", nil, []string{"--public-url=errors.example.com"}, []string{"public-url"}},
		{"dsn scheme", "", []string{"ERRATA_CLICKHOUSE_DSN=http://h:8123"}, nil, []string{"clickhouse-dsn", `"http"`}},
		{"small log", "", nil, []string{"--log-max-bytes=1MiB"}, []string{"log-max-bytes", "at least"}},
		{"password in flag", "", nil, []string{"--clickhouse-dsn=clickhouse://u:hunter2@h:9000"}, []string{"--clickhouse-dsn", "ERRATA_CLICKHOUSE_DSN"}},
		{"token in flag", "", nil, []string{"--nats-url=nats://hunter2@h:4222"}, []string{"--nats-url", "ERRATA_NATS_URL"}},
		{"mail password in flag", "", nil, []string{"--smtp-password=hunter2"}, []string{"--smtp-password", "ERRATA_SMTP_PASSWORD"}},
		{"mail password in a file for all", "", []string{"ERRATA_SMTP_PASSWORD=@" + secretFile(t, "hunter2", 0o644)}, nil, []string{"ERRATA_SMTP_PASSWORD", "chmod 600"}},
		{"mail password in no file", "", []string{"ERRATA_SMTP_PASSWORD=@/nowhere"}, nil, []string{"ERRATA_SMTP_PASSWORD", "no such file"}},
		{"mail module", "", nil, []string{"--mail-module=pigeon"}, []string{"mail-module", `"pigeon"`}},
		{"mail without a server", "", nil, []string{"--mail-module=smtp", "--smtp-from=a@example.com"}, []string{"smtp-host: is missing"}},
		{"mail port", "", nil, []string{"--mail-module=smtp", "--smtp-host=h", "--smtp-from=a@example.com", "--smtp-port=70000"}, []string{"smtp-port: is 70000"}},
		{"mail in clear text", "", nil, []string{"--mail-module=smtp", "--smtp-host=h", "--smtp-from=a@example.com", "--smtp-tls=none"}, []string{"smtp-tls", "this machine"}},
		{"mail without a sender", "", nil, []string{"--mail-module=smtp", "--smtp-host=h"}, []string{"smtp-from: is missing"}},
		{"mail without a user", "", []string{"ERRATA_SMTP_PASSWORD=hunter2"}, []string{"--mail-module=smtp", "--smtp-host=h", "--smtp-from=a@example.com"}, []string{"smtp-username"}},
		{"no file", "", []string{"ERRATA_CONFIG=/nowhere/errata.yaml"}, nil, []string{"/nowhere/errata.yaml", "no such file"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, path, err := loadSettings(t, c.file, c.environ, c.args)
			if _, ok := errors.AsType[usageError](err); !ok {
				t.Fatalf("got %v, want a usage error", err)
			}
			for _, part := range c.want {
				if part = strings.ReplaceAll(part, "FILE", path); !strings.Contains(err.Error(), part) {
					t.Errorf("error lacks %q:\n%v", part, err)
				}
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("error shows the secret: %v", err)
			}
		})
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{
		"auto": 0, "1": 1, "512MiB": 512 << 20, "10 GiB": 10 << 30, "1gb": 1e9, "2kb": 2000, "7B": 7, "1TiB": 1 << 40,
	} {
		got, err := parseSize(text)
		if err != nil || got != want {
			t.Errorf("parseSize(%q): got %d, %v, want %d", text, got, err, want)
		}
		if again, err := parseSize(formatSize(got)); err != nil || again != got {
			t.Errorf("formatSize(%d) = %q reads as %d, %v", got, formatSize(got), again, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "GiB", "1.5GiB", "1QB", "9999999TiB", "0x10", "1 2"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("parseSize(%q): got %d, want an error", text, got)
		}
	}
}

func TestRedact(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "",
		"nats://h:4222":                    "nats://h:4222",
		"h:4222":                           "h:4222",
		"nats://u:p@h:4222,nats://h2:4222": "nats://u:xxxxx@h:4222,nats://h2:4222",
		"nats://token@h:4222":              "nats://xxxxx@h:4222",
		"clickhouse://u@h:9000/db":         "clickhouse://u@h:9000/db",
		"clickhouse://u:p@h:9000/db?x=1":   "clickhouse://u:xxxxx@h:9000/db?x=1",
		"clickhouse://h/db?username=u&Password=p": "clickhouse://h/db?Password=xxxxx&username=u",
		"clickhouse://u:%zz@h":                    "xxxxx",
	} {
		if got := redact(text); got != want {
			t.Errorf("redact(%q): got %q, want %q", text, got, want)
		}
	}
}
