package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// machine describes where the figures come from.
func machine() string {
	return fmt.Sprintf("%s/%s, %d processors, %s, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), time.Now().UTC().Format("2006-01-02 15:04"))
}

// finish prints the summary, writes the JSON file and says whether all passed.
func (g *gate) finish() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	violated := 0
	for _, r := range g.results {
		if len(r.Violations) > 0 {
			violated++
		}
	}
	fmt.Fprintf(g.print, "\n%s; form %s, seed %d; %d events accepted in all sessions\n\n", machine(), g.form, g.seed, g.accepted.Load())
	if err := summary(g.print, g.results); err != nil {
		return fmt.Errorf("print the summary: %w", err)
	}
	report := map[string]any{
		"machine": machine(), "form": g.form, "seed": g.seed, "accepted": g.accepted.Load(),
		"left_out": g.leftOut, "summary": rows(g.results), "results": g.results,
	}
	text, err := json.MarshalIndent(report, "", " ")
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	path := filepath.Join(g.out, "gate.json")
	if err := os.WriteFile(path, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	fmt.Fprintf(g.print, "\nreport and raw log: %s\n", g.out)
	if len(g.leftOut) > 0 {
		fmt.Fprintf(g.print, "left out: %s\n", strings.Join(g.leftOut, ", "))
	}
	if g.doc != "" {
		if err := g.document(); err != nil {
			return err
		}
	}
	if violated > 0 {
		return fmt.Errorf("%d of %d runs broke a promise", violated, len(g.results))
	}
	return nil
}

// The figures of the last run stand between these lines of the document.
const (
	figuresBegin = "<!-- figures: written by make gate -->\n"
	figuresEnd   = "<!-- end of figures -->\n"
)

// document writes the figures of this run into the document.
func (g *gate) document() error {
	text, err := os.ReadFile(g.doc)
	if err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	before, rest, begins := strings.Cut(string(text), figuresBegin)
	_, after, ends := strings.Cut(rest, figuresEnd)
	if !begins || !ends {
		return errors.New("write the figures: " + g.doc + " has no place for them")
	}
	var figures bytes.Buffer
	fmt.Fprintf(&figures, "%s; form %s, seed %d, limits times %g; %d events accepted. Left out: %s.\n\n",
		machine(), g.form, g.seed, g.slack, g.accepted.Load(), orDash(strings.Join(g.leftOut, ", ")))
	if err := summary(&figures, g.results); err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	if err := os.WriteFile(g.doc, []byte(before+figuresBegin+figures.String()+figuresEnd+after), 0o644); err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	return nil
}
