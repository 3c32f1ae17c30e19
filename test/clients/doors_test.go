//go:build clients

package clients

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door"
	"github.com/errata-log/errata/ingest/native"
	"github.com/errata-log/errata/ingest/otlp"
	"github.com/errata-log/errata/ingest/scrub"
	"github.com/errata-log/errata/ingest/sentry"
)

// doors are receivers of their own, which get the same requests as the service. They
// keep what they make of them: the payload of each event.
type doors struct {
	t                         *testing.T
	native, envelopes, signal http.Handler

	mu   sync.Mutex
	file *os.File // payloads one after another: those of a million events are not kept in memory
	end  int64
	at   map[errata.EventID]stretch
}

// stretch is a part of a file.
type stretch struct {
	from int64
	size int32
}

// madeKey is the key under which the context of a request has its *[]errata.Event.
type madeKey struct{}

func newDoors(t *testing.T, projects []project) *doors {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "payloads"))
	if err != nil {
		t.Fatal(err)
	}
	d := &doors{t: t, file: file, at: map[errata.EventID]stretch{}}
	t.Cleanup(func() { _ = file.Close() })
	rules, err := ingest.NewRules(nil, scrub.Additions{})
	if err != nil {
		t.Fatal(err)
	}
	pipeline, err := ingest.New(ingest.Config{Log: d, Random: rand.Reader, Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	cfg := door.Config{Accepter: pipeline, Keyring: planKeys(projects)}
	handlers := [3]http.Handler{}
	var errs [3]error
	handlers[0], errs[0] = native.New(cfg)
	handlers[1], errs[1] = sentry.New(cfg)
	handlers[2], errs[2] = otlp.New(otlp.Config{Config: cfg})
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	d.native, d.envelopes, d.signal = handlers[0], handlers[1], handlers[2]
	return d
}

// planKeys knows the keys of the plan's projects.
type planKeys []project

func (k planKeys) ByToken(token string) (access.Grant, error) {
	for _, p := range k {
		if p.Key == token {
			return access.Grant{Project: p.ID}, nil
		}
	}
	return access.Grant{}, errata.Errorf(errata.KindUnauthorized, "a key of no project")
}

func (k planKeys) ByPublicKey(key string, number uint64) (access.Grant, error) {
	for _, p := range k {
		if p.ID == number && strings.Contains(p.DSN, "//"+key+"@") {
			return access.Grant{Project: p.ID}, nil
		}
	}
	return access.Grant{}, errata.Errorf(errata.KindUnauthorized, "a key of no project")
}

// take has a request received, and returns the events that were made of it. The service
// has taken the request.
func (d *doors) take(f *forwarded) []errata.Event {
	var events []errata.Event
	ctx := context.WithValue(d.t.Context(), madeKey{}, &events)
	req := httptest.NewRequestWithContext(ctx, f.method, f.path, bytes.NewReader(f.body))
	req.Header, req.RemoteAddr = f.header.Clone(), "127.0.0.1:1" // of the recorder
	receiver := d.envelopes
	switch {
	case strings.HasPrefix(f.path, "/v1/"):
		receiver = d.signal
	case strings.HasPrefix(f.path, nativePath):
		receiver = d.native
	}
	answer := httptest.NewRecorder()
	receiver.ServeHTTP(answer, req)
	if answer.Code >= 300 {
		d.t.Errorf("%s %s: the service took it, these receivers do not: %d %s", f.method, f.path, answer.Code, answer.Body)
	}
	return events
}

// Append keeps the payloads of events.
func (d *doors) Append(ctx context.Context, events []errata.Event) error {
	made := ctx.Value(madeKey{}).(*[]errata.Event)
	*made = append(*made, events...)
	d.mu.Lock()
	defer d.mu.Unlock()
	var text []byte
	for i := range events {
		if _, twice := d.at[events[i].ID]; twice {
			return fmt.Errorf("a client sent two events with the id %s", events[i].Trail.ClientID)
		}
		d.at[events[i].ID] = stretch{d.end + int64(len(text)), int32(len(events[i].Payload))}
		text = append(text, events[i].Payload...)
	}
	d.end += int64(len(text))
	_, err := d.file.Write(text)
	return err
}

// payload is that of an event, nil when nobody sent it.
func (d *doors) payload(id errata.EventID) ([]byte, error) {
	d.mu.Lock()
	at, sent := d.at[id]
	d.mu.Unlock()
	if !sent {
		return nil, nil
	}
	payload := make([]byte, at.size)
	_, err := d.file.ReadAt(payload, at.from)
	return payload, err
}

// compare compares the bytes of a payload that the service shows or stores with those of
// the one that was made, as written writes them: answers of the API are JSON with [json.HTMLEscape].
func (d *doors) compare(t *testing.T, what string, id errata.EventID, got []byte, written func(*bytes.Buffer, []byte)) {
	t.Helper()
	made, err := d.payload(id)
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	written(&want, made)
	switch {
	case made == nil:
		t.Errorf("%s: the event %x was never sent", what, id)
	case !bytes.Equal(want.Bytes(), got):
		t.Errorf("%s:\ngot  %s\nwant %s", what, got, want.Bytes())
	}
}

// asIs writes a payload as the log has it.
func asIs(to *bytes.Buffer, payload []byte) { to.Write(payload) }

// ids are those that the events of a native request have.
func (f *forwarded) ids(t *testing.T) (ids []string) {
	t.Helper()
	for line := range bytes.Lines(f.body) {
		var e struct{ ID string }
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.ID)
	}
	return ids
}
