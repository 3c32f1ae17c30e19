package contract

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/projects"
	"github.com/errata-log/errata/signature"
)

// event is an error as an application sends it.
type event struct {
	ID          string          `json:"id,omitempty"`
	Time        string          `json:"time,omitempty"`
	Book        string          `json:"type,omitempty"`
	Level       string          `json:"level,omitempty"`
	Message     string          `json:"message,omitempty"`
	Class       string          `json:"exception_class,omitempty"`
	File        string          `json:"file,omitempty"`
	Line        uint32          `json:"line,omitempty"`
	URI         string          `json:"request_uri,omitempty"`
	Method      string          `json:"request_method,omitempty"`
	UserID      json.RawMessage `json:"user_id,omitempty"`
	IP          string          `json:"ip,omitempty"`
	Fingerprint []string        `json:"fingerprint,omitempty"`
	Payload     map[string]any  `json:"payload,omitempty"`
}

// at is the event at another time.
func (e event) at(when time.Time) event {
	e.Time = when.Format(time.RFC3339Nano)
	return e
}

// project is that of the first ingest key.
const project = 1

// signature is the signature of an event with a fingerprint.
func (e event) signature() errata.Signature {
	book, _ := errata.ParseBook(e.Book)
	return signature.Sign(signature.Identity{Book: book, Project: project, Fingerprint: e.Fingerprint})
}

// shown is a record as the contract shows it: its 15 fields in their order, then
// the two of the status, whose it is, and whether it is an overflow record. The types are
// those of the contract.
func shown(r errata.Record) string {
	return body(
		"id", uint64(r.ID), "signature", r.Signature.String(), "type", r.Book.String(), "level", r.Level.String(),
		"count", r.Count, "first_seen", instant(r.FirstSeen), "last_seen", instant(r.LastSeen),
		"file", r.File, "line", r.Line, "message_preview", r.Message, "exception_class", r.Class,
		"request_uri", r.URI, "request_method", r.Method, "user_id", r.UserID, "ip", address(r.IP),
		"status", string(r.Status), "regressed", r.Regressed,
		"project", map[uint64]string{project: projects.DefaultName}[r.Project], "project_id", r.Project, "users", r.Users,
		"environments", append([]string{}, r.Environments...), "releases", append([]string{}, r.Releases...), "overflow", r.Signature.Overflow())
}

// address is an address in an answer, "" when it is not known.
func address(ip netip.Addr) string {
	if !ip.IsValid() {
		return ""
	}
	return ip.String()
}

// instant is a time in an answer: RFC 3339, UTC, milliseconds.
func instant(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// page is a whole list answer.
func page(records []errata.Record, total, number, limit, next int) string {
	data := []byte{'['}
	for i, r := range records {
		if i > 0 {
			data = append(data, ',')
		}
		data = append(data, shown(r)...)
	}
	return fmt.Sprintf(`{"data":%s],"meta":{"total":%d,"page":%d,"limit":%d,"next_page":%d,"scoped":false}}`+"\n", data, total, number, limit, next)
}
