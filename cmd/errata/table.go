package main

import (
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// column is a column of a table.
type column struct {
	name  string
	right bool // for numbers
	// least is to how many cells it may be cut where the width is too small; 0 for
	// never.
	least int
	// leave says which column is left out first where that is not enough: the one with
	// the greatest number. 0 stays.
	leave int
}

// columnGap is between two columns.
const columnGap = 2

// printTable prints a table that is at most width cells wide, 0 for as wide as its texts
// need. Nothing in the texts can change the terminal.
func printTable(w io.Writer, width int, columns []column, rows [][]string) error {
	lines := make([][]string, 0, len(rows)+1)
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	lines = append(lines, names)
	for _, row := range rows {
		line := make([]string, len(row))
		for i, text := range row {
			line[i] = printed(text)
		}
		lines = append(lines, line)
	}
	shown, widths := fit(width, columns, lines)
	var text strings.Builder
	for _, line := range lines {
		var b strings.Builder
		for n, i := range shown {
			if n > 0 {
				b.WriteString(strings.Repeat(" ", columnGap))
			}
			b.WriteString(padded(cutTo(line[i], widths[i]), widths[i], columns[i].right))
		}
		text.WriteString(cutTo(strings.TrimRight(b.String(), " "), width) + "\n")
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// fit chooses the columns that are shown, by their index, and how wide each column is.
func fit(width int, columns []column, lines [][]string) (shown, widths []int) {
	widths = make([]int, len(columns))
	for i := range columns {
		shown = append(shown, i)
		for _, line := range lines {
			widths[i] = max(widths[i], cells(line[i]))
		}
	}
	if width == 0 {
		return shown, widths
	}
	for over(width, shown, widths, columns, true) > 0 {
		out := -1 // in shown
		for n, i := range shown {
			if columns[i].leave > 0 && (out < 0 || columns[i].leave > columns[shown[out]].leave) {
				out = n
			}
		}
		if out < 0 {
			break
		}
		shown = append(shown[:out], shown[out+1:]...)
	}
	for over(width, shown, widths, columns, false) > 0 {
		widest := -1
		for _, i := range shown {
			if c := columns[i]; c.least > 0 && widths[i] > c.least && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break // the lines are cut
		}
		widths[widest]--
	}
	return shown, widths
}

// over is by how many cells the columns are wider than width, as they are or at their
// least.
func over(width int, shown, widths []int, columns []column, least bool) int {
	sum := columnGap * (len(shown) - 1)
	for _, i := range shown {
		if c := columns[i]; least && c.least > 0 {
			sum += min(widths[i], max(c.least, cells(c.name)))
		} else {
			sum += widths[i]
		}
	}
	return sum - width
}

// width is how many cells a line of the output has: COLUMNS where that is set, else those
// of the terminal. 0 is for no limit: the output is a file or another program.
func (t *terminal) width() int {
	if text, ok := t.lookup("COLUMNS"); ok {
		if n, err := strconv.Atoi(text); err == nil && n > 0 {
			return n
		}
	}
	if f, ok := t.out.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return 0
}
