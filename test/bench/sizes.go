package main

import (
	"fmt"
	"strconv"
	"strings"
)

// maxSize keeps a wrong suffix from filling the disk.
const maxSize = 100_000_000

// parseSize reads a number such as 250000, 100k or 1M.
func parseSize(text string) (int, error) {
	digits, unit := strings.TrimSpace(text), 1
	switch {
	case strings.HasSuffix(digits, "k"):
		digits, unit = strings.TrimSuffix(digits, "k"), 1000
	case strings.HasSuffix(digits, "M"):
		digits, unit = strings.TrimSuffix(digits, "M"), 1_000_000
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > maxSize/unit {
		return 0, fmt.Errorf("%q is not a number from 1 to 100M, such as 250000, 100k or 1M", text)
	}
	return n * unit, nil
}

func parseSizes(lists, changed, events, lines string) (s sizes, err error) {
	for text := range strings.SplitSeq(lists, ",") {
		n, err := parseSize(text)
		if err != nil {
			return sizes{}, fmt.Errorf("-records: %w", err)
		}
		s.lists = append(s.lists, n)
	}
	if s.changed, err = parseSize(changed); err != nil {
		return sizes{}, fmt.Errorf("-change-records: %w", err)
	}
	if s.events, err = parseSize(events); err != nil {
		return sizes{}, fmt.Errorf("-events: %w", err)
	}
	if s.lines, err = parseSize(lines); err != nil {
		return sizes{}, fmt.Errorf("-lines: %w", err)
	}
	return s, nil
}

// sizeName is the inverse of parseSize.
func sizeName(n int) string {
	switch {
	case n%1_000_000 == 0:
		return strconv.Itoa(n/1_000_000) + "M"
	case n%1000 == 0:
		return strconv.Itoa(n/1000) + "k"
	default:
		return strconv.Itoa(n)
	}
}
