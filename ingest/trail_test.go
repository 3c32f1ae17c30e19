package ingest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
)

var userKey = bytes.Repeat([]byte{7}, 32)

// trailOf is the trail of the draft in a project, under a key.
func trailOf(t testing.TB, d ingest.Draft, project uint64, key []byte) errata.Trail {
	t.Helper()
	var rules ingest.Rules
	d.Message = "m"
	e, refused := rules.Event(&d, ingest.Source{Project: project, Received: received, UserKey: key}, errata.EventID{1})
	if refused != nil {
		t.Fatal(refused)
	}
	return e.Trail
}

// TestTrail: who and what was involved, cleaned and scrubbed as in the payload.
func TestTrail(t *testing.T) {
	got := trailOf(t, ingest.Draft{ClientID: "6DC715AB-B89B-4f66-94ff-46ae15f7dfb8", UserID: "u-77", Context: ingest.Context{
		ServerName: "web\t1", Transaction: "/pay?token=hunter2", TraceID: "4bf92f3577b34da6a3ce929d0e0e4736",
		Tags: []ingest.Pair{{Key: "a", Value: "1"}, {Key: "a", Value: "2"}, {Key: "b", Value: ""}, {Key: "api_key", Value: "hunter2"}},
	}}, 1, userKey)
	want := errata.Trail{
		ClientID: "6dc715abb89b4f6694ff46ae15f7dfb8", UserHash: got.UserHash, User: "u-77", Server: "web 1", Transaction: "/pay?token=[Filtered]",
		TraceID: "4bf92f3577b34da6a3ce929d0e0e4736", Tags: []errata.Tag{{Key: "a", Value: "1"}, {Key: "api_key", Value: "[Filtered]"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if none := trailOf(t, ingest.Draft{}, 1, userKey); !cmp.Equal(none, errata.Trail{}) {
		t.Errorf("of an event that says nothing: %+v", none)
	}
}

// TestTrailIsBounded: by the limits of the texts, and by the number of tags.
func TestTrailIsBounded(t *testing.T) {
	long := strings.Repeat("é ", 1000)
	d := ingest.Draft{ClientID: long, UserID: long, Context: ingest.Context{ServerName: long, Transaction: long, TraceID: long}}
	for i := range 50 {
		d.Context.Tags = append(d.Context.Tags, ingest.Pair{Key: fmt.Sprint("k", i), Value: long})
	}
	got := trailOf(t, d, 1, userKey)
	for _, text := range []string{got.ClientID, got.User, got.Server, got.Transaction, got.TraceID, got.Tags[3].Value} {
		if len(text) > ingest.MaxName || !strings.HasSuffix(text, "…") {
			t.Errorf("%d bytes: %.20q", len(text), text)
		}
	}
	if len(got.Tags) != errata.MaxTrailTags || got.Tags[0].Key != "k0" || cap(got.Tags) != len(got.Tags) {
		t.Errorf("%d tags", len(got.Tags))
	}
}

// TestUserHash: the same user of a project has one hash under a key, and nobody else has
// it. Without a user or a good key it is 0.
func TestUserHash(t *testing.T) {
	hash := func(user string, project uint64, key []byte) uint64 {
		return trailOf(t, ingest.Draft{UserID: user}, project, key).UserHash
	}
	first := hash("1204", 1, userKey)
	if first == 0 || first != hash(" 1204 ", 1, userKey) {
		t.Errorf("%x and %x", first, hash(" 1204 ", 1, userKey))
	}
	seen := map[uint64]string{first: "1204"}
	for name, other := range map[string]uint64{
		"another user": hash("1205", 1, userKey), "another project": hash("1204", 2, userKey), "another key": hash("1204", 1, bytes.Repeat([]byte{8}, 32)),
		"a long user": hash(strings.Repeat("x", 500), 1, userKey), "a secret": hash("password=hunter2", 1, userKey), "another secret": hash("password=swordfish", 1, userKey),
	} {
		if seen[other] != "" || other == 0 {
			t.Errorf("%s has %x, which is that of %q", name, other, seen[other])
		}
		seen[other] = name
	}
	for name, none := range map[string]uint64{
		"no user": hash("", 1, userKey), "blanks": hash("  ", 1, userKey), "no key": hash("1204", 1, nil), "a short key": hash("1204", 1, userKey[:16]),
	} {
		if none != 0 {
			t.Errorf("%s: %x", name, none)
		}
	}
	const pinned = 0x65de6542c3ec4a
	if first != pinned {
		t.Errorf("the hash is %#x, want %#x: users would be counted anew", first, uint64(pinned))
	}
}

// TestTrailIsThatOfThePayload: an older log, of which the trail is read out of the
// payload, and a newer one are read alike.
func TestTrailIsThatOfThePayload(t *testing.T) {
	for _, text := range []string{"", "u-77", " a\tb\n", "\u202etxt\x00", strings.Repeat("é", 300), "x token=abcdefghijkl"} {
		d := ingest.Draft{Message: "m", ClientID: text, UserID: text, Context: ingest.Context{
			ServerName: text, Transaction: text, TraceID: text, Tags: []ingest.Pair{{Key: "k" + text, Value: text}},
		}}
		e := eventOf(t, d)
		var payload struct {
			EventID     string `json:"event_id"`
			User        string
			ServerName  string `json:"server_name"`
			Transaction string
			TraceID     string `json:"trace_id"`
			Tags        map[string]string
		}
		if err := json.Unmarshal(e.Payload, &payload); err != nil {
			t.Fatal(err)
		}
		tags := map[string]string{}
		for _, tag := range e.Trail.Tags {
			tags[tag.Key] = tag.Value
		}
		if len(tags) == 0 {
			tags = nil
		}
		got := e.Trail
		if payload.EventID != got.ClientID || payload.User != got.User || payload.ServerName != got.Server || payload.Transaction != got.Transaction ||
			payload.TraceID != got.TraceID || !cmp.Equal(payload.Tags, tags) {
			t.Errorf("%q: the payload has %+v, the trail %+v", text, payload, got)
		}
	}
}
