// Package httpstatus says which HTTP status belongs to a kind of error, so that the API
// and the receivers answer the same kind with the same status. It is a package of its
// own because neither of them may import the other, and the root knows no HTTP.
//
// It must not know a request or write an answer.
package httpstatus

import (
	"net/http"

	errata "github.com/errata-log/errata"
)

// Of is the status of the kind. The status of an unknown kind is 500.
func Of(kind errata.Kind) int {
	switch kind {
	case errata.KindInvalidBody, errata.KindInvalidPosition:
		return http.StatusBadRequest
	case errata.KindUnauthorized:
		return http.StatusUnauthorized
	case errata.KindInsufficientScope, errata.KindKeyIsLimited, errata.KindForeignOrigin, errata.KindProjectArchived:
		return http.StatusForbidden
	case errata.KindNotFound:
		return http.StatusNotFound
	case errata.KindMethodNotAllowed:
		return http.StatusMethodNotAllowed
	case errata.KindAlreadyEnrolled, errata.KindAlreadyRunning, errata.KindProjectionDiffers, errata.KindHistoryIncomplete, errata.KindNodeNeeded:
		return http.StatusConflict
	case errata.KindBodyTooLarge:
		return http.StatusRequestEntityTooLarge
	case errata.KindUnsupportedMediaType:
		return http.StatusUnsupportedMediaType
	case errata.KindRateLimited:
		return http.StatusTooManyRequests
	case errata.KindNotImplemented:
		return http.StatusNotImplemented
	case errata.KindStoreUnavailable, errata.KindLogUnavailable, errata.KindLogFull, errata.KindDegraded, errata.KindOverloaded,
		errata.KindMailUnavailable:
		return http.StatusServiceUnavailable
	case errata.KindSignatureRequired, errata.KindTooManySignatures, errata.KindFilterRequired, errata.KindInvalidEvent, errata.KindInvalidEntry,
		errata.KindInvalidType, errata.KindInvalidLevel, errata.KindInvalidStatus, errata.KindInvalidOrder, errata.KindInvalidDirection,
		errata.KindInvalidDate, errata.KindInvalidDateRange, errata.KindInvalidRange, errata.KindInvalidPage, errata.KindInvalidLimit,
		errata.KindInvalidNumber, errata.KindInvalidBoolean, errata.KindInvalidIP, errata.KindInvalidPattern, errata.KindUnknownParameter, errata.KindInvalidCursor, errata.KindUnknownPosition,
		errata.KindInvalidScope, errata.KindInvalidName, errata.KindInvalidKeyKind, errata.KindInvalidProject, errata.KindInvalidExpiry,
		errata.KindMailModuleRequired, errata.KindInvalidMethod, errata.KindMethodOff, errata.KindInvalidVerificationType,
		errata.KindInvalidWhitelist, errata.KindInvalidIPModule, errata.KindInvalidSide, errata.KindInvalidAccount,
		errata.KindInvalidPurpose, errata.KindInvalidRecipient, errata.KindMailRefused,
		errata.KindInvalidIdempotencyKey, errata.KindIdempotencyKeyReused,
		errata.KindTooManyProjects, errata.KindInvalidSlug, errata.KindInvalidPlatform, errata.KindInvalidNoiseRule, errata.KindInvalidContext,
		errata.KindInvalidAlert, errata.KindTooManyAlerts:
		return http.StatusUnprocessableEntity
	default:
		return http.StatusInternalServerError
	}
}
