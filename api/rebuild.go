package api

import (
	"context"
	"net/http"
	"time"

	errata "github.com/errata-log/errata"
)

// Importer imports old error files that lie on the disk of the service.
type Importer interface {
	// Import returns when everything that it imported is visible. Kinds:
	// already_running, log_full, log_unavailable, store_unavailable.
	Import(ctx context.Context) (ImportResult, error)
	// Importing says how far the import under way is.
	Importing() ImportProgress
}

// ImportResult says what one import did.
type ImportResult struct {
	// Count is how many events it put on the log, Files how many files it
	// finished, Unreadable how many entries were in no known form.
	Count, Files, Unreadable int64
	// Skipped are files that were left alone, Warnings concern imported ones.
	Skipped, Warnings []ImportNote
}

// ImportNote is what the operator should know of a file.
type ImportNote struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
}

// ImportProgress is how far an import is: bytes of one file, unpacked, and
// what of it was read and put on the log.
type ImportProgress struct {
	Running    bool   `json:"running"`
	File       string `json:"file"`
	BytesDone  int64  `json:"bytes_done"`
	BytesTotal int64  `json:"bytes_total"`
	Lines      int64  `json:"lines"`
	Events     int64  `json:"events"`
}

// answerTime is what an answer gets to leave after a command without a limit.
const answerTime = time.Minute

// rebuild imports what is there, however long it takes: the deadline of the
// connection is lifted, and a caller that goes away does not stop it. The
// contract gives it no body; an object is taken and not looked at.
func (s *service) rebuild(c *call) (answer, error) {
	if s.Importer == nil {
		return notBuilt(c)
	}
	var ignored struct{}
	if err := c.bind(&ignored); err != nil {
		return answer{}, err
	}
	control := http.NewResponseController(c.Writer)
	// Without a connection to set deadlines on there is none to be late on.
	_ = control.SetReadDeadline(time.Time{})
	_ = control.SetWriteDeadline(time.Time{})
	result, err := s.Importer.Import(context.WithoutCancel(c.Request.Context()))
	_ = control.SetWriteDeadline(time.Now().Add(answerTime))
	if err != nil {
		return answer{}, err
	}
	return answer{data: map[string]any{
		"rebuilt": true, "count": result.Count, "files": result.Files, "unreadable": result.Unreadable,
		"skipped": notNil(result.Skipped), "warnings": notNil(result.Warnings),
	}}, nil
}

// rebuilding says how far the import under way on this node is.
func (s *service) rebuilding(*call) (answer, error) {
	if s.Importer == nil {
		return answer{}, errata.Errorf(errata.KindNotImplemented, "This service imports no files.")
	}
	return answer{data: s.Importer.Importing()}, nil
}

// notNil makes an empty list an empty array.
func notNil(notes []ImportNote) []ImportNote {
	if notes == nil {
		return []ImportNote{}
	}
	return notes
}
