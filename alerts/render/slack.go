package render

import (
	"strings"

	"github.com/errata-log/errata/alerts"
)

const (
	// maxSlackHeader, maxSlackField and maxSlackText are the characters of a header, a
	// field of a section and any other text
	// (https://docs.slack.dev/reference/block-kit/blocks/header-block, …/section-block,
	// https://docs.slack.dev/reference/block-kit/composition-objects/text-object). A message
	// may have 50 blocks (…/blocks), and the longest of ours has 23.
	maxSlackHeader = 150
	maxSlackField  = 2000
	maxSlackText   = 3000
)

type slackMessage struct {
	// Text is what a notification shows; it has bare words only.
	Text        string       `json:"text"`
	Blocks      []slackBlock `json:"blocks"`
	UnfurlLinks bool         `json:"unfurl_links"`
	UnfurlMedia bool         `json:"unfurl_media"`
}

type slackBlock struct {
	Type     string      `json:"type"`
	Text     *slackText  `json:"text,omitempty"`
	Fields   []slackText `json:"fields,omitempty"`
	Elements []slackText `json:"elements,omitempty"`
}

// slackText is a text object. Slack reads no markup in plain_text; mrkdwn is only for our
// own links.
type slackText struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Emoji    *bool  `json:"emoji,omitempty"`
	Verbatim bool   `json:"verbatim,omitempty"`
}

func slack(m alerts.Message, channel string) []byte {
	return encode(slackOf(look(m, channel, sizes[0])))
}

func slackOf(v view) slackMessage {
	message := slackMessage{Text: v.summary(maxSlackHeader)}
	add := func(b slackBlock) { message.Blocks = append(message.Blocks, b) }
	section := func(text string) { add(slackBlock{Type: "section", Text: slackPlain(text, maxSlackText)}) }
	add(slackBlock{Type: "header", Text: slackPlain(v.title, maxSlackHeader)})
	switch only := v.one(); {
	case v.note != "":
		section(v.note)
	case only != nil:
		section(only.what())
		fields := slackBlock{Type: "section"}
		for _, f := range only.facts {
			fields.Fields = append(fields.Fields, *slackPlain(f.name+"\n"+f.value, maxSlackField))
		}
		add(fields)
	default:
		for _, e := range v.entries {
			where, count := e.aside()
			section(e.headline + ": " + e.what())
			add(slackContext(joined(where, count), named{e.openName, e.open}))
		}
		if rest := v.rest(); rest != "" {
			section(rest)
		}
	}
	if b := slackContext(prefixed("Rule: ", v.rule), v.links()...); len(b.Elements) > 0 {
		add(b)
	}
	return message
}

// slackPlain is a plain text object of a text whose line feeds are ours.
func slackPlain(text string, most int) *slackText {
	parts := strings.Split(text, "\n")
	for i, part := range parts {
		parts[i] = plain(part)
	}
	text = cut(strings.Join(parts, "\n"), most)
	if units(text) > most { // whether Slack counts runes or UTF-16 is not documented
		text = cut(text, most/2)
	}
	no := false
	return &slackText{Type: "plain_text", Text: text, Emoji: &no}
}

// slackContext is a line of small text with links behind it.
func slackContext(text string, links ...named) slackBlock {
	b := slackBlock{Type: "context"}
	if text != "" {
		b.Elements = append(b.Elements, *slackPlain(text, maxSlackText))
	}
	for _, l := range links {
		text := "<" + strings.ReplaceAll(l.url, "&", "&amp;") + "|" + l.name + ">"
		if l.url != "" && len(text) <= maxSlackText {
			b.Elements = append(b.Elements, slackText{Type: "mrkdwn", Text: text, Verbatim: true})
		}
	}
	return b
}

// joined are the texts that are not empty, with a dot between them.
func joined(texts ...string) string {
	var kept []string
	for _, text := range texts {
		if text != "" {
			kept = append(kept, text)
		}
	}
	return strings.Join(kept, " · ")
}

// prefixed is the text behind our words, "" for none.
func prefixed(words, text string) string {
	if text == "" {
		return ""
	}
	return words + text
}
