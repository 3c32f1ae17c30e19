package main

import (
	"fmt"
	"strings"
)

// nativeEvent is one event of about 1 KB in our own JSON. Its problem is one
// of a hundred; its id is fresh in every request.
func nativeEvent(problem int) string {
	return fmt.Sprintf(`{"id":"%s","level":"error","message":"could not charge order %d of customer 4711: connection reset by peer","exception_class":"Payment\\GatewayError%c%c","file":"src/Payment/Gateway.php","line":%d,"request_uri":"/checkout?page=2","request_method":"POST","user_id":%d,"ip":"203.0.113.%d","frames":[%s],"payload":{"cart":{"items":3,"total":"129.90","currency":"EUR"},"flags":["beta","eu"],"note":"%s"}}`,
		placeholder, 1000+problem, 'A'+problem/10, 'a'+problem%10, 40+problem, 1000+problem, problem,
		`{"file":"public/index.php","line":12,"function":"main","in_app":true},{"file":"src/Kernel.php","line":88,"function":"handle","in_app":true},{"file":"src/Payment/Gateway.php","line":42,"function":"charge","in_app":true}`,
		strings.Repeat("lorem ipsum dolor sit amet ", 8))
}

// sentryEnvelope is one event of about 3.5 KB as a Go SDK sends it.
func sentryEnvelope(publicKey string) string {
	var frames []string
	for i := range 12 {
		frames = append(frames, fmt.Sprintf(`{"function":"handler%d","module":"shop/internal/order","abs_path":"/srv/app/internal/order/step%d.go","lineno":%d,"in_app":%t}`, i, i, 20+i, i > 5))
	}
	item := fmt.Sprintf(`{"event_id":"%s%s","level":"error","platform":"go","release":"shop@1.4.2","environment":"production","server_name":"web-1","timestamp":"2026-11-21T03:18:40.608610Z","user":{"id":"1204","ip_address":"203.0.113.9"},"request":{"url":"https://shop.example.test/checkout?page=2&token=abc","method":"POST","headers":{"User-Agent":"Mozilla/5.0 (X11; Linux x86_64)","Content-Type":"application/json","Accept":"*/*"}},"tags":{"feature":"checkout","tier":"gold"},"contexts":{"device":{"arch":"amd64","num_cpu":2},"os":{"name":"linux"},"runtime":{"name":"go","version":"go1.26.8"},"trace":{"span_id":"b2c6896612f0d7ad","trace_id":"4a26014cd67500fbc00344411860d024"}},"modules":{"github.com/getsentry/sentry-go":"v0.50.0","golang.org/x/sys":"v0.47.0","golang.org/x/text":"v0.41.0"},"exception":[{"type":"*errors.errorString","value":"connection refused","stacktrace":{"frames":[%s]}},{"type":"*main.OrderError","value":"load order: order 42 failed","stacktrace":{"frames":[%s]}}]}`,
		placeholder, placeholder, strings.Join(frames[:4], ","), strings.Join(frames, ","))
	return fmt.Sprintf("{\"event_id\":\"%s%s\",\"sent_at\":\"2026-11-21T03:18:40.608881045Z\",\"dsn\":\"http://%s@127.0.0.1/1\",\"sdk\":{\"name\":\"sentry.go\",\"version\":\"0.50.0\"}}\n{\"type\":\"event\",\"length\":%d}\n%s\n",
		placeholder, placeholder, publicKey, len(item), item)
}

// ndjson is n native events, one to a line.
func ndjson(n int) string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = nativeEvent(i % 100)
	}
	return strings.Join(lines, "\n")
}
