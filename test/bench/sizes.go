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

// sizeFlag is a flag with one size.
type sizeFlag int

func (s *sizeFlag) String() string { return sizeName(int(*s)) }

func (s *sizeFlag) Set(text string) error {
	n, err := parseSize(text)
	if err == nil {
		*s = sizeFlag(n)
	}
	return err
}

// sizesFlag is a flag with several sizes and commas between them.
type sizesFlag []int

func (s *sizesFlag) String() string {
	names := make([]string, len(*s))
	for i, n := range *s {
		names[i] = sizeName(n)
	}
	return strings.Join(names, ",")
}

func (s *sizesFlag) Set(text string) error {
	var sizes []int
	for one := range strings.SplitSeq(text, ",") {
		n, err := parseSize(one)
		if err != nil {
			return err
		}
		sizes = append(sizes, n)
	}
	*s = sizes
	return nil
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
