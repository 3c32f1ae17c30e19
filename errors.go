package errata

import (
	"errors"
	"fmt"
	"time"
)

// Kind is a kind of error that a caller may see. Its text is the code in the
// API's error envelope.
type Kind string

// The kinds. Any other error is internal: the caller gets an id, and the text
// goes to the operator.
const (
	KindInternal          Kind = "internal"
	KindUnauthorized      Kind = "unauthorized"
	KindInsufficientScope Kind = "insufficient_scope"
	// KindKeyIsLimited: the key is limited to projects, and this is not theirs alone.
	KindKeyIsLimited Kind = "key_is_limited"
	// KindForeignOrigin: a page of another origin sends the request.
	KindForeignOrigin        Kind = "foreign_origin"
	KindNotFound             Kind = "not_found"
	KindMethodNotAllowed     Kind = "method_not_allowed"
	KindNotImplemented       Kind = "not_implemented"
	KindInvalidBody          Kind = "invalid_body"
	KindBodyTooLarge         Kind = "body_too_large"
	KindUnsupportedMediaType Kind = "unsupported_media_type"
	KindRateLimited          Kind = "rate_limited"
	KindStoreUnavailable     Kind = "store_unavailable"
	KindLogUnavailable       Kind = "log_unavailable"
	KindLogFull              Kind = "log_full"
	// KindDegraded: the service works, but an alarm stands.
	KindDegraded Kind = "degraded"
	// KindOverloaded: too many bytes are in flight; the sender should retry.
	KindOverloaded Kind = "overloaded"

	KindSignatureRequired Kind = "signature_required"
	KindInvalidType       Kind = "invalid_type"
	KindInvalidLevel      Kind = "invalid_level"
	KindInvalidStatus     Kind = "invalid_status"
	KindInvalidOrder      Kind = "invalid_order"
	KindInvalidDirection  Kind = "invalid_direction"
	KindInvalidDateRange  Kind = "invalid_date_range"
	KindInvalidPage       Kind = "invalid_page"
	KindInvalidLimit      Kind = "invalid_limit"
	KindInvalidNumber     Kind = "invalid_number"
	KindInvalidBoolean    Kind = "invalid_boolean"
	KindInvalidIP         Kind = "invalid_ip"
	KindInvalidPattern    Kind = "invalid_pattern"
	KindUnknownParameter  Kind = "unknown_parameter"
	KindInvalidEvent      Kind = "invalid_event"
	KindInvalidScope      Kind = "invalid_scope"
	KindInvalidName       Kind = "invalid_name"
	KindInvalidKeyKind    Kind = "invalid_kind"
	KindInvalidProject    Kind = "invalid_project"
	KindInvalidExpiry     Kind = "invalid_expiry"
	KindTooManySignatures Kind = "too_many_signatures"
	KindFilterRequired    Kind = "filter_required"
	KindInvalidDate       Kind = "invalid_date"
	KindInvalidRange      Kind = "invalid_range"
	KindInvalidEntry      Kind = "invalid_entry"
	KindInvalidCursor     Kind = "invalid_cursor"
	// KindInvalidPosition: the header X-Errata-Position holds no number.
	KindInvalidPosition Kind = "invalid_position"
	// KindUnknownPosition: the log does not reach that far.
	KindUnknownPosition Kind = "unknown_position"
	// KindMailModuleRequired: to send codes by e-mail, a mail module is needed.
	KindMailModuleRequired Kind = "mail_module_required"
	// KindInvalidMethod: the method does not exist or cannot send a code.
	KindInvalidMethod           Kind = "invalid_method"
	KindInvalidVerificationType Kind = "invalid_verification_type"
	KindInvalidWhitelist        Kind = "invalid_whitelist"
	KindInvalidIPModule         Kind = "invalid_ip_module"
	// KindMethodOff: the second-step method is installed, but off.
	KindMethodOff        Kind = "method_off"
	KindInvalidSide      Kind = "invalid_side"
	KindInvalidAccount   Kind = "invalid_account"
	KindInvalidPurpose   Kind = "invalid_purpose"
	KindInvalidRecipient Kind = "invalid_recipient"
	// KindMailUnavailable: the mail server does not answer or refuses the login.
	KindMailUnavailable Kind = "mail_unavailable"
	// KindMailRefused: the mail server refuses this mail.
	KindMailRefused Kind = "mail_refused"
	// KindAlreadyEnrolled: the account already has an authenticator app.
	KindAlreadyEnrolled Kind = "already_enrolled"
	// KindInvalidIdempotencyKey: the header is too short or too long.
	KindInvalidIdempotencyKey Kind = "invalid_idempotency_key"
	// KindIdempotencyKeyReused: an earlier, different request had the same key.
	KindIdempotencyKeyReused Kind = "idempotency_key_reused"
	// KindAlreadyRunning: the same work is running and cannot run twice.
	KindAlreadyRunning Kind = "already_running"
	// KindProjectionDiffers: a replay gives other tables than the present ones.
	KindProjectionDiffers Kind = "projection_differs"
	// KindProjectArchived: the project takes no events any more.
	KindProjectArchived Kind = "project_archived"
	// KindTooManyProjects: no further project can be made.
	KindTooManyProjects  Kind = "too_many_projects"
	KindInvalidSlug      Kind = "invalid_slug"
	KindInvalidPlatform  Kind = "invalid_platform"
	KindInvalidNoiseRule Kind = "invalid_noise_rule"
	KindInvalidContext   Kind = "invalid_context"
	KindInvalidAlert     Kind = "invalid_alert"
	// KindTooManyAlerts: no further rule or channel can be made.
	KindTooManyAlerts Kind = "too_many_alerts"
	// KindHistoryIncomplete: log and snapshot do not reach back to the first event.
	KindHistoryIncomplete Kind = "history_incomplete"
	// KindNodeNeeded: the cluster cannot go on without the node.
	KindNodeNeeded Kind = "node_is_needed"
)

// Error is an error that a caller may see: a kind, a sentence that says what to do
// next, and the cause for the operator's log.
type Error struct {
	Kind    Kind
	Message string
	// Details is optional and goes into the answer as it is.
	Details any
	// RetryAfter is how long the caller should wait, 0 for unknown.
	RetryAfter time.Duration
	// Err is the cause. It is logged and never in an answer.
	Err error
}

// Errorf makes an Error of the kind with a formatted message.
func Errorf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Because returns a copy of e with its cause.
func (e *Error) Because(err error) *Error {
	with := *e
	with.Err = err
	return &with
}

// With returns a copy of e with its details.
func (e *Error) With(details any) *Error {
	with := *e
	with.Details = details
	return &with
}

// Error is the text for the log: kind, message and cause.
func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %s: %v", e.Kind, e.Message, e.Err)
	}
	return fmt.Sprintf("%s: %s", e.Kind, e.Message)
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf is the kind of the first *Error in err's chain, else KindInternal.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return KindInternal
}
