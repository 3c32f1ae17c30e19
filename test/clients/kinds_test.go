package clients

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/errata-log/errata/test/servicetest"
)

// kind is one way to fail, and what its record says. The application tags it with its
// name. The line of its place ends in "HERE name".
type kind struct {
	name, class, message string // the message begins so
	level                string // "" is error
	book                 string // "" is system
	chain                int    // exceptions, 0 is 1, none is 0
	handled              string // "" is as the application says of most
	// at is the mark of another line; "-" of none, where the client names no line.
	at string
	// bare: nothing is known of a request.
	bare bool
	user string // "" is 1204
}

const none = -1

// failing is an application that fails in each of the kinds.
type failing struct {
	file     string // its source, from testdata
	place    string // how its file ends in records; "" is as file
	release  string
	handled  string
	uri      func(kind string) string
	noSource bool // the client sends no source lines
	noCrumbs bool // nor breadcrumbs
	kinds    []kind
}

// planted begins all secrets of the applications.
const planted = "planted-"

// checkKinds checks the record of each kind: what, where, who, in which request and
// release, the source line, and what happened before.
func (s *service) checkKinds(t *testing.T, app failing) {
	t.Helper()
	defer s.pictures(t)
	records := map[string]row{}
	for _, r := range s.records(t) {
		name := r.Payload.Tags["kind"]
		if other, twice := records[name]; twice || name == "" {
			t.Errorf("%q: both %s: %s and %s: %s", name, r.Class, r.Message, other.Class, other.Message)
		}
		records[name] = r
		if all := s.Get(t, listPath+"/"+r.Signature+"?type="+r.Type); strings.Contains(all, planted) {
			t.Errorf("%s: a secret is in %s", name, all)
		}
	}
	for _, k := range app.kinds {
		r, ok := records[k.name]
		if !ok {
			t.Errorf("%s has no record", k.name)
			continue
		}
		delete(records, k.name)
		for _, wrong := range app.wrong(t, k, r) {
			t.Errorf("%s: %s", k.name, wrong)
		}
	}
	for name, r := range records {
		t.Errorf("%s: nobody expects %s: %s", name, r.Class, r.Message)
	}
	if len(app.kinds) < 25 {
		t.Errorf("%d kinds, want 25", len(app.kinds))
	}
}

// wrong says what a record lacks.
func (app *failing) wrong(t *testing.T, k kind, r row) (all []string) {
	t.Helper()
	differs := func(what string, got, want any) {
		if got != want {
			all = append(all, fmt.Sprintf("%s is %#v, want %#v", what, got, want))
		}
	}
	p := r.Payload
	differs("level", r.Level, or(k.level, "error"))
	differs("book", r.Type, or(k.book, "system"))
	differs("class", r.Class, k.class)
	if !strings.HasPrefix(r.Message, k.message) || k.message == "" && r.Message != "" {
		differs("message", r.Message, k.message)
	}
	chain := max(k.chain, 1)
	if k.chain == none {
		chain = 0
	}
	differs("chain", len(p.Exceptions), chain)
	differs("handled", map[bool]string{true: "yes", false: "no"}[p.Handled != nil && *p.Handled], or(k.handled, app.handled))
	differs("release", p.Release, app.release)
	differs("environment", p.Environment, "production")
	differs("count", r.Count, uint64(1))
	if k.at != "-" {
		differs("file", r.File[max(0, len(r.File)-len(or(app.place, app.file))):], or(app.place, app.file))
		line := servicetest.Place(t, app.file, or(k.at, k.name))
		differs("line", r.Line, line)
		if !app.noSource && !slices.ContainsFunc(p.Exceptions[len(p.Exceptions)-1].Frames, func(f frame) bool {
			return f.Line == line && strings.HasSuffix(f.Context, " HERE "+or(k.at, k.name))
		}) {
			all = append(all, "no frame shows the source line")
		}
	}
	if !k.bare {
		differs("uri", r.URI, app.uri(k.name))
		differs("user", or(p.User, fmt.Sprint(r.UserID)), or(k.user, "1204"))
		if !app.noCrumbs && len(p.Breadcrumbs) == 0 {
			all = append(all, "no breadcrumbs")
		}
	}
	return all
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// checkScoped checks what the facets say of the event that was sent with a user, tags and
// a context of its own.
func (s *service) checkScoped(t *testing.T) {
	t.Helper()
	var found []row
	s.GetData(t, listPath+"?tag=feature:checkout", &found)
	if len(found) != 1 {
		t.Fatalf("the tag finds %+v, want one record", found)
	}
	var facets struct {
		Releases, Environments []struct{ Value string }
		Users                  struct {
			Count int
			Top   []struct{ Value string }
		}
		Tags map[string][]struct{ Value string }
	}
	s.GetData(t, path.Join(listPath, found[0].Signature, "facets"), &facets)
	if facets.Users.Count != 1 || facets.Users.Top[0].Value != "u-77" || len(facets.Releases) != 1 || len(facets.Environments) != 1 || facets.Tags["feature"][0].Value != "checkout" {
		t.Errorf("%s: %+v", http.MethodGet, facets)
	}
}
