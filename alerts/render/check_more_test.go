package render_test

import (
	"io"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"golang.org/x/net/html"

	"github.com/errata-log/errata/alerts/render"
)

type teamsAction struct{ Type, Title, URL string }

func (c *checker) teams(body []byte) {
	var m struct {
		Type, Summary string
		Attachments   []struct {
			ContentType string `json:"contentType"`
			Content     struct {
				Schema        string `json:"$schema"`
				Type, Version string
				MSTeams       map[string]string
				Actions       []teamsAction
				Body          []struct {
					Type    string
					Inlines []struct {
						Type, Text, Size, Weight, FontType string
						IsSubtle                           bool
						SelectAction                       *teamsAction
					}
				}
			}
		}
	}
	c.decode(body, &m)
	c.most("the message", len(body), 28<<10)
	c.bare(m.Summary)
	card := m.Attachments[0].Content
	if len(card.MSTeams) != 1 || card.MSTeams["width"] != "Full" {
		c.Errorf("entities let a text mention somebody: %v", card.MSTeams)
	}
	actions := card.Actions
	for _, b := range card.Body {
		if b.Type != "RichTextBlock" {
			c.Errorf("Teams reads Markdown in a %s", b.Type)
		}
		for _, run := range b.Inlines {
			if run.Type != "TextRun" {
				c.Errorf("a run of the type %s", run.Type)
			}
			c.plain(run.Text)
			if run.SelectAction != nil {
				actions = append(actions, *run.SelectAction)
			}
		}
	}
	for _, a := range actions {
		if a.Type != "Action.OpenUrl" {
			c.Errorf("an action of the type %s", a.Type)
		}
		c.bare(a.Title)
		c.link(a.URL)
	}
}

func (c *checker) telegram(body []byte) {
	var m struct {
		ChatID   any `json:"chat_id"`
		Text     string
		Entities []struct {
			Type, URL      string
			Offset, Length int
		}
		Preview struct {
			Disabled bool `json:"is_disabled"`
		} `json:"link_preview_options"`
	}
	c.decode(body, &m)
	c.seen(m.Text)
	text := utf16.Encode([]rune(m.Text))
	c.most("the text", len(text), 4096)
	c.most("the message", len(m.Entities), 100)
	if !m.Preview.Disabled || strings.TrimSpace(m.Text) != m.Text {
		c.Errorf("a preview, or spaces that move the entities: %s", body)
	}
	at := 0
	var outside []uint16
	for _, e := range m.Entities {
		if e.Offset < at || e.Length < 1 || e.Offset+e.Length > len(text) {
			c.Fatalf("entity %v overlaps or is outside of the text", e)
		}
		outside = append(outside, text[at:e.Offset]...)
		inside := text[e.Offset : e.Offset+e.Length]
		switch e.Type {
		case "code", "pre":
		case "text_link":
			c.link(e.URL)
			outside = append(outside, inside...)
		case "bold":
			outside = append(outside, inside...)
		default:
			c.Errorf("an entity of the type %s", e.Type)
		}
		at = e.Offset + e.Length
	}
	outside = append(outside, text[at:]...)
	// What Telegram would look through for mentions, addresses, commands and hashtags.
	left := string(utf16.Decode(outside))
	if !ours.MatchString(left) {
		c.Errorf("outside of code stands %q", left)
	}
	c.plain(left)
}

func (c *checker) ntfy(body []byte) {
	var m struct {
		Topic, Title, Message, Click string
		Priority                     int
		Tags                         []string
		Actions                      []struct{ Action, Label, URL string }
	}
	c.decode(body, &m) // "markdown" would be an unknown field
	c.most("the message", len(m.Message), 4096)
	c.most("the body", len(body), 8192)
	c.most("the message", len(m.Actions), 3)
	c.plain(m.Title)
	c.plain(m.Message)
	if m.Title == "" || m.Message == "" || m.Priority < 1 || m.Priority > 5 {
		c.Errorf("a message without a text or with a wrong priority: %s", body)
	}
	if m.Click != "" {
		c.link(m.Click)
	}
	for _, a := range m.Actions {
		if a.Action != "view" {
			c.Errorf("an action of the type %s", a.Action)
		}
		c.bare(a.Label)
		c.link(a.URL)
	}
}

func (c *checker) mail(m render.Mail) {
	if len(m.Subject) > 200 || strings.ContainsFunc(m.Subject, unicode.IsControl) || strings.ContainsAny(m.Subject, "\u2028\u2029") {
		c.Errorf("subject %q", m.Subject)
	}
	c.seen(m.Subject)
	if header, err := mail.ReadMessage(strings.NewReader("Subject: " + m.Subject + "\r\n\r\n")); err != nil || len(header.Header) != 1 {
		c.Errorf("the subject is more than one header: %q", m.Subject)
	}
	c.most("the text", len(m.Text), 64<<10)
	c.most("the HTML", len(m.HTML), 64<<10)
	text := regexp.MustCompile(`(?m)(^  |: )(https?://\S+)$`).ReplaceAllStringFunc(m.Text, func(found string) string {
		c.link(strings.TrimLeft(found, ": "))
		return ""
	})
	c.plain(text)
	if !strings.Contains(m.Text, "To get no more of them, change the rule") || !strings.Contains(m.HTML, "To get no more of them, change the rule") {
		c.Errorf("the mail does not say how it ends")
	}
	c.html(m.HTML)
}

// tags are those of the template, with the attributes that each may have.
var tags = map[string][]string{
	"html": {"lang"}, "head": nil, "meta": {"charset"}, "title": nil, "body": {"style"}, "h1": {"style"}, "p": {"style"}, "table": {"style"},
	"tr": nil, "th": {"style"}, "td": nil, "ul": nil, "li": nil, "br": nil, "span": {"style"}, "a": {"href"},
}

var styles = regexp.MustCompile(`^[a-z0-9#:;. -]+$`)

func (c *checker) html(page string) {
	z := html.NewTokenizer(strings.NewReader(page))
	inLink, open := false, 0
	for {
		switch z.Next() {
		case html.ErrorToken:
			if z.Err() != io.EOF || open != 0 {
				c.Errorf("the page does not end: %v, %d open", z.Err(), open)
			}
			return
		case html.DoctypeToken:
		case html.TextToken:
			if text := string(z.Text()); inLink {
				if strings.Contains(text, "/") {
					c.link(html.UnescapeString(text))
				}
			} else {
				c.plain(html.UnescapeString(text))
			}
		case html.StartTagToken, html.EndTagToken:
			token := z.Token()
			allowed, known := tags[token.Data]
			if !known {
				c.Fatalf("the tag %s in %s", token.Data, page)
			}
			if token.Data == "a" {
				inLink = token.Type == html.StartTagToken
			}
			if token.Data != "meta" && token.Data != "br" {
				open += map[html.TokenType]int{html.StartTagToken: 1, html.EndTagToken: -1}[token.Type]
			}
			c.attributes(token, allowed)
		default:
			c.Errorf("a comment or an empty tag in %s", page)
		}
	}
}

func (c *checker) attributes(token html.Token, allowed []string) {
	for _, a := range token.Attr {
		switch {
		case !slices.Contains(allowed, a.Key):
			c.Errorf("the attribute %s of %s", a.Key, token.Data)
		case a.Key == "href":
			c.link(a.Val)
		case a.Key == "style" && !styles.MatchString(a.Val):
			c.Errorf("the style %q", a.Val)
		}
	}
}
