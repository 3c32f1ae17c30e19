package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// errorsPath is the route of the records.
const errorsPath = "/api/v1/admin/tools/logs/errors"

// apiRecord is a record as the service shows it.
type apiRecord struct {
	Signature    string   `json:"signature"`
	Type         string   `json:"type"`
	Level        string   `json:"level"`
	Count        uint64   `json:"count"`
	FirstSeen    string   `json:"first_seen"` // RFC 3339
	LastSeen     string   `json:"last_seen"`
	File         string   `json:"file"`
	Line         uint32   `json:"line"`
	Message      string   `json:"message_preview"`
	Class        string   `json:"exception_class"`
	URI          string   `json:"request_uri"`
	Method       string   `json:"request_method"`
	Status       string   `json:"status"`
	Regressed    bool     `json:"regressed"`
	Project      string   `json:"project"`
	Users        uint64   `json:"users"`
	Environments []string `json:"environments"`
	Releases     []string `json:"releases"`
	Overflow     bool     `json:"overflow"`
}

// name is how commands take the record: the book and the signature.
func (r apiRecord) name() string { return r.Type + "/" + r.Signature }

// shortDigits are the digits of a signature in a table. Two of a million records have
// the same ones once in 500 times; a command then asks for more.
const shortDigits = 12

func (r apiRecord) shortName() string {
	return r.Type + "/" + r.Signature[:min(shortDigits, len(r.Signature))]
}

// what says what went wrong.
func (r apiRecord) what() string {
	switch {
	case r.Class == "":
		return r.Message
	case r.Message == "":
		return r.Class
	default:
		return r.Class + ": " + r.Message
	}
}

func (r apiRecord) place() string {
	if r.File == "" || r.Line == 0 {
		return cmp.Or(r.File, "-")
	}
	return r.File + ":" + strconv.FormatUint(uint64(r.Line), 10)
}

func (r apiRecord) state() string {
	if r.Regressed {
		return "regressed"
	}
	return r.Status
}

const errorsHelp = `Lists, shows and changes the error records of the running service, and follows
what happens to them, through its HTTP API. The admin key comes from --key,
ERRATA_KEY, or the file of the first start.

A record is named as "errata errors list" shows it: its book, / and the
beginning of its signature, as far as it is unique. The book can be left out.
Times are UTC.`

func newErrors(t *terminal) *cobra.Command {
	return group("errors", "List, show, resolve, mute, delete and follow errors", errorsHelp,
		newErrorsList(t), newErrorsShow(t),
		newErrorsChange(t, resolveErrors, "Mark errors as resolved", errorsResolveHelp),
		newErrorsChange(t, muteErrors, "Mute errors", errorsMuteHelp),
		newErrorsChange(t, deleteErrors, "Delete errors for good", errorsDeleteHelp),
		newErrorsTail(t))
}

// listParameters are the parameters of the list that take a text, by the API's names.
var listParameters = []struct{ name, usage string }{
	{"project", "Only of these `projects`, by slug or number, separated by commas."},
	{"environment", "Counts and times of these `environments` only; * stands for anything."},
	{"release", "Counts and times of these `releases` only; * stands for anything."},
	{"levels", "Only of these `levels`: debug, info, notice, warning, error, critical, fatal."},
	{"status", "Only open, resolved or muted; several `statuses` are separated by commas."},
	{"types", "Only of these `books`: system, database."},
	{"search", "These `words` must all occur in message, class, file:line, address, causes or transaction; or the beginning of a signature; or an event id."},
	{"date_range", "Last seen in this `range`: 24h, 7d, today, yesterday, a day, or 2026-11-01..2026-11-21."},
	{"message", "The message has this `part`; * stands for anything, here and below."},
	{"exception_class", "The class has this `part`."},
	{"file", "The source file has this `part`."},
	{"request_uri", "The request address has this `part`."},
	{"http_method", "The request `method`."},
	{"user_id", "The `number` of the user."},
	{"ip", "An `address`, or a prefix such as 10.0.0.0/8."},
	{"event_id", "The record of the event with this `id`."},
	{"signature", "The `signature`, all 32 digits."},
	{"min_occurrence", "Seen at least so `many` times."},
	{"order", "Sort by this `field`: last_seen, first_seen, count, id, level, type, file, line, message, exception_class, user_id."},
	{"direction", "The `way` to sort: desc (without it) or asc."},
	{"page", "The `number` of the page, from 1."},
	{"limit", "So many `records` on a page, 1 to 100; 25 without it."},
}

const errorsListHelp = `Lists error records, those seen last first. The flags are the parameters of the
API and have their names; - in the place of _ is taken too.

  errata errors list --project shop --status open --levels error,fatal
  errata errors list --search '"upload failed" handler.php' --date_range 7d`

// listed is one page of the list.
type listed struct {
	Data []json.RawMessage `json:"data"`
	Meta struct {
		Total    uint64 `json:"total"`
		Page     int    `json:"page"`
		NextPage int    `json:"next_page"`
	} `json:"meta"`
	records []apiRecord
}

func newErrorsList(t *terminal) *cobra.Command {
	var tags []string
	var quiet bool
	cmd := keyCommand(t, &cobra.Command{
		Use:   "list",
		Short: "List error records, those seen last first",
		Long:  errorsListHelp,
	}, func(cmd *cobra.Command, c *client, _ []string) error {
		asked := url.Values{}
		for _, p := range listParameters {
			if flag := cmd.Flags().Lookup(p.name); flag.Changed {
				asked.Set(p.name, flag.Value.String())
			}
		}
		if len(tags) > 0 {
			asked["tag"] = tags
		}
		if quiet {
			asked.Set("hide_noise", "1")
		}
		page, err := c.list(cmd.Context(), asked)
		if err != nil {
			return fmt.Errorf("list the errors: %w", err)
		}
		if err := show(cmd, page.Data, func(out io.Writer, _ []json.RawMessage) error { return printRecords(out, t.width(), page.records) }); err != nil {
			return err
		}
		if page.Meta.NextPage > 0 {
			_, err = fmt.Fprintf(cmd.ErrOrStderr(), "%d of %d records; --page %d shows more\n", len(page.Data), page.Meta.Total, page.Meta.NextPage)
		}
		return err
	})
	flags := cmd.Flags()
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(strings.ReplaceAll(name, "-", "_"))
	})
	for _, p := range listParameters {
		flags.String(p.name, "", p.usage)
	}
	flags.StringArrayVar(&tags, "tag", nil, "A tag and its value, `key:value`, as they were sent; may be given again.")
	flags.BoolVar(&quiet, "hide_noise", false, "Without muted records, levels below warning, and what noise rules have marked.")
	addJSON(cmd, "Print one JSON array, as the API answers it.")
	completeValues(t, cmd)
	return cmd
}

// list asks for one page of the list.
func (c *client) list(ctx context.Context, asked url.Values) (listed, error) {
	page := listed{Data: []json.RawMessage{}}
	if err := c.answer(ctx, http.MethodGet, errorsPath+"?"+asked.Encode(), nil, &page); err != nil {
		return listed{}, err
	}
	page.records = make([]apiRecord, len(page.Data))
	for i, raw := range page.Data {
		if err := json.Unmarshal(raw, &page.records[i]); err != nil {
			return listed{}, fmt.Errorf("the list is not Errata's: %w", err)
		}
	}
	return page, nil
}

var recordColumns = []column{
	{name: "ERROR"}, {name: "LAST SEEN", leave: 1}, {name: "COUNT", right: true}, {name: "USERS", right: true, leave: 6}, {name: "LEVEL", leave: 2},
	{name: "STATUS", leave: 4}, {name: "PROJECT", least: 8, leave: 5}, {name: "PLACE", least: 16, leave: 7}, {name: "WHAT", least: 20},
}

func printRecords(w io.Writer, width int, records []apiRecord) error {
	rows := make([][]string, len(records))
	for i, r := range records {
		rows[i] = []string{
			r.shortName(), clock(r.LastSeen, "2006-01-02 15:04"), strconv.FormatUint(r.Count, 10), strconv.FormatUint(r.Users, 10), r.Level,
			r.state(), cmp.Or(r.Project, "-"), r.place(), r.what(),
		}
	}
	return printTable(w, width, recordColumns, rows)
}

// leastDigits of a signature name a record. Fewer are a word in too many texts.
const leastDigits = 4

// maxNamePages bounds the search for a record by its name, in pages of 100.
const maxNamePages = 20

// find finds the one record that has the name.
func (c *client) find(ctx context.Context, name string) (apiRecord, error) {
	book, digits, named := strings.Cut(strings.ToLower(name), "/")
	if !named {
		book, digits = "", book
	}
	if strings.Trim(digits, "0123456789abcdef") != "" || len(digits) < leastDigits || len(digits) > 32 {
		return apiRecord{}, usagef("%q is not the name of a record: give its book, /, and %d to 32 digits of its signature, as \"errata errors list\" shows them", name, leastDigits)
	}
	asked := url.Values{"search": {digits}, "limit": {"100"}, "order": {"id"}} // a number grows: pages do not shift much
	if named {
		asked.Set("types", book)
	}
	var found []apiRecord
	for n := 1; n > 0; {
		asked.Set("page", strconv.Itoa(n))
		page, err := c.list(ctx, asked)
		if err != nil {
			return apiRecord{}, err
		}
		for _, r := range page.records {
			if strings.HasPrefix(r.Signature, digits) {
				found = append(found, r)
			}
		}
		if n = page.Meta.NextPage; n > maxNamePages {
			return apiRecord{}, fmt.Errorf("%s occurs in too many records: give more digits of the signature", digits)
		}
		if len(found) > 1 {
			return apiRecord{}, fmt.Errorf("%s is the beginning of more than one record, such as %s and %s", name, printed(found[0].name()), printed(found[1].name()))
		}
	}
	if len(found) == 0 {
		return apiRecord{}, errors.New("there is no record " + name)
	}
	return found[0], nil
}
