package render

import (
	"fmt"

	"github.com/errata-log/errata/alerts"
)

// maxMattermost is below the 7,900 characters of attachments that servers before 5.0 take;
// later ones take a post of 16,383
// (https://docs.mattermost.com/administration-guide/manage/admin/posts.html).
const maxMattermost = 7600

type mattermostMessage struct {
	Attachments []mattermostAttachment `json:"attachments"`
}

type mattermostAttachment struct {
	Fallback  string            `json:"fallback"`
	Color     string            `json:"color"`
	Title     string            `json:"title"`
	TitleLink string            `json:"title_link,omitempty"`
	Text      string            `json:"text"`
	Fields    []mattermostField `json:"fields,omitempty"`
	Footer    string            `json:"footer"`
}

type mattermostField struct {
	Title string `json:"title"`
	Value string `json:"value"`
	Short bool   `json:"short"`
}

func mattermost(m alerts.Message, channel string) []byte {
	return fitJSON(maxMattermost, func(s size) mattermostMessage {
		return mattermostMessage{[]mattermostAttachment{mattermostOf(look(m, channel, s))}}
	})
}

// mattermostOf puts all hostile texts into code, in which neither the server looks for
// mentions nor a client for markup.
func mattermostOf(v view) mattermostAttachment {
	a := mattermostAttachment{
		Fallback: v.summary(200), Color: fmt.Sprintf("#%06X", v.colour()), Title: v.summary(200),
		Text: markdown(v), Footer: joined("Errata", bare(v.rule)),
	}
	if only := v.one(); only != nil {
		a.TitleLink = only.open
		for _, f := range only.facts {
			a.Fields = append(a.Fields, mattermostField{f.name, f.markdown(), true})
		}
	}
	return a
}
