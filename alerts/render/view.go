package render

import (
	"strconv"
	"strings"
	"time"

	"github.com/errata-log/errata/alerts"
)

// Bounds of the short texts in runes, whatever the channel takes.
const (
	maxClass = 120
	maxPlace = 120
	maxName  = 100
	// maxMinutes is a year, longer than any project is quiet.
	maxMinutes = 366 * 24 * 60
	// maxFile is how much of a path is looked at for its end.
	maxFile = 400
)

// view is a message as all kinds of channels show it. Its texts are cleaned lines of
// hostile words, except where a field says that they are ours.
type view struct {
	// title is ours.
	title   string
	entries []entry
	// more is how many firings are not listed.
	more           uint64
	rule, ruleLink string
	// note is ours; only a test message has one.
	note string
}

// entry is one firing.
type entry struct {
	// headline is ours, with the slug of the project.
	headline    string
	class, text string
	facts       []fact
	// open and mute are links; openName says where open leads.
	open, mute, openName string
	level                string
	// tally is ours: how many events, for a list.
	tally string
}

// fact is a line of an entry. Its name is ours, and of some its value: numbers and times.
type fact struct {
	name, value string
	ours        bool
}

// one is the only entry, nil in a list and in a test message.
func (v *view) one() *entry {
	if len(v.entries) == 1 && v.more == 0 {
		return &v.entries[0]
	}
	return nil
}

// look is the view of a message in a size.
func look(m alerts.Message, channel string, s size) view {
	v := view{rule: line(m.RuleName, maxName), ruleLink: link(m.RuleLink)}
	if m.Test {
		v.title = "Test message from Errata"
		v.note = "Somebody tries this channel. Nothing has happened."
		if name := bare(line(channel, maxName)); name != "" {
			v.note = "Somebody tries the channel " + name + ". Nothing has happened."
		}
		return v
	}
	for _, item := range m.Items[:min(len(m.Items), s.items)] {
		v.entries = append(v.entries, entryOf(&item, s))
	}
	fired := max(m.Fired, uint64(len(m.Items)))
	v.more = fired - uint64(len(v.entries))
	if only := v.one(); only != nil {
		v.title = only.headline
	} else if v.title = strconv.FormatUint(fired, 10) + " alerts"; fired == uint64(len(m.Items)) {
		v.title += shared(m.Items)
	}
	return v
}

// shared names the project of all items, "" when there are several.
func shared(items []alerts.Item) string {
	name := slug(items[0].Project)
	for _, item := range items {
		if slug(item.Project) != name {
			return ""
		}
	}
	return in(name)
}

func in(project string) string {
	if project == "" {
		return ""
	}
	return " in " + project
}

// headline says in our words what has happened.
func headline(item *alerts.Item) string {
	place := in(slug(item.Project))
	switch item.Cause {
	case alerts.CauseNew:
		return "New error" + place
	case alerts.CauseRegressed:
		return "Error is back" + place
	case alerts.CauseReached:
		return "Error reached " + events(item.Count) + place
	case alerts.CauseFrequency:
		return "Frequent error" + place
	case alerts.CauseSpike:
		return "Spike of errors" + place
	case alerts.CauseQuiet:
		return "No errors for " + minutes(item.Minutes) + place
	}
	return "Error" + place
}

func events(n uint64) string {
	if n == 1 {
		return "1 event"
	}
	return strconv.FormatUint(n, 10) + " events"
}

func minutes(n uint64) string {
	if n == 1 {
		return "1 minute"
	}
	return strconv.FormatUint(n, 10) + " minutes"
}

// spike says how many events the period has, and how many it usually has.
func spike(item *alerts.Item) string {
	return events(item.Events) + " in " + minutes(item.Minutes) + ", usually " + strconv.FormatUint(item.Usual, 10)
}

// quietEntry is that of a project that sends nothing, all in our words.
func quietEntry(item *alerts.Item) entry {
	last := clock(item.Event.Add(-time.Duration(min(item.Minutes, maxMinutes)) * time.Minute))
	return entry{
		headline: headline(item), text: "The project has sent nothing since " + last,
		open: link(item.Link), openName: "Open the project", facts: []fact{{"Last event", last, true}},
	}
}

func entryOf(item *alerts.Item, s size) entry {
	if item.Cause == alerts.CauseQuiet {
		return quietEntry(item)
	}
	e := entry{
		headline: headline(item), class: line(item.Class, min(maxClass, s.text)), text: line(item.Text, s.text),
		open: link(item.Link), openName: "Open the record", mute: link(item.MuteLink), level: line(item.Level, 20), tally: events(item.Count),
	}
	if e.class == "" && e.text == "" {
		e.text = "no message"
	}
	short := min(maxPlace, s.text)
	add := func(name, value string, ours bool) {
		if value != "" {
			e.facts = append(e.facts, fact{name, value, ours})
		}
	}
	if item.Cause == alerts.CauseSpike {
		e.tally = spike(item)
		add("In the project", e.tally, true)
	}
	add("Where", place(item, short), false)
	add("Events", strconv.FormatUint(item.Count, 10), true)
	if item.Users > 0 {
		add("Users", strconv.FormatUint(item.Users, 10), true)
	}
	add("Environment", line(item.Environment, short), false)
	add("Release", line(item.Release, short), false)
	add("Level", e.level, false)
	add("First seen", clock(item.FirstSeen), true)
	add("This event", clock(item.Event), true)
	return e
}

// place is the file and the line, "" when the file is unknown.
func place(item *alerts.Item, most int) string {
	file := ending(line(item.File, maxFile), most)
	if file == "" || item.Line == 0 {
		return file
	}
	return file + ":" + strconv.FormatUint(uint64(item.Line), 10)
}

// clock is a time for people, "" for the zero time.
func clock(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("2006-01-02 15:04 UTC")
}

// what is the class and the message in one line.
func (e *entry) what() string {
	if e.class == "" || e.text == "" {
		return e.class + e.text
	}
	return e.class + ": " + e.text
}

// aside is the place and the number of events, for a list.
func (e *entry) aside() (where, count string) {
	for _, f := range e.facts {
		if f.name == "Where" {
			where = f.value
		}
	}
	return where, e.tally
}

// summary is the title with the bare words of the only error, for places that show one
// line: notifications, titles, fallbacks.
func (v *view) summary(most int) string {
	only := v.one()
	if only == nil {
		return v.title
	}
	if words := bare(only.what()); words != "" {
		return cut(v.title+": "+words, most)
	}
	return v.title
}

// rest is "and 37 more", "" when all are listed.
func (v *view) rest() string {
	if v.more == 0 {
		return ""
	}
	return "and " + strconv.FormatUint(v.more, 10) + " more"
}

// severe says whether one of the listed errors is at least an error by its level.
func (v *view) severe() bool {
	for _, e := range v.entries {
		switch strings.ToLower(e.level) {
		case "error", "critical", "fatal":
			return true
		}
	}
	return false
}

// Colours of a bar beside the message.
const (
	red  = 0xC62828
	grey = 0x607D8B
)

func (v *view) colour() int {
	if v.severe() {
		return red
	}
	return grey
}

// named is a link of ours with a word for it.
type named struct{ name, url string }

// links are where a reader may go on from the message, without those that are missing.
func (v *view) links() (all []named) {
	add := func(name, url string) {
		if url != "" {
			all = append(all, named{name, url})
		}
	}
	if only := v.one(); only != nil {
		add(only.openName, only.open)
		add("Mute it", only.mute)
	}
	add("Open the rule", v.ruleLink)
	return all
}
