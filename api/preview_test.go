package api_test

import (
	"slices"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/query"
)

func TestPreviewOfARule(t *testing.T) {
	b := newBench(t, nil)
	b.claimFirst(t)
	admin := b.key(t, access.AlertsManage)
	const target = rulesPath + "/preview"
	if status, code := b.askAlerts(t, admin, "POST", target, `{"when":{"new":true}}`, nil); status != 503 || code != "store_unavailable" {
		t.Errorf("without the store: %d %s", status, code)
	}
	key := errata.RecordKey{Book: errata.BookDatabase, Signature: errata.Signature{7}}
	b.insights.preview = func(rule alerts.Rule) query.Preview {
		if rule.Search != "order" || !rule.When.New || rule.Levels[0] != "fatal" {
			t.Errorf("asked for %+v", rule)
		}
		return query.Preview{
			From: start, To: start.AddDate(0, 0, 7), Fired: 3, Messages: 2, Days: [7]uint64{0, 1, 2},
			Latest: []alerts.Firing{
				{Cause: alerts.CauseNew, Clock: start.UnixMilli(), Record: key, Level: errata.LevelFatal, Count: 1, Project: 2},
				{Cause: alerts.CauseSpike, Clock: start.UnixMilli(), Record: errata.RecordKey{Book: errata.BookSystem}, Project: 3, Events: 70, Usual: 4, Minutes: 5},
			},
			Records: map[errata.RecordKey]errata.Record{key: {Class: "PDOException", Message: "gone"}},
		}
	}
	var got struct {
		Fired, Messages uint64
		Days            []uint64
		NotCounted      []string `json:"not_counted"`
		Latest          []struct {
			Cause, At, Type, Signature, Level string
			Class                             string `json:"exception_class"`
			Message                           string `json:"message_preview"`
			Project                           uint64 `json:"project_id"`
			Events, Usual, Minutes            uint64
		}
	}
	if status, code := b.askAlerts(t, admin, "POST", target, `{"when":{"new":true,"regressed":1,"spike":{"factor":2,"minutes":5},"quiet":{"minutes":5}},"search":" order ","levels":["fatal"]}`, &got); status != 200 {
		t.Fatal(status, code)
	}
	if got.Fired != 3 || got.Messages != 2 || !slices.Equal(got.Days, []uint64{0, 1, 2, 0, 0, 0, 0}) || !slices.Equal(got.NotCounted, []string{"regressed"}) {
		t.Errorf("answered %+v", got)
	}
	if len(got.Latest) != 2 || got.Latest[0].Type != "database" || got.Latest[0].Class != "PDOException" || got.Latest[0].Message != "gone" ||
		got.Latest[0].Signature != key.Signature.String() || got.Latest[0].Project != 2 || got.Latest[0].Cause != "new" {
		t.Errorf("latest: %+v", got.Latest)
	}
	if spike := got.Latest[1]; spike.Signature != "" || spike.Level != "" || spike.Project != 3 || spike.Events != 70 || spike.Usual != 4 || spike.Minutes != 5 {
		t.Errorf("of a project: %+v", spike)
	}
	for _, body := range []string{`{}`, `{"when":{}}`, `{"when":{"new":true},"signatures":["xyz"]}`} {
		if status, code := b.askAlerts(t, admin, "POST", target, body, nil); status != 422 || code != "invalid_alert" {
			t.Errorf("%s: %d %s", body, status, code)
		}
	}
	if status, code := b.askAlerts(t, b.key(t, access.AlertsRead), "POST", target, `{"when":{"new":true}}`, nil); status != 403 {
		t.Errorf("a reader: %d %s", status, code)
	}
}
