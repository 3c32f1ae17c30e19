package agents

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// The members that Errata itself makes. All others come from applications, a member
// that the API gets later too.
var (
	recordOwn     = []string{"signature", "type", "level", "count", "first_seen", "last_seen", "status", "regressed", "project", "users", "overflow"}
	occurrenceOwn = []string{"number", "position", "time", "received", "level", "payload_available", "previous", "next"}
	// notShown say nothing to an agent.
	notShown = []string{"id", "project_id"}
)

// split takes apart an object of the API: what Errata says, and below from_application
// what applications say. Empty members are left out.
func split(value any, own []string) map[string]any {
	object, _ := value.(map[string]any)
	ours, theirs := map[string]any{}, map[string]any{}
	for name, member := range object {
		switch {
		case slices.Contains(own, name):
			ours[name] = member
		case slices.Contains(notShown, name) || empty(member):
		case name == "payload":
			theirs["context"] = member
		default:
			theirs[name] = member
		}
	}
	if len(theirs) > 0 {
		ours["from_application"] = theirs
	}
	return ours
}

func empty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case string:
		return value == ""
	case []any:
		return len(value) == 0
	case map[string]any:
		return len(value) == 0
	}
	return fmt.Sprint(value) == "0" // json.Number
}

// rows takes apart each element of a list.
func rows(value any, own []string, each func(row map[string]any)) []any {
	list, _ := value.([]any)
	out := make([]any, len(list))
	for i := range list {
		row := split(list[i], own)
		each(row)
		out[i] = row
	}
	return out
}

// The pages are those that fit an answer as a rule.
const defaultRows, maxRows = 10, 25

// page bounds a limit. It must not be the API's default, which no answer holds.
func page(limit uint64) string {
	if limit == 0 {
		limit = defaultRows
	}
	return number(min(limit, maxRows))
}

type listArgs struct {
	Search        string   `json:"search,omitempty" jsonschema:"Words that must all occur, each in message, class, file:line, address, cause or transaction; a text in double quotes is one word. Also the beginning of a signature, or a whole event id."`
	Project       string   `json:"project,omitempty" jsonschema:"Slugs or numbers of projects, a comma list."`
	Status        string   `json:"status,omitempty" jsonschema:"Comma list of open, resolved, muted."`
	Levels        string   `json:"levels,omitempty" jsonschema:"Comma list of debug, info, notice, warning, error, critical, fatal."`
	Types         string   `json:"types,omitempty" jsonschema:"Comma list of the books, system and database."`
	Environment   string   `json:"environment,omitempty" jsonschema:"Comma list of environments; * is a wildcard. Counts and times are then those of the matching occurrences."`
	Release       string   `json:"release,omitempty" jsonschema:"Comma list of releases, as environment."`
	Tags          []string `json:"tags,omitempty" jsonschema:"Tags as key:value, which one occurrence must all have."`
	DateRange     string   `json:"date_range,omitempty" jsonschema:"When last seen: 24h, 7d, today, 2026-11-01..2026-11-21."`
	MinOccurrence uint64   `json:"min_occurrence,omitempty" jsonschema:"Only records seen at least so often."`
	HideNoise     bool     `json:"hide_noise,omitempty" jsonschema:"Leave out muted records, levels below warning, and noise."`
	Order         string   `json:"order,omitempty" jsonschema:"last_seen (default), first_seen, count, level or another column."`
	Direction     string   `json:"direction,omitempty" jsonschema:"desc (default) or asc."`
	Page          uint64   `json:"page,omitempty" jsonschema:"From 1."`
	Limit         uint64   `json:"limit,omitempty" jsonschema:"Records in the answer, 10 unless given, at most 25."`
}

func (in listArgs) query() url.Values {
	values := query("search", in.Search, "project", in.Project, "status", in.Status, "levels", in.Levels, "types", in.Types,
		"environment", in.Environment, "release", in.Release, "date_range", in.DateRange, "min_occurrence", number(in.MinOccurrence),
		"order", in.Order, "direction", in.Direction, "page", number(in.Page), "limit", page(in.Limit))
	if in.HideNoise {
		values.Set("hide_noise", "1")
	}
	for _, tag := range in.Tags {
		values.Add("tag", tag)
	}
	return values
}

// list answers a page of records.
func (t toolset) list(ctx context.Context, who caller, in listArgs) (result, error) {
	data, meta, err := t.ask(ctx, who, http.MethodGet, logsPath+"/errors", in.query(), nil)
	if err != nil {
		return nil, err
	}
	about, _ := meta.(map[string]any)
	answer := result{"total": about["total"], "page": about["page"], "next_page": about["next_page"]}
	answer["errors"] = rows(data, recordOwn, func(row map[string]any) {
		signature, _ := row["signature"].(string)
		book, _ := row["type"].(string)
		row["link"] = link(who, signature, book, "")
	})
	return answer, nil
}

type occurrencesArgs struct {
	record
	Environment string `json:"environment,omitempty" jsonschema:"Comma list of environments; * is a wildcard."`
	Release     string `json:"release,omitempty" jsonschema:"Comma list of releases; * is a wildcard."`
	User        string `json:"user,omitempty" jsonschema:"One user, exactly as an occurrence shows it."`
	Tag         string `json:"tag,omitempty" jsonschema:"A tag as key:value."`
	From        string `json:"from,omitempty" jsonschema:"The first time: a day or RFC 3339."`
	To          string `json:"to,omitempty" jsonschema:"The last time, inclusive."`
	Cursor      uint64 `json:"cursor,omitempty" jsonschema:"next_cursor of the page before."`
	Limit       uint64 `json:"limit,omitempty" jsonschema:"Occurrences in the answer, 10 unless given, at most 25."`
}

// occurrences answers a page of the events of a record.
func (t toolset) occurrences(ctx context.Context, who caller, in occurrencesArgs) (result, error) {
	data, meta, err := t.read(ctx, who, in.record, "/occurrences", query("environment", in.Environment, "release", in.Release,
		"user", in.User, "tag", in.Tag, "from", in.From, "to", in.To, "cursor", number(in.Cursor), "limit", page(in.Limit)))
	if err != nil {
		return nil, err
	}
	about, _ := meta.(map[string]any)
	answer := in.about(who)
	answer["count"], answer["next_cursor"] = about["count"], about["next_cursor"]
	answer["occurrences"] = rows(data, occurrenceOwn, func(map[string]any) {})
	return answer, nil
}

type occurrenceArgs struct {
	Signature string `json:"signature,omitempty" jsonschema:"The record's signature; leave it out with event_id."`
	Type      string `json:"type,omitempty" jsonschema:"The book: system (default) or database."`
	At        string `json:"at,omitempty" jsonschema:"The position of an occurrence as a list shows it, or first, or latest (default)."`
	EventID   string `json:"event_id,omitempty" jsonschema:"The id of an event instead of signature and at, with or without dashes."`
}

// occurrence answers one event with its context.
func (t toolset) occurrence(ctx context.Context, who caller, in occurrenceArgs) (result, error) {
	of, data := record{in.Signature, in.Type}, any(nil)
	var err error
	switch {
	case (in.EventID != "") == (in.Signature != ""):
		return nil, &refusal{Code: "invalid_arguments", Message: "Give signature or event_id, and not both."}
	case in.EventID != "":
		of, data, err = t.event(ctx, who, in.EventID)
	default:
		at := cmp.Or(in.At, "latest")
		if err = segment("at", at); err == nil {
			data, _, err = t.read(ctx, who, of, "/occurrences/"+at, url.Values{})
		}
	}
	if err != nil {
		return nil, err
	}
	answer := of.about(who)
	one := split(data, occurrenceOwn)
	answer["occurrence"] = one
	answer["link"] = link(who, strings.ToLower(of.Signature), of.Type, fmt.Sprint(one["position"]))
	return answer, nil
}

// event finds the occurrence of an event id, and its record.
func (t toolset) event(ctx context.Context, who caller, id string) (of record, data any, err error) {
	if err := segment("event_id", id); err != nil {
		return of, nil, err
	}
	if data, _, err = t.ask(ctx, who, http.MethodGet, logsPath+"/occurrences/"+id, nil, nil); err != nil {
		return of, nil, err
	}
	found, _ := data.(map[string]any)
	row, _ := found["record"].(map[string]any)
	of.Signature, _ = row["signature"].(string)
	of.Type, _ = row["type"].(string)
	return of, found["occurrence"], nil
}
