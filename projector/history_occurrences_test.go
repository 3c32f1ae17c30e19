package projector_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/projector"
)

// trail is what the occurrence of an event shows. It may name persons: as the user, by
// a hash alone, in a tag, and in texts.
func (h *history) trail() errata.Trail {
	n := len(h.sent)
	trail := errata.Trail{
		ClientID: []string{"", fmt.Sprintf("%032x", n), fmt.Sprint("client ", n)}[h.random.IntN(3)],
		TraceID:  []string{"", fmt.Sprintf("%032x", n/3), "trace"}[h.random.IntN(3)],
		Server:   fmt.Sprint("web-", h.random.IntN(3)), Transaction: fmt.Sprint("/", h.random.IntN(5)),
	}
	user := h.someUser()
	if h.random.IntN(3) == 0 {
		user = h.someAddress().String()
	}
	switch h.random.IntN(4) {
	case 0:
		trail.User, trail.UserHash = user, uint64(user[0])
	case 1:
		trail.User = user
	case 2:
		trail.UserHash = uint64(user[0])
	}
	switch h.random.IntN(4) {
	case 0:
		trail.Tags = []errata.Tag{{Key: "shard", Value: "3"}, {Key: "owner", Value: h.someUser()}}
	case 1:
		trail.Tags = []errata.Tag{{Key: "peer", Value: "[" + h.someAddress().String() + "]"}}
	case 2:
		trail.Server, trail.Transaction = "["+h.someAddress().String()+"]", "from ["+h.someAddress().String()+"]"
	}
	return trail
}

// live are the rows of the model whose records are there.
func (h *history) live() projector.OccurrenceRows {
	rows := projector.OccurrenceRows{}
	for _, r := range h.records {
		maps.Copy(rows, h.occurred.Of(r))
	}
	return rows
}

// tidy merges the tables beside the fold. A table that is being merged is left alone.
func (h *history) tidy() {
	h.barrier()
	if err := projector.NewStore(h.ClickHouse, 0).Tidy(h.t.Context()); err != nil {
		h.t.Log(err)
	}
}

// checkGone tidies and looks at the disk: it has no occurrence of a record that is gone.
func (h *history) checkGone(store *projector.Store) {
	h.t.Helper()
	if err := store.Tidy(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	var rows uint64
	const count = "SELECT sum(rows) FROM system.parts WHERE active AND database = currentDatabase() AND table = 'occurrences'"
	if err := h.ClickHouse.QueryRow(h.t.Context(), count).Scan(&rows); err != nil {
		h.t.Fatal(err)
	}
	if want := uint64(len(h.live())) + 1; len(h.occurred) > 0 && rows != want {
		h.t.Errorf("%d rows of occurrences are on the disk, want %d and that of the checkpoint", rows, want-1)
	}
}

func (h *history) checkAnswers(store *projector.Store) {
	h.t.Helper()
	for seq, want := range h.answers {
		answer, _, err := store.Answer(h.t.Context(), seq)
		var got errata.Changed
		if err == nil {
			err = json.Unmarshal(answer, &got)
		}
		if err != nil || got != want {
			h.t.Errorf("the command at %d was answered %s (%v), want %+v", seq, answer, err, want)
		}
	}
}

// readOccurrences reads the occurrences of the records that have these ids, by key.
func (h *history) readOccurrences(database string, s *state, ids map[string]errata.Position) {
	h.t.Helper()
	h.each(`SELECT book, signature, id, position, number, project, time, received, event_id, client_id, environment, release,
			user_hash, user, level, server, transaction, trace_id, tags
		FROM `+database+`.occurrences WHERE book != 'checkpoint'`, func(rows driver.Rows) error {
		var row projector.OccurrenceRow
		var book, signature, eventID, level string
		var id, position uint64
		var at, received time.Time
		var tags []string
		err := rows.Scan(&book, &signature, &id, &position, &row.Number, &row.Project, &at, &received, &eventID, &row.ClientID, &row.Environment, &row.Release,
			&row.UserHash, &row.User, &level, &row.Server, &row.Transaction, &row.TraceID, &tags)
		if err != nil {
			return err
		}
		row.Book, _ = errata.ParseBook(book)
		row.Level, _ = errata.ParseLevel(level)
		row.Signature, row.ID, row.Position = errata.Signature([]byte(signature)), errata.Position(id), errata.Position(position)
		row.TimeMillis, row.ReceivedMillis, row.EventID = at.UnixMilli(), received.UnixMilli(), errata.EventID([]byte(eventID))
		row.Tags = strings.Join(tags, ",")
		if live, there := ids[modelKey(row.Book, row.Signature)]; !there || live != row.ID {
			return nil
		}
		if _, twice := s.Occurred[row.Position]; twice {
			h.t.Errorf("two rows of %+v", row)
		}
		s.Occurred[row.Position] = row
		return nil
	})
}
