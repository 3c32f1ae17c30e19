package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// sizeUnits are the units of a size, largest first, so that formatSize finds the
// largest that divides it. formatSize does not use the decimal ones.
var sizeUnits = []struct {
	name  string
	bytes int64
	print bool
}{
	{"TiB", 1 << 40, true}, {"TB", 1e12, false},
	{"GiB", 1 << 30, true}, {"GB", 1e9, false},
	{"MiB", 1 << 20, true}, {"MB", 1e6, false},
	{"KiB", 1 << 10, true}, {"KB", 1e3, false},
	{"B", 1, true},
}

// parseSize reads a size in bytes: "10GiB", "512 MB", "1048576", in any case.
// "auto" is 0.
func parseSize(text string) (int64, error) {
	trimmed := strings.TrimSpace(text)
	if strings.EqualFold(trimmed, "auto") {
		return 0, nil
	}
	number, unit := trimmed, int64(1)
	for _, u := range sizeUnits {
		if n := len(trimmed) - len(u.name); n > 0 && strings.EqualFold(trimmed[n:], u.name) {
			number, unit = strings.TrimSpace(trimmed[:n]), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64/unit {
		return 0, fmt.Errorf("%q is not a size such as 512MiB or 10GiB", text)
	}
	return n * unit, nil
}

// formatSize is the text from which parseSize reads the same number.
func formatSize(n int64) string {
	if n == 0 {
		return "auto"
	}
	for _, u := range sizeUnits {
		if u.print && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}
