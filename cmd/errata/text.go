package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/rivo/uniseg"
)

// printed makes text one line that changes nothing on a terminal. Applications send
// texts, and so does whoever attacks them: what does not print, such as line breaks,
// escape sequences and marks that turn the direction of writing, is written as in Go
// source, \n or \x1b.
func printed(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case unicode.IsPrint(r): // also U+FFFD, which stands for bytes that are no UTF-8
			b.WriteRune(r)
		case unicode.Is(unicode.Zs, r):
			b.WriteByte(' ')
		default:
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

// printedJSON is JSON that means the same and changes nothing on a terminal. JSON itself
// escapes only what is below U+0020: U+009B begins an escape sequence too.
func printedJSON(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r < ' ' || unicode.IsPrint(r) || unicode.Is(unicode.Zs, r): // below ' ' only between values
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// cells is how many cells of a terminal a printed text takes.
func cells(text string) int { return uniseg.StringWidth(text) }

// cutTo cuts a printed text to so many cells, with … for what is left out; 0 is for no
// limit.
func cutTo(text string, most int) string {
	if most <= 0 || cells(text) <= most {
		return text
	}
	end, used, state := 0, 0, -1
	for rest := text; rest != ""; {
		var cluster string
		var width int
		cluster, rest, width, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if used+width > most-1 {
			break
		}
		end, used = end+len(cluster), used+width
	}
	return text[:end] + "…"
}

// padded fills a printed text up to so many cells.
func padded(text string, width int, right bool) string {
	blanks := strings.Repeat(" ", max(0, width-cells(text)))
	if right {
		return blanks + text
	}
	return text + blanks
}
