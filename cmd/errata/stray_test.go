package main

import (
	"strings"
	"testing"
)

func TestVariablesThatAreNoSetting(t *testing.T) {
	// Those of commands, of deploy/ and of Kubernetes, and an empty one, are known.
	fine := []string{"ERRATA_LISTEN=127.0.0.1:0", "ERRATA_KEY=@x", "ERRATA_PORT=tcp://10.0.0.1:8080", "ERRATA_SERVICE_HOST=10.0.0.1", "ERRATA_LISTN=", "LISTN=x"}
	if got := command(t, fine, "config", "validate"); got.code != exitOK || got.err != "" {
		t.Errorf("%+v", got)
	}
	for name, want := range map[string]string{
		"ERRATA_LISTN":         "ERRATA_LISTN is no setting; did you mean ERRATA_LISTEN?",
		"ERRATA_PUBLICURL":     "did you mean ERRATA_PUBLIC_URL?",
		"ERRATA_LOG_MAX_BYTE":  "did you mean ERRATA_LOG_MAX_BYTES?",
		"ERRATA_Listen":        "did you mean ERRATA_LISTEN?",
		"ERRATA_CLICKHOUSEDSN": "did you mean ERRATA_CLICKHOUSE_DSN?",
	} {
		if got := command(t, []string{name + "=x"}, "config", "validate"); got.code != exitUsage || !strings.Contains(got.err, want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	// Another program's: it is told, and no error.
	if got := command(t, []string{"ERRATA_ROTA_COLOUR=x"}, "config", "validate"); got.code != exitOK || !strings.Contains(got.err, "ERRATA_ROTA_COLOUR is no setting\n") {
		t.Errorf("%+v", got)
	}
	// The start says it and goes on, here to an engine that is not there.
	if got := command(t, []string{"ERRATA_LISTN=x"}, "serve", "--data", t.TempDir(), "--engine-binary", "/nowhere/errata-engine"); got.code == exitOK || !strings.Contains(got.err, "did you mean ERRATA_LISTEN?") {
		t.Errorf("%+v", got)
	}
}
