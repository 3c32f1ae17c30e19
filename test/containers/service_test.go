//go:build containers

package containers

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/errata-log/errata/test/product"
	"github.com/errata-log/errata/test/servicetest"
)

// service is an Errata in a container whose port is published.
type service struct {
	container, url string
}

// published are a free port and the argument that publishes the service there.
func published(t *testing.T) (url, argument string) {
	t.Helper()
	addr, err := product.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + addr, "--publish=" + addr + ":8080"
}

// exec runs a command in the container.
func (s service) exec(t *testing.T, command ...string) string {
	t.Helper()
	return engine(t, append([]string{"exec", s.container}, command...)...)
}

// ready waits until the service is ready, and until the engine has seen that too.
func (s service) ready(t *testing.T) {
	t.Helper()
	eventually(t, func() error {
		_, err := run(exec.CommandContext(t.Context(), program(), "exec", s.container, "/errata", "healthcheck"))
		return err
	})
	eventually(t, func() error {
		if health := engine(t, "inspect", "--format", "{{.State.Health.Status}}", s.container); health != "healthy" {
			return errors.New("the container is " + health)
		}
		return nil
	})
}

// key is a key of the first start.
func (s service) key(t *testing.T, name string) string {
	t.Helper()
	return s.exec(t, "/errata", "keys", "show", name)
}

// send sends one event of the problem.
func (s service) send(t *testing.T, message string) {
	t.Helper()
	body := fmt.Sprintf(`{"message":%q,"exception_class":"OrderError","file":"orders.go","line":51}`, message)
	s.ask(t, http.MethodPost, "/api/v1/events", s.key(t, "ingest"), body)
}

// counts waits until the list has these problems and no others, each with its count.
func (s service) counts(t *testing.T, want map[string]int) {
	t.Helper()
	admin := s.key(t, "admin")
	eventually(t, func() error {
		var page struct {
			Data []struct {
				Message string `json:"message_preview"`
				Count   int    `json:"count"`
			} `json:"data"`
		}
		if err := json.Unmarshal([]byte(s.ask(t, http.MethodGet, "/api/v1/admin/tools/logs/errors", admin, "")), &page); err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for _, r := range page.Data {
			got[r.Message] = r.Count
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Errorf("the list has %v, want %v", got, want)
		}
		return nil
	})
}

// ask sends a request, which must succeed.
func (s service) ask(t *testing.T, method, path, key, body string) string {
	t.Helper()
	req, err := servicetest.NewRequest(method, s.url+path, strings.NewReader(body), "Authorization", "Bearer "+key, "Content-Type", "application/json")
	if err != nil {
		t.Fatal(err)
	}
	resp, answer, err := servicetest.Send(http.DefaultClient, req)
	if err != nil || resp.StatusCode >= http.StatusMultipleChoices {
		t.Fatalf("%s %s: %v %v %s", method, path, err, resp, answer)
	}
	return answer
}
