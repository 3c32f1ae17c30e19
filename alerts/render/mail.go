package render

import (
	"cmp"
	_ "embed"
	"html/template"
	"strings"

	"github.com/errata-log/errata/alerts"
)

const (
	// maxSubject is the longest subject in bytes that signin/smtp takes.
	maxSubject = 200
	// maxMail is the longest text and the longest HTML in bytes: signin/smtp takes 64 KiB,
	// and Gmail clips what is longer than 102 KB.
	maxMail = 60 << 10
)

//go:embed mail.html
var mailHTML string

var mailTemplate = template.Must(template.New("mail").Parse(mailHTML))

// mail is plain about what happened. Mail programs make links of whatever looks like an
// address, in text and in HTML, so addresses in hostile texts are broken in both.
func mail(m alerts.Message, channel string) Mail {
	return fit(func(s size) Mail {
		v := look(m, channel, s)
		return Mail{Subject: mailSubject(&v), Text: mailText(&v), HTML: mailPage(&v)}
	}, func(mail Mail) bool { return max(len(mail.Text), len(mail.HTML)) <= maxMail })
}

// mailSubject is one line. Nothing is read in a subject, so addresses in it are not broken.
func mailSubject(v *view) string {
	subject := "[Errata] " + v.title
	if only := v.one(); only != nil {
		subject += ": " + only.what()
	}
	for most := maxSubject; ; most -= 10 {
		if text := cut(subject, most); len(text) <= maxSubject {
			return text
		}
	}
}

func mailText(v *view) string {
	var b strings.Builder
	put := func(texts ...string) {
		for _, text := range texts {
			b.WriteString(text)
		}
		b.WriteByte('\n')
	}
	put(v.title)
	put()
	switch only := v.one(); {
	case v.note != "":
		put(v.note)
	case only != nil:
		put(plain(only.what()))
		put()
		for _, f := range only.facts {
			put(f.name, ": ", plain(f.value))
		}
		for _, l := range v.links() {
			put(l.name, ": ", l.url)
		}
	default:
		for _, e := range v.entries {
			put("- ", e.headline, ": ", plain(e.what()))
			if aside := e.asideLine(); aside != "" {
				put("  ", plain(aside))
			}
			if e.open != "" {
				put("  ", e.open)
			}
		}
		if rest := v.rest(); rest != "" {
			put(rest)
		}
	}
	put()
	put(mailEnd(v), cmp.Or(v.ruleLink, nowhere))
	return b.String()
}

// nowhere stands for the link to the rule where there is none.
const nowhere = "under Alerts."

// mailEnd says why the mail came and how to get no more; the link to the rule follows.
func mailEnd(v *view) string {
	why := "an alert rule of Errata has fired"
	switch {
	case v.note != "":
		why = "somebody tries a channel of Errata"
	case v.rule != "":
		why = `the alert rule "` + plain(v.rule) + `" has fired`
	}
	return "You get this mail because " + why + ". To get no more of them, change the rule or its channel: "
}

// asideLine is the place and the number of events in one line.
func (e *entry) asideLine() string {
	where, count := e.aside()
	return joined(where, count)
}

func mailPage(v *view) string {
	var b strings.Builder
	data := struct {
		Title, Note, Rest, End, Nowhere, RuleLink string
		One                                       *mailEntry
		Entries                                   []mailEntry
		Links                                     []mailLink
	}{Title: v.title, Note: v.note, Rest: v.rest(), End: mailEnd(v), Nowhere: nowhere, RuleLink: v.ruleLink}
	for i := range v.entries {
		e := &v.entries[i]
		shown := mailEntry{Headline: e.headline, What: plain(e.what()), Aside: plain(e.asideLine()), Open: e.open}
		for _, f := range e.facts {
			shown.Facts = append(shown.Facts, mailFact{f.name, plain(f.value)})
		}
		data.Entries = append(data.Entries, shown)
	}
	if v.one() != nil {
		data.One, data.Entries = &data.Entries[0], nil
		for _, l := range v.links() {
			data.Links = append(data.Links, mailLink{l.name, l.url})
		}
	}
	if err := mailTemplate.Execute(&b, data); err != nil {
		panic("render: the mail template: " + err.Error()) // writing to a builder never fails
	}
	return b.String()
}

// What the template shows.
type (
	mailEntry struct {
		Headline, What, Aside, Open string
		Facts                       []mailFact
	}
	mailFact struct{ Name, Value string }
	mailLink struct{ Name, URL string }
)
