package engine

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/errata-log/errata/internal/background"
)

var (
	//go:embed sql/tables_to_freeze.sql
	sqlTablesToFreeze string
	//go:embed sql/unfinished_mutations.sql
	sqlUnfinishedMutations string
)

const (
	// clickhouseDir is the folder of the embedded ClickHouse in the data folder.
	clickhouseDir = "clickhouse"
	// countFile is the file of a part that has its number of rows.
	countFile = "count.txt"
	// mutationPause is the pause between two looks for unfinished mutations.
	mutationPause = 100 * time.Millisecond
)

// Links name the links that ClickHouse makes of frozen parts, in its folder shadow. Each
// user has links of its own, so that several may have some at the same time.
type Links string

// The users of frozen tables.
const (
	BackupLinks Links = "errata_backup"
	PeerLinks   Links = "errata_peer"
)

// FrozenTable is a table as it was at one moment.
type FrozenTable struct {
	Database string `json:"database"`
	Name     string `json:"name"`
	// Create is the statement that makes the table.
	Create string `json:"create"`
	// Parts are the parts in the order in which they were written.
	Parts []FrozenPart `json:"parts"`
}

// FrozenPart is a part of a FrozenTable.
type FrozenPart struct {
	Name string `json:"name"`
	Rows uint64 `json:"rows"`

	folder string // of its files, while it is frozen
}

// Folder is where the files of the part are until [Engines.Thaw].
func (p FrozenPart) Folder() string { return p.folder }

// PartAt is a part whose files are in a folder that has its name, for tests.
func PartAt(folder string, rows uint64) FrozenPart {
	return FrozenPart{Name: filepath.Base(folder), Rows: rows, folder: folder}
}

// Freeze links the parts of all tables of the databases as they are now, which copies
// no data. Each table is as it was at one moment of the call; a caller that needs the
// same moment for several of them keeps others from writing. The links stay until
// [Engines.Thaw], or the next call for the same links. It works with the embedded
// ClickHouse only.
func (e *Engines) Freeze(ctx context.Context, links Links, databases ...string) (tables []FrozenTable, err error) {
	if err := e.Thaw(links); err != nil {
		return nil, err
	}
	if err := e.awaitMutations(ctx, databases); err != nil {
		return nil, err
	}
	rows, err := e.ClickHouse().Query(ctx, sqlTablesToFreeze, clickhouse.Named("databases", databases))
	if err != nil {
		return nil, fmt.Errorf("engine: list the tables: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var ids []string
	for rows.Next() {
		var t FrozenTable
		var id string
		if err := rows.Scan(&t.Database, &t.Name, &id, &t.Create); err != nil {
			return nil, fmt.Errorf("engine: list the tables: %w", err)
		}
		tables, ids = append(tables, t), append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("engine: list the tables: %w", err)
	}
	for i, t := range tables {
		if err := e.ClickHouse().Exec(ctx, "ALTER TABLE "+t.quoted()+" FREEZE WITH NAME '"+string(links)+"'"); err != nil {
			return nil, fmt.Errorf("engine: freeze the table %s: %w", t.Name, err)
		}
		if tables[i].Parts, err = frozenParts(filepath.Join(e.frozenDir(links), "store", ids[i][:3], ids[i])); err != nil {
			return nil, fmt.Errorf("engine: look at the frozen parts of %s: %w", t.Name, err)
		}
	}
	return tables, nil
}

// awaitMutations waits until no mutation is unfinished: a part that waits for its
// mutation still has the rows that a delete has removed.
func (e *Engines) awaitMutations(ctx context.Context, databases []string) error {
	for {
		var count uint64
		row := e.ClickHouse().QueryRow(ctx, sqlUnfinishedMutations, clickhouse.Named("databases", databases))
		if err := row.Scan(&count); err != nil {
			return fmt.Errorf("engine: look for unfinished changes of the tables: %w", cmp.Or(overdue(ctx), err))
		}
		if count == 0 {
			return nil
		}
		if !background.Wait(ctx, mutationPause) {
			return fmt.Errorf("engine: %d changes of the tables do not finish: %w", count, ctx.Err())
		}
	}
}

// overdue is the error of ctx. It looks at the clock as well: the connection to ClickHouse has
// the same deadline as ctx, and may end a moment before ctx has an error.
func overdue(ctx context.Context) error {
	if deadline, limited := ctx.Deadline(); limited && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// Thaw removes the links of Freeze.
func (e *Engines) Thaw(links Links) error {
	if err := os.RemoveAll(e.frozenDir(links)); err != nil {
		return fmt.Errorf("engine: remove the links of frozen parts: %w", err)
	}
	return nil
}

func (e *Engines) frozenDir(links Links) string {
	return e.cfg.path(filepath.Join(clickhouseDir, "shadow", string(links)))
}

func (t FrozenTable) quoted() string { return "`" + t.Database + "`.`" + t.Name + "`" }

// frozenParts lists the parts of a table; none without the folder.
func frozenParts(folder string) (parts []FrozenPart, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, gone(err)
	}
	for _, entry := range entries {
		p := FrozenPart{Name: entry.Name(), folder: filepath.Join(folder, entry.Name())}
		text, err := os.ReadFile(filepath.Join(p.folder, countFile))
		if err != nil {
			return nil, err
		}
		if p.Rows, err = strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	slices.SortFunc(parts, func(a, b FrozenPart) int {
		return cmp.Or(cmp.Compare(firstBlock(a.Name), firstBlock(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return parts, nil
}

// firstBlock is the number of the first block in a part: PARTITION_FIRST_LAST_LEVEL.
func firstBlock(part string) uint64 {
	fields := strings.Split(part, "_")
	if len(fields) < 2 {
		return 0
	}
	first, _ := strconv.ParseUint(fields[1], 10, 64) // 0 comes first
	return first
}
