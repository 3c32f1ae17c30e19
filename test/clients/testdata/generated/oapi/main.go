// Command oapi uses the client that oapi-codegen makes: "send" sends an event
// twice, "read" finds, reads and deletes its record. It must not send a request
// otherwise.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"

	"generated/errata"
)

func main() {
	work := map[string]func(context.Context) error{"send": send, "read": read}[os.Args[1]]
	if err := work(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func client(key string) (*errata.ClientWithResponses, error) {
	return errata.NewClientWithResponses(os.Getenv("URL"), errata.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+key)
		return nil
	}))
}

func send(ctx context.Context) error {
	api, err := client(os.Getenv("INGEST"))
	if err != nil {
		return err
	}
	var line errata.TextOrInteger
	var name, number errata.TextOrNumber
	var events errata.OneOrMoreEvents
	event := errata.Event{
		Message: new("order 42 failed"), ExceptionClass: new("OrderError"), Line: &line, Fingerprint: &[]*errata.TextOrNumber{&name, &number},
	}
	err = errors.Join(line.FromTextOrInteger1(51), name.FromTextOrNumber0("order"), number.FromTextOrNumber1(42))
	if err := errors.Join(err, events.FromOneOrMoreEvents1([]errata.Event{event, event})); err != nil {
		return err
	}
	taken, err := api.SendEventsWithResponse(ctx, events)
	if err == nil && (taken.JSON202 == nil || taken.JSON202.Data.Accepted != 2) {
		err = fmt.Errorf("%s: %s", taken.Status(), taken.Body)
	}
	return err
}

func read(ctx context.Context) error {
	api, err := client(os.Getenv("ADMIN"))
	if err != nil {
		return err
	}
	list, err := api.ListErrorsWithResponse(ctx, &errata.ListErrorsParams{Search: new("ORDER 42"), Order: new(errata.ListErrorsParamsOrder("count")), Limit: new(5)})
	if err != nil {
		return err
	}
	row := list.JSON200.Data[0]
	detail, err := api.GetErrorWithResponse(ctx, row.Signature, nil)
	if err != nil {
		return err
	}
	var on, off errata.Switch
	if err := errors.Join(on.FromFlag(1), off.FromSwitch1(false)); err != nil {
		return err
	}
	settings, err := api.UpdateLogSettingsWithResponse(ctx, errata.LogSettingsChange{QueryLogging: &on, ModuleLog: &off})
	if err != nil {
		return err
	}
	deleted, err := api.DeleteErrorsWithResponse(ctx, errata.Signatures{Signatures: &[]string{row.Signature}})
	if err != nil {
		return err
	}
	again, err := api.GetErrorWithResponse(ctx, row.Signature, nil)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"total": list.JSON200.Meta.Total, "signature": row.Signature, "count": row.Count, "first_seen": row.FirstSeen.Format("2006-01-02T15:04:05.000Z07:00"),
		"message": detail.JSON200.Data.Payload.Message, "logging": settings.JSON200.Data.QueryLogging, "deleted": deleted.JSON200.Data.Count,
		"code": again.JSON404.Error.Code,
	})
}
