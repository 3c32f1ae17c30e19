package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/errata-log/errata/internal/load"
)

// nativeEvent is one event of about 1 KB in our own JSON. Its problem is one
// of a hundred; its id is fresh in every request.
func nativeEvent(problem int) string {
	return fmt.Sprintf(`{"id":"%s","level":"error","message":"could not charge order %d of customer 4711: connection reset by peer","exception_class":"Payment\\GatewayError%c%c","file":"src/Payment/Gateway.php","line":%d,"request_uri":"/checkout?page=2","request_method":"POST","user_id":%d,"ip":"203.0.113.%d","frames":[%s],"payload":{"cart":{"items":3,"total":"129.90","currency":"EUR"},"flags":["beta","eu"],"note":"%s"}}`,
		load.Number, 1000+problem, 'A'+problem/10, 'a'+problem%10, 40+problem, 1000+problem, problem,
		`{"file":"public/index.php","line":12,"function":"main","in_app":true},{"file":"src/Kernel.php","line":88,"function":"handle","in_app":true},{"file":"src/Payment/Gateway.php","line":42,"function":"charge","in_app":true}`,
		strings.Repeat("lorem ipsum dolor sit amet ", 8))
}

// sentryEnvelope is one event of about 3.5 KB as a Go SDK sends it.
func sentryEnvelope(publicKey string) string {
	at := time.Date(2026, 11, 21, 3, 18, 40, 608_610_000, time.UTC)
	return load.Envelope("http://"+publicKey+"@127.0.0.1/1", at, "")
}

// ndjson is n native events, one to a line.
func ndjson(n int) string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = nativeEvent(i % 100)
	}
	return strings.Join(lines, "\n")
}
