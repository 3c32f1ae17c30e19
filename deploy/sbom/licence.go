package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// fitting are the licences of parts that may be shipped in an Apache-2.0 program:
// permissive ones, and MPL-2.0, which only asks to name the unchanged sources, as a
// module path does.
var fitting = []string{"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0", "MPL-2.0", "Unlicense", "Zlib"}

// covered is the share of a file, in percent, that must be the text of known licences.
// Below it the file may hold further conditions.
const covered = 75

// licencesIn are the licences in the files of a module's folder that are named like
// licences. A file whose text is not covered by known licences counts as none.
func licencesIn(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("look for a licence: %w", err)
	}
	var found []string
	for _, entry := range entries {
		if entry.IsDir() || !namesLicence(entry.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("read a licence: %w", err)
		}
		coverage := licensecheck.Scan(text)
		if coverage.Percent < covered {
			continue
		}
		for _, match := range coverage.Match {
			if !match.IsURL && !slices.Contains(found, match.ID) {
				found = append(found, match.ID)
			}
		}
	}
	return found, nil
}

func namesLicence(file string) bool {
	name := strings.ToLower(file)
	for _, front := range []string{"license", "licence", "copying", "unlicense"} {
		if strings.HasPrefix(name, front) {
			return true
		}
	}
	return false
}

func join(licences []string) string {
	if len(licences) == 0 {
		return "unknown"
	}
	return strings.Join(licences, " AND ")
}
