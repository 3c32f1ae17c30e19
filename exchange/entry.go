package exchange

import (
	"github.com/errata-log/errata/ingest"
)

// Log is one of the two logs.
type Log uint8

// The logs.
const (
	Modules Log = iota // requests to and from other systems
	Queries            // queries of databases
)

// logs are all logs.
var logs = [...]Log{Modules, Queries}

// String is the log's name in paths, subjects and metrics: "modules" or "queries".
func (l Log) String() string { return [...]string{Modules: "modules", Queries: "queries"}[l] }

// needed is the one field that an entry must have.
func (l Log) needed() string { return [...]string{Modules: "module", Queries: "query"}[l] }

// Limits of a request and of the texts of an entry, in bytes. A text over its
// limit is cut at a rune and marked. A request over its limit is refused.
const (
	// MaxEntries bounds the entries of one request, as for events.
	MaxEntries = ingest.MaxBatch
	// maxOpen bounds a body after decompression. A request becomes one message
	// of the stream; texts of this size, compressed, fit into it.
	maxOpen = 4 << 20
	// maxQuery and maxContent bound a query, a request and a response.
	maxQuery   = 16 << 10
	maxContent = 16 << 10
	maxName    = 200 // module, action, connection, request id
	maxStatus  = 64
	maxError   = 8 << 10
)

// entry is one entry of either log, as it stands on the stream. The fields of the
// other log are empty. Times are Unix milliseconds.
type entry struct {
	Time     int64   `json:"t"`
	Received int64   `json:"rt"`
	Project  uint64  `json:"p"`
	Duration float64 `json:"d,omitempty"` // milliseconds
	Error    string  `json:"e,omitempty"`
	Request  string  `json:"r,omitempty"` // id of the request to the application
	UserID   int64   `json:"u,omitempty"`
	IP       string  `json:"ip,omitempty"`

	Module    string `json:"m,omitempty"`
	Direction string `json:"dir,omitempty"` // "in", "out" or ""
	Action    string `json:"a,omitempty"`
	Target    string `json:"to,omitempty"`
	Status    string `json:"s,omitempty"`
	Sent      string `json:"req,omitempty"`
	Answered  string `json:"res,omitempty"`

	Query      string `json:"q,omitempty"`
	Rows       uint64 `json:"n,omitempty"`
	Connection string `json:"c,omitempty"`
	File       string `json:"f,omitempty"`
	Line       uint32 `json:"l,omitempty"`
}
