package servicetest

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/test/openapitest"
	"github.com/errata-log/errata/test/testenv"
)

// StartTimeout is far longer than any start takes.
const StartTimeout = 60 * time.Second

// Service is a running service, as its users see it.
type Service struct {
	// URL is its address, and Data its data folder.
	URL, Data string
	// HTTP sends requests and compares the answers with the OpenAPI document.
	HTTP *http.Client
	// Admin and Ingest are the keys of the first start.
	Admin, Ingest string
	// Stop ends the service and returns the error of its Run. It may be called
	// again.
	Stop func() error
}

// Start runs a service in a folder until the test ends. The folder may hold the
// data of an earlier service. The test fails when the service logs an error.
func Start(t testing.TB, data string, configure ...func(*app.Options)) *Service {
	t.Helper()
	journal := &Journal{}
	testenv.Seed(t, data)
	o := Options(data, testenv.EngineBinary(t), journal)
	for _, c := range configure {
		c(&o)
	}
	ctx, cancel := context.WithTimeout(t.Context(), StartTimeout)
	defer cancel()
	a, err := app.New(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	s := &Service{URL: a.Welcome().URL, Data: data, HTTP: NewHTTP()}
	s.HTTP.Transport = openapitest.Transport(t, s.HTTP.Transport)
	s.Admin, s.Ingest = s.File(t, datadir.AdminKeyFile), s.File(t, datadir.IngestKeyFile)
	s.Stop = run(a, s.HTTP)
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("run: %v", err)
		}
		journal.Check(t)
	})
	return s
}

// File is the text of a file below the data folder.
func (s *Service) File(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.Data, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// Options are the options of every service in tests; log gets warnings and
// errors.
func Options(data, engine string, log io.Writer) app.Options {
	o := app.DefaultOptions()
	o.Data = data
	o.Listen = "127.0.0.1:0"
	o.EngineBinary = engine
	o.LogMaxBytes = 256 << 20
	o.AdminRateLimit = 0                                  // the tests ask often,
	o.KeyEventsPerMinute, o.ProjectEventsPerMinute = 0, 0 // send much,
	o.NewRecordsPerHour = 0                               // and begin with an empty log
	o.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return o
}

// run serves until the returned function is called.
func run(a *app.App, client *http.Client) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }() // ends with stop
	return sync.OnceValue(func() error {
		cancel()
		client.CloseIdleConnections()
		err := <-ended
		client.CloseIdleConnections()
		return err
	})
}
