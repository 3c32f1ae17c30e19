package projector

import (
	"encoding/json"

	"github.com/errata-log/errata/eventlog"
)

// settingLogging is the name of the setting that switches recording on and off.
const settingLogging = "logging"

// recording says whether events are counted at a place of the log. While recording
// is off, ingest drops events, but another node may still append some before it
// knows. The fold leaves these out, so that the setting holds on all nodes and in
// every replay.
type recording struct{ off bool }

// after returns the state after the fact.
func (r recording) after(f eventlog.Fact) recording {
	after := settingAfter[struct {
		ErrorLog *bool `json:"error_log"`
	}](f, settingLogging)
	if after.ErrorLog == nil {
		return r // the fact does not change it
	}
	return recording{off: !*after.ErrorLog}
}

// settingAfter reads the new value of the setting with the name from a fact. It is
// the zero T for any other fact and for one that cannot be read.
func settingAfter[T any](f eventlog.Fact, name string) (after T) {
	var body struct {
		After T `json:"after"`
	}
	if f.Kind != eventlog.FactSetting || f.Name != name || json.Unmarshal(f.Data, &body) != nil {
		return after
	}
	return body.After
}
