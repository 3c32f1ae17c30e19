package httpstatus_test

import (
	"net/http"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/internal/httpstatus"
)

func TestOf(t *testing.T) {
	for kind, want := range map[errata.Kind]int{
		errata.KindUnauthorized: http.StatusUnauthorized, errata.KindInsufficientScope: http.StatusForbidden,
		errata.KindNotFound: http.StatusNotFound, errata.KindMethodNotAllowed: http.StatusMethodNotAllowed,
		errata.KindInvalidBody: http.StatusBadRequest, errata.KindBodyTooLarge: http.StatusRequestEntityTooLarge,
		errata.KindUnsupportedMediaType: http.StatusUnsupportedMediaType, errata.KindRateLimited: http.StatusTooManyRequests,
		errata.KindStoreUnavailable: http.StatusServiceUnavailable, errata.KindLogUnavailable: http.StatusServiceUnavailable,
		errata.KindLogFull: http.StatusServiceUnavailable, errata.KindNotImplemented: http.StatusNotImplemented,
		errata.KindInvalidEvent: http.StatusUnprocessableEntity, errata.KindSignatureRequired: http.StatusUnprocessableEntity,
		errata.KindProjectArchived: http.StatusForbidden, errata.KindKeyIsLimited: http.StatusForbidden, errata.KindInvalidSlug: http.StatusUnprocessableEntity,
		errata.KindTooManyProjects: http.StatusUnprocessableEntity, errata.KindInvalidNoiseRule: http.StatusUnprocessableEntity,
		errata.KindInternal: http.StatusInternalServerError, "unheard_of": http.StatusInternalServerError,
	} {
		if got := httpstatus.Of(kind); got != want {
			t.Errorf("%s: %d, want %d", kind, got, want)
		}
	}
}
