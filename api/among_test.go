package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/query"
)

const overviewPath = "/api/v1/admin/tools/logs/overview"

// makeProjects makes web-shop, number 2, and desk, number 3; a key uses number 9.
func makeProjects(t *testing.T, b *bench) {
	t.Helper()
	b.claimFirst(t)
	admin := b.key(t, "Projects/*")
	for _, name := range []string{"Web Shop", "desk"} {
		if _, status, failed := b.askProject(t, admin, "POST", projectsPath, fmt.Sprintf(`{"name":%q}`, name)); status != http.StatusCreated {
			t.Fatal(status, failed)
		}
	}
	if _, _, err := b.keys.Create(t.Context(), access.NewKey{Name: "old", Kind: access.KindIngest, Project: 9}); err != nil {
		t.Fatal(err)
	}
}

// TestProjectParameter: each read of records takes projects by number and slug, and an
// unknown one is refused and named.
//
// long: it is two tables.
func TestProjectParameter(t *testing.T) {
	b := newBench(t, nil)
	makeProjects(t, b)
	key := b.key(t, "Tools/*")
	var listed query.Projects
	b.records.list = func(_ context.Context, _ url.Values, among query.Projects) (query.List, error) {
		listed = among
		return query.List{Page: 1, Limit: 25}, nil
	}
	server := served(t, b)
	for target, asked := range map[string]func() query.Projects{
		errorsPath: func() query.Projects { return listed },
		trendsPath + "?signatures=" + strings.Repeat("0", 32): func() query.Projects { return b.insights.among },
		overviewPath: func() query.Projects { return b.insights.among },
		streamPath:   func() query.Projects { return b.feed.among },
	} {
		ask := func(text string) (status int, body string) {
			separator := "?"
			if strings.Contains(target, "?") {
				separator = "&"
			}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+target+separator+text, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+key)
			resp, err := server.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			told, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			return resp.StatusCode, string(told)
		}
		for text, want := range map[string]query.Projects{
			"project=":                   {},
			"project=,":                  {},
			"project=web-shop":           query.OnlyProjects(2),
			"project=WEB-shop,2":         query.OnlyProjects(2),
			"project=3,%20web-shop":      query.OnlyProjects(2, 3),
			"project[]=desk&project[]=1": query.OnlyProjects(1, 3),
			"project=project-9":          query.OnlyProjects(9),
			"project=9&project=0":        query.OnlyProjects(0, 9),
		} {
			if status, body := ask(text); status != http.StatusOK || !asked().Equal(want) {
				t.Errorf("%s %s: %d %s, asked for %+v, want %+v", target, text, status, body, asked(), want)
			}
		}
		for _, text := range []string{"project=nobody", "project=desk,77", "project=-1", "project=1.5", "project=project-77"} {
			status, body := ask(text)
			var told struct {
				Error struct {
					Code    string
					Message string
					Details map[string]string
				}
			}
			if err := json.Unmarshal([]byte(body), &told); err != nil {
				t.Fatal(err)
			}
			name := text[strings.LastIndexAny(text, "=,")+1:]
			if status != http.StatusUnprocessableEntity || told.Error.Code != "invalid_project" || !strings.Contains(told.Error.Message, name) || told.Error.Details["parameter"] != "project" {
				t.Errorf("%s %s: %d %s, want 422 invalid_project that names it", target, text, status, body)
			}
		}
	}
	if w := b.do(request{method: "GET", target: errorsPath + "?project=1" + manyNumbers(101), key: key}); code(t, w) != "invalid_project" {
		t.Errorf("more than 100 projects: %d %s", w.Code, w.Body)
	}
}

// manyNumbers is a list of n numbers.
func manyNumbers(n int) string {
	var list strings.Builder
	for i := range n {
		fmt.Fprintf(&list, ",%d", i)
	}
	return list.String()
}

// TestRowsNameTheirProject: the slug is that of now, also of a number that nobody named.
func TestRowsNameTheirProject(t *testing.T) {
	b := newBench(t, nil)
	makeProjects(t, b)
	key := b.key(t, "Tools/*")
	b.records.list = func(context.Context, url.Values, query.Projects) (query.List, error) {
		list := query.List{Page: 1, Limit: 25, Total: 4, Scoped: true}
		for _, number := range []uint64{2, 9, 12345, 0} {
			r := sample(t)
			r.Project = number
			list.Records = append(list.Records, r)
		}
		return list, nil
	}
	slugs := func() (slugs []string) {
		var page struct {
			Data []struct {
				Project   string
				ProjectID uint64 `json:"project_id"`
			}
			Meta struct{ Scoped bool }
		}
		w := b.do(request{method: "GET", target: errorsPath, key: key})
		if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || !page.Meta.Scoped {
			t.Fatalf("%v %s", err, w.Body)
		}
		for _, row := range page.Data {
			slugs = append(slugs, fmt.Sprint(row.Project, " ", row.ProjectID))
		}
		return slugs
	}
	if got := fmt.Sprint(slugs()); got != "[web-shop 2 project-9 9 project-12345 12345  0]" {
		t.Errorf("slugs %v", got)
	}
	if _, status, _ := b.askProject(t, b.key(t, "Projects/*"), "PATCH", projectsPath+"/2", `{"slug":"store"}`); status != http.StatusOK {
		t.Fatal(status)
	}
	if got := slugs()[0]; got != "store 2" {
		t.Errorf("after its slug changed: %v", got)
	}
}

// TestProjectsWithoutRecords: projects are shown and changed while the records do not
// answer, and one that has no records has zeros.
func TestProjectsWithoutRecords(t *testing.T) {
	b := newBench(t, nil)
	makeProjects(t, b)
	admin := b.key(t, "Projects/*")
	totals := func(method, body string) string {
		w := b.do(request{method: method, target: projectsPath + "/desk", key: admin, body: body, headers: []string{"Content-Type: application/json"}})
		var p struct {
			Data struct{ Totals json.RawMessage }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != http.StatusOK {
			t.Fatalf("%v %d %s", err, w.Code, w.Body)
		}
		return string(p.Data.Totals)
	}
	if got := totals("GET", ""); got != `{"records":0,"events_24h":0}` {
		t.Errorf("without records: %s", got)
	}
	b.insights.totals = func() (map[uint64]query.ProjectTotals, error) {
		return nil, errata.Errorf(errata.KindStoreUnavailable, "Not now.")
	}
	if got, patched := totals("GET", ""), totals("PATCH", `{"archived":true}`); got != "null" || patched != "null" {
		t.Errorf("while the records do not answer: %s, %s", got, patched)
	}
}
