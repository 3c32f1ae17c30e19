//go:build linux

package engine_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/errata-log/errata/engine"
)

// listeningNATS is a NATS server as an operator would run it.
func listeningNATS(t *testing.T) (address string) {
	t.Helper()
	srv, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: t.TempDir(), Username: "errata", Password: "secret",
	})
	if err != nil {
		t.Fatal(err)
	}
	srv.Start()
	t.Cleanup(func() { srv.Shutdown(); srv.WaitForShutdown() })
	if !srv.ReadyForConnections(10 * time.Second) {
		t.Fatal("the NATS server did not start")
	}
	u, err := url.Parse(srv.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("errata", "secret")
	return u.String()
}

// The embedded ClickHouse of other engines serves as the external server.
func TestExternalEngines(t *testing.T) {
	elsewhere := start(t, config(t, t.TempDir()))
	cfg := engine.Config{
		Options:  engine.Options{NATSURL: listeningNATS(t), ClickHouseDSN: elsewhere.ClickHouseForTest().DSNForTest()},
		Database: "errata_other",
		Logger:   quiet,
	}
	for range 2 { // the database is there the second time
		e := start(t, cfg)
		var name string
		var async bool
		if err := e.ClickHouse().QueryRow(t.Context(), "SELECT currentDatabase(), getSetting('async_insert')").Scan(&name, &async); err != nil {
			t.Fatal(err)
		}
		if name != "errata_other" || async {
			t.Errorf("database %q with async_insert %t, want errata_other and false", name, async)
		}
		exec(t, e, "CREATE TABLE IF NOT EXISTS t (n UInt64) ENGINE = MergeTree ORDER BY n")
		if err := e.ReadOnlyClickHouse().Exec(t.Context(), "INSERT INTO t VALUES (1)"); err == nil || !strings.Contains(err.Error(), "readonly") {
			t.Errorf("an insert over the read-only connection answered %v", err)
		}
		if _, ok := e.EmbeddedClickHouse(); ok {
			t.Error("an external ClickHouse has a process id")
		}
		if err := e.NATS.Restart(t.Context()); err == nil {
			t.Error("an external NATS was restarted")
		}
		for _, check := range e.Checks(t.Context()) {
			if !check.OK || strings.Contains(check.Detail, "embedded") {
				t.Errorf("check %+v", check)
			}
		}
		stop(t, e)
	}
	exec(t, elsewhere, "SELECT 1") // the server was not stopped with the client
}

func TestExternalEnginesThatAreWrong(t *testing.T) {
	elsewhere := start(t, config(t, t.TempDir()))
	good := elsewhere.ClickHouseForTest().DSNForTest()
	u, err := url.Parse(good)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	wrong := strings.Replace(good, password, "wrong-password", 1)
	address := listeningNATS(t)
	for name, test := range map[string]struct {
		servers engine.Options
		want    string
	}{
		"ClickHouse password": {engine.Options{NATSURL: address, ClickHouseDSN: wrong}, "516"},
		"NATS password":       {engine.Options{NATSURL: strings.Replace(address, "secret", "wrong-password", 1), ClickHouseDSN: good}, "Authorization"},
		"NATS address":        {engine.Options{NATSURL: "nats://u:wrong-password@127.0.0.1:1", ClickHouseDSN: good}, "127.0.0.1:1"},
		"ClickHouse address":  {engine.Options{NATSURL: address, ClickHouseDSN: "clickhouse://u:wrong-password@127.0.0.1:1"}, "127.0.0.1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // two of them wait for a server to appear
			_, err := engine.Start(t.Context(), engine.Config{Options: test.servers, Logger: quiet, ConnectTimeout: 300 * time.Millisecond})
			if err == nil {
				t.Fatal("it started")
			}
			if !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "wrong-password") {
				t.Errorf("error %q does not say %q, or says the password", err, test.want)
			}
		})
	}
}
