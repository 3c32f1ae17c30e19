package api

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/netip"
	"reflect"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/signin"
)

// SecuritySettings keeps what is asked at sign-in. Each Read is what is in
// force, with every change that any node has answered. Each Update makes the
// patch of that, and returns what is then in force and what will surprise about
// it. Errors: log_unavailable; for updates also log_full and those of the patch.
type SecuritySettings interface {
	ReadTwoFactor(ctx context.Context) (signin.TwoFactor, error)
	UpdateTwoFactor(ctx context.Context, p signin.TwoFactorPatch) (signin.TwoFactor, error)
	// ReadMethods are the methods of the second step that are installed.
	ReadMethods(ctx context.Context) ([]signin.MethodState, error)
	ReadLocation(ctx context.Context) (signin.Location, error)
	UpdateLocation(ctx context.Context, p signin.LocationPatch) (signin.Location, []signin.Warning, error)
	ReadAddresses(ctx context.Context) (signin.Addresses, error)
	UpdateAddresses(ctx context.Context, p signin.AddressesPatch, caller netip.Addr) (signin.Addresses, []signin.Warning, error)
	ReadLocalization(ctx context.Context) (signin.Localization, error)
	UpdateLocalization(ctx context.Context, p signin.LocalizationPatch) (signin.Localization, []signin.Warning, error)
}

// sidesBody is a body with a block for each side. A block that was not sent is
// nil.
type sidesBody struct {
	Admin  json.RawMessage `json:"admin"`
	Client json.RawMessage `json:"client"`
}

// warned is meta of an answer with warnings.
type warned struct {
	Warnings []signin.Warning `json:"warnings"`
}

// told is what a call returned as an answer.
func told(data any, err error) (answer, error) { return answer{data: data}, err }

// toldWith is told, with meta where there is something to warn of.
func toldWith(data any, warnings []signin.Warning, err error) (answer, error) {
	if len(warnings) == 0 {
		return answer{data: data}, err
	}
	return answer{data: data, meta: warned{warnings}}, err
}

// optionalSwitch reads a switch into to, unless it was not sent.
func optionalSwitch(field string, sent json.RawMessage, to **bool) error {
	if sent == nil {
		return nil
	}
	on, err := switchIn(field, sent)
	if err != nil {
		return err
	}
	*to = &on
	return nil
}

// optionalText reads a string into to, unless it was not sent.
func optionalText(field string, sent json.RawMessage, to **string) error {
	if sent == nil {
		return nil
	}
	var text string
	if sent[0] != '"' || json.Unmarshal(sent, &text) != nil {
		return wrongType(field, sent, "a string")
	}
	*to = &text
	return nil
}

// object reads a block of a body into dst.
func object(field string, sent json.RawMessage, dst any) error {
	var members map[string]json.RawMessage
	if sent[0] != '{' || json.Unmarshal(sent, &members) != nil {
		return wrongType(field, sent, "an object")
	}
	return fill(reflect.ValueOf(dst).Elem(), members)
}

// inField says in which field of the body an error is.
func inField(field string, err error) error {
	var known *errata.Error
	if !errors.As(err, &known) {
		return err
	}
	named := *known
	named.Message = field + ": " + known.Message
	details := map[string]any{"field": field}
	if more, ok := known.Details.(map[string]any); ok {
		maps.Copy(details, more)
	}
	named.Details = details
	return &named
}
