// Package doortest has test doubles of the pipeline and the keyring, and inputs, for
// the tests of the receivers. The product must not import it.
package doortest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/ingest"
)

// The keys that [Keys] knows, all of project 7.
const (
	Project   = 7
	PublicKey = "8e3a1d5c9b7f4e2a8c6d0f1e2b3a4c5d"
	Token     = "KEY"
	// Narrow is a token that may not send events.
	Narrow = "NARROW"
)

// Keys is a keyring with one public key and one token.
type Keys struct{}

// ByToken knows Token and Narrow.
func (Keys) ByToken(token string) (access.Grant, error) {
	switch token {
	case Token:
		return access.Grant{Project: Project, KeyID: "token"}, nil
	case Narrow:
		return access.Grant{}, errata.Errorf(errata.KindInsufficientScope, "the key needs the scope Events/Write")
	default:
		return access.Grant{}, errata.Errorf(errata.KindUnauthorized, "the key is not known")
	}
}

// ByPublicKey knows PublicKey for Project.
func (Keys) ByPublicKey(key string, project uint64) (access.Grant, error) {
	if key != PublicKey || project != Project {
		return access.Grant{}, errata.Errorf(errata.KindUnauthorized, "the key is not known")
	}
	return access.Grant{Project: project, KeyID: "public"}, nil
}

// Recorder is an accepter that keeps the drafts.
type Recorder struct {
	// Err is returned instead of taking anything.
	Err error
	// Reject decides about each draft; nil takes all.
	Reject func(ingest.Draft) *errata.Error
	// Off drops everything, as while recording is switched off.
	Off bool
	// Discard counts the drafts without keeping them.
	Discard bool
	// Written is where on the log the events are, 0 for nowhere.
	Written uint64

	mu     sync.Mutex
	taken  []ingest.Draft
	source ingest.Source
	count  int
}

// Accept implements ingest.Accepter.
func (a *Recorder) Accept(ctx context.Context, src ingest.Source, drafts []ingest.Draft) (ingest.Receipt, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.source = src
	if a.Err != nil {
		return ingest.Receipt{}, a.Err
	}
	if a.Off {
		return ingest.Receipt{Dropped: len(drafts)}, nil
	}
	errata.WrittenOf(ctx).Note(a.Written)
	var receipt ingest.Receipt
	for i, d := range drafts {
		if a.Reject != nil {
			if err := a.Reject(d); err != nil {
				receipt.Rejected = append(receipt.Rejected, ingest.Rejection{Index: i, Err: err})
				continue
			}
		}
		receipt.Accepted++
		a.count++
		if !a.Discard {
			a.taken = append(a.taken, d)
		}
	}
	return receipt, nil
}

// Take returns the drafts taken since the last call.
func (a *Recorder) Take() []ingest.Draft {
	a.mu.Lock()
	defer a.mu.Unlock()
	taken := a.taken
	a.taken = nil
	return taken
}

// Count is how many drafts were taken in all.
func (a *Recorder) Count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.count
}

// Source is where the last drafts came from.
func (a *Recorder) Source() ingest.Source {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.source
}

// Recording is one recorded request: its line and headers as the client sent
// them, its body without the content encoding.
type Recording struct {
	Method, Target string
	Header         http.Header
	Chunked        bool
	Body           []byte
}

// Separator stands between the requests of a recording file.
const Separator = "\n--------------------\n"

// Recordings reads a file of recorded requests. Lines before the first
// request line that begin with # are comments.
func Recordings(file []byte) ([]Recording, error) {
	var all []Recording
	for text := range bytes.SplitSeq(file, []byte(Separator)) {
		for text[0] == '#' || text[0] == '\n' {
			_, text, _ = bytes.Cut(text, []byte("\n"))
		}
		head, content, _ := bytes.Cut(text, []byte("\n\n"))
		lines := strings.Split(string(head), "\n")
		words := strings.Fields(lines[0])
		if len(words) != 3 {
			return nil, fmt.Errorf("request line %q", lines[0])
		}
		r := Recording{Method: words[0], Target: words[1], Header: http.Header{}, Body: bytes.TrimSuffix(content, []byte("\n"))}
		for _, line := range lines[1:] {
			name, value, _ := strings.Cut(line, ": ")
			if name == "Transfer-Encoding" {
				r.Chunked = true
				continue
			}
			r.Header.Add(name, value)
		}
		all = append(all, r)
	}
	return all, nil
}

// Line writes a draft as one line of text. roots are cut from the front of the file,
// as the pipeline does.
func Line(d ingest.Draft, roots ...string) string {
	file := d.File
	for _, root := range roots {
		file = strings.TrimPrefix(file, root)
	}
	uri := d.URI
	if _, rest, ok := strings.Cut(uri, "://"); ok {
		_, path, _ := strings.Cut(rest, "/")
		uri = "/" + path
	}
	book := d.Book
	if book == errata.BookUnknown {
		book = errata.BookSystem
	}
	links := 0
	for _, e := range d.Context.Exceptions {
		if e.Class != "" || e.Message != "" {
			links++
		}
	}
	id := d.ClientID
	if strings.Contains(id, "-") {
		id = ""
	}
	return fmt.Sprintf("source=%s event_id=%s type=%s level=%s class=%q file=%q line=%d message=%q template=%q uri=%q method=%q user_id=%d user_raw=%q ip=%q release=%q env=%q time=%s excs=%d",
		d.Context.Source, id, book, d.Level, d.Class, file, d.Line, d.Message, d.Template, uri, d.Method, number(d.UserID), d.UserID,
		address(d.IP), d.Context.Release, d.Context.Environment, d.Time.Format("2006-01-02T15:04:05.000000Z"), links)
}

func number(text string) (n int64) {
	if _, err := fmt.Sscan(text, &n); err != nil {
		return 0
	}
	return n
}

func address(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	return a.String()
}

// Counters gives the values of all counters by name and label values; nil on an error.
func Counters(from prometheus.Gatherer) map[string]float64 {
	families, err := from.Gather()
	if err != nil {
		return nil
	}
	values := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			var name strings.Builder
			name.WriteString(family.GetName())
			for _, label := range m.GetLabel() {
				name.WriteString(" " + label.GetValue())
			}
			if c := m.GetCounter(); c != nil {
				values[name.String()] = c.GetValue()
			}
		}
	}
	return values
}
