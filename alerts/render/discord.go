package render

import (
	"strings"
	"time"

	"github.com/errata-log/errata/alerts"
)

// Limits in characters (https://discord.com/developers/docs/resources/message#embed-object-embed-limits).
// 1,024 characters and 25 fields are never reached.
const (
	maxDiscordTitle       = 256
	maxDiscordDescription = 4096
	maxDiscordTotal       = 6000
)

type discordMessage struct {
	Embeds          []discordEmbed  `json:"embeds"`
	AllowedMentions discordMentions `json:"allowed_mentions"`
}

// discordMentions with an empty list lets nobody be notified, whatever stands in the text.
type discordMentions struct {
	Parse []string `json:"parse"`
}

type discordEmbed struct {
	Title       string         `json:"title"`
	URL         string         `json:"url,omitempty"`
	Description string         `json:"description"`
	Color       int            `json:"color"`
	Fields      []discordField `json:"fields,omitempty"`
	Footer      discordFooter  `json:"footer"`
	Timestamp   string         `json:"timestamp"`
}

type discordField struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Inline bool   `json:"inline"`
}

type discordFooter struct {
	Text string `json:"text"`
}

func discord(m alerts.Message, channel string) []byte {
	embed := fit(func(s size) discordEmbed { return discordOf(look(m, channel, s)) }, func(e discordEmbed) bool {
		return units(e.Description) <= maxDiscordDescription && e.total() <= maxDiscordTotal
	})
	embed.Timestamp = m.At.UTC().Format(time.RFC3339)
	return encode(discordMessage{Embeds: []discordEmbed{embed}, AllowedMentions: discordMentions{Parse: []string{}}})
}

// total is what Discord counts of an embed.
func (e *discordEmbed) total() int {
	n := units(e.Title) + units(e.Description) + units(e.Footer.Text)
	for _, f := range e.Fields {
		n += units(f.Name) + units(f.Value)
	}
	return n
}

// discordOf puts all hostile texts into code, in which Discord reads nothing, and bare
// words into the title.
func discordOf(v view) discordEmbed {
	e := discordEmbed{Title: v.summary(maxDiscordTitle / 2), Color: v.colour(), Footer: discordFooter{joined("Errata", bare(v.rule))}}
	e.Description = markdown(v)
	if only := v.one(); only != nil {
		e.URL = only.open
		for _, f := range only.facts {
			e.Fields = append(e.Fields, discordField{f.name, f.markdown(), true})
		}
	}
	return e
}

// markdown is the text below the title for Discord and Mattermost: hostile texts as code,
// our own links as links.
func markdown(v view) string {
	var b strings.Builder
	switch only := v.one(); {
	case v.note != "":
		b.WriteString(v.note)
	case only != nil:
		b.WriteString(block(only.what()))
	default:
		for i, e := range v.entries {
			if i > 0 {
				b.WriteByte('\n')
			}
			where, count := e.aside()
			b.WriteString(joined(markdownLink(e.headline, e.open)+": "+code(e.what()), prefixed("in ", coded(where)), count))
		}
		if rest := v.rest(); rest != "" {
			b.WriteString("\n" + rest)
		}
	}
	var links []string
	for _, l := range v.links() {
		links = append(links, markdownLink(l.name, l.url))
	}
	if len(links) > 0 {
		b.WriteString("\n" + strings.Join(links, " · "))
	}
	return b.String()
}

// markdown is the value, as code where it is hostile.
func (f *fact) markdown() string {
	if f.ours {
		return f.value
	}
	return code(f.value)
}

func coded(text string) string {
	if text == "" {
		return ""
	}
	return code(text)
}

// markdownLink is our own words as a link, or alone where there is none.
func markdownLink(name, url string) string {
	if url == "" {
		return name
	}
	return "[" + name + "](" + url + ")"
}
