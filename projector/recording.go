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
	if f.Kind != eventlog.FactSetting || f.Name != settingLogging {
		return r
	}
	var body struct {
		After struct {
			ErrorLog *bool `json:"error_log"`
		} `json:"after"`
	}
	if json.Unmarshal(f.Data, &body) != nil || body.After.ErrorLog == nil {
		return r // nothing is said about recording
	}
	return recording{off: !*body.After.ErrorLog}
}
