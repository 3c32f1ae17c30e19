package acme

import (
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/certs"
	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/test/servicetest"
)

// TestService: a whole service gets its certificate at the address that it serves, prints
// the name without a port, and is found by the commands of its machine.
func TestService(t *testing.T) {
	port := freePort(t)
	p := startPebble(t, port, 3600)
	s := servicetest.Start(t, t.TempDir(), func(o *app.Options) {
		o.Listen = (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}).String()
		o.TLS = p.options(t, "errata.example")
	})
	if s.URL != "https://errata.example" || !strings.HasSuffix(s.File(t, datadir.DSNFile), "@errata.example/1") {
		t.Errorf("the service is at %s, its DSN %s", s.URL, s.File(t, datadir.DSNFile))
	}
	holder, err := datadir.HolderOf(s.Data)
	if err != nil {
		t.Fatal(err)
	}
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for late := time.After(patience); ; {
		err := alive(t, holder.URL, s.Data)
		if err == nil {
			break
		}
		select {
		case <-poll.C:
		case <-late:
			t.Fatal(err)
		}
	}
}

// alive asks the service as a command of this machine does.
func alive(t *testing.T, url, data string) error {
	t.Helper()
	transport, err := certs.Transport("")
	if err == nil {
		err = certs.LocalClient(transport, filepath.Join(data, datadir.ShownFile))
	}
	if err != nil {
		t.Fatal(err)
	}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Get(url + "/healthz")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("healthz answers %d", resp.StatusCode)
	}
	return nil
}
