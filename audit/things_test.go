package audit_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestThingsAndNotesInTheTrail: a change of a rule or a channel is an entry about that one, and no
// entry has what is sealed of a channel, or a secret that somebody put beside it. A note is an
// entry.
func TestThingsAndNotesInTheTrail(t *testing.T) {
	l := openLedger(t)
	a, _ := l.start()
	fact := func(setting, before, after string) {
		l.fact("set.alerts."+setting, json.RawMessage(`{"v":1,"before":`+before+`,"after":`+after+`}`))
	}
	const night, day = `{"id":"rule-1","name":"Night"}`, `{"id":"rule-2","name":"Day"}`
	fact("rules", `null`, `[`+night+`]`)
	fact("rules", `[`+night+`]`, `[`+night+`,`+day+`]`)
	fact("rules", `[`+night+`,`+day+`]`, `[{"id":"rule-1","name":"Late"},`+day+`]`)
	fact("rules", `[{"id":"rule-1","name":"Late"},`+day+`]`, `[`+day+`]`)
	fact("channels", `null`, `[{"id":"channel-1","name":"Chat","sealed":"c2VhbGVkIG9uZQ=="}]`)
	fact("channels", `[{"id":"channel-1","name":"Chat","sealed":"c2VhbGVkIG9uZQ=="}]`, `[{"id":"channel-1","name":"Team","sealed":"c2VhbGVkIG9uZQ=="}]`)
	fact("channels", `[{"id":"channel-1","name":"Team","sealed":"c2VhbGVkIG9uZQ=="}]`, `[{"id":"channel-1","name":"Team","sealed":"c2VhbGVkIHR3bw==","url":"https://secret.example","secret":"hush"}]`)
	// Not of one thing, of another version, and of no version at all:
	fact("channels", `[]`, `[{"id":"channel-1","sealed":"c2VhbGVkIG9uZQ=="},{"id":"channel-2","sealed":"c2VhbGVkIHR3bw=="}]`)
	l.fact("set.alerts.channels", json.RawMessage(`{"v":2,"channels":{"channel-1":{"sealed":"c2VhbGVkIG9uZQ=="}}}`))
	l.fact("set.alerts.channels", json.RawMessage(`["c2VhbGVkIG9uZQ=="]`))
	l.fact("note.alert-failed.msg_1.channel-1", json.RawMessage(`{"v":1,"id":"msg_1","channel":"channel-1","why":"the receiver answered 500"}`))
	l.fact("note.node-left.633a36323232.1700000000000", json.RawMessage(`{"v":1,"node":"c:6222","running":true}`))
	l.catchUp(a)
	var got []string
	for _, e := range l.entries() {
		request := string(e.Request)
		if strings.Contains(request, "sha256") {
			request = "digest"
		}
		got = append(got, fmt.Sprintf("%s %s %s %s", e.Action, e.Before, e.After, request))
	}
	want := []string{
		`alerts.rule.create null ` + night + ` null`, `alerts.rule.create null ` + day + ` null`,
		`alerts.rule.update ` + night + ` {"id":"rule-1","name":"Late"} null`, `alerts.rule.delete {"id":"rule-1","name":"Late"} null null`,
		`alerts.channel.create null {"id":"channel-1","name":"Chat"} null`,
		`alerts.channel.update {"id":"channel-1","name":"Chat"} {"id":"channel-1","name":"Team"} null`,
		`alerts.channel.update {"id":"channel-1","name":"Team"} {"id":"channel-1","name":"Team","secrets_changed":true} null`,
		`settings.alerts.channels null null digest`, `settings.alerts.channels null null digest`, `settings.alerts.channels null null digest`,
		`alerts.delivery.fail null null {"channel":"channel-1","id":"msg_1","v":1,"why":"the receiver answered 500"}`,
		`cluster.leave null null {"node":"c:6222","running":true,"v":1}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
