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

func parseSizes(lists, occurrences, changed, events, lines, folded, replayed, seen string) (s sizes, err error) {
	if s.lists, err = parseList(lists); err != nil {
		return sizes{}, fmt.Errorf("-records: %w", err)
	}
	if s.occurrences, err = parseList(occurrences); err != nil {
		return sizes{}, fmt.Errorf("-occurrences: %w", err)
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
	if s.folded, err = parseList(folded); err != nil {
		return sizes{}, fmt.Errorf("-fold-signatures: %w", err)
	}
	if s.replayed, err = parseList(replayed); err != nil {
		return sizes{}, fmt.Errorf("-replay-signatures: %w", err)
	}
	if s.seen, err = parseList(seen); err != nil {
		return sizes{}, fmt.Errorf("-visible-signatures: %w", err)
	}
	return s, nil
}

// parseList reads sizes with commas.
func parseList(text string) (sizes []int, err error) {
	for one := range strings.SplitSeq(text, ",") {
		n, err := parseSize(one)
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
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
