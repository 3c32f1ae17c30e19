package api

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/query"
)

// filterParameters are parameters of the list in the body of a change.
type filterParameters url.Values

// filterIn reads an object of the list's parameters, written as in a query. Errors:
// invalid_body, unknown_parameter.
func filterIn(field string, sent json.RawMessage) (filterParameters, error) {
	var members map[string]json.RawMessage
	if sent[0] != '{' || json.Unmarshal(sent, &members) != nil {
		return nil, wrongType(field, sent, "an object")
	}
	parameters := filterParameters{}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(query.FilterParameters, name) {
			return nil, unknownParameter(name, query.FilterParameters,
				"A filter has no parameter %q; %s.", cut(name), insteadOf(name, query.FilterParameters))
		}
		value, err := textIn(field+"."+name, members[name])
		if err != nil {
			return nil, err
		}
		parameters[name] = []string{value}
	}
	return parameters, nil
}

// storedFilter checks the parameters, and returns the filter as a command keeps it:
// relative dates count from now. A filter that selects everything is refused: it is
// what a program sends whose variable is empty. Errors: filter_required and those of
// the list's parameters.
func (c *call) storedFilter(sent filterParameters) (json.RawMessage, error) {
	filter, _, err := query.Parse(url.Values(sent), c.service.Now())
	if err != nil {
		return nil, err
	}
	if filter.Projects, err = c.listed(sent[projectParameter]); err != nil {
		return nil, err
	}
	if filter.All() {
		return nil, refuse(errata.KindFilterRequired, "filter",
			"This filter selects every record. Name what is meant; types=system,database is all of them.")
	}
	return query.EncodeFilter(filter)
}
