//go:build linux

package engine_test

import (
	"crypto/tls"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/test/certtest"
)

// forAnalysts is an engine that is open to analysts at the address, and its password.
func forAnalysts(t *testing.T, dir, addr string) (e *engine.Engines, password string) {
	t.Helper()
	cfg := config(t, dir)
	cfg.ClickHouseListen = addr
	e = start(t, cfg)
	path := filepath.Join(dir, datadir.AnalystFile)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("%s has mode %v", path, info.Mode().Perm())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return e, strings.TrimSpace(string(text))
}

// ask sends a query as the user.
func ask(t *testing.T, addr, user, password, query string) (n uint64, err error) {
	t.Helper()
	return askOver(t, nil, addr, user, password, query)
}

// askOver is ask over TLS, if cfg is not nil.
func askOver(t *testing.T, cfg *tls.Config, addr, user, password, query string) (n uint64, err error) {
	t.Helper()
	conn, err := clickhouse.Open(&clickhouse.Options{
		Addr: []string{addr}, Auth: clickhouse.Auth{Username: user, Password: password}, DialTimeout: 10 * time.Second, TLS: cfg,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	err = conn.QueryRow(t.Context(), query).Scan(&n)
	return n, err
}

// A tool that has stored address and password goes on after a restart of the service.
func TestAnalystsKeepAddressAndPassword(t *testing.T) {
	dir := t.TempDir()
	e, password := forAnalysts(t, dir, "127.0.0.1:0")
	addr := e.AnalystAddr().String()
	if n, err := ask(t, addr, engine.AnalystUser, password, "SELECT sum(number) FROM numbers(10)"); err != nil || n != 45 {
		t.Fatalf("%d, %v", n, err)
	}
	// More than a socket holds, in both directions.
	if n, err := ask(t, addr, engine.AnalystUser, password, "SELECT length('"+strings.Repeat("x", 200_000)+"')"); err != nil || n != 200_000 {
		t.Errorf("%d, %v", n, err)
	}
	checked := slices.ContainsFunc(e.Checks(t.Context()), func(c errata.Check) bool {
		return c.Name == "analysts" && c.OK && strings.Contains(c.Detail, addr) && !strings.Contains(c.Detail, "TLS")
	})
	if !checked {
		t.Errorf("the checks are %+v, want one of the address", e.Checks(t.Context()))
	}
	stop(t, e)
	if _, err := net.Dial("tcp", addr); err == nil {
		t.Error("the address is open after the stop")
	}
	_, again := forAnalysts(t, dir, addr)
	if n, err := ask(t, addr, engine.AnalystUser, password, "SELECT toUInt64(7)"); again != password || err != nil || n != 7 {
		t.Errorf("the password is the same: %t; %d, %v", again == password, n, err)
	}
}

// The engine has users who are for this machine alone, one of them without a password.
func TestOnlyAnalystsUseTheirAddress(t *testing.T) {
	dir := t.TempDir()
	e, password := forAnalysts(t, dir, "127.0.0.1:0")
	addr := e.AnalystAddr().String()
	before, _ := e.EmbeddedClickHouse()
	for user, with := range map[string]string{"default": "", "errata": "", "errata_reader": "", engine.AnalystUser: "wrong", "": ""} {
		if _, err := ask(t, addr, user, with, "SELECT toUInt64(1)"); err == nil {
			t.Errorf("%q was let in", user)
		}
	}
	for _, text := range []string{"GET / HTTP/1.0\r\n\r\n", "\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "\x00", "\x00\x01a\x01\x01\x01\x00\x07default\x00"} {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		// The other side may hang up as soon as it has read enough to refuse.
		_, _ = io.WriteString(conn, text)
		_ = conn.(*net.TCPConn).CloseWrite()
		if answer, _ := io.ReadAll(conn); len(answer) > 0 {
			t.Errorf("%q is answered %q", text, answer)
		}
		conn.Close()
	}
	// Half a greeting, and the whole one, each followed by a reset.
	greeting := "\x00\x01a\x01\x01\xd4\xa9\x03\x00" + string(rune(len(engine.AnalystUser))) + engine.AnalystUser
	for range 20 {
		for _, text := range []string{greeting[:9], greeting, greeting + "\x03abc"} {
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(conn, text)
			_ = conn.(*net.TCPConn).SetLinger(0)
			conn.Close()
		}
	}
	if n, err := ask(t, addr, engine.AnalystUser, password, "SELECT toUInt64(7)"); err != nil || n != 7 {
		t.Errorf("%d, %v", n, err)
	}
	if after, ok := e.EmbeddedClickHouse(); !ok || after != before {
		t.Errorf("the engine was process %d and is %d", before, after)
	}
}

// The checks warn of an address that others reach, and say when nobody does.
func TestCheckOfAnalystsAddress(t *testing.T) {
	e, _ := forAnalysts(t, t.TempDir(), ":0")
	of := func() (found errata.Check) {
		for _, c := range e.Checks(t.Context()) {
			if c.Name == "analysts" {
				found = c
			}
		}
		return found
	}
	if c := of(); !c.OK || !strings.Contains(c.Detail, "without TLS") {
		t.Errorf("open to others: %+v", c)
	}
	e.CloseAnalystsForTest()
	if c := of(); c.OK || c.Hint == "" || !strings.Contains(c.Detail, "nobody") {
		t.Errorf("closed: %+v", c)
	}
}

// An operator may choose the password, if nobody can guess it.
func TestPasswordForAnalysts(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, datadir.AnalystFile)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Start(t.Context(), config(t, dir)); err == nil || !strings.Contains(err.Error(), "16 characters") {
		t.Errorf("a short one: %v", err)
	}
	const chosen = "chosen by an operator"
	if err := os.WriteFile(path, []byte(chosen+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e, _ := forAnalysts(t, dir, "127.0.0.1:0")
	if n, err := ask(t, e.AnalystAddr().String(), engine.AnalystUser, chosen, "SELECT toUInt64(7)"); err != nil || n != 7 {
		t.Errorf("%d, %v", n, err)
	}
}

// TestAnalystsOverTLS: with a certificate nobody gets in without TLS, and nobody else than
// before. That new files are taken is tested in package certs.
func TestAnalystsOverTLS(t *testing.T) {
	authority := certtest.New(t)
	cfg := config(t, t.TempDir())
	cfg.ClickHouseListen = "127.0.0.1:0"
	cfg.ClickHouseTLSCert, cfg.ClickHouseTLSKey = authority.Issue(t, certtest.Template("127.0.0.1")).Write(t)
	e := start(t, cfg)
	text, err := os.ReadFile(filepath.Join(cfg.Dir.Path(), datadir.AnalystFile))
	if err != nil {
		t.Fatal(err)
	}
	addr, password := e.AnalystAddr().String(), strings.TrimSpace(string(text))
	trust := &tls.Config{RootCAs: authority.Pool(), MinVersion: tls.VersionTLS12}
	if n, err := askOver(t, trust, addr, engine.AnalystUser, password, "SELECT length('"+strings.Repeat("x", 200_000)+"')"); err != nil || n != 200_000 {
		t.Errorf("over TLS: %d, %v", n, err)
	}
	for user, with := range map[string]string{"default": "", engine.AnalystUser: "wrong"} {
		if _, err := askOver(t, trust, addr, user, with, "SELECT toUInt64(1)"); err == nil {
			t.Errorf("%q was let in", user)
		}
	}
	if n, err := ask(t, addr, engine.AnalystUser, password, "SELECT toUInt64(7)"); err == nil {
		t.Errorf("without TLS: %d", n)
	}
	details := map[string]string{}
	for _, c := range e.Checks(t.Context()) {
		if details[c.Name] = c.Detail; !c.OK {
			t.Errorf("%+v", c)
		}
	}
	if !strings.Contains(details["analysts"], "over TLS") || !strings.Contains(details["certificate clickhouse"], "127.0.0.1") {
		t.Errorf("the checks say %q and %q", details["analysts"], details["certificate clickhouse"])
	}
}
