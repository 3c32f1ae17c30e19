package api

import (
	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
)

// Route is one line of the route table.
type Route struct {
	Method    string
	Path      string // with :parameters, and a *parameter for the rest
	Admission Admission
	// Scope is what a key must hold; "" on routes that are open or take any key.
	Scope access.Scope
	// Reach is what the route does for a key that is limited to projects.
	Reach Reach
}

// Admission says who may use a route.
type Admission string

// The admissions.
const (
	// AdmitByScope lets in keys that hold the route's scope.
	AdmitByScope Admission = "scope"
	// AdmitAll lets everybody in.
	AdmitAll Admission = "open"
	// AdmitAnyKey lets in every working key except ingest keys: everybody can
	// read those in an application.
	AdmitAnyKey Admission = "any key"
	// AdmitLocal lets in programs on this machine without a key, and others
	// like AdmitByScope.
	AdmitLocal Admission = "local"
)

// handler makes one call and returns the answer.
type handler func(*call) (answer, error)

// route is a line of the table with its handler.
type route struct {
	Route
	handle handler
	// quiet keeps probes that come every few seconds out of the log.
	quiet bool
	// query has the query parameters that the route knows. When strict, it refuses
	// all others.
	query  []string
	strict bool
}

const (
	admin = "/api/v1/admin"
	// signIn is for the applications that people sign in to.
	signIn = "/api/v1/sign-in"
)

// Short names of the reaches, for the table.
const (
	reads   = ReachReads
	changes = ReachChanges
	whole   = ReachService
	free    = ReachOpen
)

// routes is the one table of what exists and who may use it.
//
// long: it is a table.
func (s *service) routes() []route {
	return []route{
		s.open("GET", "/", s.index),
		quiet(s.open("GET", "/assets/*name", s.asset)),
		quiet(s.open("POST", "/api/v1/csp-reports", s.reportPolicy)),
		s.open("GET", admin+"/ping", s.ping),
		s.open("GET", "/api/v1/openapi.json", file(s.files.Document)),
		s.open("GET", "/api/v1/docs", file(s.files.Page)),
		s.open("GET", "/api/v1/docs/explorer.js", file(s.files.Script)),
		s.open("GET", "/api/v1/docs/explorer.css", file(s.files.Style)),
		quiet(s.open("GET", "/healthz", s.healthz)),
		quiet(s.open("GET", "/readyz", s.readyz)),
		quiet(s.local("GET", "/metrics", access.OpsRead, whole, s.metrics)),
		s.anyKey("GET", admin+"/whoami", reads, s.whoami),
		s.anyKey("POST", "/mcp", changes, s.askAgents),
		s.scoped("GET", admin+"/ops/status", access.OpsRead, whole, s.opsStatus),
		s.scoped("POST", admin+"/ops/replay", access.OpsReplay, whole, withBody(s.replay)),
		s.scoped("GET", admin+"/ops/replay", access.OpsReplay, whole, s.replaying),
		s.scoped("GET", admin+"/ops/log", access.OpsRead, whole, s.logState),
		s.scoped("POST", admin+"/ops/log/verify", access.OpsReplay, whole, s.verifyLog),
		s.scoped("POST", admin+"/ops/log/accept", access.OpsReplay, whole, withBody(s.acceptGaps)),
		s.scoped("POST", admin+"/ops/nodes/leave", access.OpsNodes, whole, withBody(s.leave)),
		s.scoped("POST", admin+"/ops/erase", access.OpsErase, whole, withBody(s.erase)),
		s.scoped("GET", admin+"/ops/dead", access.OpsReplay, whole, s.listLetters),
		s.scoped("POST", admin+"/ops/dead/replay", access.OpsReplay, whole, s.replayLetters),
		s.scoped("POST", admin+"/ops/dead/drop", access.OpsReplay, whole, s.dropLetters),

		s.scoped("GET", admin+"/keys", access.KeysManage, reads, s.listKeys),
		s.scoped("POST", admin+"/keys", access.KeysManage, changes, withBody(s.createKey)),
		s.scoped("DELETE", admin+"/keys/:id", access.KeysManage, changes, s.revokeKey),

		s.scoped("GET", admin+"/noise-sets", access.ProjectsRead, free, s.listNoiseSets),
		s.scoped("GET", admin+"/projects", access.ProjectsRead, reads, s.listProjects),
		s.scoped("POST", admin+"/projects", access.ProjectsManage, whole, withBody(s.createProject)),
		s.scoped("GET", admin+"/projects/:project", access.ProjectsRead, reads, s.getProject),
		s.scoped("PATCH", admin+"/projects/:project", access.ProjectsManage, changes, withBody(s.updateProject)),

		s.scoped("GET", admin+"/alerts/rules", access.AlertsRead, whole, s.listRules),
		s.scoped("POST", admin+"/alerts/rules", access.AlertsManage, whole, withBody(s.createRule)),
		s.scoped("POST", admin+"/alerts/rules/preview", access.AlertsManage, whole, withBody(s.previewRule)),
		s.scoped("PATCH", admin+"/alerts/rules/:id", access.AlertsManage, whole, withBody(s.updateRule)),
		s.scoped("DELETE", admin+"/alerts/rules/:id", access.AlertsManage, whole, s.deleteRule),
		s.scoped("POST", admin+"/alerts/rules/:id/test", access.AlertsManage, whole, s.testRule),
		s.scoped("GET", admin+"/alerts/channels", access.AlertsRead, whole, s.listChannels),
		s.scoped("POST", admin+"/alerts/channels", access.AlertsManage, whole, withBody(s.createChannel)),
		s.scoped("PATCH", admin+"/alerts/channels/:id", access.AlertsManage, whole, withBody(s.updateChannel)),
		s.scoped("DELETE", admin+"/alerts/channels/:id", access.AlertsManage, whole, s.deleteChannel),
		s.scoped("POST", admin+"/alerts/channels/:id/test", access.AlertsManage, whole, s.testChannel),
		s.scoped("GET", admin+"/alerts/deliveries", access.AlertsRead, whole, s.listDeliveries),

		s.scoped("GET", admin+"/audit", access.AuditRead, whole, s.listAudit),
		s.scoped("GET", admin+"/audit/verify", access.AuditRead, whole, s.verifyAudit),

		s.scoped("GET", admin+"/settings/security/two-factor", access.SettingsGetTwoFactor, whole, setting(SecuritySettings.ReadTwoFactor)),
		s.scoped("PUT", admin+"/settings/security/two-factor", access.SettingsUpdateTwoFactor, whole, changedSetting(SecuritySettings.UpdateTwoFactor)),
		s.scoped("GET", admin+"/settings/security/two-factor/methods", access.SettingsGetTwoFactorMethods, whole, setting(SecuritySettings.ReadMethods)),
		s.scoped("GET", admin+"/settings/security/location-verification", access.SettingsGetLocationVerification, whole, setting(SecuritySettings.ReadLocation)),
		s.scoped("PUT", admin+"/settings/security/location-verification", access.SettingsUpdateLocationVerification, whole, changedSetting(SecuritySettings.UpdateLocation)),
		s.scoped("GET", admin+"/settings/security/ip-verification", access.SettingsGetIPVerification, whole, setting(SecuritySettings.ReadAddresses)),
		s.scoped("PUT", admin+"/settings/security/ip-verification", access.SettingsUpdateIPVerification, whole, withBody(s.updateAddresses)),
		s.scoped("GET", admin+"/settings/localization", access.SettingsGetLocalization, whole, setting(SecuritySettings.ReadLocalization)),
		s.scoped("PUT", admin+"/settings/localization", access.SettingsUpdateLocalization, whole, changedSetting(SecuritySettings.UpdateLocalization)),
		s.scoped("POST", admin+"/settings/mail/test", access.SettingsUpdateTwoFactor, whole, withBody(s.sendTestMail)),

		s.scoped("POST", signIn+"/challenges", access.SignInEvaluate, whole, challenged(s.sendChallenge)),
		s.scoped("POST", signIn+"/challenges/:id/verify", access.SignInEvaluate, whole, challenged(s.verifyChallenge)),
		s.scoped("POST", signIn+"/authenticators", access.SignInEvaluate, whole, challenged(s.enrolAuthenticator)),
		s.scoped("POST", signIn+"/authenticators/confirm", access.SignInEvaluate, whole, askAuthenticator(Challenges.Confirm)),
		s.scoped("POST", signIn+"/authenticators/verify", access.SignInEvaluate, whole, askAuthenticator(Challenges.VerifyApp)),
		s.scoped("DELETE", signIn+"/authenticators", access.SignInEvaluate, whole, challenged(s.removeAuthenticator)),

		s.scoped("POST", "/api/v1/sign-in/evaluate", access.SignInEvaluate, whole, withBody(s.evaluateSignIn)),
		s.scoped("POST", "/api/v1/sign-in/outcomes", access.SignInRecord, whole, withBody(s.recordSignIn)),

		s.scoped("GET", admin+"/tools/logs/errors", access.ToolsGetErrorLogs, reads, s.listErrors),
		s.scoped("GET", admin+"/tools/logs/errors/trends", access.ToolsGetErrorLogs, reads, s.getTrends),
		s.scoped("GET", admin+"/tools/logs/errors/stream", access.ToolsGetErrorLogs, reads, s.streamErrors),
		s.scoped("GET", admin+"/tools/logs/overview", access.ToolsGetErrorLogs, reads, s.getOverview),
		s.scoped("GET", admin+"/tools/logs/errors/:signature", access.ToolsGetErrorLog, reads, s.getError),
		s.scoped("GET", admin+"/tools/logs/errors/:signature/trend", access.ToolsGetErrorLog, reads, s.getTrend),
		s.scoped("GET", admin+"/tools/logs/errors/:signature/trend/releases", access.ToolsGetErrorLog, reads, s.getReleaseTrend),
		s.scoped("GET", admin+"/tools/logs/errors/:signature/occurrences", access.ToolsGetErrorLog, reads, s.listOccurrences),
		s.scoped("GET", admin+"/tools/logs/errors/:signature/occurrences/:position", access.ToolsGetErrorLog, reads, s.getOccurrence),
		s.scoped("GET", admin+"/tools/logs/errors/:signature/facets", access.ToolsGetErrorLog, reads, s.getFacets),
		s.scoped("GET", admin+"/tools/logs/occurrences/:event_id", access.ToolsGetErrorLog, reads, s.getEvent),
		s.scoped("DELETE", admin+"/tools/logs/errors", access.ToolsDeleteErrorLogs, changes, withBody(s.deleteErrors)),
		s.scoped("POST", admin+"/tools/logs/errors/cleanup", access.ToolsClearErrorLogs, changes, withBody(s.cleanupErrors)),
		s.scoped("POST", admin+"/tools/logs/errors/cleanup/preview", access.ToolsClearErrorLogs, reads, withBody(s.previewCleanup)),
		s.scoped("POST", admin+"/tools/logs/errors/status", access.ToolsUpdateErrorStatus, changes, withBody(s.moveErrors)),
		s.scoped("POST", admin+"/tools/logs/errors/rebuild", access.ToolsRebuildErrorLogs, whole, s.rebuild),
		s.scoped("GET", admin+"/tools/logs/errors/rebuild", access.ToolsRebuildErrorLogs, whole, s.rebuilding),
		s.scoped("GET", admin+"/tools/logs/settings", access.ToolsGetLogSettings, free, s.readLogSettings),
		s.scoped("PUT", admin+"/tools/logs/settings", access.ToolsUpdateLogSettings, whole, withBody(s.updateLogSettings)),
	}
}

func (s *service) open(method, path string, h handler) route {
	return route{Route: Route{Method: method, Path: path, Admission: AdmitAll, Reach: ReachOpen}, handle: h}
}

func (s *service) scoped(method, path string, scope access.Scope, reach Reach, h handler) route {
	return route{Route: Route{Method: method, Path: path, Admission: AdmitByScope, Scope: scope, Reach: reach}, handle: h}
}

func (s *service) anyKey(method, path string, reach Reach, h handler) route {
	return route{Route: Route{Method: method, Path: path, Admission: AdmitAnyKey, Reach: reach}, handle: h}
}

func (s *service) local(method, path string, scope access.Scope, reach Reach, h handler) route {
	return route{Route: Route{Method: method, Path: path, Admission: AdmitLocal, Scope: scope, Reach: reach}, handle: h}
}

func quiet(r route) route {
	r.quiet = true
	return r
}

func notImplemented(*call) (answer, error) {
	return answer{}, errata.Errorf(errata.KindNotImplemented, "This version of Errata does not offer this endpoint yet.")
}

// noRoute answers paths that are not in the table.
var noRoute = route{
	Route: Route{Path: "(none)", Admission: AdmitAll, Reach: ReachOpen},
	handle: func(*call) (answer, error) {
		return answer{}, errata.Errorf(errata.KindNotFound, "There is nothing under this path; GET / lists where to begin.")
	},
}

// noMethod answers methods that a path of the table does not take.
func (s *service) noMethod() route {
	return route{Route: Route{Path: "(none)", Admission: AdmitAll, Reach: ReachOpen}, handle: s.refuseMethod}
}
