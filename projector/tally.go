package projector

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"

	"github.com/ClickHouse/clickhouse-go/v2"
)

var (
	//go:embed sql/tally_totals.sql
	sqlTallyTotals string
	//go:embed sql/tally_records.sql
	sqlTallyRecords string
	//go:embed sql/tally_records_outdated.sql
	sqlTallyOutdatedRecords string
	//go:embed sql/tally_contexts.sql
	sqlTallyContexts string
	//go:embed sql/tally_hourly.sql
	sqlTallyHourly string
	//go:embed sql/tally_deployments.sql
	sqlTallyDeployments string
	//go:embed sql/tally_occurrences.sql
	sqlTallyOccurrences string
)

// Tally sums up a projection: two projections with the same Tally hold the same
// bytes.
type Tally struct {
	// Checkpoint is the last folded fact.
	Checkpoint uint64 `json:"checkpoint"`
	// Records is the number of records and Count the sum of their counts.
	Records uint64 `json:"records"`
	Count   uint64 `json:"count"`
	// Payloads is the number of contexts, Hours the sum of all hours, Deployed that
	// of all deployments, Occurred the number of occurrences of records that are there.
	Payloads uint64 `json:"payloads"`
	Hours    uint64 `json:"hours"`
	Deployed uint64 `json:"deployed"`
	Occurred uint64 `json:"occurred"`
	// The checksums are over every column of every row.
	RecordsChecksum     Checksum `json:"records_checksum"`
	PayloadsChecksum    Checksum `json:"payloads_checksum"`
	HoursChecksum       Checksum `json:"hours_checksum"`
	DeploymentsChecksum Checksum `json:"deployments_checksum"`
	OccurrencesChecksum Checksum `json:"occurrences_checksum"`
}

// Checksum is 16 hex digits as a text: clients would round a JSON number.
type Checksum uint64

// String returns the checksum in hex.
func (c Checksum) String() string { return fmt.Sprintf("%016x", uint64(c)) }

// MarshalText returns the text for JSON.
func (c Checksum) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads it again.
func (c *Checksum) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 64)
	*c = Checksum(n)
	return err
}

// Tally counts the projection as it is now.
func (s *Store) Tally(ctx context.Context) (Tally, error) { return s.tally(ctx, FoldVersion) }

// tally counts the projection. It leaves out what a projection of the fold version
// holds otherwise.
func (s *Store) tally(ctx context.Context, fold int) (t Tally, err error) {
	cp, err := s.Checkpoint(ctx)
	if err != nil {
		return Tally{}, err
	}
	t.Checkpoint = cp.Sequence
	if err := s.tallyRecords(ctx, fold, &t); err != nil {
		return Tally{}, fmt.Errorf("count the records: %w", err)
	}
	dimensions := clickhouse.Named("dimensions", fold >= foldDimensions)
	if err := s.conn.QueryRow(ctx, sqlTallyHourly, dimensions).Scan(&t.Hours, (*uint64)(&t.HoursChecksum)); err != nil {
		return Tally{}, fmt.Errorf("count the hours: %w", err)
	}
	if fold >= foldDimensions {
		if err := s.conn.QueryRow(ctx, sqlTallyDeployments).Scan(&t.Deployed, (*uint64)(&t.DeploymentsChecksum)); err != nil {
			return Tally{}, fmt.Errorf("count the deployments: %w", err)
		}
	}
	if err = s.tallyRanges(ctx, sqlTallyContexts, t.Records, &t.Payloads, &t.PayloadsChecksum); err != nil {
		return Tally{}, fmt.Errorf("count the contexts: %w", err)
	}
	if fold >= foldOccurrences {
		// Those of records that are gone may still be on the disk, or not any more.
		if err = s.tallyRanges(ctx, sqlTallyOccurrences, t.Records, &t.Occurred, &t.OccurrencesChecksum); err != nil {
			return Tally{}, fmt.Errorf("count the occurrences: %w", err)
		}
	}
	return t, nil
}

// tallyRecords counts the records.
func (s *Store) tallyRecords(ctx context.Context, fold int, t *Tally) error {
	checksum := (*uint64)(&t.RecordsChecksum)
	if fold < foldDimensions {
		levels := clickhouse.Named("levels", fold >= foldLevels)
		return s.conn.QueryRow(ctx, sqlTallyOutdatedRecords, levels).Scan(&t.Records, &t.Count, checksum)
	}
	var records uint64
	if err := s.conn.QueryRow(ctx, sqlTallyTotals).Scan(&records, &t.Count); err != nil {
		return err
	}
	return s.tallyRanges(ctx, sqlTallyRecords, records, &t.Records, &t.RecordsChecksum)
}

// tallyRanges counts the rows of a table, one range of signatures after another. records is about
// how many records there are.
func (s *Store) tallyRanges(ctx context.Context, query string, records uint64, count *uint64, checksum *Checksum) error {
	for _, within := range rangesOf(records, recordsTogether) {
		var some, hash uint64
		if err := s.conn.QueryRow(ctx, query, within.rangeArgs()...).Scan(&some, &hash); err != nil {
			return err
		}
		*count += some
		*checksum ^= Checksum(hash)
	}
	return nil
}

// differences says in words what differs between two tallies.
func (t Tally) differences(other Tally) (found []string) {
	for _, part := range []struct {
		name          string
		live, rebuilt any
	}{
		{"checkpoint", t.Checkpoint, other.Checkpoint},
		{"records", t.Records, other.Records},
		{"count", t.Count, other.Count},
		{"payloads", t.Payloads, other.Payloads},
		{"hours", t.Hours, other.Hours},
		{"deployments", t.Deployed, other.Deployed},
		{"occurrences", t.Occurred, other.Occurred},
		{"checksum of the records", t.RecordsChecksum, other.RecordsChecksum},
		{"checksum of the payloads", t.PayloadsChecksum, other.PayloadsChecksum},
		{"checksum of the hours", t.HoursChecksum, other.HoursChecksum},
		{"checksum of the deployments", t.DeploymentsChecksum, other.DeploymentsChecksum},
		{"checksum of the occurrences", t.OccurrencesChecksum, other.OccurrencesChecksum},
	} {
		if part.live != part.rebuilt {
			found = append(found, fmt.Sprintf("%s: live %v, rebuilt %v", part.name, part.live, part.rebuilt))
		}
	}
	return found
}
