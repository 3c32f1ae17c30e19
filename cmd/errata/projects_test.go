package main

import (
	"cmp"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestPrintProject(t *testing.T) {
	limit, none := uint64(600), uint64(0)
	p := apiProject{
		ID: 2, Slug: "web-shop", Name: "Web shop", Platform: "go", CreatedAt: "2026-11-23T14:00:00.000Z", Archived: true,
		DSN: "http://k@h/2", RetentionDays: 0, OccurrenceDays: 30, Limits: apiLimits{&limit, &none},
		Context: apiContext{SourceLines: true, Breadcrumbs: true, Extra: true, Vars: "shapes", Users: true},
		Noise:   json.RawMessage(`[{"field":"class","match":"Bot*","action":"drop"}]`),
	}
	var full, bare strings.Builder
	if err := printProject(&full, p); err != nil {
		t.Fatal(err)
	}
	golden(t, "projects-show", full.String())
	p.DSN, p.CreatedAt, p.Platform, p.Limits, p.Noise, p.Archived = "", "", "", apiLimits{}, json.RawMessage(`[]`), false
	p.Context = apiContext{Vars: "off"}
	if err := printProject(&bare, p); err != nil {
		t.Fatal(err)
	}
	golden(t, "projects-show-bare", bare.String())
}

// TestPrintNewProject holds what a person reads after a project was made; only the first
// two lines go to standard output.
func TestPrintNewProject(t *testing.T) {
	for _, platform := range []string{"", "go", "php-laravel", "node", "javascript-react", "python-django", "cobol"} {
		var out, about strings.Builder
		made := apiProject{ID: 2, Slug: "web-shop", Name: "Web shop", Platform: platform, DSN: "https://0123@errata.example/e/2", Key: "eik_ing_x"}
		if err := printNewProject(&out, &about, made); err != nil {
			t.Fatal(err)
		}
		if want := "DSN  https://0123@errata.example/e/2\nkey  eik_ing_x\n"; out.String() != want {
			t.Errorf("stdout is %q, want %q", out.String(), want)
		}
		if strings.Contains(about.String(), made.Key) {
			t.Errorf("the key is on standard error, where no script expects it:\n%s", about.String())
		}
		golden(t, "projects-create-"+cmp.Or(platform, "unknown"), about.String())
	}
}

// TestFirstErrorsAreThoseOfThePage compares the code with that of the page.
func TestFirstErrorsAreThoseOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../web/src/lib/snippets.ts")
	if err != nil {
		t.Fatal(err)
	}
	escape := strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\t", `\t`, "%s", "${dsn}")
	for _, known := range firstErrors {
		for what, text := range map[string]string{"package": "'" + known.install + "'", "code": "`" + escape.Replace(known.code) + "`"} {
			if !strings.Contains(string(page), text) {
				t.Errorf("%s: the page has another %s than %s", known.language, what, text)
			}
		}
	}
}

// useProjects makes a project, sees it listed and shown, and sends with its key.
func useProjects(t *testing.T, s *service, data string) {
	got := command(t, nil, "projects", "create", "Order Desk", "--platform", "go", "--data", data)
	made := regexp.MustCompile(`^DSN  http://[0-9a-f]{32}@\S+/(\d+)\nkey  (eik_ing_\w+)\n$`).FindStringSubmatch(got.out)
	if got.code != exitOK || made == nil || !strings.Contains(got.err, `"Order Desk" with the slug order-desk`) {
		t.Fatalf("create: %+v, want DSN and key on stdout", got)
	}
	_, curl, found := strings.Cut(command(t, nil, "projects", "create", "Any Shell", "--data", data).err, "from a shell:\n\n")
	if got := shell(t, curl); !found || !strings.Contains(got, `"id":`) {
		t.Errorf("the printed command %q was answered with %s", curl, got)
	}
	send := "curl -sS " + s.url + "/api/v1/events -H 'Authorization: Bearer " + made[2] + `' -H 'Content-Type: application/json' -d '{"message":"m"}'`
	if got := shell(t, send); !strings.Contains(got, `"accepted":1`) {
		t.Errorf("send with the key of the new project: %s", got)
	}
	list := command(t, nil, "projects", "list", "--data", data)
	for _, line := range []string{`1 +default +active +- +20\S+ +default`, made[1] + ` +order-desk +active +go +20\S+ +Order Desk`, `7 +project-7 +active .*project 7`} {
		if list.code != exitOK || !regexp.MustCompile(`(?m)^`+line+`$`).MatchString(list.out) {
			t.Errorf("list: %+v, want a line %s", list, line)
		}
	}
	shown := command(t, nil, "projects", "show", "order-desk", "--data", data)
	if shown.code != exitOK || !strings.Contains(shown.out, strings.Fields(got.out)[1]) {
		t.Errorf("show: %+v, want the DSN of the answer that made it", shown)
	}
	var p apiProject
	asJSON := command(t, nil, "projects", "show", made[1], "--json", "--data", data)
	if err := json.Unmarshal([]byte(asJSON.out), &p); err != nil || p.Slug != "order-desk" || p.Key != "" || string(p.Noise) != "[]" {
		t.Errorf("show as JSON: %+v, %v", asJSON, err)
	}
	for want, args := range map[string][]string{
		"not_found": {"projects", "show", "nobody"}, "invalid_platform": {"projects", "create", "x", "--platform", "a b"},
	} {
		if got := command(t, nil, append(args, "--data", data)...); got.code != exitFailed || !strings.Contains(got.err, want) {
			t.Errorf("%v: %+v, want a failure with %s", args, got, want)
		}
	}
}
