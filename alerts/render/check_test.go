package render_test

import (
	"bytes"
	"encoding/json"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/alerts/render"
)

// The checkers read a body as the platform does, by the rules that it documents, and
// report what it would take for a mention, a link, markup or a control character.

// checkAll checks a rendered message of any kind.
func checkAll(t testing.TB, r render.Request, m alerts.Message) {
	t.Helper()
	c := &checker{TB: t, links: linksOf(m)}
	switch r.Kind {
	case alerts.Webhook:
		c.webhook(r)
	case alerts.Email:
		c.mail(r.Mail)
	case alerts.Slack:
		c.slack(r.Body)
	case alerts.Discord:
		c.discord(r.Body)
	case alerts.Teams:
		c.teams(r.Body)
	case alerts.Mattermost:
		c.mattermost(r.Body)
	case alerts.Telegram:
		c.telegram(r.Body)
	case alerts.Ntfy:
		c.ntfy(r.Body)
	default:
		t.Fatalf("no checker for %s", r.Kind)
	}
}

type checker struct {
	testing.TB
	// links are all that may be followed.
	links []string
}

func linksOf(m alerts.Message) []string {
	links := []string{m.RuleLink}
	for _, item := range m.Items {
		links = append(links, item.Link, item.MuteLink)
	}
	return links
}

func (c *checker) link(url string) {
	c.Helper()
	if !slices.Contains(c.links, url) {
		c.Errorf("a link that is not ours: %q", url)
	}
}

// seen checks that nothing in a text is hidden or moves what is around it.
func (c *checker) seen(text string) {
	c.Helper()
	if !utf8.ValidString(text) {
		c.Errorf("no UTF-8: %q", text)
	}
	marks := 0
	for _, r := range text {
		if unicode.In(r, unicode.Mn, unicode.Me) {
			marks++
		} else {
			marks = 0
		}
		if r != '\n' && r != '\u200C' && (!unicode.IsPrint(r) || marks > 4) {
			c.Errorf("%U in %q", r, text)
			return
		}
	}
}

// addresses are what programs look for in plain text: schemes, domains, users, channels,
// hashtags, shares of Windows.
var addresses = regexp.MustCompile(`(?i)[a-z]:/|[\pL\pM\pN]\.[\pL\pM\pN]|[@#][\pL\pN]|\\\\`)

// plain checks a text in which the platform reads no markup, but may look for addresses.
func (c *checker) plain(text string) {
	c.Helper()
	c.seen(text)
	if found := addresses.FindString(text); found != "" {
		c.Errorf("%q would be an address in %q", found, text)
	}
}

// bare checks a text of words, which means nothing in any markup.
func (c *checker) bare(text string) {
	c.Helper()
	c.seen(text)
	if strings.Trim(text, " ") == "" {
		c.Errorf("an empty title")
	}
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) && !strings.ContainsRune(" :-…·", r) {
			c.Errorf("%q in %q", r, text)
			return
		}
	}
	if strings.Contains(text, ":/") || strings.Contains(text, "--") {
		c.Errorf("markup in %q", text)
	}
}

// ours are the words that stand outside of code.
var ours = regexp.MustCompile(`^[\pL\pM\pN :·.,\n-]*$`)

// markdownLinks are links with our words.
var markdownLinks = regexp.MustCompile(`\[([A-Za-z0-9 -]+)\]\((https?://[^()\s<>\[\]` + "`" + `*_|"']+)\)`)

// markdown takes the code out of a text as Discord and Mattermost do: three grave accents
// up to the next three, else one up to the next one. What is left has to be ours.
func (c *checker) markdown(text string) {
	c.Helper()
	c.seen(text)
	var outside strings.Builder
	for text != "" {
		before, rest, found := strings.Cut(text, "`")
		outside.WriteString(before)
		if !found {
			break
		}
		fence := "`"
		if strings.HasPrefix(rest, "``") {
			fence, rest = "```", rest[2:]
		}
		inside, after, closed := strings.Cut(rest, fence)
		if !closed || strings.TrimSpace(inside) == "" || strings.HasPrefix(after, "`") || strings.ContainsRune(inside, '`') {
			c.Errorf("code that does not end where it should: %q", text)
			return
		}
		if fence == "```" && !strings.HasPrefix(inside, "\n") {
			c.Errorf("the text is read as the language of a block: %q", inside)
		}
		text = after
	}
	left := markdownLinks.ReplaceAllStringFunc(outside.String(), func(link string) string {
		c.link(markdownLinks.FindStringSubmatch(link)[2])
		return ""
	})
	if !ours.MatchString(left) || addresses.MatchString(left) {
		c.Errorf("outside of code stands %q", left)
	}
	for l := range strings.SplitSeq(left, "\n") {
		if strings.HasPrefix(l, "-") || strings.HasPrefix(l, "    ") {
			c.Errorf("a line that begins with markup: %q", l)
		}
	}
}

// decode reads JSON, and refuses fields that the checker does not know.
func (c *checker) decode(body []byte, into any) {
	c.Helper()
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil || d.More() || !utf8.Valid(body) {
		c.Fatalf("%v in %s", err, body)
	}
}

func (c *checker) most(what string, got, most int) {
	c.Helper()
	if got > most {
		c.Errorf("%s has %d, at most %d are allowed", what, got, most)
	}
}

func utf16Length(text string) int { return len(utf16.Encode([]rune(text))) }

func (c *checker) webhook(r render.Request) {
	c.most("the body", len(r.Body), 20<<10)
	var body struct {
		Type string
		Data struct{ Items []map[string]any }
	}
	if err := json.Unmarshal(r.Body, &body); err != nil || !strings.HasPrefix(body.Type, "error.") && body.Type != "project.quiet" || !utf8.Valid(r.Body) {
		c.Fatalf("%v in %s", err, r.Body)
	}
	c.strings(any(body.Data.Items).([]map[string]any))
	for name, value := range r.Header {
		if strings.ContainsFunc(name+value, unicode.IsControl) {
			c.Errorf("header %q: %q", name, value)
		}
	}
}

// strings checks every text of a decoded value.
func (c *checker) strings(value any) {
	switch value := value.(type) {
	case string:
		c.seen(strings.ReplaceAll(value, "\t", " "))
	case []map[string]any:
		for _, one := range value {
			c.strings(one)
		}
	case map[string]any:
		for name, one := range value {
			if name == "link" || name == "mute_link" {
				if one != "" {
					c.link(one.(string))
				}
				continue
			}
			c.strings(one)
		}
	}
}

type slackText struct {
	Type, Text string
	Emoji      *bool
	Verbatim   bool
}

var slackLink = regexp.MustCompile(`^<([^<>|\s]+)\|[A-Za-z ]+>$`)

func (c *checker) slack(body []byte) {
	var m struct {
		Text   string
		Blocks []struct {
			Type             string
			Text             *slackText
			Fields, Elements []slackText
		}
		UnfurlLinks bool `json:"unfurl_links"`
		UnfurlMedia bool `json:"unfurl_media"`
	}
	c.decode(body, &m)
	c.bare(m.Text)
	c.most("the message", len(m.Blocks), 50)
	for _, b := range m.Blocks {
		most := map[string]int{"header": 150, "section": 3000, "context": 3000}[b.Type]
		c.most("a section", len(b.Fields), 10)
		c.most("a context", len(b.Elements), 10)
		texts := slices.Concat(b.Fields, b.Elements)
		if b.Text != nil {
			texts = append(texts, *b.Text)
		}
		if len(texts) == 0 {
			c.Errorf("an empty block %s", b.Type)
		}
		for _, text := range b.Fields {
			c.most("a field", utf16Length(text.Text), 2000)
		}
		for _, text := range texts {
			c.most("a text", utf16Length(text.Text), most)
			c.slackText(text)
		}
	}
}

func (c *checker) slackText(text slackText) {
	found := slackLink.FindStringSubmatch(text.Text)
	switch {
	case text.Text == "":
		c.Errorf("an empty text")
	case text.Type == "mrkdwn" && found != nil && text.Verbatim:
		c.link(html.UnescapeString(found[1]))
	case text.Type != "plain_text" || text.Emoji == nil || *text.Emoji:
		c.Errorf("Slack reads markup in %q", text.Text)
	default:
		c.plain(text.Text)
	}
}

func (c *checker) discord(body []byte) {
	var m struct {
		Embeds []struct {
			Title, URL, Description, Timestamp string
			Color                              int
			Fields                             []struct {
				Name, Value string
				Inline      bool
			}
			Footer struct{ Text string }
		}
		AllowedMentions struct{ Parse []string } `json:"allowed_mentions"`
	}
	c.decode(body, &m)
	if m.AllowedMentions.Parse == nil || len(m.AllowedMentions.Parse) != 0 || len(m.Embeds) != 1 {
		c.Errorf("mentions are allowed: %s", body)
	}
	e := m.Embeds[0]
	c.bare(e.Title)
	c.bare(e.Footer.Text)
	c.markdown(e.Description)
	if e.URL != "" {
		c.link(e.URL)
	}
	total := utf16Length(e.Title + e.Description + e.Footer.Text)
	c.most("the title", utf16Length(e.Title), 256)
	c.most("the description", utf16Length(e.Description), 4096)
	c.most("the embed", len(e.Fields), 25)
	for _, f := range e.Fields {
		c.bare(f.Name)
		c.markdown(f.Value)
		c.most("a field", utf16Length(f.Value), 1024)
		total += utf16Length(f.Name + f.Value)
	}
	c.most("the embed", total, 6000)
}

func (c *checker) mattermost(body []byte) {
	var m struct {
		Attachments []struct {
			Fallback, Color, Title, Text, Footer string
			TitleLink                            string `json:"title_link"`
			Fields                               []struct {
				Title, Value string
				Short        bool
			}
		}
	}
	c.decode(body, &m)
	c.most("the attachments", len(body), 7900)
	for _, a := range m.Attachments {
		c.bare(a.Fallback)
		c.bare(a.Title)
		c.bare(a.Footer)
		c.markdown(a.Text)
		if a.TitleLink != "" {
			c.link(a.TitleLink)
		}
		for _, f := range a.Fields {
			c.bare(f.Title)
			c.markdown(f.Value)
		}
	}
}
