package access_test

import (
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
)

func TestScopeCovers(t *testing.T) {
	for _, c := range []struct {
		held, want access.Scope
		covers     bool
	}{
		{"Tools/GetErrorLogs", "Tools/GetErrorLogs", true},
		{"Tools/GetErrorLogs", "Tools/GetErrorLog", false},
		{"Tools/GetErrorLog", "Tools/GetErrorLogs", false},
		{"tools/geterrorlogs", "Tools/GetErrorLogs", false},
		{"Tools/*", "Tools/GetErrorLogs", true},
		{"Tools/*", "Settings/GetTwoFactor", false},
		{"Tools/*", "ToolsX/Y", false},
		{"Tools/*", "Tools/*", true},
		{"Tools/Get*", "Tools/GetErrorLogs", false},
		{"*", "Keys/Manage", true},
		{"*", "Tools/*", true},
		{"Tools/*", "*", false},
		{"Keys/Manage", "*", false},
		{"", "Keys/Manage", false},
		{"/*", "Keys/Manage", false},
	} {
		if got := c.held.Covers(c.want); got != c.covers {
			t.Errorf("%q covers %q: got %v, want %v", c.held, c.want, got, c.covers)
		}
	}
}

func TestIngestKeyHoldsNothingElse(t *testing.T) {
	// Even if the list in the bucket says otherwise.
	key := access.Key{Kind: access.KindIngest, Scopes: []access.Scope{access.Everything}}
	for _, scope := range access.Scopes {
		if got, want := key.Allows(scope), scope == access.EventsWrite; got != want {
			t.Errorf("ingest key allows %s: got %v, want %v", scope, got, want)
		}
	}
}

func TestCreateChecks(t *testing.T) {
	store, _ := openStore(t, access.Config{})
	long := make([]rune, access.MaxName+1)
	for i := range long {
		long[i] = 'ä'
	}
	past := start.Add(-1)
	for name, c := range map[string]struct {
		key  access.NewKey
		want errata.Kind
	}{
		"no name":              {access.NewKey{Kind: access.KindOps}, errata.KindInvalidName},
		"blank name":           {access.NewKey{Name: " \t ", Kind: access.KindOps}, errata.KindInvalidName},
		"long name":            {access.NewKey{Name: string(long), Kind: access.KindOps}, errata.KindInvalidName},
		"line break in name":   {access.NewKey{Name: "a\nb", Kind: access.KindOps}, errata.KindInvalidName},
		"bidi in name":         {access.NewKey{Name: "a\u202eb", Kind: access.KindOps}, errata.KindInvalidName},
		"bad UTF-8 in name":    {access.NewKey{Name: "a\xff", Kind: access.KindOps}, errata.KindInvalidName},
		"no kind":              {access.NewKey{Name: "x"}, errata.KindInvalidKeyKind},
		"admin, no scopes":     {access.NewKey{Name: "x", Kind: access.KindAdmin}, errata.KindInvalidScope},
		"unknown scope":        {access.NewKey{Name: "x", Kind: access.KindAdmin, Scopes: []access.Scope{"Tools/Fly"}}, errata.KindInvalidScope},
		"unknown group":        {access.NewKey{Name: "x", Kind: access.KindAdmin, Scopes: []access.Scope{"Fly/*"}}, errata.KindInvalidScope},
		"ingest reads":         {access.NewKey{Name: "x", Kind: access.KindIngest, Scopes: []access.Scope{access.EventsWrite, access.ToolsGetErrorLogs}}, errata.KindInvalidScope},
		"ingest everything":    {access.NewKey{Name: "x", Kind: access.KindIngest, Scopes: []access.Scope{access.Everything}}, errata.KindInvalidScope},
		"ingest group":         {access.NewKey{Name: "x", Kind: access.KindIngest, Scopes: []access.Scope{"Events/*"}}, errata.KindInvalidScope},
		"ops deletes":          {access.NewKey{Name: "x", Kind: access.KindOps, Scopes: []access.Scope{access.ToolsDeleteErrorLogs}}, errata.KindInvalidScope},
		"admin with project":   {access.NewKey{Name: "x", Kind: access.KindAdmin, Scopes: []access.Scope{access.Everything}, Project: 1}, errata.KindInvalidProject},
		"project too large":    {access.NewKey{Name: "x", Kind: access.KindIngest, Project: access.MaxProject + 1}, errata.KindInvalidProject},
		"ops with projects":    {access.NewKey{Name: "x", Kind: access.KindOps, Projects: []uint64{1}}, errata.KindInvalidProject},
		"ingest with projects": {access.NewKey{Name: "x", Kind: access.KindIngest, Projects: []uint64{1}}, errata.KindInvalidProject},
		"limited to no number": {access.NewKey{Name: "x", Kind: access.KindAdmin, Scopes: everything, Projects: []uint64{1, 0}}, errata.KindInvalidProject},
		"limited too far":      {access.NewKey{Name: "x", Kind: access.KindAdmin, Scopes: everything, Projects: []uint64{access.MaxProject + 1}}, errata.KindInvalidProject},
		"too many projects":    {access.NewKey{Name: "x", Kind: access.KindAdmin, Scopes: everything, Projects: numbers(access.MaxKeyProjects + 1)}, errata.KindInvalidProject},
		"expired when made":    {access.NewKey{Name: "x", Kind: access.KindIngest, ExpiresAt: past}, errata.KindInvalidExpiry},
		"expires in this now":  {access.NewKey{Name: "x", Kind: access.KindIngest, ExpiresAt: start}, errata.KindInvalidExpiry},
	} {
		_, text, err := store.Create(t.Context(), c.key)
		if got := errata.KindOf(err); err == nil || got != c.want || text != "" {
			t.Errorf("%s: got %q, %v (%s), want %s", name, text, err, got, c.want)
		}
	}
	if keys := store.List(); len(keys) != 0 {
		t.Errorf("refused keys were stored: %v", keys)
	}
}
