// Package pagelink says where the page shows a thing, for whoever sends a link to it. The
// page reads these parameters in web/src.
package pagelink

import (
	"net/url"
	"strings"

	errata "github.com/errata-log/errata"
)

// Record leads to a record, at one of its occurrences or at the latest with "". page is the
// address of the service.
func Record(page string, book errata.Book, signature, occurrence string) string {
	at := "record=" + url.QueryEscape(signature)
	if book == errata.BookDatabase {
		at += "&book=database"
	}
	if occurrence != "" {
		at += "&occurrence=" + url.QueryEscape(occurrence)
	}
	return to(page, at)
}

// Mute leads to a record, and asks there whether to mute it.
func Mute(page string, book errata.Book, signature string) string {
	return Record(page, book, signature, "") + "&ask=mute"
}

// Project leads to the list of errors of a project.
func Project(page, slug string) string { return to(page, "project="+url.QueryEscape(slug)) }

// Rule leads to a rule of alerts, with "" to all of them.
func Rule(page, rule string) string {
	at := "view=settings&tab=alerts"
	if rule != "" {
		at += "&rule=" + url.QueryEscape(rule)
	}
	return to(page, at)
}

func to(page, query string) string { return strings.TrimRight(page, "/") + "/?" + query }
