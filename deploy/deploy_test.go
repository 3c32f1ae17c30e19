// Package deploy_test checks the files of this folder and the compose file. It reads the
// files and checks what operators rely on, and must not start anything: test/containers
// runs the images.
package deploy_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestNATSConfig(t *testing.T) {
	// In quotes, as compose passes it: without them digits would be a number.
	t.Setenv("ERRATA_NATS_PASSWORD", `"12345678"`)
	options, err := server.ProcessConfigFile("nats.conf")
	if err != nil {
		t.Fatal(err)
	}
	if !options.JetStream || !options.SyncAlways {
		t.Errorf("JetStream %v, sync always %v: what is acknowledged must be on disk", options.JetStream, options.SyncAlways)
	}
	if options.JetStreamMaxStore <= 0 || options.StoreDir != "/data" {
		t.Errorf("the store is %s with at most %d bytes; without a limit a full disk stops the log", options.StoreDir, options.JetStreamMaxStore)
	}
	if options.JetStreamMaxStore < 11<<30 {
		t.Errorf("the store has %d bytes; the service reserves 10 GiB for the log and up to 1 GiB for the other streams", options.JetStreamMaxStore)
	}
	if len(options.Users) != 1 || options.Users[0].Username != "errata" || options.Users[0].Password != "12345678" {
		t.Errorf("users are %+v, want errata with the password of the environment", options.Users)
	}
	if options.HTTPHost != "127.0.0.1" || options.HTTPPort != 8222 {
		t.Errorf("the monitoring listens on %s:%d, want loopback", options.HTTPHost, options.HTTPPort)
	}
	if options.MaxPayload < 1<<20 {
		t.Errorf("max_payload is %d, less than a message of the log may have", options.MaxPayload)
	}
}

func TestNATSConfigNeedsAPassword(t *testing.T) {
	t.Setenv("ERRATA_NATS_PASSWORD", "")
	if err := os.Unsetenv("ERRATA_NATS_PASSWORD"); err != nil {
		t.Fatal(err)
	}
	if options, err := server.ProcessConfigFile("nats.conf"); err == nil {
		t.Errorf("taken without a password, users %+v", options.Users)
	}
}

func TestClickHouseConfig(t *testing.T) {
	for name, want := range map[string]string{
		"clickhouse/config.d/errata.xml": "/clickhouse/logger/level=warning",
		"clickhouse/users.d/errata.xml":  "/clickhouse/profiles/default/async_insert=0",
	} {
		if got := leaves(t, name); !slices.Contains(got, want) {
			t.Errorf("%s has %q, want %s among them", name, got, want)
		}
	}
}

// TestAnalystIsTheSameEverywhere compares the analyst for external servers with the
// analyst of the embedded one.
func TestAnalystIsTheSameEverywhere(t *testing.T) {
	own, embedded := analystOf(t, "clickhouse/analyst.xml"), analystOf(t, "../engine/testdata/clickhouse-users.xml")
	if len(own) < 20 || !slices.Equal(own, embedded) {
		t.Errorf("the analyst here is\n%s\nand in the embedded engine\n%s", strings.Join(own, "\n"), strings.Join(embedded, "\n"))
	}
	if !strings.Contains(string(read(t, "clickhouse/analyst.xml")), `<password_sha256_hex from_env="ERRATA_ANALYST_PASSWORD_SHA256"/>`) {
		t.Error("the analyst's password is not taken from the environment")
	}
}

// analystOf are the bounds and rights of the analyst, without its password and its
// networks.
func analystOf(t *testing.T, name string) (found []string) {
	t.Helper()
	for _, leaf := range leaves(t, name) {
		if strings.Contains(leaf, "/profiles/analyst/") || strings.Contains(leaf, "/quotas/analyst/") ||
			strings.Contains(leaf, "/users/errata_analyst/") && !strings.Contains(leaf, "/password") && !strings.Contains(leaf, "/networks") {
			found = append(found, leaf)
		}
	}
	return found
}

// leaves are the texts of an XML file with the path of their element.
func leaves(t *testing.T, name string) []string {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(string(read(t, name))))
	var at, found []string
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			at = append(at, token.Name.Local)
		case xml.EndElement:
			at = at[:len(at)-1]
		case xml.CharData:
			if text := strings.TrimSpace(string(token)); text != "" {
				found = append(found, "/"+strings.Join(at, "/")+"="+text)
			}
		}
	}
}

func TestSystemdUnit(t *testing.T) {
	text := string(read(t, "errata.service"))
	for _, want := range []string{
		"DynamicUser=yes", "StateDirectory=errata", "NoNewPrivileges=yes", "ProtectSystem=strict",
		"KillMode=mixed", "TimeoutStopSec=15", "Restart=always", "ExecStart=/usr/local/bin/errata serve",
	} {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("the unit has no line %s", want)
		}
	}
}
