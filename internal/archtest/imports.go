package archtest

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Layer is one row of the import table: which of our own packages the product code of a
// folder may import. Tests may import any package; a [Guard] keeps test code out of the
// product.
type Layer struct {
	// Dir is the folder; "x/..." is everything below x as well.
	Dir string
	// Is says in a line what the folder is for.
	Is string
	// May are the folders it may import, in the same notation.
	May []string
}

// Guard allows an import in some folders only.
type Guard struct {
	// Import is an import path, with all paths below it.
	Import string
	// In are the folders whose product code may import it. Test code may too.
	In []string
	// Why is the reason, for the finding.
	Why string
}

const (
	nats       = "github.com/nats-io/nats.go"
	natsServer = "github.com/nats-io/nats-server/v2"
	clickhouse = "github.com/ClickHouse/clickhouse-go/v2"
)

// Guards says which folders may import the large libraries.
var Guards = []Guard{
	{"github.com/gin-gonic/gin", []string{"api/...", "internal/load"}, "the receivers are plain http.Handlers, only the API knows Gin, and the null sink, which is the same kind of server"},
	{nats, []string{"eventlog", "api/kept", "ingest/natsin", "ingest/leaf", "settings", "access", "audit", "exchange", "alerts/outbox", "cluster", "cluster/records", "engine", "migrations", "app", "test/testenv", "internal/bucket", "internal/ordered", "client/natstransport"}, "JetStream is reached through eventlog, api/kept, ingest/natsin, ingest/leaf, settings, access, audit, exchange, alerts/outbox, cluster, cluster/records, internal/bucket and internal/ordered, by applications through client/natstransport"},
	{natsServer, []string{"engine", "test/testenv", "test/gate"}, "only engine runs servers, and the gate those that it freezes"},
	{clickhouse, []string{"projector", "exchange", "query", "selfcheck", "engine", "migrations", "test/testenv"}, "the projector writes ClickHouse, query reads it and selfcheck looks after its parts, nobody else"},
	{"github.com/ebitengine/purego", []string{"cmd/errata-engine"}, "purego makes a binary dynamically linked, and the main binary stays static"},
	{"github.com/modelcontextprotocol/go-sdk", []string{"agents"}, "only agents speaks the Model Context Protocol"},
	{"net/http", []string{"agents", "alerts/post", "api/...", "app", "certs", "client/...", "cmd/errata", "exchange", "ingest/...", "internal/httpstatus", "internal/load", "test/openapitest", "test/servicetest", "origin", "web"}, "HTTP belongs to the API, the receivers and what posts alerts; the root and what decides know kinds of error, not statuses"},
	{"golang.org/x/crypto/acme", []string{"certs"}, "only certs asks an ACME server for certificates"},
	{"testing", []string{"test/servicetest", "test/certtest", "test/smtptest", "test/testenv"}, "test code stays out of the product"},
	{"github.com/wneessen/go-mail", []string{"signin/smtp"}, "mail is sent by signin/smtp only"},
	{"github.com/oschwald/maxminddb-golang", []string{"signin/geo"}, "only signin/geo reads location databases"},
	{"github.com/cenkalti/backoff", []string{"internal/background"}, "pauses between tries are those of internal/background"},
	{"github.com/pquerna/otp", []string{"signin/challenge"}, "only signin/challenge knows authenticator apps"},
	{"github.com/maxmind/mmdbwriter", nil, "test code stays out of the product"},
	{"pgregory.net/rapid", nil, "test code stays out of the product"},
	{"github.com/anishathalye/porcupine", nil, "test code stays out of the product"},
	{"go.uber.org/goleak", []string{"test/testenv"}, "test code stays out of the product"},
	{"github.com/getkin/kin-openapi", []string{"test/openapitest"}, "test code stays out of the product"},
	{"github.com/santhosh-tekuri/jsonschema/v6", []string{"test/openapitest"}, "test code stays out of the product"},
	{"github.com/CycloneDX/cyclonedx-go", []string{"deploy/sbom"}, "only deploy/sbom writes what is in the programs"},
	{"github.com/opencontainers", []string{"deploy/image"}, "only deploy/image makes an image"},
	{"golang.org/x/crypto/x509roots", []string{"deploy/image"}, "the service trusts the authorities of its system"},
	{"github.com/google/licensecheck", []string{"deploy/sbom"}, "only deploy/sbom reads licences"},
	{"github.com/google/go-cmp", nil, "test code stays out of the product"},
	{"github.com/testcontainers/testcontainers-go", []string{"test/testenv"}, "test code stays out of the product"},
	{"github.com/getsentry/sentry-go", nil, "the service never reports through an SDK, it is what SDKs report to"},
	{"github.com/getsentry/raven-go", nil, "the service never reports through an SDK, it is what SDKs report to"},
	{"github.com/pkg/errors", nil, "the service has errors of its own; only clients in tests wrap theirs with it"},
	{"github.com/hanwen/go-fuse/v2", []string{"test/gate/disk"}, "only the gate makes a disk that can lose power"},
	{"go.opentelemetry.io", nil, "the service reads OTLP by itself, it is what exporters report to"},
}

// Imports checks the tree against the table and the guards.
func Imports(t *Tree, layers []Layer, guards []Guard) []string {
	var found []string
	unknown := map[string]bool{}
	for _, file := range t.Go {
		layer, ok := layerOf(file.Dir, layers)
		if !ok && !unknown[file.Dir] {
			unknown[file.Dir] = true
			found = append(found, fmt.Sprintf("%s: the folder is not in the import table; say there what it may import", file.Dir))
		}
		if file.Test {
			continue
		}
		for _, spec := range file.AST.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				continue // the parser has checked it
			}
			if dir, ours := t.ours(imported); ours {
				if ok && !anyMatch(layer.May, dir) {
					found = append(found, fmt.Sprintf("%s: %s imports %s, and the import table does not let it", t.at(spec.Pos()), file.Dir, dir))
				}
				continue
			}
			for _, guard := range guards {
				if within(imported, guard.Import) && !anyMatch(guard.In, file.Dir) {
					found = append(found, fmt.Sprintf("%s: %s imports %s: %s", t.at(spec.Pos()), file.Dir, imported, guard.Why))
				}
			}
		}
	}
	return found
}

// ours is the folder of an import path of this module.
func (t *Tree) ours(imported string) (dir string, ok bool) {
	if imported == t.Module {
		return ".", true
	}
	return strings.CutPrefix(imported, t.Module+"/")
}

func layerOf(dir string, layers []Layer) (Layer, bool) {
	i := slices.IndexFunc(layers, func(l Layer) bool { return match(l.Dir, dir) })
	if i < 0 {
		return Layer{}, false
	}
	return layers[i], true
}

func anyMatch(patterns []string, dir string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return match(p, dir) })
}

// match says whether dir is the pattern's folder, or is below it where the pattern ends
// in "...".
func match(pattern, dir string) bool {
	if pattern == "..." {
		return true
	}
	if base, below := strings.CutSuffix(pattern, "/..."); below {
		return within(dir, base)
	}
	return path.Clean(pattern) == dir
}

// within says whether name is base or lies below it.
func within(name, base string) bool {
	return name == base || strings.HasPrefix(name, base+"/")
}
