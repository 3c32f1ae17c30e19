package projector

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/signature"
)

var classes = rapid.SampledFrom([]string{"", "A", "B", "C", "D"})

// drawBlock draws the events of a block with a receive time in that hour; ids is
// how many different event ids are used before and after it.
func drawBlock(t *rapid.T, at int64, ids *int) []errata.Event {
	events := make([]errata.Event, rapid.IntRange(1, 6).Draw(t, "events"))
	for i := range events {
		e := &events[i]
		if *ids > 0 && rapid.IntRange(0, 5).Draw(t, "again") == 0 {
			e.ID = errata.NewEventID(1, fmt.Sprint(rapid.IntRange(0, *ids-1).Draw(t, "id")))
		} else {
			e.ID = errata.NewEventID(1, fmt.Sprint(*ids))
			*ids++
		}
		n := rapid.IntRange(0, 11).Draw(t, "problem")
		e.Project, e.Book = uint64(1+n%2), errata.Books[n/2%2]
		e.Signature = signature.Sign(signature.Identity{Project: e.Project, Fingerprint: []string{fmt.Sprint(n)}})
		e.Class, e.Level = classes.Draw(t, "class"), errata.Level(1+n%7)
		e.Time = time.UnixMilli(at*millisPerHour - int64(rapid.IntRange(0, 1<<23).Draw(t, "ago"))).UTC()
		e.Received = time.UnixMilli(at * millisPerHour).UTC()
		e.Message, e.File, e.Line, e.UserID = fmt.Sprint("message ", n), "a.go", uint32(*ids), int64(n)
		e.Environment = rapid.SampledFrom([]string{"", "prod", "qa", "dev", "(other)"}).Draw(t, "environment")
		e.Release = rapid.SampledFrom([]string{"", "1", "2", "3", "4"}).Draw(t, "release")
		e.Payload = fmt.Appendf(nil, `{"n":%d}`, *ids)
		e.Trail = drawTrail(t)
		e.Mute, e.Noise = rapid.IntRange(0, 3).Draw(t, "mute") == 0, rapid.IntRange(0, 3).Draw(t, "noise") == 0
	}
	return events
}

// drawTrail draws what an occurrence shows of its event.
func drawTrail(t *rapid.T) errata.Trail {
	text := rapid.SampledFrom([]string{"", "a", "b", "a longer text", "0123456789abcdef0123456789abcdef", "0123456789ABCDEF0123456789abcdef", strings.Repeat("x", 200)})
	trail := errata.Trail{
		ClientID: text.Draw(t, "client id"), UserHash: rapid.Uint64Range(0, 3).Draw(t, "hash"), User: text.Draw(t, "user"),
		Server: text.Draw(t, "server"), Transaction: text.Draw(t, "transaction"), TraceID: text.Draw(t, "trace"),
	}
	for n := range rapid.IntRange(0, 3).Draw(t, "tags") {
		trail.Tags = append(trail.Tags, errata.Tag{Key: fmt.Sprint("tag ", n), Value: text.Draw(t, "value")})
	}
	return trail
}

// drawLedger draws a log with few problems and classes in two projects, with a
// small budget and a clock that is sometimes wrong.
func drawLedger(t *rapid.T) (log []eventlog.Fact) {
	hour, ids := int64(500_000), 0
	add := func(kind eventlog.FactKind, name string, data []byte) {
		log = append(log, eventlog.Fact{Sequence: uint64(len(log) + 1), Kind: kind, Name: name, Data: data})
	}
	signature := func() errata.Signature {
		if rapid.IntRange(0, 4).Draw(t, "of overflow") == 0 {
			return signature.SignOverflow(rapid.SampledFrom(errata.Books).Draw(t, "book"), 1, classes.Draw(t, "class"))
		}
		n := rapid.IntRange(0, 11).Draw(t, "problem")
		return signature.Sign(signature.Identity{Project: uint64(1 + n%2), Fingerprint: []string{fmt.Sprint(n)}})
	}
	block := func(at int64) {
		data, err := eventlog.EncodeBlock(drawBlock(t, at, &ids))
		if err != nil {
			t.Fatal(err)
		}
		add(eventlog.FactEvents, "", data)
	}
	for range rapid.IntRange(1, 40).Draw(t, "steps") {
		switch n := rapid.IntRange(0, 99).Draw(t, "step"); {
		case n < 60:
			block(hour)
		case n < 70:
			hour += int64(rapid.IntRange(1, 3).Draw(t, "hours"))
		case n < 76:
			block(hour + int64(rapid.IntRange(-4, 30).Draw(t, "wrong by")))
		case n < 78: // the clock was wrong until now
			hour -= int64(rapid.IntRange(2, 40).Draw(t, "back"))
			for range rapid.IntRange(60, 70).Draw(t, "blocks") {
				block(hour)
			}
		case n < 84:
			name, fact := drawProject(t)
			add(eventlog.FactSetting, name, []byte(fact))
		case n < 88:
			add(eventlog.FactSetting, settingLimits, fmt.Appendf(nil, `{"v":1,"after":{"new_records_per_hour":%d}}`, rapid.IntRange(0, 4).Draw(t, "limit")))
		default:
			body, err := json.Marshal(eventlog.StatusMove{Signatures: []string{signature().String(), signature().String()}, Status: rapid.SampledFrom(errata.Statuses).Draw(t, "status")})
			if err != nil {
				t.Fatal(err)
			}
			add(eventlog.FactCommand, rapid.SampledFrom([]string{eventlog.CommandDelete, eventlog.CommandStatus}).Draw(t, "command"), body)
		}
	}
	return log
}

// drawProject draws the fact of a project with or without a limit of its own, or a fact
// that changes nothing.
func drawProject(t *rapid.T) (name, fact string) {
	number := rapid.IntRange(1, 3).Draw(t, "project")
	name = fmt.Sprint("project.", number)
	limit := rapid.SampledFrom([]string{"null", "0", "1", "2", "5"}).Draw(t, "own limit")
	fact = fmt.Sprintf(`{"v":1,"before":null,"after":{"id":%d,"name":"x","limits":{"events_per_minute":7,"new_records_per_hour":%s}}}`, number, limit)
	switch rapid.IntRange(0, 9).Draw(t, "foreign") {
	case 0:
		fact = strings.Replace(fact, `"v":1`, `"v":0`, 1)
	case 1:
		name += rapid.SampledFrom([]string{"0", ".x", " "}).Draw(t, "name")
	case 2:
		name = "project.0" + name[len("project."):]
	default:
		return name, fact
	}
	return name, strings.Replace(fact, `"name"`, `"foreign":true,"name"`, 1)
}
