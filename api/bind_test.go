package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/api"
)

// TestNamesOfFieldsAreExact: a name in another case is unknown and ignored. It
// must not change, delete or give away anything.
func TestNamesOfFieldsAreExact(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.Everything)
	put := func(path, body string) string {
		t.Helper()
		return b.ask(t, request{method: "PUT", target: path, key: key, body: body}).data
	}
	if got, want := settingsData(t, b, "PUT", key, `{"ERROR_DEBUG":1,"Error_Log":0,"query_Logging_ips":["10.0.0.1"],"error_debuɡ":1}`), shown("", "error_log"); got != want {
		t.Errorf("settings of the logs: %s, want %s", got, want)
	}
	if got, want := put(twoFactorPath, `{"Admin":1,"CLIENT":1,"ſhow_popup":1}`), twoFactor("", 0, 0, 0); got != want {
		t.Errorf("two factors: %s, want %s", got, want)
	}
	off := place(0, "Email", "country")
	if got, want := put(locationPath, `{"Admin":{"status":1},"client":{"Status":1,"METHOD":"sms"}}`), sides(off, off); got != want {
		t.Errorf("location: %s, want %s", got, want)
	}
	if got, want := put(localizationPath, `{"IP_Module":"mmdb"}`), `{"ip_module":""}`; got != want {
		t.Errorf("localization: %s, want %s", got, want)
	}
	// The right name is read, wherever the wrong ones stand.
	if got, want := settingsData(t, b, "PUT", key, `{"ERROR_DEBUG":0,"error_debug":1,"Error_debug":0}`), shown("", "error_log", "error_debug"); got != want {
		t.Errorf("the name beside others: %s, want %s", got, want)
	}
	if w := b.do(request{method: "DELETE", target: errorsPath, key: key, body: fmt.Sprintf(`{"Signatures":[%q]}`, strings.Repeat("0", 32))}); code(t, w) != string(errata.KindSignatureRequired) {
		t.Errorf("records to delete: %d %s", w.Code, w.Body)
	}
	if w := b.do(request{method: "POST", target: keysPath, key: key, body: `{"NAME":"shop","Kind":"ing"}`}); w.Code == http.StatusCreated {
		t.Errorf("a key: %d %s", w.Code, w.Body)
	}
}

// TestBooleansAreWrittenOut: 1 and true are the same everywhere, and 1.0 is none.
func TestBooleansAreWrittenOut(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.Everything)
	for _, c := range []struct{ method, path, body string }{
		{"PUT", logSettingsPath, `{"error_log":%s}`},
		{"PUT", twoFactorPath, `{"client":%s}`},
		{"PUT", locationPath, `{"client":{"status":%s}}`},
		{"PUT", addressPath, `{"client":{"status":%s}}`},
		{"POST", "/api/v1/admin/ops/replay", `{"force":%s}`},
		{"POST", "/api/v1/admin/ops/erase", `{"users":["u-7"],"cut_log":%s}`},
		{"POST", "/api/v1/admin/ops/nodes/leave", `{"node":"c:6222","running":%s}`},
		{"POST", "/api/v1/admin/ops/dead/replay", `{"all":%s}`},
	} {
		ask := func(value string) *httptest.ResponseRecorder {
			return b.do(request{method: c.method, target: c.path, key: key, body: fmt.Sprintf(c.body, value)})
		}
		for _, value := range []string{"1.0", "0.0", "1e0", "-0", "2", "-1", "0.5"} {
			if w := ask(value); w.Code != http.StatusUnprocessableEntity || code(t, w) != string(errata.KindInvalidBoolean) {
				t.Errorf("%s %s: %d %s", c.path, value, w.Code, w.Body)
			}
		}
		for _, value := range []string{`"1"`, `"true"`, "[]", "{}"} {
			if w := ask(value); w.Code != http.StatusBadRequest || code(t, w) != string(errata.KindInvalidBody) {
				t.Errorf("%s %s: %d %s", c.path, value, w.Code, w.Body)
			}
		}
		one, yes := ask("1"), ask("true") // a location needs a mail module
		if taken := one.Code == http.StatusOK || code(t, one) == string(errata.KindMailModuleRequired); !taken || one.Code != yes.Code {
			t.Errorf("%s: 1 is %d %s, true is %d %s", c.path, one.Code, one.Body, yes.Code, yes.Body)
		}
	}
}

// A field of a type that read does not know must not be ignored silently.
func TestNoFieldIsLeftUnread(t *testing.T) {
	defer func() {
		if told := fmt.Sprint(recover()); !strings.Contains(told, "field limit") {
			t.Errorf("reading the field panics with %q", told)
		}
	}()
	var body struct {
		Limit errata.Optional[complex64] `json:"limit"`
	}
	err := api.Decode([]byte(`{"limit":1}`), &body)
	t.Errorf("the body is read as %+v, error %v", body, err)
}
