package projects

import "slices"

// NoiseSet is a ready set of noise rules. A [Rule] names it by its key and says what is
// done. The events on the log hold the outcome, so that a set may become better with each
// version.
type NoiseSet struct {
	Key   string `json:"key"`
	Title string `json:"title"`
	Rules []Look `json:"rules"`
}

// Look is a rule of a set without its action.
type Look struct {
	Field string `json:"field"`
	Match string `json:"match"`
}

// NoiseSets are all ready sets, not to be changed.
func NoiseSets() []NoiseSet { return noiseSets }

func setKeys() (keys []string) {
	for _, set := range noiseSets {
		keys = append(keys, set.Key)
	}
	return keys
}

// noiseSets match what applications cannot mend. A text that an application of its own
// may have, such as "canceled" alone, is not in them.
var noiseSets = []NoiseSet{
	{"browser-extensions", "Errors of browser extensions and of programs that change pages", slices.Concat(
		looks("file", "chrome-extension://", "moz-extension://", "safari-extension://", "safari-web-extension://", "ms-browser-extension://",
			"webkit-masked-url:", "chrome://", "kaspersky-labs.com/", "127.0.0.1:4001/isrunning"),
		looks("message", "chrome-extension://", "moz-extension://", "safari-extension://", "safari-web-extension://", "webkit-masked-url:",
			"Extension context invalidated", "can't access dead object", "Could not establish connection. Receiving end does not exist",
			"The message port closed before a response was received", "plugin.setSuspendState is not a function",
			"Cannot redefine property: ethereum", "Cannot redefine property: solana",
			"originalCreateNotification", "canvas.contentDocument", "MyApp_RemoveAllHighlights", "variable: ZiteReader", "jigsaw is not defined",
			"ComboSearch is not defined", "atomicFindClose", "fb_xd_fragment", "bmi_SafeAddOnload", "EBCallBackMessageReceived", "_gCrWeb", "conduitPage"),
	)},
	{"crawlers", "Visits of crawlers, previews and watchers", slices.Concat(
		// Not "bot" alone: Cubot makes telephones.
		looks("user_agent", "bot/", "compatible;*bot*http", "Googlebot", "AdsBot-Google", "Mediapartners-Google", "FeedFetcher-Google", "APIs-Google", "GoogleOther",
			"Google-InspectionTool", "Chrome-Lighthouse", "BingPreview", "Yahoo! Slurp", "Baiduspider", "Bytespider", "Sogou web spider", "facebookexternalhit",
			"facebookcatalog", "meta-externalagent", "ia_archiver", "archive.org_bot", "Slackbot", "Slack-ImgProxy", "TelegramBot", "WhatsApp/", "SkypeUriPreview",
			"crawler", "spider/", "Pingdom", "UptimeRobot", "Better Uptime Bot", "AWS Security Scanner", "PTST/"),
		// The checker of links in Outlook.
		looks("message", "Object Not Found Matching Id:"),
	)},
	{"local-hosts", "Events of machines on which somebody develops", slices.Concat(
		looks("ip", "127.0.0.0/8", "::1"),
		looks("file", "://localhost:", "://localhost/", "://*.localhost:", "://*.localhost/", "://127.0.0.1:", "://127.0.0.1/", "://[::1]:", "://[::1]/", "://0.0.0.0:"),
	)},
	{"cancelled-requests", "Requests that their senders gave up", slices.Concat(
		looks("class", "AbortError", "CanceledError", "CancelledError", "CancellationException", "OperationCanceledException", "ClientAbortException", "ClientDisconnect"),
		// Not "The operation was aborted", which goes on "due to timeout".
		looks("message", "context canceled", "AbortError:", "The user aborted a request", "signal is aborted without reason", "Fetch is aborted", "Request aborted",
			"NS_BINDING_ABORTED", "net::ERR_ABORTED", "NSURLErrorDomain*-999", "A task was canceled", "The operation was canceled", "write: broken pipe"),
	)},
}

func looks(field string, matches ...string) (all []Look) {
	for _, match := range matches {
		all = append(all, Look{field, match})
	}
	return all
}
