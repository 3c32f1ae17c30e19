package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestLogLinesCannotBeForged logs texts that a sender could choose.
func TestLogLinesCannotBeForged(t *testing.T) {
	const nasty = "a\n{\"level\":\"ERROR\",\"msg\":\"fake\"}\r\n\x1b[31mred\x1b[0m\u202egnp"
	for _, format := range []string{"text", "json"} {
		var out bytes.Buffer
		newLogger(&out, slog.LevelInfo, format).Info("message", "value", nasty, "error", errorText(nasty))
		if lines := strings.Count(out.String(), "\n"); lines != 1 {
			t.Errorf("%s: %d lines: %q", format, lines, out.String())
		}
		if strings.ContainsAny(strings.TrimSuffix(out.String(), "\n"), "\n\r\x1b") {
			t.Errorf("%s: control characters: %q", format, out.String())
		}
	}
}

type errorText string

func (e errorText) Error() string { return string(e) }

func TestLogForMachines(t *testing.T) {
	var out bytes.Buffer
	logger := newLogger(&out, slog.LevelWarn, "auto") // a buffer is no terminal
	logger.Info("left out")
	logger.Warn("kept", "took", 1500*time.Millisecond)
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("%q: %v", out.String(), err)
	}
	if line["msg"] != "kept" || line["level"] != "WARN" || line["took"] != 1.5 {
		t.Errorf("got %v, want the warning with 1.5 seconds", line)
	}
}
