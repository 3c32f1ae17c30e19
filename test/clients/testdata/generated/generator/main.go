// Command generator uses the client that openapi-generator makes for Go: "send"
// sends an event twice, "read" finds, reads and deletes its record. It must not
// send a request otherwise.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"

	"generated/errata"
)

func main() {
	work := map[string]func() error{"send": send, "read": read}[os.Args[1]]
	if err := work(); err != nil {
		log.Fatal(err)
	}
}

func client(key string) (*errata.APIClient, context.Context) {
	configuration := errata.NewConfiguration()
	configuration.Servers = errata.ServerConfigurations{{URL: os.Getenv("URL")}}
	return errata.NewAPIClient(configuration), context.WithValue(context.Background(), errata.ContextAccessToken, key)
}

func send() error {
	api, ctx := client(os.Getenv("INGEST"))
	event := errata.NewEvent()
	event.SetMessage("order 42 failed")
	event.SetExceptionClass("OrderError")
	event.SetLine(errata.TextOrInteger{Int64: new(int64(51))})
	event.SetFingerprint([]errata.TextOrNumber{{String: new("order")}, {Float64: new(float64(42))}})
	events := errata.OneOrMoreEvents{ArrayOfEvent: &[]errata.Event{*event, *event}}
	taken, _, err := api.SendingAPI.SendEvents(ctx).OneOrMoreEvents(events).Execute()
	if err == nil && taken.Data.Accepted != 2 {
		err = fmt.Errorf("accepted %d", taken.Data.Accepted)
	}
	return err
}

func read() error {
	api, ctx := client(os.Getenv("ADMIN"))
	page, _, err := api.ErrorsAPI.ListErrors(ctx).Search("ORDER 42").Order("count").Limit(5).Execute()
	if err != nil {
		return err
	}
	row := page.Data[0]
	detail, _, err := api.ErrorsAPI.GetError(ctx, row.Signature).Execute()
	if err != nil {
		return err
	}
	settings, _, err := api.LogSettingsAPI.UpdateLogSettings(ctx).LogSettingsChange(errata.LogSettingsChange{
		QueryLogging: &errata.Switch{Flag: errata.Flag(1).Ptr()}, ModuleLog: &errata.Switch{Bool: new(false)},
	}).Execute()
	if err != nil {
		return err
	}
	deleted, _, err := api.ErrorsAPI.DeleteErrors(ctx).Signatures(errata.Signatures{Signatures: []string{row.Signature}}).Execute()
	if err != nil {
		return err
	}
	_, _, err = api.ErrorsAPI.GetError(ctx, row.Signature).Execute()
	var refused *errata.GenericOpenAPIError
	if !errors.As(err, &refused) {
		return fmt.Errorf("after the delete: %w", err)
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"total": page.Meta.Total, "signature": row.Signature, "count": row.Count, "first_seen": row.FirstSeen.Format("2006-01-02T15:04:05.000Z07:00"),
		"message": detail.Data.Payload.GetMessage(), "logging": settings.Data.QueryLogging, "deleted": deleted.Data.Count,
		"code": refused.Model().(errata.Error).Error.Code,
	})
}
