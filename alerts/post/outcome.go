package post

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/errata-log/errata/alerts"
)

// Outcome is how one try went, fit to be stored and shown: no text in it has a secret.
type Outcome struct {
	// OK says that the receiver has taken the message.
	OK bool
	// Status is that of the answer, or the last reply of the mail server; 0 for none.
	Status int
	// Answer is what the receiver said, one printable line of at most 300 bytes.
	Answer string
	// Err is why the message was not taken, "" when it was.
	Err string
	// Permanent says that no other try of this message makes sense.
	Permanent bool
	// RetryAfter is how long the receiver wants to be left alone, at most an hour.
	RetryAfter time.Duration
	// Left are the addresses of a mail that another try is for, when some have it already.
	Left []string
}

// fixed are the kinds whose servers answer 404 for an address that was taken back. Other
// receivers may answer it for a minute, while a new version of them is installed.
var fixed = []alerts.ChannelKind{alerts.Slack, alerts.Discord, alerts.Teams, alerts.Telegram}

// permanent says whether a receiver is gone. All other answers may change within the day
// for which a message is tried: a token is renewed, a rule of a firewall is taken back, a
// receiver that refuses the body is mended.
func permanent(kind alerts.ChannelKind, status int) bool {
	return status == http.StatusGone || status == http.StatusNotFound && slices.Contains(fixed, kind)
}

// retryAfter reads the header, and for Telegram the body, which alone has it there.
func retryAfter(header string, body []byte, now time.Time) time.Duration {
	var wait time.Duration
	if seconds, err := strconv.ParseUint(strings.TrimSpace(header), 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(header); err == nil {
		wait = at.Sub(now)
	} else {
		var answer struct {
			Parameters struct {
				RetryAfter uint32 `json:"retry_after"`
			} `json:"parameters"`
		}
		if json.Unmarshal(body, &answer) == nil {
			wait = time.Duration(answer.Parameters.RetryAfter) * time.Second
		}
	}
	return min(max(wait, 0), maxRetryAfter)
}
