package api

import (
	"context"
	"net/http"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ops"
)

// Importer imports old error files that lie on the disk of the service.
type Importer interface {
	// Import returns when everything that it imported is visible. Kinds:
	// already_running, project_archived, log_full, log_unavailable, store_unavailable.
	Import(ctx context.Context) (ops.ImportResult, error)
	// Importing says how far the import under way is.
	Importing() ops.ImportProgress
}

// answerTime bounds the writing of the answer to a command without a deadline.
const answerTime = time.Minute

// withoutDeadline removes the deadlines of a request. The function that it
// returns sets one for writing the answer.
func (c *call) withoutDeadline() (end func()) {
	control := http.NewResponseController(c.Writer)
	_ = control.SetReadDeadline(time.Time{}) // without a connection there is none
	_ = control.SetWriteDeadline(time.Time{})
	return func() { _ = control.SetWriteDeadline(time.Now().Add(answerTime)) }
}

// rebuild imports the files that are there, however long it takes, even when
// the caller goes away. It needs no body, and ignores the members of an object.
func (s *service) rebuild(c *call) (answer, error) {
	if s.Importer == nil {
		return notImplemented(c)
	}
	var ignored struct{}
	if err := c.bind(&ignored); err != nil {
		return answer{}, err
	}
	defer c.withoutDeadline()()
	return reply(s.Importer.Import(context.WithoutCancel(c.Request.Context())))
}

// rebuilding says how far the import under way on this node is.
func (s *service) rebuilding(*call) (answer, error) {
	if s.Importer == nil {
		return answer{}, errata.Errorf(errata.KindNotImplemented, "This service imports no files.")
	}
	return answer{data: s.Importer.Importing()}, nil
}
