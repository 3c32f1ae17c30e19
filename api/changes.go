package api

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	errata "github.com/errata-log/errata"
)

// Changes are what administrators do to records. Each method returns when the
// change is visible on every node, with the number of records that it met.
// Errors: log_full; log_unavailable when it did not happen or nobody knows;
// store_unavailable when it will happen and is not visible yet. Projects are those
// whose records may change; nil for all. A record of another project counts as one that
// does not exist.
type Changes interface {
	// Delete removes the records of the signatures, in both books.
	Delete(ctx context.Context, projects []uint64, signatures []errata.Signature) (errata.Changed, error)
	// Cleanup removes the records last seen at before or earlier.
	Cleanup(ctx context.Context, projects []uint64, before time.Time) (errata.Changed, error)
	// Move gives the records of the signatures a status.
	Move(ctx context.Context, projects []uint64, signatures []errata.Signature, status errata.Status) (errata.Changed, error)
	// DeleteMatching removes, and MoveMatching gives a status to, the records that match
	// a filter as the package query encodes it, when the change is carried out.
	DeleteMatching(ctx context.Context, projects []uint64, filter json.RawMessage) (errata.Changed, error)
	MoveMatching(ctx context.Context, projects []uint64, filter json.RawMessage, status errata.Status) (errata.Changed, error)
	// Settle changes nothing. It returns when everything that was taken before is
	// visible.
	Settle(ctx context.Context) error
}

const (
	// maxSignatures bounds one request. It is far more than a person selects on
	// a page, and a command of that size does not slow the projector down.
	maxSignatures = 1000
	// changeTimeout is how long a change may take to become visible before the
	// caller is told to look later; it stays below the server's write timeout.
	changeTimeout = 100 * time.Second
)

// selection says which records a change is meant for: those of the signatures, or
// all that a filter of the list selects.
type selection struct {
	Signatures []string                          `json:"signatures" null:"absent"` // the contract has a code for no valid signature
	Filter     errata.Optional[filterParameters] `json:"filter"`
}

// read returns the signatures of the selection, or its filter as a command keeps it.
// Errors: signature_required, too_many_signatures, invalid_body and those of
// [call.storedFilter].
func (sel selection) read(c *call) (signatures []errata.Signature, filter json.RawMessage, err error) {
	sent, filtered := sel.Filter.Get()
	switch {
	case !filtered:
		signatures, err = signaturesOf(sel.Signatures)
	case len(sel.Signatures) > 0:
		err = refuse(errata.KindInvalidBody, "filter", "Send signatures or filter, not both.")
	default:
		filter, err = c.storedFilter(sent)
	}
	return signatures, filter, err
}

func (s *service) deleteErrors(c *call, body selection) (answer, error) {
	signatures, filter, err := body.read(c)
	if err != nil {
		return answer{}, err
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), changeTimeout)
	defer cancel()
	var changed errata.Changed
	if filter != nil {
		changed, err = s.Changes.DeleteMatching(ctx, c.projects, filter)
	} else {
		changed, err = s.Changes.Delete(ctx, c.projects, signatures)
	}
	return reply(map[string]any{"deleted": true, "count": changed.Total()}, err)
}

type moveBody struct {
	selection
	Status string `json:"status"`
}

// moveErrors gives records a status.
func (s *service) moveErrors(c *call, body moveBody) (answer, error) {
	signatures, filter, err := body.read(c)
	if err != nil {
		return answer{}, err
	}
	status, known := errata.ParseStatus(body.Status)
	if !known {
		return answer{}, unknownStatus(body.Status)
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), changeTimeout)
	defer cancel()
	var changed errata.Changed
	if filter != nil {
		changed, err = s.Changes.MoveMatching(ctx, c.projects, filter, status)
	} else {
		changed, err = s.Changes.Move(ctx, c.projects, signatures, status)
	}
	return reply(map[string]any{"updated": true, "status": status, "count": changed.Total()}, err)
}

func unknownStatus(text string) error {
	return errata.Errorf(errata.KindInvalidStatus, "The status %q is none of open, resolved and muted.", cut(text)).
		With(map[string]any{"field": "status", "allowed": errata.Statuses})
}

// signaturesOf are the valid signatures among the texts, each once. Invalid
// ones are skipped as long as one is valid.
func signaturesOf(texts []string) ([]errata.Signature, error) {
	seen := make(map[errata.Signature]bool, len(texts))
	signatures := make([]errata.Signature, 0, len(texts))
	for _, text := range texts {
		signature, err := errata.ParseSignature(text)
		if err != nil || seen[signature] {
			continue
		}
		seen[signature] = true
		signatures = append(signatures, signature)
	}
	if len(signatures) > maxSignatures {
		return nil, errata.Errorf(errata.KindTooManySignatures, "One request takes at most %d different signatures, this one has %d; send several requests.", maxSignatures, len(signatures)).
			With(map[string]any{"field": "signatures", "maximum": maxSignatures})
	}
	if len(signatures) == 0 {
		return nil, errata.Errorf(errata.KindSignatureRequired, "Send signatures, an array with at least one signature: 32 hex digits, as the list shows it.").
			With(map[string]any{"field": "signatures"})
	}
	return signatures, nil
}

type cleanupBody struct {
	Before string `json:"before" null:"absent"` // the contract has a code for no valid date
	// Project is a number or a slug; not sent for all projects.
	Project errata.Optional[string] `json:"project"`
}

// within are the projects of a cleanup: the one that the body names, or all that the
// caller sees; nil for all. Errors: invalid_project, log_unavailable.
func (body cleanupBody) within(c *call) ([]uint64, error) {
	ref, named := body.Project.Get()
	if !named {
		return c.projects, nil
	}
	number, err := c.projectNumber(ref)
	if errata.KindOf(err) == errata.KindInvalidProject || err == nil && !c.sees(number) {
		return nil, refuse(errata.KindInvalidProject, "project", fmt.Sprintf("There is no project %q; use the number or the slug of a project.", cut(ref)))
	}
	return []uint64{number}, err
}

func (s *service) cleanupErrors(c *call, body cleanupBody) (answer, error) {
	before, echo, err := cutOff(body.Before)
	if err != nil {
		return answer{}, err
	}
	within, err := body.within(c)
	if err != nil {
		return answer{}, err
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), changeTimeout)
	defer cancel()
	deleted, err := s.Changes.Cleanup(ctx, within, before)
	return reply(map[string]any{"cleared": true, "before": echo, "deleted": deleted}, err)
}

// cutOff reads the date of a cleanup: before is the last millisecond that it
// removes, echo the date in its normal form. A day counts as a whole, in UTC.
func cutOff(text string) (before time.Time, echo string, err error) {
	text = strings.TrimSpace(text)
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day.AddDate(0, 0, 1).Add(-time.Millisecond), day.Format(time.DateOnly), nil
	}
	if at, err := time.Parse(time.RFC3339, strings.ToUpper(text)); err == nil {
		at = at.UTC().Truncate(time.Millisecond)
		return at, errata.Instant(at).String(), nil
	}
	return time.Time{}, "", errata.Errorf(errata.KindInvalidDate, "The cut-off %q is no date. Send before as a date, 2026-11-21, or as an instant, 2026-11-21T12:00:00Z: it and everything before it are deleted.", cut(text)).
		With(map[string]any{"field": "before"})
}
