package api

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/internal/nearest"
)

// withQueries gives each route of the administration the query parameters that the
// OpenAPI document has for it. The other routes take any: probes and browsers add
// parameters of their own. The error names a route that the document does not have.
func withQueries(routes []route, documented map[string][]string) error {
	for i, r := range routes {
		if !strings.HasPrefix(r.Path, admin+"/") {
			continue
		}
		name := r.Method + " " + documentedPath(r.Path)
		known, found := documented[name]
		if !found {
			return fmt.Errorf("the OpenAPI document does not have %s", name)
		}
		routes[i].query, routes[i].strict = known, true
	}
	return nil
}

// documentedPath is the path of a route as the document writes it: {id} for :id.
func documentedPath(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if len(part) > 1 && (part[0] == ':' || part[0] == '*') {
			parts[i] = "{" + part[1:] + "}"
		}
	}
	return strings.Join(parts, "/")
}

// listSuffix ends the name of a parameter in the spelling of PHP and others, who
// send each member of a list by itself: name[]=a&name[]=b is name=a,b.
const listSuffix = "[]"

// repeated are parameters that may stand several times; the others are comma lists. The
// value of a tag may have commas.
var repeated = []string{"tag"}

// readQuery checks the query against the parameters of the route, and rewrites
// name[] as name. A parameter that is not known is refused: if it were ignored, a
// filter with a typing error would give the whole list. Errors: unknown_parameter.
func (c *call) readQuery(r route) error {
	raw := c.Request.URL.RawQuery
	if !r.strict || raw == "" {
		return nil
	}
	values, lists := url.Values{}, []string{}
	for pair := range strings.SplitSeq(raw, "&") {
		one, err := url.ParseQuery(pair)
		if err != nil {
			sent, _, _ := strings.Cut(pair, "=")
			return unknownParameter(sent, r.query, "The query cannot be read at %q: separate parameters by &, and write ; as %%3B and %% as %%25.", cut(sent))
		}
		for sent, value := range one {
			name, isList := strings.CutSuffix(sent, listSuffix)
			if !slices.Contains(r.query, name) {
				return unknownParameter(sent, r.query, "This path has no parameter %q; %s.", cut(sent), insteadOf(sent, r.query))
			}
			values[name] = append(values[name], value...)
			if isList {
				lists = append(lists, name)
			}
		}
	}
	if len(lists) == 0 {
		return nil
	}
	for _, name := range lists {
		if slices.Contains(repeated, name) {
			continue
		}
		sent := slices.DeleteFunc(values[name], func(value string) bool { return strings.TrimSpace(value) == "" })
		values[name] = []string{strings.Join(sent, ",")}
	}
	rewritten := *c.Request.URL // the caller of this handler still sees what was sent
	rewritten.RawQuery = values.Encode()
	c.Request.URL = &rewritten
	return nil
}

// unknownParameter is the error about a parameter. A program reads the nearest
// known name, which is null when none is near.
func unknownParameter(sent string, known []string, format string, args ...any) error {
	details := map[string]any{"parameter": cut(sent), "nearest": nil}
	if name := nearest.Name(sent, known); name != "" {
		details["nearest"] = name
	}
	return errata.Errorf(errata.KindUnknownParameter, format, args...).With(details)
}

// insteadOf says which parameter to use.
func insteadOf(sent string, known []string) string {
	switch name := nearest.Name(sent, known); {
	case name != "":
		return "the nearest is " + name
	case len(known) == 0:
		return "it takes none"
	default:
		return "it takes " + strings.Join(known, ", ")
	}
}
