package access

import (
	"slices"
	"strings"

	errata "github.com/errata-log/errata"
)

// Scope is a permission, "Group/Action". In the list of a key it may also be a
// pattern: "Group/*" for every action of a group, "*" for everything.
type Scope string

// The scopes of the sign-in settings.
const (
	SettingsGetTwoFactor               Scope = "Settings/GetTwoFactor"
	SettingsUpdateTwoFactor            Scope = "Settings/UpdateTwoFactor"
	SettingsGetTwoFactorMethods        Scope = "Settings/GetTwoFactorMethods"
	SettingsGetLocationVerification    Scope = "Settings/GetLocationVerification"
	SettingsUpdateLocationVerification Scope = "Settings/UpdateLocationVerification"
	SettingsGetIPVerification          Scope = "Settings/GetIpVerification"
	SettingsUpdateIPVerification       Scope = "Settings/UpdateIpVerification"
	SettingsGetLocalization            Scope = "Settings/GetLocalization"
	SettingsUpdateLocalization         Scope = "Settings/UpdateLocalization"
	SignInEvaluate                     Scope = "SignIn/Evaluate"
	SignInRecord                       Scope = "SignIn/Record"
)

// The scopes of the error logs.
const (
	ToolsGetErrorLogs      Scope = "Tools/GetErrorLogs"
	ToolsGetErrorLog       Scope = "Tools/GetErrorLog"
	ToolsDeleteErrorLogs   Scope = "Tools/DeleteErrorLogs"
	ToolsClearErrorLogs    Scope = "Tools/ClearErrorLogs"
	ToolsRebuildErrorLogs  Scope = "Tools/RebuildErrorLogs"
	ToolsGetLogSettings    Scope = "Tools/GetLogSettings"
	ToolsUpdateLogSettings Scope = "Tools/UpdateLogSettings"
	ToolsUpdateErrorStatus Scope = "Tools/UpdateErrorStatus"
)

// The scopes of sending events and of running the service. EventsWrite is the
// only scope that an ingest key may hold.
const (
	EventsWrite Scope = "Events/Write"
	KeysManage  Scope = "Keys/Manage"
	// ProjectsRead shows DSNs too, with which events can be sent.
	ProjectsRead   Scope = "Projects/Read"
	ProjectsManage Scope = "Projects/Manage"
	// AlertsRead shows where alerts go: mail addresses, and the URLs of webhooks.
	AlertsRead   Scope = "Alerts/Read"
	AlertsManage Scope = "Alerts/Manage"
	AuditRead    Scope = "Audit/Read"
	OpsRead      Scope = "Ops/Read"
	// OpsReplay lets its holder rebuild the projection from the log.
	OpsReplay Scope = "Ops/Replay"
	// OpsErase lets its holder take a person out of the records for good.
	OpsErase Scope = "Ops/Erase"
	// OpsNodes lets its holder take a node out of the cluster for good.
	OpsNodes Scope = "Ops/Nodes"
)

// Everything is the pattern that covers every scope.
const Everything Scope = "*"

// Scopes are all scopes there are, without the patterns.
var Scopes = []Scope{
	SettingsGetTwoFactor, SettingsUpdateTwoFactor, SettingsGetTwoFactorMethods,
	SettingsGetLocationVerification, SettingsUpdateLocationVerification,
	SettingsGetIPVerification, SettingsUpdateIPVerification,
	SettingsGetLocalization, SettingsUpdateLocalization,
	SignInEvaluate, SignInRecord,
	ToolsGetErrorLogs, ToolsGetErrorLog, ToolsDeleteErrorLogs, ToolsClearErrorLogs,
	ToolsRebuildErrorLogs, ToolsGetLogSettings, ToolsUpdateLogSettings, ToolsUpdateErrorStatus,
	EventsWrite, KeysManage, ProjectsRead, ProjectsManage, AlertsRead, AlertsManage, AuditRead, OpsRead, OpsReplay, OpsErase, OpsNodes,
}

// Covers reports whether holding s, a scope or a pattern, is enough where want
// is needed. want may be a pattern too: only a pattern at least as wide covers it.
func (s Scope) Covers(want Scope) bool {
	if s == want || s == Everything {
		return true
	}
	group, isPattern := strings.CutSuffix(string(s), "/*")
	return isPattern && strings.HasPrefix(string(want), group+"/")
}

// known reports whether s is a scope or a pattern that covers at least one.
func (s Scope) known() bool {
	return slices.Contains(Scopes, s) ||
		s == Everything || strings.HasSuffix(string(s), "/*") && slices.ContainsFunc(Scopes, s.Covers)
}

// kindScopes are the patterns whose scopes a key of the kind may hold.
// Everybody can read an ingest key in a browser or an app, so it can only send.
// An ops key is for monitoring, so it can only read.
var kindScopes = map[Kind][]Scope{
	KindAdmin:  {Everything},
	KindIngest: {EventsWrite},
	KindOps:    {OpsRead, AuditRead},
}

// defaultScopes are taken when a new key names none. An admin key has no
// default: its scopes must be named.
var defaultScopes = map[Kind][]Scope{
	KindIngest: {EventsWrite},
	KindOps:    {OpsRead},
}

// DefaultScopes are the scopes that a new key of the kind gets when it names
// none; nil when it has to name them.
func DefaultScopes(kind Kind) []Scope { return slices.Clone(defaultScopes[kind]) }

// checkScopes returns the scopes of a new key, without repeats. Errors:
// invalid_scope, naming the scope.
func checkScopes(kind Kind, scopes []Scope) ([]Scope, error) {
	if len(scopes) == 0 {
		scopes = defaultScopes[kind]
	}
	if len(scopes) == 0 {
		return nil, errata.Errorf(errata.KindInvalidScope, "Name at least one scope for a key of kind %s.", kind)
	}
	var list []Scope
	for _, scope := range scopes {
		if !scope.known() {
			return nil, errata.Errorf(errata.KindInvalidScope, "There is no such scope; the details name it.").With(map[string]any{"scope": scope})
		}
		if !slices.ContainsFunc(kindScopes[kind], func(may Scope) bool { return may.Covers(scope) }) {
			return nil, errata.Errorf(errata.KindInvalidScope, "A key of kind %s cannot hold %s.", kind, scope).
				With(map[string]any{"scope": scope, "allowed": kindScopes[kind]})
		}
		if !slices.Contains(list, scope) {
			list = append(list, scope)
		}
	}
	return list, nil
}
