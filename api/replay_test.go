package api_test

import (
	"strings"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
)

func TestReplay(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.OpsReplay)
	post := func(body string) (int, string) {
		w := b.do(request{method: "POST", target: "/api/v1/admin/ops/replay", key: key, body: body})
		return w.Code, w.Body.String()
	}
	for body, forced := range map[string]bool{"": false, `{}`: false, `{"force":true}`: true, `{"force":1}`: true} {
		if status, answer := post(body); status != 200 || b.replays.forced != forced || !strings.Contains(answer, `"swapped":true`) {
			t.Errorf("%s: %d %s, forced %v", body, status, answer, b.replays.forced)
		}
	}
	differs := errata.Errorf(errata.KindProjectionDiffers, "They differ.")
	differs.Details = b.replays.result
	b.replays.err = differs
	if status, answer := post(""); status != 409 || !strings.Contains(answer, `"projection_differs"`) || !strings.Contains(answer, `"records_checksum":"00000000000000aa"`) {
		t.Errorf("%d %s", status, answer)
	}
	if status, _ := post(`{"force":1.0}`); status != 422 {
		t.Errorf("force as another number: %d", status)
	}
}
