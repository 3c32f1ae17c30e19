package render

import (
	"github.com/errata-log/errata/alerts"
)

// maxTeams is what a message may have in bytes, with room for what a workflow adds
// (https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook: 28 KB).
const maxTeams = 24 << 10

type teamsMessage struct {
	Type        string            `json:"type"`
	Summary     string            `json:"summary"`
	Attachments []teamsAttachment `json:"attachments"`
}

type teamsAttachment struct {
	ContentType string    `json:"contentType"`
	Content     teamsCard `json:"content"`
}

type teamsCard struct {
	Schema  string            `json:"$schema"`
	Type    string            `json:"type"`
	Version string            `json:"version"`
	MSTeams map[string]string `json:"msteams"`
	Body    []teamsBlock      `json:"body"`
	Actions []teamsAction     `json:"actions,omitempty"`
}

// teamsBlock is a RichTextBlock: its runs have no Markdown, which a TextBlock and the facts
// of a FactSet have (https://adaptivecards.io/explorer/TextRun.html).
type teamsBlock struct {
	Type      string     `json:"type"`
	Separator bool       `json:"separator,omitempty"`
	Inlines   []teamsRun `json:"inlines"`
}

type teamsRun struct {
	Type         string       `json:"type"`
	Text         string       `json:"text"`
	Size         string       `json:"size,omitempty"`
	Weight       string       `json:"weight,omitempty"`
	FontType     string       `json:"fontType,omitempty"`
	IsSubtle     bool         `json:"isSubtle,omitempty"`
	SelectAction *teamsAction `json:"selectAction,omitempty"`
}

type teamsAction struct {
	Type  string `json:"type"`
	Title string `json:"title"`
	URL   string `json:"url"`
}

func teams(m alerts.Message, channel string) []byte {
	return fitJSON(maxTeams, func(s size) teamsMessage { return teamsOf(look(m, channel, s)) })
}

func teamsOf(v view) teamsMessage {
	card := teamsCard{
		Schema: "http://adaptivecards.io/schemas/adaptive-card.json", Type: "AdaptiveCard", Version: "1.4",
		MSTeams: map[string]string{"width": "Full"},
	}
	add := func(runs ...teamsRun) {
		card.Body = append(card.Body, teamsBlock{Type: "RichTextBlock", Inlines: runs})
	}
	add(teamsRun{Text: v.title, Size: "Medium", Weight: "Bolder"})
	switch only := v.one(); {
	case v.note != "":
		add(teamsRun{Text: v.note})
	case only != nil:
		add(teamsRun{Text: plain(only.what()), FontType: "Monospace"})
		for _, f := range only.facts {
			add(teamsRun{Text: f.name + ": ", Weight: "Bolder"}, teamsRun{Text: plain(f.value)})
		}
	default:
		for _, e := range v.entries {
			where, count := e.aside()
			head := teamsRun{Text: e.headline, Weight: "Bolder"}
			if e.open != "" {
				head.SelectAction = &teamsAction{"Action.OpenUrl", e.openName, e.open}
			}
			runs := []teamsRun{head, {Text: ": " + plain(e.what()), FontType: "Monospace"}}
			if aside := joined(where, count); aside != "" {
				runs = append(runs, teamsRun{Text: " " + plain(aside), IsSubtle: true})
			}
			add(runs...)
		}
		if rest := v.rest(); rest != "" {
			add(teamsRun{Text: rest})
		}
	}
	if v.rule != "" {
		add(teamsRun{Text: "Rule: " + plain(v.rule), IsSubtle: true})
	}
	for i := range card.Body {
		for j := range card.Body[i].Inlines {
			card.Body[i].Inlines[j].Type = "TextRun"
		}
	}
	for _, l := range v.links() {
		card.Actions = append(card.Actions, teamsAction{"Action.OpenUrl", l.name, l.url})
	}
	return teamsMessage{Type: "message", Summary: v.summary(200), Attachments: []teamsAttachment{
		{ContentType: "application/vnd.microsoft.card.adaptive", Content: card},
	}}
}
