package load

import (
	"fmt"
	"strings"
	"time"
)

// Envelope is one event of about 3.5 KB as a Go SDK sends it to the DSN at that time,
// with places for its id. problem is "", or [Problem]: it stands in class, message and
// function, so that servers see different problems whichever they compare.
func Envelope(dsn string, at time.Time, problem string) string {
	frame := func(i int, problem string) string {
		return fmt.Sprintf(`{"function":"handler%d%s","module":"shop/internal/order","abs_path":"/srv/app/internal/order/step%d.go","lineno":%d,"in_app":%t}`, i, problem, i, 20+i, i > 5)
	}
	var frames []string
	for i := range 11 {
		frames = append(frames, frame(i, ""))
	}
	frames = append(frames, frame(11, problem))
	message := "load order: order 42 failed"
	if problem != "" {
		message += " in " + problem
	}
	at = at.UTC()
	item := fmt.Sprintf(`{"event_id":"%s","level":"error","platform":"go","release":"shop@1.4.2","environment":"production","server_name":"web-1","timestamp":"%s","user":{"id":"1204","ip_address":"203.0.113.9"},"request":{"url":"https://shop.example.test/checkout?page=2&token=abc","method":"POST","headers":{"User-Agent":"Mozilla/5.0 (X11; Linux x86_64)","Content-Type":"application/json","Accept":"*/*"}},"tags":{"feature":"checkout","tier":"gold"},"contexts":{"device":{"arch":"amd64","num_cpu":2},"os":{"name":"linux"},"runtime":{"name":"go","version":"go1.26.8"},"trace":{"span_id":"b2c6896612f0d7ad","trace_id":"4a26014cd67500fbc00344411860d024"}},"modules":{"github.com/getsentry/sentry-go":"v0.50.0","golang.org/x/sys":"v0.47.0","golang.org/x/text":"v0.41.0"},"exception":[{"type":"*errors.errorString","value":"connection refused","stacktrace":{"frames":[%s]}},{"type":"*main.OrderError%s","value":"%s","stacktrace":{"frames":[%s]}}]}`,
		EventID, at.Format("2006-01-02T15:04:05.000000Z07:00"), strings.Join(frames[:4], ","), problem, message, strings.Join(frames, ","))
	return fmt.Sprintf("{\"event_id\":\"%s\",\"sent_at\":\"%s\",\"dsn\":\"%s\",\"sdk\":{\"name\":\"sentry.go\",\"version\":\"0.50.0\"}}\n{\"type\":\"event\",\"length\":%d}\n%s\n",
		EventID, at.Format("2006-01-02T15:04:05.000000000Z07:00"), dsn, len(item), item)
}

// EnvelopeHeader are the fields with which a Go SDK sends an envelope.
func EnvelopeHeader(publicKey string) [][2]string {
	return [][2]string{
		{"X-Sentry-Auth", "Sentry sentry_version=7, sentry_client=sentry.go/0.50.0, sentry_key=" + publicKey},
		{"Content-Type", "application/x-sentry-envelope"},
	}
}
