package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
)

// row is one line of the table: a figure beside its ceiling of the same run.
type row struct {
	name          string
	ours, ceiling float64 // medians over the rounds
	unit          string
	ratio         float64 // median of the rounds' ratios
	target        float64 // ratio to reach, 0 when there is none
	limit         float64 // most that ours may be, 0 when there is no limit
	note          string
}

func (r row) write(w io.Writer) {
	verdict := ""
	switch {
	case r.target > 0:
		verdict = fmt.Sprintf("%.2f (target %.2f)", r.ratio, r.target)
	case r.limit > 0 && r.ours <= r.limit:
		verdict = fmt.Sprintf("met (at most %s)", figure(r.limit))
	case r.limit > 0:
		verdict = fmt.Sprintf("MISSED (at most %s)", figure(r.limit))
	}
	ceiling := ""
	if r.ceiling > 0 {
		ceiling = figure(r.ceiling)
	}
	fmt.Fprintf(w, "%-34s %12s %12s %-10s %-21s %s\n", r.name, figure(r.ours), ceiling, r.unit, verdict, r.note)
}

// figure shows three digits and more: 0.84, 12.3, 148000.
func figure(x float64) string {
	switch {
	case x != 0 && x < 10:
		return fmt.Sprintf("%.2f", x)
	case x < 100 && x != math.Trunc(x):
		return fmt.Sprintf("%.1f", x)
	default:
		return fmt.Sprintf("%.0f", x)
	}
}

func header(w io.Writer) {
	fmt.Fprintf(w, "%-34s %12s %12s %-10s %-21s %s\n", "work", "errata", "ceiling", "unit", "ratio, or limit", "")
}

// median is the middle value; the lower one of two.
func median[T cmp.Ordered](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}

// paired runs ours and ceiling in turn for a number of rounds, so that a change
// of the machine's speed affects both, and returns the medians. Each of them comes first in
// every other round: whoever is second works in a process that has grown.
func paired(rounds int, ours, ceiling func() (float64, error)) (o, c, ratio float64, err error) {
	var os, cs, rs []float64
	both := []func() error{
		func() (err error) {
			if c, err = ceiling(); err != nil {
				return fmt.Errorf("ceiling: %w", err)
			}
			return nil
		},
		func() (err error) { o, err = ours(); return err },
	}
	for round := range rounds {
		for i := range both {
			if err := both[(round+i)%2](); err != nil {
				return 0, 0, 0, err
			}
		}
		os, cs, rs = append(os, o), append(cs, c), append(rs, o/c)
	}
	return median(os), median(cs), median(rs), nil
}
