package engine_test

import (
	"crypto/rand"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoClientEndsTheEngine: whatever a process of this machine sends to the engine's
// port ends that connection only. Half a hello, a hello with a wrong password and a
// reset used to end the engine.
func TestNoClientEndsTheEngine(t *testing.T) {
	dir := t.TempDir()
	e := start(t, config(t, dir))
	before, ok := e.EmbeddedClickHouse()
	if !ok {
		t.Fatal("there is no embedded ClickHouse")
	}
	addr, password := shownAddress(t, dir)
	noise := make([]byte, 300)
	if _, err := rand.Read(noise); err != nil {
		t.Fatal(err)
	}
	hello := func(password string) []byte {
		b := []byte{0}
		for _, text := range []string{"test", "\x01\x01\xbc\xa9\x03", "errata", "errata_analyst", password} {
			if text[0] != 1 {
				b = append(b, byte(len(text)))
			}
			b = append(b, text...)
		}
		return b
	}
	const times = 20
	for what, data := range map[string][]byte{
		"nothing": nil, "half a hello": {0, 5, 'a', 'b'}, "a packet of no kind": {7, 7}, "noise": noise,
		"a wrong password": hello("no"), "a hello": hello(password), "a hello and noise": append(hello(password), noise...),
		"HTTP": []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
	} {
		for i := range times {
			// Every other connection is reset once the engine has had time to read.
			knock(t, addr, data, i%2 == 0, i%4 < 2)
		}
		if err := e.ClickHouse().Exec(t.Context(), "SELECT 1"); err != nil {
			t.Errorf("after %s: %v", what, err)
		}
		if now, ok := e.EmbeddedClickHouse(); !ok || now != before {
			t.Fatalf("%s ended the engine: it was process %d and is %d", what, before, now)
		}
	}
}

// shownAddress is the address in the DSN for analysts.
func shownAddress(t *testing.T, dir string) (addr, password string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "run", "clickhouse-analyst.dsn"))
	if err != nil {
		t.Fatal(err)
	}
	dsn, err := url.Parse(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	password, _ = dsn.User.Password()
	return dsn.Host, password
}

// knock sends the data and ends the connection, with a reset or without, when the
// engine has answered or at once.
func knock(t *testing.T, addr string, data []byte, reset, waits bool) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write(data); err != nil {
		t.Fatal(err)
	}
	if waits && len(data) > 4 {
		_, _ = conn.Read(make([]byte, 1)) // an end without an answer is one as well
	}
	if reset {
		if err := conn.(*net.TCPConn).SetLinger(0); err != nil {
			t.Fatal(err)
		}
	}
}
