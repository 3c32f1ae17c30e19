package projector

import (
	"encoding/json"

	"github.com/errata-log/errata/eventlog"
)

// settingLogging is the name of the fact that switches recording on and off.
const settingLogging = "logging"

// recording says whether events are counted at a place of the log. Ingest drops
// events while recording is off; what another node appended before it heard of
// it stands behind the switch and is left out here, so that the answer to the
// switch holds everywhere, and in every replay.
type recording struct{ off bool }

// after is the state behind the fact.
func (r recording) after(f eventlog.Fact) recording {
	after := settingAfter[struct {
		ErrorLog *bool `json:"error_log"`
	}](f, settingLogging)
	if after.ErrorLog == nil {
		return r // nothing is said about recording
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
