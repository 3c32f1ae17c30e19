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
	// readerMemoryShare of the engine's memory is what one query of the reader
	// may take, so that several fit and inserts go on.
	readerMemoryShare = 4
	maxMergeThreads   = 8
)

// tableEngines are those that tables may be made with. File, URL and the like
// are not among them.
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

// childSettings is what the templates are filled with.
type childSettings struct {
	DataDir, UsersFile     string
	Port                   int
	Memory, ReaderMemory   int64
	MergeThreads           int
	Database               string
	Writer, Reader         string
	WriterHash, ReaderHash string
	TableEngines           []string
}

// childFiles are the files in the run folder that one start needs.
type childFiles struct{ config, users, dsn string }

func childFilesIn(runDir string) childFiles {
	return childFiles{
		config: filepath.Join(runDir, "clickhouse.xml"),
		users:  filepath.Join(runDir, "clickhouse-users.xml"),
		dsn:    filepath.Join(runDir, "clickhouse.dsn"),
	}
}

// write makes the files for a start on the port. None of them may be read by
// others: they hold the password or its hash.
func (f childFiles) write(cfg ClickHouseConfig, keys childKeys, port int) error {
	settings := childSettings{
		DataDir: cfg.DataDir, UsersFile: f.users, Port: port,
		Memory: cfg.Memory, ReaderMemory: cfg.Memory / readerMemoryShare,
		MergeThreads: min(max(runtime.NumCPU(), 2), maxMergeThreads),
		Database:     cfg.Database,
		Writer:       writerUser, Reader: readerUser,
		WriterHash: hash(keys.writer), ReaderHash: hash(keys.reader),
		TableEngines: tableEngines,
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
	// For a person with a ClickHouse client on this machine.
	dsn := url.URL{
		Scheme: "clickhouse",
		User:   url.UserPassword(readerUser, keys.reader),
		Host:   loopback(port),
		Path:   "/" + cfg.Database,
	}
	return writePrivate(f.dsn, dsn.String()+"\n")
}

// remove takes the files away; the password in them is of no use any more.
func (f childFiles) remove() {
	for _, path := range []string{f.config, f.users, f.dsn} {
		_ = os.Remove(path) // best effort: it is worthless after this
	}
}

// writePrivate replaces a file, also one that somebody gave other permissions.
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

// childKeys are the passwords of one start of the service. They stay the same
// when the child is restarted, because the connections keep using them.
type childKeys struct{ writer, reader string }

func hash(password string) string {
	sum := sha256.Sum256([]byte(password))
	return hex.EncodeToString(sum[:])
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// freePort asks the kernel for a port. Somebody else may take it before the
// child does; the start is then tried again with another one.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
