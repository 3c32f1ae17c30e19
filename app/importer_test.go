package app_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestImportIsVisible: what an import answered is in the list at once.
func TestImportIsVisible(t *testing.T) {
	o := testOptions(t)
	a := build(t, o)
	stop := run(t, a)
	defer stop()
	const lines = 2500
	var text strings.Builder
	at := time.Date(2024, 2, 3, 4, 5, 6, 0, time.UTC)
	for i := range lines {
		fmt.Fprintf(&text, "[%s UTC] PHP Warning:  Undefined variable $a in /srv/shop/a.php on line 7\n", at.Add(time.Duration(i)*time.Second).Format("02-Jan-2006 15:04:05"))
	}
	folder := filepath.Join(o.Data, "legacy", "system")
	if err := os.WriteFile(filepath.Join(folder, "php.log"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	admin := key(t, a.Welcome().AdminKeyFile)
	path := a.Welcome().URL + "/api/v1/admin/tools/logs/errors/rebuild"
	for _, want := range []string{
		fmt.Sprintf(`"count":%d,"files":1,"rebuilt":true,"skipped":[],"unreadable":0,"warnings":[]`, lines),
		`"count":0,"files":0,"rebuilt":true,"skipped":[],"unreadable":0,"warnings":[]`,
	} {
		status, body := request(t, http.MethodPost, path, admin, "")
		if status != http.StatusOK || !strings.Contains(body, want) {
			t.Fatalf("%d %s, want %s", status, body, want)
		}
		rows := list(t, a)
		if len(rows) != 1 || rows[0].Count != lines || rows[0].ExceptionClass != "PHP Warning" || rows[0].Line != 7 {
			t.Errorf("the list has %+v", rows)
		}
	}
	if status, body := get(t, path, admin); status != http.StatusOK || !strings.Contains(body, `"running":false`) {
		t.Errorf("progress: %d %s", status, body)
	}
	if _, err := os.Stat(filepath.Join(folder, "done", "php.log")); err != nil {
		t.Error(err)
	}
}
