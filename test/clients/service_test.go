package clients

import (
	"bufio"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/test/servicetest"
)

// never is far longer than any wait here.
const never = 60 * time.Second

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// service is a running service that removes the repository's root from file
// names.
type service struct {
	*servicetest.Service
	own string // how the names of the application's files begin
}

func start(t *testing.T, configure ...func(*app.Options)) *service {
	t.Helper()
	_, file, _, _ := runtime.Caller(0)
	root := filepath.Dir(filepath.Dir(filepath.Dir(file)))
	configure = append(configure, func(o *app.Options) { o.InstallRoots = []string{root} })
	return &service{own: "test/clients/", Service: servicetest.Start(t, filepath.Join(t.TempDir(), "data"), configure...)}
}

// row is a record as the list shows it; detail adds the payload.
type row struct {
	ID        uint64  `json:"id"`
	Signature string  `json:"signature"`
	Type      string  `json:"type"`
	Level     string  `json:"level"`
	Count     uint64  `json:"count"`
	File      string  `json:"file"`
	Line      int     `json:"line"`
	Message   string  `json:"message_preview"`
	Class     string  `json:"exception_class"`
	URI       string  `json:"request_uri"`
	Method    string  `json:"request_method"`
	UserID    int64   `json:"user_id"`
	IP        string  `json:"ip"`
	Payload   payload `json:"payload"`
}

type payload struct {
	Source      string            `json:"source"`
	EventID     string            `json:"event_id"`
	Message     string            `json:"message"`
	Exceptions  []exception       `json:"exceptions"`
	Handled     *bool             `json:"handled"`
	Release     string            `json:"release"`
	Environment string            `json:"environment"`
	ServerName  string            `json:"server_name"`
	SDK         string            `json:"sdk"`
	Platform    string            `json:"platform"`
	TraceID     string            `json:"trace_id"`
	Tags        map[string]string `json:"tags"`
	User        string            `json:"user"`
	Breadcrumbs []breadcrumb      `json:"breadcrumbs"`
	Extra       extra             `json:"extra"`
}

// extra are the fields that the package client adds to an event in plain JSON.
type extra struct {
	Handled     *bool       `json:"handled"`
	Release     string      `json:"release"`
	Environment string      `json:"environment"`
	SDK         string      `json:"sdk"`
	Chain       []exception `json:"chain"`
}

type exception struct {
	Class   string  `json:"class"`
	Message string  `json:"message"`
	Frames  []frame `json:"frames"`
}

type frame struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Function string `json:"function"`
	InApp    bool   `json:"in_app"`
	Context  string `json:"context"`
}

type breadcrumb struct {
	Category string `json:"category"`
	Message  string `json:"message"`
}

const listPath = "/api/v1/admin/tools/logs/errors"

// records are all records, oldest first, when everything that was answered is in
// the list.
func (s *service) records(t *testing.T) []row {
	t.Helper()
	s.settle(t)
	var list []row
	s.GetData(t, listPath+"?order=id&direction=asc&limit=100", &list)
	for i := range list {
		var detail struct{ row }
		s.GetData(t, listPath+"/"+list[i].Signature+"?type="+list[i].Type, &detail)
		list[i] = detail.row
	}
	return list
}

// settle waits until everything that was answered is in the list.
func (s *service) settle(t *testing.T) {
	t.Helper()
	s.await(t, func(sums map[string]float64) bool {
		done := sums["errata_events_folded_total"] + sums["errata_events_duplicate_total"]
		return sums["errata_log_events_appended_total"] <= done // events from a queue are not included
	})
}

// await waits until the service's metrics have the wanted values.
func (s *service) await(t *testing.T, done func(sums map[string]float64) bool) {
	t.Helper()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	late := time.After(never)
	for {
		sums := s.metrics(t)
		if done(sums) {
			return
		}
		select {
		case <-poll.C:
		case <-late:
			t.Fatalf("after %v the service is at %v", never, sums)
		}
	}
}

// metrics are the service's samples, summed over their labels.
func (s *service) metrics(t *testing.T) map[string]float64 {
	t.Helper()
	sums := map[string]float64{}
	lines := bufio.NewScanner(strings.NewReader(s.Get(t, "/metrics")))
	for lines.Scan() {
		space := strings.LastIndexByte(lines.Text(), ' ')
		if strings.HasPrefix(lines.Text(), "#") || space < 0 {
			continue
		}
		name, _, _ := strings.Cut(lines.Text()[:space], "{")
		value, err := strconv.ParseFloat(lines.Text()[space+1:], 64)
		if err != nil {
			t.Fatalf("metrics: %q: %v", lines.Text(), err)
		}
		sums[name] += value
	}
	return sums
}

// here is the line of its caller.
func here() int {
	_, _, line, _ := runtime.Caller(1)
	return line
}
