package pagelink_test

import (
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/internal/pagelink"
)

func TestLinks(t *testing.T) {
	const page = "https://errors.example.org"
	for want, got := range map[string]string{
		page + "/?record=00ff":                               pagelink.Record(page, errata.BookSystem, "00ff", ""),
		page + "/?record=00ff&book=database&occurrence=8192": pagelink.Record(page+"/", errata.BookDatabase, "00ff", "8192"),
		page + "/?record=00ff&ask=mute":                      pagelink.Mute(page, errata.BookSystem, "00ff"),
		page + "/?project=shop":                              pagelink.Project(page, "shop"),
		page + "/?view=settings&tab=alerts":                  pagelink.Rule(page, ""),
		page + "/?view=settings&tab=alerts&rule=rule-a%26b":  pagelink.Rule(page, "rule-a&b"),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
