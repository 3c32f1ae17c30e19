package render

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/errata-log/errata/alerts"
)

// maxTelegram is the longest text in UTF-16 code units, without what entities add
// (https://core.telegram.org/bots/api#sendmessage). A message has at most 100 entities;
// the longest of ours has 40.
const maxTelegram = 4096

type telegramMessage struct {
	ChatID   any              `json:"chat_id"`
	Text     string           `json:"text"`
	Entities []telegramEntity `json:"entities"`
	Preview  telegramPreview  `json:"link_preview_options"`
}

type telegramEntity struct {
	Type   string `json:"type"`
	Offset int    `json:"offset"`
	Length int    `json:"length"`
	URL    string `json:"url,omitempty"`
}

type telegramPreview struct {
	Disabled bool `json:"is_disabled"`
}

// telegram has no parse_mode, so that there is no markup to escape from. Entities say
// what is bold or a link. Telegram looks for mentions, addresses and commands by itself
// where no entity says that there is code, so all hostile texts are code.
func (r *Request) telegram(channel alerts.Channel, m alerts.Message) (err error) {
	if r.URL, err = telegramURL(channel); err != nil {
		return err
	}
	message := fit(func(s size) telegramMessage { return telegramOf(look(m, channel.Name, s)) },
		func(t telegramMessage) bool { return units(t.Text) <= maxTelegram })
	message.ChatID = channel.Chat
	if number, err := strconv.ParseInt(channel.Chat, 10, 64); err == nil {
		message.ChatID = number
	}
	r.Body = encode(message)
	return nil
}

// telegramURL is where sendMessage is called. The URL of a channel is that of a Bot API
// server (https://api.telegram.org) and Secret the token of the bot; or the URL has the
// token already (https://api.telegram.org/bot123:abc, with or without /sendMessage) and
// Secret is empty.
func telegramURL(channel alerts.Channel) (string, error) {
	const method = "/sendMessage"
	u, err := url.Parse(channel.URL)
	if err != nil {
		return "", fmt.Errorf("%w: its url is no address", ErrChannel)
	}
	base := strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), method)
	hasToken := strings.HasPrefix(base[strings.LastIndexByte(base, '/')+1:], "bot")
	switch {
	case hasToken && channel.Secret == "":
	case !hasToken && channel.Secret != "":
		base += "/bot" + channel.Secret
	default:
		return "", fmt.Errorf("%w: the token of the bot stands in secret, or in url, and not in both", ErrChannel)
	}
	u.Path, u.RawPath, u.RawQuery = base+method, "", ""
	return u.String(), nil
}

// telegramText collects a text and its entities.
type telegramText struct {
	b        strings.Builder
	length   int
	entities []telegramEntity
}

// add appends a text; kind is "" for one without an entity.
func (t *telegramText) add(kind, text, url string) {
	n := units(text)
	if n == 0 {
		return
	}
	if kind != "" {
		t.entities = append(t.entities, telegramEntity{kind, t.length, n, url})
	}
	t.b.WriteString(text)
	t.length += n
}

func (t *telegramText) link(name, url string) {
	if url == "" {
		t.add("", name, "")
		return
	}
	t.add("text_link", name, url)
}

func telegramOf(v view) telegramMessage {
	t := &telegramText{}
	t.add("bold", v.title, "")
	switch only := v.one(); {
	case v.note != "":
		t.add("", "\n"+v.note, "")
	case only != nil:
		t.add("", "\n", "")
		t.add("pre", only.what(), "")
		for _, f := range only.facts {
			t.add("", "\n"+f.name+": ", "")
			t.add(map[bool]string{false: "code"}[f.ours], f.value, "")
		}
	default:
		t.list(v)
	}
	if v.rule != "" {
		t.add("", "\nRule: ", "")
		t.add("code", v.rule, "")
	}
	for i, l := range v.links() {
		t.add("", [...]string{"\n", " · "}[min(i, 1)], "")
		t.link(l.name, l.url)
	}
	return telegramMessage{Text: t.b.String(), Entities: t.entities, Preview: telegramPreview{Disabled: true}}
}

func (t *telegramText) list(v view) {
	for _, e := range v.entries {
		where, count := e.aside()
		t.add("", "\n", "")
		t.link(e.headline, e.open)
		t.add("", ": ", "")
		t.add("code", e.what(), "")
		if where != "" {
			t.add("", " in ", "")
			t.add("code", where, "")
		}
		t.add("", prefixed(" · ", count), "")
	}
	t.add("", prefixed("\n", v.rest()), "")
}
