package openapitest_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/errata-log/errata/test/openapitest"
)

// senders are the files that contain the path of a receiver: the Go client, the
// emitters and the page cannot share a constant.
var senders = []string{"client/dsn.go", "deploy/emitters/errata.mjs", "deploy/emitters/errata.php", "web/src/lib/snippets.ts"}

// receiverPath finds such a path. Its project is an expression of the file's
// language, where the document has {project}.
var receiverPath = regexp.MustCompile(`/api/(v1/[a-z/]+[a-z]|(\$\{.+?\}|\$m\[\d\])/(?:envelope|store)/)`)

// TestSendersKnowTheReceivers: the OpenAPI document is the one list of paths. It
// has every path that a sender uses; another test compares it with the routes.
func TestSendersKnowTheReceivers(t *testing.T) {
	contract, err := openapitest.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range senders {
		text, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		found := receiverPath.FindAllStringSubmatch(string(text), -1)
		if len(found) == 0 {
			t.Errorf("%s: no path of a receiver was found", name)
		}
		for _, match := range found {
			path := match[0]
			if match[2] != "" {
				path = strings.Replace(path, match[2], "{project}", 1)
			}
			if contract.Spec.Paths.Value(path) == nil {
				t.Errorf("%s: the document has no path %s", name, path)
			}
		}
	}
}
