package projector_test

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/projector"
)

// read reads the whole projection of the database as its users see it.
func (h *history) read(database string) state {
	h.t.Helper()
	s := state{Records: map[string]errata.Record{}, Payload: map[string]string{}, Hours: map[string]uint64{}, Rows: projector.DeploymentRows{}, Occurred: projector.OccurrenceRows{}}
	ids := map[string]errata.Position{}
	h.each(`SELECT book, signature, id, version, count, first_seen, last_seen, level, file, line, message_preview, exception_class,
		request_uri, request_method, user_id, ip, status, regressed, noise, project, environments, releases FROM `+database+`.records FINAL WHERE book != 'checkpoint'`, func(rows driver.Rows) error {
		var r errata.Record
		var book, signature, level, status string
		var id, version uint64
		var ip netip.Addr
		err := rows.Scan(&book, &signature, &id, &version, &r.Count, &r.FirstSeen, &r.LastSeen, &level, &r.File, &r.Line, &r.Message, &r.Class,
			&r.URI, &r.Method, &r.UserID, &ip, &status, &r.Regressed, &r.Noise, &r.Project, &r.Environments, &r.Releases)
		r.Book, _ = errata.ParseBook(book)
		r.Level, _ = errata.ParseLevel(level)
		r.Signature, r.ID, r.Version = errata.Signature([]byte(signature)), errata.Position(id), errata.Position(version)
		r.FirstSeen, r.LastSeen, r.IP, r.Status = r.FirstSeen.UTC(), r.LastSeen.UTC(), ip.Unmap(), errata.Status(status)
		key := modelKey(r.Book, r.Signature)
		if _, twice := s.Records[key]; twice {
			h.t.Errorf("two live rows of %s", key)
		}
		s.Records[key], ids[key] = r, r.ID
		return err
	})
	h.each(`SELECT book, signature, id, payload FROM `+database+`.contexts FINAL`, func(rows driver.Rows) error {
		var book, signature, payload string
		var id uint64
		err := rows.Scan(&book, &signature, &id, &payload)
		b, _ := errata.ParseBook(book)
		key := modelKey(b, errata.Signature([]byte(signature)))
		if live, ok := ids[key]; ok && uint64(live) == id {
			s.Payload[key] = payload
		} else if payload != "" {
			h.t.Errorf("the payload of a record that is gone is still there: %s %d %s", key, id, payload)
		}
		return err
	})
	h.each(`SELECT book, signature, id, hour, level, sum(count) FROM `+database+`.hourly WHERE book != 'checkpoint' GROUP BY ALL`, func(rows driver.Rows) error {
		var book, signature, level string
		var id, count uint64
		var hour time.Time
		err := rows.Scan(&book, &signature, &id, &hour, &level, &count)
		b, _ := errata.ParseBook(book)
		key := modelKey(b, errata.Signature([]byte(signature)))
		if live, ok := ids[key]; ok && uint64(live) == id {
			s.Hours[fmt.Sprintf("%s %d %d %s", key, id, hour.Unix()/3600, level)] = count
		}
		return err
	})
	h.readDeployments(database, &s, ids)
	h.readOccurrences(database, &s, ids)
	return s
}

// readDeployments reads the deployments of the records that have these ids, by key.
// Those of all others must be marked as gone, and no others.
func (h *history) readDeployments(database string, s *state, ids map[string]errata.Position) {
	h.t.Helper()
	h.each(`SELECT book, signature, id, environment, release, sum(count), min(first_seen), max(last_seen), max(project),
			(book, signature, id) IN (SELECT book, signature, id FROM `+database+`.deployments WHERE gone = 1) AS gone
		FROM `+database+`.deployments WHERE book != 'checkpoint' GROUP BY ALL`, func(rows driver.Rows) error {
		var book, signature string
		var id uint64
		var row projector.DeploymentRow
		var first, last time.Time
		var gone uint8
		err := rows.Scan(&book, &signature, &id, &row.Environment, &row.Release, &row.Count, &first, &last, &row.Project, &gone)
		row.Book, _ = errata.ParseBook(book)
		row.Signature, row.ID = errata.Signature([]byte(signature)), errata.Position(id)
		row.FirstMillis, row.LastMillis = first.UnixMilli(), last.UnixMilli()
		key := modelKey(row.Book, row.Signature)
		live, there := ids[key]
		if there = there && live == row.ID; there {
			s.Rows.Add(row)
		}
		if there == (gone == 1) {
			h.t.Errorf("%s %d is there: %t; its deployments are gone: %d", key, id, there, gone)
		}
		return err
	})
}

// each asks until ClickHouse answers: a test may have killed it just now.
func (h *history) each(query string, row func(driver.Rows) error) {
	h.t.Helper()
	rows, err := h.ClickHouse.Query(h.t.Context(), query)
	if err != nil {
		h.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows); err != nil {
			h.t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		h.t.Fatal(err)
	}
}

// rebuilt rebuilds the projection.
func (l *ledger) rebuilt(p *projector.Projector) projector.Comparison {
	l.t.Helper()
	done, err := projector.Rebuild(context.WithoutCancel(l.t.Context()), p, l.rebuild())
	if err != nil {
		l.t.Fatal(err)
	}
	return done
}

// rebuild is the configuration of a rebuild of the ledger's projection.
func (l *ledger) rebuild() projector.RebuildConfig {
	return projector.RebuildConfig{
		Connect: func(database string) (driver.Conn, error) { return l.Connect(l.t.Context(), database) },
	}
}
