package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

func TestPrintProject(t *testing.T) {
	limit, none := uint64(600), uint64(0)
	p := apiProject{
		ID: 2, Slug: "web-shop", Name: "Web shop", Platform: "go", CreatedAt: "2026-11-23T14:00:00.000Z", Archived: true,
		DSN: "http://k@h/2", RetentionDays: 0, OccurrenceDays: 30, Limits: apiLimits{&limit, &none},
		Noise: json.RawMessage(`[{"field":"class","match":"Bot*","action":"drop"}]`),
	}
	var full, bare strings.Builder
	if err := printProject(&full, p); err != nil {
		t.Fatal(err)
	}
	golden(t, "projects-show", full.String())
	p.DSN, p.CreatedAt, p.Platform, p.Limits, p.Noise, p.Archived = "", "", "", apiLimits{}, json.RawMessage(`[]`), false
	if err := printProject(&bare, p); err != nil {
		t.Fatal(err)
	}
	golden(t, "projects-show-bare", bare.String())
}

// useProjects makes a project, sees it listed and shown, and sends with its key.
func useProjects(t *testing.T, s *service, data string) {
	got := command(t, nil, "projects", "create", "Order Desk", "--platform", "go", "--data", data)
	made := regexp.MustCompile(`^DSN  http://[0-9a-f]{32}@\S+/(\d+)\nkey  (eik_ing_\w+)\n$`).FindStringSubmatch(got.out)
	if got.code != exitOK || made == nil || !strings.Contains(got.err, `"Order Desk" with the slug order-desk`) {
		t.Fatalf("create: %+v, want DSN and key on stdout", got)
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
