package archtest

// Layers is the import table, in the order in which an event goes through the packages.
// CONTRIBUTING.md shows it. A folder without a row is a finding: a new package begins
// with its row. The first row that covers a folder counts.
var Layers = withShared([]Layer{
	{Dir: ".", Is: "the types that all packages share: event, signature, record and its key, what is recorded, kinds of error; no I/O"},
	{Dir: "signature", Is: "the recipe that says which problem an event belongs to: template, place, hash", May: []string{"."}},
	{Dir: "ingest/leaf", Is: "the receiver of ingest nodes: what their hub does, and their keys", May: []string{".", "eventlog", "access", "ingest", "projects"}},
	{Dir: "ingest/...", Is: "from a receiver's draft to facts on the log; one folder for each receiver", May: []string{".", "access", "eventlog", "ingest/...", "internal/failpoint", "internal/httpstatus", "internal/recent", "origin", "projects", "signature"}},
	{Dir: "eventlog", Is: "the log: block codec, group commit, reader, commands", May: []string{".", "internal/failpoint", "internal/made", "internal/ordered", "internal/recent", "logfiles"}},
	{Dir: "projector", Is: "the fold and the one insert; a command over a filter means what lists show, so it asks `query`", May: []string{".", "alerts", "eventlog", "internal/failpoint", "internal/packed", "internal/proc", "internal/spill", "query", "signature"}},
	{Dir: "query", Is: "filters to SQL, list and detail", May: []string{".", "alerts", "internal/packed"}},
	{Dir: "feed", Is: "sends changes of records to its listeners", May: []string{".", "eventlog", "query"}},
	{Dir: "exchange", Is: "what applications exchanged with other systems and asked their databases, while those logs are on", May: []string{".", "access", "ingest/...", "internal/httpstatus", "internal/made", "internal/ordered", "origin"}},
	{Dir: "logcare", Is: "the gaps of the log, what was decided about them, and the repair of a log that is stopped", May: []string{".", "eventlog", "logfiles"}},
	{Dir: "logfiles", Is: "checks and repairs the files in which the embedded NATS keeps a stream", May: []string{"internal/made"}},
	{Dir: "selfcheck", Is: "checks every minute that log and tables agree and every part is whole, and repairs", May: []string{".", "eventlog", "projector", "query"}},
	{Dir: "cluster/records", Is: "carries the tables of one node of a cluster to another that cannot make them from the log any more", May: []string{"datadir", "engine", "migrations", "projector"}},
	{Dir: "cluster", Is: "what the nodes of a cluster tell each other beside the log: how far each is, shared secrets, and who has left", May: []string{".", "datadir", "internal/bucket", "internal/secretfile"}},
	{Dir: "standby", Is: "starts the parts that need ClickHouse, while events are taken already", May: []string{".", "datadir"}},
	{Dir: "stray", Is: "counts messages in our streams that others wrote", May: []string{"."}},
	{Dir: "watchdog", Is: "restarts the log after its disk was full or failed for a while"},
	{Dir: "origin", Is: "the address that a request comes from, also behind proxies", May: []string{"."}},
	{Dir: "access", Is: "API keys and scopes", May: []string{".", "datadir", "internal/bucket"}},
	{Dir: "projects", Is: "what a project is and which ones there are; their facts stand in `settings`", May: []string{".", "access"}},
	{Dir: "settings", Is: "what is configured while the service runs, as facts on the log", May: []string{".", "alerts", "eventlog", "projects", "signin"}},
	{Dir: "audit", Is: "the audit trail, derived from the log and the keys", May: []string{".", "eventlog", "access", "internal/ordered"}},
	{Dir: "signin", Is: "decides, without I/O, what is asked at sign-in beyond the password", May: []string{"."}},
	{Dir: "signin/service", Is: "sign-ins for the API: decisions, outcomes, codes, settings", May: []string{".", "eventlog", "internal/bucket", "signin", "signin/..."}},
	{Dir: "signin/familiar", Is: "known places and addresses", May: []string{".", "eventlog", "signin", "internal/bucket"}},
	{Dir: "signin/challenge", Is: "one-time codes and authenticator apps", May: []string{".", "internal/secretfile", "signin", "internal/bucket"}},
	{Dir: "internal/bucket", Is: "values in NATS that several nodes change"},
	{Dir: "signin/...", Is: "mail and locations", May: []string{".", "signin"}},
	{Dir: "ops", Is: "what an operator uses: status, checks, alarms, figures, retention, replay, imports", May: []string{".", "eventlog", "logcare", "projector", "query", "ingest/legacy"}},
	{Dir: "alerts", Is: "rules and channels, and which events fire which rules; no I/O", May: []string{"."}},
	{Dir: "alerts/render", Is: "a message in the form of each kind of channel; no I/O", May: []string{".", "alerts"}},
	{Dir: "alerts/service", Is: "rules and channels for the API; seals the secrets of channels", May: []string{".", "alerts", "internal/secretfile"}},
	{Dir: "alerts/outbox", Is: "from firings to messages, each of them sent until it arrives", May: []string{".", "alerts", "alerts/post", "alerts/render", "internal/bucket", "internal/pagelink"}},
	{Dir: "alerts/ticker", Is: "says on the log how late it is, for rules that look for quiet projects", May: []string{".", "alerts", "eventlog"}},
	{Dir: "alerts/post", Is: "sends what is rendered, over HTTP and SMTP", May: []string{".", "alerts", "alerts/render", "signin/smtp"}},
	{Dir: "agents", Is: "tools for AI agents (MCP), each of which is a request to the API", May: []string{".", "internal/pagelink", "ingest", "ingest/scrub", "signature"}},
	{Dir: "api/...", Is: "Gin: the route table, binding, answers; `kept` has the answers to requests with an Idempotency-Key, `openapi` the document", May: []string{".", "agents", "alerts", "alerts/outbox", "signin", "signin/challenge", "access", "api/...", "internal/httpstatus", "logcare", "ops", "origin", "projects", "query", "feed", "audit", "ingest/natsin", "internal/nearest"}},
	{Dir: "web", Is: "the page for people: its sources ([web/README.md](web/README.md)) and the built files, which are committed"},
	{Dir: "client/...", Is: "the client for Go applications, and its transport over NATS", May: []string{"client/..."}},
	{Dir: "certs", Is: "the certificates that the service shows, from files or by ACME, replaced while it runs", May: []string{".", "datadir"}},
	{Dir: "engine", Is: "NATS and ClickHouse, embedded or external", May: []string{".", "certs", "datadir", "internal/made", "logfiles"}},
	{Dir: "migrations", Is: "numbered ClickHouse files, streams and buckets"},
	{Dir: "backup", Is: "backups of a running service, and their restore", May: []string{"datadir", "engine", "eventlog", "migrations"}},
	{Dir: "datadir", Is: "the data folder of one service: its lock, and its files that other programs read"},
	{Dir: "app", Is: "knows all others; start and stop", May: []string{
		".", "eventlog", "query", "signin", "access", "settings", "ingest/...",
		"projector", "selfcheck", "logcare", "logfiles", "api/...", "web", "engine", "migrations", "audit", "exchange", "feed", "standby", "ops",
		"backup", "signin/...", "stray", "watchdog", "certs", "cluster", "cluster/records", "datadir", "projects", "alerts/...", "internal/bucket",
	}},
	{Dir: "cmd/errata", Is: "the program, and what answers or looks at this machine", May: []string{".", "agents", "app", "audit", "backup", "certs", "datadir", "ingest/...", "internal/load", "internal/memory", "internal/nearest", "internal/proc", "logcare", "ops", "projector", "signin/geo", "signin/smtp"}},
	{Dir: "cmd/errata-engine", Is: "the embedded ClickHouse"},
	{Dir: "internal/failpoint", Is: "names the moments at which tests crash the service; empty without the build tag `failpoints`"},
	{Dir: "internal/background", Is: "starts, repeats, backs off and stops background work"},
	{Dir: "internal/ordered", Is: "a stream read in order, also while nodes of the cluster die"},
	{Dir: "internal/made", Is: "when a stream was made, which tells one from another; a stream that moves into a cluster keeps it"},
	{Dir: "internal/httpstatus", Is: "the HTTP status of each kind of error, for the API and the receivers", May: []string{"."}},
	{Dir: "internal/nearest", Is: "the name that somebody meant who wrote another one"},
	{Dir: "internal/secretfile", Is: "reads a secret of this machine from a file, and makes it once"},
	{Dir: "internal/pagelink", Is: "where the page shows a thing, for those who send a link", May: []string{"."}},
	{Dir: "internal/packed", Is: "reads and writes the column that holds a whole record", May: []string{"."}},
	{Dir: "internal/recent", Is: "what was worked out for texts a moment ago"},
	{Dir: "internal/spill", Is: "values for which memory has no room, in a file that goes with the process"},
	{Dir: "internal/memory", Is: "sizes the Go heap by the memory that the process may have"},
	{Dir: "internal/load", Is: "sends prebuilt requests as fast as a server answers, and the null sink; for benchmarks"},
	{Dir: "internal/proc", Is: "what Linux says about processors and processes; for benchmarks and the pace of inserts"},
	{Dir: "internal/archtest", Is: "this table and the other house rules, as tests"},
	{Dir: "deploy", Is: "images, unit, Kubernetes, engine configuration, emitters of one file"},
	{Dir: "deploy/image", Is: "makes the container image of a release, for all its platforms"},
	{Dir: "deploy/kubetest", Is: "renders what there is for Kubernetes, and checks it; a module of its own"},
	{Dir: "deploy/sbom", Is: "lists what is in the built programs, as CycloneDX"},
	{Dir: "test/testenv", Is: "engines for tests", May: []string{".", "engine", "migrations"}},
	{Dir: "test/openapitest", Is: "compares every answer in a test with the OpenAPI document", May: []string{".", "api/openapi", "internal/httpstatus"}},
	{Dir: "test/querytest", Is: "fills tables for tests of lists", May: []string{".", "query"}},
	{Dir: "test/servicetest", Is: "a whole service for a test", May: []string{"app", "datadir", "test/openapitest", "test/testenv"}},
	{Dir: "test/certtest", Is: "certificates for tests"},
	{Dir: "test/smtptest", Is: "a mail server for tests", May: []string{"signin/smtp"}},
	{Dir: "test/...", Is: "tests of the whole service, the gate and the benchmarks", May: []string{"..."}},
})

// withShared lets the packages of the service import internal/background. The root and
// the packages for applications have no work in the background.
func withShared(layers []Layer) []Layer {
	for i, layer := range layers {
		if layer.Dir != "." && layer.Dir != "client/..." && layer.Dir != shared {
			layers[i].May = append(layers[i].May, shared)
		}
	}
	return layers
}

// shared is what most packages may import.
const shared = "internal/background"
