package ingest_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/projects"
)

// FuzzEvent puts the same bytes into every kind of field.
func FuzzEvent(f *testing.F) {
	f.Add("order 42 failed", `C:\www\a.php`, "/a?token=x&page=2", `{"a":{"password":"x"}}`)
	f.Add("class@anonymous\x00/x", "https://h/a.js?x", "https://u:p@h/\xff#f", `{"a":`)
	f.Add("-----BEGIN X-----", "webpack:///./src/a.js", "javascript:alert(1)", `[]`)
	f.Add(strings.Repeat("é\u202e ", 3000), "app:///", "?", `{"a":"\ud800"}`)
	f.Fuzz(func(t *testing.T, text, file, uri, extra string) {
		d := ingest.Draft{
			Class: text, Message: text, Template: file, File: file, URI: uri, Method: text, UserID: text, ClientID: text, Fingerprint: []string{text, "{{ default }}"},
			Context: ingest.Context{
				Source: text, Release: text, Environment: uri, Transaction: uri, Extra: json.RawMessage(extra),
				Exceptions: []ingest.Exception{{Class: text, Message: extra, Module: file, Frames: []ingest.Frame{{File: file, Function: text, Module: uri, Args: []string{text}, InApp: true, Around: &ingest.Around{
					Before: []string{text, file, uri}, Line: extra, After: []string{text}, Vars: json.RawMessage(extra),
				}}}}},
				Breadcrumbs: []ingest.Breadcrumb{{Type: text, Category: file, Level: uri, Message: extra, Data: json.RawMessage(extra)}},
				Contexts:    &ingest.Shared{Raw: json.RawMessage(extra)},
				Headers:     []ingest.Pair{{Key: "Referer", Value: uri}, {Key: text, Value: text}, {Key: "User-Agent", Value: text}},
				Tags:        []ingest.Pair{{Key: text, Value: uri}, {Key: file, Value: text}},
			},
		}
		rules := ingest.Rules{InstallRoots: []string{"/srv/app", file}}
		src := ingest.Source{Project: 1, Received: received, UserKey: userKey, Context: projects.Context{Vars: projects.Vars(len(text) % 3), NoUsers: len(file)%2 == 1}}
		e, refused := rules.Event(&d, src, errata.EventID{})
		if refused != nil {
			t.Fatalf("%q was refused: %v", text, refused) // it has a frame
		}
		for name, field := range map[string]string{"file": e.File, "message": e.Message, "class": e.Class, "uri": e.URI, "method": e.Method, "environment": e.Environment, "release": e.Release,
			"client id": e.Trail.ClientID, "user": e.Trail.User, "server": e.Trail.Server, "transaction": e.Trail.Transaction, "trace": e.Trail.TraceID} {
			if !utf8.ValidString(field) || len(field) > ingest.MaxURI || strings.ContainsAny(field, "\n\r\x00\x1b\u202e") {
				t.Fatalf("%s: %q", name, field)
			}
		}
		if !json.Valid(e.Payload) || !utf8.Valid(e.Payload) || len(e.Payload) > ingest.MaxPayload {
			t.Fatalf("payload of %d bytes: %q", len(e.Payload), e.Payload)
		}
		again, _ := rules.Event(&d, src, errata.EventID{})
		if again.Signature != e.Signature || string(again.Payload) != string(e.Payload) {
			t.Fatal("not the same twice")
		}
	})
}
