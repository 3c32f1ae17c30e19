package engine

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"text/template"
)

const (
	writerUser = "errata"
	readerUser = "errata_reader"
	// AnalystUser is the user for people who query the views, in the embedded engine
	// and in the configuration of deploy/ for other servers.
	AnalystUser = "errata_analyst"
	// One query of the reader may take the engine's memory divided by
	// readerMemoryShare, so that several run at once and inserts go on.
	readerMemoryShare = 4
	// analystMemoryShare is the same for one query of an analyst, of whom there may
	// be several. A sort or a grouping works on the disk above a quarter of that.
	analystMemoryShare = 8
	// analystsAtOnce is how many queries of analysts may take their whole memory at the
	// same time. More than these run at once as long as they are small.
	analystsAtOnce = 4
	// mergeGatherShare is the same for what a merge gathers of a projection. With
	// 2 GiB it is about a million rows of records, the engine's own default.
	mergeGatherShare = 32
	maxMergeThreads  = 8
)

// tableEngines are the allowed engines of tables. Engines that reach outside, such
// as File and URL, are not among them.
var tableEngines = []string{
	"MergeTree", "ReplacingMergeTree", "SummingMergeTree", "AggregatingMergeTree",
	"CollapsingMergeTree", "VersionedCollapsingMergeTree", "CoalescingMergeTree",
	"Memory", "Null",
}

//go:embed clickhouse.xml.tmpl
var clickhouseXML string

//go:embed users.xml.tmpl
var usersXML string

var childTemplates = func() *template.Template {
	t := template.New("clickhouse.xml").Funcs(template.FuncMap{"xml": escapeXML})
	template.Must(t.Parse(clickhouseXML))
	template.Must(t.New("users.xml").Parse(usersXML))
	return t
}()

func escapeXML(text string) (string, error) {
	var b strings.Builder
	err := xml.EscapeText(&b, []byte(text))
	return b.String(), err
}

// childSettings are the values for the templates.
type childSettings struct {
	DataDir, UsersFile     string
	Port                   int
	Memory, ReaderMemory   int64
	MergeThreads           int
	MergeGather            int64 // bytes
	Database, Views        string
	Writer, Reader         string
	WriterHash, ReaderHash string
	TableEngines           []string

	Analyst, AnalystHash string
	AnalystMemory        int64
	AnalystsMemory       int64 // of all queries of analysts together
	AnalystSpill         int64 // bytes; a sort or a grouping above it works on the disk
}

// childFiles are the files of one start in the run folder. The files for the engine
// are in a folder of their own, the only one that the engine can read. Users of the
// engine can read it too, with the function file(). They must not read the other
// files, which hold passwords.
type childFiles struct{ dir, config, users, dsn, analystDSN string }

func childFilesIn(runDir string) childFiles {
	dir := filepath.Join(runDir, "engine")
	return childFiles{
		dir:        dir,
		config:     filepath.Join(dir, "clickhouse.xml"),
		users:      filepath.Join(dir, "clickhouse-users.xml"),
		dsn:        filepath.Join(runDir, "clickhouse.dsn"),
		analystDSN: filepath.Join(runDir, "clickhouse-analyst.dsn"),
	}
}

// write makes the files for a start on the port. Only their owner may read them: they
// hold passwords or hashes of them.
func (f childFiles) write(cfg ClickHouseConfig, keys childKeys, port int) error {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	settings := childSettings{
		DataDir: cfg.DataDir, UsersFile: f.users, Port: port,
		Memory: cfg.Memory, ReaderMemory: cfg.Memory / readerMemoryShare,
		MergeThreads: min(max(runtime.NumCPU(), 2), maxMergeThreads),
		MergeGather:  cfg.Memory / mergeGatherShare,
		Database:     cfg.Database, Views: ViewsDatabase(cfg.Database),
		Writer: writerUser, Reader: readerUser,
		WriterHash: hash(keys.writer), ReaderHash: hash(keys.reader),
		TableEngines: tableEngines,
		Analyst:      AnalystUser, AnalystHash: hash(keys.analyst),
		AnalystMemory:  cfg.Memory / analystMemoryShare,
		AnalystsMemory: cfg.Memory / analystMemoryShare * analystsAtOnce,
		AnalystSpill:   cfg.Memory / analystMemoryShare / 4,
	}
	for name, path := range map[string]string{"clickhouse.xml": f.config, "users.xml": f.users} {
		var text strings.Builder
		if err := childTemplates.ExecuteTemplate(&text, name, settings); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
		if err := writePrivate(path, text.String()); err != nil {
			return err
		}
	}
	// For people with a ClickHouse client on this machine.
	if err := writePrivate(f.dsn, childDSN(readerUser, keys.reader, port, cfg.Database)); err != nil {
		return err
	}
	return writePrivate(f.analystDSN, childDSN(AnalystUser, keys.analyst, port, ViewsDatabase(cfg.Database)))
}

func childDSN(user, password string, port int, database string) string {
	dsn := url.URL{Scheme: "clickhouse", User: url.UserPassword(user, password), Host: loopback(port), Path: "/" + database}
	return dsn.String() + "\n"
}

// remove removes the files after the child has ended.
func (f childFiles) remove() {
	for _, path := range []string{f.config, f.users, f.dsn, f.analystDSN, f.dir} {
		_ = os.Remove(path) // best effort: the port and most passwords are not valid any more
	}
}

// writePrivate replaces a file. The new one can only be read by its owner, whatever
// permissions the old one had.
func writePrivate(path, text string) error {
	temp := path + ".new"
	if err := os.Remove(temp); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := os.WriteFile(temp, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

// childKeys are the passwords of one start of the service; that of the analyst may be one
// that stays. A restart of the child
// does not change them, because the connections keep using them.
type childKeys struct{ writer, reader, analyst string }

func hash(password string) string {
	sum := sha256.Sum256([]byte(password))
	return hex.EncodeToString(sum[:])
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// freePort asks the kernel for a port. Another program may take it before the child
// does; then launch tries another one.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
