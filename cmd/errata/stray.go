package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/errata-log/errata/internal/nearest"
)

// stray is a variable of the environment with our prefix that is no setting.
type stray struct {
	name    string
	nearest string // the variable that was meant, "" if none is near
}

func (s stray) String() string {
	if s.nearest == "" {
		return s.name + " is no setting"
	}
	return fmt.Sprintf("%s is no setting; did you mean %s?", s.name, s.nearest)
}

// otherVariables are read by commands, tests, and the files of deploy/.
var otherVariables = []string{
	"ERRATA_KEY", "ERRATA_URL", "ERRATA_CACHE", "ERRATA_FAILPOINT", "ERRATA_NAME", "ERRATA_APP_PASSWORD", "ERRATA_NATS_PASSWORD",
	"ERRATA_CLICKHOUSE_PASSWORD", "ERRATA_ANALYST_PASSWORD_SHA",
}

// othersPrefixes begin variables of others: Kubernetes sets some for a service that is
// called errata, and tests have theirs.
var othersPrefixes = []string{"ERRATA_SERVICE_", "ERRATA_PORT", "ERRATA_TEST_"}

// straysIn are the variables that may be misspelt settings.
func straysIn(environ []string, known []setting) (strays []stray) {
	names := []string{configFlag}
	for _, s := range known {
		names = append(names, s.name)
	}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		short, ours := strings.CutPrefix(name, envPrefix)
		if !ours || value == "" || slices.Contains(otherVariables, name) || slices.ContainsFunc(names, func(n string) bool { return envName(n) == name }) ||
			slices.ContainsFunc(othersPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			continue
		}
		found := stray{name: name}
		if near := nearest.Name(short, names); near != "" {
			found.nearest = envName(near)
		}
		strays = append(strays, found)
	}
	slices.SortFunc(strays, func(a, b stray) int { return strings.Compare(a.name, b.name) })
	return strays
}

// checkStrays tells of the variables that are no setting. The error is about one that is
// almost a setting; others may belong to another program.
func checkStrays(strays []stray, tell func(stray)) error {
	for _, s := range strays {
		if s.nearest != "" {
			return usagef("%s", s)
		}
		tell(s)
	}
	return nil
}
