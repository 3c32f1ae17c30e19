package query

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	errata "github.com/errata-log/errata"
)

// FilterParameters are the parameters of the list that select records. The others say
// how the selected ones are shown.
var FilterParameters = []string{
	"search", "project", "environment", "release", "tag", "event_id", "types", "levels", "status", "signature", "file", "exception_class", "request_uri", "message",
	"http_method", "user_id", "ip", "min_occurrence", "date_range", "hide_noise",
}

// EncodeFilter returns the filter as a command on the log keeps it: an object of the
// list's own parameters. Times are absolute, so that a later replay selects the same
// records.
func EncodeFilter(f Filter) (json.RawMessage, error) {
	stored := map[string]string{}
	for name, values := range f.values() {
		stored[name] = values[0]
	}
	return json.Marshal(stored)
}

// DecodeFilter reads it again. A parameter that this version does not know is an
// error: without it the filter would select more records.
func DecodeFilter(stored json.RawMessage) (Filter, error) {
	var parameters map[string]string
	if err := json.Unmarshal(stored, &parameters); err != nil {
		return Filter{}, fmt.Errorf("read a filter: %w", err)
	}
	values := url.Values{}
	for name, value := range parameters {
		values.Set(name, value)
	}
	f, _, err := Parse(values, time.Time{})
	if among, restricted := parameters["project"]; restricted && err == nil {
		f.Projects, err = parseProjects(among)
	}
	if err != nil {
		return Filter{}, fmt.Errorf("read a filter: %w", err)
	}
	known := f.values()
	for name := range parameters {
		if !known.Has(name) {
			return Filter{}, fmt.Errorf("this version does not know the filter %q", name)
		}
	}
	return f, nil
}

// All says that no parameter is set that narrows the result.
func (f Filter) All() bool { return len(f.values()) == 0 }

// values is the inverse of [Parse].
func (f Filter) values() url.Values {
	values := url.Values{}
	set := func(name, value string) {
		if value != "" {
			values.Set(name, value)
		}
	}
	set("search", f.Search)
	set("project", f.Projects.String())
	set("environment", f.Environments.String())
	set("release", f.Releases.String())
	set("tag", tagLines(f.Tags))
	set("event_id", f.EventID)
	set("types", strings.Join(names(f.Books), ","))
	set("levels", strings.Join(names(f.Levels), ","))
	set("status", strings.Join(texts(f.Statuses), ","))
	if f.Signature != nil {
		set("signature", f.Signature.String())
	}
	set("file", f.File)
	set("exception_class", f.Class)
	set("request_uri", f.URI)
	set("message", f.Message)
	set("http_method", f.Method)
	if f.UserID != nil {
		set("user_id", strconv.FormatInt(*f.UserID, 10))
	}
	if f.IP.IsValid() {
		set("ip", f.IP.String())
	}
	if f.MinOccurrence > 0 {
		set("min_occurrence", strconv.FormatUint(f.MinOccurrence, 10))
	}
	set("date_range", rangeText(f.From, f.To))
	if f.HideNoise {
		set("hide_noise", "1")
	}
	return values
}

// rangeText is a range as date_range takes it.
func rangeText(from, to time.Time) string {
	if from.IsZero() && to.IsZero() {
		return ""
	}
	end := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return errata.Instant(t).String()
	}
	return end(from) + ".." + end(to)
}

// Condition is the filter as a condition on the rows of the table records, with its
// arguments, for a command that changes the records that match.
func (f Filter) Condition() (text string, args []any, err error) {
	if f.Projects.None() {
		return "0", nil, nil
	}
	if f.Scoped() {
		if f, err = f.amongOccurrences(); err != nil {
			return "", nil, err
		}
	}
	conditions, args, err := renderAll(f.fragments())
	if len(conditions) == 0 {
		conditions = []string{"1"}
	}
	return strings.Join(conditions, "\n      AND "), args, err
}
