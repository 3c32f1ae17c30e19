package render

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/errata-log/errata/alerts"
)

const (
	// maxNtfy is the longest message in bytes; a longer one becomes an attachment
	// (https://docs.ntfy.sh/publish/#limitations).
	maxNtfy = 4096
	// maxNtfyBody is twice that, which is how much JSON the server reads.
	maxNtfyBody = 2 * maxNtfy
)

type ntfyMessage struct {
	Topic    string       `json:"topic"`
	Title    string       `json:"title"`
	Message  string       `json:"message"`
	Priority int          `json:"priority"`
	Tags     []string     `json:"tags"`
	Click    string       `json:"click,omitempty"`
	Actions  []ntfyAction `json:"actions,omitempty"`
}

type ntfyAction struct {
	Action string `json:"action"`
	Label  string `json:"label"`
	URL    string `json:"url"`
}

// Priorities of ntfy.
const (
	ntfyDefault = 3
	ntfyHigh    = 4
)

// ntfy publishes JSON to the root of the server. The URL of a channel ends with the topic
// (https://ntfy.sh/errors), its Secret is an access token.
func (r *Request) ntfy(channel alerts.Channel, m alerts.Message) error {
	u, err := url.Parse(channel.URL)
	if err != nil {
		return fmt.Errorf("%w: its url is no address", ErrChannel)
	}
	path := strings.TrimSuffix(u.Path, "/")
	cutAt := strings.LastIndexByte(path, '/')
	if cutAt < 0 || cutAt == len(path)-1 {
		return fmt.Errorf("%w: its url has to end with the topic, such as https://ntfy.sh/errors", ErrChannel)
	}
	topic := path[cutAt+1:]
	u.Path, u.RawPath, u.RawQuery = path[:cutAt+1], "", ""
	r.URL = u.String()
	// A topic that nobody guesses is the only protection of most channels.
	r.Secrets = append(r.Secrets, topic)
	if channel.Secret != "" {
		r.Header["Authorization"] = "Bearer " + channel.Secret
	}
	message := fit(func(s size) ntfyMessage {
		n := ntfyOf(look(m, channel.Name, s))
		n.Topic = topic
		return n
	}, func(n ntfyMessage) bool { return len(n.Message) <= maxNtfy && len(encode(n)) <= maxNtfyBody })
	r.Body = encode(message)
	return nil
}

func ntfyOf(v view) ntfyMessage {
	n := ntfyMessage{Title: v.title, Priority: ntfyDefault, Tags: []string{"rotating_light"}}
	var text []string
	switch only := v.one(); {
	case v.note != "":
		n.Tags = []string{"wave"}
		text = append(text, v.note)
	case only != nil:
		text = append(text, plain(only.what()))
		for _, f := range only.facts {
			text = append(text, f.name+": "+plain(f.value))
		}
	default:
		for _, e := range v.entries {
			where, count := e.aside()
			text = append(text, e.headline+": "+plain(joined(e.what(), where, count)))
		}
		if rest := v.rest(); rest != "" {
			text = append(text, rest)
		}
	}
	if v.rule != "" {
		text = append(text, "Rule: "+plain(v.rule))
	}
	n.Message = strings.Join(text, "\n")
	if v.severe() {
		n.Priority = ntfyHigh
	}
	for i, l := range v.links() {
		if i == 0 {
			n.Click = l.url
		}
		n.Actions = append(n.Actions, ntfyAction{"view", l.name, l.url}) // at most three
	}
	return n
}
