package api

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strings"

	errata "github.com/errata-log/errata"
)

// maxBody bounds the body of an API request. The longest honest one, 1,000
// signatures to delete, has 35 KB.
const maxBody = 1 << 20

// bind reads the body, one JSON object, into the struct that dst points to. An
// empty body counts as {}; a member whose exact name no field has is ignored.
// Errors: unsupported_media_type, body_too_large, invalid_body, naming the
// field.
func (c *call) bind(dst any) error {
	body, err := c.readBody()
	if err != nil {
		return err
	}
	if len(body) == 0 {
		return decode([]byte("{}"), dst)
	}
	if err := c.checkMedia(); err != nil {
		return err
	}
	return decode(body, dst)
}

// checkMedia refuses bodies that say that they are something else than plain JSON.
func (c *call) checkMedia() error {
	if media := c.GetHeader("Content-Type"); media != "" {
		if kind, _, err := mime.ParseMediaType(media); err != nil || kind != "application/json" {
			return errata.Errorf(errata.KindUnsupportedMediaType, "Send the body as Content-Type: application/json.")
		}
	}
	if coding := c.GetHeader("Content-Encoding"); coding != "" && coding != "identity" {
		return errata.Errorf(errata.KindUnsupportedMediaType, "Send the body without Content-Encoding.")
	}
	return nil
}

// withBody reads the body for a handler, see [call.bind].
func withBody[T any](handle func(c *call, body T) (answer, error)) handler {
	return func(c *call) (answer, error) {
		var body T
		if err := c.bind(&body); err != nil {
			return answer{}, err
		}
		return handle(c, body)
	}
}

// readBody reads the body whole. Errors: body_too_large, invalid_body.
func (c *call) readBody() ([]byte, error) { return c.readUpTo(maxBody) }

// readUpTo is readBody with another limit, in bytes.
func (c *call) readUpTo(limit int64) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, limit))
	if err == nil {
		return body, nil
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, errata.Errorf(errata.KindBodyTooLarge, "A request body has at most %d bytes.", limit)
	}
	return nil, errata.Errorf(errata.KindInvalidBody, "The request body did not arrive whole.").Because(err)
}

// decode reads one JSON object into the fields of the struct that dst points to,
// and says in words what is wrong with it. The parser's own text is not shown:
// it can repeat the body.
func decode(body []byte, dst any) error {
	var object map[string]json.RawMessage
	err := json.Unmarshal(body, &object)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return errata.Errorf(errata.KindInvalidBody, "The body is not JSON: it breaks off or goes wrong at byte %d.", syntax.Offset)
	}
	if err != nil || object == nil {
		return errata.Errorf(errata.KindInvalidBody, "The body must be a JSON object.")
	}
	return fill(reflect.ValueOf(dst).Elem(), "", object)
}

// fill reads the members of a JSON object into the fields of a struct, in the
// order of the fields. A member belongs to the field whose json tag is exactly
// its name: encoding/json itself takes names in any case, which is too lax for
// a body that changes something. A field with the tag required must be sent;
// the tag says what it takes. null is a wrong type, except for a field with the
// tag null:"absent", which it leaves as it is. path stands before the names in
// errors.
func fill(dst reflect.Value, path string, object map[string]json.RawMessage) error {
	for i := range dst.NumField() {
		field := dst.Type().Field(i)
		if field.Anonymous {
			if err := fill(dst.Field(i), path, object); err != nil {
				return err
			}
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",") // without omitempty
		sent, ok := object[name]
		if !ok {
			if wanted, must := field.Tag.Lookup("required"); must {
				return refuse(errata.KindInvalidBody, path+name, "The field "+path+name+" is missing; it takes "+wanted+".")
			}
			continue
		}
		if string(sent) == "null" && field.Tag.Get("null") == "absent" {
			continue
		}
		if err := read(path+name, sent, dst.Field(i).Addr().Interface()); err != nil {
			return err
		}
	}
	return nil
}
