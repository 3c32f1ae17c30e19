package api

import (
	"encoding/json"
	"mime"
	"net/http"
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/origin"
)

// Web is the page for people.
type Web interface {
	// Index answers with the page.
	Index() http.Handler
	// Asset answers with a file that the page loads, nil when there is none.
	Asset(name string) http.Handler
}

// index answers GET /. Browsers get the page; programs, and browsers that ask
// for JSON, get a list of links.
func (s *service) index(c *call) (answer, error) {
	if s.Web != nil {
		c.Writer.Header().Add("Vary", "Accept")
		if wantsPage(c.GetHeader("Accept")) {
			return answer{raw: s.Web.Index()}, nil
		}
	}
	return s.links()
}

// wantsPage reads an Accept header. Programs send none, */* or JSON.
func wantsPage(accept string) bool {
	accept = strings.ToLower(accept)
	return strings.Contains(accept, "text/html") && !strings.Contains(accept, "application/json")
}

// asset is a file that the page loads.
func (s *service) asset(c *call) (answer, error) {
	if s.Web != nil {
		if file := s.Web.Asset(c.Param("name")); file != nil {
			return answer{raw: file}, nil
		}
	}
	return answer{}, errata.Errorf(errata.KindNotFound, "There is no such file; after an upgrade, load the page anew.")
}

const (
	// maxPolicyReport bounds the body of a report. A browser sends about 1 KB,
	// and a few reports at once.
	maxPolicyReport = 16 << 10
	// policyReportRate is how many reports a minute one address may send. A page
	// without a fault causes none; a broken one causes a few for each view.
	policyReportRate = 30
)

// reportPolicy counts the breaches of the page's policy that browsers report.
// It does not keep the reports: anybody can send anything.
func (s *service) reportPolicy(c *call) (answer, error) {
	if wait, ok := s.reportLimits.take(origin.Group(c.client())); !ok {
		return answer{}, tooMany(wait, "Too many reports came from this address.")
	}
	body, err := c.readUpTo(maxPolicyReport)
	if err != nil {
		return answer{}, err
	}
	switch kind, _, _ := mime.ParseMediaType(c.GetHeader("Content-Type")); kind {
	case "application/csp-report", "application/reports+json", "application/json", "":
	default:
		return answer{}, errata.Errorf(errata.KindUnsupportedMediaType, "Send reports as Content-Type: application/csp-report or application/reports+json.")
	}
	var report map[string]json.RawMessage
	var reports []json.RawMessage
	n := 1
	if json.Unmarshal(body, &reports) == nil && len(reports) > 0 {
		n = len(reports)
	} else if json.Unmarshal(body, &report) != nil || report["csp-report"] == nil {
		return answer{}, errata.Errorf(errata.KindInvalidBody, "The body is no report of a Content-Security-Policy.")
	}
	if s.PolicyReports != nil {
		s.PolicyReports.Add(float64(n))
	}
	return answer{raw: noContent}, nil
}

// noContent answers 204.
var noContent = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
