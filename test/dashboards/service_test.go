package dashboards

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/test/servicetest"
	"github.com/errata-log/errata/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// patience is far longer than anything here takes.
const patience = 30 * time.Second

// running is a service with data for every panel.
type running struct {
	*servicetest.Service
	t        *testing.T
	instance string
	arrived  chan string // ids of messages of alerts
	rule     string
	before   string // its metrics between the two rounds of traffic
}

// startWithData starts a service, and sends what every panel shows something of, twice:
// rates need two looks at the metrics.
func startWithData(t *testing.T) *running {
	t.Helper()
	r := &running{t: t, arrived: make(chan string, 10)}
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		select {
		case r.arrived <- req.Header.Get("webhook-id"):
		default: // nobody waits for more
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(hook.Close)
	host := strings.TrimPrefix(hook.URL, "http://")
	r.Service = servicetest.Start(t, t.TempDir(), func(o *app.Options) { o.AlertAllowHosts = []string{host} })
	r.instance = strings.TrimPrefix(r.URL, "http://")

	channel := r.make("/api/v1/admin/alerts/channels", `{"name":"hook","kind":"webhook","url":"`+hook.URL+`"}`)
	r.rule = r.make("/api/v1/admin/alerts/rules", `{"name":"all","when":{"new":true,"regressed":true},"to":["`+channel+`"]}`)
	r.send(http.MethodPatch, "/api/v1/admin/projects/1", r.Admin, `{"noise":[{"field":"class","match":"Noise*","action":"drop"}]}`)
	r.traffic()
	r.resolve("FlakyError")
	select {
	case <-r.arrived:
	case <-time.After(patience):
		t.Fatal("no message of an alert has come")
	}
	r.await(`errata_alerts_deliveries_total{state="sent"} 1`)
	r.before = r.metrics()
	r.traffic()
	r.await("errata_events_folded_total 10")
	return r
}

// traffic sends one round of events and sign-ins.
func (r *running) traffic() {
	r.t.Helper()
	events := []string{
		`{"message":"order failed","exception_class":"OrderError","level":"error","user_id":7,"environment":"production","release":"1.0"}`,
		`{"message":"order failed","exception_class":"OrderError","level":"error","user_id":8,"environment":"staging","release":"2.0"}`,
		`{"message":"slow","exception_class":"SlowError","level":"warning"}`,
		`{"message":"it is back","exception_class":"FlakyError","level":"fatal","environment":"production","release":"1.0"}`,
		`{"message":"deadlock","exception_class":"PDOException","type":"database","environment":"production"}`,
		`{"message":"crawler","exception_class":"NoiseError"}`,
	}
	r.send(http.MethodPost, "/api/v1/events", r.Ingest, strings.Join(events, "\n"))
	dsn, err := url.Parse(r.File(r.t, datadir.DSNFile))
	if err != nil {
		r.t.Fatal(err)
	}
	r.do(http.MethodPost, "/api"+dsn.Path+"/envelope/?sentry_key="+dsn.User.Username(), "", "{}\n{\"type\":\"client_report\"}\n"+
		`{"discarded_events":[{"reason":"network_error","category":"error","quantity":3}]}`+
		"\n{\"type\":\"event\"}\n{}") // an event that says nothing
	r.send(http.MethodPost, "/api/v1/sign-in/outcomes", r.Admin, `{"side":"admin","account":"ada","ip":"192.0.2.7","success":true}`)
}

// do sends a request and returns the answer.
func (r *running) do(method, path, key, body string) (status int, answer string) {
	r.t.Helper()
	header := []string{"Content-Type", "application/json"}
	if key != "" {
		header = append(header, "Authorization", "Bearer "+key)
	}
	req, err := servicetest.NewRequest(method, r.URL+path, strings.NewReader(body), header...)
	if err != nil {
		r.t.Fatal(err)
	}
	resp, answer, err := servicetest.Send(r.HTTP, req)
	if err != nil {
		r.t.Fatalf("%s: %v", path, err)
	}
	return resp.StatusCode, answer
}

// send is do for a request that must succeed.
func (r *running) send(method, path, key, body string) string {
	r.t.Helper()
	status, answer := r.do(method, path, key, body)
	if status/100 != 2 {
		r.t.Fatalf("%s %s: %d %s", method, path, status, answer)
	}
	return answer
}

// make makes a thing of the API and returns its id.
func (r *running) make(path, body string) string {
	r.t.Helper()
	var made struct{ Data struct{ ID string } }
	answer := r.send(http.MethodPost, path, r.Admin, body)
	if err := json.Unmarshal([]byte(answer), &made); err != nil || made.Data.ID == "" {
		r.t.Fatalf("%s: %v in %s", path, err, answer)
	}
	return made.Data.ID
}

// resolve waits for the record of a class and says that it is done.
func (r *running) resolve(class string) {
	r.t.Helper()
	r.await("errata_events_folded_total 5")
	var list []struct {
		Signature string `json:"signature"`
	}
	r.GetData(r.t, "/api/v1/admin/tools/logs/errors?exception_class="+class, &list)
	if len(list) != 1 {
		r.t.Fatalf("%d records of %s", len(list), class)
	}
	r.send(http.MethodPost, "/api/v1/admin/tools/logs/errors/status", r.Admin, fmt.Sprintf(`{"signatures":[%q],"status":"resolved"}`, list[0].Signature))
}

func (r *running) metrics() string {
	r.t.Helper()
	return r.Get(r.t, "/metrics")
}

// await polls until the metrics have the line, and returns them.
func (r *running) await(line string) (metrics string) {
	r.t.Helper()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for began := time.Now(); ; <-look.C {
		if metrics = r.metrics(); strings.Contains(metrics, "\n"+line+"\n") {
			return metrics
		}
		if time.Since(began) > patience {
			r.t.Fatalf("the metrics have no %s:\n%s", line, metrics)
		}
	}
}

// analyst are the options of the user for analysts.
func (r *running) analyst() *clickhouse.Options {
	r.t.Helper()
	options, err := clickhouse.ParseDSN(r.File(r.t, "run/clickhouse-analyst.dsn"))
	if err != nil {
		r.t.Fatal(err)
	}
	return options
}
