package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

const errorsShowHelp = `Shows one error record: what it is, where, how often, whom it met, the calls of
the application that led to it, and the end of the breadcrumbs. Stack and
breadcrumbs are those of the latest occurrence, or of the first event when that
is not kept any more.

  errata errors show system/0123456789ab`

// detail is a record with its context. Its JSON is that of the API.
type detail struct {
	Record json.RawMessage `json:"record"`
	// Latest is the latest occurrence, null when none is kept.
	Latest json.RawMessage `json:"latest_occurrence"`
}

func newErrorsShow(t *terminal) *cobra.Command {
	var allFrames bool
	cmd := keyCommand(t, &cobra.Command{
		Use:   "show ERROR",
		Short: "Show one error with its stack and its breadcrumbs",
		Long:  errorsShowHelp,
		Args:  cobra.ExactArgs(1),
	}, func(cmd *cobra.Command, c *client, args []string) error {
		found, err := c.find(cmd.Context(), args[0])
		if err != nil {
			return fmt.Errorf("show the error: %w", err)
		}
		var d detail
		path, book := errorsPath+"/"+found.Signature, "?type="+found.Type
		if err := c.call(cmd.Context(), http.MethodGet, path+book, nil, &d.Record); err != nil {
			return fmt.Errorf("show the error: %w", err)
		}
		var refused *apiError
		if err := c.call(cmd.Context(), http.MethodGet, path+"/occurrences/latest"+book, nil, &d.Latest); err != nil && (!errors.As(err, &refused) || refused.Status != http.StatusNotFound) {
			return fmt.Errorf("show the latest occurrence: %w", err)
		}
		return show(cmd, d, func(out io.Writer, d detail) error { return printDetail(out, t.width(), allFrames, d) })
	})
	cmd.ValidArgsFunction = completeErrors(t)
	cmd.Flags().BoolVar(&allFrames, "all-frames", false, "Show the calls of libraries too.")
	addJSON(cmd, "Print one JSON object: the record and its latest occurrence, as the API answers them.")
	return cmd
}

// sighting is what is read of an occurrence.
type sighting struct {
	Number      uint64  `json:"number"`
	EventID     string  `json:"event_id"`
	Time        string  `json:"time"`
	Environment string  `json:"environment"`
	Release     string  `json:"release"`
	User        string  `json:"user"`
	Server      string  `json:"server"`
	Transaction string  `json:"transaction"`
	TraceID     string  `json:"trace_id"`
	Payload     payload `json:"payload"`
}

// payload is what is read of the context of an event.
type payload struct {
	Message    string       `json:"message"`
	Exceptions []exception  `json:"exceptions"`
	Crumbs     []breadcrumb `json:"breadcrumbs"`
}

type exception struct {
	Class   string  `json:"class"`
	Message string  `json:"message"`
	Frames  []frame `json:"frames"`
}

type frame struct {
	File     string `json:"file"`
	Line     uint32 `json:"line"`
	Function string `json:"function"`
	InApp    bool   `json:"in_app"`
	Context  string `json:"context"`
}

type breadcrumb struct {
	Time     string         `json:"time"`
	Type     string         `json:"type"`
	Category string         `json:"category"`
	Level    string         `json:"level"`
	Message  string         `json:"message"`
	Data     map[string]any `json:"data"`
}

// printDetail prints a record for a person who has been woken by it.
func printDetail(w io.Writer, width int, allFrames bool, d detail) error {
	var record struct {
		apiRecord
		Payload payload `json:"payload"`
	}
	if err := json.Unmarshal(d.Record, &record); err != nil {
		return fmt.Errorf("read the record: %w", err)
	}
	latest, kept := sighting{}, len(d.Latest) > 0
	if kept {
		if err := json.Unmarshal(d.Latest, &latest); err != nil {
			return fmt.Errorf("read the latest occurrence: %w", err)
		}
	}
	page := sheet{width: width}
	page.whole(record.what())
	page.facts(record.apiRecord)
	if kept {
		page.fact("latest", fmt.Sprintf("number %d at %s, event %s", latest.Number, clock(latest.Time, time.DateTime), cmp.Or(latest.EventID, "-")))
		page.fact("", named([][2]string{
			{"environment", latest.Environment}, {"release", latest.Release}, {"server", latest.Server}, {"user", latest.User},
			{"transaction", latest.Transaction}, {"trace", latest.TraceID},
		}))
	}
	if whole := record.Payload.Message; whole != "" && whole != record.Message {
		page.head("MESSAGE")
		page.message(whole)
	}
	about, from := latest.Payload, "latest occurrence"
	if len(about.Exceptions) == 0 && len(about.Crumbs) == 0 {
		about, from = record.Payload, "first event"
	}
	page.stack(about.Exceptions, from, allFrames)
	page.crumbs(about.Crumbs, from)
	_, err := io.WriteString(w, page.text.String())
	return err
}

// named joins those values that there are, each behind its name.
func named(pairs [][2]string) string {
	var texts []string
	for _, pair := range pairs {
		if pair[1] != "" {
			texts = append(texts, pair[0]+" "+pair[1])
		}
	}
	return strings.Join(texts, ", ")
}

// clock is a time of the API in another form, or as it is when it cannot be read.
func clock(instant, form string) string {
	at, err := time.Parse(time.RFC3339, instant)
	if err != nil {
		return instant
	}
	return at.UTC().Format(form)
}
