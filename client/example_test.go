package client_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"github.com/errata-log/errata/client"
)

// printer replaces the service: it takes and prints every event.
func printer() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		accepted := 0
		for lines := bufio.NewScanner(r.Body); lines.Scan(); accepted++ {
			var event struct {
				Level   string         `json:"level"`
				Class   string         `json:"exception_class"`
				Message string         `json:"message"`
				File    string         `json:"file"`
				Payload map[string]any `json:"payload"`
			}
			if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
				fmt.Println(err)
			}
			fmt.Printf("%s %q %q in %s, order %v\n", event.Level, event.Class, event.Message, event.File, event.Payload["order"])
		}
		w.WriteHeader(http.StatusAccepted)
		_, _ = fmt.Fprintf(w, `{"data":{"accepted":%d,"rejected":[],"adjusted":[]}}`, accepted)
	}))
}

// closeSoon gives a client a few seconds to send the waiting events.
func closeSoon(c *client.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := c.Close(ctx); err != nil {
		fmt.Println(err)
	}
}

func Example() {
	service := printer()
	defer service.Close()

	// In an application: client.Options{DSN: os.Getenv("ERRORS_DSN")}.
	ledger, err := client.New(client.Options{URL: service.URL, Key: "the text of an ingest key", Release: "1.4.2"})
	if err != nil {
		fmt.Println(err)
		return // or go on: a nil client does nothing
	}
	defer closeSoon(ledger)

	_, err = os.Open("no such file")
	ledger.Capture(context.Background(), fmt.Errorf("load order: %w", err), client.With("order", 42))
	// Output:
	// error "*fs.PathError" "load order: open no such file: no such file or directory" in client/example_test.go, order 42
}

func ExampleClient_Handler() {
	service := printer()
	defer service.Close()
	ledger, err := client.New(client.Options{URL: service.URL, Key: "KEY"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer closeSoon(ledger)

	log := slog.New(ledger.Handler(client.HandlerOptions{Next: slog.DiscardHandler}))
	log.Info("this goes to the other log only")
	log.Error("payment failed", "order", 42, "err", errors.New("card declined"))
	// Output:
	// error "*errors.errorString" "payment failed: card declined" in client/example_test.go, order 42
}

func ExampleClient_Recover() {
	service := printer()
	defer service.Close()
	ledger, err := client.New(client.Options{URL: service.URL, Key: "KEY"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer closeSoon(ledger)

	func() {
		defer ledger.Recover(context.Background(), client.With("order", 42))
		panic("no more tea")
	}()
	// Output:
	// fatal "panic" "no more tea" in client/example_test.go, order 42
}

func ExampleClient_Middleware() {
	service := printer()
	defer service.Close()
	ledger, err := client.New(client.Options{URL: service.URL, Key: "KEY"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer closeSoon(ledger)

	handler := ledger.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		// The event has the address and the method of the request.
		ledger.Capture(r.Context(), errors.New("out of stock"), client.With("order", 42))
	}))
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/checkout", http.NoBody))
	// Output:
	// error "*errors.errorString" "out of stock" in client/example_test.go, order 42
}

func ExampleOptions_beforeSend() {
	service := printer()
	defer service.Close()
	ledger, err := client.New(client.Options{
		URL: service.URL, Key: "KEY",
		BeforeSend: func(e *client.Event) *client.Event {
			if errors.Is(e.Err, context.Canceled) {
				return nil // the customer went away, which is no error
			}
			e.Extra["order"] = "left out"
			return e
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer closeSoon(ledger)

	ledger.Capture(context.Background(), fmt.Errorf("load: %w", context.Canceled))
	ledger.Capture(context.Background(), errors.New("out of stock"), client.With("order", 42))
	// Output:
	// error "*errors.errorString" "out of stock" in client/example_test.go, order left out
}
