package agents

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/scrub"
	"github.com/errata-log/errata/signature"
)

// explain says what the signature of a record was made of. It makes the signature again
// from the record, so that it never tells a reason that is not the true one.
func (t toolset) explain(ctx context.Context, who caller, in record) (result, error) {
	data, _, err := t.read(ctx, who, in, "", url.Values{})
	if err != nil {
		return nil, err
	}
	answer := in.about(who)
	row, _ := data.(map[string]any)
	answer["recipe"] = signature.Version
	answer["project"] = row["project"]
	answer["count"] = row["count"]
	id, said, replaced := identity(row)
	theirs := map[string]any{"class": id.Class, "place": id.Place, "message": said, "message_as_signed": id.Template, "replaced": replaced}
	answer["from_application"] = theirs
	switch sum := signature.Sign(id).String(); {
	case row["overflow"] == true:
		answer["made_of"] = "book, project and class only"
		answer["why"] = "This is an overflow record: it counts the events of new problems of one class while its project had no budget for new records."
		answer["from_application"] = map[string]any{"class": id.Class}
	case sum == strings.ToLower(in.Signature):
		answer["made_of"] = "book, project, class, place, message_as_signed"
		answer["why"] = "Events with the same five are one record. Line numbers, releases and the replaced parts of the message do not count. A project separates them by a fingerprint of its own."
	default:
		answer["made_of"] = "something that the record does not hold"
		answer["why"] = "Class, place and message alone give another signature: the application groups by a fingerprint or a message template of its own. \"errata signature explain FILE\" tells which for an event that you have."
	}
	return answer, nil
}

// identity is what a record says about the parts of its signature.
func identity(row map[string]any) (id signature.Identity, said string, replaced []any) {
	text := func(object map[string]any, name string) string {
		value, _ := object[name].(string)
		return value
	}
	payload, _ := row["payload"].(map[string]any)
	if said = text(payload, "message"); said == "" {
		said = text(row, "message_preview")
	}
	said = scrub.Cut(said, ingest.MaxSigned)
	id = signature.Identity{Book: bookOf(text(row, "type")), Class: text(row, "exception_class"), Place: signature.Place(text(row, "file"))}
	if number, ok := row["project_id"].(interface{ String() string }); ok {
		id.Project, _ = strconv.ParseUint(number.String(), 10, 64)
	}
	template, parts := signature.Explain(said)
	id.Template = template
	replaced = make([]any, len(parts))
	for i, part := range parts {
		replaced[i] = map[string]any{"from": part.From, "to": part.To}
	}
	return id, signature.HeadLine(said), replaced
}
